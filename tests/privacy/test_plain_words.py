"""Plain words are masked where only a password stands: in files inside JSON, in columns, in templates, in commands."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mdmem.privacy import clean
from tests.conftest import PAYLOADS, notes
from tests.helpers.cleaned_runs import ran

WORD = "lantern"
FILES = (
    "DB_PASSWORD={}\nDEBUG=1\n",
    "db:\n  password: {}\n  host: db\n",
    "kind: Secret\nstringData:\n  first: {}\n",
    "machine host\nlogin ana\npassword {}\n",
    "user\tpassword\nana\t{}\n",
    "#!/bin/sh\nexport DB_PASSWORD={}\n./run\n",
)
"""Files with a password that is a plain word on a line of its own."""


@pytest.mark.parametrize("content", FILES)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_file_in_a_string_of_json_is_read_line_by_line(content: str, depth: int) -> None:
    text = content.replace("{}", WORD)
    for _ in range(depth):
        text = json.dumps({"result": text, "ok": True})

    stored = clean([{"type": "text", "text": text}], origin="tool").value[0]["text"]

    assert WORD not in stored
    assert "[REDACTED]" in stored
    for _ in range(depth):  # it is still JSON
        stored = json.loads(stored)["result"]
    assert stored == content.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"help": "Usage: login\n\nThe password is required.\nEnter it below.\n"}),
        json.dumps(["def check(password):\n    return password == stored\n", {"token": "a\nb"}]),
        json.dumps({"path": "C:\\new\\token\\read.txt", "text": "one\n\ttwo"}),
        '{"cut": "no end of this string\\nand password',
        '{"quotes": "the word \\"password\\"\\nis a name"}',
    ],
)
def test_other_strings_of_several_lines_stay(text: str) -> None:
    assert clean(text, origin="tool").value == text


def test_a_file_that_an_mcp_server_returns_is_stored_without_its_passwords(
    vault: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    payload = json.loads((PAYLOADS / "claude_code" / "PostToolUse-mcp-01-blocks.json").read_text("utf-8"))
    payload["tool_response"] = [{"type": "text", "text": json.dumps({"file": FILES[0].replace("{}", WORD)})}]

    assert mdmem("hook", "claude-code", input=json.dumps(payload)).returncode == 0

    (stored,) = [path.read_text("utf-8") for path in notes(vault) if "create" in path.name]
    assert WORD not in stored
    assert r"DB_PASSWORD=[REDACTED]\nDEBUG=1" in stored


@pytest.mark.parametrize(
    "text",
    [
        "user  password\nana  {}\n",
        "username   password   role\nana        {}     admin\nbob        {}   user\n",
        "login password\nana {}\nbob {}\n",
        "host      user   passwd\ndb1       root   {}\n",
        " id  login  password\n  1  ana    {}\n",
        "Here are the accounts:\n\nuser  password\nana  {}\n",
        "User    Password\n----------------\nana  {}\nbob  {}\n",
        "USER  PASSWORD  ROLE\n====================\nana   {}   admin\n",
        "user password\n-------------\nana {}\n",
    ],
)
def test_a_word_below_password_in_a_list_of_accounts_is_masked(text: str) -> None:
    cleaned = clean(text.replace("{}", WORD)).value

    assert cleaned == text.replace("{}", "[REDACTED]")


def test_a_password_in_braces_that_begins_with_one_is_no_template() -> None:
    text = "odbc:Server=h;UID=ana;PWD={{xhunter2xK9}}};"

    assert clean(text, origin="tool").value == "odbc:Server=h;UID=ana;PWD={[REDACTED]};"


@pytest.mark.parametrize("value", [WORD, "x", "<<EOF", "[REDACTED]", "hunter2 secret"])
@pytest.mark.parametrize("is_json", [False, True])
def test_a_row_that_is_not_below_its_header_does_not_withhold_the_text(value: str, is_json: bool) -> None:
    text = f"Before.\nUser    Password\n------  --------\nana  {value}\nAfter.\n"
    text = json.dumps({"text": text}) if is_json else text

    cleaned = clean(text, origin="tool").value

    assert "Before." in cleaned
    assert "After." in cleaned
    assert WORD not in cleaned
    assert clean(cleaned, origin="tool").value == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "user password\nplease enter\nit here again\n",
        "a password  and a user\nlantern      x\n",
        "user password reset\nthe form works now\n",
        "name  secret  sauce\nana   lantern  x\n",
    ],
)
def test_lines_below_other_words_stay(text: str) -> None:
    assert clean(text).value == text


@pytest.mark.parametrize(
    "text",
    [
        'password = Field(default="{}")',
        "t.string :password, default: '{}'",
        "password: {{{{ default('{}') }}}}",
        "password: {{{{ env('DB_PASSWORD') | default('{}') }}}}",
        'password: {{{{ .Values.password | default "{}" }}}}',
        "password: \"{{{{ '{}' | password_hash('sha512') }}}}\"",
        'flag.String("password", "{}", "of the database")',
        'token = tostring("{}9")',
        "password = <<EOT\n{}\nEOT\n",
        "document.querySelector('#password').value = '{}'",
        "+ARG TOKEN={}",
        "[POSTGRES_PASSWORD={} PATH=/usr/bin]",
        "SSH key passphrase: {}",
        "Host x\n  ProxyPassword {}\n",
        "authentication {{\n  auth_type PASS\n  auth_pass {}\n}}",
    ],
)
def test_a_word_that_is_the_default_or_a_setting_is_masked(text: str) -> None:
    assert clean(text.format(WORD), origin="tool").value == text.replace("{}9", "{}").format("[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "password: {{ db_password }}",
        "password: {{ lookup('env', 'DB_PASSWORD') | default(fallback) }}",
        "password = default(value)",
        "t.string :password, default: nil",
        "$('#password').value = read()",
        "[PASSWORD=$1 PATH=/usr/bin]",
    ],
)
def test_a_variable_there_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "command",
    [
        "impacket-psexec ACME/administrator:{}@10.0.0.5",
        "psexec.py acme.local/ana:{}@10.0.0.5 whoami",
        "impacket-GetUserSPNs acme.local/ana:{} -dc-ip 10.0.0.1",
        "certipy find -u ana@acme.local -p {}",
        "bundle config gems.example.org ana:{}",
        "bundle config set --global gems.example.org ana:{} && ls",
        "user ana on >{} ~* +@all",
        "user ana on ~* +@all >{}",
        "pyotp.TOTP('{}')",
        "2FA_SEED={}",
    ],
)
def test_the_secret_of_a_command_or_a_line_is_masked(command: str) -> None:
    secret = "JBSWY3DPEHPK3PXP" if "TOTP" in command or "SEED" in command else WORD

    assert clean(command.format(secret), origin="tool").value == command.format("[REDACTED]")


@pytest.mark.parametrize(
    "command",
    [
        "bundle config set path vendor/bundle",
        "bundle config mirror.https://rubygems.org https://mirror.example.org:8080",
        "docker pull ghcr.io/acme/app:lantern@sha256",
        "depends on >= 3.2 +@x",
        "the user is on > 3 pages",
    ],
)
def test_a_command_without_a_secret_stays(command: str) -> None:
    assert clean(command, origin="tool").value == command


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("john --show hashes.txt", "ana:{}:1001:1001::/home/ana:/bin/bash\n\n1 password hash cracked, 0 left\n"),
        ("john --show --format=raw-md5 h.txt", "?:{}\n\n1 password hash cracked, 0 left\n"),
        ("john --wordlist=w h.txt", "Loaded 1 password hash (Raw-MD5)\n{}          (ana)\nSession completed.\n"),
        ("cat ~/.john/john.pot", "$dynamic_0$5f4dcc3b5aa765d6:{}\n"),
        ("hashcat -m 0 h.txt --show", "5f4dcc3b5aa765d61d8327deb882cf99:{}\n"),
        ("hashcat h.txt w.txt", "5f4dcc3b5aa765d61d8327deb882cf99:{}\n\nSession..........: hashcat\nStatus: done\n"),
    ],
)
def test_a_password_that_a_cracker_found_is_masked(command: str, output: str) -> None:
    assert ran(command, output.format(WORD))["response"]["stdout"] == output.format("[REDACTED]")


def test_what_other_programs_print_about_john_stays() -> None:
    output = "src/auth.py:12\nana:lantern:x\n"

    assert ran("git log --author john --since=1w", output)["response"]["stdout"] == output


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("管理员密码hunter2不要改", "管理员密码[REDACTED]不要改"),
        ("登录密码改为hunter2", "登录密码改为[REDACTED]"),
        ("密码已改成hunter2。", "密码已改成[REDACTED]。"),
        ("密钥：hunter2abc9", "密钥：[REDACTED]"),
        ("访问令牌：hunter2abc9", "访问令牌：[REDACTED]"),
        ("验证码是483920", "验证码是[REDACTED]"),
        ("認証コードは483920です", "認証コードは[REDACTED]です"),
        ("인증번호는 483920입니다", "인증번호는 [REDACTED]입니다"),
    ],
)
def test_a_password_between_ideographs_is_masked(said: str, stored: str) -> None:
    assert clean(said).value == stored


@pytest.mark.parametrize(
    "said",
    [
        "密码使用SHA256加密",
        "密码采用bcrypt哈希",
        "密码长度至少8位",
        "将密码字段改为varchar255",
        "数据库密码在MySQL8里",
        "密钥长度为2048bit",
        "密钥文件是id_ed25519",
        "令牌：用于访问",
        "验证码有6位",
    ],
)
def test_a_name_between_ideographs_stays(said: str) -> None:
    assert clean(said).value == said


def test_a_code_for_one_login_is_masked() -> None:
    assert clean("! First copy your one-time code: 8F43-6FCF\n", origin="tool").value.endswith("code: [REDACTED]\n")


def test_a_hash_that_logs_in_is_masked() -> None:
    command = "wmiexec.py -hashes :{} ana@10.0.0.5"

    assert clean(command.format("8846f7eaee8fb117ad06bdd830b7586c"), origin="tool").value == command.format(
        "[REDACTED]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "login: {username: ana, password: {}}",
        "- {user: ana, password: {}}",
        "  env: {USER: ana, DB_PASSWORD: {}, PORT: 5432}",
        '{"cookies": [{"name": "session", "value": "{}", "path": "/"}, {"name": "theme", "value": "dark"}]}',
        '{"cookies":[{"value":"{}","name":"connect.sid"}]}',
        "BUNDLE_GEMS__EXAMPLE__ORG=ana:{}",
        'BUNDLE_GEMS__EXAMPLE__ORG: "ana:{}"',
    ],
)
def test_a_word_in_a_mapping_a_jar_of_cookies_or_a_setting_for_a_host_is_masked(text: str) -> None:
    word = "sunshinebeach"

    assert clean(text.replace("{}", word), origin="tool").value == text.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "const user = {username: ana, password: hashedpw}",
        "  user: {user: ana, password: hashedpw},",
        "login({user: ana, password: hashedpw})",
        "env: {TOKEN: $TOKEN, API_KEY: null}",
        '{"cookies": [{"name": "theme", "value": "dark"}, {"name": "session", "value": ""}]}',
        'BUNDLE_WITHOUT: "development:test"',
        'BUNDLE_BUILD__PG: "--with-pg=a:b"',
        'BUNDLE_MIRROR__RUBYGEMS__ORG: "http://localhost:9292"',
        "bundle config set without development:assets",
        "密钥改为RSA2048",
        "私钥转换为PKCS12",
    ],
)
def test_other_mappings_cookies_and_settings_stay(text: str) -> None:
    assert clean(text, origin="tool").value == text


HEX = "18:1d:2b:7a:22:51:c9:54:11:99:ab:cd:ef:12:34:"


@pytest.mark.parametrize(
    "text",
    [
        "Private-Key: (2048 bit)\nmodulus:\n    00:c3:5c:\nprime1:\n    {}\nexponent1:\n    {}\ncoefficient:\n    {}\n",
        "ED25519 Private-Key:\npriv:\n    {}\npub:\n    04:1d:2b:\n",
        "(private-key (rsa (n #00C35CAD12C4#) (e #010001#) (d #{}#) (p #{}#)))",
        "Key: (private-key (ecc (curve Ed25519)(q\n  #40C35CAD12C4#)\n  (d #{}#)))\n",
        "untrusted comment: minisign encrypted secret key\n{}\n",
    ],
)
def test_the_numbers_of_a_private_key_are_masked(text: str) -> None:
    number = f"{HEX}\n    ab:3f" if ":\n    {" in text else HEX.replace(":", "").upper()
    number = f"RWRTY0Iy{'QkbqWfbZm2Xr2sFyXJgE1uKGhv0yw9' * 6}" if "minisign" in text else number

    assert clean(text.replace("{}", number), origin="tool").value == text.replace("{}", "[REDACTED]")


def test_the_parts_of_a_token_on_lines_of_their_own_are_masked() -> None:
    head, payload = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ"
    text = f"{head}.\n{payload}.\nSflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c\n"

    cleaned = clean(text, origin="tool").value

    assert payload not in cleaned
    assert clean(f"see\n{payload}\n", origin="tool").value == f"see\n{payload}\n"


@pytest.mark.parametrize(
    "text",
    [
        "db.url = jdbc:postgresql://db.lan/shop\ndb.user = ana\ndb.password = {}\n",
        "# mail\nmail.password = {}\n\nmail.host = localhost\n",
        "redis.host = 10.0.0.4\nredis.port = 6379\nclient.secret = {}",
        "callback = https://shop.example.org/back\nsecret = {}\n",
    ],
)
def test_a_word_is_masked_among_settings_that_no_program_has(text: str) -> None:
    assert clean(text.replace("{}", "mandolin"), origin="tool").value == text.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "config.url = 'https://db.lan'\nconfig.password = mandolin\n",
        "config.url = url  # see https://db.lan\nconfig.password = mandolin\n",
        "user.name = name\nuser.password = mandolin\nuser.save()\nhost = localhost\n",
        "url = base + '://' + host\nsecret = mandolin\n",
    ],
)
def test_a_variable_stays_in_a_program(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "text",
    [
        "password = {} {} {}\n",
        "password = {} \\\n    {}\n",
        "password := {} & {}",
        "SET @password = {} || {};",
        "local password = {} .. {}",
        "password = {} <> {}",
    ],
)
def test_every_part_of_a_joined_string_is_masked(text: str) -> None:
    cleaned = clean(text.replace("{}", '"otterpond56"', 1).replace("{}", '"lakeshore78"'), origin="tool").value

    assert "[REDACTED]" in cleaned
    assert "otterpond" not in cleaned
    assert "lakeshore" not in cleaned


@pytest.mark.parametrize(
    "text", ['PGPASSWORD="otterpond56" "psql" -c x', 'print(password == "otterpond56" "x", "beside")']
)
def test_another_string_beside_a_password_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text.replace("otterpond56", "[REDACTED]")
