"""Secrets: what is hidden as one, what is left alone, and what stands in its place."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable

import pytest

from mdmem import privacy
from mdmem.privacy import Rules, clean, secrets, text
from mdmem.privacy.job import Job
from mdmem.privacy.secrets import tables
from tests.helpers import credentials

KEPT = (
    "the password is now required, and the password for new users is still missing",
    "The password has been changed to comply with the policy; the token was set to expire in 15 minutes",
    "the password of a user is now optional, and its token will be refreshed by the middleware",
    "password at login is always checked first; the password will be reset by mail",
    "self.password=secret_word",
    "user.token = given\nuser.password = password\nthis.token=value",
    "expect(page.getByLabel('password')).fill(value)",
    "{password, Password}, {token, undefined}",
    "the password field = a_name",
    "grep -e password=",
    "password = '%s' % word",
    "password=pre%s_%s",
    "a regexp user/name@v2 and a short exp of it",
    '["--password", "--token", "--verbose"]',
    "args:\n  - --password-file\n  - /run/secrets/db\n",
    '{"spacing-token": {"type": "size", "value": "4px"}}',
    "String#toLowerCase, Foo!barBaz and use the key Widget#paintRows",
    'x={impact:"serious",messages:{pass:"ARIA attribute is allowed",fail:1}}',
    'debug4("pw:adb:send")(data)',
    "a===b?n.pass:n.fail:(c)",
    "{messages:{pass:n||e.messages.pass,fail:r}}",
    'toolskey = "VS%0.f0COMNTOOLS" % version',
    "# token          = 1*tchar",
    "{0x33ba:'pw', 0x33bb:'nw', 0x33bc:'pq'}",
    "PyUnicode_AsUTF8AndSize() and PyUnicode_AsUTF16String()",
    'struct.unpack("<4sBBHH8xIIHH8shhQQx4s", data)',
    '    "passwd:dir",\n    "passwd:gecos",\n',
    "case 13:o.key=e.altKey?r.C0.ESC+r.C0.CR:r.C0.CR",
    "b'dGltIGYxY2E2YmU0NjRiOWVmYT'\n    b'FjY2E2ZmZkNmNmMmQ5ZjMy'",
    "a.py,sha256=1J_5xp_jrZgUTVPwsRqZPxdn_qNnNQwgboCKoFSKbtg,12",
    "src/app/user/v1beta2 origin/admin/Ab12Cd34 https://a.example/root/Ab12Cd34",
    "fromHex('0xc90fdaa22168cp-50')",
    "password-reset: done, password-hash: 5f4dcc3b5aa765d61d8327deb882cf99",
    "token = json.dumps(payload)",
    "class TestCPass1(TestPass1): pass",
    "$auth = new X11::Auth;",
    "elif token == 0x23:",
    "function(e,t,n){e.password=t,n.encryptionStrength=5}",
    '.codicon-pass:before,.codicon-x:before{content:"x"}',
    "RecvmsgRFC3542AncillaryUDP6Test, dnsAlpnH3JobWonRace, RegOpenKeyEx = win32api.RegOpenKeyEx",
    "cache_key = 'q1w2e3r4t5y6u7i8'",
    "https://pcsc.example.org/api#ga4be198045c73ec0deb79e66c0ca1738a",
    "Set-Cookie: number=7; Path=/",
    "QmFzw6xjIHTDq3h0Lgo=",
    "wheels/cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "the password OAuth2Token is of another type",
    "apiKey: string",
    "process.env.TOKEN",
    "max tokens: 4096",
    "const token = await getToken();",
    "if (token === null) return",
    "password: z.string().min(8)",
    "def login(username: str, password: str) -> Token:",
    '<input type="password" name="password" autocomplete="current-password">',
    "password_hash = bcrypt.hashpw(pw, salt)",
    "getpass('Password: ', stream=None)",
    "passwd: all authentication tokens updated successfully.",
    "| token | string | The API token |",
    "pass: 12, fail: 0",
    "secretName: my-tls-secret",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password = var.db_password",
    'api_key="$API_KEY"',
    "token=handlers[i](request)",
    "password=$(cat secret.txt)",
    "Authorization: Bearer <token>",
    "Authorization: Bearer YOUR_API_KEY",
    'csrf_token = request.POST.get("csrf")',
    "The secret is to keep calm",
    "password is 8 characters long",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "9fceb02d-0ae5-98e9-5dc9-70b74767f193",
    "v1.2.3-14-ge13ca993e8ccb9ba9847cc330696e02839f328f7",
    "sha512-z7zLYwjTPGbJrFmLgDkQ9tvKxPZKvFCZ5VYfKyZkS2VAjFcfVQSVbrWIVPyzJGo9uQ4qVpbWYvGvYwkFPYtU8Q==",
    "github.com/x/y v1.2.3 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDJ7nK1x9tKx3m0 bob@host",
    "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5",
    "/home/dev/.claude/projects/-home-dev-work/7c1f2a9e-4b63-4d0e-9a55-2f6d1c8be301.jsonl",
    "toolu_01oUD12a9R3oPJdkZh8f2Fge",
    "session_id: 7c1f2a9e-4b63-4d0e-9a55-2f6d1c8be301",
    'forgot_password: "Forgot your password?"',
    '"password": {"type": "string", "minLength": 8}',
    "token_type: bearer",
    'access_token_url = "https://a.b/c"',
    'SECRET_KEY = os.environ["SECRET_KEY"]',
    'password: process.env.DB_PASSWORD || ""',
    "private_key: Ed25519PrivateKey, password: bytes | None = None",
    "docker run -p 8080:80 nginx",
    "mysql -u root -p",
    "curl -u $USER:$PASS http://x",
    "http://localhost:3000/@fs/home",
    "http://[::1]:3000/@vite/client",
    "use the --password option to log in",
    "password=user_password",
    'secret: "client_secret"',
    "https://user:password@example.com",
    "PWD=/home/dev/work",
    "DB_PASSWORD=",
    "credentials: 'include'",
    "-----BEGIN CERTIFICATE-----",
    'HEADER = "-----BEGIN PRIVATE' + ' KEY-----"',
    "wrong password for user bob",
    "key 7 is mapped to the octave, and a password 8 characters long is asked for",
    "the app pass will show more here; pass them into each call",
    "FROM python@sha256:3f9ad7c1b2e84560ffab01c9d2e3f4a5b6c7d8e93f9ad7c1b2e84560ffab01c9",
    "bob@host:8080 git@gitlab.local:infra/roles.git npm i @types/node@20.1.0 admin@10.0.0.4:report.txt",
    "snmpwalk -v2c -c public 10.0.0.1, and the snmp-server community string",
    "* CAPABILITY IMAP4rev1 LOGIN-REFERRALS\n250-AUTH LOGIN PLAIN\nthe LOGIN command takes a user",
    "connect to/from@home, identify nick changes, EXEC sp_help 'users'",
    "username, password = proxy_auth\nlogin(user: name, pass: phrase); a ? user.pass : user.fail",
    "SyntaxError: Unexpected token < in JSON at position 0",
    "hotkey: ctrl+shift+p",
    "/nix/store/y4rx5f2nl3bjhx8n8gwzk1mb4pmw8a5l-python3-3.11",
    "rust_openssl.Ed25519PrivateKey, ChaCha20Poly1305, DistInfoPkgWithDot, test_md5_of_2_files",
    "mdmem/vault/note.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,1234",
    "github.com/x/y v1.2.3 h1:/7DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    '"contentHash": "j+wziA++EqaztqSgFB0JK5tDGPV4nNfQCNK0SHrhdp1Tw34sAe0W1bbEz4F8lHAF2JvEmCj4cksCuLV8ji/E4Q==",',
    'ETag: W/"5f-qBB6Pn0hVW2hb7pldhnKwF1MvlE"',
    "event 01HVZNRM7FPX6WY14DZMWC1Y7A",
    "AC2B922ECFD5E01711772FEA8ED372DE9D1E2245FCE3F57A9CDBEC77296A424B",
    "| password | string |",
    "cat password | sha256sum",
    'parser.add_argument("--token", "-t1")',
    'd.get("password", "")',
    '["username", "password", "email2"]',
    'get_password("user1")',
    "from x import L2CAP_AUTH as L2CAP_LM_AUTH",
    "def read(token: Token) -> Token2:",
    "a vault login page, and identified by its id1x",
    "Access key: Alt+Shift+P",
    "docker run -p 127.0.0.1:5432:5432 postgres",
    "<!--renovate-debug:eyJjcmVhdGVkSW5WZXIiOiIzNy40NDAuNyIsInVwZGF0ZWRJblZlciI6IjM3LjQ0MC43In0=-->",
    "Subject: =?utf-8?b?6L+Z5piv5Lit5paH5rWL6K+V77yB?=",
    '<path d="M6.76 4.84l-1.8-1.79-1.41 1.41 1.79 1.79 1.42-1.41zM4 10.5H1v2h3v-2zm9-9.95h-2V3.5h2V.55zm7.45">',
    "objects are identified by their id, passwords by PASSWORD, and tokens by 'TOKEN'",
    "max_tokens => 10_000, next_token: abc123",
    'my $out = $as->{pass} ? "PASS" : "FAIL";',
    "openssl x509 -req -in my.csr -signkey ryans-key.pem",
    "token: str = None",
    "def check(password: str, token: Token) -> bool:",
    'if password == "password":',
    "| name | password |\n|---|---|\n| string | string |",
    "name, password and token\nthe first, the second and the third",
    "passwords:\n  - $PASSWORD\n  - changeme",
    "Message-ID: <CABPp-BGOz8nks0+Tdw5GyGqxeYR-3FF6FT5JcgVqZDYVRQ6qog@mail.gmail.com>",
)
"""What looks a little like a secret and is none."""

HIDDEN = (
    "password: {}",
    'password = "{}"',
    "'password' => '{}'",
    'password := "{}"',
    '"password" : "{}"',
    '<add key="Password" value="{}"/>',
    "set PASSWORD={}",
    '$env:API_KEY = "{}"',
    "Server=x;Password={};Database=y",
    "PGPASSWORD={} psql -h h",
    "--password {}",
    "--password='{}'",
    "sshpass -p {} ssh x",
    "redis://:{}@h:6379",
    "ftp://bob:{}@h",
    '{{"user":"bob","pass":"{}"}}',
    '{{\\"db\\": {{\\"password\\": \\"{}\\"}}}}',
    "requirepass {}",
    'psql "host=h user=u password={} dbname=d"',
    "kubectl create secret generic x --from-literal=password={}",
    "https://a.b/?x=1&password={}",
    "password: str = '{}'",
    "password is: {}",
    "the password was {}.",
    "see [password={}](notes.md) first",
    "[api_key: {}](x)",
    "password={}, user=bob",
    "+password={}",
    "- name: DB_PASSWORD\n  value: {}",
    "password: |\n  {}",
    "パスワード：{}",
    "密码是{}",
    "contraseña: {}",
    "redis-cli -a {} ping",
    "docker login -u bob -p {} r",
    "curl --user bob:{} x",
    "curl --proxy-user bob:{} x",
    "xfreerdp /v:host /u:bob /p:{}",
    "DB_PASSWORD={} npm start",
    '- "DB_PASSWORD={}"',
    "login --password {} --user bob",
    "ldapsearch -w {}",
    "openssl enc -pass pass:{}",
    'PASSWORD={}"more<stuff',
    "machine h\n  login bob\n  password {}\n",
    "default login bob password {}",
    "**Password:** {}",
    "- **Password**: `{}`",
    "| DB password | {} |",
    "password -> {}",
    '"password":\n    "{}"',
    "password: !!str {}",
    "    12→requirepass {}",
    "userPassword:: {}",
    "define('DB_PASSWORD', '{}');",
    "'password' => env('DB_PASSWORD', '{}'),",
    'db.setPassword("{}")',
    "ALTER ROLE bob PASSWORD '{}'",
    "CREATE USER 'bob'@'%' IDENTIFIED BY '{}'",
    'requests.get(url, auth=("bob", "{}"))',
    "<name>fs.ConnectionPassword</name>\n  <value>{}</value>",
    "the password for the shop is {}",
    "the root password for box7 is now {}",
    "the admin password is currently {}",
    "the password on staging has been changed to {} today",
    "the wifi password at the office is {}",
    "the password for the shop will be {} from Monday",
    "password for the staging db is still {}",
    "das Passwort für den Server ist jetzt {}",
    "le mot de passe pour le serveur est maintenant {}",
    "mot de passe : {}",
    "ConvertTo-SecureString '{}' -AsPlainText -Force",
    "htpasswd -bc users bob {}",
    "echo '{}' | sudo -S ls",
    "echo bob:{} | chpasswd",
    "db.acme.io:5432:shop:bob:{}",
    "db.acme.io:5432:shop:bob:hun\\:{}",
)
"""Places where `{}` is a password, even a short one."""


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    for origin in ("prompt", "tool"):
        assert clean(text, origin=origin).value == text


@pytest.mark.parametrize("line", HIDDEN)
def test_a_password_is_hidden_wherever_it_is_usually_written(line: str) -> None:
    cleaned = clean(line.format("hunter2"), origin="tool")

    assert "hunter2" not in cleaned.value
    assert cleaned.redacted == 1


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD={} npm start",
        '- "DB_PASSWORD={}"',
        "login --password {} --user bob",
        "mysqld_exporter --mysqld.password={} --x",
        "password: {}",
        'pass = "{}"',
        "jdbc:mysql://db/app?user=app&password={}&useSSL=false",
        "user=app password={} host=db",
        "user: admin / pass: {}",
        "A001 LOGIN bob {}",
        'a2 LOGIN "bob" "{}"',
        "EXEC sp_addlogin 'web', '{}', 'shop'",
        "EXEC sp_password NULL, N'{}', 'sa'",
        "ALTER ROLE app WITH LOGIN PASSWORD '{}'",
        "CONNECT sys/{}@prod AS SYSDBA",
        "username netops password 0 {}",
        "snmp-server community {} RO 10",
        "snmp-server host 10.1.1.1 version 2c {}",
        "crypto isakmp key {} address 203.0.113.5",
        "snmpwalk -v2c -c {} 10.0.0.1 system",
        "/msg NickServ IDENTIFY {}",
        "PRIVMSG NickServ :IDENTIFY nick {}",
        "here's the wifi pw: {}",
        "wget --user=ftp --password={} ftp://files.example/a.tgz",
        "mount -t cifs //nas/x /mnt -o username=joe,password={},vers=3.0",
        'props.setProperty("mail.smtp.password", "{}");',
        'Content-Disposition: form-data; name="password"\n\n{}\n--boundary',
        "    Key Content            : {}",
    ],
)
def test_even_a_plain_word_is_a_password_where_no_variable_can_stand(line: str) -> None:
    assert "swordfish" not in clean(line.format("swordfish"), origin="tool").value


@pytest.mark.parametrize("lines", [0, 20, 200])
@pytest.mark.parametrize(
    "line",
    [
        "snmpgetnext -v3 -u mon -A {} 10.0.0.1",
        "snmpwalk -v2c -c {} 10.0.0.1 system",
        "/opt/mysql/bin/mysqlshow -uroot -p{} shop",
        "oc login -u ana -p {} https://api.example",
        "secretsdump.py -hashes :{} ana@10.0.0.4",
    ],
)
def test_the_password_of_a_command_is_hidden_in_a_text_of_any_length(line: str, lines: int) -> None:
    before = "The report of the day says that all is well.\n" * lines
    assert "sword12fish" not in clean(f"{before}{line.format('sword12fish')}\n{before}", origin="tool").value


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("GITHUB_TOKEN=abcd1234zzzz", "GITHUB_TOKEN=[REDACTED]"),
        ("kv put secret/app db_password=tuesday-rain", "kv put secret/app db_password=[REDACTED]"),
        ("enable password 7 0822455D0A16", "enable password 7 [REDACTED]"),
        ("tacacs-server key 7 14141B180F0B29242A", "tacacs-server key 7 [REDACTED]"),
        ("ip ospf message-digest-key 1 md5 7 070C285F4D06", "ip ospf message-digest-key 1 md5 7 [REDACTED]"),
        ("the box is root@10.0.3.7:Fj6-kkd0 now", "the box is root@10.0.3.7:[REDACTED] now"),
        ("connect('h', 22, 'root', 'Nutmeg-55')", "connect('h', 22, 'root', 'Nutmeg-55')"),
        ("ssh.connect('h', 22, 'root', 'Nutmeg-55')", "ssh.connect('h', 22, 'root', '[REDACTED]')"),
        ("recovery key: EsTz 4kWm 1qXv 9Rb1 Ls4N c7Hd", "recovery key: [REDACTED]"),
        ("access_token: abcd1234yyyy", "access_token: [REDACTED]"),
        ('"token": "abcd1234zzzz"', '"token": "[REDACTED]"'),
        ('secret: "mysecret"', 'secret: "[REDACTED]"'),
        ("Authorization: Bearer mytoken", "Authorization: Bearer [REDACTED]"),
        ("token=tok_1234567", "token=[REDACTED]"),
        ("password:\n  zq81kk", "password:\n  [REDACTED]"),
        ("curl https://a.example \\\n  -u bob:zq81kk", "curl https://a.example \\\n  -u bob:[REDACTED]"),
        ("passwords:\n  - zq81kk\n  - swordfish", "passwords:\n  - [REDACTED]\n  - [REDACTED]"),
        ("user,password\nbob,zq81kk\n", "user,password\nbob,[REDACTED]\n"),
        (
            "INSERT INTO t (a, password) VALUES ('x', 'zq81kk'), ('y', 'swordfish')",
            "INSERT INTO t (a, password) VALUES ('x', '[REDACTED]'), ('y', '[REDACTED]')",
        ),
        ("my pin is 4711", "my pin is [REDACTED]"),
    ],
)
def test_a_literal_beside_the_name_of_a_secret_is_hidden_whatever_it_looks_like(text: str, stored: str) -> None:
    assert clean(text, origin="tool").value == stored


@pytest.mark.slow
def test_no_piece_of_a_secret_is_left_when_a_cut_comes_after_the_gate() -> None:
    for sample in credentials.samples(1, seed=3):
        text = "x" * 400 + " " + sample.text
        for size in (410, 420, 430, 440):
            cut = clean(text, origin="tool").value[:size]
            whole = clean(text, origin="tool").value
            assert cut == whole[:size]


def test_long_secrets_are_hidden_to_their_end() -> None:
    long = "".join(sample.secret for sample in credentials.samples(3, seed=4) if sample.name == "GitHub personal token")
    for line in ("PASSWORD={}", 'password: "{}"', "token={}", "eyJ{}"):
        secret = (long + "_") * 40
        assert long[-20:] not in clean(line.format(secret), origin="tool").value


def test_base64_in_lines_is_data() -> None:
    luck = "kJ8fQ2mZ7xP1vB4nC6tR9yL3wS5dG0hA" * 2
    block = "\n".join([luck] * 5)

    assert clean(block, origin="tool").value == block


def test_the_mark_can_name_the_kind() -> None:
    token = "ghp_" + "aB3x" * 9

    assert clean(f"pushed with {token}", rules=Rules(name_kinds=True)).value == "pushed with [REDACTED:github-token]"
    again = clean("password=[REDACTED:password]", rules=Rules(name_kinds=True))
    assert (again.value, again.redacted) == ("password=[REDACTED:password]", 0)


def test_secrets_can_be_left_in() -> None:
    rules = Rules(secrets=False)

    assert clean({"password": "hunter2", "b": "<private>S</private>x"}, rules=rules).value == {
        "password": "hunter2",
        "b": "[PRIVATE]x",
    }


@pytest.mark.parametrize(
    "line",
    [
        "[DEBUG] Using Key={}",
        "adafruit_key = '{}'",
        'vendorKey := "{}"',
        "<secret>{{vendor AQAAABAAA {}}}</secret>",
        '$vendorToken .= "{}";',
    ],
)
@pytest.mark.parametrize("value", ["rWE8I0axy6Fvw40RE8tsNS3L", "0464e88f5250a8bf2584535eafa0b6ea", "5iuib3ahosnckoqvp"])
def test_a_random_value_under_any_key_is_masked(line: str, value: str) -> None:
    assert value not in clean(line.format(value), origin="tool").value


@pytest.mark.parametrize("value", ["PSBlPWegPZSCLoxE", "letmein", "a,b7xQ!zz"])
def test_a_password_between_other_settings_is_masked(value: str) -> None:
    line = "Server=db;User Id=sa;Password={};Encrypt=true"

    assert clean(line.format(value), origin="tool").value == line.format("[REDACTED]")


@pytest.mark.parametrize("value", ["Summer2024!", "GJBNmEzd7JTk", "k9#Lm!2q"])
@pytest.mark.parametrize(
    "line",
    [
        "unrar x -p{} a.rar",
        "ansible-vault encrypt_string {} --name db_password",
        "etcdctl --user root:{} get /",
        "impdp ana/{} DIRECTORY=x",
        "nmcli dev wifi connect home password {}",
        "wpa_passphrase home {}",
        "npm config set //npm.example.org/:_authToken {}",
        "poetry config http-basic.repo ana {}",
        "gh secret set DB_LOGIN --body '{}'",
        "echo '{}' | gh secret set DB_LOGIN",
        "printf '%s' '{}' | vault kv put secret/x password=-",
        "vercel env add DB_LOGIN production <<< {}",
        "mc alias set minio http://m admin {}",
        "rclone config create r sftp pass {}",
        "cypher-shell -u neo4j -p {}",
        "neo4j-admin set-initial-password {}",
        "CREATE LOGIN ana WITH PASSWORD = N'{}';",
        "ALTER USER ana IDENTIFIED BY {}",
        '<entry key="password">{}</entry>',
        'os.environ.setdefault("DB_PASSWORD", "{}")',
        'variable "db_password" {{\n  type = string\n  default = "{}"\n}}',
        'WiFi.begin("home", "{}");',
    ],
)
def test_a_password_on_a_command_line_or_in_a_settings_language_is_masked(line: str, value: str) -> None:
    assert clean(line.format(value), origin="tool").value == line.format("[REDACTED]")


@pytest.mark.parametrize("value", ["m15UEL!UOuZA", "48HtTp%SyZir", "cdBxQj!vOaBp"])
@pytest.mark.parametrize(
    "line",
    [
        "exp ana/{}@ORCL file=ana.dmp owner=ana",
        "imp system/{}@PROD fromuser=a touser=b",
        "az sql server create -n s -g g -u adm -p {}",
        "beeline -u jdbc:hive2://h:10000/default -n hive -p {}",
        "dotnet nuget add source https://n.example.com/index.json -n c -u bob -p {}",
        "mosquitto_pub -h mqtt -u dev -P {} -t a/b -m hi",
        "vsql -h v1 -U dbadmin -w {} -c 'select 1'",
        "pdftotext -upw {} a.pdf",
        "db2 connect to SAMPLE user ana using {}",
        "composer config http-basic.repo.example.com bob {}",
        "aws ssm put-parameter --name /app/db --type SecureString --value {}",
        "echo -n '{}' | gcloud secrets create db --data-file=-",
        "printf '{}' | kubectl create secret generic db --from-file=login=/dev/stdin",
        "echo '{}' | kinit bob@CORP.EXAMPLE",
        "sudo cryptsetup luksOpen /dev/sdb1 d <<< '{}'",
        "::add-mask::{}",
        "INFO connecting with user=app, password={}, host=db",
        "Your new password has been set to {}",
        '"Cmd": ["redis-server","--requirepass","{}"],',
        "args:\n  - --db-password\n  - {}\n",
        "ansible_password: !unsafe {}",
        '{{"db_password": {{\n  "sensitive": true,\n  "type": "string",\n  "value": "{}"\n}}}}',
    ],
)
def test_a_password_is_masked_where_it_follows_a_program_a_flag_or_a_type(line: str, value: str) -> None:
    assert clean(line.format(value), origin="tool").value == line.format("[REDACTED]")


@pytest.mark.parametrize("value", ["badger5099", "tango!118copper"])
@pytest.mark.parametrize(
    "line",
    [
        'await page.getByLabel("Password").fill("{}")',
        "driver.find_element('password').send_keys('{}')",
        "page.fill('#password', '{}')",
        "fill_in 'Password', with: '{}'",
        '{{password, "{}"}}',
        '{{:password, "{}"}}',
        "Changed password for user elastic\nPASSWORD elastic = {}\n",
        "gpg --batch --passphrase-fd 0 <<< '{}'",
        "smbmap -u bob -p {} -H 10.0.0.1",
        "mycli -u root -p{} shop",
        "mssql-cli -U sa -P {}",
        "rabbitmqadmin -u admin -p {} list queues",
        "nmcli con modify home wifi-sec.psk {}",
    ],
)
def test_a_password_is_masked_where_it_is_typed_in_or_paired_with_its_name(line: str, value: str) -> None:
    assert clean(line.format(value), origin="tool").value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "line",
    [
        "docker run --env admin_password={} app",
        "docker run -e ADMIN_PASSWORD={} app",
        "terraform apply -var db_password={} -auto-approve",
        "helm install x ./c --set auth.password={}",
        "ssl.truststore.password={}",
        "db.password: {}",
    ],
)
def test_even_a_plain_word_is_a_password_in_a_setting(line: str) -> None:
    assert clean(line.format("velvetcopper"), origin="tool").value == line.format("[REDACTED]")


def test_a_here_string_is_masked_where_it_looks_like_a_password() -> None:
    assert clean("any-vault unlock <<< 'winter5786!'", origin="tool").value == "any-vault unlock <<< '[REDACTED]'"
    for kept in ("base64 -d <<< aGVsbG8gd29ybGQ=", "jq .a <<< '{\"a\": 1}'", "wc -l <<< word2", "<<<<<<< HEAD\nx1!y\n"):
        assert clean(kept, origin="tool").value == kept


def test_every_value_of_a_kubernetes_secret_is_masked_in_json_and_yaml() -> None:
    shown = '{\n  "apiVersion": "v1",\n  "data": {\n    "a": "%s",\n    "b.txt": "%s"\n  },\n  "kind": "%s"\n}'
    values = ("YWJjZGVm", "Z2hpamts")

    assert clean(shown % (*values, "Secret"), origin="tool").value == shown % (*["[REDACTED]"] * 2, "Secret")
    assert clean(shown % (*values, "ConfigMap"), origin="tool").redacted == 0
    assert clean("stringData:\n  conn: plainword\nkind: Secret", origin="tool").redacted == 1


@pytest.mark.parametrize("before", ["a}b", 'a\\"b', '{\\"port\\": 1}', ""])
def test_a_value_of_a_kubernetes_secret_is_masked_behind_one_with_signs_of_json(before: str) -> None:
    shown = '{"kind": "Secret", "stringData": {"first": "%s", "last": "plainword"}}'

    assert "plainword" not in clean(shown % before, origin="tool").value


def test_a_kubernetes_secret_of_many_values_takes_time_in_proportion_to_them() -> None:
    def seconds(shown: str) -> float:
        begin = time.process_time()
        assert all(shown[start:end] in ("abcd", "efgh") for start, end, _ in tables.find(shown, shown.lower()))
        return time.process_time() - begin

    for unit in ('"key%d": "abcd", ', '"data": {"k%d": "efgh", ', '"data":{'):
        few, many = (
            '{"kind": "Secret", "data": {' + "".join(unit.replace("%d", str(n)) for n in range(count))
            for count in (500, 4_000)
        )
        assert seconds(many) < 30 * seconds(few) + 0.05


@pytest.mark.parametrize(
    "line",
    [
        '{{"assemblyai_key": "{}"}}',
        "tool --deepgram-key {}",
        "ENV DEEPGRAM_KEY {}",
        "<some_key>{}</some_key>",
        "acme key: {}",
    ],
)
def test_a_hexadecimal_value_is_masked_under_any_name_of_a_key(line: str) -> None:
    value = "9f86d081884c7d659a2feaa0c55ad015"

    assert clean(line.format(value), origin="tool").value == line.format("[REDACTED]")
    assert clean(f'{{"cache_key": "{value}"}}', origin="tool").redacted == 0


def test_base64_is_masked_although_its_signs_cut_it_into_short_words() -> None:
    value = "67dQf5t7cJVr2z/zzy5Lk4XEI/VY3uDqYPyemNrF"

    assert clean(f"it failed with {value} there", origin="tool").value == "it failed with [REDACTED] there"


def test_no_usual_key_names_a_secret_or_needs_a_closer_look() -> None:
    job = Job(privacy.Cleaned(), privacy.DEFAULT, "tool", None)
    for key in privacy.USUAL_KEYS:
        assert not secrets.has_keyword(key.lower()), key
        assert text.clean(key, job) == key


@pytest.mark.parametrize(
    "line",
    [
        "ｐａｓｓｗｏｒｄ：{}",
        "ＤＢ＿ＰＡＳＳＷＯＲＤ={}",
        "pass\u200bword={}",
        "pass\u00adword: {}",
        "password\u200b: {}",
        "\ufeffpassword={}",
        "│ password │ {} │",
        "┏━━━━━━┳━━━━━━━━━━━┓\n┃ user ┃ password  ┃\n┡━━━━━━╇━━━━━━━━━━━┩\n│ bob  │ {} │\n└──────┴───────────┘",
        "║ user ║ password ║\n╠══════╬══════════╣\n║ bob  ║ {}  ║",
        '{{"password" :"{}"}}',
        "filter=%7B%22user%22%3A%22b%22%2C%22password%22%3A%22{}%22%7D&x=1",
        "password%3A{}",
        "Password (save it): {}",
    ],
)
def test_a_password_is_hidden_whose_name_or_sign_is_written_in_another_way(line: str) -> None:
    assert clean(line.format("vkx7ocean"), origin="tool").value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "│ password │ required │",
        "┃ name ┃ type   ┃\n┡━━━━━━╇━━━━━━━━┩\n│ pass │ string │",
        "├── secrets\n│   ├── token_list.txt\n│   └── password2.py",
        "Password (optional): leave it empty",
        "the password :meth:`set_password2` sets",
        "ｐａｓｓｗｏｒｄ：必須",
    ],
)
def test_what_describes_a_password_in_another_way_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize("question", ["What is the DB password?", "DB password?", "Which API key should I use?"])
def test_an_answer_to_a_question_for_a_secret_is_masked(question: str) -> None:
    run = {"tool": "AskUserQuestion", "response": {"answers": {question: "velvetocean77", "Which port?": "8080"}}}

    cleaned = clean(run, origin="prompt").value

    assert cleaned["response"]["answers"] == {question: "[REDACTED]", "Which port?": "8080"}


def test_an_answer_that_an_agent_notes_is_masked_and_the_question_is_not() -> None:
    text = 'The user answered: "What is the DB password?"="{}", "Which port?"="8080"'

    assert clean(text.format("velvetocean"), origin="tool").value == text.format("[REDACTED]")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Should the form have a password?", "Later"),
        ("Rotate the token?", "option2"),
        ("Which API key should I use?", "The staging one"),
        ("Where is the password?", "In the wiki"),
    ],
)
def test_an_answer_about_a_secret_stays(question: str, answer: str) -> None:
    for value in ({"answers": {question: answer}}, f'"{question}"="{answer}"', f'"{question}"'):
        assert clean(value, origin="prompt").value == value


SETTINGS = b"APP=shop\nDB_HOST=localhost\nDB_PASSWORD=%b\nPORT=3000\nDEBUG=false\nMODE=x\n"


@pytest.mark.parametrize("content", [SETTINGS, b'{"user": "bob", "password": "%b"}', b"db:\n  api_token: %b\n"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.encodebytes, base64.urlsafe_b64encode])
def test_base64_of_settings_with_a_password_is_masked(content: bytes, encode: Callable[[bytes], bytes]) -> None:
    text = f"$ base64 .env\n{encode(content % b'velvetocean77').decode().strip()}\n"

    assert clean(text, origin="tool").value == "$ base64 .env\n[REDACTED]\n"


@pytest.mark.parametrize("content", [b"how to reset the password of an account", SETTINGS % b"", SETTINGS % b"$SECRET"])
def test_base64_of_a_text_without_a_password_stays(content: bytes) -> None:
    text = f"$ base64 notes\n{base64.b64encode(content).decode()}\n"

    assert clean(text, origin="tool").value == text
