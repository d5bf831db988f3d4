"""Secrets in command lines: `mysql -p…`, `curl -u user:…`.

A command line is split into words as a shell does (`scan.words`), including lines continued by `\\`. Each row of
`COMMANDS` says which word has the secret.
"""

from __future__ import annotations

from mdmem.privacy import limits, secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

WORD, SURE, ODD = "word", "sure", "odd"
PAIR, PAIRS, VALUES = "pair", "pairs", "values"
URL, USER, SAID = "url", "user", "said"
TWO, FIRST = "two", "first"
SECOND, THIRD, FOURTH = "second", "third", "fourth"
LAST, FINAL, LAST_PAIR = "last", "final", "last pair"
ONLY, END = "only", "end"
"""Where the secret is, relative to a flag and its argument.

WORD: the argument. PAIR: `user:secret`. PAIRS: `name=secret` in every later word, or LAST. VALUES: the same, if it does
not read like a word. URL: `user/secret@host`. USER: `user/secret`. SAID: a command that prints it. ODD: the argument,
if it mixes letters, digits and signs like a password. TWO: this argument and the next. FIRST: the first later word that
is neither an option nor its argument. LAST: the last word of the command. THIRD: the third word after
the flag that is not a flag. SECOND, FOURTH: the same, but no flag is right before it. SURE, FINAL: as WORD and LAST,
but any word counts. LAST_PAIR: as PAIR, in the last word. ONLY, END: any word one or two words after the flag that
ends the line, or is followed by options.

A flag that is a plain word also occurs in prose, so only a value that does not read like a word counts, except for
SURE, FINAL, ONLY, END, URL and PAIR."""

GLUED, APART, BOTH, AROUND = "glued", "apart", "both", "around"
"""Where the argument is: in its flag's word (`-pX`), the next word, either; the word before or after it."""

