"""Secrets in files of settings, in which a name is never that of a variable: `.pgpass`, `.curlrc`, `/etc/*.conf`."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import names, printed, scan, values
from mdmem.privacy.secrets.literals import lines
from mdmem.privacy.secrets.tokens.formats import BASE64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.printed import Lister
    from mdmem.privacy.secrets.scan import Span

OF_ACCOUNTS = (
    ".pgpass", "pgpass.conf", ".netrc", "_netrc", ".my.cnf", ".s3cfg", "muttrc", "mbsyncrc", "_curlrc", "userlist.txt",
    "chap-secrets", "pap-secrets", "l2tp-secrets", "sssd.conf", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
    ".curlrc", ".wgetrc", ".muttrc", ".mbsyncrc", ".offlineimaprc", ".fetchmailrc", ".getmailrc", ".msmtprc", ".hgrc",
    "fetchmailrc", "getmailrc", "passwd.client",
)  # fmt: skip
"""Files of programs whose lines give accounts, so that any word is one's password."""

SETTINGS = (
    ".conf", ".cnf", ".cfg", ".ini", ".properties", ".secrets", ".conf.ext", ".ovpn", ".nmconnection", ".psk", ".npmrc",
    ".netrc",
)  # fmt: skip
"""Endings of files of settings, of which only an uncommon word is a password."""

_LISTS = (
    "secret.yml", "secret.yaml", "secrets.yml", "secrets.yaml", "secret.toml", "secrets.toml", "secrets.env",
    "secret.tfvars", "secrets.tfvars", "secret.auto.tfvars", "secrets.auto.tfvars",
)  # fmt: skip
"""Files whose every value is a secret, if they are no more than a list of names and values."""

_TWO_LINES = ("auth.txt", "auth-user-pass", "userpass", "user-pass", "credentials.txt", "creds.txt")
"""Ends of the names of files that OpenVPN and others read a user and a password from, each in a line of its own."""


def lister(path: str) -> Lister | None:
    """Return what finds the secrets in a file, if its name says that it gives accounts or settings."""
    low = "/" + path.lower().replace("\\", "/")
    name = low.rpartition("/")[2]
    if name in OF_ACCOUNTS or low.endswith("/davfs2/secrets"):
        return of_accounts
    if name in _LISTS:
        return of_list
    if name.endswith(".tfvars"):
        return of_blocks
    if name.removesuffix(".txt").endswith(_TWO_LINES) or name.endswith(_TWO_LINES):
        return of_two_lines
    return of_settings if name.endswith(SETTINGS) and not secrets.has_any(low, _OF_TEXTS) else None


_OF_TEXTS = ("messages", "i18n", "l10n", "/locale", "/lang", "/transl", "/strings", "/labels")
"""Parts of the paths of files with texts of a program, in which words of any language are after these names."""


def read_by(command: str) -> Lister | None:
    """Return the same for the files that a command prints or writes. Among several, those with accounts decide."""
    listers = set(map(lister, printed.files_read(command)))
    finders = (of_accounts, of_settings, of_list, of_blocks, of_two_lines)
    return next((listed for listed in finders if listed in listers), None)


def of_settings(content: str) -> Iterator[Span]:
    """Find the secrets in a file of settings: `name = …`, `name …;`, `long name …`, whatever the line's indent.

    A plain word counts if it ends its line and is not an everyday one.
    """
    for at, line in lines(content):
        if secrets.has_keyword(low := line.lower()) or secrets.has_any(low, _OTHER_SIGNS):
            yield from ((at + start, at + end, kind) for start, end, kind in _set_in(line))


def of_list(content: str) -> Iterator[Span]:
    """Find all values of a file with a name and a value in every line, such as the secrets of Home Assistant."""
    rows = [(line, line[_behind_number(line) :]) for line in content.split("\n")]
    settings = [line for _, line in rows if line.strip() and line[0] != "#"]
    is_flat = all(line[0] not in _OF_NESTED and (":" in line or "=" in line) for line in settings)
    if is_flat and not any(line.startswith(_MANIFEST) for line in settings):
        without_comments = [" " * len(line) if bare[:1] == "#" else line for line, bare in rows]
        yield from printed.values_in("\n".join(without_comments))


