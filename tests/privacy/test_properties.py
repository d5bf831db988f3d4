"""What holds of the gate for any text: nothing private is left, nothing public is lost, and it never fails."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mdmem
from mdmem.privacy import Rules, clean, explain, limits
from mdmem.privacy import text as text_steps
from mdmem.privacy.secrets import commands, repeated
from mdmem.privacy.secrets.commands.table import BY_COMMAND
from mdmem.privacy.text import lower, storable

CANARY = "Canary7"

PAIRS = (
    ("<private>", "</private>"),
    ("<PRIVATE >", "</ Private\n>"),
    ('<private why="x">', "</private>"),
    ("[private]", "[/private]"),
    ("[ Private ]", "[/PRIVATE]"),
    ("<!-- private -->", "<!-- /private -->"),
    ("<!--private-->", "<!--/PRIVATE-->"),
    ("＜private＞", "＜/private＞"),
    (r"\u003cprivate\u003e", r"\u003c\/private\u003e"),
    (r"\\u003cprivate\\u003e", r"\\u003c/private\\u003e"),
)
"""The ways to open and close a private section."""

_NOISE = (
    "`", "```\n", " ", "\n", "<", ">", "[", "]", "-->", "\\", "/", '"', "'", "<pri", "vate>", "\0", "\ud800", "İ", "é",
    "<mdmem-context>", "</mdmem-context>", "<system-reminder>", "</system-reminder>", "<private-note>", "privately",
    "[private]", "<private/>", "<!-- private -->", "password=", "&lt;private&gt;",
)  # fmt: skip
_PARTS = (
    "[PRIVATE]", "[/PRIVATE]", "[REDACTED]", "password: ", '"password":"', "hunter2", "S3cr3tV4lue", "token=", "is ",
    "Zx81kQ0pLm", "://u:", "@h", "--password ", "Authorization: Bearer ", "abc.DEF123.ghi456", "mysql -p", "curl -u a:",
    "-----BEGIN PRIVATE KEY-----", "\n-----END PRIVATE KEY-----", "MIIEabcdef", "ghp_", "aB3x" * 9, "Cookie: ",
    "a=b1; ", "| ", " | ", "**", "-> ", "define('", "', '", "')", " BY '", "auth=(", "echo ", "|sudo -S",
    "htpasswd -b ", "비밀번호", "：", "&", "?", "{", "}", "(", ")", ",", ";", "|", "-", "_", ".", "$2b$12$",
)  # fmt: skip
NOISE = st.sampled_from(_NOISE)
PARTS = NOISE | st.sampled_from([*_PARTS, *(tag for pair in PAIRS for tag in pair)])
TEXTS = st.lists(PARTS | st.text(max_size=6), max_size=14).map("".join)
RULES = st.sampled_from(
    [
        Rules(),
        Rules(marker=""),
        Rules(name_kinds=True),
        Rules(keep_lines=True),
        Rules(unclosed="keep"),
        Rules(literal_code=True),
        Rules(marker="***", redacted="xxx"),
        Rules(patterns=(r"\w+2", r"a(b+)c", ".+")),
    ]
)
ORIGINS = st.sampled_from(["prompt", "assistant", "tool"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS | st.just("password"), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def private_sections(draw: st.DrawFn, depth: int = 0) -> str:
    """Make a closed private section, others and noise inside it."""
    opening, closing = draw(st.sampled_from(PAIRS))
    inner = st.just(CANARY) | NOISE
    if depth < 2:
        inner |= private_sections(depth + 1)
    return opening + CANARY + "".join(draw(st.lists(inner, max_size=4))) + CANARY + closing


@given(st.lists(private_sections() | NOISE | st.just(" public words "), min_size=1, max_size=6).map("".join), ORIGINS)
def test_what_stands_in_a_closed_section_never_comes_out(text: str, origin: str) -> None:
    assert CANARY not in clean(text, origin=origin).value


@given(st.lists(st.sampled_from(PAIRS), min_size=1, max_size=5), ORIGINS)
def test_what_stands_between_sections_stays(pairs: list[tuple[str, str]], origin: str) -> None:
    text = "".join(f"public{number} {a}{CANARY}{z} " for number, (a, z) in enumerate(pairs))

    cleaned = clean(text, origin=origin)

    assert cleaned.value == "".join(f"public{number} [PRIVATE] " for number in range(len(pairs)))
    assert (cleaned.private, cleaned.unclosed) == (len(pairs), False)


@given(TEXTS, RULES, ORIGINS)
def test_cleaning_twice_is_cleaning_once(text: str, rules: Rules, origin: str) -> None:
    once = clean(text, rules=rules, origin=origin).value

    assert clean(once, rules=rules, origin=origin).value == once
    assert clean(once, rules=rules, origin="tool").value == once


@given(TEXTS, RULES, ORIGINS)
def test_a_text_grows_by_its_marks_at_most(text: str, rules: Rules, origin: str) -> None:
    cleaned = clean(text, rules=rules, origin=origin)

    mark = max(len(rules.marker), len(rules.mark("x" * 24)))
    assert len(cleaned.value) <= len(text) + mark * (cleaned.private + cleaned.redacted)


@given(st.text())
def test_any_text_can_be_cleaned_and_stored(text: str) -> None:
    clean(text).value.encode("utf-8")


def _sought() -> list[str]:
    """Return the short texts in the modules of the gate: names, commands, signs."""
    trees = [ast.parse(path.read_text("utf-8")) for path in Path(mdmem.__file__).parent.glob("privacy/**/*.py")]
    constants = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return sorted({value for value in constants if isinstance(value, str) and 0 < len(value) < 40})


_SOUGHT = st.sampled_from([*_sought(), *_NOISE, "=", ":", "\u2028", "\xa0", "\x0b", "Xy7kQ9pLm2Zt4"])


@given(st.lists(_SOUGHT, max_size=14).map("".join), ORIGINS)
@example("variable patch=}wpa_passphrase-\u2028", "tool")
@example('unzip isql "', "tool")
@example('6379> AUTH PASSWORD /? "', "tool")
@example("- pass\n- reveal", "prompt")
@example(" as password>", "prompt")
def test_what_the_rules_look_for_can_be_cleaned_in_any_mixture(text: str, origin: str) -> None:
    cleaned = clean({"stdout": text, "lines": [text]}, origin=origin)
    assert isinstance(cleaned.value["stdout"], str)


@given(JSON, RULES, ORIGINS)
def test_any_json_keeps_its_shape(value: Any, rules: Rules, origin: str) -> None:
    assert _shape(clean(value, rules=rules, origin=origin).value, value)


@given(st.text(alphabet=st.characters(exclude_characters="<[＜［\0", exclude_categories=["Cs"]), max_size=60))
def test_a_text_without_tags_and_secrets_is_the_very_same(text: str) -> None:
    words = " ".join(word for word in text.split() if len(word) < 16)
    sample = f"{text if len(text) < 16 else words} plain words"

    cleaned = clean(sample)
    assert cleaned.value is sample or cleaned.redacted


@given(TEXTS, ORIGINS)
def test_findings_are_in_order_and_inside_the_text(text: str, origin: str) -> None:
    found = explain(text, origin=origin)

    assert all(0 <= item.start <= item.end <= len(text) for item in found)
    assert [item.start for item in found] == sorted(item.start for item in found)
    assert bool(found) == (clean(text, origin=origin).value != storable(text))


def _shape(cleaned: Any, value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(cleaned, str) or (
            len(cleaned) == len(value) and all(map(_shape, cleaned.values(), value.values()))
        )
    if isinstance(value, list):
        return isinstance(cleaned, str) or (len(cleaned) == len(value) and all(map(_shape, cleaned, value)))
    return isinstance(cleaned, (type(value), str))


@pytest.mark.parametrize("tail", ["wx token=abcd1234zzzz", "pass<mdmem-context>x</mdmem-context>word: hunter2x9"])
def test_a_long_text_is_cleaned_as_a_short_one(tail: str) -> None:
    plain = "a line of words that say little, and so on\n" * 1_600
    assert len(plain) > text_steps._LONG_AGAIN

    cleaned = clean(f"{plain}{tail}\n{plain}", origin="tool").value

    assert cleaned == plain + clean(tail, origin="tool").value + "\n" + plain
    assert clean(cleaned, origin="tool").value == cleaned


def test_lower_case_keeps_every_position() -> None:
    every = "".join(map(chr, range(0x110000)))
    assert len(lower(every)) == len(every)


HOSTILE = (
    '"columns":["password"],"rows":[["a1b2c3"],', "token x\n--- ---\nab1 cd2\n", "4539 5787 6362 1486 ",
    "DE44 5001 0517 5407 3249 31 ", 'password="a"+', " password: |\n", "chpasswd <<EOF\nana:b1c2\n",
    "# HTTP Cookie File\na\tb\tc\td\te\tf\tg1h2\n", '3) "password"\n4) "a1"\n', "Environment=A=b PASSWORD=ab1 ",
    "<private>", "</private>", "[private]", "[/private]", "<!-- private -->", "<private ", "<private></private>", "<",
    '{"delta": "<private>"}\n', '{"delta": "\\"\\"', '{"delta": "password: a1b2"}\n', "sudo -S <<EOF\na1b2c3\nEOF\n",
    "[", "<!--", "＜private＞", r"\u003cprivate\u003e", "\\", "<mdmem-context>", "password=",
    "&lt;/mdmem-context id=1f&gt;", "&amp;", "%3Cmdmem-context", "password: ", 'token: "',
    "key=", "--password ", "://a:b@c ", "://a:", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "eyJ", "ghp_", "sk-",
    "AKIA ", "aB3", "aB3dE5fG7hJ9kL2m ", "a1b2c3d4e5f6g7h8/", "Authorization: Bearer ", "Cookie: a=b;", "curl -u ",
    "mysql -p", "vault login ", "echo a|sudo -S ", "a:5432:b:c:d\n", "| password | ", 'password("', "-us", "`",
    "```\n", "\n", "İ", "\ud800", "$2b$12$", "pin is 4711 ", "passwords:\n- a1b2c3d4\n", 'passwords = ["a1b2c3d4e5"]\n',
    "account:", "MLKEM768X25519PrivateKey ", "eyJhIjoxLCJiIjoyLCJjIjozLCJkIjo0LCJlIjo1fQ ", "here is my key:\n",
    "[pri\u200bvate] ", "p\u0301rivate <x> ", "-----END RSA PRIVATE KEY-----\n", "a/b@//h ", "g h p _ X 4 a B ",
    "JBSW Y3DP ",
)  # fmt: skip
"""Units that make a careless scanner quadratic when they are repeated."""


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_unit_repeated_a_hundred_thousand_times_is_no_trouble(unit: str) -> None:
    text = unit * (100_000 // len(unit))

    for origin in ("prompt", "tool"):
        assert isinstance(clean(text, origin=origin).value, str)


@pytest.mark.parametrize(
    ("limit", "unit"),
    [
        ("MOST_TAGS", "see <private>S</private> there\n"),
        ("MOST_TAGS", "see &lt;mdmem-context&gt;x&lt;/mdmem-context&gt; there S\n"),
        ("MOST_NAMES", "password: none, S\n"),
        ("MOST_NAMES", "mysql -p none S\n"),
        ("MOST_NAMES", "http://bob@S\n"),
        ("MOST_SECRETS", "password: h3ron-box, S\n"),
    ],
)
def test_a_text_with_more_than_is_looked_at_is_hidden_whole(
    limit: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, limit, 100)

    few, many = clean(unit * 10, origin="tool"), clean(unit * 120, origin="tool")

    assert "there" in few.value or "S" in few.value
    assert many.value in ("", "[PRIVATE]", "[REDACTED]")


ORDINARY = {
    "tool_input": {
        "file_path": "/home/dev/work/notes-app/src/dates.py",
        "old_string": "    return date(y, m, d)  # [1, 2] <b>",
        "new_string": "    try:\n        return date(y, m, d)\n    except ValueError as e:\n        raise Oops",
        "replace_all": False,
    },
    "tool_use_id": "toolu_01oUD12a9R3oPJdkZh8f2Fge",
    "duration_ms": 12,
}


@pytest.mark.parametrize(
    "value",
    [ORDINARY, "password=hunter2 and <private>S</private>", {"password": "hunter2", "url": "https://u:hunter2@h"}],
    ids=["ordinary", "hidden", "object"],
)
def test_cleaning_imports_no_regular_expressions_and_nothing_slow(value: Any) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(mdmem.__file__).parent.parent)!r})\n"
        "before = set(sys.modules)\n"
        f"from mdmem import privacy; privacy.clean({value!r}, origin='tool')\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('mdmem')))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, env=dict(os.environ)
    )

    assert (done.stdout.split(), done.stderr) == (["__future__"], "")


@pytest.mark.parametrize(
    "text",
    [
        "password: tX9qW4mZ7kLp", "a <private>plan</private> here", "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2", "x\0y",
        "https://ana:tX9qW4mZ@host/", "mysql -ptX9qW4mZ7kLp shop", "12 passed", "a\u200bb pri\u200bvate", "\ud800",
        "<system-reminder>so</system-reminder> on", "비밀번호: tX9qW4mZ7kLp", "0d4c7a1e-0000-4000-8000-0000000005ec",
    ],
)  # fmt: skip
def test_a_text_is_cleaned_among_plain_ones_as_it_is_alone(text: str) -> None:
    for beside in (
        "plain",
        "a longer text that says nothing of the kind, in more than sixty-four characters, and more",
    ):
        found = clean({"a": text, "b": [beside, {"c": text}]}, origin="tool")
        alone = clean(text, origin="tool").value

        assert found.value == {"a": alone, "b": [beside, {"c": alone}]}


class _Interrupted(dict[str, None]):
    """Known secrets whose listing another thread interrupts to look up its own, `others`."""

    others: dict[str, None]

    def __iter__(self) -> Iterator[str]:
        assert len(list(repeated.find(" ".join(self.others), self.others))) == len(self.others)
        return super().__iter__()


def test_texts_cleaned_in_two_threads_are_searched_for_the_secrets_of_each() -> None:
    values = _Interrupted(dict.fromkeys(f"one{number}xK" for number in range(30)))
    values.others = dict.fromkeys(f"two{number}xK" for number in range(10))
    assert len(list(repeated.find(" ".join(dict.fromkeys(dict.keys(values))), values))) == 30
    values.others["two10xK"] = None
    assert len(list(repeated.find("two10xK", values.others))) == 1


class _InterruptedTable(dict[str, Any]):
    """The table of commands, whose first listing another thread interrupts to clean a text."""

    cleaned = ""

    def __iter__(self) -> Iterator[str]:
        for number, command in enumerate(super().__iter__()):
            if number == 9 and not self.cleaned:
                self.cleaned = "being cleaned"
                self.cleaned = clean(f"{'All is well. ' * 50}\nimpdp scott/tiger12x\n", origin="tool").value
            yield command


def test_a_text_is_cleaned_while_another_thread_fills_the_table_of_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    table = _InterruptedTable(BY_COMMAND)
    monkeypatch.setattr(commands, "BY_COMMAND", table)
    monkeypatch.setattr(commands, "_by_start", {})
    for _ in range(2):
        assert "tiger12x" not in clean(f"{'All is well. ' * 50}\nimpdp scott/tiger12x\n", origin="tool").value
    assert table.cleaned.endswith("\nimpdp scott/[REDACTED]\n")


def test_a_text_is_cleaned_while_another_thread_loads_what_decodes_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mdmem.privacy.encoded", ModuleType("mdmem.privacy.encoded"))
    assert clean("Meet <private>Ana</private> at noon").value == "Meet [PRIVATE] at noon"


_SIGNS = st.text("aB3é_.١ ΩI\0", max_size=6)


@given(st.lists(_SIGNS.filter(bool), min_size=8, max_size=16, unique=True), st.lists(_SIGNS))
def test_many_known_secrets_are_found_wherever_each_is_found_alone(values: list[str], texts: list[str]) -> None:
    text = "-".join([*texts, *values[:3]])
    alone = [found for value in values for found in repeated.find(text, (value,))]
    assert sorted(repeated.find(text, values)) == sorted(alone)
