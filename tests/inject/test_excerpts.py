"""Excerpts: of an answer what it says, of a change what is not shown already."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.inject.rendering import diffs, excerpts
from mdmem.inject.rendering.diffs import ExcerptHunk


def test_a_sentence_that_says_nothing_is_left_out_unless_it_is_all_there_is() -> None:
    assert excerpts.outcome("Done. The export pages through the rows.", (), 300) == "The export pages through the rows."
    assert excerpts.outcome("**Next steps:** Page through the rows.", (), 300).count("..") == 0
    assert excerpts.outcome("Done.", (), 300) == "Done."


ANSWER = """I've limited the rate of the public API. Here's what I did:

## Changes

1. A token bucket in `src/rate.ts`
- **Keys**: hashed with SHA-256

## Decision

We chose it because our Redis is small.

| Approach | Memory |
|---|---|
| Bucket | 48 B |

**Verification**
- `npm test`: 214 passed

✅

Would you like me to open a PR? Let me know!
"""


def test_an_answer_with_headings_a_table_and_an_offer_reads_as_prose() -> None:
    assert excerpts.outcome(ANSWER, (), 400) == (
        "I've limited the rate of the public API. A token bucket in `src/rate.ts`. **Keys**: hashed with SHA-256."
        " Decision: We chose it because our Redis is small. Approach | Memory: Bucket | 48 B."
        " Verification: `npm test`: 214 passed"
    )
    assert excerpts.outcome("## Root cause\n\nSort as text.\n\n## Fix\n\nCast it.", ["root"], 30) == (
        "Root cause: Sort as text."
    )
    assert excerpts.outcome("# Nothing\n\n## But headings", (), 300) == "Nothing. But headings"


TEXTS = st.lists(st.sampled_from(["# A b", "## C", "**D e:**", "f g. H!", "- i", "| j | k |", "```", "", "1. l", "**"]))


@given(TEXTS.map("\n".join), st.integers(1, 80))
def test_an_outcome_is_made_of_the_texts_words_and_keeps_to_its_size(text: str, chars: int) -> None:
    sentences = [sentence for _, sentence in excerpts.sentences(text)]
    told = excerpts.outcome(text, (), chars)
    assert len(told) <= max(chars, *map(len, sentences), 0) + len(sentences)
    assert set(told) - set(text) <= {".", ":", " "}
    assert all(word in excerpts.prose(text) for sentence in sentences for word in sentence.split())


def test_a_change_that_stands_above_is_known_as_repeated() -> None:
    first = ExcerptHunk("export.py", ["+def rows():", "+    yield 1", "+    yield 2"])
    again = ExcerptHunk("export.py", ["-def rows(x):", "+def rows():", "+    yield 1"])
    other = ExcerptHunk("export.py", ["+def columns():", "+    yield 1"])

    assert diffs.repeats(again, set(map(str.strip, first.added)))
    assert not diffs.repeats(other, set(map(str.strip, first.added)))


def test_what_was_done_is_shown_and_not_what_may_be_done_next() -> None:
    done = "The export pages through the rows now."
    said = f"{done} Before proceeding, the tests should be run. If you agree, I will submit the change."

    assert excerpts.outcome(said, ["row"], 300) == done


def test_the_authority_lets_encrypt_announces_nothing() -> None:
    said = "Let's Encrypt limited us. Let's add a test next."

    assert excerpts.outcome(said, (), 300) == "Let's Encrypt limited us."


@pytest.mark.parametrize(
    "said",
    [
        "The export pages. Next steps:\n- Write the docs\n- Add a test",
        "The export pages. **Next steps:**\n\n- Write the docs\n- Add a test",
        "Look:\n\n- The export pages. Next steps:\n  1. Write the docs\n  2. Add a test",
    ],
)
def test_what_is_left_to_do_keeps_its_label_behind_a_sentence(said: str) -> None:
    told = "The export pages. Next steps: Write the docs. Add a test"
    assert excerpts.outcome(said, (), 300) == told
    assert excerpts.outcome(said, ["docs", "export", "test"], 300) == told


def test_no_mark_is_added_to_the_end_of_what_somebody_wrote() -> None:
    assert excerpts.outcome("Exports: UTF-8, never Latin-1", (), 300) == "Exports: UTF-8, never Latin-1"


def test_a_script_that_looked_into_a_bug_is_left_out_where_something_else_was_changed() -> None:
    script = ExcerptHunk("replicate_bug.py", ["+import export", "+export.rows()"])
    change = ExcerptHunk("export.py", ["-def rows(x):", "+def rows():"])

    assert diffs.rank([script, change], ["row"]) == [change]
    assert diffs.rank([script], ["row"]) == [script]


def test_a_change_for_which_there_is_no_room_begins_behind_its_imports() -> None:
    change = ExcerptHunk("export.py", ["+import os", "+", "+def rows():", "+    yield 1"])

    assert diffs.lines_of(change, 40) == ["export.py:", "+def rows():", "+    yield 1"]
    assert diffs.lines_of(change, 400)[1] == "+import os"


def test_a_short_text_is_shown_in_one_line_without_marks_and_with_its_code() -> None:
    conventions = "## Conventions\n\nDates are ISO 8601.\n\n- money in cents\n\n"
    text = f"{conventions}### Deploying\n\n```sh\nmake deploy\n# twice\n```\n\nNever!"

    assert excerpts.prose(text, code=True) == (
        "Conventions: Dates are ISO 8601. money in cents. Deploying: `make deploy`. `# twice`. Never!"
    )
    assert excerpts.prose(text) == "Conventions: Dates are ISO 8601. money in cents. Deploying: Never!"


def test_a_heading_without_a_text_is_kept() -> None:
    assert excerpts.prose("# Only this") == "Only this"
    assert list(excerpts.sentences("#4711 was fixed.")) == [("", "#4711 was fixed.")]


def test_what_was_before_is_shown_and_not_what_comes_before_the_next_step() -> None:
    assert excerpts.outcome("The draw is lower.\n- Before: 1812 uA\n- After: 14 uA", (), 300).count("uA") == 2
    assert excerpts.outcome("It is fixed. Before merging, run it. Before you go, tag it.", (), 300) == "It is fixed."


TABLE = """## Decision

