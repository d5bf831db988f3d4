"""Secrets without signs around them: passwords in notes and chats, words that look random, what is repeated."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from mdmem.privacy import clean


@pytest.mark.parametrize("value", ["IhqSb1Gg", "Prl23Db#@", "xK9vQ2mB"])
@pytest.mark.parametrize(
    "line",
    [
        "PASSWORD({})",
        "server (pw:{})",
        "the password for bob: {}",
        "username: bob@example.com password {}",
        "(ID)bob/(PW){}",
        "id(bob)/pwd({})",
        "10.0.0.5 (root/{})",
        "비밀번호({})",
        "비번은{}",
        "패스워드:{}",
        "password(default:{})",
        "P/W:{}",
        "paasword: {}",
        "비번-bob:{}",
        "login/password-bob/{}",
        "{} is the password",
        "ssh bob@10.0.0.5 root/{}",
        "10.0.0.5-->admin/{}",
        "Login:bob.miller/{}",
        "telnet(bob.miller/{})",
        "계정:bob.miller/{}",
    ],
)
def test_a_password_in_a_note_is_masked_however_loosely_it_is_written(line: str, value: str) -> None:
    assert clean(line.format(value), origin="tool").value == line.format("[REDACTED]")


@pytest.mark.parametrize("line", ["the db password ({}) is in the vault", "PASSWORD({})", "- PASSWORD({}1b)"])
def test_a_password_in_brackets_is_masked_though_it_could_be_a_commit(line: str) -> None:
    assert clean(line.format("a1b2c3d4e5"), origin="tool").value == line.format("[REDACTED]").replace("]1b", "]")


@pytest.mark.parametrize(
    "value", ["Summer2049!", "Hunter4711!!", "kW8r!tqLom", "Admin@123", "P@ssw0rd1", "Welcome@2049!"]
)
@pytest.mark.parametrize(
    "line", ["{}", "and {} for staging too", "try admin/{}.", 'type("{}")', "ほら、{}です", "<b>{}</b>"]
)
@pytest.mark.parametrize("origin", ["prompt", "assistant", "tool"])
def test_a_password_is_known_by_the_way_people_choose_one(line: str, value: str, origin: str) -> None:
    assert clean(line.format(value), origin=origin).value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "line",
    [
        "React@18 and Angular@17, com.Acme2@1.2.3, bob2@Example.com, Bob2@ServerA:/srv",
        "=Data2024!B12 + Data2024!$A$1 + 'Sheet1'!A1",
        "binding12!!.root, userId2049!, this.User2049!.name, assert_eq123!(a), Vec123!{}, Foo123!=bar",
        "Java21! Windows11! PR#1234! We are on line Number 2049!",
        "boolean isOAuth2Done = !OAuth2Client.isDone2049();",
    ],
)
def test_a_version_a_cell_or_a_macro_is_no_password(line: str) -> None:
    assert clean(line, origin="prompt").value == line


@pytest.mark.parametrize("value", ["Sommer2026", "guest12345", "hunter2x", "Winter2026!"])
@pytest.mark.parametrize(
    "line",
    [
        "use user admin and password {} for the staging box",
        "the wifi password {} works",
        "ssh bob@box, password {}",
        "please set password {} for bob",
        "the new password must be {}",
        "set the admin pass to {}",
        "{} is the root password of the db",
    ],
)
def test_a_password_in_a_prompt_is_masked_without_a_sign_before_it(line: str, value: str) -> None:
    assert clean(line.format(value), origin="prompt").value == line.format("[REDACTED]")


@pytest.mark.parametrize("line", ["connect with admin/{}", "log in as admin / {}, then look", "sign in as ana:{}"])
def test_a_pair_to_sign_in_with_is_masked(line: str) -> None:
    assert clean(line.format("Sommer2026"), origin="prompt").value == line.format("[REDACTED]")


@pytest.mark.parametrize("line", ["use the api key {} for it", "the access token {} is mine", "our client secret {}"])
def test_a_key_is_masked_without_a_sign_before_it(line: str) -> None:
    assert clean(line.format("8d7f6a5b4c3d2e1f"), origin="prompt").value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "line", ["the passphrase is {}", "passphrase: {}", 'passphrase "{}"', "my passphrase is {}, ok"]
)
def test_a_passphrase_of_plain_words_is_masked(line: str) -> None:
    phrase = "correct horse battery staple"
    assert clean(line.format(phrase), origin="prompt").value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "hash the password argon2id first",
        "the password OAuth2Token is of another type",
        "the password field2 is empty",
        "at least password 8chars",
        "the tests pass py312 and py313",
        "pass to field12345",
        "connect with redis/cluster1 settings",
        "log in with http://localhost8/abc1",
        "connect as user1/role2",
        "the token endpoint2 of oauth",
        "the passphrase is too short",
        "the passphrase is stored in the keychain",
        "passphrase: must have at least four words",
        'passphrase "enter a passphrase"',
    ],
)
def test_what_only_follows_such_a_name_stays(text: str) -> None:
    assert clean(text, origin="prompt").value == text


@pytest.mark.parametrize("between", [" ", "  ", "-", "\u00a0", "\u202f", "\u200b", "\u2060", "\u2011", "\u00a0\u200b"])
@pytest.mark.parametrize(
    "line",
    [
        "app password: {}",
        "the app password “{}” works",
        "your app password is:\n{}",
        "App passwords\n{}\nHow to use it",
        "{} is the app password",
        "Here is the app password we use: **{}**",
    ],
)
def test_a_password_in_groups_of_four_is_masked_whatever_is_between_them(line: str, between: str) -> None:
    groups = between.join(["xkqz", "wvbn", "mrtp", "ljhg"])
    assert clean(line.format(groups), origin="prompt").value == line.format("[REDACTED]")


@pytest.mark.parametrize("word", ["kfk7q-7z-ztlzse7vnvt6_ih9p0x", "ggh5gbupbg2o45mz4x3_aixi04-qc2su"])
def test_a_random_word_with_signs_in_it_is_masked(word: str) -> None:
    assert clean(f"see {word} there", origin="tool").value == "see [REDACTED] there"


@pytest.mark.parametrize(
    "word",
    [
        "csikht36hgjcs42n",
        "5i5v6wfz04pta5x",
        "2867d825c8ae4054c8c037b104ee14f319803",
        "8dk2vzt5xq1mw9rbh3",
        "fhoelo15xdjb8yhgd=dizxf58o=6359hq7",
        "ihq7wcrb4cvk8a8dqg056",
        "OGIRPND3CDXXLPBFHEBCBXQI",
        "sAYlCyPJCAW8novvHSVfGpPqzbVw",
        "sAYlCyPJCAWnovvHSVfGpPqzbVw",
        "kxQwbtZrvGh3JqbWzn7Lmq",
    ],
)
def test_a_word_that_nobody_can_pronounce_is_masked(word: str) -> None:
    assert clean(f"see {word} there", origin="tool").value == "see [REDACTED] there"


@pytest.mark.parametrize(
    "name",
    [
        "x86linux64gnulibc2",
        "manylinux2014aarch64",
        "utf8mb4unicode520ci",
        "anycpu32bitpreferred",
        "dnsAlpnH3JobWonRace",
        "Bz2UstarReadTest",
        "AaBbCcDdEeFfGgHhIiJj",
        "xn--w4r85el8fhu5dnra",
        "0x.0c90fdaa22168cp6",
        "0xA9FB57DBA1EEA9BC3E660A909D838D718C397AA3",
    ],
)
def test_a_name_with_numbers_in_it_stays(name: str) -> None:
    assert clean(f"see {name} there", origin="tool").value == f"see {name} there"


def test_a_password_is_masked_without_its_name_as_well() -> None:
    assert clean("password: xK9vQ2mB, root/xK9vQ2mB; log in with xK9vQ2mB", origin="tool").value.count("xK9vQ2mB") == 0


@pytest.mark.parametrize(
    "encode",
    [base64.b64encode, base64.b32encode, base64.b85encode, base64.a85encode, bytes.hex, lambda data: data.hex(" ")],
)
def test_a_password_is_masked_where_it_stands_again_in_a_code(encode: Callable[[bytes], bytes | str]) -> None:
    made = encode(b"ana:Zx81kQ0p!vB")
    code = made if isinstance(made, str) else made.decode()

    cleaned = clean({"command": "export DB_PASSWORD='Zx81kQ0p!vB'", "stdout": f"sent {code} to it"}, origin="tool")

    assert cleaned.value["stdout"] == "sent [REDACTED] to it"


def test_a_password_that_one_string_of_a_payload_names_is_masked_in_the_others() -> None:
    run = {"input": {"command": "login xK9vQ2mB"}, "response": {"stdout": "Password: xK9vQ2mB\nwelcome"}}

    cleaned = clean(run, origin="tool")

    assert cleaned.value == {
        "input": {"command": "login [REDACTED]"},
        "response": {"stdout": "Password: [REDACTED]\nwelcome"},
    }
    assert cleaned.redacted == 2


@pytest.mark.parametrize("value", ["swordfish", "kEnumerableProperty", "12345678"])
def test_a_password_that_is_a_word_is_masked_beside_its_name_only(value: str) -> None:
    text = clean(f'password = "{value}"\nsee {value} there', origin="tool").value

    assert text == f'password = "[REDACTED]"\nsee {value} there'


@pytest.mark.parametrize(
    "code",
    [
        'b"RUZHSElKS0xNTk9QUVJTVFVWV1hZWjAxMjM0NT"\nb"Y3ODkhQCMwXiYqKCk7Ojw+LC4gW117fQ==")',
        '("\\u4ED6\\u4EEC\\u4E3A\\u4EC0",\n b"ihqwcrb4cv8a8dqg056pqjye"),',
        "=?us-ascii?Q?LCSwrV11+IB0rSbSker+M9vWR7wEDSuGqmHD89GtXe?=",
        "<base64>AGJ5dGUgc3RyaW5n/w==</base64>",
        "Digest: sha-256=:+MO/YqmqPm/BYZwlDkir51GTc9Pt9BvmLrXcRRma8u8=:",
        "'Test2::Event::Pass' => '1.302103',\n'Test2::Event::Note' => '1.302103',",
        "Set-Cookie: c=foo; expires=Foo Bar 12 33:22:11 2000; path=/a1b2",
    ],
)
def test_data_that_is_only_encoded_stays(code: str) -> None:
    assert clean(code, origin="tool").value == code


def test_in_a_list_of_names_the_password_is_the_value_at_its_place() -> None:
    code = 'host, user, password = "db.local", "wile", "coyote7"'

    assert clean(code, origin="tool").value == 'host, user, password = "db.local", "wile", "[REDACTED]"'


@pytest.mark.parametrize("value", ["3b0c9a44e2d1f7a85b6c", "a3d5e7f9-1b2c-4d5e-8f90-a1b2c3d4e5f6"])
@pytest.mark.parametrize(
    "line",
    [
        "curl -u {}: https://api.acme.io",
        "curl -u {}:x https://api.acme.io",
        'req.Header.Set("X-Acme-Key", "{}")',
        "ACME_PAT={}",
        "acme.api.key={}",
        "acme api key: '{}'",
    ],
)
def test_a_key_of_hexadecimal_digits_is_masked_where_its_place_says_that_it_is_one(line: str, value: str) -> None:
    assert clean(line.format(value), origin="tool").value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "line",
    [
        "//ana:{}@cdn.example.org/a.js",
        '<script src="//ana:{}@cdn.example.org/a.js">',
        "fetch('//ana:{}@cdn.example.org/a')",
        "git clone https://{}@git.example.org/a.git",
        "scan the code or type {}",
        '{{"seed": "{}"}}',
        "[{}] is the second factor of ana",
    ],
)
def test_a_token_before_a_host_or_a_seed_in_groups_is_masked_without_a_label(line: str) -> None:
    value = "name77token" if "@git" in line else "kW8rtqLom4" if "@" in line else "JBSW Y3DP EHPK 3PXP"

    assert clean(line.format(value), origin="tool").value == line.format("[REDACTED]")


@pytest.mark.parametrize("seed", ["jbsw y3dp ehpk 3pxp qrst uvwx yz23 4567", "2FA7 K3QZ 6YTR MN4P\n5678"])
def test_a_seed_in_groups_of_four_is_masked_up_to_the_end_of_its_line(seed: str) -> None:
    kept = seed.partition("\n")[2]

    assert clean(seed, origin="tool").value == "[REDACTED]" + (f"\n{kept}" if kept else "")


@pytest.mark.parametrize("name", ["initial_management", "agent_recovery"])
def test_a_token_of_consul_is_masked_although_it_is_a_uuid(name: str) -> None:
    line = '  {} = "{}"'

    cleaned = clean(line.format(name, "3f2b8c1d-9a4e-4c7b-8d5f-6e1a2b3c4d5f"), origin="tool").value
    assert cleaned == line.format(name, "[REDACTED]")
