"""Front matter: what is written is read back to the same values, by us, by PyYAML and by python-frontmatter."""

from __future__ import annotations

import re
from datetime import datetime

import frontmatter
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mdmem.errors import UsageError
from mdmem.history import private
from mdmem.vault import editing, front_matter, note, people, yaml_loader

HARD = [
    "yes", "no", "y", "N", "on", "Off", "null", "~", "true", "---", "...", "1e3", "1e-7", "0x1f", "0o7", "1_000",
    "12:30", "a: b", "a #b", "#a", "- a", "? a", "[a]", "{a}", "a, b", "*a", "&a", "!a", "|", ">", "'", '"', "%", "@",
    "`", "<<", "=",
    "2026-02-29", "2026-09-14T08:00:01Z", ".5", ".inf", "-1", "+1", "1234567890", "12e5678901", "0b10101010", "C:\\x",
    " a", "a ", "a:", "\ufeffa", "a\u2028b", "\u202eabc", "👩‍👩‍👧", "a\u200bb", "\x00", "\x85",
    "\ud800", "", "\t", "a\rb",
]  # fmt: skip
TEXTS = st.one_of(st.text(), st.sampled_from(HARD))
SCALARS = st.one_of(TEXTS, st.integers(-(10**30), 10**30), st.booleans(), st.floats(allow_nan=False))
VALUES = st.one_of(SCALARS, st.lists(SCALARS))


def whole(value: object) -> object:
    """Return what a file can hold of a value: half characters become U+FFFD."""
    if isinstance(value, str):
        return "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in value)
    return [whole(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=100)
@example({"list": ["path:/home/josé/a b", "", "ü, b", '"', "é],", "ö #"]})
@given(st.dictionaries(st.text(min_size=1, max_size=12).map(lambda key: str(whole(key))), VALUES, max_size=6))
def test_any_text_number_and_list_is_read_back_to_the_same_value(meta: dict[str, object]) -> None:
    meta = {key: value for key, value in meta.items() if key not in front_matter.TIMES}
    written = front_matter.render(meta)
    expected = {key: whole(value) for key, value in meta.items()}

    assert (yaml.safe_load(written[4:-4]) or {}) == expected
    assert frontmatter.parse(f"{written}\nbody") == (expected, "body")
    assert note.parse(f"{written}\nbody").meta == expected


def test_the_front_matter_of_a_memory_is_read_without_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_loader, "load", None)
    meta = {"weight": 0.5, "trust": 1.0, "feel_joy": 0.0, "version": 2, "tags": ["ghost", "ghost_owner:user:alice"]}

    assert front_matter.read(front_matter.render(meta)[4:-4]) == (meta, None)


@pytest.mark.parametrize("text", HARD)
def test_text_that_yaml_would_take_for_something_else_stays_text(text: str) -> None:
    assert yaml.safe_load(front_matter.render({"key": text, "list": [text]})[4:-4]) == {
        "key": whole(text),
        "list": [whole(text)],
    }


def test_an_id_or_a_uuid_stays_bare_when_no_yaml_takes_it_for_a_number() -> None:
    ids = ["7gk2q9m4x1", "00893aaf-19fa-41d2-8238-13269b9b3ca0", "1234567890", "12e5678901", "0x12345678"]
    assert [front_matter.render({"id": text}).split("\n")[1] for text in ids] == [
        "id: 7gk2q9m4x1",
        "id: 00893aaf-19fa-41d2-8238-13269b9b3ca0",
        'id: "1234567890"',
        'id: "12e5678901"',
        'id: "0x12345678"',
    ]


@pytest.mark.slow
def test_a_line_of_a_megabyte_is_written_and_read_back() -> None:
    text = "word " * 200_000 + "end"
    assert yaml.safe_load(front_matter.render({"title": text})[4:-4]) == {"title": text}


def test_a_time_is_written_as_a_time_and_only_under_its_own_keys() -> None:
    written = front_matter.render({"created": "2026-09-14T08:00:01Z", "title": "2026-09-14T08:00:01Z"})
    assert written == '---\ncreated: 2026-09-14T08:00:01Z\ntitle: "2026-09-14T08:00:01Z"\n---\n'
    assert note.parse(written).meta == {"created": "2026-09-14T08:00:01Z", "title": "2026-09-14T08:00:01Z"}


