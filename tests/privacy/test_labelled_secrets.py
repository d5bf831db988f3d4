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
