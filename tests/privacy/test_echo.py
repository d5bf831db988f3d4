"""The echo: what a private section held is masked later on, in any form, and is text in no file."""

from __future__ import annotations

import base64
import codecs
import itertools
import json
import os
import quopri
import re
import subprocess
import sys
import textwrap
import time
import unicodedata
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mdmem
from mdmem import config
from mdmem.config import Config
from mdmem.privacy import Rules, clean, echo, letters, memory, private_words
from tests.helpers.few import few

SECRET = "hunter2!pass"
SESSION = "0123456789abcdef"
NO_SECRETS = Rules(secrets=False)


@pytest.fixture
def settings(vault: Path) -> Config:
    return config.load()


def remembered(settings: Config, prompt: str) -> echo.Echo:
    memory.learn(settings, SESSION, clean(prompt).spans)
    loaded = memory.load(settings, SESSION)
    assert loaded is not None
    return loaded


def masked(private: str, text: str) -> str:
    """Clean a text in a session whose private section held `private`."""
    return str(clean(text, rules=NO_SECRETS, origin="tool", echo=echo.of([private])).value)


@pytest.mark.parametrize(
    "line",
    [
        "PGPASSWD={} psql",
        "echo '{}' | login",
        '{{"text":"{}","x":1}}',
        "url?x={}&y=1",
        "it is {}.",
        "`{}`",
        "[{}]({})",
        "line\n{}\nline",
        "--pw={}",
        "x:{},y",
        "glued{}glued",
        "{}입니다",
    ],
)
def test_what_was_private_is_masked_when_the_agent_repeats_it(settings: Config, line: str) -> None:
    known = remembered(settings, f"use <private>bob and {SECRET} for it</private> please")

    cleaned = clean(line.format(SECRET, SECRET), rules=NO_SECRETS, origin="tool", echo=known)

    assert SECRET not in cleaned.value
    assert "[PRIVATE]" in cleaned.value
    assert cleaned.private == line.count("{}")


def dump_of_words(data: bytes) -> str:
    """Dump bytes as `hexdump` does: two of them as a number, the second first."""
    pairs = [data[at : at + 2] for at in range(0, len(data), 2)]
    return dump_of_numbers([f"{int.from_bytes(pair, 'little'):04x}" for pair in pairs], 8)


def characters(text: str) -> str:
    """Show bytes as `od -c` does."""
    data = text.encode()
    shown = [f"{byte:4o}"[-4:] if byte > 126 else f"{chr(byte):>4}".replace("  \n", " \\n") for byte in data]
    rows = ["".join(shown[at : at + 16]) for at in range(0, len(data), 16)]
    return "".join(f"{number * 16:07o}{row}\n" for number, row in enumerate(rows)) + f"{len(data):07o}\n"


def dump_of_numbers(numbers: list[str], width: int) -> str:
    rows = [numbers[at : at + width] for at in range(0, len(numbers), width)]
    return "".join(f"{number * 16:07x} {' '.join(row)}\n" for number, row in enumerate(rows))