@pytest.mark.parametrize(
    "text",
    ["0000-01-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-00-10T00:00:00Z", "2026-13-01T00:00:00Z",
     "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "1900-02-29T00:00:00Z"],
)  # fmt: skip
def test_a_time_that_there_is_not_stays_a_text(text: str) -> None:
    assert yaml.safe_load(front_matter.render({"updated": text})[4:-4]) == {"updated": text}


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001
def test_every_time_that_there_is_is_written_as_one(moment: datetime) -> None:
    text = moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    assert front_matter.render({"updated": text}) == f"---\nupdated: {text}\n---\n"


@pytest.mark.parametrize(
    ("text", "meta", "body"),
    [
        ("no front matter\n", {}, "no front matter\n"),
        ("---\ntitle: a\n---\nbody", {"title": "a"}, "body"),
        ("\ufeff---\r\ntitle: a\r\n---\r\nbody\r\n", {"title": "a"}, "body\n"),
        ("---\ntitle: a\n---", {"title": "a"}, ""),
        ("---\n---\nbody", {}, "body"),
        ("---\ntags:\n  - a\n  - b\nwhen: 12:30\nday: 2026-09-14\n---\n\nbody", None, "body"),
    ],
)
def test_a_hand_written_note_is_read(text: str, meta: dict[str, object] | None, body: str) -> None:
    parsed = note.parse(text)
    assert parsed.problem is None
    assert parsed.body == body
    assert parsed.meta == ({"tags": ["a", "b"], "when": "12:30", "day": "2026-09-14"} if meta is None else meta)


@pytest.mark.parametrize(
    "header",
    [
        "a: &x [1]\nb: *x",
        "a: !!python/object:os.system {}",
        "a: !!timestamp x",
        "a: 1\na: 2",
        "[" * 100_000,
        "a: " + "[" * 40 + "]" * 40,
        "\n".join("  " * level + "a:" for level in range(60)),
        "- " * 20_000,
        "a: [",
        "just words\nand more",
        "a: 1\n\tb: 2",
        "x" * 70_000,
        "{}: 1",
        "a: " + "9" * 5_000 + "\nb: [",
    ],
)
def test_broken_or_hostile_front_matter_is_a_finding_and_the_body_is_kept(header: str) -> None:
    parsed = note.parse(f"---\n{header}\n---\n\nthe body\n")
    assert parsed.meta == {}
    assert parsed.problem is not None
    assert parsed.problem.startswith("line ")
    assert parsed.body == "the body\n"


def test_plain_front_matter_below_blank_lines_is_read_without_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_loader, "load", None)

    parsed = note.parse("\n\n---\nkind: note\ntags: [a, b]\n---\n")

    assert (parsed.meta, parsed.problem) == ({"kind": "note", "tags": ["a", "b"]}, None)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("a: 1\nb: Time: and place", "line 3: .* put a value with a colon and a space in quotes"),
        ("tags:\n\t- a", "line 3: .* use spaces, not tabs"),
        ("title:My note\ntags: [a]", "line 3: .*: put a space after the colon in the line above"),
        ("title: a\n  tags: [a]", "line 3: .* or indent this line like that one"),
        ("title:\ta", "line 2: .* use spaces, not tabs"),
        ("a: 1\nauthor: @ann", "line 3: .* put the value in quotes"),
        (r'path: "C:\projects"', "line 2: .* put a value with backslashes in single quotes"),
        ("a: 1\ntitle: *bold", "line 3: .*an anchor or alias"),
        ('a: 1\ntitle: "open', "line .*: a quotation mark is not closed"),
        ("tags: [one, two", "line .*: a bracket is not closed"),
        ("title: a\ntags: [b]\ntitle: c", "line 4: .*the key 'title' is repeated"),
    ],
)
def test_what_people_often_mistype_is_named_by_its_line_with_what_to_do(header: str, problem: str) -> None:
    assert re.match(problem, note.parse(f"---\n{header}\n---\n").problem or "")


def test_front_matter_that_is_never_closed_is_all_body() -> None:
    parsed = note.parse("---\ntitle: a\n\nthe text\n")
    assert parsed.body == "---\ntitle: a\n\nthe text\n"
    assert parsed.problem is not None


