"""Secrets under names in look-alike or escaped letters, in dumps of bytes, in debuggers, and keys without BEGIN."""

from __future__ import annotations

import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable

import pytest

from mdmem.privacy import clean, disguises
from mdmem.privacy.secrets import disguised
from tests.helpers.cleaned_runs import ran

VALUE = "Zugpferd71kanne"
KEY_BYTES = bytes(range(7, 247)) * 5

NAMES = [
    "p\u0430ssword",  # Cyrillic
    "\u0440\u0430\u0455\u0455w\u043erd",
    "DB_P\u0410SSW\u041eRD",
    "passw\u03bfrd",  # Greek
    "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44",  # full-width
    "\U0001d429\U0001d41a\U0001d42c\U0001d42c\U0001d430\U0001d428\U0001d42b\U0001d41d",  # of mathematics
    "\u24df\u24d0\u24e2\u24e2\u24e6\u24de\u24e1\u24d3",  # in circles
    "pass\u200dword",
    "p\u200ca\u200cs\u200cs\u200cw\u200co\u200cr\u200cd",
    "pass\u202eword",
    "pas\u0323sword",
    "api\u2011key",
    r"\u0070assword",
    r"\u0070\u0061\u0073\u0073\u0077\u006f\u0072\u0064",
    r"\\u0070assword",
    r"\x70assword",
    r"p\u{61}ssword",
    "p%61ssword",
    "p&#97;ssword",
    "p&#x61;ssword",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ['{{"{}": "{}"}}', "{}={}", "export {}={}", "a: 1\n{}: {}\n"])
def test_a_value_under_a_disguised_name_is_masked(name: str, form: str) -> None:
    text = form.format(name, VALUE)

    assert clean(text, origin="tool").value == text.replace(VALUE, "[REDACTED]")


@pytest.mark.parametrize("name", NAMES)
def test_a_value_under_a_disguised_key_is_masked(name: str) -> None:
    assert clean({"a": {name: "plimborant"}}, origin="tool").value == {"a": {name: "[REDACTED]"}}


def test_no_invisible_sign_or_look_alike_of_a_letter_hides_a_name() -> None:
    chars = list(map(chr, (*range(128, 0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200))))
    alike = [(char, disguised._form(char, disguises.look)) for char in chars]
    names = [f"pass{char}{'word'[len(form) :]}" for char, form in alike if form in ("", "w", "W")]

    assert len(names) > 300
    assert [name for name in names if VALUE in clean(f"{name}={VALUE}", origin="tool").value] == []


@pytest.mark.parametrize("text", ["“key” – it’s", "la clé « secrète »", "die Größe für Übungen", "日本語key"])
def test_printed_signs_and_letters_of_other_languages_are_no_disguise(text: str) -> None:
    code = f"import sys; from mdmem.privacy import clean; clean({text!a}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()

    assert "mdmem.privacy.secrets" in loaded
    assert "mdmem.privacy.secrets.disguised" not in loaded


def test_an_escaped_name_in_json_in_json_is_masked() -> None:
    text = r'{"body": "{\"\\u0070assword\": \"' + VALUE + r'\"}"}'

    assert VALUE not in clean(text, origin="tool").value


@pytest.mark.parametrize(
    "text",
    [
        r'printf("%6d token(s) and %4x keys\n", n, k);',
        r're.compile(r"[\x41-\x5a]key=[a-z]+")',
        r'{"p\u0061ssword": true, "p\u0061ssword_file": "secret.txt"}',
        r'path = "C:\x64\keys\main.txt"',
        "Не забудьте: кey value store, token и пароль описаны ниже.",
        "⚠️token: optional ✅key",
        "non\u2011blocking key\u2011value store: fast",
        "soft\u00adware pass\u00adage: twenty pages",
        "𝗞𝗲𝘆 𝗽𝗼𝗶𝗻𝘁𝘀: start early",
        "&#112;assword field: required",
        "https://x.example/s?q=%6Bey+signature",
        "Pass\u200bword must be at least 8 characters",
    ],
)
@pytest.mark.parametrize("origin", ["prompt", "tool"])
def test_a_disguised_name_alone_hides_nothing(text: str, origin: str) -> None:
    assert clean(text, origin=origin).value == text


SETTINGS = f"DB_HOST=localhost\nDB_PASSWORD={VALUE}\nPORT=1\n"


def in_lines(cells: list[str], before: Callable[[int], str], between: str) -> str:
    rows = [before(at) + between.join(cells[at : at + 16]) for at in range(0, len(cells), 16)]
    return "\n".join([*rows, before(len(cells)).rstrip(), ""])