| | Bucket | Window |
|---|---|---|
| memory | 48 B | 16 B |
| exact | no | yes |

We use the window.

| Attempt | Result |
| --- | --- |
| raise the limit | failed |
Reverted after an hour."""


def test_the_column_names_of_a_table_are_only_shown_with_a_row() -> None:
    assert excerpts.outcome(TABLE, (), 400) == (
        "Bucket | Window: memory | 48 B | 16 B. exact | no | yes. Decision: We use the window. Attempt | Result:"
        " raise the limit | failed. Reverted after an hour."
    )
    assert "Attempt" not in excerpts.outcome(TABLE, ["window"], 30)


def test_an_ordinal_or_an_abbreviation_ends_no_sentence() -> None:
    text = (
        "Seit dem 1. Oktober sind 63 betroffen. Use a store, e.g. Redis vs. Kafka. Wie z. B. Redis. The limit is 45."
        " Pods restart."
    )

    assert [sentence for _, sentence in excerpts.sentences(text)] == [
        "Seit dem 1. Oktober sind 63 betroffen.",
        "Use a store, e.g. Redis vs. Kafka.",
        "Wie z. B. Redis.",
        "The limit is 45.",
        "Pods restart.",
    ]


def test_no_full_stop_follows_an_emoji_behind_one() -> None:
    assert excerpts.prose("- It works now. 🎉\n- Fixed 🐛\n- last") == "It works now. 🎉 Fixed 🐛. last"


def test_a_heading_is_known_with_an_emoji_and_shown_without() -> None:
    assert excerpts.prose("## 🔍 Root cause\n\nA typo.\n\n**What is left** 📝\n1. Notes\n\n## ✅ Summary\nOk") == (
        "Root cause: A typo. What is left: Notes. Ok"
    )


def test_a_change_that_a_turn_took_back_is_not_shown() -> None:
    tried = ExcerptHunk("main.c", ["-#define STACK 2048", "+#define STACK 4096"])
    taken_back = ExcerptHunk("main.c", ["-#define STACK 4096", "+#define STACK 2048"])
    fix = ExcerptHunk("bond.c", ["+feed();"])

    assert diffs.kept([tried, fix, taken_back]) == [fix]
    assert diffs.kept([tried, taken_back]) == [tried, taken_back]
    assert diffs.kept([taken_back, ExcerptHunk("other.c", tried.lines)]) != []


def test_a_diff_with_a_whole_path_is_of_the_file_that_its_note_names() -> None:
    diff = "```diff\n--- /home/dev/app/src/io.c\n+++ /home/dev/app/src/io.c\n@@ -1 +1 @@\n-a\n+b\n```"

    assert [hunk.file for hunk in diffs.hunks(diff, "src/io.c")] == ["src/io.c"]
    assert [hunk.file for hunk in diffs.hunks(diff, "io.h")] == ["/home/dev/app/src/io.c"]


def test_of_a_hunk_without_room_for_all_its_lines_the_added_ones_are_shown() -> None:
    old = [f"-    return render(invoice)  # {word}" for word in ("one", "two", "three")]
    hunk = ExcerptHunk("app.py", [" def show():", *old, "+    return render(invoice, locale)"])

    assert diffs.lines_of(hunk, 80) == ["app.py:", "+    return render(invoice, locale)"]
    assert diffs.lines_of(hunk, 800) == ["app.py:", *hunk.lines]


def test_a_sentence_that_says_what_fails_is_told_before_one_that_says_what_is() -> None:
    body = "The client was swapped. `TestRebalance` fails with it. It is the `kgo` of Kafka."

    assert excerpts.outcome(body, (), 55) == "The client was swapped. `TestRebalance` fails with it."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("### 14:30\n<!-- session:abc turn:1 -->\n- Fixed the query.", "14:30: Fixed the query."),
        ("One.<!-- a\n\nb --> Two. <!--c--> Three.", "One. Two. Three."),
        ("Write `<!-- more -->` there, <!-- hidden --> then `x`.", "Write `<!-- more -->` there, then `x`."),
        ("```html\n<!-- kept -->\n```\nDone <!-- gone -->now.", "`<!-- kept -->`. Done now."),
        ("An arrow <!-- that never ends.", "An arrow <!-- that never ends."),
    ],
)
def test_what_a_reader_does_not_see_is_not_given(text: str, told: str) -> None:
    assert " ".join(excerpts.prose(text, code=True).split()) == told


@given(st.text("<!->`~\n ab.", max_size=60))
def test_taking_comments_out_ends_and_only_takes_out(text: str) -> None:
    kept = iter(text)
    assert all(c in kept for c in excerpts.without_comments(text))
