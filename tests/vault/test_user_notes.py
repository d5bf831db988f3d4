"""Notes that people and agents write themselves, and front matter changed in place."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import frontmatter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config
from mdmem.config import Config
from mdmem.errors import NotFoundError, UsageError
from mdmem.vault import editing, layout, note, user_notes

NOW = 1_789_372_801.0

HAND_WRITTEN = """\
---
# what this is about
title: "Dates: why UTC"   # keep the colon
tags:   # mine
  - dates  # first
  # the second one is important
  - 'time zones'
aliases:
- utc
- gmt
summary: |
  one

  two
files: [src/a.py,
  src/b.py]  # both
empty:
"quoted key": 3
last: a plain text
  that goes on
# the end
---
Body with trailing spaces  \n\n---\nand a rule
"""


@pytest.fixture
def settings(vault: Path) -> Config:
    return config.load(str(vault))


def put(vault: Path, text: str | bytes, path: str = "notes/mine.md") -> str:
    file = vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# -- front matter in place -------------------------------------------------------------------------


def changed(text: str, **changes: Any) -> str:
    return editing.set_keys(text.encode(), changes).decode()


def test_a_value_is_replaced_where_it_stands_and_its_comment_stays() -> None:
    text = changed(HAND_WRITTEN, title="Dates: in UTC")

    assert text == HAND_WRITTEN.replace('"Dates: why UTC"', '"Dates: in UTC"')


def test_a_new_key_comes_last() -> None:
    assert changed(HAND_WRITTEN, pinned=True) == HAND_WRITTEN.replace("# the end\n", "# the end\npinned: true\n")


def test_a_key_goes_with_all_of_its_lines() -> None:
    text = changed(HAND_WRITTEN, summary=None, last=None)

    expected = HAND_WRITTEN.replace("summary: |\n  one\n\n  two\n", "")
    assert text == expected.replace("last: a plain text\n  that goes on\n", "")


def test_a_list_with_one_item_a_line_keeps_the_lines_that_stay() -> None:
    text = changed(HAND_WRITTEN, tags=["time zones", "decision: final"], aliases=["utc", "gmt", "zulu"])

    expected = HAND_WRITTEN.replace("  - dates  # first\n", "")
    expected = expected.replace("  - 'time zones'\n", "  - 'time zones'\n  - \"decision: final\"\n")
    assert text == expected.replace("- gmt\n", "- gmt\n- zulu\n")


def test_an_empty_value_is_filled_in() -> None:
    assert changed(HAND_WRITTEN, empty="full") == HAND_WRITTEN.replace("empty:\n", "empty: full\n")


def test_the_same_values_change_nothing() -> None:
    values = {key: value for key, value in note.parse(HAND_WRITTEN).meta.items() if value is not None}

    assert changed(HAND_WRITTEN, **values) == HAND_WRITTEN
    assert changed("no front matter", gone=None) == "no front matter"


def test_a_file_without_front_matter_gets_one_and_keeps_its_text() -> None:
    assert changed("\ufeffhello\r\nyou", pinned=True) == "\ufeff---\r\npinned: true\r\n---\r\n\r\nhello\r\nyou"


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: [\n---\n",
        "---\ntitle: never closed\n",
        "---\n{title: in braces}\n---\n",
        "---\n? title\n: with a question mark\n---\n",
        "---\ntitle: a\ntitle: b\n---\n",
        "---\nbase: &a 1\ntitle: *a\n---\n",
        "---\n- a list\n---\n",
        "---\ntitle: " + "[" * 100_000 + "\n---\n",
    ],
)
def test_front_matter_that_cannot_be_changed_in_place_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="front matter"):
        changed(text, title="new")


KEYS = st.text("abcdefgh_", min_size=1, max_size=6)
WORDS = st.text("abc :#'\"-[]{},äö漢\u2028🙂", max_size=20)
COMMENTS = st.sampled_from(["", "  # note", " # a: b"])


@st.composite
def entries(draw: st.DrawFn, key: str) -> str:
    value = draw(WORDS)
    quoted = "'" + value.replace("'", "''") + "'"
    comment = draw(COMMENTS)
    return draw(
        st.sampled_from(
            [
                f"{key}: {quoted}{comment}\n",
                f"'{key}' :   {quoted}\n",
                f"{key}:{comment}\n",
                f"{key}: true{comment}\n",
                f"{key}: [1, {quoted}, x]{comment}\n",
                f"{key}: [1,\n  {quoted}]\n",
                f"{key}:{comment}\n  - {quoted}{comment}\n  # between\n  - b\n",
                f"{key}:\n- a\n- {quoted}\n",
                f"{key}: >-\n  folded\n  text\n",
                f"{key}: |\n  kept\n   as is\n",
                f"{key}: plain\n  goes on\n",
                f"{key}:\n  deep:\n    - er: 1\n",
                f"{key}: 2026-09-14\n",
                f"{key}: 1.5\n",
            ]
        )
    )


@st.composite
def headers(draw: st.DrawFn) -> tuple[list[str], dict[str, int]]:
    """Front matter as blocks of lines, and which block is which key's."""
    blocks: list[str] = []
    places: dict[str, int] = {}
    for key in draw(st.lists(KEYS, unique=True, max_size=6)):
        blocks.append(draw(st.sampled_from(["", "# comment\n", "#\n", ""])))
        places[key] = len(blocks)
        blocks.append(draw(entries(key)))
    return [*blocks, draw(st.sampled_from(["", "# the end\n"]))], places


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**6),
    st.floats(0, 1),
    WORDS,
    st.lists(st.one_of(WORDS, st.just("b")), max_size=4),
)


