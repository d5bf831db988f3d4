"""Secrets under labels that people and programs write: records, bold labels, colors, lists of accounts, addresses."""

from __future__ import annotations

import pytest

from mdmem.privacy import clean


@pytest.mark.parametrize("value", ["zqxjvk81", "hunter2x", "Tr0mb0ne-Fjord"])
@pytest.mark.parametrize(
    "text",
    [
        "-[ RECORD 1 ]----+-----\nid               | 7\npassword         | {}\nemail            | a@b.example\n",
        "id       | 7\npassword | {}\n",
        "**Password**\n`{}`\n",
        "**Password:**\n\n```\n{}\n```\n",
        "<strong>Password</strong>: {}",
        "Password.......: {}",
        "Password ⇒ {}",
        "\x1b[1mpassword\x1b[0m: \x1b[32m{}\x1b[0m",
        "ana@example.com:{}\nbob@example.org:{}\n",
        "# client\tserver\tsecret\tIP addresses\nana\t*\t{}\t*\n",
        '"ana" * "{}" *\n',
        "https://{}:@api.example.com/v1",
        "https://{}:x-oauth-basic@git.example.com/a/b",
        'curl -H "PRIVATE-TOKEN: {}" https://git.example.com',
    ],
)
def test_a_value_under_such_a_label_is_masked(text: str, value: str) -> None:
    assert value not in clean(text.replace("{}", value), origin="tool").value


def test_a_plain_word_in_a_record_of_a_database_is_masked_too() -> None:
    assert clean("-[ RECORD 1 ]\npassword | horsebattery\n", origin="tool").value.endswith("| [REDACTED]\n")


@pytest.mark.parametrize(
    "text",
    [
        "**Password**\nThe field is checked by `zod`.\n",
        "**Token**\n`string`\n",
        "Token:\n```\nnpm run build\n```\n",
        "Password:\n```python\ndef validate(p): ...\n```\n",
        "password | md5\n",
        "get-token | base64\n",
        "-[ RECORD 1 ]\nname        | ana\ntoken_count | 12\n",
        "<b>Password</b>: required",
        "passwords....: 3",
        "\x1b[36mtoken\x1b[0m: \x1b[33mIdentifier\x1b[0m",
        "git@github.com:acme/app2.git\nana@box.example.com:backup\n",
        "ana@example.com:22\nbob@example.com:8080\n",
        "\t*\t12\t*\n",
        'x * "abc" * y',
        "git clone https://ana@git.example.com/team/repo.git",
        "https://user:@example.com/path",
        'curl -H "X-Api-Key: $API_KEY" https://a.example',
        'curl -H "X-Token: <token>" https://a.example',
    ],
)
def test_text_that_only_looks_like_such_a_label_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize("value", ["hunter2x", "horsebattery"])
@pytest.mark.parametrize(
    "given",
    [
        {"element": "Password textbox", "ref": "e5", "text": "{}"},
        {"element": "Passwort", "value": "{}"},
        {"selector": "input[type='password']", "text": "{}"},
        {"selector": "#password", "value": "{}"},
        {"code": "await page.getByRole('textbox', { name: 'Password' }).fill('{}');"},
    ],
)
def test_what_a_browser_types_into_a_password_field_is_masked(given: dict[str, str], value: str) -> None:
    typed = {key: text.replace("{}", value) for key, text in given.items()}
    assert value not in str(clean({"input": typed}, origin="tool").value)


@pytest.mark.parametrize(
    "given",
    [
        {"element": "Search box", "text": "reset hunter2x"},
        {"element": "Forgot password link", "ref": "e1"},
        {"name": "password", "text": "Choose eight characters"},
    ],
)
def test_what_a_browser_does_elsewhere_stays(given: dict[str, str]) -> None:
    assert clean({"input": given}, origin="tool").value == {"input": given}


