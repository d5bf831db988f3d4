"""Passwords that are plain words are masked where only a password can stand, and what resembles such a place stays."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from base64 import b64encode
from typing import Any

import pytest

from mdmem.privacy import clean
from mdmem.privacy.secrets import names

WORD = "swordfish"
CODED = b64encode(b"\0ana\0swordfish").decode()


@pytest.mark.parametrize(
    "text",
    [
        # settings, and lines of files
        "[client]\nuser = ana\npass = {}\n",
        "Driver={{ODBC 18}};Server=db;UID=app;PWD={{{};x}};Encrypt=yes",
        "##[debug]password={}",
        "[auth] password={}",
        "+ export DB_PASSWORD={}",
        "++ PGPASSWORD={}",
        "java -Djavax.net.ssl.keyStorePassword={} -jar a.jar",
        "kubectl -n x exec pg-0 -- env PGPASSWORD={} psql",
        "vault write auth/userpass/users/ana password={}",
        "heroku config:set DB_PASSWORD={} DEBUG=0",
        "env:\n- name: DB_PASSWORD\n  value: {}\n",
        "smtp_password: '{} it''s'",
        "Root password: {}",
        "New password: {}\nRetype new password: {}",
        "Login[user=ana,password={}]",
        "&{{User:ana Password:{} Host:db}}",
        "[22][ssh] host: 10.0.0.2   login: ana   password: {}",
        '  keyPassword "{}"',
        'tried password "{}" and it failed',
        "it's the db password: '{}'",
        'connect(user, password="{}", host="db")',
        "UPDATE accounts SET hash = PASSWORD('{}') WHERE id = 1",
        'builder().user("ana").password("{}").build()',
        "{{password:{},user:ana}}",
        "git config --global user.password {}",
        "etcdctl put /app/password {}",
        "s3cmd --access_key=A --secret_key={} ls",
        "nodetool -u ana -pw {} status",
        "usermod --password {} ana",
        "sshfs -o password_stdin ana@host: mnt <<< '{}'",
        "rsync --password-file=<(echo {}) a b",
        "cryptsetup open --key-file <(echo -n '{}') /dev/sda x",
        "gcloud secrets create x --data-file=<(printf %s {})",
        'FTP("host", "ana", "{}")',
        'ftplib.FTP("host", "ana", "{}")',
        "db.example.org:5433:app:ana:{}",
        "machine host login ana account acme password {} macdef init",
        '{{"outputs": {{"main": {{"value": "{}", "type": "string", "sensitive": true}}}}}}',
        '{{"main": {{\n  "sensitive": true,\n  "value": "{}"\n}}}}',
        "$ bin/rails runner 'puts Rails.application.credentials.dig(:mail, :main)'\n{}",
        "bindpw {}",
        "SET PASSWORD FOR CURRENT_USER() = '{}';",
        "CREATE USER ana WITH PASSWORD '{} otter';",
        'expect "assword:"\nsend "{}\\r"',
        "postgres://ana:{}/1@db/app",
        "GET /callback?code={}4A9x2&state=1",
        "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 1\n{}\nPrivate-MAC: 1",
        'Authorization: Digest username="ana", response="{}"',
        "net user ana {} /add /domain",
        "masterauth {}",
        "set vpn ipsec pre-shared-secret {}",
        "USER ana\nPASS {}",
        '(user . "ana") (password . "{}")',
        '["user"]=> string(3) "ana" ["password"]=> string(9) "{}"',
        '<wsse:Password Type="#PasswordText">{}</wsse:Password>',
        '<input type="password" name="p" value="{}">',
        'find_element(By.ID, "password").send_keys("{}")',
        "SET PASSWORD FOR 'ana'@'%' = PASSWORD('{}');",
        "curl -d 'user=ana&password={}' https://example.org",
        "curl -F user=ana -F password={} https://example.org",
        "//nas/media /mnt cifs username=joe,password={},uid=1000 0 0",
        "TF_VAR_admin_password={} terraform plan",
        'ansible-playbook site.yml --extra-vars "db_pass={} env=prod"',
        "password = {}-red-lamp",
        "/interface wireless set default wpa2-pre-shared-key={}",
        "release { storePassword \"{}\" keyAlias 'x' }",
        "mot de passe : {}",
        "parolă: {}",
        "map[password:{} user:ana]",
        "(\n    [user] => ana\n    [password] => {}\n)",
        "user[password]={}&user[email]=a%40example.org",
        '#define WIFI_PASSWORD "{}"',
        "wget --user=ftp --password={}key ftp://files.example/a.tgz",
        "set -x PGPASSWORD {}",
        "terraform plan -var=admin_password={}",
        "page.type('input[name=password]', '{}')",
        # sentences, with a word that is no everyday one
        "Password for ana: {}",
        "2024-05-01 12:00:00 INFO new password for ana: {}",
        "login with ana and password {}",
        "[debug] auth password={}",
        'The wifi password is "{}".',
        "user is root and the pass is {}",
        "Admin user created with password {}",
        'if password == "{}":',
        # lines of configuration files and of dialogues
        " neighbor 10.0.0.2 password {}",
        "username ops password {}",
        "nmcli device wifi connect Home password {}",
        "hostname r1\nenable secret {}",
        "line vty 0 4\n password {}\n login",
        "config user local\n edit ana\n set passwd {}",
        "host smtp.example.org\nuser ana\npassword {}\n",
        "user ana insecure-password {}",
        "wpa-psk {}",
        "fastcgi_param DB_PASS {};",
        "+OK ready\nUSER ana\n+OK\nPASS {}\n+OK logged in",
        "331 Password required\nPASS {}",
        "PASS {}\nNICK ana\nUSER ana 0 * :Ana",
        "127.0.0.1:6379> AUTH {}",
        ': PSK "{}"',
        'password store\nana : EAP "{}"',
        "[smtp.example.org]:587 ana@example.org:{}",
        "chpasswd:\n  list: |\n    root:{}\n",
        # commands and calls
        "rabbitmqctl change_password ana {}",
        'dotnet user-secrets set "Db:Password" "{}"',
        "rclone obscure {}",
        "rootpw --plaintext {}",
        "radius-server key 0 {}",
        "snmp-server user mon grp v3 auth sha {} priv aes 128 {}",
        "SELECT crypt('{}', gen_salt('bf'))",
        'bcrypt.hashpw(b"{}", bcrypt.gensalt())',
        "check_password_hash(h, '{}')",
        "bcrypt.hash('{}', 10)",
        'KeyStore.getInstance("JKS").load(is, "{}".toCharArray());',
        "jarsigner -keystore k.jks -storepass {} a.jar alias",
        "skopeo login -u ana -p {} registry.example.org",
        "nerdctl login -u ana -p {} registry.example.org",
        "az acr login -n box -u ana -p {}",
        "airflow users create -u ana -p {} -r Admin",
        "yt-dlp -u ana -p {} https://example.org/v",
        "hdbsql -u SYSTEM -p {}",
        "winrs -r:box -u:ana -p:{} dir",
        "p4 -u ana -P {} sync",
        "knife bootstrap box -U ana -P {}",
        "redis-cli -h box AUTH {}",
        "redis-cli -h box auth default {}",
        "redis-cli --pass {} ping",
        "netlify deploy -a {}",
        "sentry-cli --auth-token {} releases",
        "slappasswd -s {}",
        "pk12util -i a.p12 -W {} -d db",
        "klink -pw {} ana@box",
        "signtool sign /f a.pfx /p {} a.exe",
        "sc.exe config svc obj= ana password= {}",
        "ab -A ana:{} https://example.org/",
        "xh -a ana:{} get example.org",
        "transmission-remote -n ana:{} -l",
        "java -jar jenkins-cli.jar -s https://ci.example.org -auth ana:{}",
        "streamlink --http-auth ana:{}",
        "net rpc -U ana%{} shutdown",
        "cf auth ana {}",
        "bw unlock {}",
        "bw unlock {} --raw",
        "bw login ana@example.org {}",
        "drush user:password ana {}",
        "grafana cli admin reset-admin-password {}",
        "bitcoin-cli walletpassphrase {} 60",
        "pdftk a.pdf output b.pdf user_pw {}",
        "db2 connect to box user ana using {}",
        "p4 login <<< {}",
        "op signin --raw <<< {}",
        "echo {} | hdiutil attach -stdinpass a.dmg",
        "mytool --password={} install now",
        "couchbase-cli bucket-list -c db -u ana -p {}",
        "cbq -u ana -p {} -e db",
        "docker secret create db - <<< {}",
        "gcloud secrets versions add db --data-file=- <<< {}",
        "RUN NPM_TOKEN={} npm ci",
        "make && NPM_TOKEN={} npm publish",
        "cd web; NPM_TOKEN={} npm publish",
        "if test -f a; then ACCESS_TOKEN={} ./run; fi",
        "Step 4/9 : ARG NPM_TOKEN={}\n ---> Running in 3a",
        "#9 [4/9] RUN NPM_TOKEN={} npm ci",
        "useradd -p $(openssl passwd -1 {}) ana",
        "poetry config http-basic.acme ana {}",
        "open -u ana,{} ftp.example.org",
        "stats auth admin:{}",
        " ppp chap password 0 {}-hill",
        "set vpn l2tp authentication local-users username ana password {}",
        # tables and lists
        "NAME    PASSWORD    ROLE\nana     {}   admin\n",
        "user;pw;host\nana;{};db1\n",
        # the value before its name
        '{{"value": "{}", "name": "DB_PASSWORD"}}',
        '[{{"Value": "{}", "Name": "/prod/db/password", "Type": "SecureString"}}]',
        "env:\n- value: {}\n  name: DB_PASSWORD",
        '{{"ParameterKey": "DBPassword", "ParameterValue": "{}"}}',
        "ParameterKey=DBPassword,ParameterValue={}",
        # calls, records and settings
        "SELECT aes_decrypt(name, '{}') FROM people",
        "jwt.sign(payload, '{}')",
        'let password = String::from("{}");',
        "User(name=ana, password={})",
        "{{user=ana, password={}, host=db}}",
        "10.0.0.4 ansible_user=ana ansible_ssh_pass={} ansible_port=22",
        "config wifi-iface\n\toption ssid 'home'\n\toption key '{}'",
        "/interface l2tp-server server set ipsec-secret={} enabled=yes",
        'ana : EAP "{}"',
        "enable secret {}",
        "Das Passwort ist „{}“",
        "can you set the db password to {}?",
        # what commands print
        "$ pass show mail/work\n{}",
        "$ cat /run/secrets/db_password\n{}",
        "$ cat .vault_pass\n{}",
        "$ kubectl get secret db -o jsonpath='{{.data.pw}}' | base64 -d\n{}",
        "$ terraform output -raw db_password\n{}",
    ],
)
def test_a_plain_word_is_masked_where_only_a_password_can_stand(text: str) -> None:
    text = text.replace("{}", WORD).format() if "{{" in text else text.replace("{}", WORD)

    stored = clean(text, origin="tool").value

    assert WORD not in stored
    assert "[REDACTED]" in stored


@pytest.mark.parametrize(
    "text",
    [
        " neighbor 10.0.0.2 password",
        "the neighbor wants a password reset",
        "enable password hashing",
        "enable secret rotation\nset up the tests",
        "enable secret management",
        '{"value": "dark", "name": "theme"}, {"name": "password"}',
        '{"value": "string", "name": "password"}',
        'let password = String::from("password");',
        "the option key is set",
        "'password' => 'required|min:8|confirmed'",
        "Das Passwort ist falsch",
        "La contraseña es obligatoria",
        "openssl enc -pass env:PW -in a",
        "|1|JfKTdBh7rNbXkVAQCRp4OQoPfmI=|USECr3SWf1JUPsms5AqfD5QfxkM= ssh-rsa AAAA",
        "your code is 1200 lines long",
        "exit code is 137137",
        "Enter the verification code from your phone",
        "username and password login",
        "login with password policies",
        "PASS src/login.test.ts",
        "PASS tests\nok",
        "127.0.0.1:6379> AUTH",
        "user = name\npassword = hashed\n",
        "values = [\n    user,\n]\npassword = hashed\n",
        "User(name=name, password=hashed)",
        "f(user=user, password=password, host=host)",
        "Login[user=null,password=null]",
        "&{User:ana Token:<nil> Password:}",
        "##[debug]password=",
        "##[debug]Evaluating: 'Set password'",
        "+ export PASSWORD",
        "kubectl exec pg-0 -- env PGPASSWORD=$PGPASSWORD psql",
        "existingSecret: my-release-postgresql",
        "New password: must be longer",
        'the password "field" is empty',
        '<Password Type="text">string</Password>',
        '<input type="password" name="p" value="">',
        "(password . nil)",
        "bcrypt.hashpw(password, bcrypt.gensalt())",
        "store.load(in, password.toCharArray())",
        'char[] text = "hello".toCharArray();',
        "- name: PASSWORD_POLICY\n  value: strict",
        "Recovery codes:\n- can be used once\n- are shown once",
        "Backup codes\nYou can print them.",
        "seed phrase\nthe quick brown fox jumps over the lazy dog and then runs far away",
        "$ cat password_reset.html\nhello",
        "$ cat secrets.yaml\napiVersion: v1",
        "$ kubectl get secrets\nNAME   TYPE   DATA   AGE",
        "$ terraform output -raw endpoint\nhello",
        "334 files\nabcd",
        "AUTH PLAIN LOGIN",
        "PASS: test_login",
        "Password for ana: incorrect",
        "The pass is idempotent.",
        "the first pass was memoized",
        "The password is nullable.",
        "the form with password autofill",
        "| Passwort | erforderlich |",
        "| pass | quicksort |",
        "New password: accepted",
        "root password: nullable",
        'user "ana" and password "unchanged"',
        "connect with host and password given",
        "| password | string |",
        "| Password | required |",
        "open(user=name, password=dbpass )",
        "login(password=passhash)",
        "call password=value here",
        "page.type('input[name=password]', password)",
        "the password is required",
        'If the password is "weak", choose another',
        "Admin user created with password hashing",
        'if password == "":',
        "password = first-second - third",
        "set the username of a user password free",
        "items = [{password: one}, {password: two}]",
        "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
        "rabbitmqctl add_user for administrators",
        "mailto:anna@example.org/ and cc:anna@example.org:25",
        "image: repo:latest@sha256:9f86d081884c7d65",
        "npm:left@1.2.3/x",
        "key:value@example.org",
        "user:password@host:5432",
        "The backup codes feature (v2) = done",
        "backup codes are kept in the safe of 2024",
        "recovery codes: see the page",
        "for code in backup_codes: print(code)",
    ],
)
def test_what_resembles_the_place_of_a_password_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "text",
    [
        "C: AUTH LOGIN\nS: 334 VXNlcm5hbWU6\nC: YW5h\nS: 334 UGFzc3dvcmQ6\nC: {}\nS: 235 ok",
        "smtp< 334 UGFzc3dvcmQ6\nsmtp> {}",
        "SERVER -> CLIENT: 334 UGFzc3dvcmQ6\nCLIENT -> SERVER: {}\n",
        "reply: b'334 UGFzc3dvcmQ6\\r\\n'\nreply: retcode (334); Msg: b'UGFzc3dvcmQ6'\nsend: '{}\\r\\n'",
        "AUTH CRAM-MD5\n334 PDQxLjE3MTQ1MjE2MDBAbWFpbD4=\n{}\n",
        "> AUTH PLAIN {}\n< 235 ok",
        "a1 AUTHENTICATE PLAIN {}",
    ],
)
def test_what_logs_in_to_a_mail_server_is_masked(text: str) -> None:
    assert clean(text.format(CODED), origin="tool").value == text.format("[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "Recovery codes:\n1. {}\n2. {}\n3. {}\n",
        "Here are your backup codes:\n\n{}    {}\n{}\n",
        "GitHub recovery codes: {}, {}, {}",
        "My 2FA backup codes are {}, {} and {}, keep them.",
        "backup_codes = ['{}', '{}', '{}']",
        '"recoveryCodes": [\n  "{}",\n  "{}",\n  "{}"\n]',
        "Scratch codes (unused)\n--------\n * {}\n * {}\n * {}\n",
        "Notfallcodes: {} / {} / {}",
    ],
)
def test_every_code_of_a_list_of_recovery_codes_is_masked(text: str) -> None:
    stored = clean(text.format("4f7k9-d2m3x", "8h3p1-q6w7z", "k2v9x-m5t1r"), origin="tool").value

    assert stored == text.format(*["[REDACTED]"] * 3)


@pytest.mark.parametrize("mark", ["", "- ", "1. "])
def test_codes_of_two_words_are_masked_whole_though_one_has_no_digit(mark: str) -> None:
    stored = clean(f"Backup codes:\n{mark}8bgq 3tum\n{mark}lvmz 2frk\n{mark}9xwt qecl\n", origin="tool").value

    assert stored == "Backup codes:\n" + f"{mark}[REDACTED] [REDACTED]\n" * 3


def test_codes_of_letters_alone_are_masked_in_groups_of_one_length() -> None:
    assert clean("Recovery codes:\nabcd-efgh\nijkl-mnop\n", origin="tool").value.count("[REDACTED]") == 2


@pytest.mark.parametrize(
    "text",
    [
        "rsync -a ana:{}@backup.example.org::mod /x",
        "smtp = ana:{}@mail.example.org:587",
        "DB=ana:{}@db:5432/shop",
        "git remote add o ana:{}@git.example.org/x.git",
        "connect with root:{}@192.168.1.4",
        "odbc:Server=h;UID=ana;PWD={{{}}};",
        "odbc:Server=h;UID=ana;PWD={{x}}}};{}}};",
        "name;kennwort;mail\nana;{};a@b.c\n",
        "mail,first name,password\na@b.c,Ana,{}\n",
        "require('bcrypt').hashSync('{}', 10)",
        "mysql> SELECT PASSWORD('{}');",
    ],
)
def test_a_plain_word_is_masked_where_only_a_password_stands(text: str) -> None:
    assert WORD not in clean(text.format(WORD), origin="tool").value


@pytest.mark.parametrize(
    "text",
    [
        "Your verification code is {}.",
        "{} is your verification code",
        "OTP: {}",
        "Einmalcode: {}",
        "Ihr Bestätigungscode lautet {}",
        "Votre code de vérification est {}",
    ],
)
def test_a_code_that_is_valid_once_is_masked(text: str) -> None:
    assert clean(text.format("402718"), origin="tool").value == text.format("[REDACTED]")


@pytest.mark.parametrize("line", ["The recovery code is {}.", "Your verification code is {}.", "key content {}"])
def test_a_name_of_two_words_counts_in_a_long_text_as_well(line: str) -> None:
    stored = clean("line of a log\n" * 1000 + line.format("4027186500"), origin="tool").value

    assert stored.endswith(line.format("[REDACTED]"))


@pytest.mark.parametrize("seed", ["JBSW Y3DP EHPK 3PXP", "JBSW, Y3DP, 234Q, EHPK, 3PXP, K5QM, NB2W, Y3DP"])
def test_a_secret_for_codes_of_two_factors_is_masked_in_groups(seed: str) -> None:
    assert clean(f"2FA secret: {seed}", origin="tool").value == "2FA secret: [REDACTED]"


def test_the_words_of_a_seed_are_masked_below_their_label() -> None:
    words = "cactus river lemon arch spoil twelve magnet dragon uncle frost lunar ritual"

    assert clean(f"Secret Recovery Phrase\n{words}", origin="tool").value == "Secret Recovery Phrase\n[REDACTED]"


@pytest.mark.parametrize(
    "text",
    [
        "My seed phrase is {}. Keep it.",
        "here is my wallet seed: {}",
        "Seed words: {}",
        'WALLET_SEED="{}"',
        '{"mnemonic": ["{}"], "x": 1}',
    ],
)
def test_the_words_of_a_seed_are_masked_in_a_sentence_and_in_a_list(text: str) -> None:
    words = "cactus river lemon arch spoil twelve magnet dragon uncle frost lunar ritual"
    joined = words.replace(" ", '", "') if "[" in text else words

    assert clean(text.replace("{}", joined), origin="prompt").value == text.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "mnemonic: must have twelve lower case words that come one after another here in order",
        "Seed phrase: write down each word once more",
    ],
)
def test_what_is_said_about_a_seed_stays(text: str) -> None:
    assert clean(text, origin="prompt").value == text


@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
def test_the_words_of_a_seed_are_masked_with_numbers_before_them(between: str) -> None:
    words = "cactus river lemon arch spoil twelve magnet dragon uncle frost lunar ritual"
    seed = between.join([f"{number}. {word}" for number, word in enumerate(words.split(), 1)])

    stored = clean(f"Seed phrase:\n{seed}\nKeep it safe, 2 copies.", origin="tool").value

    assert stored == "Seed phrase:\n[REDACTED]\nKeep it safe, 2 copies."


@pytest.mark.parametrize(
    "manifest",
    [
        "items:\n- apiVersion: v1\n  data:\n    foo: {}\n  kind: Secret\n- data:\n    foo: other\n  kind: ConfigMap\n",
        "items:\n  - kind: Secret\n    data:\n      foo: {}\n      a.b-c: {}\n",
        "items:\n- data:\n    foo: {}\n  kind: Secret\n",
        'apiVersion: v1\nkind: "Secret"\nstringData:\n  foo: {}\n',
        "kind: Secret\nmetadata:\n  name: main\nstringData:\n  box.ini: |\n    {}\n    {}\n  foo: {}\ntype: Opaque\n",
        """kubectl patch secret x -p '{"stringData":{"foo":"{}"},"type":"Opaque"}'""",
    ],
)
@pytest.mark.parametrize("value", ["c3dvcmRmaXNo", "one two three"])
def test_every_value_of_a_kubernetes_secret_is_masked(manifest: str, value: str) -> None:
    stored = clean(manifest.replace("{}", value), origin="tool").value

    assert stored == manifest.replace("{}", "[REDACTED]")


def test_the_settings_of_a_registry_are_masked() -> None:
    assert clean(f".dockerconfigjson: {CODED}", origin="tool").value == ".dockerconfigjson: [REDACTED]"


def test_the_lines_of_an_encrypted_vault_are_masked() -> None:
    line = "62313365396662343061393364336163383764373764613633653634306231386433626332323139"
    vault = "db_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  {}\nuser: ana\n"

    assert clean(vault.format(f"{line}\n  {line}"), origin="tool").value == vault.format("[REDACTED]")


@pytest.mark.parametrize(
    "command",
    [
        "gh auth token",
        "echo $DB_PASSWORD",
        "cat ~/.ssh/passphrase.txt",
        "pwgen 16 1",
        ["bash", "-lc", "gh auth token"],
        "gcloud auth application-default print-access-token",
        "jq -r .db.password conf.json",
        "yq '.db.password' conf.yml",
        "kubectl get secret x -o json | jq -r .data.pw",
        "grep DB_PASSWORD .env | cut -d= -f2",
        "sed -n 's/^DB_PASSWORD=//p' .env",
        "awk -F '=' '/DB_PASSWORD/{print $2}' .env",
        "printf '%s' \"$DB_PASSWORD\"",
        "node -p process.env.DB_PASSWORD",
        "python3 -c \"import os; print(os.environ['DB_PASSWORD'])\"",
        "git config --get github.token",
        "pulumi config get dbPassword",
        'psql -Atc "select password from users limit 1"',
        'python3 -c "import secrets; print(secrets.token_hex(8))"',
        "kubectl create token sa",
    ],
)
def test_what_a_command_prints_is_masked_in_its_run(command: str | list[str]) -> None:
    run = {"input": {"command": command}, "response": {"stdout": f"{WORD}\n", "stderr": "", "interrupted": False}}

    cleaned = clean(run, origin="tool")

    assert cleaned.value["response"] == {"stdout": "[REDACTED]\n", "stderr": "", "interrupted": False}
    assert cleaned.redacted == 1


@pytest.mark.parametrize("path", ["/x/secrets/db_password.txt", "/x/.vault_pass", "/run/secrets/db"])
def test_the_only_word_of_a_file_that_is_named_as_a_secret_is_masked(path: str) -> None:
    written = {"input": {"file_path": path, "content": "otterpond\n"}, "response": {"filePath": path}}
    read = {"input": {"file_path": path}, "response": {"file": {"filePath": path, "content": "otterpond"}}}

    assert clean(written, origin="tool").value["input"] == {"file_path": path, "content": "[REDACTED]\n"}
    assert clean(read, origin="tool").value["response"] == {"file": {"filePath": path, "content": "[REDACTED]"}}


@pytest.mark.parametrize(
    "run",
    [
        {"input": {"cmd": "gh auth token"}, "response": "{}\n"},
        {"input": {"filePath": "/x/.vault_pass"}, "response": {"output": "<file>\n00001| {}\n(End of file)\n</file>"}},
        {"input": {"filePath": "/x/db_password.txt"}, "response": {"output": "<content>\n1: {}\n</content>"}},
        {"input": {"path": "/x/.vault_pass", "contents": "{}"}, "response": ""},
        {"input": {"command": "*** Begin Patch\n*** Add File: db_password.txt\n+{}\n*** End Patch"}, "response": ""},
        {"input": {"patchText": "*** Update File: .vault_pass\n@@\n-otterpond99\n+{}\n"}, "response": {"output": ""}},
        {"input": {"command": "cat > api_token.txt <<'EOF'\n{}\nEOF\nmake"}, "response": {"stdout": ""}},
        {"input": {"command": "echo -n {} > secrets/api_token.txt && make"}, "response": {"stdout": ""}},
        {"input": {"command": "printf '{}\\n' | sudo tee api_token.txt >/dev/null"}, "response": {"stdout": "{}\n"}},
    ],
)  # fmt: skip
def test_the_only_word_of_a_secrets_file_is_masked_in_every_agents_payload(run: dict[str, Any]) -> None:
    given = json.dumps(run)

    assert clean(json.loads(given.replace("{}", "otterpond77")), origin="tool").value == json.loads(
        given.replace("{}", "[REDACTED]").replace("otterpond99", "[REDACTED]")
    )


@pytest.mark.parametrize(
    ("tool", "given", "response"),
    [
        ("mcp__vault__read_secret", {"path": "db/main"}, [{"type": "text", "text": '{"foo": "{}"}'}]),
        ("mcp__vault__get_secret", {"name": "db/main"}, [{"type": "text", "text": "{}"}]),
        ("mcp_vault_get_secret_value", {"name": "db/main"}, {"llmContent": [{"text": "foo: {}"}]}),
        ("MCP:get-password", {"name": "db/main"}, "{}"),
        ("mcp__k__set_secret", {"key": "foo", "value": "{}"}, "ok"),
    ],
)
def test_what_a_tool_for_secrets_reads_or_stores_is_masked(tool: str, given: Any, response: Any) -> None:
    run = json.dumps({"tool": tool, "input": given, "response": response})

    stored = clean(json.loads(run.replace("{}", "otterpond77")), origin="tool").value

    assert stored == json.loads(run.replace("{}", "[REDACTED]"))


@pytest.mark.parametrize(
    ("tool", "given", "response"),
    [
        ("mcp__vault__list_secrets", {"path": "db"}, "otterpond77"),
        ("mcp__github__get_secret_scanning_alert", {"number": 7}, "otterpond77"),
        ("mcp__vault__delete_secret", {"value": "otterpond77"}, "ok"),
        ("mcp__vault__set_secret", {"key": "otterpond77"}, "ok"),
        ("mcp__tokens__get_usage", {"value": "otterpond77"}, "otterpond77"),
    ],
)
def test_what_another_tool_about_secrets_says_stays(tool: str, given: Any, response: Any) -> None:
    run = {"tool": tool, "input": given, "response": response}

    assert clean(run, origin="tool").value == run


@pytest.mark.parametrize(
    "command",
    [
        "python gen.py > tokens\nmake",
        "cat x > token.txt\nmake build",
        'echo "$TOKEN" > token.txt',
        "echo done > token_count.txt",
        "a -> echo b > token",
        "cat > password.md <<'EOF'\nhow to sign in\nEOF",
        "*** Begin Patch\n*** Add File: src/token.py\n+pass\n*** End Patch",
        "*** Begin Patch\n*** Update File: src/password\n@@\n a\n-foo\n+bar\n b\n*** End Patch",
    ],
)
def test_a_command_that_writes_no_value_stays(command: str) -> None:
    run = {"input": {"command": command}, "response": ""}

    assert clean(run, origin="tool").value == run
    assert clean(command).value == command


def test_a_command_that_writes_to_no_file_of_a_secret_loads_no_scanner() -> None:
    command = "echo done > out.log; printf 'a' >> notes.md; echo $exit_code"
    run = {"input": {"command": command}, "response": {"stdout": "a > b"}}
    code = f"import sys; from mdmem.privacy import clean; clean({run}, origin='tool'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()

    assert "mdmem.privacy.secrets.signs" in loaded
    assert "mdmem.privacy.secrets.commands" not in loaded


@pytest.mark.parametrize(
    "file",
    [
        "~/.vault_pass", "access_code", "one-time-code", "walletseed", "wifi.psk", "/run/secrets/db", "мой_пароль",
        "~/.github-pat", "gh.pat", "gitlab-pat.txt", "recovery.code", "wallet.seed", "2fa-seed", "docker.config.json",
        *[ending for _, weight, endings in names.KINDS for ending in endings if weight >= names.LITERAL],
    ],
)  # fmt: skip
def test_what_is_written_to_a_file_of_a_secret_is_masked_in_a_sentence(file: str) -> None:
    assert clean(f"First echo Zk9qLm42 > {file}").value == f"First echo [REDACTED] > {file}"


@pytest.mark.parametrize(
    ("path", "content"),
    [("/x/src/token.py", "pass\n"), ("/x/password.md", "Passwords\n=====\n"), ("/x/plan.md", "otterpond")],
)
def test_what_another_file_says_stays(path: str, content: str) -> None:
    run = {"input": {"file_path": path, "content": content}, "response": {"file": {"content": content}}}

    assert clean(run, origin="tool").value == run


@pytest.mark.parametrize(
    "line",
    [
        "mosquitto_passwd -b users bob {}",
        "ldappasswd -s {} -x uid=bob",
        "drush upwd bob {}",
        "ngrok config add-authtoken {}",
        "redis-cli AUTH default {}",
        "fly secrets set FOO={} --app x",
        "glab variable set FOO {}",
        "htpasswd -b f bob {}; ls -la",
        "mc alias set x http://h bob '{}'; mc ls",
        "fly secrets set FOO={0} BAR={1} --app x",
        "heroku config:set FOO={0} BAR={1} -a shop",
        "doppler secrets set FOO={0} BAR={1}",
        "doppler secrets set FOO {}",
        "vault kv put secret/db foo={0} bar={1}",
        "vault write secret/db foo={}",
        "curl --oauth2-bearer {} box.lan",
        "echo {} | pass insert -e mail",
        "jq --arg pw {} '.x = $pw' a.json",
        "convex env set FOO {}",
        "netlify env:set FOO {}",
        "pulumi config set --secret foo {}",
        "poetry config pypi-token.pypi {}",
        "cosign login -u ana -p {} reg.lan",
        "eas secret:create --name FOO --value {}",
        r'printf "{0}\n{1}\n" | passwd bob',
        "printf '%s\\n' {0} {1} | smbpasswd -s -a bob",
        "proxy_set_header X-Api-Key {};",
        "docker run --env=DB_PASSWORD={} db",
        "rabbitmqctl add_user bob {}; rabbitmqctl status",
        "echo {} | gpg --batch --passphrase-fd 0 -d x.gpg",
        "railway variables set FOO={0} BAR={1}",
        "az webapp config appsettings set -n shop --settings FOO={0} BAR={1}",
        "scalingo env-set FOO={}",
        "nomad var put jobs/db foo={}",
        "modal secret create db FOO={0} BAR={1}",
        "op item create --category login 'api[concealed]={}' notes=short",
        'op item edit mail "pin[password]={}"',
        """sops set vault.yaml '["db"]["word"]' '"{}"'""",
        "chamber write shop word {}",
        "chamber write shop word -- {}",
        "dotenvx set FOO {} -f .env.production",
        "npx sst secret set Foo {}",
        "deno deploy env add FOO {} --secret",
        "b2 account authorize 0012ab {}",
        "b2 authorize-account 0012ab {}",
        "eas env:create --name FOO --value {} --visibility secret",
        "koyeb secrets create foo --value {}",
        "openssl passwd -apr1 -salt x {}",
        "git secret reveal -p {}",
        "transcrypt -c aes-256-cbc -p {}",
        "npx cypress run --record --key {}",
        "sonar-scanner -Dsonar.login={} -X",
        "export BORG_PASSCOMMAND='echo {}'",
        "keyring set mail ana <<< {}",
        "systemd-creds encrypt --name=db - db.cred <<< {}",
        "echo -n {} | kubeseal --raw --name db",
        "echo -n {} | ansible-vault encrypt_string --stdin-name db",
        'echo "db.lan:5432:shop:ana:{}" >> ~/.pgpass',
        "['password' => bcrypt('{}')]",
        'fly secrets set FOO="{}" BAR="{}"',
        'nomad var put jobs/db foo="{}"',
    ],
)
def test_a_password_in_a_command_is_masked(line: str) -> None:
    assert clean(line.format("otterpond56", "otterlake78"), origin="tool").value == line.format(*["[REDACTED]"] * 2)


def test_a_password_that_begins_like_an_option_is_masked() -> None:
    assert clean("htpasswd -b users ana -pw12secret", origin="tool").value == "htpasswd -b users ana [REDACTED]"


@pytest.mark.parametrize(
    "sentence",
    [
        "Please run `bw unlock {}` before the import",
        "Bitte `redis-cli AUTH {}` ausführen, dann neu starten.",
        "Lance `rclone obscure {}` pour moi",
        "Ejecuta `cf auth ana {}` y luego `cf push`",
        "まず `poetry config pypi-token.pypi {}` を実行してください",
        "Run `echo {} > ~/.vault_pass` once, then the playbook",
        "Try `curl -u ana:{} https://h.example` and `redis-cli AUTH {}`",
        "Use `doppler secrets set FOO {}` or `convex env set FOO {}` for it",
    ],
)
@pytest.mark.parametrize("origin", ["prompt", "assistant", "tool"])
def test_a_password_in_a_command_that_a_sentence_quotes_is_masked(sentence: str, origin: str) -> None:
    hidden = clean(sentence.replace("{}", "otterpond56"), origin=origin)

    assert hidden.value == sentence.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "sentence",
    [
        "login: use {} as key for the user name ana",
        "sign in and use {} as secret for the user bob",
        "log in with {} as pin for user 1",
        "credentials for user ana {}",
        "the credentials user ana pw {}",
        "creds on staging {}",
    ],
)
def test_a_secret_of_a_user_whom_the_sentence_names_is_masked(sentence: str) -> None:
    assert clean(sentence.format("Mango2049")).value == sentence.format("[REDACTED]")


def test_a_backtick_inside_a_quoted_password_does_not_end_the_command_that_a_sentence_quotes() -> None:
    for sentence in ('run `curl -u "ana:otter`{}" https://h` now', 'run ``curl -u "ana:otter`{}" https://h`` now'):
        hidden = clean(sentence.format("pond56"))

        assert hidden.value == sentence.replace("otter`{}", "[REDACTED]")


@pytest.mark.parametrize(
    "sentence",
    [
        "deploy with password={}",
        "Deploy with password={}, then restart it.",
        "the staging db has password={}",
        "curl with token={} please",
        "deploye mit passwort={} bitte",
        "connecte avec le mot de passe={} stp",
        "connect as ana, pw={}",
    ],
)
@pytest.mark.parametrize("value", ["hunter2secret9", "my4token7house", "Keyboard77cat", "kV7rTq2mZpLwsecret9"])
def test_a_value_in_a_sentence_is_masked_even_if_a_name_of_a_secret_is_part_of_it(sentence: str, value: str) -> None:
    assert clean(sentence.format(value)).value == sentence.format("[REDACTED]")


@pytest.mark.parametrize(
    "line",
    [
        "let password=hunter2secret9",
        "connect(user, password=hunter2secret9)",
        "    password=hunter2secret9,",
        "const token=my4token7house;",
        "the client is made with token=k8sSecret1",
        "it is signed with secret=Ed25519PrivateKey",
        "it is signed with secret=getS3AccessToken2",
        "it compares with token=auth2",
    ],
)
def test_a_variable_whose_name_has_digits_stays(line: str) -> None:
    assert clean(line).value == line


@pytest.mark.parametrize(
    "line",
    [
        "Run heroku config:set to change the environment",
        "vault kv put secret/x writes a new version",
        "fly secrets set reads them from stdin",
        "cloudflared service install starts at boot",
        "mkpasswd -m sha-512",
        "heroku config:set NODE_ENV=production PORT=3000",
        "vault write auth/approle/role/web token_ttl=20m policies=web",
        "netlify env:set NODE_ENV production",
        "Passwords (hashed): argon2id",
        "use jq --arg name value to pass a variable",
        "the pulumi config set --secret option encrypts",
        "The sops set command writes one value of a file",
        "chamber write takes a service, a name and a value",
        "Use dotenvx set to encrypt a value in the file",
        "op item edit changes a field of an item: op item edit mail 'notes[text]=short'",
        "export BORG_PASSCOMMAND='cat /root/.borg-key'",
        "az webapp config appsettings set --settings NODE_ENV=production",
        "openssl passwd -apr1",
        "append the line db.lan:5432:shop:ana: to ~/.pgpass",
        "the line db.lan:5432:shop:ana: ~/.pgpass lacks a password",
        'modal secret create db FOO="$FOO"',
        'fly secrets set FOO="${FOO}"',
    ],
)
def test_a_sentence_about_a_command_that_takes_a_password_stays(line: str) -> None:
    assert clean(line, origin="prompt").value == line


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("kubectl get secret x -o go-template='{{range .data}}'", "user: bob\nfoo: {}\n"),
        ("vault kv get secret/db", "====== Data ======\nKey     Value\n---     -----\nfoo     {}\nversion    3"),
        ("vault operator init", "Unseal Key 1: {}\nInitial Root Token: {}\n\nVault initialized with 5 key shares.\n"),
        (
            "aws ssm get-parameter --name /db --with-decryption",
            '{{"Parameter":{{"Name":"/db/x1","Value":"{}","Version":1}}}}',
        ),
        ("aws ssm get-parameter --name /db --with-decryption", '{{\n  "Name": "/db/x1",\n  "Value": "{}"\n}}'),
        ("aws secretsmanager get-secret-value --secret-id db", '{{"Name":"db","SecretString":"{}"}}'),
        (
            "terraform state show random_password.x",
            'resource "random_password" "x" {{\n  result      = "{}"\n  length = 16\n}}',
        ),
        ("echo var.db_password | terraform console", '"{}"'),
        ("redis-cli CONFIG GET requirepass", '1) "[REDACTED]"\n2) "{}"'),
        ("dotnet user-secrets list", "Db:Foo = {}\nSmtp:Bar = {}"),
        ("sops -d secrets.yaml", "db:\n  foo: {}\n  port: 5432\n  hosts:\n    - {}\n"),
    ],
)
def test_the_values_of_a_list_of_secrets_that_a_command_shows_are_masked(command: str, printed: str) -> None:
    run = {"input": {"command": command}, "response": {"stdout": printed.replace("{}", "otterpond56").format()}}

    cleaned = clean(run, origin="tool").value

    assert cleaned["response"]["stdout"] == printed.replace("{}", "[REDACTED]").format()


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("cat README.md", "hello"),
        ("terraform state show aws_instance.web", 'ami = "ami-0c55b159"\nname   = web12a'),
        ("kubectl get secret x", "NAME   TYPE     DATA   AGE\nx1y2   Opaque   2      5d"),
        ("vault status", "Seal Type    shamir\nVersion      1.15.2"),
        ("cat tests/test_token.py", "hello"),
        ("gh auth token | wc -c", "41"),
        ("cat token.txt | wc -l", "hundreds"),
        ("pass show mail > /dev/null", "done"),
        ("pass show", "Password Store"),
        ("echo $HOME", "/home/ana"),
        ("jq -r .token_type t.json", "otterpond"),
        ("jq '.tokens | length' t.json", "12345"),
        ("jq -r '.secrets[0].name' t.json", "otterpond"),
        ("grep -n password conf.yml | cut -d: -f1", "143"),
        ("grep -l password *.yml", "prod2.yml"),
        ("grep ^HOST= .env | cut -d= -f2", "otterpond"),
        ("awk -F= '/^PORT/{print $2}' .env", "5432"),
        ("sed -n 1,3p token.yml", "otterpond:"),
        ("git config --get credential.helper", "osxkeychain"),
        ("git config --get user.signingkey", "4AEE18F83AFD"),
        ("kubectl get secret x -o jsonpath='{.type}'", "Opaque"),
        ("aws secretsmanager list-secrets --query 'SecretList[0].Name'", "otterpond"),
        ("node -e 'console.log(process.env.TOKEN ? 1 : 0)'", "present"),
        ("psql -Atc 'select count(password) from users'", "12345"),
        ("psql -Atc 'select name from users'", "otterpond"),
        ("aws configure get region", "otterpond"),
    ],
)
def test_what_another_command_prints_stays(command: str, printed: str) -> None:
    run = {"input": {"command": command}, "response": {"stdout": f"{printed}\n"}}

    assert clean(run, origin="tool").value == run


@pytest.mark.parametrize(
    "piece",
    [
        "334 ",
        "334 YWJj\n",
        "AUTH PLAIN ",
        "AUTH PLAIN YWJjZGVm",
        'password : PSK "',
        "]:587 a:b",
        "$ANSIBLE_VAULT;\n62313365\n",
        "recovery code ",
        "recovery codes:\n1.\n",
        "backup codes:\na1b2c3\n",
        "$ cat password\n",
        "$ pass show ",
        "password = a\n",
        "[a]\npass = b\n",
        "password: '' ",
        "neighbor password a\n",
        "A  PASSWORD\nb  c\n",
        "{password:a ",
        "x[password=a,",
        "chpasswd:\n a:b\n",
        "rabbitmqctl add_user a b ",
        "a:bcde@",
        "334 UGFzc3dvcmQ6\n",
        "backup codes = ",
        "passwd <<E ",
        "passwd <<E\nab\nE\n",
    ],
)
def test_a_text_of_places_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(size: int) -> float:
        text = "password\n" + piece * (size // len(piece))
        began = time.process_time()
        clean(text, origin="tool")
        return time.process_time() - began

    seconds(1000)

    assert seconds(160_000) < 8 * seconds(40_000) + 0.5


@pytest.mark.parametrize(
    "text",
    [
        "create user bob identified by …",
        "alter user bob identified by … account unlock;",
        'server.login("bob@example.com", "…")',
        "M.login('bob', '…')",
        '.basic_auth("bob", Some("…"))',
        "PASSWORD_PEPPER=…",
        "Das Kennwort lautet … und der Benutzer ist bob",
        "the password is … and the user is bob",
        "La contraseña es … para el usuario bob",
    ],
)
def test_a_rare_word_is_masked_where_only_a_password_stands(text: str) -> None:
    assert clean(text.replace("…", "greypartridge"), origin="tool").value == text.replace("…", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "Users are identified by greypartridge and by name.",
        "alter user bob identified by values 'S:1';",
        "create user bob identified externally;",
        "The password is required and the user must enter it.",
        "the password is hashed for users, and plaintext for user bob",
        'client.login("bob", "admin")',
        "PublicKeyToken=7cec85d7bea7798e",
    ],
)
def test_what_only_resembles_such_a_place_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/password/reset/…?email=bob",
        "https://example.com/invitations/…",
        "https://example.com/activate/…",
        'acl {\n  tokens {\n    agent = "…"\n    default = "…"\n  }\n}',
        '{"acl": {"tokens": {"agent": "…"}}}',
        '{"username":"bob","key":"…"}',
    ],
)
def test_a_hash_is_masked_where_only_a_token_stands(text: str) -> None:
    value = "9fceb02d0ae598e95dc970b74767f193"

    assert clean(text.replace("…", value), origin="tool").value == text.replace("…", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/docs/password-reset/how-to-reset-in-3-steps",
        "src/invite/9fceb02d0ae598e95dc970b74767f193",
        'design tokens: default = "9fceb02d0ae598e95dc970b74767f193"',
        '"key": "9fceb02d0ae598e95dc970b74767f193", "username": "bob"',
    ],
)
def test_a_hash_stays_where_something_else_may_stand(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize("secret", ["xK9%sQ2wL8vB4nT7", ":k9Xw2Lq8:", "{Sha}abcdef=="])
@pytest.mark.parametrize("text", ['password = "…"', "my password is `…`", "PASSWORD=…", "ana,password\nana,…\n"])
def test_a_password_with_signs_of_a_placeholder_is_masked(text: str, secret: str) -> None:
    assert secret not in clean(text.replace("…", secret), origin="tool").value


@pytest.mark.parametrize("value", ["%s", "%(word)s", "%d", "%MYENV%", "{word}", ":data:", ".*|)$", ":****"])
def test_a_placeholder_for_a_password_stays(value: str) -> None:
    assert clean(f'password = "{value}"', origin="tool").value == f'password = "{value}"'


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Need access? password: …", "hunter2x9Qw"),
        ("my password is …", "RED_LAMP!7"),
        ("password is: …", "UqE{Co={<P"),
        ("密码…", "Upv49KEzwdEE}MTT"),
        ('define( "AUTH_KEY", "…" );', "rosebud"),
        ('os.environ.setdefault(\\"PASSWORD\\", \\"…\\")', "4711"),
        ("self._password('…')", "greypartridge"),
        ("PASSWORD  \n…\n", "hunter2"),
        ('client.login("", "…")', "greypartridge"),
    ],
)
def test_a_password_is_masked_beside_signs_that_code_has_as_well(text: str, secret: str) -> None:
    assert clean(text.replace("…", secret), origin="tool").value == text.replace("…", "[REDACTED]")


@pytest.mark.parametrize("origin", ["prompt", "tool"])
def test_a_call_without_a_user_is_checked(origin: str) -> None:
    cleaned = clean('login(, "rosebud")', origin=origin)
    assert (cleaned.failure, cleaned.value) == (None, 'login(, "rosebud")')


def test_a_login_behind_a_thousand_addresses_is_masked() -> None:
    log = "".join([f"{number} Ana <ana@example.org>\n" for number in range(1200)])

    assert clean(f"{log}bob:Tr0ub4dor9@db.example", origin="tool").value == f"{log}bob:[REDACTED]@db.example"