FORMS: dict[str, Callable[[str], str]] = {
    "as it was": str,
    "upper case": str.upper,
    "lower case": str.lower,
    "title case": str.title,
    "URL-encoded": lambda value: urllib.parse.quote(value, safe=""),
    "URL-encoded, every byte": lambda value: "".join(f"%{byte:02X}" for byte in value.encode()),
    "form-encoded": urllib.parse.quote_plus,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 without padding": lambda value: base64.b64encode(value.encode()).decode().rstrip("="),
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(b"?>" + value.encode() + b"?>").decode(),
    "base64 of more": lambda value: base64.b64encode(f"bob:{value}".encode()).decode(),
    "base64 wrapped": lambda value: base64.encodebytes(f"{'x' * 70} {value} {'y' * 70}".encode()).decode(),
    "base64 wrapped in JSON": lambda value: json.dumps(
        base64.encodebytes(f"{'x' * 70} {value} {'y' * 70}".encode()).decode()
    ),
    "base64 of UTF-16": lambda value: base64.b64encode(value.encode("utf-16-le")).decode(),
    "base64 of UTF-16 with a mark": lambda value: base64.b64encode(value.encode("utf-16")).decode(),
    "base64 of UTF-16, big end first": lambda value: base64.b64encode(value.encode("utf-16-be")).decode(),
    "letters and accents apart": lambda value: unicodedata.normalize("NFD", value),
    "letters and accents together": lambda value: unicodedata.normalize("NFC", value),
    "hex": lambda value: value.encode().hex(),
    "upper hex": lambda value: value.encode().hex().upper(),
    "hex with 0x": lambda value: f"0x{value.encode().hex()}",
    "hex with blanks": lambda value: value.encode().hex(" "),
    "hex with colons": lambda value: value.encode().hex(":"),
    "JSON": lambda value: value.replace("\\", "\\\\").replace('"', '\\"').replace("/", "\\/"),
    "JSON escapes": lambda value: "".join(f"\\u{ord(char):04x}" for char in value),
    "hex escapes": lambda value: "".join(f"\\x{byte:02x}" if byte < 128 else "" for byte in value.encode()),
    "HTML": lambda value: "".join(f"&#{ord(char)};" for char in value),
    "shell escapes": lambda value: "".join(f"\\{char}" if not char.isalnum() else char for char in value),
    "full width": lambda value: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in value),
    "half width": lambda value: value.replace("バ", "ﾊﾞ"),
    "glued": lambda value: f"x{value}y",
    "with underscores": lambda value: f"my_{value}_here",
    "wrapped": lambda value: f"{value[:5]}\n{value[5:]}",
    "wrapped and indented": lambda value: f"{value[:5]}\n        {value[5:]}",
    "wrapped with a backslash": lambda value: f"{value[:5]}\\\n{value[5:]}",
    "base64 of URL-encoded": lambda value: base64.b64encode(urllib.parse.quote(value).encode()).decode(),
    "base64 of base64": lambda value: base64.b64encode(base64.b64encode(value.encode())).decode(),
    "base64 in bytes": lambda value: base64.b64encode(b"\x89PNG\x00\xff " + value.encode() + b"\x00\xfe").decode(),
    "hex in bytes": lambda value: (b"\x89PNG\x00\xff " + value.encode() + b"\x00\xfe").hex(),
    "hex behind half a byte": lambda value: f"a{value.encode().hex()}",
    "hex with dashes": lambda value: value.encode().hex("-"),
    "array of bytes": lambda value: "{" + ",".join(f"0X{byte:02X}" for byte in value.encode()) + "}",
    "list of numbers": lambda value: str(list(value.encode())),
    "dump of bytes": lambda value: dump(f"log in with {value} as bob"),
    "list of numbers, one in a line": lambda value: json.dumps(list(value.encode()), indent=2),
    "dump of words": lambda value: dump_of_words(value.encode()),
    "dump in octal": lambda value: dump_of_numbers([f"{byte:03o}" for byte in value.encode()], 16),
    "code points": lambda value: " ".join(f"U+{ord(char):04X}" for char in value),
    "calls of PowerShell": lambda value: "+".join(f"[char]{byte}" for byte in value.encode("latin-1", "replace")),
    "marked by a search": lambda value: f"{value[:4]}<mark class='hit'>{value[4:7]}</mark>{value[7:]}",
    "every letter in an element": lambda value: "".join(f"<b>{char}</b>" for char in value),
    "printed over": lambda value: "".join(f"{char}\b{char}" for char in value),
    "octal": lambda value: "".join(f"\\{byte:03o}" for byte in value.encode()),
    "bytes of Python": lambda value: "".join(f"\\x{byte:02x}" for byte in value.encode()),
    "quoted-printable": lambda value: quopri.encodestring(f"{'x' * 70} {value}".encode()).decode(),
    "invisible characters inside": "\u200b".join,
    "in two colors": lambda value: f"{value[:4]}\x1b[31m{value[4:]}\x1b[0m",
    "half in bold type": lambda value: f"{value[:4]}**{value[4:]}**",
    "mathematical letters": lambda value: value.translate({97 + n: chr(0x1D41A + n) for n in range(26)}),
    "snake case": lambda value: "_".join(re.findall(r"\w+", value.lower())),
    "camel case": lambda value: "".join(word.capitalize() for word in re.findall(r"\w+", value)),
    "possessive": lambda value: f"{value}’s",
    "wrapped in a quotation": lambda value: f"> {value[:5]}\n> {value[5:]}",
    "wrapped in a comment": lambda value: f"# {value[:5]}\n# {value[5:]}",
    "wrapped in a diff": lambda value: f"+{value[:5]}\r\n+{value[5:]}",
    "in two strings": lambda value: f'"{value[:5]}" + "{value[5:]}"',
    "list of letters": lambda value: str(list(value)),
    "spaced out": " ".join,
    "base32": lambda value: base64.b32encode(value.encode()).decode(),
    "base32 wrapped": lambda value: "\n".join(
        textwrap.wrap(base64.b32encode(f"{'x' * 44} {value} {'y' * 40}".encode()).decode(), 76)
    ),
    "base32 in lower case": lambda value: base64.b32encode(value.encode()).decode().lower().rstrip("="),
    "base85": lambda value: base64.b85encode(value.encode()).decode(),
    "base85 of more, as Python shows it": lambda value: str(base64.b85encode(f"log in with {value}".encode())),
    "Ascii85": lambda value: base64.a85encode(value.encode()).decode(),
    "Ascii85 of Adobe": lambda value: base64.a85encode(value.encode(), adobe=True).decode(),
    "characters of od": lambda value: characters(f"with {value} as bob"),
    "characters of od in lines": lambda value: characters(f"one\n{value}\ntwo\n"),
    "backwards": lambda value: value[::-1],
    "ROT13": lambda value: codecs.encode(value, "rot13"),
    "ue for ü": lambda value: value.replace("ü", "ue").replace("ö", "oe"),
    "Punycode": lambda value: f"xn--{value.lower().encode('punycode').decode()}",
    "named entities": lambda value: value.replace("ü", "&uuml;").replace("ö", "&ouml;").replace("é", "&eacute;"),
    "Latin-1 in hex": lambda value: value.encode("latin-1" if max(value) < "Ā" else "utf-8").hex(),
    "base64 of UTF-16 in bytes": lambda value: base64.b64encode(
        b"\x89PNG\x00\xff\xfe" + value.encode("utf-16-le") + b"\xfe\x00\x01" * 9
    ).decode(),
    "calls of chr": lambda value: "+".join(f"chr({ord(char)})" for char in value),
}
ASCII_ONLY = {"hex escapes", "base64 of UTF-16 in bytes", "calls of chr", "calls of PowerShell"}


