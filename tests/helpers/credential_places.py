"""Places where secrets are commonly written: names, notations, commands, tables. Each run generates the values.

A place is a line with `{}` for the value. The places are grouped into sets for measurement: settings files, bare tokens
in prose, JSON, code in many languages, command lines, documents for people.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from tests.helpers.credentials import BARE, FORMATS, Sample, make

VALUES: tuple[tuple[str, str], ...] = (
    ("word", "{8:a}{4:d}"),
    ("short", "{4:a}{4:d}{4:a}"),
    ("signs", "{3:Aa}@{4:an}!{3:d}"),
    ("hex", "{32:hex}"),
    ("long hex", "{40:hex}"),
    ("uuid", "{uuid}"),
    ("lower", "{32:low}"),
    ("mixed", "{24:an}"),
    ("base64", "{40:b64}"),
)
"""Values without a known format: only their place shows that they are secret."""

NAMES = (
    "password", "DB_PASSWORD", "client_secret", "apiKey", "ACCESS_TOKEN", "github_token", "authToken", "api-key",
    "SecretKey", "passphrase", "acme_api_token", "acmeSecret", "ACME_API_KEY", "mysql.pwd", "privateToken",
)  # fmt: skip

NOTATIONS: tuple[tuple[str, str], ...] = (
    ("settings", "{name}={value}"),
    ("settings", "export {name}={value}"),
    ("settings", 'export {name}="{value}"'),
    ("settings", "{name} = {value}"),
    ("settings", "{name}: {value}"),
    ("settings", "  {name}: '{value}'"),
    ("settings", "{name} ?= {value}"),
    ("settings", "{name} ::= {value}"),
    ("json", '{{"{name}": "{value}"}}'),
    ("json", '{{"a": {{"{name}":"{value}", "b": 1}}}}'),
    ("json", '"{{\\"{name}\\": \\"{value}\\"}}"'),
    ("code", '{name} = "{value}"'),
    ("code", 'let {name}: &str = "{value}";'),
    ("code", "const {name} = '{value}';"),
    ("code", 'val {name}: String = "{value}"'),
    ("code", 'var {name} string = "{value}"'),
    ("code", "{name} := `{value}`"),
    ("code", '{name} := "{value}"'),
    ("code", "${name} = '{value}';"),
    ("code", "'{name}' => '{value}',"),
    ("code", ':{name} => "{value}"'),
    ("code", 'System.setProperty("{name}", "{value}");'),
    ("code", 'os.environ["{name}"] = "{value}"'),
    ("code", 'os.environ.get("{name}") or "{value}"'),
    ("code", 'os.getenv("{name}", "{value}")'),
    ("code", "process.env.{name} || '{value}'"),
    ("code", "process.env.{name} ?? '{value}'"),
    ("code", "ENV['{name}'] || '{value}'"),
    ("code", "ENV.fetch('{name}', '{value}')"),
    ("code", 'req.Header.Set("{name}", "{value}")'),
    ("code", 'if ({name} == "{value}") {{'),
    ("code", '<add key="{name}" value="{value}" />'),
    ("code", "<{name}>{value}</{name}>"),
    ("code", "<key>{name}</key>\n  <string>{value}</string>"),
    ("code", "f({name}='{value}')"),
    ("code", 'self.{name} = "{value}"'),
    ("code", "${{{name}:-{value}}}"),
    ("command", "run --{name} {value} --verbose"),
    ("command", "run --{name}={value}"),
    ("command", 'curl "https://a.example/b?{name}={value}&x=1"'),
    ("document", "{name}\n{value}\n"),
    ("document", "{name}:\n  {value}\n"),
    ("document", "the {name} is {value}"),
    ("document", "{name} - {value}"),
    ("document", "| {name} | {value} |"),
    ("document", "acme {name} = '{value}'"),
)

PLACES: tuple[tuple[str, str], ...] = (
    ("command", "curl https://a.example \\\n  -u bob:{}"),
    ("command", "curl -sSu bob:{} https://a.example"),
    ("command", "curl -ubob:{} https://a.example"),
    ("command", "wget --http-password={} https://a.example"),
    ("command", "wget --user=bob --password {} https://a.example"),
    ("command", "net use z: \\\\host\\share /user:bob {}"),
    ("command", "net use z: \\\\host\\share {} /user:bob"),
    ("command", "net user bob {} /add"),
    ("command", "sqlplus scott/{}@orcl"),
    ("command", "sqlplus -s scott/{}@//db:1521/x"),
    ("command", "jdbc:oracle:thin:scott/{}@db:1521:x"),
    ("command", "ssh-keygen -t ed25519 -N '{}' -f key"),
    ("command", "ssh-keygen -p -P {} -N x -f key"),
    ("command", "openssl enc -aes-256-cbc -k {} -in a"),
    ("command", "openssl req -new -passout pass:{} -out b"),
    ("command", "gpg --batch --passphrase {} -c f"),
    ("command", "mysqldump -u root -p{} shop > x"),
    ("command", "mongosh -u root -p {} --host h"),
    ("command", "az login --service-principal -u id -p {} --tenant t"),
    ("command", "echo {} | docker login -u ci --password-stdin"),
    ("command", "smbclient //h/s -U bob%{}"),
    ("command", "sshpass -p'{}' ssh bob@h"),
    ("command", "vault login {}"),
    ("command", "aws configure set aws_secret_access_key {}"),
    ("command", "ansible-playbook -e 'ansible_become_pass={}' x.yml"),
    ("command", "keytool -genkey -storepass {} -keypass x"),
    ("command", "unzip -P {} f.zip"),
    ("command", "psql 'postgresql://u:{}@h/d'"),
    ("command", "cmdkey /add:h /user:bob /pass:{}"),
    ("command", "runas /savecred; schtasks /create /ru bob /rp {}"),
    ("command", "psexec \\\\h -u bob -p {} cmd"),
    ("command", "htpasswd -nb bob {}"),
    ("command", "git clone https://bob:{}@git.example/x.git"),
    ("command", "git clone https://oauth2:{}@git.example/x.git"),
    ("command", "http -a bob:{} https://a.example"),
    ("code", 'curl_easy_setopt(c, CURLOPT_USERPWD, "bob:{}");'),
    ("code", "curl_setopt($c, CURLOPT_USERPWD, 'bob:{}');"),
    ("code", 'curl_easy_setopt(c, CURLOPT_PASSWORD, "{}");'),
    ("code", 'passwords = ["{}", "x"]'),
    ("code", 'new NetworkCredential("bob", "{}")'),
    ("code", 'DriverManager.getConnection(url, "bob", "{}")'),
    ("code", 'mysqli_connect("localhost", "bob", "{}", "shop")'),
    ("code", 'conn = psycopg2.connect(user="bob", password="{}")'),
    ("code", 'HTTPBasicAuth("bob", "{}")'),
    ("code", 'password.equals("{}")'),
    ("code", 'config.password "{}"'),
    ("code", 'headers = {{"Authorization": "Bearer {}"}}'),
    ("code", 'headers["X-Api-Key"] = "{}"'),
    ("code", "axios.defaults.headers.common['Authorization'] = 'Bearer {}'"),
    ("code", "Authorization: Bearer {}"),
    ("code", "INSERT INTO users (name, password) VALUES ('bob', '{}');"),
    ("code", "INSERT INTO users (id, password, name)\nVALUES (1, '{}', 'bob'), (2, 'x', 'eve');"),
    ("code", "UPDATE users SET password = '{}' WHERE id = 1"),
    ("code", "UPDATE mysql.user SET authentication_string=PASSWORD('{}') WHERE 1"),
    ("code", "ALTER USER 'root'@'localhost' IDENTIFIED WITH mysql_native_password BY '{}';"),
    ("code", "SET PASSWORD FOR 'bob'@'h' = '{}';"),
    ("code", "CREATE LOGIN bob WITH PASSWORD = '{}'"),
    ("code", "passwords:\n  - {}\n  - other1x\n"),
    ("code", 'passwords:\n  bob: "{}"\n'),
    ("code", "apiVersion: v1\nkind: Secret\ndata:\n  db: {}\n"),
    ("code", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  db: {}\n"),
    ("document", "| user | password |\n|------|----------|\n| bob  | {} |\n| eve | other1x |"),
    ("document", " user | password \n------+----------\n bob  | {}\n(1 row)"),
    ("document", "+------+----------+\n| user | password |\n+------+----------+\n| bob  | {} |\n+------+----------+"),
    ("document", "user,password,role\nbob,{},admin\neve,other1x,user\n"),
    ("document", "user;password;role\nbob;{};admin\n"),
    ("document", "name\tpassword\nbob\t{}\n"),
    ("document", '"user","password"\n"bob","{}"\n'),
    ("document", "[Note] A temporary password is generated for root@localhost: {}"),
    ("document", "my new password for the shop is {}"),
    ("document", "Password for bob: {}"),
    ("document", "login: bob / password: {}"),
    ("document", "user/pass: bob/{}"),
    ("document", "username: bob\npw: {}"),
    ("document", "id: bob pw: {}"),
    ("document", "Your one-time password: {}"),
    ("document", "use the password `{}` for it"),
    ("document", "the password should be {}"),
    ("document", "비밀번호는 {} 입니다"),
    ("document", "비번: {}"),
    ("document", "Passwort: {}"),
    ("document", "wifi password - {}"),
    ("document", "### Password\n\n`{}`\n"),
    ("document", "Password\n--------\n{}\n"),
    ("document", "Password ........ {}"),
    ("document", "heslo: {}"),
    ("document", "haslo: {}"),
    ("document", "Contrasena: {}"),
    ("document", "API Key: {}"),
    ("document", "Secret Key: {}"),
    ("settings", "AWS Secret Access Key [None]: {}"),
    ("command", "setx API_KEY {}"),
    ("command", 'reg add "HKCU\\Software\\X" /v Password /t REG_SZ /d {}'),
    ("settings", "DefaultPassword    REG_SZ    {}"),
    ("code", '[Environment]::SetEnvironmentVariable("API_KEY", "{}", "User")'),
    ("code", "<password><![CDATA[{}]]></password>"),
    ("code", "&quot;password&quot;:&quot;{}&quot;"),
    ("code", '<meta-data android:name="API_KEY" android:value="{}"/>'),
    ("code", 'char pass[] = "{}";'),
    ("code", 'login("bob", "{}")'),
    ("code", 'session.authenticate("bob", "{}")'),
    ("command", "body=user%3Dbob%26password%3D{}"),
    ("command", "gh auth login --with-token <<< {}"),
    ("command", "sudo -S <<< '{}' ls"),
    ("command", "gcloud auth activate-refresh-token bob {}"),
    ("command", "pdftk a.pdf input_pw {} output b.pdf"),
    ("command", "snmp-server community {} RO"),
    ("command", "key-string {}"),
    ("command", "az keyvault secret set --vault-name v --name n --value {}"),
    ("command", "security unlock-keychain -p {} login.keychain"),
    ("command", "bw login a@b.example {}"),
    ("command", "pass insert -e x <<< {}"),
    ("code", "app:{}@tcp(127.0.0.1:3306)/shop"),
    ("code", '~ password = "old1x" -> "{}"'),
    ("code", 'output "db_password" {{\n  value = "{}"\n}}'),
    ("code", "<jdbc:password>{}</jdbc:password>"),
    ("code", "<td>Password</td><td>{}</td>"),
    ("code", "<dt>Password</dt><dd>{}</dd>"),
    ("code", 'http.Header{{"X-Api-Key": []string{{"{}"}}}}'),
    ("code", 'config("SECRET_KEY", default="{}")'),
    ("code", 'std::env::var("TOKEN").unwrap_or("{}".into())'),
    ("code", 'ENV.fetch("TOKEN") {{ "{}" }}'),
    ("code", 'jwt.encode(body, "{}", algorithm="HS256")'),
    ("code", 'hmac.new(b"{}", message, sha256)'),
    ("document", "WIFI:S:Home;T:WPA;P:{};;"),
    ("document", "Mot de passe\u00a0: {}"),
    ("document", "recovery code: {}"),
    ("document", "backup codes:\n{}\n"),
    ("document", "Initial admin password:\n\n{}\n"),
)

WORDS = "ocean ladder velvet timber copper meadow orbit puzzle saddle tunnel walnut yellow".split()

FIXED: tuple[tuple[str, str, str], ...] = (
    ("document", "my pin is {}", "4711"),
    ("document", "PIN: {}", "4711"),
    ("document", "mnemonic: {}", " ".join(WORDS)),
    ("document", "seed phrase: {}", " ".join(WORDS)),
    ("code", 'MNEMONIC="{}"', " ".join(WORDS)),
    ("settings", "GITHUB_TOKEN={}", "abcd1234zzzz"),
    ("settings", "access_token: {}", "abcd1234yyyy"),
    ("json", '"token": "{}"', "abcd1234zzzz"),
    ("settings", 'secret: "{}"', "mysecret"),
    ("code", "Authorization: Bearer {}", "mytoken"),
    ("settings", "token={}", "tok_1234567"),
    ("settings", "TOKEN={}", "mytoken1"),
    ("settings", "API_KEY={}", "zx8q"),
    ("settings", "DB_PASS={}", "ab12"),
)


def placed(count: int, seed: int) -> Iterator[tuple[str, Sample]]:
    """Yield `count` samples of every place, each with the name of its set."""
    luck = random.Random(seed)
    for group, line in NOTATIONS:
        for name in NAMES:
            for _ in range(count):
                kind, pattern = luck.choice(VALUES)
                value = make(pattern, luck)
                yield group, Sample(f"{line!r} {name} {kind}", value, line.format(name=name, value=value))
    for group, line in PLACES:
        for _ in range(count):
            kind, pattern = luck.choice(VALUES)
            value = make(pattern, luck)
            yield (
                group,
                Sample(f"{line!r} {kind}", value, line.replace("{}", value).replace("{{", "{").replace("}}", "}")),
            )
    for group, line, value in FIXED:
        yield group, Sample(repr(line), value, line.replace("{}", value))


def vendors(count: int, seed: int) -> Iterator[tuple[str, Sample]]:
    """Yield `count` samples of every vendor's format in a settings file, in JSON, and bare in prose."""
    luck = random.Random(seed)
    for name, pattern, _ in FORMATS:
        if "\n" in pattern or "{json64}" in pattern:
            continue
        key = "".join(letter if letter.isalnum() else "_" for letter in name.upper())
        for _ in range(count):
            value = make(pattern, luck)
            yield "vendor settings", Sample(f"settings {name}", value, f"{key}_API_TOKEN={value}")
            yield "vendor json", Sample(f"json {name}", value, json.dumps({f"{key.lower()}_api_token": value}))
            yield "vendor bare", Sample(f"bare {name}", value, BARE.replace("{}", value))