COMMANDS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    # flags, where the secret is, the place of the argument, commands with these flags
    ("-p", WORD, GLUED, ("mysql", "mycli ", "mariadb", "7z ", "7za ", "unrar ", "rar ")),
    ("-hp", WORD, GLUED, ("rar ",)),
    ("-p", WORD, BOTH, (
        "hydra ", "medusa ", "evil-winrm", "nxc ", "crackmapexec ", "netexec ", "cqlsh", "cypher-shell", "snowsql",
        "ncftpput", "ncftpget", "beeline", "sshpass", "mongo", "cosign login", "oras login", "crane auth",
        "steghide ", "nerdctl login", "poetry publish", "docker login", "podman login", "registry login", "az login",
        "oc login", "cf login", "rdesktop", "twine upload", "psexec", "az sql", "dotnet nuget", "altool", "racadm",
        "mutool", "certutil", "smbmap", "influx setup", "rabbitmqadmin", "skopeo login", "buildah login", "cb login",
        "couchbase-cli", "cbq -", "ncftp -", "hdbsql", "ibmcloud login", "bx login", "acr login", "expo login",
        "ilorest login", "users create", "bloodhound-python", "certipy ", "enum4linux", "ldapdomaindump", "jmxterm",
        "add-user.sh", "check_mysql", "yt-dlp", "youtube-dl", "veracrypt ", "hash-password", "doveadm pw",
        "elasticsearch-users", "conan user", "conan remote login", "influx user", "choco source", "mcrcon ", "exaplus ",
        "webrepl_cli", "ksql ", "supabase link", "testsaslauthd", "cabal upload", "cpan-upload", "ipa-server-install",
    )),
    ("-p --password", WORD, BOTH, ("useradd", "usermod")),
    ("-p:", WORD, GLUED, ("winrs ",)),
    ("-P", WORD, BOTH, ("mosquitto_pub", "mosquitto_sub", "mssql-cli", "sqlcmd", "bcp ", "zip ", "unzip ", "ipmitool")),
    ("-P", WORD, BOTH, ("ssh-keygen", "tsql ", "isql ", "security import", "p4 -", "knife bootstrap", "iwctl ")),
    ("-P", WORD, BOTH, ("gpg-preset-passphrase", "gobuster ")),
    ("-N", WORD, BOTH, ("ssh-keygen",)),
    ("-a --pass --auth", WORD, BOTH, ("redis-cli", "keydb-cli", "valkey-cli", "netlify deploy")),
    ("-a", WORD, BOTH, ("ipa-server-install",)),
    ("--auth-token --data", WORD, BOTH, ("sentry-cli", "drone secret")),
    ("-t", WORD, BOTH, ("codecov", "doctl auth", "doctl registry", "vercel ", "influx config", "anaconda ")),
    ("-w", WORD, BOTH, ("ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldappasswd", "ldapdelete", "iwconfig")),
    ("-w", WORD, BOTH, ("vsql ", "dsconf ", "kadmin ", "ldapcompare", "ldapvi ", "ipa-client-install", "irssi ")),
    ("-upw -opw -pw", WORD, APART, ("pdftotext", "pdftoppm", "pdfinfo", "plink ", "klink ", "pscp ", "nodetool ")),
    ("-pw", WORD, APART, ("addprinc ", "cpw ")),
    ("-gp -xp", WORD, APART, ("vmrun ", "sendemail ")),
    ("-K", WORD, BOTH, ("ccrypt ", "ccencrypt ", "ccdecrypt ", "swift -")),
    ("-A -X", WORD, BOTH, ("snmpget", "snmpwalk")),
    ("-c", WORD, BOTH, ("snmpget", "snmpwalk", "snmpset", "snmpbulkwalk", "snmptrap")),
    ("-k", WORD, APART, ("openssl", "security set-key", "nuget push", "choco apikey", "mcrypt ")),
    ("-W", WORD, APART, ("pg_restore", "svn ", "pk12util", "electrum ")),
    ("-pass", WORD, APART, ("7z ", "keytool", "smtp-cli")),
    ("-u", PAIR, BOTH, ("curl", "lftp", "open -u")),
    ("-U", PAIR, BOTH, ("curl", "smbclient", "rpcclient", "net ads", "net rpc", "winexe")),
    ("-a -A -P", PAIR, BOTH, ("http ", "https ", "xh ", "ab -")),
    ("--user", PAIR, BOTH, ("curl", "etcdctl", "ctr image", "ctr -n")),
    ("--proxy-user", PAIR, BOTH, ("curl",)),
    ("--oauth2-bearer", WORD, BOTH, ("curl",)),
    ("--auth --http-auth", PAIR, BOTH, ("http ", "https ", "aria2c", "streamlink")),
    ("-n --auth -auth", PAIR, APART, ("transmission-remote", "jenkins-cli")),
    ("-a -id --proxyauth --authenticate", PAIR, APART, ("wbinfo ", "nikto ", "mitmproxy ", "mitmdump ")),
    ("add digest", PAIR, APART, ("etcdctl user", "addauth ")),
    ("-hashes", PAIR, APART, ("-hashes ",)),
    ("getuserspns getuserspns.py getnpusers getnpusers.py", PAIR, APART, ("getuserspns", "getnpusers")),
    ("config", LAST_PAIR, APART, ("bundle config",)),
    ("-b", LAST, APART, ("htpasswd", "mosquitto_passwd")),
    ("-s", WORD, BOTH, ("ldappasswd", "slappasswd")),
    ("-passwd", FINAL, APART, ("dscl ",)),
    ("add-authtoken authtoken", WORD, APART, ("ngrok ",)),
    ("auth", ONLY, APART, ("redis-cli", "6379> auth")),
    ("auth", END, APART, ("redis-cli", "6379> auth", "cf auth")),
    ("set", PAIRS, APART, ("fly secrets", "flyctl secrets", "supabase secrets", "wrangler secret", "doppler secrets")),
    ("set", PAIRS, APART, ("infisical secrets",)),
    ("config:set", VALUES, APART, ("heroku config", "dokku config")),
    ("functions:config:set", VALUES, APART, ("firebase functions",)),
    ("--set", VALUES, APART, ("railway variables",)),
    ("set", LAST, APART, ("glab variable", "conda token")),
    ("set update", SECOND, APART, ("glab variable",)),
    ("-v", WORD, BOTH, ("glab variable",)),
    ("smbclient", SECOND, APART, ("smbclient //", "smbclient '", 'smbclient "', "smbclient \\")),
    ("test radtest", SECOND, APART, ("doveadm auth", "radtest ")),
    ("radtest", LAST, APART, ("radtest ",)),
    ("add", THIRD, APART, ("mc admin user",)),
    ("set", FOURTH, APART, ("mc alias",)),
    ("set-user-password", THIRD, APART, ("virsh ",)),
    ("add_user change_password", END, APART, ("rabbitmqctl",)),
    ("create add create-user", END, APART, ("samba-tool user", "cf create-user")),
    ("upwd user:password user-password", END, APART, ("drush ",)),
    ("password", LAST, APART, ("mysqladmin",)),
    ("password", ONLY, APART, ("mysqladmin",)),
    ("activate-refresh-token", LAST, APART, ("gcloud auth",)),
    ("--value", WORD, BOTH, ("az keyvault secret", "ssm put-parameter", "secret:create")),
    ("put patch", PAIRS, APART, ("vault kv",)),
    ("write", VALUES, APART, ("vault write",)),
    ("using", SURE, APART, ("db2 connect",)),
    ("::add-mask::", WORD, GLUED, ("::add-mask::",)),
    ("-p", WORD, APART, ("security unlock-keychain", "security create-keychain")),
    ("-w", WORD, APART, ("security add-",)),
    ("login", END, APART, ("bw login", "ionic login")),
    ("unlock setapikey", ONLY, APART, ("bw unlock", "nuget")),
    ("login", ONLY, APART, ("mullvad account",)),
    ("walletpassphrase encryptwallet", SURE, APART, ("bitcoin-cli", "litecoin-cli")),
    ("walletpassphrasechange", TWO, APART, ("bitcoin-cli", "litecoin-cli")),
    ("set", LAST, APART, ("dotnet user-secrets", "mc alias set", "convex env")),
    ("set", END, APART, ("dotnet user-secrets",)),
    ("netlify", THIRD, APART, ("netlify env:set",)),
    ("install", LAST, APART, ("cloudflared service",)),
    ("input_pw user_pw owner_pw", SURE, APART, ("pdftk",)),
    ("community", SURE, APART, ("snmp-server", "set snmp")),
    ("md5", SURE, APART, ("digest-key",)),
    ("ascii-text", SURE, APART, ("shared-key",)),
    ("2c", SURE, APART, ("snmp-server host",)),
    ("key", SURE, APART, ("isakmp key", "tacacs-server", "radius-server")),
    ("sha md5 128 des aes sha-256 sha-512", SURE, APART, ("snmp-server user", "createuser ")),
    ("rocommunity rwcommunity rocommunity6 rwcommunity6", WORD, APART, ("rocommunity", "rwcommunity")),
    ("set-password", WORD, APART, ("locksettings ",)),
    ("--security-unlock --security-erase --security-erase-enhanced --security-set-pass", WORD, APART, ("hdparm ",)),
    ("--initialsetup --reverttper --setsidpassword", WORD, APART, ("sedutil-cli",)),
    ("key=", WORD, GLUED, ("set hostednetwork",)),
    ("identify :identify", FINAL, APART, ("nickserv",)),
    ("secret", LAST, APART, ("enable secret",)),
    ("key-string", LAST, APART, ("key-string",)),
    ("login", WORD, APART, ("wandb", "cargo", "vault", "pulumi")),
    ("auth", WORD, APART, ("snyk",)),
    ("auth", PAIR, APART, ("stats auth",)),
    ("-storepass -storepasswd", WORD, APART, ("jarsigner", "keytool", "apksigner", "x11vnc")),
    ("-keypass", WORD, APART, ("jarsigner", "keytool")),
    ("login=", PAIR, GLUED, ("cache_peer ",)),
    ("cachemgr_passwd", SURE, APART, ("cachemgr_passwd ",)),
    ("-1 -5 -6", WORD, APART, ("openssl passwd",)),
    ("token", WORD, APART, ("heroku auth", "fly auth")),
    ("pass", WORD, APART, ("rclone config",)),
    ("obscure reset-admin-password", ONLY, APART, ("rclone obscure", "grafana")),
    ("-setairportnetwork", LAST, APART, ("networksetup",)),
    ("--plaintext", WORD, APART, ("rootpw", "hash-password")),
    ("config", THIRD, APART, ("pulumi config",)),
    ("--totp", LAST, APART, ("oathtool",)),
    ("password wifi-sec.psk", WORD, APART, ("nmcli",)),
    ("encrypt_string mkpasswd", FIRST, APART, ("ansible-vault", "mkpasswd")),
    ("set-initial-password", WORD, APART, ("neo4j-admin",)),
    ("config", FINAL, APART, ("poetry config http-basic", "poetry config pypi-token", "composer config http-basic")),
    ("config", LAST, APART, ("composer config",)),
    ("wpa_passphrase", LAST, APART, ("wpa_passphrase",)),
    ("isql iusql", THIRD, APART, ("isql ", "iusql ")),
    ("--password-command --passwordeval", SAID, BOTH, ("restic", "rclone", "rustic", "msmtp")),
    ("--body -b", WORD, BOTH, ("gh secret",)),
    ("<<<", WORD, APART, ("secret put", "secret set", "env add", "docker login", "chpasswd", "gh auth", "glab auth")),
    ("<<<", WORD, APART, ("sudo ", "pass insert", "vncpasswd", "cryptsetup ", "kinit ", "passphrase-fd", "su - ")),
    ("<<<", WORD, APART, ("keepassxc-cli", "secret create", "secrets create", "secrets versions", "p4 login")),
    ("<<<", WORD, APART, ("op signin", "lpass login", "adcli ", "realm join", "openconnect", "hdiutil", "pdbedit")),
    ("<<<", WORD, APART, ("passwd --stdin", "smbpasswd", "saslpasswd2", "grub-mkpasswd", "password_stdin")),
    ("<<<", ODD, APART, ("<<<",)),
    ("by", SURE, APART, ("identified ",)),
    ("convertto-securestring", SURE, APART, ("convertto-securestring",)),
    ("-string -asplaintext", WORD, APART, ("convertto-securestring",)),
    ("--encrypt", TWO, APART, ("qpdf ",)),
    ("-ap", WORD, APART, ("swaks ",)),
    ("--from-literal=", PAIR, GLUED, ("create secret",)),
    ("--from-literal", PAIR, APART, ("create secret",)),
    (">", WORD, GLUED, ("acl setuser",)),
    ("pass:", WORD, GLUED, ("openssl",)),
    ("/p:", WORD, GLUED, ("xfreerdp",)),
    ("/pass:", WORD, GLUED, ("cmdkey",)),
    ("/p /rp", WORD, APART, ("signtool", "schtasks")),
    ("password=", WORD, APART, ("sc config", "sc create", "sc.exe config", "sc.exe create")),
    ("/user: /add", WORD, AROUND, ("net use",)),
    ("sqlplus -s -S -L", URL, APART, ("sqlplus",)),
    ("userid=", URL, GLUED, ("exp ", "imp ", "expdp ", "impdp ", "sqlldr ")),
    ("exp imp", URL, APART, ("exp ", "imp ")),
    ("expdp impdp sqlldr", USER, APART, ("expdp ", "impdp ", "sqlldr ")),
    ("target", URL, APART, ("rman ",)),
)  # fmt: skip