def dump(text: str) -> str:
    """Show bytes as `xxd` does."""
    data = text.encode()
    rows = [data[at : at + 16] for at in range(0, len(data), 16)]
    return "".join(
        f"{16 * number:08x}: {row.hex(' ', 2):39}  {''.join(chr(byte) if 32 <= byte < 127 else '.' for byte in row)}\n"
        for number, row in enumerate(rows)
    )


@pytest.mark.parametrize(
    "value", [SECRET, 'Zx81"kQ/0p', "heron-box-42", "Falconridge", "銀河計画二号", "호랑이굴열쇠", "Müllerström"]
)
@pytest.mark.parametrize("form", FORMS)
def test_a_repeated_value_is_masked_in_every_form(form: str, value: str) -> None:
    if form in ASCII_ONLY and not value.isascii():
        return
    written = FORMS[form](value)

    text = masked(f"log in with {value} as bob", f"see {written} there")

    assert written not in text
    assert "[PRIVATE]" in text
    assert text.startswith("see ")
    assert text.endswith(" there")


LETTER = b"Meet at 500 yds of Falconridge, and 6000"
DUMPS: dict[str, tuple[int, Callable[[bytes], str]]] = {
    "xxd -c 8": (8, lambda row: f": {row.hex(' ', 2)}  {row.decode()}"),
    "xxd -c 4": (4, lambda row: f": {row.hex(' ', 2)}  {row.decode()}"),
    "xxd -c 32 -g 1": (32, lambda row: f": {row.hex(' ')}  {row.decode()}"),
    "xxd -g 4": (16, lambda row: f": {row.hex(' ', -4)}  {row.decode()}"),
    "xxd -e": (16, lambda row: f": {' '.join(words_of(row, 4))}  {row.decode()}"),
    "od": (16, lambda row: f" {' '.join(f'{int(word, 16):06o}' for word in words_of(row, 2))}"),
    "od -t x4": (16, lambda row: f" {' '.join(words_of(row, 4))}"),
    "od -t x8": (16, lambda row: f" {' '.join(words_of(row, 8))}"),
}


