"""How much the gate reads of a text that repeats one sign of a secret: twice as much of twice the text.

What is read is counted, not timed: the characters of parts that are cut from a text, and those that are searched.
"""

from __future__ import annotations

import gc
import sys
from base64 import b64encode
from functools import partial
from hashlib import sha256
from typing import Any

import pytest

from mdmem.hook_errors import PatternError
from mdmem.privacy import Rules, clean, disguises, tags
from tests.helpers.call_count import calls


class Text(str):
    """A text that counts how many of its characters are read."""

    __slots__ = ()
    chars_read = 0

    def __getitem__(self, at: Any) -> str:
        part = super().__getitem__(at)
        Text.chars_read += len(part)
        return part

    def lower(self) -> Text:
        return Text(super().lower())

    def find(self, part: str, *bounds: Any) -> int:
        found = super().find(part, *bounds)
        start, stop = self._bounds(*bounds)
        Text.chars_read += max(0, (stop if found < 0 else found) - start)
        return found

    def rfind(self, part: str, *bounds: Any) -> int:
        found = super().rfind(part, *bounds)
        start, stop = self._bounds(*bounds)
        Text.chars_read += max(0, stop - max(start, found))
        return found

    def count(self, part: str, *bounds: Any) -> int:
        start, stop = self._bounds(*bounds)
        Text.chars_read += stop - start
        return super().count(part, *bounds)

    def _bounds(self, start: int = 0, stop: int | None = None) -> tuple[int, int]:
        return slice(start, stop).indices(len(self))[:2]


@pytest.mark.parametrize(
    "unit",
    [
        "|ssn" * 200 + "|\n", '* "', "*\t", "*\t*", '"* "', "ssn 123456,", "ssn,123456\n", "ssn," * 40 + "123456\n",
        "|ssn" * 20 + "|\n123456|\n", "護照 123456\t", "</Private> 123456,", "List<Private>` ", "password,a1b2c3\n",
        "トークン", "密码已", " pass ", " auth pass", "токен ", "كلمة المرور ", "[+] a\\b:c ", "://%s:%s@ ", "]:587 ",
        "p\u0430ss ", "p\u200dass\u0435", r"p\u0061ss ", "\\" * 40 + "x61pw", "6b 65 79 ", "   k   e   y",
        "MIIEowIBAAKC1q ", "MIIEowIBAAKC" * 8 + "\n", "MIIEowIBAAKC" * 8, "MIIEowIBAAKC1q\n",
        "b3BlbnNzaC1rZXktdjEA ", "b3BlbnNzaC1rZXktdjEA\n",
    ],
)  # fmt: skip
def test_twice_as_much_is_read_of_twice_the_text(unit: str) -> None:
    once, twice = (_chars_read(Text(unit * (size // len(unit)))) for size in (10_000, 20_000))

    assert once > 10_000
    assert twice < 2.6 * once


@pytest.mark.parametrize("unit", ["{", "secrets={\n", 'secrets={a="zk9qw8x"\n'])
def test_twice_as_much_is_read_of_blocks_of_secrets_that_are_twice_as_long(unit: str) -> None:
    once, twice = (_chars_read(_run("prod.tfvars", unit * (size // len(unit)) + "}")) for size in (10_000, 20_000))

    assert once > 10_000
    assert twice < 2.6 * once


@pytest.mark.parametrize("name", ["auth.txt", ".netrc"])
def test_few_words_are_read_of_a_long_line_in_a_file_of_settings(name: str) -> None:
    runs = [_run(each, "ana " * 2_000) for each in ("story.txt", name)]
    for run in runs:
        clean(run, origin="tool")  # imports the scanners

    plain, of_settings = map(_calls, runs)

    assert 0 < of_settings - plain < 4_000


def _run(path: str, text: str) -> dict[str, Any]:
    return {"tool": "Read", "input": {"file_path": path}, "response": Text(text)}


def _chars_read(value: Any) -> int:
    Text.chars_read = 0
    clean(value, origin="tool")
    return Text.chars_read


@pytest.mark.parametrize(
    ("unit", "most"),
    [(" pass ", 850), ("auth pass ", 1_150), ("pass abcd efgh ijkl ", 950), ("トークン", 140), ("비번", 190)],
)
def test_a_name_of_a_secret_takes_few_steps_wherever_it_is_repeated(unit: str, most: int) -> None:
    text = unit * (2_400 // len(unit))
    clean(text, origin="tool")  # imports the scanners

    calls = _calls(text)

    names = 2_400 // len(unit)
    assert names < calls < most * names


@pytest.mark.parametrize(
    "unit", [r"\x41", r"\303", "%e3%81", r"\u3010", "&#12304;", "=e3=80=90", "%25e3%2580", r"\\xe3"]
)
def test_an_escape_takes_few_steps_however_often_it_is_repeated(unit: str) -> None:
    tags.with_decoded_signs(unit)  # imports the readers
    few, many = (calls(partial(tags.with_decoded_signs, unit * count)) for count in (300, 600))

    assert few > 300
    assert many < 2.2 * few


def test_hundreds_of_known_secrets_add_few_steps_to_each_further_string() -> None:
    passwords = [b64encode(sha256(b"%d" % number).digest()[:15]).decode() for number in range(700)]
    clean("password: " + passwords[0], origin="tool")  # imports the scanners
    few, many = ({f"password_{word[:4]}": word for word in passwords[:count]} for count in (300, 700))

    further = _calls(many) - _calls(few)

    assert 100 * 400 < further < 1_600 * 400


def test_tables_of_a_dump_take_the_same_steps_whatever_their_number() -> None:
    few, many = (_calls("".join(map(_table, range(count)))) for count in (100, 400))

    assert few > 100
    assert many < 4.5 * few


def _table(number: int) -> str:
    return f"CREATE TABLE t{number} (\n  password text\n);\nINSERT INTO t{number} VALUES ('lagunotul');\n"


def test_no_text_is_kept_in_memory_once_it_is_cleaned() -> None:
    texts = [f"password=lagunotul{number}x9 {b64encode(b'password=miravento').decode()} é" for number in range(3)]
    texts += ["".join(f"password=lagunotul{number}x9 lagunotul{number}x9\n" for number in range(9))]

    assert [clean(text, origin="tool").value for text in texts] != texts
    kept = [each for each in gc.get_objects() if isinstance(each, dict)]
    assert not [each for each in kept if any(text in each or text.lower() in each for text in texts)]
    assert not [each for each in kept if b"lagunotul1x9" in each]
    clean("[\\u3010 é", origin="tool")
    assert not disguises._last


def test_no_group_of_letters_of_a_password_is_kept_in_memory_once_it_is_cleaned() -> None:
    assert clean("password:\nqzkv wxjb pqzr vkxw\n").value == "password:\n[REDACTED]\n"
    modules = [vars(module) for name, module in sys.modules.items() if name.startswith("mdmem.privacy.")]
    kept = [value for values in modules for value in values.values() if isinstance(value, dict)]
    assert len(kept) > 3
    assert not [each for each in kept if "qzkvwxjbpqzrvkxw" in each]


def test_no_text_is_kept_in_memory_when_a_pattern_takes_too_long_for_another() -> None:
    text = "password=lagunotulx9 " + b64encode(b"password=miravento").decode()

    with pytest.raises(PatternError):
        clean([text, "a" * 40_000 + "!"], rules=Rules(patterns=("(a+)+$",)))
    assert not [each for each in gc.get_objects() if isinstance(each, dict) and text in each]


def _calls(value: Any) -> int:
    """Return how many functions are called to clean a value."""
    return calls(partial(clean, value, origin="tool"))
