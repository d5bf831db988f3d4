"""Secrets that programs keep: what a store shows, what files of settings and dumps of databases have in their lines."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from mdmem.privacy import clean
from tests.helpers.cleaned_runs import ran, read

WORD = "lagunotul"
"""A password that looks like a word, but is none."""


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("infisical secrets get DOOR --plain", "{}\n"),
        ("infisical export --format=dotenv", "DOOR='{}'\n"),
        ("chamber export --format dotenv shop", 'DOOR="{}"\n'),
        ("chamber read shop door", "Key   Value  Version\ndoor  {}     1\n"),
        ("credstash get door", "{}\n"),
        ("dashlane password mail", "{}\n"),
        ("dcli p mail -o console", "{}\n"),
        ("berglas access bucket/door", "{}"),
        ("pass mail/ana", "{}\nlogin: ana\n"),
        ("cd /srv && sudo pass mail/ana", "{}\n"),
        ("netlify env:get DOOR_SECRET", "{}\n"),
        ("keyctl print 1234", "{}\n"),
        ("rclone reveal x7", "{}\n"),
        ("dotenvx get DOOR", "{}\n"),
        ("systemd-creds decrypt door.cred -", "{}\n"),
        ("jq -r .door secrets.json", "{}\n"),
        ("yq .door deploy/credentials.yaml", "{}\n"),
        ("cat secrets/door.txt", "{}\n"),
        ('cat "secrets/door"', "{}\n"),
        ("cat /run/secrets/door.md", "{}\n"),
        ("firebase functions:secrets:access DOOR", "{}\n"),
        ("consul kv get shop/password", "{}\n"),
        ("etcdctl get shop/password", "shop/password\n{}\n"),
        ("redis-cli GET user:1:password", '"{}"\n'),
        ("launchctl getenv DB_PASSWORD", "{}\n"),
        ("nomad var get nomad/jobs/shop", "Namespace = default\nItems\ndb_password = {}\n"),
        ("pulumi config --show-secrets", "KEY         VALUE\ndbPassword  {}\n"),
        (
            "pulumi stack output --show-secrets",
            "Current stack outputs (1):\n    OUTPUT      VALUE\n    door        {}\n",
        ),
        ("newstore credentials show mail", "{}\n"),
        ("newstore get-password mail", "{}\n"),
        ("docker exec vault vault kv get secret/shop", "door   {}\n"),
        ('bash -c "X=1; Y=$(vault kv get secret/shop); echo $Y"', "door: {}\n"),
        ("bw --session abc get item mail", "password: {}\n"),
        ("bw get item vault", "door: {}\n"),
        ("rbw get project", "door: {}\n"),
        ("x=`vault kv get y`; echo $x", "door: {}\n"),
        ("true&&vault kv get x", "door: {}\n"),
        ("cd a;vault kv get x", "door: {}\n"),
        ("cat x\nvault kv get y", "door: {}\n"),
        ("kubectl exec -n vault vault-0 -- sh -c 'vault kv get x'", "door: {}\n"),
        ("docker exec redis redis-cli GET user:1:password", "{}\n"),
        ("find . -name a -exec vault kv get x ';'", "door: {}\n"),
        ("docker run amazon/aws-cli secretsmanager get-secret-value --secret-id x", '{"SecretString": "{}"}\n'),
        ("cat app.conf ~/.pgpass", "db.example.org:5432:shop:ana:{}\n"),
    ],
)
def test_what_a_store_of_secrets_shows_is_masked(command: str, output: str) -> None:
    stored = ran(command, output.replace("{}", WORD))["response"]["stdout"]

    assert WORD not in stored
    assert "[REDACTED]" in stored


@pytest.mark.parametrize(
    "command",
    [
        "infisical secrets get DOOR --plain",
        "ansible-vault view pass.txt",
        "doppler secrets get DOOR",
        "newstore show secrets",
        "kubectl get secret door -o go-template='{{.data.x}}'",
    ],
)
def test_what_a_store_shows_in_a_transcript_is_masked(command: str) -> None:
    assert clean(f"I ran\n$ {command}\n{WORD}\n").value == f"I ran\n$ {command}\n[REDACTED]\n"


@pytest.mark.parametrize(
    "text",
    [
        "$ sops decrypt secrets.yaml\ndoors:\n  red: 2\n",
        "$ vault kv get secret/shop\nNo value found at secret/shop\n",
        f"$ infisical secrets list\n{WORD}\n",
        f"$ infisical export > secrets.env\n{WORD}\n",
    ],
)
def test_what_shows_no_value_of_a_store_stays_in_a_transcript(text: str) -> None:
    assert clean(text).value == text


def test_a_word_in_code_stays_whose_folder_is_called_secrets() -> None:
    change = {"file_path": "/app/src/secrets/door.py", "old_string": WORD, "new_string": "x"}
    run = {"tool": "Edit", "input": change, "response": {"success": True}}

    assert clean(run, origin="tool").value == run


@pytest.mark.parametrize("command", ["infisical secrets get DOOR --plain", "newstore get-password mail"])
@pytest.mark.parametrize("word", ["bGFndW5vdHVsYQ==", "lagunotul=9", "red:lamp=shade"])
def test_the_only_word_that_a_store_shows_is_masked_with_its_equals_signs(command: str, word: str) -> None:
    assert ran(command, f"{word}\n")["response"]["stdout"] == "[REDACTED]\n"
    assert ran(command, f'"{word}"\n')["response"]["stdout"] == '"[REDACTED]"\n'
    assert ran(command, "\n")["response"]["stdout"] == "\n"


def test_the_name_stays_that_a_store_shows_with_its_only_value() -> None:
    assert ran("heroku config", "host=lagune\n")["response"]["stdout"] == "host=lagune\n"
    for name in ("DOOR", "password"):
        assert ran("infisical export", f"{name}={WORD}\n")["response"]["stdout"] == f"{name}=[REDACTED]\n"
        assert clean(f"$ infisical export token\n{name}={WORD}").value.endswith(f"\n{name}=[REDACTED]")


def test_a_count_of_what_an_unknown_program_exports_stays_and_a_code_is_masked() -> None:
    output = "Exported: 4212\ndoor: 493021\n"

    assert ran("./manage.py export credentials", output)["response"]["stdout"] == "Exported: 4212\ndoor: [REDACTED]\n"
    assert "4212" not in str(ran("vault kv get door", "pin: 4212\n"))


@pytest.mark.parametrize("command", ["od -x .env", "od -An -x .env", "od -t x4 .env", "od -An -tx1 .env"])
def test_a_password_in_a_dump_of_a_file_is_masked(command: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"DB_PASSWORD={WORD}\nDEBUG=1\n")
    dump = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    for told in (command, "hexdump .env"):
        shown = ran(told, dump)["response"]["stdout"]

        assert "[REDACTED]" in shown
        assert not [line for line in dump.splitlines() if line in shown and len(line) > len("0000000")]


def test_a_dump_without_a_secret_stays() -> None:
    dump = "0000000 4544 5542 3d47 0a31 4148 454d 3d44 6168\n0000010 6272 726f 696c 656e 000a\n"

    assert ran("hexdump .env", dump)["response"]["stdout"] == dump


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("infisical secrets list", "door\n"),
        ("head -1 src/secrets/index.ts", "lagunotul\n"),
        ("cat docs/secrets/door.md", "lagunotul\nIt is red.\n"),
        ("yq .metadata.name secret.yaml", "lagunotul\n"),
        ("keyctl show", "Session Keyring\n 12 --alswrv 1000 1000  keyring: lagunotul\n"),
        ("git show password-form", "lagunotul\n"),
        ("grep get secrets.md", "lagunotul\n"),
        ("pass git log", "lagunotul\n"),
        ("vault policy read shop", 'path "kv/*" {\n  capabilities = ["read"]\n}\n'),
        ("make get-secret", "make: lagunotul\n"),
        ("complete -c gpg -l show-session-key", "status: running\n"),
        ("echo vault password file", "status: running\n"),
        ("newstore get-password-policy", "lagunotul\n"),
        ("aws iam get-account-password-policy", "lagunotul\n"),
        ("kubectl get secret", "NAME   TYPE     DATA\nshop   Opaque   2\n"),
        ("echo get the secret", "get the secret\n"),
        ("mysql -e 'select login, city from users'", "ana|lagunotul\n"),
        ("kubectl -n vault get pods", "NAME     READY   STATUS\nvault-0  1/1     Running\n"),
        ("flux -n vault get all", "NAME  READY\nshop  True\n"),
        ("cargo test vault read", "test vault::read ... ok\ntest result: ok. 1 passed\n"),
        ("go test ./vault -run read", "ok  \tvault\t0.1s\n"),
        ("pytest tests/vault -k read", "result: lagunotul\n"),
        ("tree vault -I read", "vault\n"),
        ("vault token lookup", "Key           Value\ndisplay_name  lagunotul\n"),
        ("notify 'please show secrets'", "lagunotul\n"),
        ("apt-get install libsecret", "lagunotul\n"),
        ("go get example.org/token", "lagunotul\n"),
        ("mix deps.get token", "lagunotul\n"),
        ("flutter pub get secret", "lagunotul\n"),
        ("curl -X GET http://localhost:8000/token", "lagunotul\n"),
        ("npm test -- --grep 'get token'", "lagunotul\n"),
        ("git commit -m 'get token'", "lagunotul\n"),
    ],
)
def test_what_shows_no_value_of_a_store_stays(command: str, output: str) -> None:
    assert ran(command, output)["response"]["stdout"] == output


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/etc/freeradius/clients.conf", "  secret = {}"),
        ("/etc/swanctl/conf.d/x.conf", "    secret = {}"),
        ("inadyn.conf", "  password = {};"),
        ("cloudflare.ini", "dns_cloudflare_api_token = {}"),
        ("application.properties", "jasypt.encryptor.password = {}"),
        ("/etc/vpnc/x.conf", "Xauth password {}"),
        ("sentinel.conf", "sentinel auth-pass mymaster {}"),
        ("/etc/snmp/snmpd.conf", "rocommunity {} default"),
        ("/etc/snmp/snmpd.conf", "com2sec readonly default {}"),
        ("tinyproxy.conf", "BasicAuth ana {}"),
        ("/etc/proxychains.conf", "socks5 10.0.0.1 1080 ana {}"),
        ("/etc/ipsec.secrets", ': RSA key.pem "{}"'),
        ("/root/.npmrc", "//registry.example.org/:_authToken={}"),
        ("/etc/ldap.secret", "{}"),
        ("/etc/xl2tpd/l2tp-secrets", "* * {}"),
        ("secrets.yaml", "door: {}"),
        ("secrets.yaml", "# Learn more: https://example.org/docs\ndoor: {}"),
        ("APP.INI", "password = {}"),
        ("app.conf", "password = {}  # of the database"),
        ("app.conf", "password = {} ; of the database"),
        ("golang/app.conf", "password = {}"),
    ],
)
def test_a_word_in_a_file_of_settings_is_masked_behind_the_name_of_a_secret(path: str, line: str) -> None:
    text = line.replace("{}", WORD) + "\n"

    assert WORD not in str(read(path, text))
    assert WORD not in str(read(path, f"     1\t{text}" if path != "/etc/ldap.secret" else text))
    assert WORD not in str(ran(f"cat {path}", text))


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("setup.cfg", "# password = lagunotul\n[flake8]\nsecret_check = warning\n"),
        ("nginx.conf", "  # token lagunotul\n  auth_basic_user_file lagunotul;\n"),
        ("app.ini", "password = required\n"),
        ("my.conf", "token = expired\nsecret = {{ vault_secret }}\npassword = $PASSWORD\n"),
        ("messages.properties", "label.password.hint = The password of your account\n"),
        ("snmpd.conf", "rocommunity public default\n"),
        ("main.py", "    password = lagunotul\n"),
        ("login.properties", "login.reset=Altes Passwort lagunotul\n"),
        ("messages_de.properties", "  login.secret = lagunotul\n"),
        ("i18n/de/login.properties", "  login.secret = lagunotul\n"),
        ("C:\\app\\lang\\de.ini", "  secret = lagunotul\n"),
        ("setup.cfg", "Unexpected token lagunotul\nerror: password lagunotul\n"),
        ("secrets.yaml", "# x\napiVersion: v1\nkind: ExternalSecret\nrefreshInterval: hourly\n"),
        ("secrets.yaml", "# note: lagunotul\n"),
        ("secrets.yaml", "apiVersion: v1\nkind: ExternalSecret\nrefreshInterval: hourly\n"),
        ("secrets.yaml", "production:\n  adapter: lagunotul\n"),
    ],
)
def test_settings_that_are_no_secrets_stay(path: str, content: str) -> None:
    assert read(path, content)["response"]["file"]["content"] == content


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (\n  `id` int,\n  `password` text\n);\nINSERT INTO t VALUES (1,'{}'),(2,'{}');\n",
        "COPY public.users (id, login, password) FROM stdin;\n1\tana\t{}\n2\tbob\t{}\n\\.\n",
        "   login = ana\npassword = {}\n",
        '"Account","Login Name","Password","Web Site","Comments"\n"mail","ana","{}","x",""\n',
        "[PATH=/usr/bin MYSQL_PASSWORD={} LANG=C]\n",
        '[\n  {\n    "name": "DbPassword",\n    "slotSetting": false,\n    "value": "{}"\n  }\n]\n',
        '{"values":[{"key":"door","value":"{}","type":"secret","enabled":true}]}',
        '{"fields":[{"id":"x","type":"CONCEALED","label":"door","value":"{}"}]}',
        '{"loginFields":[{"value":"{}","designation":"password"}]}',
        "ana:{PLAIN}{}:1000:1000::/home/ana\n",
        "cvs -d :pserver:ana:{}@cvs.example.org:/root login\n",
        "kubectl create secret generic db --from-literal door={}\n",
        "set snmp community {} authorization read-only\n",
        " ip ospf message-digest-key 1 md5 {}\n",
        'set security ike policy p pre-shared-key ascii-text "{}"\n',
        "<keyMaterial>{}</keyMaterial>\n",
        'Your passphrase (between double-quotes): "{} horse"\n',
        'static API_KEY: &\'static str = "{}";\n',
        '#define kPassword @"{}"\n',
    ],
)
def test_a_word_in_a_dump_or_a_constant_is_masked(text: str) -> None:
    stored = clean(text.replace("{}", WORD), origin="tool").value

    assert WORD not in stored
    assert "[REDACTED]" in stored


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE `users` (\n  `id` int,\n  `city` text\n);\nINSERT INTO `users` VALUES (1,'lagunotul');\n",
        "COPY public.users (id, city) FROM stdin;\n1\tlagunotul\n\\.\n",
        "user     = lagunotul\npassword = lagunotul\n",
        '{"name": "DbPassword", "schema": {"value": "lagunotul"}}',
        '{"values":[{"key":"door","value":"lagunotul","type":"default","enabled":true}]}',
        "the {PLAIN} scheme stores a password as it is\n",
        "f(0x1234) (0xdeadbeef)\n",
        "password @staticmethod\n",
    ],
)
def test_what_only_resembles_such_a_dump_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


def test_the_key_of_a_keytab_is_masked() -> None:
    key = "321a3efb48f4f9eb22c186ae1242c5585d9b0ef34f13dc7460f329fddb8fbc52"
    output = f"Keytab name: FILE:/x\n   1 host/h@X (aes256-cts-hmac-sha1-96)  (0x{key})\n"

    assert ran("klist -keK", output)["response"]["stdout"] == output.replace(key, "[REDACTED]")


def test_the_rows_of_a_query_are_masked_in_the_columns_that_it_selects() -> None:
    command = "sqlite3 x.db 'SELECT u.login, u.password AS pw FROM users u'"
    stored = ran(command, f"ana|{WORD}\nbob|miravento\n")["response"]["stdout"]

    assert stored == "ana|[REDACTED]\nbob|[REDACTED]\n"


def test_a_store_is_still_recognized_in_json_lines() -> None:
    output = json.dumps({"login": {"username": "ana", "password": WORD}, "door": "miravento"})
    stored = ran("bw get item db", output)["response"]["stdout"]

    assert WORD not in stored
    assert "miravento" not in stored


def test_both_versions_of_a_setting_in_a_diff_are_masked() -> None:
    output = f"3c3\n< password = {WORD}\n---\n> password = miravento\n"

    assert ran("diff a.conf b.conf", output)["response"]["stdout"] == (
        "3c3\n< password = [REDACTED]\n---\n> password = [REDACTED]\n"
    )
