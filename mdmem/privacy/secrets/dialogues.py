"""Secrets in dialogues of mail, `expect` and shells, network settings, encrypted vaults: `334 …`, `echo … | sudo`."""

from __future__ import annotations

from mdmem.privacy import limits, secrets
from mdmem.privacy.secrets import scan, values
from mdmem.privacy.secrets.literals import line_before, line_end
from mdmem.privacy.secrets.tokens.formats import BASE64, LOWER_HEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

QUOTED = (': PSK "', ': EAP "', ': XAUTH "', ': NTLM "')
"""Precede a password in `ipsec.secrets`."""
RELAYS = ("]:587 ", "]:465 ", "]:25 ")
"""Precede a user and a password in a mail relay map: `[smtp.example.org]:587 ana:…`."""
SENT = ("AUTH PLAIN ", "AUTHENTICATE PLAIN ", "AUTH XOAUTH2 ")
"""Precede a user and a password in base64."""
_CHALLENGE = "334 "
_ASKS_USER = "VXNlcm5hbWU6"  # "Username:"
_ASKS_ANSWER = "UGFzc3dvcmQ6"  # "Password:"
_MOST_BETWEEN = 2  # lines below a question, as a client may print it twice
_VAULT = "$ANSIBLE_VAULT;"
_PROMPT = "<>-+*CS: \t|"
_LONGEST = 256  # characters of a value
_SHORTEST_ANSWER = 4  # characters of base64
_MOST_LINES = 4000  # of an encrypted vault
_HEX_LINE = 80  # characters of such a line


def find(text: str) -> Iterator[Span]:
    """Find the secrets of these forms, in ascending order for each form."""
    yield from _behind(text, QUOTED, '"')
    yield from _relays(text)
    yield from _sent(text)
    yield from _answers(text)
    yield from _sent_alone(text)
    yield from _to_redis(text)
    yield from _users_of_redis(text)
    yield from _vaults(text)
    yield from _of_bundler(text)
    yield from _printed_keys(text)


def _behind(text: str, signs: tuple[str, ...], closing: str) -> Iterator[Span]:
    for _, start in secrets.occurrences(text, *signs):
        core = text[start : start + _LONGEST].partition(closing)[0]
        if core.strip() and "\n" not in core and not values.is_placeholder(core):
            yield start, start + len(core), "password"


def _sent(text: str) -> Iterator[Span]:
    for _, start in secrets.occurrences(text, *SENT):
        end = start
        while chunk := text[end : end + _LONGEST]:
            after_run = chunk.lstrip(BASE64)
            end += len(chunk) - len(after_run)
            if after_run:
                break
        if end - start >= 2 * _SHORTEST_ANSWER and not text[start : start + _LONGEST][: end - start].isalpha():
            yield start, end, "password"


def _relays(text: str) -> Iterator[Span]:
    for start, end, kind in _behind(text, RELAYS, "\n"):
        user, colon, password = text[start:end].rstrip().partition(":")
        if colon and user and len(password) > 2 and len(text[start:end].split()) == 1:
            yield start + len(user) + 1, start + len(user) + 1 + len(password), kind


def _answers(text: str) -> Iterator[Span]:
    """Find what a client sends after a server's `334 …`: a password in base64, or the response to a challenge."""
    for at, begin in secrets.occurrences(text, _CHALLENGE):
        end = line_end(text, at)
        challenge = _bare(text[begin:end].strip())
        head = line_before(text, at, 8).strip(_PROMPT)
        if challenge != _ASKS_ANSWER and (head or challenge == _ASKS_USER or challenge.strip(BASE64)):
            continue
        for _ in range(_MOST_BETWEEN):
            line = scan.next_line(text, end)
            end = line_end(text, line)
            word = (text[line:end].split() or [""])[-1] if line else ""
            answer = _bare(word)
            if _ASKS_ANSWER not in word:
                break
        if len(answer) >= _SHORTEST_ANSWER and len(answer) % 4 == 0 and not answer.strip(BASE64):
            start = text.rindex(answer, line, end)
            yield start, start + len(answer), "password"