@pytest.mark.parametrize("value", ["zqxjvk81", "lemonade"])
@pytest.mark.parametrize(
    "text",
    [
        # strings in several parts or without quotes
        "password = 'ab' + '{}'",
        '$password = "ab" . "{}";',
        'password = ("ab"\n            "{}")',
        'const char *password = "ab"\n    "{}";',
        'password = """\n{}\n"""',
        "password = '''\n{}\nfirstline\n'''",
        'String password = """\n    {}\n    """;',
        "password: |\n  firstline\n  {}\n",
        "password=copper\\\n  {}\n",
        "config.password = [[{}]]",
        "my $password = q{{}};",
        'let password = r#"{}"#;',
        "PASSWORD='it'\\''s{}'",
        # logs
        "2026-09-14T08:00:01.1234567Z   DB_PASSWORD: {}\n",
        "build\tRun tests\t2026-09-14T08:00:01.1234567Z   DB_PASSWORD: {}\n",
        "2026-09-14 08:00:01 DB_PASSWORD={}\n",
        "/bin/sh -c #(nop)  ENV DB_PASSWORD={}",
        "Environment=DB_PASSWORD={} STAGE=dev",
        "Environment=STAGE=dev DB_PASSWORD={} A=b",
        "Password for the [elastic] user successfully reset.\nNew value: {}*7s",
        # commands
        'ansible-playbook site.yml -e "db_password=abc1 root_password={}"',
        "kubectl create secret generic db --from-literal password2={}",
        "./gradlew publish -Psigning.password={}",
        'gcloud run deploy --set-env-vars "DB_PASSWORD={},STAGE=dev"',
        'echo -n "{}" | gcloud secrets versions add db --data-file=-',
        "svn co --username ana --password {} https://svn.example.com",
        "security import c.p12 -k login.keychain -P {} -T /usr/bin/codesign",
        "security create-keychain -p {} build.keychain",
        '{"cmd": ["mysql", "-uroot", "-p{}", "-e", "select 1"]}',
        "chpasswd <<EOF\nana:{}\nEOF",
        'db.changeUserPassword("ana", "{}")',
        'credentials += Credentials("Nexus", "nexus.example.com", "ana", "{}")',
        'npmAuthIdent: "ana:{}"',
        "<auth-user-pass>\nana\n{}\n</auth-user-pass>",
        'age: using autogenerated passphrase "{}-mango-radar"',
        '{default_pass, <<"{}">>}',
        '"Env": ["DB_PASSWORD={} two words", "A=b"]',
        'set "DB_PASSWORD={} two words"',
        'echo "{}" | docker secret create db -',
        "docker login -u ana --password {} registry.example.com",
        "oras login -u ana -p {} registry.example.com",
        'client.username_pw_set("ana", "{}")',
        "BCrypt::Password.create('{}')",
        "Benutzer: ana, Passwort: {}",
        "usuario: ana, contraseña: {}",
        "pw für grafana: {}",
        'my password is "{} lamp shade"',
        'Das WLAN-Passwort lautet "{} und Meer"',
        'la contraseña del wifi es "{} y mar"',
        "minha senha: {}",
        "パスワード「{}」を使って",
        'level=debug msg="login" password={}',
        "RUN echo DB_PASSWORD={} > .env",
        "(DB_PASSWORD={} ./run)",
        "plink -ssh root@box.example.com -pw {} ls",
        # tables
        '{"columns": ["user", "password"], "rows": [["ana", "{}"], ["bob", "{}"]]}',
        '{"fields": ["id", "password"], "values": [[1, "{}"]]}',
        '{"columns": [{"name": "user"}, {"name": "password"}], "rows": [["ana", "{}"]]}',
        '{\n  "header": [\n    "user",\n    "pwd"\n  ],\n  "data": [\n    [\n      "ana",\n      "{}"\n    ]\n  ]\n}',
        "id|username|password\n1|ana|{}\n(1 row)\n",
        "Name            Value\n----            -----\nDB_PASSWORD     {}\nHOME            /root\n",
        "User    Password\n------  --------\nana     {}\n",
        "Name  : DB_PASSWORD\nValue : {}\n",
        '127.0.0.1:6379> CONFIG GET requirepass\n1) "requirepass"\n2) "{}"\n',
        '1) "name"\n2) "ana"\n3) "password"\n4) "{}"\n',
    ],
)
def test_a_value_in_the_notation_of_a_language_a_log_or_a_table_is_masked(text: str, value: str) -> None:
    assert value not in clean(text.replace("{}", value), origin="tool").value