def words_of(row: bytes, size: int) -> list[str]:
    """List the numbers of `size` bytes, the last byte first."""
    return [row[at : at + size][::-1].hex() for at in range(0, len(row), size)]


@pytest.mark.parametrize("program", DUMPS)
def test_a_dump_in_any_width_hides_what_it_shows(program: str) -> None:
    width, columns = DUMPS[program]
    rows = [LETTER[at : at + width] for at in range(0, len(LETTER), width)]
    written = "".join(f"{width * number:08x}{columns(row)}\n" for number, row in enumerate(rows))

    text = masked(LETTER.decode(), f"$ show letter\n{written}done\n")

    assert re.fullmatch(r"\$ show letter\n00000000:? \[PRIVATE\]\ndone\n", text)


@pytest.mark.parametrize(
    ("private", "text"),
    [
        ("홍길동회장", "어제 홍길동회장이 말했다"),
        ("암호는 호랑이굴입니다", "그 호랑이굴을 보라"),
        ("호랑이", "그 호랑이가"),
        ("東京本社移転計画", "次の本社移転について"),
        ("張偉明的代號是銀河計畫", "看銀河計畫書"),
        ("王小明", "请联系王小明先生"),
        ("서울특별시 강남구 역삼동 테헤란로일이삼", "주소: 테헤란로일이삼입니다"),
    ],
)
def test_scripts_without_blanks_are_matched_inside_a_run(private: str, text: str) -> None:
    assert "[PRIVATE]" in masked(private, text)


@pytest.mark.parametrize(
    "text",
    [
        "we refactored the middleware after the announcement",
        "function_name, user-agent, getName, package.json, utf-8, 2026-11-20, localhost:8080",
        "the production database and its environment variables",
        "Something completely different happened yesterday",
        "3.11.7, 10000, 8080, 2026",
    ],
)
def test_everyday_words_are_not_hidden_for_the_rest_of_the_session(text: str) -> None:
    private = (
        "yesterday we refactored the middleware, function_name and user-agent, for the announcement of something "
        "completely different with getName in package.json of 2026-11-20 at localhost:8080 in the production database "
        "in utf-8 with Python 3.11.7, 10000 environment variables, port 8080"
    )

    assert masked(private, text) == text


@pytest.mark.parametrize(
    ("private", "text"),
    [
        ("ask Marina about it", "the grammar in a calendar"),
        ("the badge is 471188", "rows 47 1188 and 4711, 88"),
        ("the pin is 4711", "47-11 and 4 711"),
    ],
)
def test_letters_that_only_follow_each_other_by_chance_stay(private: str, text: str) -> None:
    assert masked(private, text) == text


@pytest.mark.parametrize("text", ["the key $ecret#1Zq9% is", "the key '$ecret#1Zq9%'"])
def test_the_signs_at_the_ends_of_a_password_are_hidden_with_it(text: str) -> None:
    assert masked("$ecret#1Zq9%", text) == text.replace("$ecret#1Zq9%", "[PRIVATE]")


