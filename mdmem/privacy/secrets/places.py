"""Secrets in known places: key blocks, URLs with a password, web hooks, lines of password files and of protocols."""

from __future__ import annotations

from mdmem.privacy import limits, secrets
from mdmem.privacy.secrets import calls, literals, loose, scan, signs, values
from mdmem.privacy.secrets.literals import line_at, line_before, line_end, run_end, skip_blank
from mdmem.privacy.secrets.tokens import is_opaque, shape
from mdmem.privacy.secrets.tokens.formats import HEX, WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

HOOKS = (
    (WORD, ("conda.anaconda.org/t/", "hook.us1.make.com/", "hook.eu1.make.com/", ".infura.io/v3/")),
    (WORD, (".g.alchemy.com/v2/", "open-apis/bot/v2/hook/")),
    (WORD + ":", ("api.telegram.org/bot",)),
    (WORD + "/", ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/")),
    (WORD + "/", ("hooks.zapier.com/hooks/catch/", "maker.ifttt.com/trigger/")),
    (WORD + "/+", ("hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/")),
    (WORD + "/@", (".webhook.office.com/webhookb2/", "outlook.office.com/webhook/")),
    (WORD + "/?=&%", ("chat.googleapis.com/v1/spaces/",)),
)
"""URLs whose path is secret: the alphabet of the secret, and the URLs up to it."""

LINKS = (
    "password/reset/", "reset/password/", "reset-password/", "reset_password/", "password-reset/", "password_reset/",
    "/magic-link/", "/magic_link/", "/magic/", "/activate/", "/activation/", "/invite/", "/invites/", "/invitation/",
    "/invitations/", "/confirm-email/", "/confirmation/",
)  # fmt: skip
"""Ends of paths after which a link has a token."""
_OF_LINKS = ("reset", "/magic", "/activat", "/invit", "/confirm")
"""Every link in `LINKS` contains one of these."""

_ESCAPED_URLS = (":\\/\\/", "%3a%2f%2f", "\\u0040")
"""Signs of a URL in JSON or in another URL, in lower case."""
_OF_KEYS = ("private key", "private-lines", "static key", "private-key:", "(private-key", "$ansible_vault;")
_OF_DIALOGUES = ("AUTH", "334 ", "]:587 ", "]:465 ", "]:25 ")
_LONGEST_WORD = 256
_BREAKS = "\"'<>`\\^{|}"


def find(text: str, low: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """Find secrets by their place, in ascending order for each kind. marks: prefixes of values already masked.

    Raises:
        FloodError: there are more than `limits.MOST_NAMES` URLs or login labels.
    """
    if secrets.has_any(low, _OF_KEYS):
        from mdmem.privacy.secrets import key_blocks  # rarely needed

        yield from key_blocks.find(text)
    if "://" in text:
        yield from _url_passwords(text, marks)
        for alphabet, addresses in HOOKS:
            yield from _hooks(text, low, alphabet, addresses)
        yield from _links(text, low)
        yield from _filled_in(text)
    if secrets.has_any(low, _ESCAPED_URLS):
        from mdmem.privacy import views

        plain = views.unescaped(text)
        if plain:
            found = [span for span in _url_passwords(plain.text, marks) if "(" not in plain.text[span[0] : span[1]]]
            yield from ((*plain.origin(start, end), kind) for start, end, kind in found)
    yield from calls.find(text, low)
    for search in _SEARCHES:
        yield from search(text)
    yield from loose.of_logins(text, low)
    yield from _oracle_users(text, low)
    yield from _easy_connect(text)


def _in_dialogues(text: str) -> Iterator[Span]:
    """Find the passwords that mail servers and Redis are sent, if the text has a sign of one."""
    if secrets.has_any(text, _OF_DIALOGUES) or ("user " in text and " on " in text):
        from mdmem.privacy.secrets import dialogues

        yield from dialogues.find(text)


# -- URLs


def _url_passwords(text: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """Find the secret in `scheme://user:password@host`, also with `@` or `/` in it, and in `scheme://token@host`."""
    addresses = (end for _, end in secrets.occurrences(text, "://") if text.find("@", end, end + _LONGEST_WORD) >= 0)
    for begin in limits.counted(addresses, limits.MOST_NAMES):
        span = _userinfo(text, begin)
        if span and not text.startswith(marks, span[0]):
            value = text[span[0] : span[1]]
            if not values.is_placeholder(value) and not values.names_a_secret(value):
                yield span[0], span[1], "url-password"


def _userinfo(text: str, begin: int) -> tuple[int, int] | None:
    """Return the span of the secret between the `://` that ends at `begin` and the `@` before the host."""
    authority = text[begin : begin + _LONGEST_WORD].split(None, 1)
    address = authority[0] if authority and not text[begin].isspace() else ""
    for sign in _BREAKS:
        address = address.partition(sign)[0]
    host, _, _ = address.partition("/")
    user, colon, password = host.partition(":")
    if "@" in host:
        if "@" in user:  # no password, but the user may be a token
            user = host.rpartition("@")[0]
            return (begin, begin + len(user)) if len(user) >= _SHORTEST_USER and _is_token(user) else None
        size = password.rfind("@")
        if password[:size] in _NO_PASSWORDS and values.is_unlike_words(user):
            return begin, begin + len(user)  # `https://token:@host`
    elif colon and user[:1] != "[" and "@" in address and not password.isdigit():  # u:p/w@h
        size = address.rfind("@") - len(user) - 1
    else:
        return None
    start = begin + len(user) + 1
    return (start, start + size) if size > 0 else None


def _is_token(user: str) -> bool:
    """Whether a user without a password is a token: people's names have digits only at their end."""
    return values.looks_random(user) or (user.isalnum() and user[:1].isalpha() and "0a" in shape(user).lower())


_SHORTEST_USER = 10
"""Minimum length of a user name in a URL that may be a token, in characters."""
_NO_PASSWORDS = ("", "x-oauth-basic", "X")
"""What services ask for in place of a password, if the user name is a token."""


def _dsn_passwords(text: str) -> Iterator[Span]:
    """Find the password in `user:password@tcp(host:3306)/database`, as in Go's database drivers."""
    for at, _ in secrets.occurrences(text, "@tcp(", "@unix("):
        before = text[max(0, at - _LONGEST_WORD) : at].split()[-1:]
        user, colon, password = (before[0] if before else "").rpartition("=")[2].lstrip("\"'`(").partition(":")
        if user and colon and len(password) > 2 and not values.is_placeholder(password):
            yield at - len(password), at, "url-password"


def _wifi_codes(text: str) -> Iterator[Span]:
    """Find the password in `WIFI:S:name;T:WPA;P:…;;`, the text of a QR code."""
    for at, _ in secrets.occurrences(text, "WIFI:"):
        line = line_at(text, at, _LONGEST_WORD)
        begin = line.find(";P:") + 3
        secret = line[begin:].partition(";")[0] if begin > 2 else ""
        if secret:
            yield at + begin, at + begin + len(secret), "password"


def _imap_logins(text: str) -> Iterator[Span]:
    """Find the password in `A001 LOGIN user password`, as in IMAP."""
    for at, begin in secrets.occurrences(text, " LOGIN "):
        tag = line_before(text, at, _LONGEST_TAG).split()[-1:]
        line = line_at(text, begin, _LONGEST_WORD).rstrip("\r\"'\\ ")
        user, _, password = line.partition('" "' if line[:1] == '"' else " ")
        password = password.lstrip('"')
        is_tag = bool(tag) and (tag[0] == "." or (tag[0][0].isalpha() and tag[0][-1].isdigit() and tag[0].isalnum()))
        if is_tag and user and len(password) > 2 and (line[:1] == '"' or " " not in password):
            yield begin + len(line) - len(password), begin + len(line), "password"


_LONGEST_TAG = 24


def _oracle_users(text: str, low: str) -> Iterator[Span]:
    """Find the password in `jdbc:oracle:thin:user/password@host` and `CONNECT user/password@name`."""
    for _, begin in secrets.occurrences(low, "oracle:thin:", "connect ", "conn "):
        address = text[begin : begin + _LONGEST_WORD].split("\n")[0].split(" ")[0]
        user, slash, password_and_host = address.partition("/")
        size = password_and_host.rfind("@")
        if slash and user.isidentifier() and size > 2 and not values.is_placeholder(password_and_host[:size]):
            yield begin + len(user) + 1, begin + len(user) + 1 + size, "url-password"


def _easy_connect(text: str) -> Iterator[Span]:
    """Find the password in `user/password@//host:1521/service` and `user/password@host:1521/service`."""
    for at, after in secrets.occurrences(text, "@//", ":1521", ":1522"):
        begin = max(0, at - _LONGEST_WORD)
        head, at_sign, host = text[begin : at + (text[at] == "@")].rpartition("@")
        user, slash, password = (head.split() or [""])[-1].lstrip("\"'`(=").partition("/")
        is_host = text[after : after + 1].isalnum() or text[at] == ":"
        is_pair = is_host and user.replace("_", "").replace("$", "").isalnum() and not host.strip(_HOST)
        if at_sign and slash and is_pair and len(password) > 2 and not values.is_placeholder(password):
            end = begin + len(head)
            yield end - len(password), end, "url-password"


_HOST = WORD + "."


def _chap_lines(text: str) -> Iterator[Span]:
    """Find the secret in `client * … *`, a line of PPP's chap-secrets."""
    for at, _ in secrets.occurrences(text, '* "', "*\t"):
        before = line_before(text, at, _LONGEST_WORD)
        row = before + line_at(text, at, _LONGEST_WORD)
        fields = row.split(None, 4)
        secret = fields[2].strip('"') if len(fields) == 4 and fields[1] == fields[3] == "*" else ""
        if len(secret) > 2 and (fields[2] != secret or values.is_unlike_words(secret)):
            begin = at - len(before) + row.index(secret, row.index("*"))
            yield begin, begin + len(secret), "password"


def _tried_logins(text: str) -> Iterator[Span]:
    """Find the password in `[+] domain\\user:…`, as programs list the logins that they tried."""
    for begin, at in secrets.occurrences(text, "[+] ", "[-] "):
        line = line_at(text, at, _LONGEST_WORD)
        word = next((word for word in line.split() if ":" in word[1:-1]), "")
        user, _, password = word.partition(":")
        is_login = line.startswith("VALID LOGIN:")
        if (not is_login and "\\" not in user) or password[:1] in ("", "\\"):
            continue
        if values.is_unlike_words(password) or (
            not values.is_placeholder(password) and (is_login or _is_behind_port(text, begin))
        ):
            start = at + line.index(word) + len(user) + 1
            yield start, start + len(password), "password"


def _windows_hashes(text: str) -> Iterator[Span]:
    """Find the hash in `NTLM : …` and `NTLMv2-SSP Hash : ana::CORP:…`, which signs in as a password does."""
    for _, at in secrets.occurrences(text, "NTLM"):
        label, colon, value = line_at(text, at, _LONGEST_HASH).partition(": ")
        word = "".join(value.split(None, 1)[:1])
        user, captured, answer = word.partition("::")
        _, _, code = answer.partition(":")  # after the domain
        code = code if captured and user else word if len(word) == _NTLM_DIGITS else ""
        if colon and label.strip() in _OF_HASHES and len(code) >= _NTLM_DIGITS and not code.strip(f"{HEX}:"):
            start = at + len(label) + len(colon) + value.index(code)
            yield start, start + len(code), "password"


_OF_HASHES = ("", "Hash", "v1 Hash", "v2 Hash", "v1-SSP Hash", "v2-SSP Hash")
_LONGEST_HASH, _NTLM_DIGITS = 2048, 32


def _of_ipsec(text: str) -> Iterator[Span]:
    """Find the password in `ana : EAP "…"`."""
    for _, start in secrets.occurrences(text, *_OF_IPSEC):
        core = text[start : start + _LONGEST_WORD].partition('"')[0]
        if core.strip() and "\n" not in core and not values.is_placeholder(core):
            yield start, start + len(core), "password"


_OF_IPSEC = (': PSK "', ': EAP "', ': XAUTH "', ': NTLM "')


def _of_bundler(text: str) -> Iterator[Span]:
    """Find the password in `BUNDLE_GEMS__EXAMPLE__ORG=ana:…`, which is for a host of gems."""
    for _, start in secrets.occurrences(text, "BUNDLE_"):
        line = text[start : line_end(text, start)][:_LONGEST_WORD]
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


def _plain_entries(text: str) -> Iterator[Span]:
    """Find the password in `ana:{PLAIN}…:1000:` of a mail server, and in `:pserver:ana:…@host` of CVS."""
    for _, begin in secrets.occurrences(text, "{PLAIN}"):
        word = "".join(text[begin : begin + _LONGEST_WORD].split(None, 1)[:1]).partition(":")[0]
        if len(word) > 2 and text[begin : begin + 1] not in _AROUND_WORD:
            yield begin, begin + len(word), "password"
    for _, begin in secrets.occurrences(text, ":pserver:"):
        login, at_sign, _ = "".join(text[begin : begin + _LONGEST_WORD].split(None, 1)[:1]).rpartition("@")
        user, colon, password = login.partition(":")
        if at_sign and colon and len(password) > 2 and not values.is_placeholder(password):
            yield begin + len(user) + 1, begin + len(login), "url-password"


_AROUND_WORD = frozenset(" \t\r\n\"'`,)]")


def _keytab_keys(text: str) -> Iterator[Span]:
    """Find the key in `1 host/x@X (aes256-cts-hmac-sha1-96)  (0x…)`, as `klist -K` prints a keytab of Kerberos."""
    for _, begin in secrets.occurrences(text, "(0x"):
        end = run_end(text, begin, HEX, _LONGEST_WORD)
        if end - begin >= _NTLM_DIGITS and text.startswith(")", end) and text.endswith(")  (0x", 0, begin):
            yield begin, end, "key"


def _is_behind_port(text: str, at: int) -> bool:
    """Whether a service, a host, a port and a name precede on the line: `SMB  10.0.0.1  445  DC  [+] …`."""
    words = line_before(text, at, _LONGEST_WORD).split()
    return len(words) > 3 and words[-2].isdecimal()


def _hooks(text: str, low: str, alphabet: str, addresses: tuple[str, ...]) -> Iterator[Span]:
    for _, begin in secrets.occurrences(low, *addresses):
        end = run_end(text, begin, alphabet, _LONGEST_WORD)
        if end - begin >= 16 and "0" in shape(text[begin:end]):
            yield begin, end, "web-hook"


def _links(text: str, low: str) -> Iterator[Span]:
    """Find the token in a link that lets its reader in: `https://…/password/reset/…`, `…/invitations/…`."""
    for _, begin in secrets.occurrences(low, *LINKS) if secrets.has_any(low, _OF_LINKS) else ():
        end = run_end(text, begin, WORD, _LONGEST_WORD)
        if is_opaque(text[begin:end]) and "://" in text[max(0, begin - _LONGEST_WORD) : begin].rpartition(" ")[2]:
            yield begin, end, "token"


def _filled_in(text: str) -> Iterator[Span]:
    """Find the password in `format("amqp://%s:%s@%s/", "ana", "…", host)`."""
    for at, after in secrets.occurrences(text, "://%s:%s@"):
        quote = next((sign for sign in reversed(text[max(0, at - _LONGEST_WORD) : at]) if sign in "\"'\n"), "")
        end = text.find(quote, after, after + _LONGEST_WORD) + 1 if quote else 0
        arguments = line_at(text, end, _LONGEST_WORD).lstrip(" ,%(").split(",") if end else []
        value = arguments[1].strip().rstrip(")") if len(arguments) > 1 else ""
        core = value.strip("\"'")
        if value[:1] in ("'", '"') and len(core) + 2 == len(value) and values.is_secret(core):
            start = text.index(value, text.index(arguments[0], end) + len(arguments[0])) + 1
            yield start, start + len(core), "url-password"


def _of_outputs(text: str) -> Iterator[Span]:
    """Find the value in `{"sensitive": true, "type": "string", "value": "…"}`, which says itself that it is secret.

    So do outputs of Terraform, variables of Postman and fields of 1Password.
    """
    for at, _ in secrets.occurrences(text, *_SECRET_OBJECTS):
        head = text[max(0, at - _LONGEST_WORD) : at].replace("}", "{").rpartition("{")[2]
        members = head + text[at : at + _LONGEST_WORD].replace("}", "{").partition("{")[0]
        before, key, _ = members.partition('"value"')
        start = scan.assignment(text, at - len(head) + len(before) + len(key)) if key else 0
        value = literals.read(text, skip_blank(text, start), whole_word=False) if start else None
        if value and value.quoted:
            yield value.start, value.end, "secret"


_SECRET_OBJECTS = tuple([
    f"{key}:{blank}{value}" for blank in ("", " ")
    for key, value in (
        ('"sensitive"', "true"), ('"type"', '"secret"'), ('"type"', '"CONCEALED"'), ('"designation"', '"password"'),
    )
])  # fmt: skip


def _pgpass_lines(text: str) -> Iterator[Span]:
    """Find the password in `host:5432:database:user:…`, a line of PostgreSQL's password file."""
    for at, begin in secrets.occurrences(text, *signs.PGPASS, ":6432:", ":*:"):
        fields = line_at(text, begin, _LONGEST_WORD).rstrip().split(":", 2)
        host = line_before(text, at, 64)
        if len(fields) == 3 and ".pgpass" in fields[2] and not fields[2][0].isspace():  # echo "host:…" >> ~/.pgpass
            host, fields[2] = host.rpartition(" ")[2], fields[2].split()[0].rstrip("\"'")
        is_row = len(fields) == 3 and ":" not in fields[2].replace("\\:", "")
        if is_row and len(fields[2]) >= 3 and not any(field.split()[1:] for field in (host, *fields)):
            begin += len(fields[0]) + len(fields[1]) + 2
            if not values.is_placeholder(fields[2]):
                yield begin, begin + len(fields[2]), "password"


_SEARCHES = (
    _dsn_passwords,
    _wifi_codes,
    _of_ipsec,
    _of_bundler,
    _in_dialogues,
    _pgpass_lines,
    _of_outputs,
    loose.pairs,
    loose.of_users,
    _imap_logins,
    _chap_lines,
    _tried_logins,
    _windows_hashes,
    _plain_entries,
    _keytab_keys,
)