@given(st.binary())
def test_no_file_makes_reading_fail(data: bytes) -> None:
    assert isinstance(note.parse(b"---\n" + data).body, str)


@given(st.text(alphabet="a-`~:[]{}&*!\n \t'\"#?|>%@0"))
def test_no_header_makes_reading_fail(header: str) -> None:
    parsed = note.parse(f"---\n{header}\n---\nbody")
    assert parsed.problem is None or parsed.meta == {}


@example("title: |#a")
@example("title: >#a")
@example("[key: a?\x85]")
@example("title: \ufeff")
@given(st.lists(st.sampled_from([*"ab:-[]{},#'\"|>&*!%?@`~ \n\t\r\x85\ufeff", ": ", "\n- ", "\nkey: "])).map("".join))
def test_what_the_own_scanner_of_pyyaml_refuses_is_refused(header: str) -> None:
    try:
        list(yaml.parse(header, Loader=yaml.SafeLoader))
    except yaml.YAMLError:
        assert yaml_loader.load(header)[1] is not None


@pytest.mark.parametrize(
    ("header", "meta"),
    [
        ("private: 1\nprivate: true", {"private": True}),
        ("title: [\nPrivate: 'Yes'", {"private": True}),
        ("{id: x, private: true", {"private": True}),
        ('"sync": "no"\ntitle: [', {"sync": False}),
        ("private: secret\n\tx", {"private": True}),
        ("private: 2\nsync: true\ntitle: [", {}),
        ("private: false\nnot-private: true\ntitle: [", {}),
        ("x: " + "y" * 70_000 + "\nprivate: true", {"private": True}),
    ],
)
def test_broken_front_matter_still_keeps_its_note_private(header: str, meta: dict[str, object]) -> None:
    for text in (f"---\n{header}\n---\n\nthe body\n", f"---\r\n{header}\r\n---\r\n\r\nthe body\r\n"):
        parsed = note.parse(text)
        assert parsed.problem is not None
        assert parsed.meta == meta
        assert private.stays("notes/a.md", text.encode(), frozenset()) is bool(meta)


def test_front_matter_that_is_never_closed_still_keeps_its_note_private() -> None:
    parsed = note.parse("---\ntitle: a\nprivate: true\n\nthe text\n")
    assert parsed.meta == {"private": True}


@pytest.mark.parametrize("header", ["{id: x, private: true}", '"private": true', "private : yes", "sync: off"])
def test_a_note_stays_on_its_machine_however_its_front_matter_is_written(header: str) -> None:
    text = f"---\n{header}\n---\n\nthe body\n"
    assert note.parse(text).problem is None
    assert private.stays("notes/a.md", text.encode(), frozenset())