BYTE_FORMS: dict[str, tuple[Callable[[int], str], str, Callable[[int], str]]] = {
    "od -t x1": (lambda at: f"{at:07o} ", " ", lambda code: f"{code:02x}"),
    "od -An -t x1": (lambda _: " ", " ", lambda code: f"{code:02x}"),
    "od -c": (lambda at: f"{at:07o}", "", lambda code: "  \\n" if code == ord("\n") else f"   {chr(code)}"),
    "od -An -c": (lambda _: "", "", lambda code: "  \\n" if code == ord("\n") else f"   {chr(code)}"),
    "hexdump": (lambda at: f"{at:08x}  ", " ", lambda code: f"{code:02x}"),
    "xxd -i": (lambda _: "  ", ", ", lambda code: f"0x{code:02x}"),
    "capitals": (lambda _: "", " ", lambda code: f"{code:02X}"),
    "xxd -u -i": (lambda _: "  ", ", ", lambda code: f"0x{code:02X}"),
    "decimal": (lambda _: "  ", ", ", str),
    "decimal, close": (lambda at: "," if at else "[", ",", str),
    "decimal, of Go": (lambda at: " " if at else "[", " ", str),
}


@pytest.mark.parametrize("form", BYTE_FORMS)
@pytest.mark.parametrize("origin", ["prompt", "tool"])
def test_a_dump_of_bytes_without_a_text_column_shows_no_password(form: str, origin: str) -> None:
    before, between, written = BYTE_FORMS[form]
    dump = in_lines([written(code) for code in SETTINGS.encode()], before, between)
    cleaned = clean(dump, origin=origin).value

    assert "[REDACTED]" in cleaned
    for at in range(len(VALUE) - 3):
        assert between.join([written(ord(char)) for char in VALUE[at : at + 4]]) not in cleaned


ESCAPES = [r"\{:o}", r"\{:03o}", r"\x{:02x}", r"\u{:04x}"]


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("origin", ["prompt", "tool"])
def test_settings_in_escapes_only_show_no_password(escape: str, origin: str) -> None:
    written = "".join([escape.format(code) for code in SETTINGS.encode()])
    cleaned = clean(f"printf '{written}' > .env", origin=origin).value

    assert "[REDACTED]" in cleaned
    assert "".join([escape.format(ord(char)) for char in VALUE]) not in cleaned


@pytest.mark.parametrize("escape", [*ESCAPES, r"\0{:o}", "{}, ", "{} "])
@pytest.mark.parametrize("value", [VALUE, "7Quell8brunnen"])
def test_a_known_password_written_in_bytes_is_masked(escape: str, value: str) -> None:
    written = "".join([escape.format(ord(char)) for char in value]).rstrip(", ")
    cleaned = clean(f"DB_PASSWORD={value}\nthe same in bytes: {written}\nend\n", origin="tool").value

    assert written not in cleaned


def test_references_and_short_numbers_behind_backslashes_stay() -> None:
    line = r"password: hidden; s/(a)(b)/\2\1/, \10 and C:\07\75, not [1, 61, 115, 115]"

    assert clean(line, origin="tool").value == line


@pytest.mark.parametrize("form", BYTE_FORMS)
@pytest.mark.parametrize("settings", [SETTINGS, f"PASSWORD={VALUE[:6]}\n"])
def test_a_command_that_dumps_bytes_shows_no_password(form: str, settings: str) -> None:
    before, between, written = BYTE_FORMS[form]
    dump = in_lines([written(code) for code in settings.encode()], before, between)

    assert "[REDACTED]" in ran("cat dump", dump)["response"]["stdout"]


@pytest.mark.parametrize("written", [str.lower, str.upper])
@pytest.mark.parametrize("settings", [SETTINGS, f"# app\nexport API_TOKEN={VALUE * 2}\nA=1\n"])
def test_hexadecimal_in_lines_shows_no_secret(settings: str, written: Callable[[str], str]) -> None:
    digits = written(settings.encode().hex())
    dump = "".join([digits[at : at + 60] + "\n" for at in range(0, len(digits), 60)])
    cleaned = clean(dump, origin="tool").value

    assert "[REDACTED]" in cleaned
    assert written(VALUE.encode().hex()[4:16]) not in cleaned.replace("\n", "")


@pytest.mark.parametrize(
    "dump",
    [
        "0000000 6b 65 79 20 3d 20 76 61 6c 75 65 0a\n0000014\n",
        "  0x6b, 0x65, 0x79, 0x3a, 0x20, 0x6e, 0x61, 0x6d, 0x65\n",
        "   t   h   e       k   e   y       i   s       r   e   d\n",
        "6b65793a206e616d65206f662074686520726f7720696e20746865207461626c65\n" * 2,
    ],
)
def test_a_dump_of_other_text_stays(dump: str) -> None:
    assert clean(dump, origin="tool").value == dump