@pytest.mark.parametrize(
    "text",
    [
        "用户名ana，密码{}",
        "the box is ssh root@10.0.0.4, pass {}",
        "GET /reset?token={}&x=1",
        "https://app.example.com/#access_token={}&token_type=bearer",
    ],
)
def test_a_value_of_letters_and_digits_is_masked_at_such_a_place(text: str) -> None:
    assert "lemon42ade" not in clean(text.replace("{}", "lemon42ade"), origin="tool").value


def test_what_databases_clouds_and_browsers_list_is_masked() -> None:
    key = "0a9b8c7d-6e5f-4a3b-2c1d-0e9f8a7b6c5d"
    shown = f"Key          Value\n---          -----\nrole_id      5d8e3f0a-1b2c\nsecret_id    {key}\n"
    assert clean(shown, origin="tool").value == shown.replace(key, "[REDACTED]")
    shown = "Name    Role      Password\nana     normal    hunter2xK9\n"
    assert clean(shown, origin="tool").value == shown.replace("hunter2xK9", "[REDACTED]")
    shown = "A temporary password is generated for root@localhost: j4;Kd!rTq>4s"
    assert clean(shown, origin="tool").value == shown.replace("j4;Kd!rTq>4s", "[REDACTED]")
    jar = "# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tTRUE\t0\tsessionid\tq8lw2vz0prt5\n"
    assert clean(jar, origin="tool").value == jar.replace("q8lw2vz0prt5", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        'password = "ab" + suffix'.replace("ab", "x"),
        'label = "Password: " + value',
        'password: "<%= x %>"\n"user": ana\n',
        'parser.add_argument("--password", help="the password " "of the user")',
        'PROMPT = """\nEnter the password of the user.\nIt is not shown.\n"""',
        "password: |\n  required\n",
        "type Kind = token|password|secret\ntype Sort = up|down|both\n",
        "Name            Value\n----            -----\nPASSWORD_FILE   /run/x\nMAX_TOKENS      4096\n",
        '{"columns": ["id", "token_count"], "rows": [[1, "12"]]}',
        '{"fields": ["password"], "values": [["required"]]}',
        '1) "password"\n2) (nil)\n',
        "2026-09-14 08:00:01 password: required\n",
        "use --password flag -- then log in",
        "Environment=PATH=/usr/bin TOKEN_FILE=/run/x",
        "def add_credentials(self, name, password, domain=''): ...",
        "[[1, 2], [3, 4]]",
        "密码sha256加密",
        "密码hash",
        'the password is "too short"',
        'the password is "case sensitive"',
        "GET /reset?token=abc&x=1",
        '"PASSWORD=required for login"',
        '"SecretId": "MyTestDatabaseSecret1"',
        "Name    Entry\n======  =======\nsecret  secret\n------  -------\nseconds service9\n",
        '[\n  "Name",\n  "Passphrase"\n],\n"members": {\n  "Name": 1\n',
    ],
)
def test_text_in_such_a_notation_that_gives_no_value_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "value",
    [
        {"columns": ["id", "password"], "rows": [[1, "lemonade"], [2, "hunter2x"]]},
        {"fields": [{"name": "id"}, {"name": "password"}], "data": [[1, "lemonade"]]},
        {"kind": "Secret", "data": {"a": "lemonade"}},
        {"items": [{"kind": "Secret", "stringData": {"a": "two lemonade words"}}]},
        {"fields": [{"label": "Password", "type": "textbox", "value": "lemonade"}]},
        {"id": "password", "label": "", "value": "lemonade"},
    ],
)
def test_a_value_in_a_table_of_a_tools_answer_is_masked(value: dict[str, object]) -> None:
    cleaned = str(clean({"response": value}, origin="tool").value)

    assert "lemonade" not in cleaned
    assert "hunter2x" not in cleaned


