"""Secrets in calls that take them without a name: `connect(host, "ana", "…")`, `btoa("ana:…")`."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import literals, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

CALLS = (
    ("getconnection(", 2), ("mysqli_connect(", 2), ("mysql_connect(", 2), ("new mysqli(", 2), (" pdo(", 2),
    ("ftp_login(", 2), ("networkcredential(", 1), ("passwordauthentication(", 1), ("usernamepasswordcredentials(", 1),
    ("setbasicauth(", 1), ("basicauth(", 1), ("wifi.begin(", 1), ("mysqldb.connect(", 2), ("pymysql.connect(", 2),
    ("basic_auth(", 1), ("dbi->connect(", 2), ("dbi.connect(", 2), ("auth_password(", 1),
    ("mysql_real_connect(", 3),
    ("cx_oracle.connect(", 1), ("oracledb.connect(", 1), ("oci_connect(", 1), ("oci_pconnect(", 1), ("ldap_bind(", 2),
    ("simple_bind_s(", 1), ("simple_bind(", 1), ("plainauth(", 2), ("andpassword(", 1), ("andpassword(", 2),
    ("passwordauthenticationtoken(", 1), ("epgsql:connect(", 2),
    ("ftp.open(", 2), (" ftp(", 2), (" ftp_tls(", 2), ("redis.auth(", 0), ("command('auth',", 0),
    ('command("auth",', 0),
    ("sp_addlogin ", 1), ("sp_addapprole ", 1), ("sp_setapprole ", 1), ("sp_addlinkedsrvlogin ", 4),
    ("sp_password ", 0), ("sp_password ", 1), (" crypt(", 0), (" bcrypt(", 0),
    ("hashpw(", 0), ("bcrypt.hash(", 0), ("hashsync(", 0), ("make_password(", 0), ("hash_password(", 0),
    (" password(", 0), ("password_hash(", 1), ("pbkdf2_hmac(", 1), ("sym_encrypt(", 1),
    ("sym_decrypt(", 1), ("aes_encrypt(", 1), ("aes_decrypt(", 1), ("jwt.encode(", 1), ("jwt.decode(", 1),
    ("jwt.sign(", 1), ("jwt.verify(", 1), ("hmac.new(", 0), ("createhmac(", 1), ("changeuserpassword(", 1),
    ("credentials(", 3), ("username_pw_set(", 1), ("password.create(", 0),
)  # fmt: skip
"""Calls that take a password without its name, and the index of that argument. A blank: no name continues there."""

LOGINS = (
    ("login(", 0), ("login(", 1), ("authenticate(", 1), (".connect(", 2), (".connect(", 3), (".load(", 1),
    (".bind(", 1),
)  # fmt: skip
"""Calls whose argument may be something else, so that only a value that does not look like a word counts."""

_LONGEST = 256  # characters of the arguments


def find(text: str, low: str) -> Iterator[Span]:
    """Find secrets among the arguments of calls, call by call. low: the text in lower case."""
    if "asic" in text:
        yield from _encoded_pairs(text)
    for call, number in (*CALLS, *LOGINS):
        if call.strip() in low:
            yield from _arguments(text, low, call, number)


def _encoded_pairs(text: str) -> Iterator[Span]:
    """Find the password in `"Basic " + btoa("user:…")`."""
    for at, begin in secrets.occurrences(text, *_ENCODERS):
        literal = literals.read(text, begin, whole_word=False)
        user, colon, password = literal.text.partition(":") if literal and literal.quoted else ("", "", "")
        is_header = "asic" in text[max(0, at - _LONGEST) : at]
        if literal and is_header and user and not literal.template and values.is_secret(password):
            yield literal.start + len(user + colon), literal.end, "password"


_ENCODERS = ("btoa(", "ncode64(", "64encode(", "64_encode(", "uffer.from(")


def _arguments(text: str, low: str, call: str, number: int) -> Iterator[Span]:
    """Find the argument with this index in a call: `getConnection(url, "bob", "…")`."""
    for at, begin in secrets.occurrences(low, call.lstrip()):
        if call[0] == " " and low[at - 1 : at].isidentifier():
            continue
        arguments = _split(text[begin : begin + _LONGEST].partition(")")[0])
        if len(arguments) > number:
            written = arguments[number].strip().lstrip("@bN")
            value = written.removesuffix(".toCharArray(").removeprefix("Some(")
            core = value.strip("\"'")
            is_sure = (call, number) not in LOGINS or value != written or values.is_unlike_words(core)
            is_sure = is_sure or _is_login(call, number, arguments, text[at - 1 : at])
            is_string = value[:1] in ("'", '"') and len(core) + 2 == len(value)
            if is_string and is_sure and values.is_secret(core):
                start = text.index(value, begin + sum(len(word) + 1 for word in arguments[:number])) + 1
                yield start, start + len(core), "password"


def _split(arguments: str) -> list[str]:
    """Split arguments at the commas that are not in a string."""
    split: list[str] = []
    for part in arguments.split(","):
        quote = split[-1].lstrip()[:1] if split else ""
        if quote in ("'", '"') and split[-1].count(quote) % 2:
            split[-1] += f",{part}"
        else:
            split.append(part)
    return split


def _is_login(call: str, number: int, arguments: list[str], before: str) -> bool:
    """Whether the arguments before the one with this index can only be those of a login.

    These are a user: `server.login("ana", "…")`; a host, a port and a user: `ssh.connect("db", 22, "ana", "…")`; a user
    of a directory: `bind("cn=ana", "…")`.
    """
    first, *others = [argument.strip() for argument in arguments]
    user = first.strip("\"'")
    is_string = first[:1] in ("'", '"') and first[:1] == first[-1:]
    if call == "login(" and number == 1 and len(others) == 1 and user[:1] != "/":
        password = others[0].strip("\"'")
        is_user = not (" " in user or values.is_placeholder(user) or user in _OTHERS)
        is_method = before == "." and is_user and password not in _OTHERS
        return is_string and (is_method or values.is_rare(password) or " " in password or "@" in user)
    if call == ".bind(":
        return is_string and user.lower().startswith(("cn=", "uid=", "dc=", "ou="))
    if call == ".connect(":
        has_port = others[0].isdecimal() or others[0].lower() == "port"
        return has_port if number == 3 else first == "None" and others[0][:1] in ("'", '"')
    return False


_OTHERS = frozenset(("admin", "guest", "google", "github", "facebook", "popup", "redirect"))
"""Arguments of other logins: a role, or who knows the user, and how it is asked."""