@given(front=headers(), key=KEYS, value=VALUES, body=st.binary(max_size=30), crlf=st.booleans(), bom=st.booleans())
def test_every_byte_that_is_not_the_keys_stays(
    front: tuple[list[str], dict[str, int]], key: str, value: Any, body: bytes, crlf: bool, bom: bool
) -> None:
    blocks, places = front
    place = places.get(key, len(blocks))

    def raw(text: str) -> bytes:
        return (text.replace("\n", "\r\n") if crlf else text).encode()

    head = (b"\xef\xbb\xbf" if bom else b"") + raw("---\n" + "".join(blocks[:place]))
    tail = raw("".join(blocks[place + 1 :]) + "---\n") + body
    data = head + raw("".join(blocks[place : place + 1])) + tail
    before = note.parse(data)

    after = editing.set_keys(data, {key: value})

    assert after.startswith(head)
    assert after.endswith(tail)
    parsed = note.parse(after)
    assert parsed.problem is None
    assert parsed.body == before.body
    expected = {name: held for name, held in {**before.meta, key: value}.items() if name != key or value is not None}
    assert parsed.meta == expected
    if value is None and key in places:
        assert after == head + tail


@given(data=st.binary(max_size=200), key=KEYS, value=VALUES)
def test_any_bytes_are_changed_rightly_or_refused(data: bytes, key: str, value: Any) -> None:
    for text in (data, b"---\n" + data, b"---\n" + data + b"\n---\nbody"):
        try:
            after = editing.set_keys(text, {key: value})
        except UsageError:
            continue
        assert note.parse(after).meta.get(key) == value
        assert note.parse(after).body == note.parse(text).body


# -- new notes -------------------------------------------------------------------------------------


def test_a_note_is_written_with_its_front_matter(vault: Path, settings: Config) -> None:
    written = user_notes.add(
        settings, "Times in UTC", "Because.\n", project="acme", tags=["#decision", "time zones"], pinned=True, now=NOW
    )

    assert written.path == f"notes/2026-09-14-times-in-utc-{written.id}.md"
    read = frontmatter.load(str(vault / written.path))
    assert read.content == "Because."
    assert read.metadata["tags"] == ["decision", "time-zones"]
    assert (read["kind"], read["project"], read["pinned"], read["id"]) == ("note", "acme", True, written.id)
    assert (vault / written.path).stat().st_mode & 0o777 == 0o600


def test_a_note_without_a_title_takes_its_first_line(vault: Path, settings: Config) -> None:
    written = user_notes.add(settings, "", "<private>x</private>\n# Use tabs\nalways", now=NOW)

    assert note.parse((vault / written.path).read_bytes()).meta["title"] == "Use tabs"


def test_a_task_to_tick_is_a_title_without_its_box(vault: Path, settings: Config) -> None:
    written = user_notes.add(settings, "", "- [x] call the bank\n- [ ] write to them", now=NOW)

    assert note.parse((vault / written.path).read_bytes()).meta["title"] == "call the bank"


def test_the_same_note_twice_in_a_second_is_one_note(vault: Path, settings: Config) -> None:
    first = user_notes.add(settings, "a", "b", now=NOW)
    again = user_notes.add(settings, "a", "b", now=NOW + 0.3)
    other = user_notes.add(settings, "a", "c", now=NOW)

    assert first == again != other
    assert len(list((vault / "notes").iterdir())) == 2