FlagRow = tuple[str, str, str]
"""A flag, where the secret is, the place of the argument."""

BY_COMMAND: dict[str, list[FlagRow]] = {}
"""The rows of each command."""

for _flags, _holds, _place, _commands in COMMANDS:
    for _command in _commands:
        BY_COMMAND.setdefault(_command, []).extend([(_flag, _holds, _place) for _flag in _flags.split()])

_first_words: dict[str, str] = {}
"""Command -> the first word of its name, as `secrets.words` splits it; "" if it has none. For long texts."""

_OF_LAST = {LAST: WORD, FINAL: SURE, LAST_PAIR: PAIR}
_PLACES = {SECOND: 1, THIRD: 2, FOURTH: 3}
_ENDS = "|;&>`"
_ODD_SIGNS = frozenset("!#*@%^&?~")
_LONGEST_WORD = 256
_LONGEST_COMMAND = 2048


def find(text: str, low: str, words: frozenset[str] | None) -> Iterator[Span]:
    """Find the secrets in command lines, in ascending order for each command.

    words: the words of a long text, from `secrets.words`.

    Raises:
        FloodError: there are more than `limits.MOST_NAMES` words to judge.
    """
    judged = [0]
    for command in _commands_in(low, words):
        yield from _of_command(text, low, command, BY_COMMAND[command], judged)
    if secrets.has_any(text, _DIALOGUES):
        from mdmem.privacy.secrets import dialogues

        yield from dialogues.piped(text, low, judged)
        yield from dialogues.expected(text)
        yield from dialogues.substituted(text, low)