def of_two_lines(content: str) -> Iterator[Span]:
    """Find the password in a file of two lines with a word each: a user, and the password."""
    found: list[tuple[int, int]] = []
    for at, line in lines(content):
        begin = _behind_number(line)
        found += [(at + start, at + end) for start, end in _first_words(line, begin, len(line.rstrip()), 3)]
        if len(found) > 2 or (len(found) == 2 and "\n" not in content[found[0][1] : found[1][0]]):
            return
    if len(found) == 2 and values.is_secret(content[slice(*found[1])]):
        yield (*found[1], "password")


def of_blocks(content: str) -> Iterator[Span]:
    """Find the strings in a block that is named as one of secrets, as in Terraform: `secrets = { mail = "…" }`."""
    end = 0
    for start, at in secrets.occurrences(content, "{"):
        before = content[max(end, start - scan.LONGEST_LINE) : start].rstrip(" =:").rpartition("\n")[2]
        if start < end or names.weigh(before.strip('" \t'))[0] < names.LITERAL:
            continue
        end = _block_end(content, at)
        while (begin := _found(content, '"', at, end) + 1) < end:
            close = _found(content, '"', begin, end)
            is_value = content[at : begin - 1].rstrip().endswith(("=", ":"))
            if is_value and values.is_secret(content[begin:close].rstrip()):
                yield begin, close, "secret"
            at = close + 1


def _block_end(content: str, at: int) -> int:
    """Return the end of a block that is open at `at`, after the blocks in it."""
    depth = 1
    while depth and at < len(content):
        close = _found(content, "}", at, len(content))
        depth += content.count("{", at, close) - 1
        at = close + 1
    return min(at, len(content))


def _found(content: str, sign: str, at: int, end: int) -> int:
    """Return the place of a sign before `end`, or `end`: the rest may be in a part of the file that was not read."""
    place = content.find(sign, at, end)
    return place if place >= 0 else end


_OF_NESTED, _MANIFEST = frozenset(" \t-{[<"), "apiVersion"


def _set_in(line: str) -> Iterator[Span]:
    """Yield the secret that a line of a file of settings sets, if it does."""
    remark = min((at for sign in _REMARKS if (at := line.find(sign)) > 0), default=len(line))
    end = len(line[:remark].rstrip(" \t\r;,"))
    words = _first_words(line, _behind_number(line), end, _MOST_WORDS + 1)
    is_comment = words and line.startswith(_COMMENTS, words[0][0]) and not line.startswith(_REMOVED)
    if not words or len(words) > _MOST_WORDS or is_comment:
        return
    for number, (start, stop) in enumerate(words[:_MOST_NAMES]):
        name, sign, value = line[start:stop].partition("=")
        weight, kind = names.weigh(name.rstrip(":"))
        place = _PLACES.get(name.lower(), 0) if number + 1 < len(words) else 0
        if place:
            begin, stop = words[place]
            if _is_uncommon(line[begin:stop], names.STRONG):
                yield begin, stop, "password"
            return
        if weight >= names.LITERAL:
            rest = [word for word in words[number + 1 :] if line[slice(*word)] not in ("=", ":")]
            is_setting = bool(sign) or name[-1:] == ":" or len(rest) < len(words) - number - 1  # `Unexpected token foo`
            if not is_setting and number and weight != names.STRONG:
                return
            begin = start + len(name) + 1 if value else rest[0][0] if len(rest) == 1 else end
            core = line[begin:end].strip("\"'") if not (sign and value and rest) else ""
            if core and " " not in core and _is_uncommon(core, weight):
                begin = line.index(core, begin)
                yield begin, begin + len(core), kind
            return
        if sign or (name[-1:] == ":" and number + len(name) > 1):
            return  # what follows is a text: `login.reset=Altes Passwort eingeben`


def _is_uncommon(value: str, weight: int) -> bool:
    is_odd = values.is_unlike_words(value) and values.is_secret(value, weight)
    return is_odd or values.is_rare(value)