def test_an_everyday_word_that_stood_alone_is_hidden() -> None:
    assert masked("middleware", "the middleware, middlewares") == "the [PRIVATE], middlewares"


@pytest.mark.parametrize("text", ["correct horse battery staple", "correct horse\n  battery staple"])
def test_a_phrase_of_everyday_words_is_hidden_as_a_whole(text: str) -> None:
    assert masked("correct horse battery staple", f"say {text} now") == "say [PRIVATE] now"
    assert masked("correct horse battery staple", "a correct battery") == "a correct battery"


@pytest.mark.parametrize("text", ["sell the company", "badger at dawn", "we meet at noon"])
def test_three_everyday_words_are_hidden_where_a_section_said_only_them(text: str) -> None:
    assert masked(text, f"They want to {text}.") == "They want to [PRIVATE]."
    assert masked(f"Nobody may know it.\n{text} now, as soon as we can", f"to {text}") == f"to {text}"


def test_a_short_code_is_hidden_as_a_word_of_its_own() -> None:
    assert masked("the pin is 4711", "4711, line 47112, 04711") == "[PRIVATE], line 47112, 04711"


@pytest.mark.parametrize("code", ["box7", "A7K2", "k8s9", "py311"])
def test_a_short_code_in_a_private_section_is_masked_as_a_word(code: str) -> None:
    assert masked(f"use {code} for it", f"ssh {code}; {code.upper()}!") == "ssh [PRIVATE]; [PRIVATE]!"
    assert masked(f"use {code} for it", f"x{code}y") == f"x{code}y"


@pytest.mark.parametrize("word", ["utf8", "sha1", "10mb", "1st", "step2", "i18n"])
def test_a_short_technical_word_in_a_private_section_stays(word: str) -> None:
    assert masked(f"use {word} for it", f"now {word}") == f"now {word}"


@pytest.mark.parametrize("secret", ["a-b-c-d-e1", "p@ss:w=rd,12", "Zx81kQ0p", "한글비밀번호입니다", "x" * 300])
def test_values_with_signs_in_them_are_known_again(settings: Config, secret: str) -> None:
    known = remembered(settings, f"<private>{secret}</private> ok")

    for line in ("{}", "see {} there", 'X="{}"', "X={}"):
        assert secret not in clean(line.format(secret), origin="tool", echo=known).value


@pytest.mark.parametrize(
    "text", ["ssh bob@heron-box-42 ls", "heron-box-42.txt", "https://heron-box-42.lan/x", "bob@heron.acme.io:/srv"]
)
def test_the_name_of_a_machine_is_known_again_wherever_it_stands(text: str) -> None:
    assert "heron" not in masked("log in to heron-box-42 and to heron.acme.io", text)


def test_keys_lists_short_texts_and_nested_values_are_masked_too(settings: Config) -> None:
    known = remembered(settings, "<private>customer Falconridge-9, code 4711</private>")
    value: Any = {"Falconridge-9": ["see Falconridge-9", {"file_path": "/srv/Falconridge-9/a.txt"}, "4711"]}

    assert clean(value, origin="tool", echo=known).value == {
        "[PRIVATE]": ["see [PRIVATE]", {"file_path": "/srv/[PRIVATE]/a.txt"}, "[PRIVATE]"]
    }


# -- the memory ------------------------------------------------------------------------------------


def files(settings: Config) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(memory.folder(settings)).iterdir()}


def test_no_private_word_is_in_the_files_and_only_the_user_can_read_them(settings: Config) -> None:
    remembered(settings, f"<private>{SECRET} Falconridge</private>")

    data = b"".join(files(settings).values()).lower()
    for token in (SECRET, "falconridge", "hunter2", SECRET.encode().hex(), b"falconridge".hex()):
        assert token.encode() not in data
    for path in Path(memory.folder(settings)).iterdir():
        assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(memory.folder(settings)).st_mode & 0o777 == 0o700