def _sent_alone(text: str) -> Iterator[Span]:
    """Find the password below `AUTH LOGIN` where only the client's lines are shown: a user and it, in base64."""
    for _, begin in secrets.occurrences(text, "AUTH LOGIN"):
        end, sent = line_end(text, begin), []
        for _ in range(2):
            line = scan.next_line(text, end)
            end = line_end(text, line) if line else end
            answer = _bare(text[line:end].strip(" \t\r" + _PROMPT)) if line else ""
            if len(answer) >= _SHORTEST_ANSWER and not answer.strip(BASE64) and _encodes_text(answer):
                sent.append((text.rindex(answer, line, end), len(answer)))
        if len(sent) > 1:
            yield sent[1][0], sum(sent[1]), "password"


def _encodes_text(word: str) -> bool:
    """Whether a word is a text in base64; `test` and `file` are none."""
    from binascii import Error, a2b_base64

    try:
        return a2b_base64(word, strict_mode=True).decode("utf-8").isprintable()
    except (Error, ValueError):
        return False


def _to_redis(text: str) -> Iterator[Span]:
    """Find the password in `AUTH …` with Redis' answer below, and in its protocol: `AUTH`, `$6`, `…`, line by line."""
    for at, begin in secrets.occurrences(text, "AUTH"):
        end = line_end(text, begin)
        head = line_before(text, at, _LONGEST_HEAD).strip()
        words = text[begin:end].split() if not head or head.endswith(">") else []
        answer = text[end + 1 : line_end(text, end + 1)].strip(" \t\r<")
        is_answer = answer == "+OK" or answer.startswith(_REFUSALS) or (answer == "OK" and len(head) > 1)
        if 0 < len(words) < _MOST_WORDS and is_answer and words[-1] not in _MECHANISMS:
            start = begin + text[begin:end].rindex(words[-1])
            yield start, start + len(words[-1]), "password"
        lines = text[end + 1 : end + 1 + _LONGEST].split("\n") if not words else []
        start, last = end + 1, (0, 0)
        for size, value in zip(lines[::2], lines[1::2], strict=False):
            if not (size[:1] == "$" and size[1:].strip() == str(len(value.strip("\r")))):
                break
            start += len(size) + 1
            last = start, start + len(value.strip("\r"))
            start += len(value) + 1
        if last[1]:
            yield *last, "password"


_LONGEST_HEAD, _MOST_WORDS = 40, 3
_MECHANISMS = ("PLAIN", "LOGIN")  # of mail
_REFUSALS = ("(error) ", "-ERR ", "-WRONGPASS ")


def _users_of_redis(text: str) -> Iterator[Span]:
    """Find the passwords in `user ana on >… ~* +@all`, a line of an ACL file."""
    for at, start in secrets.occurrences(text, "user "):
        line = text[start : line_end(text, start)] if text[at - 1 : at] in ("", "\n") else ""
        if " on " in line and not _RIGHTS.isdisjoint(word[0] for word in line.split()):
            for first, last in scan.words(text, start, start + len(line)):
                if text[first] in ">#" and not values.is_placeholder(text[first + 1 : last]):
                    yield first + 1, last, "password"


_RIGHTS = frozenset("~+-&")  # begin what a user of Redis may do


def _of_bundler(text: str) -> Iterator[Span]:
    """Find the password in `BUNDLE_GEMS__EXAMPLE__ORG=ana:…`, which is for a host of gems."""
    for _, start in secrets.occurrences(text, "BUNDLE_"):
        line = text[start : line_end(text, start)][:_LONGEST]
        name = line[: len(line) - len(line.lstrip(_OF_HOSTS))]
        value = line[len(name) :].lstrip("=: \"'")
        user, colon, rest = value.partition(":")
        password = (rest.split() or [""])[0].rstrip("\"'")
        is_host = "__" in name and line[len(name) : len(name) + 1] in ("=", ":")
        if is_host and colon and user.isidentifier() and not (password[:1] == "/" or values.is_placeholder(password)):
            at = start + line.index(value, len(name)) + len(user) + 1
            yield at, at + len(password), "password"