_DIALOGUES = ("|", "<<", "assword", "assphrase", "<(")


def _commands_in(low: str, words: frozenset[str] | None) -> list[str]:
    if words is None:
        return [command for command in BY_COMMAND if command in low]
    if not _first_words:
        for command in BY_COMMAND:
            _first_words[command] = "".join([sign if sign.isalnum() else " " for sign in command]).strip().split(" ")[0]
    return [command for command, word in _first_words.items() if (not word or word in words) and command in low]


def _of_command(text: str, low: str, command: str, rows: list[FlagRow], judged: list[int]) -> Iterator[Span]:
    """Find the secrets of one command. judged: number of words judged so far, for all commands."""
    from mdmem.privacy.secrets import scan  # rarely needed: most text with a flag has none of these commands

    at = low.find(command)
    while at >= 0:
        end = at + len(command)
        if not low[at - 1 : at].isalnum():
            end = _command_end(text, at)
            matching = [row for row in rows if row[0].lstrip("-").lower() in low[at:end]]
            words = list(scan.words(text, at, end)) if matching else []
            judged[0] += len(words) * len(matching)
            if judged[0] > limits.MOST_NAMES:
                raise limits.FloodError
            for row in matching:
                yield from _of_row(text, low, words, row)
        at = low.find(command, end)


