"""Secrets that programs read as if a person typed them: `echo … | sudo -S`, here-documents, `expect`, `<(echo …)`."""

from __future__ import annotations

from mdmem.privacy import limits, secrets
from mdmem.privacy.secrets import scan, values
from mdmem.privacy.secrets.literals import line_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

_LONGEST = 256  # characters of a value


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
_PIPED = (
    "sudo -s", "--password-stdin", "--with-token", "secret put", "secret set", "secrets set",
    "secret create", "secrets create", "secrets versions add", "create secret", "kinit ", "passwd-on-stdin", "env add",
    "password=-", "passwd ", "chpasswd", "cryptsetup ", "--passphrase-fd", "smbpasswd", "pass insert", "pass add",
    "passwd2 ", "keepassxc-cli", "argon2", "-stdinpass", "p4 login", "op signin", "realm join", "openconnect", "base64",
    "secret-tool store", "keyring set", "systemd-creds encrypt", "kubeseal ", "encrypt_string", "secret:put",
    "store-secret", "secrets:set",
)  # fmt: skip
"""Commands that read a secret from stdin, as `echo` or a here-document gives it; `chpasswd` reads `user:secret`,
and so does `base64` for a header."""

_OF_PAIRS = ("chpasswd", "base64")


def piped(text: str, low: str, judged: list[int]) -> Iterator[Span]:
    """Find the secret in `echo … | sudo -S …` and `sudo -S … <<EOF`. judged: number of words judged so far.

    Raises:
        FloodError: there are more than `limits.MOST_NAMES` words to judge.
    """
    for at, after in secrets.occurrences(low, *_PIPED):
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
        fields = form.count("%s") if form.startswith("%s") else 0
        is_pair = command in _OF_PAIRS and fields < 2
        first = fields if command in _OF_PAIRS else min(fields, 1)
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
