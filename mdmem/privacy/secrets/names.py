"""Names: whether the name of a value says that it is secret: `DB_PASSWORD` does, `password_file` does not.

An English compound ends with its main noun, so the end of a name decides. Separators, digits and words like `old` or
`prod` are removed before the end is looked up.
"""

from __future__ import annotations

from mdmem.privacy.secrets import KEYWORDS_BEYOND_ASCII, TOKENS_BEYOND_ASCII

NONE, WEAK, LITERAL, STRONG = 0, 1, 2, 3
"""Weights of a name. NONE: no secret. WEAK: a secret if the value looks random. LITERAL: a secret if the value is a
literal that does not read like a word. STRONG: a secret unless the value clearly is not one."""

ELSEWHERE = (
    "passwort", "kennwort", "senha", "motdepasse", "wachtwoord", "wagwoord", "parola", "parolam", "parol", "salasana",
    "heslo", "haslo", "geslo", "lozinka", "zaporka", "sifre", "contrasena", "contrasenya", "contrasinal", "kodeord",
    "kodeordet", "adgangskode", "adgangskoden", "passord", "passordet", "nenosiri",
)  # fmt: skip
"""Words for a password in other languages, in ASCII. For the others, see `KEYWORDS_BEYOND_ASCII`."""

KINDS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    (
        "password",
        STRONG,
        (
            "paasword", "pasword", "passowrd", "passwrod", "passwrd",
            "password", "passwords", "passwd", "passphrase", "passcode",
            "dbpass", "userpass", "rootpass", "adminpass", "storepass", "keypass", "smtppass", "mailpass", "ftppass",
            "sshpass", "requirepass", "masterauth", "dbpwd", "userpwd", "rootpw", "adminpw", "bindpw", "userpw",
            "presharedkey", "wifikey", "wlankey", "authtok", "passworddata", *ELSEWHERE,
        ),
    ),
    ("secret", STRONG, ("secret", "secrets", "passwordpepper", "secretpepper", "authpepper", "otpseed", "faseed")),
    (
        "key",
        STRONG,
        (
            "apikey", "accesskey", "secretkey", "privatekey", "encryptionkey", "encryptkey", "signingkey", "signkey",
            "authkey", "masterkey", "accountkey", "sharedkey", "sessionkey", "storagekey", "deploykey", "clientkey",
            "appkey", "applicationkey", "servicekey", "consumerkey", "licensekey", "licencekey", "webhookkey",
            "subscriptionkey", "functionkey", "functionskey", "cosmoskey", "adminkey", "serverkey", "unsealkey",
            "recoverykey", "cipherkey", "cryptokey", "aeskey", "hmackey", "jwtkey", "writekey", "ingestionkey",
            "instrumentationkey", "integrationkey", "rootkey", "mapskey", "securitykey", "transactionkey",
            "gatewaykey", "keycontent", "keymaterial", "clientkeydata", "authsalt", "noncekey", "loggedinkey",
        ),
    ),
    (
        "credentials",
        STRONG,
        ("credential", "credentials", "contribsyscom", "authident", "zugangsdaten", "dockerconfigjson", "dockercfg"),
    ),
    (
        "code",
        LITERAL,
        (
            "recoverycode", "recoverycodes", "backupcode", "backupcodes", "2facode", "scratchcode", "onetimecode",
            "enterthecode", "entercode", "zugangscode", "accesscode",
        ),
    ),
    (
        "token",
        LITERAL,
        (
            "token", "jwt", "phpsessid", "jsessionid", "githubpat", "ghpat", "gitlabpat", "extpat", "githuboauth",
            "gitlaboauth",
        ),
    ),
    ("authorization", LITERAL, ("authorization", "bearer")),
    (
        "mnemonic",
        LITERAL,
        (
            "mnemonic", "seedphrase", "recoveryphrase", "mnemonicphrase", "walletseed", "seedwords", "recoverywords",
        ),
    ),
    ("token", WEAK, ("usercode",)),
    ("salt", WEAK, ("salt", "nonce")),
    ("cookie", WEAK, ("cookie", "cookies")),
    ("pin", WEAK, ("verificationcode", "securitycode", "logincode", "yourcode", "einmalcode", "alarmcode", "doorcode")),
)  # fmt: skip
"""Kind of secret, weight, and the endings of its names without separators."""

SHORT: dict[str, tuple[str, int]] = {
    word: (kind, weight)
    for kind, weight, endings in (
        ("password", STRONG, "pass pwd pw p/w passe psk mdp"),
        ("password", WEAK, "clave sandi"),
        ("credentials", STRONG, "cred creds"),
        ("authorization", WEAK, "auth"),
        ("token", WEAK, "pat"),
        ("pin", WEAK, "pin otp puk cvv"),
        ("secret", WEAK, "totp"),
        ("signature", WEAK, "sig signature"),
        ("cookie", WEAK, "sid"),
    )
    for word in endings.split()
}
"""Endings that count only as whole words, as in `db_pass` and `dbPass`, but not `compass` -> kind and weight."""

