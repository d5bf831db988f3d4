"""Signs of secrets in places, commands, sentences, and what commands print: quick checks for every text.

A text without these signs needs none of the scanners.
"""

from __future__ import annotations

from mdmem.privacy.secrets import has_any, has_sign, may_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.secrets import Families

PGPASS = tuple(f":{port}:" for port in range(5432, 5440))  # of PostgreSQL's clusters, in its password file
PLACE_SIGNS = (
    "://", "----", "oracle:thin:", "onnect", "redential", "master/", "user/", "default/", "elnet", "계정", "334 U",
)  # fmt: skip
PLACE_FAMILIES: Families = (
    ("ogin", ("ogin(", "ogin:", "ogin with ", "ogin as ")), ("og in ", ("og in as ", "og in with ")),
    ("ign in ", ("ign in as ", "ign in with ")),
    ("(", ("uthentication(", "uthenticate(", "asicAuth(", "mac.new(", "reateHmac(", "PDO(", "FTP(", "FTP_TLS(")),
    ("(", ("FTP.open(", ".Bind(", "PlainAuth(", "iFi.begin(", "ashSync(")),
    (":543", PGPASS), ("root", ("root/", "root:")), ("admin", ("admin:", "admin/")),
    ("crypt", ("crypt(", "crypt.hash(")),
    ("@", ("@//", "@tcp(", "@unix(", " +@", " -@")),
    ("\\", (":\\/\\/",)), ("%", ("%3A%2F%2F", "%3a%2f%2f")),
    (":", (":152", ":6432:", "ccount:", "WIFI:", ":pserver:", "rivate-Key:", ': EAP "')),
    ("*", (":*:", '* "', "*\t")), ("]", ("[+] ", "[-] ", "]:587 ")), ("_", ("_bind", "BUNDLE_", "sp_")),
    ("-", ("Private-Lines", "(private-key")), ("N", (" LOGIN ", "CONNECT ", "NTLM", "{PLAIN}")),
    ('"', ('"sensitive"', '"CONCEALED"')), ("j", ("jwt.",)),
)  # fmt: skip
"""Every place that `places` knows contains one of these: a URL, a key block, a line of a password file."""

_FLAGS, _LONG_FLAGS = frozenset("-pPaAbkKNnsStuUwWX"), ("hp", "hashes ", "dc-ip ", "opw ", "gp ", "xp ", "id ")
COMMAND_SIGNS = (
    " login ", " auth ", "entified ", "SecureString", "nmcli", "pdp ", "env add ", "community", "exp ", "imp ",
    " using ", " kv p", "kinit ", "snmp", " isakmp ", "ickServ", " obscure ", " upwd ", "vault write ", "bw unlock",
    "bundle config", "service install ", "chamber write ", "nomad var ", "b2 account ", "rman target", "radtest",
    "authtoken ", "smbclient", "rabbitmqctl",
)  # fmt: skip
COMMAND_FAMILIES: Families = (
    ("secret", ("secret set", "secret create", "secret put", "secrets set", "secret-tool st")),
    ("pass", (" pass:", "passwd", "wpa_passphrase", "initial-password", " pass ", "password=-", "passphrase-fd")),
    ("pass ", ("pass insert ", "pass add ")), ("ring", ("keyring set ",)), ("peer", ("cache_peer ",)),
    ("set ", ("alias set ", "variable set ", "config:set ", "env:set ", " env set ", "set hostednet", "token set ",
              "envx set ", "sops set ", "bles set ", "env-set ")), ("]=", ("ed]=", "rd]=", "tp]=")),
    ("send", ('send "', "send '", "sendline(")), (" /", (" /p", " /rp", " /user:", " /add")),
    ("sql", ("mysqladmin", "sqlplus ", "sqlldr ", "isql ")), ("crypt", ("encrypt_string", "cryptsetup ")),
    ("user", ("userid=", "user add", "samba-tool user", "cf create-user")), ("server ", ("acs-server ", "us-server ")),
    ("-", ('"-p', "http-basic", "key-string ", "-key ", "pypi-token", "tcoin-cli", "ize-acc", "md-creds ", "-Dsonar.")),
    ("U", ("SETUSER", "cli AUTH ", "createUser")), (":", ("::add-mask::", "ecrets:set")),
    ("<", ("<<<", "<(echo ", "<(printf ")), (">", ("6379> ",)), ("_", ("_pw ",)), ("D", ("ENTIFIED ",)),
)  # fmt: skip
"""Every command line that `commands` knows contains one of these, or one of the flags above."""