@pytest.mark.parametrize(
    "head",
    [
        "--- \n{}--- \n",
        "---\t\n{}---\n",
        "---\n{}---  \n",
        "\n---\n{}---\n",
        " \n\n---\n{}---\n",
        "---\n{}--- \n\n---\n",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_white_space_around_the_dashes_hides_no_front_matter(head: str, newline: str) -> None:
    text = f"{head.format('private: true' + chr(10))}\nthe body\n".replace("\n", newline)

    parsed = note.parse(text)

    assert (parsed.meta, parsed.problem) == ({"private": True}, None)
    assert frontmatter.parse(text.replace("\r\n", "\n"))[0] == {"private": True}
    assert private.stays("notes/a.md", text.encode(), frozenset())


@pytest.mark.parametrize(
    "text",
    [
        "---yaml\nprivate: true\n---\n",
        "--- # mine\ntags: [private]\n---\n",
        "\n---\nSome words\nprivate: true\n---\n",
        "---\rprivate: true\r---\rthe body\r",
        "---\ra: b\rtags: [private]\r---\rthe body\r",
        "---\na: b\n---\n\n---\nprivate: true\n---\n",
        "---\na: b\n---\n+++\nprivate = true\n+++\n",
        "---\nprivate: false\n---\n---\nprivate: true\n---\n",
        "---\na: b\n---x: y\nprivate: true\n---\n",
        "---\n--- \nprivate: true\n---\n",
        "\n---\n---\n\nsync: true\ntags: [private]\n---\n",
        "\ufeff\n---\nprivate: true\n---\n",
        "---yaml\n" + "a: b\n" * 2000 + "private: true\n---\n",
    ],
)
def test_what_may_be_meant_as_front_matter_keeps_its_note_private(text: str) -> None:
    assert people.keeps_private(note.parse(text).meta)
    assert private.stays("notes/a.md", text.encode(), frozenset())


_LINES = [
    "---",
    "--- ",
    " ---",
    "---yaml",
    "+++",
    "",
    "text",
    "a: b",
    "private: true",
    "sync: false",
    "\ufeff",
    "-",
    "\xa0",
]


@given(st.lists(st.sampled_from(_LINES), max_size=7), st.sampled_from(["\n", "\r\n", "\r"]))
@example(["---x", "---", "private: true", "---"], "\n")
@example(["+++", "---", "sync: false", "+++"], "\n")
@example(["---", "a: b", "---", "\xa0", "---", "private: true", "---"], "\n")
@example(["---", "\u2003", "---", "private: true", "---"], "\n")
def test_no_quick_look_at_a_file_misses_that_its_note_stays(lines: list[str], newline: str) -> None:
    text = newline.join([*lines, ""])

    assert private.stays("notes/a.md", text.encode(), frozenset()) == people.stays_here(note.parse(text).meta)


def test_front_matter_that_a_captured_note_quotes_does_not_keep_it_private() -> None:
    text = "---\nid: a1b2c3d4e5\nkind: prompt\ndigest: 0a1b2c3d\n---\n\n---\nprivate: true\n---\n\nIs this right?\n"

    assert not people.keeps_private(note.parse(text).meta)


def test_a_note_with_second_front_matter_is_pinned_and_stays_private() -> None:
    data = b"---\na: b\n---\n---\nprivate: true\n---\nbody\n"

    assert editing.set_keys(data, {"pinned": True}) == data.replace(b"a: b\n", b"a: b\npinned: true\n")
    with pytest.raises(UsageError, match="in your editor"):
        editing.set_keys(data, {"private": False})


@pytest.mark.parametrize("text", ["---", "--- a\nb: c\n---\n", "\n---\nSome words: a\n---\n", "    ---\nb: c\n---\n"])
def test_a_line_of_dashes_that_begins_no_front_matter_is_text(text: str) -> None:
    assert note.parse(text).body == text
    assert note.parse(text).problem is None


def test_front_matter_in_toml_is_a_problem_and_keeps_its_note_private() -> None:
    text = '+++\ntitle = "a"\nprivate = true\n+++\n\nthe text\n'

    parsed = note.parse(text)

    assert (parsed.meta, parsed.body) == ({"private": True}, text)
    assert parsed.problem == "line 1: the front matter is TOML; write it as YAML, between two lines `---`"


def test_a_problem_below_blank_lines_is_told_with_its_line_in_the_file() -> None:
    problem = note.parse("\n\n---\na: b\na: c\n---\n").problem

    assert problem == "line 5: the front matter cannot be read (the key 'a' is repeated)"


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("tags: [#a, #b]", "a bracket is not closed; text with a `#` needs quotes"),
        ("a: b\ntitle: \x0b", "line 3: the front matter contains a character that YAML does not allow ('\\x0b')"),
    ],
)
def test_what_makes_front_matter_unreadable_is_told_in_plain_words(header: str, problem: str) -> None:
    assert problem in (front_matter.read(f"{header}\n")[1] or "")


@given(st.text(alphabet="ab`\n"))
def test_text_cannot_leave_its_fence(text: str) -> None:
    lines = note.fence(text).splitlines()
    assert lines[0] == lines[-1]
    assert not any(line.strip() == lines[0] for line in lines[1:-1])


def test_a_list_that_was_read_belongs_to_its_reader() -> None:
    header = "kind: prompt\ntags: [a, b]\n"
    first, _ = front_matter.read(header)
    first["tags"].append("c")

    assert front_matter.read(header) == ({"kind": "prompt", "tags": ["a", "b"]}, None)


def test_a_line_that_was_read_before_is_refused_where_its_key_comes_twice() -> None:
    assert front_matter.read("kind: prompt\n") == ({"kind": "prompt"}, None)

    assert front_matter.read("kind: prompt\nkind: prompt\n")[1]