TAILS = (
    "old", "new", "prod", "production", "dev", "development", "test", "testing", "stage", "staging", "live", "base",
    "value", "val", "string", "plain", "plaintext", "text", "clear", "confirm", "confirmation", "again", "repeat",
    "raw", "main", "private", "primary", "secondary", "default", "b64", "base64", "hex",
)  # fmt: skip
"""Words after the noun that do not change its meaning: `SECRET_KEY_BASE`, `password_new`."""

COUNTS = (
    "maxtoken", "mintoken", "numtoken", "totaltoken", "prompttoken", "inputtoken", "outputtoken", "ntoken", "nexttoken",
)  # fmt: skip
"""Beginnings of names that count tokens of text, or refer to the next one."""

PLACES = (
    "nexttoken", "pagetoken", "continuationtoken", "forwardtoken", "backwardtoken", "startingtoken", "locktoken",
    "changetoken", "synctoken", "sequencetoken", "paginationtoken", "clientrequesttoken", "idempotencytoken",
    "existingsecret", "publickeytoken",
)  # fmt: skip
"""Endings of names for tokens that are only a position in a list, the id of a request, or a part
of a name."""

_PASSES = (
    "compass", "bypass", "surpass", "trespass", "overpass", "underpass", "passpass", "lowpass", "highpass", "bandpass",
    "onepass", "twopass", "firstpass", "lastpass", "multipass", "singlepass", "subpass", "nextpass", "prepass",
    "postpass", "renderpass", "allpass", "testpass", "boardingpass", "typepass", "mempass", "optpass", "keepass",
)  # fmt: skip
"""Words that end in "pass" but do not name a password."""

EVEN_NUMBERS = ("password", "pin", "secret", "key", "credentials")
"""Kinds for which even a number in a JSON object is masked."""

LONGEST_NAME = 256
"""Only the last characters of a longer name are read."""

_SHORTEST_DATA = 40
"""A word of this length that ends like a name in `SHORT` is data: `…9GVsnnB47ev1CI9sjgBPw`."""

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_SEPARATORS = "_-. "
_ENDINGS = tuple(ending for _, _, endings in KINDS for ending in endings)


def weigh(name: str) -> tuple[int, str]:
    """Return the weight of a name (NONE, WEAK, LITERAL or STRONG), and the kind of secret that it names."""
    name = name[-LONGEST_NAME:]
    flat = without_separators(name)
    if flat.startswith(COUNTS) or flat.endswith(PLACES):
        return NONE, ""
    if flat.endswith(TAILS):
        flat = next(flat.removesuffix(tail) for tail in TAILS if flat.endswith(tail))
    if flat.endswith(_ENDINGS):
        return next((weight, kind) for kind, weight, endings in KINDS if flat.endswith(endings))
    if not name.isascii() and any(stem in name.lower() for stem in KEYWORDS_BEYOND_ASCII):
        if any(stem in name.lower() for stem in TOKENS_BEYOND_ASCII):
            return LITERAL, "token"
        return STRONG, "password"  # inflected: паролем, lösenordet
    kind, weight = SHORT.get(_last_word(name), ("", NONE))
    if not weight and name.endswith("pass") and name.isalpha() and name.islower() and not name.endswith(_PASSES):
        return LITERAL, "password"
    return (weight, kind) if weight and len(name) < _SHORTEST_DATA else (NONE, "")


def is_in_arn(low: str, start: int) -> bool:
    """Whether a name is a field of an Amazon resource name, or of a pattern for such names."""
    return "secretsmanager:" in low[max(0, start - 96) : start].split()[-1]


def is_in_module(text: str, start: int, end: int, kind: str) -> bool:
    """Whether a name is a part of a module's path: `github.com/docker/docker-credential-helpers v0.8.2`."""
    if text[start - 1 : start] != "/":
        return False
    ahead = text[end : end + 3]
    is_versioned = ahead[:2] == " v" and ahead[2:].isdigit()
    return is_versioned or (kind == "credentials" and ahead[:1] in ("/", "]"))


def without_separators(name: str) -> str:
    """Return a name without separators, final digits and case: `AWS_SECRET-Access.Key 2` -> `awssecretaccesskey`."""
    for separator in _SEPARATORS:
        name = name.replace(separator, "")
    return name.lower().rstrip("0123456789?!*")


def _last_word(name: str) -> str:
    """Return the last word of a name: `db_pass`, `dbPass`, `DB_PASS` -> `pass`; `compass` -> `compass`."""
    name = name.rstrip("0123456789")
    for separator in _SEPARATORS:
        name = name.rpartition(separator)[2]
    head = name.rstrip(_LOWER)
    if head and head != name and head[-1].isupper():
        name = name[len(head) - 1 :]
    return name.lower()


def may_open(word: str) -> bool:
    """Whether a name that ends in "key" may name a secret, not a database key or the like."""
    return not any(name in word for name in _OTHER_KEYS)


_OTHER_KEYS = (
    "pub", "primary", "foreign", "cache", "sort", "partition", "object", "row", "host", "map", "index",
    "group", "rout", "idempot", "lookup", "hash", "unique", "query", "file", "image", "digest", "build", "hot", "known",
    "s3", "event", "item", "sub", "parent", "child", "restore", "trans", "i18n", "registry", "turkey", "monkey",
)  # fmt: skip