NAMED_COMMAND_SIGNS = (  # further signs of `commands`, which count only if the text also has a name of a secret
    "setapikey ", "etpassphrase ", "admin-password", "drush ", " AUTH ", "password= ", "addauth ", "-password ",
    "COMMAND=",
)  # fmt: skip
NAMED_PLACE_SIGNS = (  # likewise of `places`
    "CRYPT(", "serPassword(", "pw_set(", "assword.create(", "hashpw(", "d_hash(", "_password(", "PASSWORD(", "2_hmac(",
    "oCharArray", "334 ", "PLAIN ", 'PSK "', "]:465 ", "]:25 ", "$ANSIBLE_VAULT;",
    "asic_auth(", "AndPassword(", ".auth(", "AUTH", "btoa(", "ncode64(", "64encode(", "64_encode(",
    "uffer.from(", "tionToken(", "(0x", '"secret"', '"designation"',
)  # fmt: skip

CODES_IN_CJK = ("暗証番号", "認証コード", "验证码", "驗證碼", "인증번호", "인증 코드")
PROSE_SIGNS = (
    "passwor", "passphrase", "passcode", "credential", "log in", "login", "sign in", "kennwort", "anmeld",
    "melde dich", "einlogg", "zugang", "mot de passe", "mdp", "connecte", "identifiant", "contraseñ", "clave ",
    "entra con", "senha", "wachtwoord", "パス", "ログイン", "apiキー", "clé api", "d'accès", "pin ", "otp",
    "tan ", "2fa", "mfa", " pw ", "einmalcode", "api-schlüssel", *CODES_IN_CJK,
)  # fmt: skip
"""Every sentence in which `nearby.in_prose` looks for a password contains one of these, in lower case."""

PROMPTS = ("$ ", "❯ ", "➜ ", "php > ", "sqlite> ")  # of shells, which precede a command in a transcript


def may_hold_place(text: str) -> bool:
    """Whether a text may hold a secret in a known place: a quick check that never misses one."""
    return has_sign(text, PLACE_SIGNS, PLACE_FAMILIES)


def may_hold_command(text: str) -> bool:
    """Whether a text may hold a command line with a secret: a quick check that never misses one."""
    at = text.find(" -")
    while at >= 0:
        if text[at + 2 : at + 3] in _FLAGS or text.startswith(_LONG_FLAGS, at + 2):
            return True
        at = text.find(" -", at + 2)
    return has_sign(text, COMMAND_SIGNS, COMMAND_FAMILIES)


def may_write(text: str, low: str) -> bool:
    """Whether a text may hold a command that writes to a file of a secret: a quick check that never misses one."""
    if not (">" in text and has_any(text, WRITERS)):
        return False
    glued = low.replace("_", "").replace("-", "").replace(".", "")
    return may_name(low) or has_any(glued, _NAMES_OF_FILES)


WRITERS = ("echo ", "printf ")
_NAMES_OF_FILES = (
    "recoverycode", "backupcode", "2facode", "scratchcode", "onetimecode", "entercode", "enterthecode", "zugangscode",
    "accesscode", "walletseed", "faseed", "seedwords", "recoverywords", "ghpat", "hubpat", "labpat", "extpat", "sessid",
    "jsessionid", "dockercfg", "dockerconfigjson",
)  # fmt: skip
"""The names of secrets, without separators, of which `may_name` does not know every form: `recovery_code.txt`."""


def may_print(told: str) -> bool:
    """Whether a command may print a secret, or a file be one of secrets: a quick check that never misses one."""
    return "PW" in told or has_sign(told.lower(), PRINTED, PRINTED_FAMILIES)


PRINTED = (
    "pass", "ecret", "oken", "key", "auth", "op ", "vault ", "kubectl ", "bw ", "rand ", "pwgen", "security ", "cred",
    "whoami -t", "parameter", "sops ", "terraform ", "tofu ", "heroku ", "chamber ", "urandom", "john", "hashcat",
    "/id_", " id_", "codes", "kwallet", "wireless-s", "infisical ", "dashlane ", "dcli ", "berglas ", "nomad ", "tfvar",
    "reveal ", "dotenvx ",
)  # fmt: skip
PRINTED_FAMILIES: Families = (
    ("d", ("od -", "xdump ")),
    ("rc", ("trc", "lrc", "prc", "mrc", "syncrc", ".hgrc")),
    (".", (".env ", ".s3cfg", ".cnf", ".conf", ".ini", ".cfg", ".prop", ".psk", ".ovpn", ".nmconn", "userlist.txt")),
)
"""A command that prints a secret, or a file whose name tells of some, has "PW" or, in lower case, one of these."""
