"""Secrets that their place gives away: key blocks, URLs with a password, web hooks, words of a command."""

from __future__ import annotations

from mdmem.privacy import values
from mdmem.privacy.formats import BASE64, WORD
from mdmem.privacy.literals import line_end
from mdmem.privacy.tokens import shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int, str]
"""Where a secret begins and ends, and its kind."""

HOOKS = (
    ("hooks.slack.com/services/", WORD + "/"),
    ("hooks.slack.com/workflows/", WORD + "/"),
    ("discord.com/api/webhooks/", WORD + "/"),
    ("discordapp.com/api/webhooks/", WORD + "/"),
    (".webhook.office.com/webhookb2/", WORD + "/@"),
    ("hooks.zapier.com/hooks/catch/", WORD + "/"),
    ("api.telegram.org/bot", WORD + ":"),
    ("hook.us1.make.com/", WORD),
    ("hook.eu1.make.com/", WORD),
    ("maker.ifttt.com/trigger/", WORD + "/"),
    ("chat.googleapis.com/v1/spaces/", WORD + "/?=&%"),
    ("outlook.office.com/webhook/", WORD + "/@"),
)
"""Addresses whose path is the secret: the address up to it, and the characters of the rest."""

WORD_IS, USER_AND, LAST_WORD = "word", "user:", "last word"
"""What a flag's word holds: the secret itself, or a user and the secret, parted by a sign; or the secret is what the
command ends with."""

COMMANDS: tuple[tuple[str, str, bool, tuple[str, ...]], ...] = (
    (" -p", WORD_IS, False, ("mysql", "mariadb", "7z ")),
    (" -p", WORD_IS, True, ("sshpass", "mongo", "docker login", "podman login", "registry login", "az login")),
    (" -p", WORD_IS, True, ("oc login", "cf login", "rdesktop", "twine upload")),
    (" -P", WORD_IS, True, ("sqlcmd", "bcp ", "zip ", "ipmitool")),
    (" -a", WORD_IS, True, ("redis-cli",)),
    (" -p", WORD_IS, True, ("useradd", "usermod")),
    (" -t", WORD_IS, True, ("codecov", "doctl auth")),
    (" login ", WORD_IS, False, ("wandb", "cargo", "vault", "pulumi")),
    (" auth ", WORD_IS, False, ("snyk",)),
    (" auth token ", WORD_IS, False, ("heroku", "fly")),
    (" BY ", WORD_IS, False, ("identified",)),
    (" by ", WORD_IS, False, ("identified",)),
    ("SecureString ", WORD_IS, False, ("convertto-securestring",)),
    (" -String ", WORD_IS, False, ("convertto-securestring",)),
    (" -b", LAST_WORD, True, ("htpasswd",)),
    (" add_user ", LAST_WORD, False, ("rabbitmqctl",)),
    (" change_password ", LAST_WORD, False, ("rabbitmqctl",)),
    (" password ", LAST_WORD, False, ("mysqladmin",)),
    (" -w", WORD_IS, True, ("ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami")),
    (" -A", WORD_IS, True, ("snmpget", "snmpwalk")),
    (" -u", USER_AND, True, ("curl", "lftp")),
    (" -U", USER_AND, True, ("curl", "smbclient")),
    (" -a", USER_AND, True, ("http ", "https ")),
    (" --user", USER_AND, True, ("curl",)),
    (" --proxy-user", USER_AND, True, ("curl",)),
    (" pass:", WORD_IS, False, ("openssl",)),
    (" /p:", WORD_IS, False, ("xfreerdp",)),
)
"""flag, what its word holds, whether a blank may stand between the two, and the commands that take it so."""

PIPED = (
    ("sudo -s", WORD_IS),
    ("passwd --stdin", WORD_IS),
    ("--password-stdin", WORD_IS),
    ("--with-token", WORD_IS),
    ("chpasswd", USER_AND),
)
"""What reads a secret that `echo` writes, and what that holds."""

PGPASS_PORTS = (":5432:", ":*:")

_BEGIN, _END, _PUTTY = "-----BEGIN ", "-----END", "Private-Lines:"
_LONGEST_BLOCK = 64 * 1024
_LONGEST_WORD = 256
_LONGEST_COMMAND = 2048
_BREAKS = "\"'<>`\\^{|}"


