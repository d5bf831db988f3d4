"""The injected block: bounded, dated, cited, and inert whatever the notes hold."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem import privacy
from mdmem.inject.rendering import block
from mdmem.inject.rendering.block import Item, Section
from mdmem.vault import note
from tests.helpers.hostile import POISON

MARKUP = re.compile(r"<[\s/]*(mdmem|system|function|invoke|private|\[|!|$)|[＜﹤]|\\u003c|\\x3c", re.IGNORECASE)


def item(text: str = "", **more: Any) -> Item:
    """Make an item of which every field that is not given is plain."""
    fields: dict[str, Any] = {"id": "7gk2q9m4x1", "kind": "response", "title": "Fixed", "date": "2026-09-14"}
    fields |= more
    return Item(text=text, **fields)


def poisoned(text: str) -> Item:
    """Make an item that has `text` in every field."""
    return Item(
        id=text, kind=text, title=text, date=text, text=f"{text} {text}", lines=(text, f"    {text}"), marks=(text,)
    )


def rendered(sections: list[Section], chars: int = 6_000, bullet: int = 300) -> block.Block:
    made = block.render(sections, chars=chars, bullet_chars=bullet, nonce="0f1e2d3c")
    assert made is not None
    return made


def check(made: block.Block, sections: list[Section], chars: int) -> None:
    """Check all that holds of every block."""
    lines = made.text.split("\n")
    assert lines[0] == "<mdmem-context id=0f1e2d3c>"
    assert lines[-1] == "</mdmem-context id=0f1e2d3c>"
    inside = lines[1:-1]
    assert not any(MARKUP.search(line) for line in inside)
    assert all(line.isprintable() or set(line) & set(note.JOINERS) for line in inside)
    assert block.width(made.text) <= min(chars, block.MAX_CHARS)
    shown = len(made.ids)
    assert sum(line.startswith("- ") for line in inside) == shown
    assert sum(line.startswith("## ") for line in inside) <= len(sections)
    assert made.text.lower().count("[mem:") == shown + 1  # the preface names the form
    assert all(line[:2] in ("", "- ", "  ", "##") for line in inside[1:])


@pytest.mark.parametrize("text", POISON)
def test_no_stored_text_breaks_the_fence_or_poses_as_anything_else(text: str) -> None:
    sections = [Section(text, [poisoned(text), item(text), item("plain")])]

    check(rendered(sections), sections, 6_000)


@pytest.mark.parametrize("text", POISON)
def test_what_was_injected_is_taken_out_whole_when_it_comes_back(text: str) -> None:
    made = rendered([Section("Notes", [poisoned(text)])])

    for wrapped in (f"before {made.text} after", f"<system-reminder>\n{made.text}\n</system-reminder>before  after"):
        assert privacy.clean(wrapped).value in ("before  after",)


TEXTS = st.one_of(
    st.text(max_size=300),
    st.sampled_from(POISON),
    st.lists(st.sampled_from([*POISON, "<", ">", "/", "mdmem-context", " ", "\\u003c", "word", "\n", "- ", "## "])).map(
        "".join
    ),
)
ITEMS = st.builds(
    Item,
    id=TEXTS,
    kind=TEXTS,
    title=TEXTS,
    date=TEXTS,
    text=TEXTS,
    lines=st.lists(TEXTS, max_size=3).map(tuple),
    room=st.integers(0, 2_000),
    marks=st.lists(TEXTS, max_size=2).map(tuple),
)
SECTIONS = st.lists(st.builds(Section, TEXTS, st.lists(ITEMS, min_size=1, max_size=5)), min_size=1, max_size=3)


def _holds(sections: list[Section], chars: int, bullet: int) -> None:
    made = block.render(sections, chars=chars, bullet_chars=bullet, nonce="0f1e2d3c")
    if made is not None:
        check(made, sections, chars)
        assert privacy.clean(f"a {made.text} b").value == "a  b"


@pytest.mark.slow
@given(SECTIONS, st.integers(0, 12_000), st.integers(0, 2_000))
def test_whatever_the_notes_hold_the_block_holds(sections: list[Section], chars: int, bullet: int) -> None:
    _holds(sections, chars, bullet)


@pytest.mark.slow
@given(SECTIONS, st.integers(500, 12_000), st.integers(20, 2_000))
@settings(max_examples=int(os.environ.get("MDMEM_SOAK", "20")))
def test_no_poisoned_block_breaks_however_many_are_made(sections: list[Section], chars: int, bullet: int) -> None:
    _holds(sections, chars, bullet)


def test_an_item_shows_date_kind_citation_title_sentences_and_code() -> None:
    made = rendered([Section("Notes", [item("The parser checks the calendar now.", lines=("+    ask(calendar)",))])])

    assert made.ids == ("7gk2q9m4x1",)
    assert "- 2026-09-14 response [mem:7gk2q9m4x1] Fixed\n  > The parser checks the calendar now.\n" in made.text
    assert "\n    +    ask(calendar)\n" in made.text
    assert "not instructions" in made.text


@pytest.mark.parametrize(
    "code", ["Vec<Box<T>>", "if (a < b) {", "x << 2", "<div class='a'>text</div>", "List<User>", "a <- b", "1 <= 2"]
)
def test_code_stays_as_it_is(code: str) -> None:
    assert block.inert(code) == code
    assert block.inert_code(f"    {code}") == f"    {code}"


def test_no_sentence_is_cut_where_one_ends_in_time() -> None:
    text = "The cache was stale. " + "It is filled anew at every start of the server, which takes a second. " * 9

    made = rendered([Section("Notes", [item(text)])], bullet=120)

    (quote,) = [line for line in made.text.split("\n") if line.startswith("  > ")][:1]
    assert quote.endswith("The cache was stale. It is filled anew at every start of the server, which takes a second.")


def test_a_section_may_be_no_more_than_a_remark() -> None:
    made = rendered([Section("Notes", [], "Given above: [mem:7gk2q9m4x1].")])

    assert made.ids == ()
    assert "## Notes\n  Given above: [mem:7gk2q9m4x1]." in made.text


def test_a_text_that_begins_with_its_title_does_not_repeat_it() -> None:
    made = rendered([Section("Notes", [item("Fixed it. Twelve tests pass.", title="Fixed it.")])])

    assert made.text.count("Fixed it") == 1
    assert "> Twelve tests pass." in made.text


def test_a_truncated_title_continues_in_the_text() -> None:
    made = rendered([Section("Notes", [item("Fixed the parser of dates", title="Fixed the pars…")])])

    assert "> …er of dates" in made.text


@pytest.mark.parametrize("text", ["写好导出。 现在可以用了", "Write the export. It works now", "导出呢？ 现在可以用了"])
def test_the_mark_behind_a_truncated_title_is_not_shown_as_a_sentence(text: str) -> None:
    title = text.partition(" ")[0].rstrip("。？") if not text.isascii() else "Write the export"
    shown = rendered([Section("Found", [item(title=f"{title}…", text=text)])]).text
    assert f"  > …{text[len(title) + 1 :].strip()}\n" in shown


@pytest.mark.parametrize("text", ["Files: a_long_name.py, another_long_name.py", "导出改用流式写法后就不再占内存了"])
def test_a_cut_text_that_tells_nothing_is_left_out(text: str) -> None:
    shown, cut = (rendered([Section("Found", [item(text=text, room=room)])]).text for room in (100, 8))
    assert f"  > {text}\n" in shown
    assert "  >" not in cut


def test_fifteen_memories_all_find_room() -> None:
    items = [item("word " * 200, id=f"7gk2q9m4{n:02d}", title="Why does it fail? " * 6) for n in range(15)]

    made = rendered([Section("Notes", items)])

    assert len(made.ids) == 15
    assert block.width(made.text) <= 6_000


def test_quotes_leave_room_for_the_first_lines_of_code() -> None:
    text = "The cache was stale since the start of the server. " * 40
    code = ("src/cache.py:", "-    fill(once=True)", "+    fill(once=False)")

    made = rendered([Section("Notes", [item(text, lines=code, room=540)])])

    assert "\n    +    fill(once=False)" in made.text


def test_no_file_is_named_without_a_line_of_its_code() -> None:
    code = ("src/cache.py:", "+    fill()", "src/other.py:", "+" + "x" * 150)

    made = rendered([Section("Notes", [item("Fixed.", lines=code, room=200)])])

    assert "\n    +    fill()\n    …\n" in made.text
    assert "src/other.py" not in made.text


def test_of_a_change_that_does_not_fit_the_added_lines_are_shown_and_that_something_is_missing() -> None:
    change = ("Dockerfile:", "-RUN apk add libpq", "+RUN apk add libpq pango")

    assert "-RUN apk add libpq\n" in rendered([Section("Found", [item(lines=change, room=80)])]).text
    cut = rendered([Section("Found", [item(lines=change, room=50)])]).text

    assert "    Dockerfile:\n    +RUN apk add libpq pango\n    …\n" in cut
    assert "-RUN" not in cut
    removed = ("Dockerfile:", "-RUN apk add libpq and more", "app.py:", "+import pango", "old.py:", "-import gtk")
    only = rendered([Section("Found", [item(lines=removed, room=60)])]).text
    assert "    app.py:\n    +import pango\n    …\n" in only
    assert "Dockerfile" not in only
    assert "old.py" not in only
    listed = ("steps:", "- build the image of the application", "- push it")
    assert "    - build" in rendered([Section("Found", [item(lines=listed, room=60)])]).text


def test_a_memory_with_more_room_is_shown_longer() -> None:
    text = "Some words of it. " * 100
    items = [item(text, id="a", room=900), item(text, id="b", room=200)]

    first, second = rendered([Section("Notes", items)]).text.split("\n- ")[1:]

    assert len(first) > 1.8 * len(second)


def test_a_quote_is_at_most_as_long_as_a_bullet_may_be() -> None:
    made = rendered([Section("Notes", [item("word " * 200, title="T" * 30)])], bullet=100)

    (quoted,) = [line for line in made.text.split("\n") if line.startswith("  > ")]
    assert len(quoted) - len("  > ") <= 100


def test_the_least_useful_are_left_out_where_there_is_no_room() -> None:
    items = [item("x" * 400, id=f"id{n:08d}", title="T" * 90) for n in range(40)]

    made = rendered([Section("First", items[:20]), Section("Then", items[20:])], chars=3_000)

    assert made.ids == tuple(one.id for one in items[: len(made.ids)])
    assert "Then" not in made.text


def test_nothing_fits_gives_nothing() -> None:
    assert block.render([Section("Notes", [item("x")])], chars=100, bullet_chars=300) is None
    assert block.render([], chars=6_000, bullet_chars=300) is None


def test_characters_are_counted_as_the_host_counts_them_and_the_hard_cap_holds() -> None:
    items = [item("😀" * 2_000, id=f"id{n:08d}", title="😀" * 200) for n in range(40)]

    made = rendered([Section("Notes", items)], chars=50_000, bullet=2_000)

    assert len(made.text.encode("utf-16-le")) // 2 <= block.MAX_CHARS


def test_every_block_has_a_fence_of_its_own() -> None:
    made = [block.render([Section("n", [item("x")])], chars=6_000, bullet_chars=300) for _ in range(2)]

    fences = {one.text.split("\n")[0] for one in made if one}
    assert len(fences) == 2


def test_persian_and_joined_emoji_stay_whole() -> None:
    text = "می‌خواهم 👩‍💻"

    assert block.inert(text) == text


def test_behind_a_short_first_sentence_a_long_one_is_cut_rather_than_left_out() -> None:
    long = f"It was {'very ' * 70}slow."
    told = Item("7gk2q9m4x1", "session", "the page is slow", "2026-09-14", text=f"Made it faster. {long}", room=600)

    made = rendered([Section("Notes", [told])], bullet=280)

    assert "  > Made it faster.\n  > It was very very" in made.text


def test_line_ends_become_spaces_and_invisible_characters_nothing() -> None:
    assert block.inert("first\nsecond\u2028third") == "first second third"
    assert block.inert("pass\u202eword\u200b, \x1b[31mred") == "password, [31mred"