def test_two_vaults_hash_the_same_word_differently(settings: Config, tmp_path: Path) -> None:
    lines = []
    for name in ("a", "b"):
        other = Config(
            settings.vault, settings.index_dir, str(tmp_path / name), settings.runtime_dir, settings.settings
        )
        memory.learn(other, SESSION, ["Falconridge"])
        lines.append(set((tmp_path / name / "private" / SESSION).read_bytes().split()))

    assert len(lines[0]) == 5, "the word, its halves, the word backwards, and in ROT13"
    assert lines[0].isdisjoint(lines[1])


def test_later_private_sections_are_added_once(settings: Config) -> None:
    remembered(settings, "<private>Falconridge</private>")
    known = remembered(settings, "<private>Owlbottom and Falconridge</private>")
    size = len(files(settings)[SESSION])
    remembered(settings, "<private>Owlbottom and Falconridge</private>")

    assert clean("Falconridge, Owlbottom", echo=known).value == "[PRIVATE], [PRIVATE]"
    assert len(files(settings)[SESSION]) == size


@pytest.mark.slow
def test_any_number_of_processes_can_learn_at_once(settings: Config) -> None:
    words = [f"Falconridge{number}" for number in range(12)]
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from mdmem import config; from mdmem.privacy import memory\n"
        f"memory.learn(config.load(), {SESSION!r}, sys.argv[2:])"
    )
    root = str(Path(mdmem.__file__).parent.parent)

    started = [subprocess.Popen([sys.executable, "-I", "-S", "-c", code, root, word]) for word in words]
    assert [process.wait(240) for process in started] == [0] * len(words)

    known = memory.load(settings, SESSION)
    assert known is not None
    assert clean(" ".join(words), origin="tool", echo=known).private == len(words)
    assert sorted(files(settings)) == [SESSION, "key"]


@pytest.mark.parametrize("data", [b"", b"\n", b"no digest\n", b"\xff" * 100, b"zz" * 15, b"00ff"])
def test_a_file_that_is_broken_or_not_there_does_no_harm(settings: Config, data: bytes) -> None:
    assert memory.load(settings, SESSION) is None
    path = Path(memory.folder(settings), SESSION)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    assert memory.load(settings, SESSION) is None

    known = remembered(settings, "<private>Falconridge</private>")

    assert clean("Falconridge", echo=known).value == "[PRIVATE]"


def test_a_link_is_not_followed(settings: Config, tmp_path: Path) -> None:
    target = tmp_path / "target"
    memory.learn(settings, SESSION, ["Owlbottom"])
    Path(memory.folder(settings), SESSION).unlink()
    Path(memory.folder(settings), SESSION).symlink_to(target)

    with pytest.raises(OSError, match="symbolic"):
        memory.learn(settings, SESSION, ["Falconridge"])
    assert memory.load(settings, SESSION) is None
    assert not target.exists()


def test_a_fork_knows_what_its_parent_remembers(settings: Config) -> None:
    memory.learn(settings, SESSION, ["Falconridge"])
    memory.learn(settings, "fork", ["Owlbottom"])

    memory.inherit(settings, "fork", [SESSION])

    known = memory.load(settings, "fork")
    assert clean("Falconridge, Owlbottom", echo=known).value == "[PRIVATE], [PRIVATE]"
    parent = memory.load(settings, SESSION)
    assert clean("Falconridge, Owlbottom", echo=parent).value == "[PRIVATE], Owlbottom"


def test_what_is_old_is_forgotten_and_the_key_stays(settings: Config) -> None:
    memory.learn(settings, SESSION, ["Falconridge"])
    memory.learn(settings, "another", ["Owlbottom"])
    old = time.time() - (memory.KEPT_DAYS - 1) * 86_400
    os.utime(Path(memory.folder(settings), SESSION), (old, old))

    assert memory.prune(settings, time.time()) == 0
    assert memory.prune(settings, time.time() + 2 * 86_400) == 1
    assert sorted(files(settings)) == ["another", "key"]


# -- private sections that were not written plainly ------------------------------------------------