_OF_HOSTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
"""Signs of the names of settings for a host, which have two underscores for each dot."""


def _printed_keys(text: str) -> Iterator[Span]:
    """Find the numbers of private keys, as `openssl … -text` prints them and GnuPG keeps them."""
    if "rivate-Key:" in text:
        for _, start in secrets.occurrences(text, *_NUMBERS):
            ahead = text[start : start + _LONGEST_NUMBER]
            first = ahead.lstrip()[:3]
            if ahead[:1] in "\r\n" and first[2:] == ":" and not first[:2].strip(LOWER_HEX):
                number = ahead[: len(ahead) - len(ahead.lstrip(_IN_NUMBERS))]
                rows, _, last = number.rpartition("\n")
                number = rows if last.strip() == last else number  # the next label, such as "exponent1"
                yield start + len(number) - len(number.lstrip()), start + len(number.rstrip()), "private-key"
    for _, start in secrets.occurrences(text, "(private-key"):
        block = text[start : start + _LONGEST_NUMBER].partition("(private-key")[0]
        for _, begin in secrets.occurrences(block, *_ELEMENTS):
            number = block[begin:].partition("#")[0]
            yield start + begin, start + begin + len(number), "private-key"


_NUMBERS = ("priv:", "privateExponent:", "prime1:", "prime2:", "exponent1:", "exponent2:", "coefficient:")
_ELEMENTS = ("(d #", "(p #", "(q #", "(u #", "(x #")
_LONGEST_NUMBER = 8 * 1024  # characters, in hexadecimal digits
_IN_NUMBERS = f"{LOWER_HEX}: \t\r\n"


def _bare(word: str) -> str:
    r"""Return a word without the quotes and escapes that a client prints around it: `'dXNlcg==\r\n'`."""
    return word.partition("\\")[0].removeprefix("b'").strip("'\"")


def _vaults(text: str) -> Iterator[Span]:
    """Find the lines below `$ANSIBLE_VAULT;1.1;AES256`."""
    for header, _ in secrets.occurrences(text, _VAULT):
        end = at = line_end(text, header) + 1
        first = 0
        for _ in range(_MOST_LINES):
            line = text[at : line_end(text, at)]
            body = line.strip(" \t\r+-|")
            if not body or body.strip(LOWER_HEX) or len(body) > _HEX_LINE:
                break
            first = first or at + line.index(body)
            end = at + line.index(body) + len(body)
            at += len(line) + 1
        if first:
            yield first, end, "vault"


def expected(text: str) -> Iterator[Span]:
    """Find the secret in `send "…\\r"`, the answer of an expect script to a password prompt."""
    for at, start in secrets.occurrences(text, *_SENDS):
        end = text.find(text[start - 1], start, start + _LONGEST)
        typed = text[start:end] if end > 0 else ""
        core = typed.removesuffix("\\n").removesuffix("\\r")
        expected = text[max(0, at - _LONGEST_QUESTION) : at].rpartition("expect")[2]
        is_prompt = "assword" in expected or "assphrase" in expected
        is_line = len(core) < len(typed) or text.startswith("sendline", at)
        if is_line and is_prompt and len(core) >= _SHORTEST_SENT and not values.is_placeholder(core):
            yield start, start + len(core), "command-password"


_SENDS = ('send "', "send '", 'send -- "', "send -- '", "sendline('", 'sendline("')
_LONGEST_QUESTION, _SHORTEST_SENT = 160, 3


