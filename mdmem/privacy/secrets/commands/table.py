"""Commands that take a secret as an argument: their flags, and which word has the secret."""

from __future__ import annotations

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