@pytest.mark.parametrize(
    "value",
    [
        {"columns": ["id", "title"], "rows": [[1, "lemonade"]]},
        {"columns": ["id", "password"], "rows": [["lemonade"], "lemonade"]},
        {"columns": "password", "rows": [["lemonade"]]},
        {"kind": "ConfigMap", "data": {"a": "lemonade"}},
        {"kind": "Secret", "data": "lemonade"},
        {"id": "e5", "label": "Search", "value": "lemonade"},
    ],
)
def test_another_table_of_a_tools_answer_stays(value: dict[str, object]) -> None:
    assert clean({"response": value}, origin="tool").value == {"response": value}


@pytest.mark.parametrize("value", ["zqxjvk8142", "braflenes46"])
@pytest.mark.parametrize(
    "text",
    [
        "::set-output name=token::{}",
        'echo "::set-env name=DB_PASSWORD::{}"',
        "##vso[task.setvariable variable=dbPassword]{}",
        "##vso[task.setvariable variable=dbPassword;issecret=true]{}",
        "Login\n    Input Text    id=user    ana\n    Input Password    id=pw    {}\n",
        "    Fill Secret\tid=pw\t{}",
        "| Input Password | id=pw | {} |",
        '  + resource "random_password" "db" {\n      + length = 16\n      + result = "{}"\n    }',
        '"type": "random_password", "instances": [{"attributes": {"length": 16, "result": "{}"}}]',
        '{"github-oauth": {"github.com": "{}"}}',
        "Set-Variable -Name password -Value '{}'",
        "it runs as user ana / pw {}",
        "the wifi key is {}",
        "WLAN key: {}",
    ],
)
def test_a_value_where_a_known_program_or_a_person_puts_it_is_masked(text: str, value: str) -> None:
    assert value not in clean(text.replace("{}", value), origin="tool").value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "Accessor ID  = 8c1e6c1a-8a3f-4f5e-9a55-2f6d1c8be301\nSecret ID    = {}\n",
            "74bf20f8-76ff-4474-8025-1908fcdce4b3",
        ),
        ('{"gitlab-oauth": {\n  "gitlab.example.com": "{}"\n}}', "58a2b4d98ebd9dd1d460fd71e9a72937116d10f3"),
        ("the PUK is {} for the card", "20575594"),
        ("the alarm code is {}", "709005"),
        ("door code: {}", "4749"),
    ],
)
def test_a_number_or_a_hash_that_opens_something_is_masked(text: str, value: str) -> None:
    assert value not in clean(text.replace("{}", value)).value


@pytest.mark.parametrize(
    "text",
    [
        "::set-output name=version::braflenes46",
        "##vso[task.setvariable variable=buildNumber]braflenes46",
        "    Input Password    id=pw    ${PASSWORD}\n",
        "    Input Text    id=user    braflenes46\n",
        "| Input | Password | id=pw |",
        "value = random_password.db.result\n",
        'resource "random_password" "db" {\n  length = 16\n}\n\nresource "x" "y" {\n  result = "braflenes46"\n}\n',
        '  + resource "random_password" "db" {\n      + result = (sensitive value)\n    }',
        "Accessor ID  = 8c1e6c1a-8a3f-4f5e-9a55-2f6d1c8be301\nClient ID: 74bf20f8-76ff-4474-8025-1908fcdce4b3\n",
        "the alarm code is in alarm.py, the door code in door2.py",
        "puk4 and a public key",
        "user / pw are required",
    ],
)
def test_what_only_stands_where_such_values_do_is_not_masked(text: str) -> None:
    assert clean(text, origin="tool").value == text