def substituted(text: str, low: str) -> Iterator[Span]:
    """Find the secret in `--password-file=<(echo -n …)`, which a command reads as if it were in a file."""
    for at, begin in secrets.occurrences(low, "<(echo ", "<(printf "):
        before = line_before(low, at, _LONGEST)
        close = text.find(")", begin, begin + _LONGEST)
        reads_secret = close >= 0 and secrets.has_any(before, _READS_SECRET)
        spans = scan.words(text, begin, close) if reads_secret else ()
        start, end = next((span for span in spans if text[span[0]] not in "-%"), (0, 0))
        if end - start >= _SHORTEST_SENT and not values.is_placeholder(text[start:end]):
            yield start, end, "command-password"


_READS_SECRET = ("pass", "key", "secret", "token")


PIPED = (
    "sudo -s", "--password-stdin", "--with-token", "secret put", "secret set", "secrets set",
    "secret create", "secrets create", "secrets versions add", "create secret", "kinit ", "passwd-on-stdin", "env add",
    "password=-", "passwd ", "chpasswd", "cryptsetup ", "--passphrase-fd", "smbpasswd", "pass insert", "pass add",
    "passwd2 ", "keepassxc-cli", "argon2", "-stdinpass", "p4 login", "op signin", "realm join", "openconnect", "base64",
    "secret-tool store", "keyring set", "systemd-creds encrypt", "kubeseal ", "encrypt_string", "secret:put",
    "store-secret",
)  # fmt: skip
"""Commands that read a secret from stdin, as `echo` or a here-document gives it; `chpasswd` reads `user:secret`,
and so does `base64` for a header."""


_OF_PAIRS = ("chpasswd", "base64")


def piped(text: str, low: str, judged: list[int]) -> Iterator[Span]:
    """Find the secret in `echo … | sudo -S …` and `sudo -S … <<EOF`. judged: number of words judged so far.

    Raises:
        FloodError: there are more than `limits.MOST_NAMES` words to judge.
    """
    for at, after in secrets.occurrences(low, *PIPED):
        judged[0] += 1
        if judged[0] > limits.MOST_NAMES:
            raise limits.FloodError
        command = low[at:after]
        is_list = text.endswith(" -s", at, after) or "chpasswd" in low[max(0, at - 2) : after]  # `sudo -s` is a shell
        yield from _in_here_document(text, at, after) if not is_list else ()
        line = line_before(low, at, 2 * _LONGEST).rpartition("|")[0]
        head, echo, printed = line.rpartition("echo " if "echo " in line else "printf ")
        if not echo or (command == "base64" and "basic" not in head):
            continue
        begin = low.rfind(line, max(0, at - 2 * _LONGEST), at) + len(head) + len(echo)
        begin += 3 * text.startswith(("-n ", "-e "), begin)
        form = printed.lstrip("'\"").partition(" ")[0]
        first = form.count("%s") if form.startswith("%s") else 0
        is_pair = command in _OF_PAIRS and first < 2
        for start, end in [*scan.words(text, begin, at)][first : None if first else 1]:
            if text[start] == "|":
                break
            for piece in text[start:end].split("\\n"):  # a new password is read twice
                core = piece.rstrip("\"'`)\\;,")
                size = core.find(":") + 1 if is_pair else 0
                is_given = (size or not is_pair) and _SHORTEST_SENT <= len(core) - size <= _LONGEST
                if is_given and not values.is_placeholder(core[size:]):
                    yield start + size, start + len(core), "command-password"
                start += len(piece) + 2


def _in_here_document(text: str, at: int, after: int) -> Iterator[Span]:
    """Find the only word of the lines below `sudo -S … <<EOF`, which may be there twice."""
    begin, end = text.rfind("\n", max(0, at - _LONGEST), at) + 1, text.find("\n", after, after + _LONGEST)
    _, sign, delimiter = text[begin : max(end, 0)].partition("<<")
    word = "".join(delimiter.lstrip("-~ ").split()[:1]).strip("'\"")
    body = text[end : end + _LONGEST].split(f"\n{word}")[0] if sign and word.isidentifier() else ""
    found = set(body.split())
    if len(found) == 1 and len(value := found.pop()) >= _SHORTEST_SENT and not values.is_placeholder(value):
        for start, last in secrets.occurrences(body, value):
            yield end + start, end + last, "command-password"
