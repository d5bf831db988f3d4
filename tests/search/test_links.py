"""Links and tags that people write: what is one, where it leads, and what links to a note."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config
from mdmem.health import links as links_check
from mdmem.health.scope import CheckScope
from mdmem.search import engine, index
from mdmem.vault import journal, links
from mdmem.views.vault_pages import upkeep
from tests.conftest import REPO
from tests.helpers.cli_day import Day
from tests.helpers.indexed import indexed
from tests.helpers.talk import Talk


def write(day: Day, path: str, text: str) -> None:
    file = day.vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("See [[How we release]].", ["How we release"]),
        ("See [[a|the first]] and [[b#Part]] and ![[c.png]].", ["a", "b", "c.png"]),
        ("See [it](../notes/a%20b.md#top) or [it](<x y.md>).", ["../notes/a b.md", "x y.md"]),
        ("As [mem:7gk2q9m4x1] says.", ["7gk2q9m4x1"]),
        ("[out](https://example.org/a.md) [mail](mailto:a@b.c) [top](#here) [root](/etc/passwd)", []),
        ("`[[ -f x ]]` is code", []),
        ("```sh\n[[ -f x ]] && [a](b.md)\n```\n[[c]]", ["c"]),
        ("~~~\n[[a]]\n```\n[[b]]\n~~~\n[[c]]", ["c"]),
    ],
)
def test_a_link_is_known_by_what_it_names(text: str, targets: list[str]) -> None:
    assert [one.target for one in links.written(text)] == targets


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("We chose #postgres, for #team/api.", ["postgres", "team/api"]),
        ("# Heading\n## Another", []),
        ("Fixes #123, color #ffffff in `#code`, a#b, &#x20; and https://x.org/#top", ["ffffff"]),
        ("```\n#include <stdio.h>\n```", []),
        ("#größe und #日本", ["größe", "日本"]),
    ],
)
def test_an_inline_tag_is_a_word_behind_a_number_sign(text: str, tags: list[str]) -> None:
    assert links.tags(text) == tags


PIECES = st.sampled_from([*"[]()|#`~<>\n a.b/:m%", "[[", "]]", "[[a]]", "[a](b)", "[mem:7gk2q9m4x1]", "%20", "```\n"])


@given(st.lists(PIECES, min_size=20, max_size=100).map("".join))
def test_any_text_can_be_read_for_links(text: str) -> None:
    count = text.count("\n") + 1
    assert all(1 <= one.line <= count and one.target for one in links.written(text))
    assert len(links.without_code(text)) == count
    assert all(tag in text for tag in links.tags(text))


def test_what_links_to_a_note_is_listed_with_it(day: Day) -> None:
    write(day, "notes/target.md", "---\nid: 7gk2q9m4x1\n---\n\nThe target.\n")
    write(day, "notes/wiki.md", "See [[target]].\n")
    write(day, "notes/deep/path.md", "See [it](../target.md).\n")
    write(day, "notes/cites.md", "As [mem:7gk2q9m4x1] says.\n")
    write(day, "notes/typed.md", "---\nsupersedes: [7gk2q9m4x1]\n---\n\nNewer.\n")
    write(day, "notes/property.md", '---\nrelates_to: "[[target]]"\n---\n\nRelated.\n')
    write(day, "notes/other.md", "See [it](target-2.md) and `[[target]]`.\n")
    write(day, "notes/target-2.md", "Another.\n")
    found = day.json("show", "7gk2q9m4x1")["backlinks"]
    assert sorted(row["path"] for row in found) == [
        "notes/cites.md", "notes/deep/path.md", "notes/property.md", "notes/typed.md", "notes/wiki.md",
    ]  # fmt: skip
    assert "Linked from" in day.terminal("show", "target")


def test_a_note_is_found_by_the_name_of_its_file(day: Day) -> None:
    write(day, "notes/How we release.md", "Cut the branch on Tuesday.\n")
    assert index.resolve(day.config(), "[[How we release]]") == "notes/How we release.md"
    assert index.resolve(day.config(), "[[how we release#Steps|the steps]]") == "notes/How we release.md"
    assert day.json("search", "release")[0]["title"] == "How we release"


def test_an_ambiguous_name_has_its_own_exit_status(day: Day) -> None:
    write(day, "notes/a/plan.md", "One.\n")
    write(day, "notes/b/plan.md", "Two.\n")
    done = day.attempt("show", "plan")
    assert done.exception is not None
    assert getattr(done.exception, "exit_code", None) == 8
    assert "notes/a/plan.md, notes/b/plan.md" in str(done.exception)
    assert day.json("show", "b/plan")["body"].strip() == "Two."


def test_inline_tags_are_found_by_the_filter_but_not_those_of_captured_notes(day: Day) -> None:
    write(day, "notes/db.md", "We chose #postgres.\n")
    found = day.json("list", "--tag", "postgres")
    assert [row["path"] for row in found] == ["notes/db.md"]


def test_tags_and_links_behind_a_mention_of_a_pages_marker_count(day: Day) -> None:
    write(day, "notes/db.md", "What `<!-- mdmem:begin -->` begins is generated, see [[pages]] #markers.\n")
    write(day, "notes/pages.md", "How pages are made.\n")
    assert [row["path"] for row in day.json("list", "--tag", "markers")] == ["notes/db.md"]
    assert [row["path"] for row in day.json("show", "notes/pages.md")["backlinks"]] == ["notes/db.md"]


def test_doctor_names_links_that_lead_nowhere(day: Day) -> None:
    write(day, "notes/a.md", "\n[[b]], [[b|x]], [c](c.md), [there](../journal/), [[nowhere]] and [gone](gone.md)\n")
    write(day, "notes/b.md", "![[picture.png]]\n")
    write(day, "notes/c.md", "`[[ -f x ]]`\n")
    (day.vault / "notes" / "picture.png").write_bytes(b"")
    texts = [one.text for one in links_check.links(day.config(), CheckScope())]
    assert texts == [
        "notes/a.md:2: the link to 'nowhere' leads nowhere.",
        "notes/a.md:2: the link to 'gone.md' leads nowhere.",
    ]


@pytest.mark.parametrize("wiki", ["", "[[notes/deep/er/PLAN]] [[plan]] [[missing]]"])
def test_doctor_follows_links_whatever_their_letter_case_and_ending(day: Day, wiki: str) -> None:
    write(day, "notes/Deep/Er/Plan.md", "One.\n")
    write(day, "notes/a.md", f"[a](deep/er/plan), [b](../NOTES/deep), [c](deep/er/other.md), [d](deeper/plan) {wiki}\n")
    lost = {one.text.split("'")[1] for one in links_check.links(day.config(), CheckScope())}
    assert lost == {"deep/er/other.md", "deeper/plan", *(["missing"] if wiki else [])}


def test_a_link_in_a_prompt_is_no_link_of_its_sessions_page(vault: Path, tmp_path: Path) -> None:
    talk = Talk(vault, tmp_path / "app")
    talk.start()
    talk.says("Bring [the guide](docs/setup.md) and [[the plan]] up to date")
    talk.answers("Both are up to date.")
    (vault / "README.md").touch()
    settings = config.load(str(vault))
    upkeep.refresh(settings, now=talk.now, everything=True)
    (page,) = (path for path in vault.glob("journal/*/*/*/*.md") if journal.is_page(path.relative_to(vault).as_posix()))

    assert [one.text for one in links_check.links(settings, CheckScope()) if one.severity != "fine"] == []

    page.write_text(f"{page.read_text()}\nSee [the notes](gone.md).\n")
    lines = page.read_text().count("\n")
    (found,) = links_check.links(settings, CheckScope())
    assert f":{lines}: the link to 'gone.md' leads nowhere" in found.text


@pytest.mark.parametrize(
    "text",
    [
        "---\nkind: session\n---\n<!-- mdmem:begin -->\n1. [Quokka \\[1\\]](001-000-prompt-quokka-err8en03d7.md)\n",
        "---\nkind: decision\nsupersedes: err8en03d7\nfixes: [err8en03d7]\n---\nQuokka.\n",
        "Quokka, as [mem:err8en03d7] says.\n",
    ],
)
def test_an_id_that_leads_to_a_note_is_no_word(day: Day, text: str) -> None:
    write(day, "notes/export.md", text)
    settings = indexed(day.config())
    assert [hit.path for hit in engine.search(settings, "quokka").hits] == ["notes/export.md"]
    assert "notes/export.md" not in [hit.path for hit in engine.search(settings, "err en").hits]


def test_the_sample_vault_has_no_broken_link() -> None:
    (found,) = links_check.links(config.load(str(REPO / "sample-vault")), CheckScope())
    assert found.severity == "fine"
    assert "all lead to a file" in found.text


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("supersedes: 7gk2q9m4x1\n", ""),
        ("", "superseded_by: 8gk2q9m4x1\n"),
        ("", "superseded_by: [[new]]\n"),
        ("", "superseded_by: notes/new.md\n"),
        ("supersedes: 7gk2q9m4x1\n", "superseded_by: gone\n"),
    ],
)
def test_what_supersedes_a_note_is_found_before_it(day: Day, newer: str, older: str) -> None:
    write(day, "notes/old.md", f"---\nid: 7gk2q9m4x1\n{older}---\n\nBadges are printed as quince or medlar sheets.\n")
    write(day, "notes/new.md", f"---\nid: 8gk2q9m4x1\n{newer}---\n\nBadges are printed as medlar.\n")
    write(day, "notes/other.md", "A badge.\n")

    found = [row["path"] for row in day.json("search", "quince or medlar sheets for badges")]

    assert found[:2] == ["notes/new.md", "notes/old.md"]


@pytest.mark.parametrize(
    ("newer", "older", "told"),
    [
        ("supersedes: 7gk2q9m4x1\n", "", "8gk2q9m4x1"),
        ("", "superseded_by: '[[new]]'\n", "8gk2q9m4x1"),
        ("supersedes: 7gk2q9m4x1\n", "superseded_by: gone\n", "8gk2q9m4x1"),
        ("", "superseded_by: gone\n", "gone"),
        ("supersedes: 7gk2q9m4x1\nprivate: true\n", "", ""),
        ("relates_to: 7gk2q9m4x1\n", "", ""),
    ],
)
def test_a_search_tells_which_note_supersedes_what_it_found(day: Day, newer: str, older: str, told: str) -> None:
    write(day, "notes/old.md", f"---\nid: 7gk2q9m4x1\n{older}---\n\nBadges are printed as quince sheets.\n")
    write(day, "notes/new.md", f"---\nid: 8gk2q9m4x1\n{newer}---\n\nBadges are printed as medlar.\n")

    rows = {row["path"]: row["superseded_by"] for row in day.json("search", "badges printed quince")}
    shown = day.run("search", "badges printed quince").stdout

    assert rows["notes/old.md"] == told
    assert rows.get("notes/new.md", "") == ""
    assert ("superseded by [mem:" in shown) is bool(told)


@pytest.mark.parametrize(
    ("value", "told", "line"),
    [
        ("its source was deleted", "its source was deleted", "(superseded: its source was deleted)"),
        ('"two\\nlines"', "two lines", "(superseded: two lines)"),
        ("https://wiki.example/new", "https://wiki.example/new", "(superseded: https://wiki.example/new)"),
        ("[[nowhere]]", "nowhere", "(superseded by [mem:nowhere])"),
    ],
)
def test_a_note_superseded_by_what_is_no_note_is_shown_on_one_line(day: Day, value: str, told: str, line: str) -> None:
    write(day, "notes/old.md", f"---\nid: 7gk2q9m4x1\nsuperseded_by: {value}\n---\n\nBadges are quince sheets.\n")

    (row,) = day.json("search", "badges quince")

    assert row["superseded_by"] == told
    assert line in day.run("search", "badges quince").stdout