def _of_row(text: str, low: str, words: list[tuple[int, int]], row: FlagRow) -> Iterator[Span]:
    first = row[0][0].lower()
    for number, (begin, _) in enumerate(words):
        if low[begin : begin + 1] == first:
            for start, end in _secret_words(text, words, number, row):
                yield start, end, "command-password"
                if row[1] in _OF_LAST:
                    return


def _command_end(text: str, at: int) -> int:
    """Return the end of a command: the end of its line, or of the last line continued by a backslash."""
    from mdmem.privacy.secrets.literals import line_end

    end = line_end(text, at)
    while text[end - 1 : end] == "\\" and end - at < _LONGEST_COMMAND and text[end : end + 1]:
        end = line_end(text, end + 1)
    return min(end, at + _LONGEST_COMMAND)


def _secret_words(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the span of the secret if the word with this index is the flag of the row."""
    flag, holds, place = row
    start, end = words[number]
    word = text[start:end]
    is_flag = word == flag or ((flag.isalpha() or len(flag) > 2) and word.lower() == flag)
    cluster = len(flag) == 2 and flag[0] == word[:1] == "-" and word[1:].isalpha()
    if place == AROUND:
        if word.lower().startswith(flag):
            yield from _nearby(text, words, number)
    elif holds in _PLACES:
        places = [at for at in range(number + 1, len(words)) if text[words[at][0]] != "-"] if is_flag else []
        at = next(iter(places[_PLACES[holds] :]), 0)
        if at and (holds == THIRD or text[words[at - 1][0]] != "-"):
            yield from _if_secret(text, *words[at], WORD, flag)
    elif holds in _OF_LAST:
        if is_flag or (cluster and flag[1] in word):
            start, end = _last_word(text, words, number)
            if holds != LAST_PAIR or ("." in text[words[number][1] : start] and "//" not in text[start:end]):
                yield from _if_secret(text, start, end, _OF_LAST[holds], flag)
    elif holds == FIRST:
        yield from _first_argument(text, words, number) if is_flag else ()
    elif holds == TWO:
        for argument in words[number + 1 : number + 3] if is_flag else ():
            yield from _if_secret(text, *argument, WORD, flag)
    elif holds in (PAIRS, VALUES):
        yield from _set_values(text, words, number, holds) if is_flag else ()
    elif holds in (ONLY, END):
        from mdmem.privacy.secrets.literals import PROSE

        secret_at = number + (1 if holds == ONLY else 2)
        ends = len(words) > secret_at and _ends_command(text, words[secret_at][1])
        ends = ends or (
            len(words) > secret_at and (words[secret_at + 1 :] == [] or text[words[secret_at + 1][0]] == "-")
        )
        if is_flag and ends and text[slice(*words[number + 1])].lower() not in PROSE:
            yield from _if_secret(text, *words[secret_at], SURE, flag)
    elif (is_flag or (cluster and word[-1] == flag[1])) and place != GLUED and number + 1 < len(words):
        yield from _in_next_word(text, words, number, row)
    elif place != APART and word.startswith(flag) and len(word) > len(flag):
        yield from _in_same_word(text, start, end, row)


def _first_argument(text: str, words: list[tuple[int, int]], number: int) -> Iterator[tuple[int, int]]:
    """Yield the secret in `encrypt_string --vault-id … "…"`, but not in `complete -c mkpasswd …`."""
    if text.endswith((" -c ", " -a "), 0, words[number][0]):
        return
    for (before, end), (start, last) in zip(words[number:], words[number + 1 :], strict=False):
        is_argument = text[before] == "-" and "=" not in text[before:end] and text[start - 1] not in ("'", '"')
        if text[start] != "-" and not is_argument:
            yield from _if_secret(text, start, last, SURE if text[start - 1] in ("'", '"') else WORD, "-")
            return


def _set_values(text: str, words: list[tuple[int, int]], number: int, holds: str) -> Iterator[tuple[int, int]]:
    """Yield the secrets in `NAME=… NAME=…`, or the last word."""
    pairs = [(start, end) for start, end in words[number + 1 :] if "=" in text[start:end] and text[start] != "-"]
    for start, end in pairs:
        if holds == PAIRS:
            yield from _if_secret(text, start, end, PAIR, "--")
        else:
            yield from _if_secret(text, text.index("=", start) + 1, end, WORD, "set")
    if not pairs:
        yield from _if_secret(text, *_last_word(text, words, number), WORD, "set")


def _in_next_word(text: str, words: list[tuple[int, int]], number: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secret in `--password …`."""
    flag, holds, _ = row
    if holds == SURE and text[slice(*words[number + 1])].isdigit() and number + 2 < len(words):
        number += 1  # key 0 …
    start, end = words[number + 1]
    is_quoted = text[start - 1] in ("'", '"')
    if flag == "by" and not is_quoted and not _is_oracle(text, words, number):
        return
    if holds == WORD and flag.isalpha() and _is_whole_line(text, words, number):
        from mdmem.privacy.secrets import values

        holds = SURE if values.is_rare(text[start:end]) else WORD
    if text[start : start + 1] != "-":
        yield from _if_secret(text, start, end, holds, flag)


def _is_whole_line(text: str, words: list[tuple[int, int]], number: int) -> bool:
    """Whether a command begins its line, and ends with the argument of its flag: `cargo login …`."""
    head = text[max(0, words[0][0] - _LONGEST_WORD) : words[0][0]].rpartition("\n")[2]
    return not head.strip(" \t$>") and (number + 2 == len(words) or _ends_command(text, words[number + 1][1]))


def _in_same_word(text: str, start: int, end: int, row: FlagRow) -> Iterator[tuple[int, int]]:
    """Yield the secret in `-p…`, `--password=…`, `--password="…`."""
    flag, holds, _ = row
    start += len(flag)
    start += text[start] == "="
    if text[start : start + 1] in ("'", '"'):
        close = text.find(text[start], start + 1, start + _LONGEST_WORD)
        yield from _if_secret(text, start + 1, close if close >= 0 else end, holds, flag)
    else:
        yield from _if_secret(text, start, end, holds, flag)


def _is_oracle(text: str, words: list[tuple[int, int]], number: int) -> bool:
    """Whether this is a statement with an unquoted password, not a sentence: `IDENTIFIED BY Abc123;`."""
    from mdmem.privacy.secrets import arguments

    password = text[slice(*words[number + 1])].rstrip(";")
    if text[slice(*words[number])] == "BY" and arguments.is_given(password, plain=True):
        return True
    before = text[max(0, words[number][0] - _LONGEST_WORD) : words[number][0]].lower().split()
    return before[-4:-3] in (["create"], ["alter"]) and before[-3] in ("user", "role")


def _nearby(text: str, words: list[tuple[int, int]], number: int) -> Iterator[tuple[int, int]]:
    """Yield the secret in `net use z: \\\\host\\share … /user:bob …` and `net user bob … /add`."""
    for neighbor in (number - 1, number + 1):
        if 2 < neighbor < len(words):
            start, end = words[neighbor]
            if text[start - 1] != "\\" and text[start] not in "/*" and not text[start:end].endswith(":"):
                yield from _if_secret(text, start, end, WORD, "/")


def _last_word(text: str, words: list[tuple[int, int]], number: int) -> tuple[int, int]:
    """Return the span of the command's last word, before a pipe or the like."""
    last = words[number]
    for start, end in words[number + 1 :]:
        if text[start : start + 1] in _ENDS:
            break
        last = (start, end)
        if _ends_command(text, end):
            break
    return last if last != words[number] else (0, 0)


def _ends_command(text: str, end: int) -> bool:
    """Whether a command ends behind this word: `htpasswd -b f bob …; ls`."""
    return text[end - 1 : end] == ";" or text[end : end + 2] in ("';", '";')


def _if_secret(text: str, start: int, end: int, holds: str, flag: str) -> Iterator[tuple[int, int]]:
    """Yield the span of the secret in an argument, if it looks like one."""
    from mdmem.privacy.secrets import arguments

    parts = {SAID: arguments.of_printer, PAIR: arguments.of_pair, USER: arguments.of_user, URL: arguments.of_address}
    core = text[start:end].rstrip("\"'`)\\;,")
    if holds == PAIR and (key := arguments.key_without_password(core)):
        yield start, start + len(key)
        return
    first, last = parts[holds](core) if holds in parts else (0, len(core))
    secret = core[first:last]
    plain = flag.strip("/-").isalpha() and flag[:1] not in "-/"
    if holds == ODD and _ODD_SIGNS.isdisjoint(secret):
        return
    plain = (plain and holds not in (SURE, URL, PAIR, USER)) or holds == ODD
    if 3 <= len(secret) <= _LONGEST_WORD and arguments.is_given(secret, plain=plain):
        yield start + first, start + last