def test_what_is_private_reaches_no_file(vault: Path, settings: Config, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    written = user_notes.add(
        settings,
        "the <private>canary</private> plan",
        f"token {secret} and <private>canary</private>",
        tags=["<private>canary</private>"],
        source=secret,
        now=NOW,
    )
    user_notes.append(settings, written.path, f"more <private>canary</private> {secret}")
    user_notes.set_keys(settings, written.path, {"why": f"<private>canary</private> {secret}"})
    user_notes.add_tags(settings, written.path, ["x<private>canary</private>"])

    for file in tmp_path.rglob("*"):
        assert b"canary" not in file.name.encode()
        if file.is_file():
            assert b"canary" not in file.read_bytes()
            assert secret.encode() not in file.read_bytes()


@pytest.mark.parametrize("body", ["", "  \n", "<private>all of it</private>"])
def test_nothing_to_store_is_refused(vault: Path, settings: Config, body: str) -> None:
    with pytest.raises(UsageError, match="nothing to store"):
        user_notes.add(settings, "", body, now=NOW)

    assert not (vault / "notes").exists()


def test_a_note_too_long_is_refused_and_not_cut(settings: Config) -> None:
    with pytest.raises(UsageError, match="at most 56 KiB; this is 78 KiB"):
        user_notes.add(settings, "long", "data " * 16_000, now=NOW)


@pytest.mark.parametrize("folder", ["../out", "notes/../../out", "internal/ghost", "a\0b"])
def test_a_note_stays_in_its_place(settings: Config, folder: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"is not the name|are not kept"):
        user_notes.add(settings, "a", "b", folder=folder, now=NOW)

    assert not (tmp_path / "out").exists()


# -- adding to notes -------------------------------------------------------------------------------


@given(data=st.sampled_from([b"", b"one", b"one\n", b"one\n\n", b"one\r\n", b"---\ntitle: a\n---\n\none\n", b"\xff\n"]))
def test_what_is_added_comes_after_every_byte_that_was_there(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    vault = tmp_path_factory.mktemp("vault")
    path = put(vault, data)

    user_notes.append(config.load(str(vault)), path, "two\nlines\n")

    after = (vault / path).read_bytes()
    assert after.startswith(data)
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    assert after.endswith(b"two" + newline + b"lines" + newline)
    if data:
        assert after.replace(b"\r\n", b"\n").endswith(b"\n\ntwo\nlines\n")


@pytest.mark.parametrize("kind", ["prompt", "observation", "response", "session", "project", "summary"])
def test_captured_notes_are_not_added_to(vault: Path, settings: Config, kind: str) -> None:
    path = put(vault, f"---\nid: 7gk2q9m4x1\nkind: {kind}\n---\n\ntext\n")

    with pytest.raises(UsageError, match="captured"):
        user_notes.append(settings, path, "more")

    assert (vault / path).read_text().endswith("\ntext\n")


def test_a_captured_note_whose_front_matter_is_gone_is_not_added_to(vault: Path, settings: Config) -> None:
    path = put(vault, "text\n", "journal/p/2026-09-14/0800-x-1/001-000-prompt-x.md")

    with pytest.raises(UsageError, match="captured"):
        user_notes.append(settings, path, "more")


@pytest.mark.parametrize("text", ["", "---\nkind: ghost", "---\ntitle: never closed"])
def test_added_text_never_becomes_front_matter(vault: Path, settings: Config, text: str) -> None:
    path = put(vault, text)

    with pytest.raises(UsageError):
        user_notes.append(settings, path, "---\ntags: [ghost]\n---\n")

    assert (vault / path).read_text() == text


@pytest.mark.parametrize(
    "path",
    [
        "notes/none.md",
        "none/none.md",
        "internal/ghost/user/alice/a.md",
        "INTERNAL/x.md",
        "../out.md",
        "mdmem.toml",
        ".a.md",
    ],
)
def test_what_is_no_note_of_the_users_is_not_found(vault: Path, settings: Config, path: str) -> None:
    put(vault, "x", "internal/ghost/user/alice/a.md")
    put(vault, "x", "../out.md")

    for call in (
        lambda: user_notes.append(settings, path, "more"),
        lambda: user_notes.set_keys(settings, path, {"pinned": True}),
        lambda: user_notes.add_tags(settings, path, ["a"]),
    ):
        with pytest.raises(NotFoundError):
            call()


def test_a_link_in_the_vault_is_not_followed(vault: Path, settings: Config, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine")
    (vault / "notes").mkdir()
    (vault / "notes" / "link.md").symlink_to(outside)

    with pytest.raises(NotFoundError):
        user_notes.append(settings, "notes/link.md", "more")

    assert outside.read_text() == "mine"


# -- tags and keys on disk -------------------------------------------------------------------------


def test_tags_come_and_go_on_any_note(vault: Path, settings: Config) -> None:
    path = put(vault, "---\nkind: prompt\ntags: [prompt, a]  # mine\n---\ntext\n")

    assert user_notes.add_tags(settings, path, ["#b", "+a", "two words"]) == ["prompt", "a", "b", "two-words"]
    assert user_notes.remove_tags(settings, path, ["a", "none"]) == ["prompt", "b", "two-words"]
    assert (vault / path).read_text() == "---\nkind: prompt\ntags: [prompt, b, two-words]  # mine\n---\ntext\n"
    assert user_notes.remove_tags(settings, path, ["prompt", "b", "two-words"]) == []
    assert (vault / path).read_text() == "---\nkind: prompt\n---\ntext\n"


def test_the_very_tag_is_removed_if_it_was_written_by_hand(vault: Path, settings: Config) -> None:
    path = put(vault, '---\ntags: ["two words", two-words, "a, b", x, y]\n---\n')

    assert user_notes.remove_tags(settings, path, ["two words", "a, b"]) == ["two-words", "x", "y"]
    assert user_notes.remove_tags(settings, path, ["two words", "#x"]) == ["y"]


@pytest.mark.parametrize("tags", ["{project: x}", "5"])
def test_tags_in_another_form_are_not_replaced(vault: Path, settings: Config, tags: str) -> None:
    path = put(vault, f"---\ntags: {tags}\n---\n")

    with pytest.raises(UsageError, match="neither a list nor words"):
        user_notes.add_tags(settings, path, ["a"])

    assert (vault / path).read_text() == f"---\ntags: {tags}\n---\n"


def test_an_empty_item_in_a_list_of_tags_is_no_tag(vault: Path, settings: Config) -> None:
    path = put(vault, "---\ntags:\n  -\n---\n")

    assert user_notes.add_tags(settings, path, ["a"]) == ["a"]


def test_a_note_in_utf_16_is_not_changed(vault: Path, settings: Config) -> None:
    path = put(vault, "")
    data = "A title\n\nWords.\n".encode("utf-16")
    (vault / path).write_bytes(data)

    for change in (lambda: user_notes.append(settings, path, "x"), lambda: user_notes.add_tags(settings, path, ["a"])):
        with pytest.raises(UsageError, match="UTF-16"):
            change()

    assert (vault / path).read_bytes() == data


def test_white_space_around_the_dashes_stays() -> None:
    assert changed("\n--- \na: b\n---\t\nbody\n", pinned=True) == "\n--- \na: b\npinned: true\n---\t\nbody\n"


def test_tags_written_as_words_are_understood(vault: Path, settings: Config) -> None:
    path = put(vault, "---\ntags: one, two\n---\n")

    assert user_notes.add_tags(settings, path, ["three"]) == ["one", "two", "three"]


def test_a_broken_header_is_refused_with_its_place(vault: Path, settings: Config) -> None:
    path = put(vault, "---\ntitle: [\n---\ntext\n")

    with pytest.raises(UsageError, match="line 3"):
        user_notes.set_keys(settings, path, {"pinned": True})

    assert (vault / path).read_text() == "---\ntitle: [\n---\ntext\n"


def test_setting_what_is_set_already_writes_nothing(vault: Path, settings: Config) -> None:
    path = put(vault, "---\npinned: true\n---\n")
    before = (vault / path).stat()

    assert user_notes.set_keys(settings, path, {"pinned": True}) is False
    assert user_notes.set_keys(settings, path, {"pinned": False}) is True

    assert (vault / path).stat().st_ino != before.st_ino


@pytest.mark.slow
def test_changes_at_the_same_time_are_all_kept(vault: Path, settings: Config) -> None:
    path = put(vault, "start\n")

    def work(number: int) -> None:
        for turn in range(5):
            user_notes.append(settings, path, f"line {number} {turn}")
            user_notes.set_keys(settings, path, {f"key{number}x{turn}": turn})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    read = note.parse((vault / path).read_bytes())
    assert len(read.meta) == 40
    assert all(f"line {number} {turn}\n" in read.body for number in range(8) for turn in range(5))


def test_notes_are_written_by_month_once_there_are_many(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MANY", 2)
    settings = config.load(str(vault))

    paths = [user_notes.add(settings, f"Note {number}", "Words.", now=NOW + number).path for number in (1, 2, 2, 3)]

    assert [path.rpartition("/")[0] for path in paths] == ["notes", "notes", "notes", "notes/2026/09"]
    assert len(set(paths)) == len(list(vault.rglob("*-note-?-*.md"))) == 3