def find(text: str, low: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """Find secrets by their place; those of each sort in rising order. `marks`: how a hidden one begins."""
    if "private key" in low or "private-lines" in low:
        yield from _key_blocks(text)
    if "://" in text:
        yield from _url_passwords(text, marks)
        for address, alphabet in HOOKS:
            if address in low:
                yield from _hooks(text, low, address, alphabet)
    if "echo " in low and "|" in text:
        yield from _piped_words(text, low, marks)
    yield from _pgpass_lines(text)
    for flag, holds, blank, commands in COMMANDS:
        if flag in text:
            for command in commands:
                yield from _command_words(text, low, command, (flag, holds, blank), marks)


# -- key blocks


def _key_blocks(text: str) -> Iterator[Span]:
    """Private keys between BEGIN and END, or as far as the block goes when its end was cut off."""
    closing = -1
    at = text.find(_BEGIN)
    while at >= 0:
        end = at + len(_BEGIN)
        title, dashes, _ = text[end : end + 72].partition("-----")
        after = end + len(title) + len(dashes)
        if dashes and "PRIVATE KEY" in title and text[after : after + 1] in ("", "\n", "\r", " ", "\t", "\\"):
            end = after
            if closing < end:  # looked for once between two ENDs, so that the cost is linear
                closing = text.find(_END, end)
                closing = closing if closing >= 0 else len(text) + _LONGEST_BLOCK
            whole = closing - end < _LONGEST_BLOCK
            end = _after_dashes(text, closing) if whole else _body_end(text, end)
            yield at, end, "private-key"
        at = text.find(_BEGIN, end)
    yield from _putty_keys(text)


def _putty_keys(text: str) -> Iterator[Span]:
    at = text.find(_PUTTY)
    while at >= 0:
        end = _body_end(text, line_end(text, at))
        yield at, end, "private-key"
        at = text.find(_PUTTY, end)


def _after_dashes(text: str, closing: int) -> int:
    """Where the END line is over whose dashes begin at `closing`."""
    begin = closing + len(_END)
    dashes = text.find("-----", begin, begin + 72)
    return dashes + 5 if dashes >= 0 else begin


def _body_end(text: str, at: int) -> int:
    """Where the lines of a key end that begin at `at`: base64, or a header; line breaks may be escapes."""
    end = at
    while at < len(text):
        stop = line_end(text, at)
        escape = text.find("\\n", at, stop)
        line = text[at : escape if escape >= 0 else stop]
        body = line.strip()
        if body and not _is_key_line(body):
            head = body.partition(" ")[0]
            run = len(head) - len(head.lstrip(BASE64))
            return at + line.index(head) + run if run >= 16 else end
        if body:
            end = at + len(line)
        at += len(line) + (2 if escape >= 0 else 1)
    return end


def _is_key_line(body: str) -> bool:
    return not body.strip(BASE64) or (": " in body and body.startswith(("Proc-Type", "DEK-Info", "Comment", "Version")))


# -- addresses


def _url_passwords(text: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """`scheme://user:password@host`, also with `@` or `/` in the password; and `scheme://token@host`."""
    at = text.find("://")
    while at >= 0:
        begin = at + 3
        found = _userinfo(text, begin) if text.find("@", begin, begin + _LONGEST_WORD) >= 0 else None
        if found and not text.startswith(marks, found[0]):
            value = text[found[0] : found[1]]
            if not values.is_placeholder(value) and not values.names_a_secret(value):
                yield found[0], found[1], "url-password"
        at = text.find("://", begin)


def _userinfo(text: str, begin: int) -> tuple[int, int] | None:
    """Find the password between the `://` that ends at `begin` and the `@` before the host."""
    authority = text[begin : begin + _LONGEST_WORD].split(None, 1)
    address = authority[0] if authority and not text[begin].isspace() else ""
    for sign in _BREAKS:
        address = address.partition(sign)[0]
    host, _, _ = address.partition("/")
    user, colon, password = host.partition(":")
    if "@" in host:
        if "@" in user:  # no password: a token may stand for the user
            user = host.rpartition("@")[0]
            return (begin, begin + len(user)) if len(user) >= 16 and values.looks_random(user) else None
        size = password.rfind("@")
    elif colon and user[:1] != "[" and "@" in address and not password.isdigit():  # u:p/w@h
        size = address.rfind("@") - len(user) - 1
    else:
        return None
    start = begin + len(user) + 1
    return (start, start + size) if size > 0 else None


def _hooks(text: str, low: str, address: str, alphabet: str) -> Iterator[Span]:
    at = low.find(address)
    while at >= 0:
        begin = at + len(address)
        rest = text[begin : begin + _LONGEST_WORD]
        end = begin + len(rest) - len(rest.lstrip(alphabet))
        if end - begin >= 16 and "0" in shape(text[begin:end]):
            yield begin, end, "web-hook"
        at = low.find(address, max(end, begin))


# -- commands


def _command_words(
    text: str, low: str, command: str, row: tuple[str, str, bool], marks: tuple[str, ...]
) -> Iterator[Span]:
    flag, holds, blank = row
    at = low.find(command)
    while at >= 0:
        end = min(line_end(text, at), at + _LONGEST_COMMAND)
        flag_at = text.find(flag, at, end)
        while flag_at >= 0:
            found = _command_word(text, flag_at + len(flag), end, holds, blank)
            if found and not text.startswith(marks, found[0]) and _is_given(text[found[0] : found[1]], flag):
                yield found[0], found[1], "command-password"
            flag_at = text.find(flag, flag_at + len(flag), end) if holds != LAST_WORD else -1
        at = low.find(command, end)


def _is_given(word: str, flag: str) -> bool:
    """Whether a word is the secret itself; behind a plain word ("login"), it must not read like a word of prose."""
    return values.is_unlike_words(word) if flag.strip().isalpha() else not values.is_placeholder(word)


def _piped_words(text: str, low: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """`echo … | sudo -S …`."""
    for command, holds in PIPED:
        at = low.find(command)
        while at >= 0:
            line = low[max(0, at - 2 * _LONGEST_WORD) : at].rpartition("\n")[2].rpartition("|")[0]
            head, echo, _ = line.rpartition("echo ")
            if echo:
                begin = low.rfind(line, max(0, at - 2 * _LONGEST_WORD), at) + len(head) + len(echo)
                found = _command_word(text, begin + 3 * text.startswith(("-n ", "-e "), begin), at, holds, blank=False)
                if found and not text.startswith(marks, found[0]) and _is_given(text[found[0] : found[1]], "|"):
                    yield found[0], found[1], "command-password"
            at = low.find(command, at + len(command))


def _pgpass_lines(text: str) -> Iterator[Span]:
    """`host:5432:database:user:…`, a line of PostgreSQL's password file."""
    for port in PGPASS_PORTS:
        at = text.find(port)
        while at >= 0:
            begin = at + len(port)
            fields = text[begin : begin + _LONGEST_WORD].partition("\n")[0].rstrip().split(":", 3)
            host = text[max(0, at - 64) : at].rpartition("\n")[2]
            if len(fields) == 3 and len(fields[2]) >= 3 and not any(field.split()[1:] for field in (host, *fields)):
                begin = at + len(port) + len(fields[0]) + len(fields[1]) + 2
                if not values.is_placeholder(fields[2]):
                    yield begin, begin + len(fields[2]), "password"
            at = text.find(port, at + len(port))


def _command_word(text: str, at: int, end: int, holds: str, blank: bool) -> tuple[int, int] | None:
    """Find the secret in the word of a shell that begins at `at`, in quotes or not."""
    if blank and text[at : at + 1] in (" ", "="):
        at += 1
    sample = text[at : min(end, at + _LONGEST_WORD)]
    quote = sample[:1] if sample[:1] in ("'", '"') else ""
    if quote:
        word = sample[1:].partition(quote)[0]
    elif holds == LAST_WORD:
        words = text[at : min(end, at + _LONGEST_WORD)]
        for sign in "|;&>`":
            words = words.partition(sign)[0]
        word = (words.split() or [""])[-1].strip("\"'\\)")
        at += words.rfind(word)
    elif not sample or sample[0].isspace() or sample[0] == "-":
        return None
    else:
        word = sample.split(None, 1)[0].rstrip("\"'`)\\")
    start = at + len(quote)
    if holds == USER_AND:
        sign = next((sign for sign in ":%," if sign in word), "")
        user, _, secret = word.partition(sign) if sign else (word, "", "")
        start, word = start + len(user) + 1, secret
    return (start, start + len(word)) if len(word) >= 3 else None