NOT_ALONE = {"glued", "Punycode", "with underscores", "spaced out", "ue for ü"}
"""Forms of which nothing tells where the value ends, or what it was."""


def later(section: str, text: str) -> str:
    """Clean a text in a session that was shown a private section before."""
    spans = clean(section, rules=NO_SECRETS, origin="tool").spans
    return str(clean(text, rules=NO_SECRETS, origin="tool", echo=echo.of(spans)).value)


@pytest.mark.parametrize("name", few(sorted(FORMS.keys() - NOT_ALONE), always=["in two colors", "base64", "HTML"]))
@pytest.mark.parametrize("value", [SECRET, "heron-box-42", "Falconridge", "Café-Zürich-91"])
def test_a_value_is_masked_that_its_private_section_wrote_in_another_form(value: str, name: str) -> None:
    form = FORMS[name](value)
    if name not in ASCII_ONLY or value.isascii():
        assert value not in later(f"see <private>{form}</private> there", f"it is {value} then")


@pytest.mark.parametrize(
    "section",
    [
        "\x1b[31m<private>\x1b[0m{}\x1b[31m</private>\x1b[0m",
        "<private>\x1b]8;;http://x.y/z\x1b\\{}\x1b]8;;\x1b\\</private>",
        "<private>\x1b[38:5:1m{}\x1b[?25l</private>",
        "<private>\x1b(B{}\x1b(B</private>",
        "<private>\\u001b[0m{}\\u001b[31m</private>",
        "<private>\\e[1m{}\\e[0m</private>",
        "^[[31m<private>^[[0m{}^[[31m</private>",
    ],
)
@pytest.mark.parametrize("value", ["Quennelby", "4711", "hunter2x9"])
def test_a_value_is_masked_of_which_the_private_section_was_in_color(value: str, section: str) -> None:
    assert value not in later(section.format(value), f"the code {value} again")


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("> ", "> ", "> "),
        ("# ", "# ", "# "),
        ("REM ", "REM ", "REM "),
        ("+", "+", "+"),
        ("     9\t", "    10\t", "    11\t"),
        ("     9→", "    10→", "    11→"),
        ("9:", "10-", "11:"),
        ("plan.md:9:", "plan.md:10:", "plan.md:11:"),
        ("[2026-09-14 08:00:09] ", "[2026-09-14 08:00:10] ", "[2026-09-14 08:00:11] "),
        ("a1b2c3d (Ann 2026-09-14 9) ", "4e5f6a7 (Bo  2026-09-15 10) ", "a1b2c3d (Ann 2026-09-14 11) "),
    ],
)
@pytest.mark.parametrize("closed", [True, False])
def test_lines_are_masked_without_what_a_tool_put_before_them(
    first: str, second: str, third: str, closed: bool
) -> None:
    lines = [f"{first}<private>", f"{second}we close the plant", f"{third}in spring, tell no one"]
    section = "\n".join([*lines, f"{third}</private>"] if closed else lines)

    for line in ("we close the plant", "in spring, tell no one"):
        assert line not in later(section, f"so {line} then")


# -- never too much --------------------------------------------------------------------------------


def test_a_mark_is_never_an_echo(settings: Config) -> None:
    known = remembered(settings, "<private>REDACTED:password LEFT-OUT-HERE</private>")
    rules = Rules(marker="LEFT-OUT-HERE", name_kinds=True)

    once = clean("a LEFT-OUT-HERE b password=hunter2", rules=rules, echo=known)

    assert once.value == "a LEFT-OUT-HERE b password=[REDACTED:password]"
    assert once.private == 0


@pytest.mark.slow
@given(
    (
        st.text(min_size=8, max_size=40)
        | st.text("aB01:._$é中각ﬁ２＄𐀀😀𝐀𠀀\u0301\u200b\ufffd", min_size=8, max_size=24)
    ).filter(lambda word: not any(map(str.isspace, word))),
    st.text(),
    st.text(),
)
@example("00000:A𐀀", "", "")
def test_any_distinctive_word_between_blanks_is_masked(token: str, before: str, after: str) -> None:
    token = clean(token, rules=NO_SECRETS).value
    known = echo.of([f"some words and {token}"])
    if letters.fold(token) not in private_words.parts((f"some words and {token}",)):
        return
    text = clean(f"{before} {token} {after}", rules=NO_SECRETS).value

    cleaned = clean(text, rules=Rules(secrets=False, marker=""), origin="tool", echo=known)

    assert token not in cleaned.value.split()