_OTHER_SIGNS = ("community", "com2sec", "socks")
_PLACES = {"rocommunity": 1, "rwcommunity": 1, "rocommunity6": 1, "rwcommunity6": 1, "com2sec": -1, "basicauth": -1}
_PLACES |= {"community": 1, "auth-pass": -1, "socks4": -1, "socks5": -1, "rsa": -1, "ecdsa": -1, "p12": -1, "pkcs8": -1}
"""Words before a secret, and its place: the word with this index."""
_REMARKS, _REMOVED = (" # ", " ; ", "\t# ", "\t; "), "< "  # after a setting; before a line that `diff` shows
_COMMENTS = ("#", ";", "!", "// ", "/*", "*", "<", "{")
_MOST_WORDS, _MOST_NAMES = 5, 3  # words of a line that sets something, and of a name in it


def _first_words(line: str, begin: int, end: int, most: int) -> list[tuple[int, int]]:
    """Return the places of the first words in a part of a line, at most `most`: a long line has thousands."""
    return [word for _, word in zip(range(most), scan.words(line, begin, end), strict=False)]


def _behind_number(line: str) -> int:
    """Return where a line begins after the number that an agent's tool puts before it."""
    digits = line.lstrip(" ").lstrip("0123456789")
    is_numbered = digits[:1] in ("\t", "→") and len(digits) < len(line.lstrip())
    return len(line) - len(digits) + 1 if is_numbered else 0


def of_accounts(content: str) -> Iterator[Span]:
    """Find the secrets in a file that gives accounts: `host:port:database:user:…`, `"user" "…"`, `name = …`, a key."""
    for at, line in lines(content):
        start, end = _account_value(line, _behind_number(line))
        value = line[start:end]
        if value[:1] != "`" and values.is_secret(value):
            yield at + start, at + end, "password"


def _account_value(line: str, begin: int) -> tuple[int, int]:
    """Return the span of the value in a line of such a file, or an empty one."""
    end = len(line.rstrip())
    fields = line[begin:end].split(":", 4)
    if len(fields) == _FIELDS and (fields[1].isdecimal() or fields[1] == "*"):
        return end - len(fields[-1]), end
    if len(fields) == _FIELDS_OF_EXIM and line[begin] != "#" and not set(' \t/"').intersection(line[begin:end]):
        return end - len(fields[-1]), end
    words = _first_words(line, begin, end, _MOST_IN_ACCOUNT)
    quoted = [span for span in words if line[span[0] - 1 : span[0]] == '"']
    if len(words) == _WORDS_OF_DAVFS and line.startswith(_ADDRESSES, words[0][0]):
        return words[2]
    if len(words) == 1 and len(line) - begin >= _SHORTEST_KEY_LINE and not line[begin:end].strip(BASE64):
        return begin, end
    if (len(words), len(quoted)) == (2, 2) or (len(words) in _IN_CHAP and line[slice(*words[1])] == "*"):
        return words[1] if len(words) == 2 else words[2]
    for start, stop in words:
        name = line[start:stop].partition("=")[0]
        is_pair = name.lower().lstrip("-") in _OF_CURL
        if is_pair or names.weigh(name)[0] >= names.LITERAL:
            start += len(name)
            rest = line[start : start + _LONGEST].lstrip(" \t=:")
            start = line.index(rest, start)
            closing = rest.find(rest[0], 1) if rest[:1] in ("'", '"') else -1
            stop = start + (closing if closing > 0 else len("".join(rest.split()[:1])))
            start += closing > 0
            size = line[start:stop].find(":") + 1 if is_pair else 0
            if size or not is_pair:
                return start + size, stop
    return 0, 0


_LONGEST = 512  # characters of a value
_FIELDS = 5
_FIELDS_OF_EXIM = 3  # `host:user:…`
_WORDS_OF_DAVFS, _ADDRESSES = 3, ("https:", "http:", "/")  # `https://… user …`
_IN_CHAP = (3, 4)
_MOST_IN_ACCOUNT = 64  # words of a line that are read
_SHORTEST_KEY_LINE = 40
_OF_CURL = ("user", "proxy-user", "u", "x")