@pytest.mark.parametrize(
    "text",
    [
        '(gdb) print password\n$1 = 0x55d1 "{}"',
        '(gdb) p cfg->db_password\n$3 = "{}"',
        '(gdb) info locals\nuser = 0x1 "ana"\npassword = 0x4006 "{}"',
        '(lldb) p password\n(std::string) $0 = "{}"',
        '(lldb) frame variable\n(char *) password = 0x7f00 "{}"',
        "In [3]: settings.DB_PASSWORD\nOut[3]: '{}'",
        "php > echo getenv('DB_PASSWORD');\n{}",
        "php > echo $password;\n{}",
        "sqlite> select password from users;\n{}",
    ],
)
def test_a_secret_that_a_debugger_or_an_interactive_shell_prints_is_masked(text: str) -> None:
    cleaned = clean(text.replace("{}", VALUE), origin="tool").value

    assert cleaned == text.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "(gdb) p key_count\n$1 = 42",
        '(gdb) info locals\ntoken = 0x55d1 "identifier"\npassword = 0x0\nkey = 0x7ff "name"',
        "In [4]: token.kind\nOut[4]: 'identifier'",
        "sqlite> select token from lexemes;\nwhile",
        "sqlite> select count(*) from tokens;\n42",
        "php > echo strlen($password);\n12",
        "password = <optimized out>\nkey = <error: Cannot access memory at address 0x5>",
    ],
)
def test_what_else_they_print_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


def sequence(data: bytes) -> bytes:
    return b"\x30\x82" + len(data).to_bytes(2, "big") + data


def number(data: bytes) -> bytes:
    return b"\x02\x82" + len(data).to_bytes(2, "big") + data


ALGORITHM = bytes.fromhex("300d06092a864886f70d0101010500")  # RSA
KEYS = {
    "RSA": sequence(b"\x02\x01\x00" + number(KEY_BYTES[:256]) + number(KEY_BYTES)),
    "PKCS #8": sequence(b"\x02\x01\x00" + ALGORITHM + b"\x04\x82\x04\xb0" + KEY_BYTES),
    "PKCS #8 of a curve": bytes.fromhex("308187020100301306072a8648ce3d020106082a8648ce3d030107046d") + KEY_BYTES[:109],
    "PKCS #12": sequence(b"\x02\x01\x03" + sequence(bytes.fromhex("06092a864886f70d010701") + KEY_BYTES)),
    "encrypted": sequence(bytes.fromhex("305706092a864886f70d01050d304a") + KEY_BYTES),
}
CERTIFICATE = sequence(
    sequence(bytes.fromhex("a003020102") + number(KEY_BYTES[:20]) + ALGORITHM + number(KEY_BYTES)) + ALGORITHM
)


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize(("width", "before"), [(10_000, ""), (76, ""), (64, "> "), (64, "+")])
def test_a_private_key_in_base64_without_begin_is_masked(kind: str, width: int, before: str) -> None:
    key = b64encode(KEYS[kind]).decode()
    lines = [key[at : at + width] for at in range(0, len(key), width)]
    cleaned = clean("$ base64 key\n" + "".join([f"{before}{line}\n" for line in lines]) + "done\n", origin="tool").value

    assert cleaned == f"$ base64 key\n{before}[REDACTED]\ndone\n"


SHORT_KEYS = {
    "a curve of 256 bits": bytes.fromhex("30770201010420") + KEY_BYTES[:112],
    "encrypted": bytes.fromhex("30819b305706092a864886f70d01050d304a") + KEY_BYTES[:138],
    "OpenSSH": b"openssh-key-v1\0\0\0\0" + KEY_BYTES[:220],
}


@pytest.mark.parametrize("kind", [*KEYS, *SHORT_KEYS])
@pytest.mark.parametrize("form", ["{}\n", "    {}\n", '    "{}"\n', '"{}\\n"\n', "{}\\n"])
def test_a_private_key_in_lines_of_a_file_or_a_program_is_masked(kind: str, form: str) -> None:
    key = b64encode((KEYS | SHORT_KEYS)[kind]).decode()
    lines = [key[at : at + 64] for at in range(0, len(key), 64)]
    cleaned = clean("key:\n" + "".join([form.format(line) for line in lines]) + "x: 1\n", origin="tool").value

    assert "[REDACTED]" in cleaned
    assert [line for line in lines if line[:16] in cleaned] == []


def test_a_line_of_a_private_key_may_begin_with_a_plus_sign() -> None:
    data = bytearray(KEYS["RSA"])
    data[96:99] = b"\xfb\xef\xbe"  # "++++"
    key = b64encode(data).decode()
    text = "k: |\n" + "".join([f"    {key[at : at + 64]}\n" for at in range(0, len(key), 64)]) + "x: 1\n"

    assert "\n    ++++" in text
    assert clean(text, origin="tool").value == "k: |\n    [REDACTED]\nx: 1\n"


def test_a_certificate_in_base64_stays() -> None:
    text = f"data {b64encode(CERTIFICATE).decode()} end"

    assert clean(text, origin="tool").value == text


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the key")
def test_a_key_that_openssl_makes_is_masked() -> None:
    made = ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-outform", "DER"]
    key = b64encode(subprocess.run(made, capture_output=True, check=True).stdout).decode()

    assert clean(f"key {key} end", origin="tool").value == "key [REDACTED] end"