WORDS = st.sampled_from(["hunter-2718x", "0041 7755-31", "ana@falkenberg.org", "Größe_9x7", "日本語", "plain words"])
BETWEEN = st.text(max_size=5)


@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(st.one_of(WORDS, WORDS.map(str.upper), BETWEEN), min_size=5))
def test_what_is_found_lies_in_the_text_in_order_and_apart(private: list[str], pieces: list[str]) -> None:
    text = " ".join(pieces)
    spans = echo.of([" ".join(private)]).find(text)

    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


@pytest.mark.parametrize(
    "unit",
    few(
        ["a", "ab ", "%41", "\\u0041", "&amp;", "QUJD", "4142 ", "41", "[PRIVATE]", "あ", "hunter2!"],
        always=["ab ", "%41", "QUJD"],
    ),
)
def test_finding_takes_time_in_proportion_to_the_text(unit: str) -> None:
    known = echo.of([f"{SECRET} {unit * 12} " + " ".join(f"{unit}x{number}" for number in range(200))])

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        begun = time.process_time()
        known.find(text)
        return time.process_time() - begun

    small = min(seconds(10_000) for _ in range(3))
    assert seconds(80_000) < 24 * small + 0.2


def test_a_private_section_of_one_line_hides_no_part_of_that_line_elsewhere() -> None:
    text = "fine\n<private>\nnot fine\n</private>\nIt is fine, and not fine."

    cleaned = clean(text, rules=Rules())

    assert cleaned.value == "fine\n[PRIVATE]\nIt is fine, and [PRIVATE]."


@pytest.mark.parametrize(
    ("said", "again", "left"),
    [
        ("call +49 170 5551234", "0170 5551234, 01705551234, 0170/555 12 34", "01#, 01#, 01#"),
        ("call 0170 5551234", "+49 170 5551234, +491705551234", "+49 1#, +491#"),
        ("the price is 187,500 dollars", "187 500, 187500, 187.500, $187,500", "#, #, #, $#"),
        ("the budget is 96.401 EUR", "96401, 96 401, 96,401", "#, #, #"),
        ("it is Grünwalder", r"Gr\xfcnwalder, Gr%FCnwalder, GrÃ¼nwalder, Gr%C3%BCnwalder", "#, #, #, #"),
    ],
)
def test_a_number_or_a_name_is_found_in_the_way_others_write_it(said: str, again: str, left: str) -> None:
    found = again
    for start, end in reversed(echo.of([said]).find(again)):
        found = f"{found[:start]}#{found[end:]}"

    assert found == left


def test_numbers_beside_each_other_are_no_amount_and_no_phone_number() -> None:
    known = echo.of(["the price is 187,500 dollars", "call +49 170 5551234"])

    assert known.find("187 5002, 1187 500, 1875, 18 7500, lines 1870 500, 49 170 555") == []


@pytest.mark.parametrize("beside", ["1042,1077,1083", "2f 73 72 76", '["4f3a", "99b2"]'])
@pytest.mark.parametrize("between", ["\n", "\nEND\n\nBEGIN\n"])
def test_a_list_of_bytes_is_masked_beside_one_in_another_notation(beside: str, between: str) -> None:
    private = "/srv/quillfeather/ledger-9.db"
    codes = ",".join([str(ord(sign)) for sign in private])

    for output in (f"{beside}{between}[{codes}]", f"[{codes}]{between}{beside}"):
        shown = clean([f"a <private>{private}</private> b", output], origin="tool").value[1]

        assert codes not in shown
        assert codes[:40] not in shown
