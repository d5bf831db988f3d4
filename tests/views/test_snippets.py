"""Snippets of hits, as people read them."""

from __future__ import annotations

import re

from mdmem.views import snippets


def test_a_snippet_reads_as_text_and_keeps_its_marks() -> None:
    text = "```python def parse ``` see [the parser](../parser.md) and `parse` ## Error **bold**"
    spans = [(match.start(), match.end()) for match in re.finditer("parse(?!r)", text)]
    plain, marked = snippets.readable(text, spans)

    assert plain.split() == ["def", "parse", "see", "the", "parser", "and", "parse", "Error", "bold"]
    assert [plain[start:stop] for start, stop in marked] == ["parse", "parse"]


def test_an_image_leaves_only_its_words() -> None:
    assert snippets.readable("see ![the plan](plan.png) and [docs](a.md)", [])[0] == "see the plan and docs"


def test_a_mark_within_the_address_of_a_link_goes_with_it() -> None:
    text = "[answer](001-the-parser.md) and the parser"
    plain, marked = snippets.readable(text, [(14, 20), (36, 42)])

    assert plain == "answer and the parser"
    assert [plain[start:stop] for start, stop in marked] == ["parser"]


def test_a_snippet_of_a_page_shows_neither_what_escapes_its_titles_nor_its_lists() -> None:
    text = (
        "## Prompts 1. [Why \\[PRIVATE\\] fails](001-a.md) → [answer](<001 b.md>) 2. [Use `x`](002-a.md) - [More](c.md)"
    )
    plain, _ = snippets.readable(text, [], "session")

    assert plain.split() == ["Prompts", "·", "Why", "[PRIVATE]", "fails", "→", "answer", "·", "Use", "x", "·", "More"]


def test_a_snippet_of_a_change_begins_with_what_changed() -> None:
    text = "```diff --- a/src/x.py +++ b/src/x.py @@ -3,4 +3,7 @@ def parse(text): - return 1 ====== end ======"
    plain, _ = snippets.readable(text, [])

    assert plain.split() == ["def", "parse(text):", "-", "return", "1", "end"]


def test_a_link_that_is_cut_at_either_end_of_a_snippet_leaves_only_its_words() -> None:
    text = "…it.](001-a.md) → [answer](001-b.md) 2. [log in as \\[PRIVATE\\] please…"
    plain, _ = snippets.readable(text, [], "session")

    assert plain == "…it. → answer · log in as [PRIVATE] please…"


def test_the_end_of_an_address_at_the_start_of_a_pages_snippet_is_left_out() -> None:
    plain, _ = snippets.readable("…why-does-it-fail-6drpz9va77.md) - [Fix it](002-fix.md)", [], "session")

    assert plain == "… · Fix it"


def test_a_wikilink_and_a_callout_of_a_persons_note_are_shown_by_their_words() -> None:
    text = "> [!warning] Careful! See [[win|the windows note]], [[deploy]] and ![[plan.png|300]]; x[[1]] stays"
    found = text.index("the windows")
    plain, marked = snippets.readable(text, [(found, found + len("the windows note"))], "note")
    assert plain == "Careful! See the windows note, deploy and plan.png; x[[1]] stays"
    assert [plain[start:stop] for start, stop in marked] == ["the windows note"]
    assert snippets.readable("> [!warning]- > Never on Fridays", [], "note")[0] == "Never on Fridays"


def test_what_looks_like_a_wikilink_in_a_tool_run_stays_code() -> None:
    text = "if [[ -f a ]] && [[-n b]]; then"
    assert snippets.readable(text, [], "observation")[0] == text
    assert snippets.readable("if [[ -f a ]]; then", [], "note")[0] == "if [[ -f a ]]; then"
