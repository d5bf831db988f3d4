"""Search: what is found, in which order, by words, phrases and filters; and what is shown of it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.search import all_but, answering, engine, hits, index, matches, query, ranking, spelling, turn_groups
from mdmem.search.engine import SearchResult
from mdmem.search.index import folders, layout, pending
from mdmem.search.index.table import Table
from mdmem.search.units import units_of
from mdmem.vault import front_matter
from tests.bench import vaults
from tests.helpers.talk import Talk

NOW = datetime(2026, 9, 16, 15, 30, tzinfo=UTC)
SESSION = "journal/acme-app/2026-09-14/0800-why-does-the-parser-fail-00893aaf"

# A session of a working day, and notes around it: path, front matter, text.
NOTES: tuple[tuple[str, dict[str, Any], str], ...] = (
    (
        f"{SESSION}/001-000-prompt-why-does-the-parser-fail-7gk2q9m4x1.md",
        {"id": "7gk2q9m4x1", "kind": "prompt", "branch": "main"},
        "Why does the date parser fail on 2026-02-29?",
    ),
    (
        f"{SESSION}/001-001-read-src-dates-py-x81kd0a3bz.md",
        {"id": "x81kd0a3bz", "kind": "observation", "tool": "Read", "files": ["src/dates.py"], "success": True},
        "```python\ndef parse_date(text):\n    return datetime.strptime(text, FORMAT)\n```",
    ),
    (
        f"{SESSION}/001-002-bash-pytest-q-c8d7e6f5g4.md",
        {"id": "c8d7e6f5g4", "kind": "observation", "tool": "Bash", "success": False, "command": "pytest"},
        "```sh\npytest -q tests/test_dates.py\n```\n1 failed: ValueError: day is out of range for month",
    ),
    (
        f"{SESSION}/001-003-response-leap-years-m2k4j8q1w2.md",
        {"id": "m2k4j8q1w2", "kind": "response"},
        "2026 is no leap year, so February has no 29th day. The validator now says so instead of raising.",
    ),
    (
        "journal/acme-app/2026-09-15/0910-release-11223344/001-000-prompt-when-do-we-ship-n4m3b2v1c0.md",
        {"id": "n4m3b2v1c0", "kind": "prompt", "session": "11223344-aaaa", "created": "2026-09-15T09:10:00Z"},
        "When do we ship the release?",
    ),
    (
        "journal/acme-app/2026-09-15/0910-release-11223344/001-001-response-june-p9o8i7u6y5.md",
        {"id": "p9o8i7u6y5", "kind": "response", "session": "11223344-aaaa", "created": "2026-09-15T09:11:00Z"},
        "In June, after the audit.",
    ),
    (
        "journal/other-app/2026-08-01/1000-date-picker-55667788/001-000-prompt-date-picker-q1w2e3r4t5.md",
        {
            "id": "q1w2e3r4t5", "kind": "prompt", "project": "other-app", "session": "55667788-bbbb",
            "created": "2026-08-01T10:00:00Z", "private": 1,
        },
        "Make the date picker open on Monday.",
    ),
    (
        "notes/decision-storage.md",
        {"title": "Storage", "tags": ["decision", "base"], "pinned": True, "created": "2026-07-01", "by": "Caroline"},
        "We keep all in PostgreSQL, our database, because the reports need window functions. See src/api/store.ts.",
    ),
    ("notes/日本語.md", {"title": "日本語のメモ"}, "2018年に東京でデータベースの設計を決めた。"),
    ("notes/한국어.md", {}, "내일 회의에서 데이터베이스를 결정합니다."),
    ("notes/identifiers.md", {}, "`getUserProfile()` calls fetch_user_row and HTTPServer2."),
    (
        "internal/ghost/user/alice/mood.md",
        {"kind": "ghost", "tags": ["ghost", "ghost_owner:user:alice"]},
        "Secret parser mood.",
    ),
    ("internal/agent/plan.md", {"kind": "agent", "tags": ["agent"]}, "Secret parser plan."),
)  # fmt: skip


@pytest.fixture
def settings(vault: Path) -> Config:
    for path, meta, text in NOTES:
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        given = {"project": "acme-app", "session": "00893aaf-19fa", "created": "2026-09-14T08:00:01Z"}
        meta = (given | meta) if path.startswith("journal/") else meta
        file.write_text(f"{front_matter.render(meta)}\n{text}\n", encoding="utf-8")
    return config.load(str(vault))


def ask(settings: Config, words: str = "", **how: Any) -> SearchResult:
    options = {name: how.pop(name) for name in engine.SearchOptions._fields if name in how}
    return engine.search(settings, words, engine.SearchOptions(now=NOW, **options), **how)


def ids(result: SearchResult) -> list[str]:
    return [hit.id for hit in result.hits]


def names(result: SearchResult) -> list[str]:
    return [hit.path.rpartition("/")[2] for hit in result.hits]


# -- ranking -----------------------------------------------------------------------------------------


def test_a_question_is_answered_though_no_note_has_all_of_its_words(settings: Config) -> None:
    result = ask(settings, "Could you please remind me what exactly went wrong with the parser of dates back then?")

    assert ids(result)[0] == "7gk2q9m4x1"


@pytest.mark.parametrize("sort", engine.SORTS)
def test_of_many_notes_the_first_are_put_in_order_before_the_others(
    settings: Config, sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.update(settings)
    view = index.current(settings)
    assert view is not None
    found = {note: float(note % 3) for note in view.all}
    at_once = list(engine.in_order(view, found, sort))
    monkeypatch.setattr(engine, "_FIRST", 2)

    assert list(engine.in_order(view, found, sort)) == at_once
    assert sorted(at_once) == list(view.all)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Config, list[str]]:
    """Index a vault of two hundred notes; return its settings and its words, the most frequent first."""
    root = tmp_path_factory.mktemp("many")
    known = vaults.write(root / "vault", 200).known
    settings = config.load(str(root / "vault"), {"HOME": str(root)})
    index.update(settings)
    return settings, known


@given(st.data())
def test_an_answer_is_the_same_whether_all_scores_are_kept_or_the_best(
    many: tuple[Config, list[str]], data: st.DataObject
) -> None:
    settings, known = many
    places = st.integers(0, 10).flatmap(lambda power: st.integers(0, 2**power))
    words = " ".join(known[place] for place in data.draw(st.lists(places, min_size=1, max_size=4)))
    narrowed = data.draw(st.sampled_from(["", " project:project-1", f" -{known[3]}", " kind:prompt", f" +{known[0]}"]))
    limit, offset = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 4))
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((ranking, "POOL"), (ranking, "RERANKED"), (engine, "_LOOK_AHEAD")):
            patch.setattr(module, name, data.draw(st.integers(1, 9)))
        patch.setattr(turn_groups, "LOOKED_AT", data.draw(st.integers(1, 4)))
        for most in (engine._needed, lambda _: None):
            patch.setattr(engine, "_needed", most)
            found.append(ask(settings, words + narrowed, limit=limit, offset=offset, update=False))

    of_best, of_all = found
    assert of_best.total == of_all.total
    assert [(hit.path, hit.score, hit.similar) for hit in of_best.hits] == [
        (hit.path, hit.score, hit.similar) for hit in of_all.hits
    ]


def test_of_many_notes_only_the_best_are_kept(many: tuple[Config, list[str]]) -> None:
    settings, known = many
    view = index.current(settings)
    assert view is not None
    every = ranking.scores(view, units_of(view, known[0]))
    best = ranking.scores(view, units_of(view, known[0]), most=20)

    assert best.total == every.total == len(every) > 100
    assert 20 <= len(best) < 40 and best.items() <= every.items()


def test_all_notes_but_some_are_a_set(settings: Config) -> None:
    index.update(settings)
    view = index.current(settings)
    assert view is not None and view.size > 5
    every = set(view.all)
    few = all_but.AllBut(view, {0, 3})

    assert set(few) == every - {0, 3} and len(few) == view.size - 2
    assert 3 not in few and 4 in few
    assert {1, 3, 4} & few == few & {1, 3, 4} == {1, 4}
    assert few - {1} == every - {0, 1, 3}
    assert set(all_but.AllBut(view, set())) == every


def test_function_words_do_not_find_anything_when_there_are_others(settings: Config) -> None:
    assert ask(settings, "when do we ship").total == 1
    assert ask(settings, "in of the").total > 1


@pytest.mark.parametrize("question", ["which command did we use to {}", "what {} was before and after"])
def test_a_question_for_a_command_or_for_two_states_finds_only_what_it_is_about(
    vault: Path, settings: Config, question: str
) -> None:
    (vault / "notes/other.md").write_text("The command after the release comes before those of the nightly build.")
    (vault / "notes/own.md").write_text("We migrate the orders in small batches.")

    assert names(ask(settings, question.format("migrate"))) == ["own.md"]


def test_an_answer_is_found_by_the_words_of_the_question_before_it(settings: Config) -> None:
    found = ids(ask(settings, "when do we ship the release, June?"))

    assert set(found[:2]) == {"n4m3b2v1c0", "p9o8i7u6y5"}


@pytest.mark.parametrize("many_more", [0, 1_000], ids=["looked up", "read through"])
def test_where_a_word_is_found_is_told_from_its_posting_lists(
    settings: Config, monkeypatch: pytest.MonkeyPatch, many_more: int
) -> None:
    monkeypatch.setattr(matches, "_MANY_MORE", many_more)
    index.update(settings)
    view = index.current(settings)
    assert view is not None
    every = set(view.all)
    for words in ("why does the date parser fail in June", "our database of reports", "delete user row function"):
        asked = units_of(view, words)
        for unit, match in zip(asked, matches.of_units(view, asked), strict=True):
            assert match.some(every) == set(match.notes)
            lists = [found for term, _ in unit.terms for found in view.postings("body", term)]
            times = [dict(zip(notes, weights or b"\1" * len(notes), strict=True)) for notes, weights in lists]
            found = match.times(every)
            assert found.keys() <= match.notes.keys()
            assert all(found[note] >= often for one in times for note, often in one.items())


def test_the_best_notes_with_a_common_word_are_found_without_a_look_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = vaults.write(tmp_path / "vault", 1_000).known
    large = config.load(str(tmp_path / "vault"))
    index.update(large)
    view = index.current(large)
    assert view is not None
    for name, value in (("COMMON_NOTES", 100), ("TRIED", 1), ("POOL", 10)):
        monkeypatch.setattr(ranking, name, value)
    prompts = view.of_kinds(["prompt", "response"])
    left_out = 0
    for asked in (words[0], words[5], words[40], f"{words[900]} {words[1]}", f"{words[2]} {words[700]} {words[8000]}"):
        for among in (None, prompts, all_but.AllBut(view, prompts)):
            units = units_of(view, asked)
            every = ranking.scores(view, units, among=among)
            best = ranking.scores(view, units, among=among, most=20)
            assert best.total == len(every), asked
            assert best.items() <= every.items(), asked
            assert {note for note, score in every.items() if score > min(best.values())} <= best.keys(), asked
            found = ranking._without_hopeless(view, units, among, 20)
            left_out += found.total is not None and found.total > len(found.notes or ())

    assert left_out > 5


def test_notes_are_counted_by_folder_in_whichever_order_they_lie(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.update(settings)
    for number in range(20):  # so many segments that some are joined
        path = vault / f"journal/later-{number % 2}/{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Later.\n", encoding="utf-8")
        index.update(settings)
    view = index.current(settings)
    assert view is not None
    counted = {}
    for many in (0, 10_000):
        monkeypatch.setattr(folders, "MANY", many)
        lists = [rows for term in view.terms("facet", "") for rows, _ in view.postings("facet", term)]
        counted[many] = [Counter(view.in_folders(rows)) for rows in lists]

    assert counted[0] == counted[10_000]


def test_a_segment_knows_whether_the_notes_of_each_folder_lie_beside_each_other() -> None:
    row = layout.IndexRow("", 0, 0, 0, 0, 0, 0, (0,) * layout.SKETCH_SIZE, (0,) * len(layout.TEXT_FIELDS), {})
    for paths, expected in (("b/1 b/2 a/3", True), ("a/1 b/2 a/3", False), ("a/1 b/2 a/3 b/4", False), ("a/1", True)):
        rows = [row._replace(path=path) for path in paths.split()]
        assert Table(layout.encode_table(rows), len(rows)).is_by_folder is expected, paths


def test_words_find_identifiers_and_identifiers_words(settings: Config) -> None:
    for words in ("user profile", "getUserProfile", "get_user_profile", "fetch row", "http server 2"):
        assert names(ask(settings, words))[0] == "identifiers.md", words


def test_an_abbreviation_finds_the_word(settings: Config) -> None:
    assert "decision-storage.md" in names(ask(settings, "db"))


def test_code_is_found_by_what_else_its_words_are_called(vault: Path, settings: Config) -> None:
    meta = {"kind": "observation", "title": "is_iterable"}
    (vault / "code.md").write_text(f"{front_matter.render(meta)}\ndef is_iterable(value): return drop(value)\n")
    (vault / "talk.md").write_text(f"{front_matter.render({'kind': 'prompt'})}\nDrop the iterable, please.\n")

    assert names(ask(settings, "check iterables"))[0] == "code.md"
    assert names(ask(settings, "delete something")) == []


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("東京", "日本語.md"),
        ("データベースの設計", "日本語.md"),
        ("2018", "日本語.md"),
        ("데이터베이스 결정", "한국어.md"),
    ],
)
def test_scripts_without_spaces_are_found(settings: Config, words: str, name: str) -> None:
    assert names(ask(settings, words))[0] == name


def test_people_tags_and_dates_of_front_matter_are_found_as_words(settings: Config) -> None:
    for words in ("Caroline", "decision", "1 July 2026"):
        assert names(ask(settings, words))[0] == "decision-storage.md", words


def test_what_a_person_pinned_comes_before_its_equals(vault: Path, settings: Config) -> None:
    for name, pinned in (("a", False), ("b", True), ("c", False)):
        (vault / f"{name}.md").write_text(f"{front_matter.render({'pinned': pinned})}\nzebra crossing {name}\n")

    assert names(ask(settings, "zebra crossing")) == ["b.md", "a.md", "c.md"]


def _session(vault: Path, name: str, texts: dict[str, str], **meta: Any) -> None:
    """Write the notes of a session: label -> text, whose first line is the title."""
    for number, (label, text) in enumerate(texts.items()):
        kind = label.partition(" ")[0]
        given = {"kind": kind, "title": text.split("\n")[0], "session": f"{name}-19fa", "project": "acme-app"} | meta
        file = vault / "journal/acme-app/2026-09-14" / f"0900-{name}" / f"001-{number:03d}-{kind}-x{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{front_matter.render(given)}\n{text}\n", encoding="utf-8")


def test_one_session_does_not_fill_the_first_ten(vault: Path) -> None:
    for name in ("aaaa", "bbbb", "cccc", "dddd", "eeee"):
        runs = {f"observation {n}": f"pytest the flaky uploader {name} run {n}" for n in range(12)}
        _session(vault, name, runs if name == "aaaa" else {"prompt": f"Is the uploader of {name} flaky in pytest?"})
    result = engine.search(
        config.load(str(vault)), "flaky uploader pytest run", engine.SearchOptions(collapse=False, limit=20)
    )

    places = [hit.path.split("/")[3] for hit in result.hits]
    assert set(places[:6]) == {f"0900-{name}" for name in ("aaaa", "bbbb", "cccc", "dddd", "eeee")}
    assert places.count("0900-aaaa") == 12
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


def test_a_chat_in_an_own_folder_keeps_its_notes_together(vault: Path) -> None:
    for number in range(12):
        file = vault / "notes" / "chat" / f"{number:03d}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"The flaky uploader, part {number}.\n", encoding="utf-8")
    _session(vault, "aaaa", {"prompt": "Uploader?"})
    result = engine.search(config.load(str(vault)), "flaky uploader part", engine.SearchOptions(collapse=False))

    assert {hit.path.split("/")[1] for hit in result.hits} == {"chat"}


@pytest.mark.parametrize("kind", ["prompt", "response"])
def test_a_title_counts_more_in_what_was_said_than_in_a_tool_run(vault: Path, kind: str) -> None:
    title, others = "Uploader retries", "\nThe queue waits, then begins again with a longer pause."
    _session(vault, "aaaa", {"observation": title + others})
    _session(vault, "bbbb", {kind: title + others})

    assert (
        engine.search(config.load(str(vault)), "uploader retries", engine.SearchOptions(collapse=False)).hits[0].kind
        == kind
    )


def test_a_prompt_is_shown_with_how_its_answer_begins(vault: Path) -> None:
    _session(vault, "aaaa", {"prompt": "Why is the uploader slow?", "response": "It waits for DNS.\nTwice."})
    _session(vault, "bbbb", {"prompt": "Is the uploader slow again?"})

    hits = {
        hit.title: hit
        for hit in engine.search(config.load(str(vault)), "uploader slow", engine.SearchOptions(snippet_chars=80)).hits
    }

    asked = hits["Why is the uploader slow?"]
    assert asked.snippet == "Why is the uploader slow? → It waits for DNS."
    assert [asked.snippet[start:end] for start, end in asked.spans] == ["uploader", "slow"]
    assert hits["Is the uploader slow again?"].snippet == "Is the uploader slow again?"


def test_internal_memories_are_not_found(settings: Config) -> None:
    assert "Secret" not in str([hit.snippet for hit in ask(settings, "secret parser mood plan", limit=100).hits])
    assert ask(settings, "secret").total == 0
    assert _prompt(settings, "secret mood plan") == []


# -- the language ------------------------------------------------------------------------------------


def test_a_phrase_must_occur_as_it_stands_whatever_the_punctuation(settings: Config) -> None:
    assert ids(ask(settings, '"out of range"')) == ["c8d7e6f5g4"]
    assert ask(settings, '"range of out"').total == 0
    assert names(ask(settings, '"の設計"')) == ["日本語.md"]


def test_words_can_be_required_and_excluded(settings: Config) -> None:
    assert set(ids(ask(settings, "+date"))) >= {"7gk2q9m4x1", "q1w2e3r4t5"}
    assert "q1w2e3r4t5" not in ids(ask(settings, "+date -picker"))
    assert ids(ask(settings, "date +picker")) == ["q1w2e3r4t5"]
    assert names(ask(settings, "+getUserProfile")) == ["identifiers.md"]


@pytest.mark.parametrize(
    ("words", "name"),
    [("17.2", "db.md"), ("version 5.2.2", "phone.md"), ("upgrade to v17.2", "db.md"), ("3.14", "formula.md")],
)
def test_a_number_is_found_before_notes_with_its_digits_apart(
    vault: Path, settings: Config, words: str, name: str
) -> None:
    texts = {
        "phone.md": ("Ask to test 5.2.2", "Upgrade the phone to version 5.2.2 before."),
        "db.md": ("The database", "The cluster, after an upgrade that took all night, runs PostgreSQL 17.2, it seems."),
        "formula.md": ("The chapter", "What remains to be done for the reviewer is the derivation of (3.14)."),
        "rack.md": ("Rack 2, row 17, shelf 3, slot 14, 5", "Version 2. Rack 17, 2 units, 3 and 14 and 5."),
    }
    for file, (title, text) in texts.items():
        (vault / "notes" / file).write_text(f"---\ntitle: {title}\n---\n{text}\n", "utf-8")

    assert names(ask(settings, words))[0] == name


def test_a_beginning_finds_every_word_that_begins_so(settings: Config) -> None:
    assert names(ask(settings, "postgr*")) == ["decision-storage.md"]
    assert names(ask(settings, "becaus*")) == ["decision-storage.md"]
    assert ask(settings, "ostgr*").total == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("kind:response", {"m2k4j8q1w2", "p9o8i7u6y5"}),
        ("kind:response,prompt project:other-app", {"q1w2e3r4t5"}),
        ("project:other", {"q1w2e3r4t5"}),
        ("session:11223344", {"n4m3b2v1c0", "p9o8i7u6y5"}),
        ("tool:read", {"x81kd0a3bz"}),
        ("tool:read,bash", {"x81kd0a3bz", "c8d7e6f5g4"}),
        ("branch:main", {"7gk2q9m4x1"}),
        ("is:failed", {"c8d7e6f5g4"}),
        ("is:private", {"q1w2e3r4t5"}),
        ("is:failed is:pinned", set()),
        ("is:failed,pinned", {"c8d7e6f5g4", "storage"}),
        ("file:dates.py", {"x81kd0a3bz"}),
        ("file:src/dates.py", {"x81kd0a3bz"}),
        ("file:src/", {"x81kd0a3bz", "storage"}),
        ("file:store.ts", {"storage"}),
        ("file:tore.t", {"storage"}),
        ("file:*.ts", {"storage"}),
        ("file:s*/*ates.py", {"x81kd0a3bz"}),
        ("file:s*ates.py", set()),
        ("file:s**ates.py", {"x81kd0a3bz"}),
        ("file:?ates.py", {"x81kd0a3bz"}),
        ("file:src/**/dates.py", {"x81kd0a3bz"}),
        ("file:**/s*c/**d*.p?", {"x81kd0a3bz"}),
        ("file:src**/dates.py", {"x81kd0a3bz"}),
        ("file:test_dates.py", {"c8d7e6f5g4"}),
        ("tag:decision tag:base", {"storage"}),
        ("tag:decision tag:other", set()),
        ("tag:#base", {"storage"}),
        ("on:yesterday", {"n4m3b2v1c0", "p9o8i7u6y5"}),
        ("since:3d kind:prompt", {"7gk2q9m4x1", "n4m3b2v1c0"}),
        ("until:2026-08-01", {"q1w2e3r4t5", "storage"}),
        ("is:pinned", {"storage"}),
        ("kind:prompt -project:other-app", {"7gk2q9m4x1", "n4m3b2v1c0"}),
        ("kind:nonsense", set()),
    ],
)
def test_filters_give_exactly_the_notes_that_they_name(settings: Config, words: str, expected: set[str]) -> None:
    result = ask(settings, words, limit=100)

    storage = next(hit.id for hit in ask(settings, "is:pinned").hits)
    assert {"storage" if hit.id == storage else hit.id for hit in result.hits} == expected
    assert result.total == len(expected)


@pytest.mark.parametrize("glob", ["*s" * 2_000 + "x", "**/" * 2_000 + "x", "**s" * 2_000 + "x", "**/*s" * 2_000 + "x"])
def test_a_glob_of_many_stars_is_answered_like_any_other(settings: Config, glob: str) -> None:
    assert not ask(settings, "", file=glob).total


def test_what_no_note_has_is_told_once_and_in_short(settings: Config) -> None:
    found = ask(settings, "", tag=["none"] * 3, file="x" * 500)

    assert set(found.hints) == {"No note has tag:none.", f"No note has file:{'x' * 80}."}
    assert len(found.hints) == 2


def test_a_tag_also_finds_the_tags_nested_in_it(settings: Config, vault: Path) -> None:
    for name, tag in {"one": "work", "two": "work/clients/Acme", "three": "workshop"}.items():
        (vault / f"{name}.md").write_text(f"---\ntitle: {name}\ntags: [{tag}]\n---\n\nThe {name} text.\n", "utf-8")

    def titles(words: str) -> set[str]:
        return {hit.title for hit in ask(settings, words).hits}

    assert titles("tag:work") == titles("tag:#work/") == {"one", "two"}
    assert titles("tag:work/clients") == titles("tag:work/clients/acme") == {"two"}
    assert titles("tag:work -tag:work/clients") == {"one"}


def test_options_filter_like_the_language(settings: Config) -> None:
    assert ids(ask(settings, "", kind="response", session="11223344")) == ["p9o8i7u6y5"]
    assert ids(ask(settings, "", state="failed")) == ["c8d7e6f5g4"]
    assert ids(ask(settings, "ship june", kind=["prompt"], on="2026-09-15")) == ["n4m3b2v1c0"]


def test_an_answer_without_notes_names_the_filters_that_no_note_passes(settings: Config) -> None:
    hints = engine.search(settings, "kind:bogus,wrong project:nowhere -tool:none").hints
    assert hints == ("No note has kind:bogus or kind:wrong.", "No note has project:nowhere.")
    assert engine.search(settings, "zzzzunknown kind:prompt").hints == ()


def test_a_misspelled_name_in_a_filter_gets_the_nearest_one(vault: Path, settings: Config) -> None:
    (vault / "s.md").write_text("---\nkind: session\n---\n")

    def hint(query: str) -> str:
        return " ".join(engine.search(settings, query).hints)

    assert hint("kind:promt") == "No note has kind:promt. Did you mean kind:prompt?"
    assert hint("kind:reponse,promt") == (
        "No note has kind:reponse or kind:promt. Did you mean kind:response or kind:prompt?"
    )
    assert hint("kind:lesson") == "No note has kind:lesson."  # not "Did you mean kind:session?"
    assert hint("tool:bsh") == "No note has tool:bsh. Did you mean tool:bash?"
    assert hint("file:zzz") == "No note has file:zzz."


def test_words_with_a_filter_must_match_one_of_the_words(settings: Config) -> None:
    assert ids(ask(settings, "audit kind:response")) == ["p9o8i7u6y5"]
    assert ask(settings, "zebra kind:response").total == 0


# -- order and parts ---------------------------------------------------------------------------------


def test_notes_can_be_ordered_by_time(settings: Config) -> None:
    newest = ids(ask(settings, "kind:prompt", sort="newest"))

    assert newest == ["n4m3b2v1c0", "7gk2q9m4x1", "q1w2e3r4t5"]
    assert ids(ask(settings, "kind:prompt", sort="oldest")) == newest[::-1]
    assert ids(ask(settings, "kind:prompt")) == newest


def test_pages_put_together_are_the_whole_and_the_total_is_right(vault: Path, settings: Config) -> None:
    for number in range(25):
        (vault / f"{number:02d}.md").write_text(f"zebra number{number} {'stripe ' * (number % 3)}")

    whole = ask(settings, "zebra stripe", limit=100, collapse=False)
    pages = [ask(settings, "zebra stripe", limit=4, offset=start, collapse=False) for start in range(0, 28, 4)]

    assert whole.total == len(whole.hits) == 25
    assert {page.total for page in pages} == {25}
    assert [hit.path for page in pages for hit in page.hits] == [hit.path for hit in whole.hits]


def test_notes_that_say_the_same_are_one_hit_unless_all_are_wanted(vault: Path, settings: Config) -> None:
    text = "The zebra build ran for three minutes and then all of the two hundred stripes passed on the first try"
    for number in range(6):
        (vault / f"run-{number}.md").write_text(f"{text}, run {number}.")
    (vault / "other.md").write_text("A zebra that is something else altogether, with quite different words around it.")

    result = ask(settings, "zebra stripes passed")
    assert sorted((hit.path[:3], hit.similar) for hit in result.hits) == [("oth", 0), ("run", 5)]
    assert result.total == 7
    assert len(ask(settings, "zebra stripes passed", collapse=False).hits) == 7


def test_pages_of_collapsed_results_follow_each_other(vault: Path, settings: Config) -> None:
    for group in "abcde":
        for number in range(3):
            words = " ".join(f"{group}{letter}word" for letter in "qwertzuiop")
            (vault / f"{group}{number}.md").write_text(f"zebra {words}")

    pages = [names(ask(settings, "zebra", limit=2, offset=start)) for start in (0, 2, 4)]

    assert sorted(name[0] for page in pages for name in page) == list("abcde")


def test_notes_that_say_the_same_are_found_by_any_of_the_words_they_share(vault: Path, settings: Config) -> None:
    words = [f"stripe{letter}" for letter in "abcdefghijklmnop"]
    for number, word in enumerate(words):
        text = " ".join(word if word != left_out else f"spot{number}" for left_out in [words[number]] for word in words)
        (vault / f"{number:02d}.md").write_text(f"zebra {text}")

    found = ask(settings, "zebra").hits

    assert sum(hit.similar + 1 for hit in found) == 16
    assert len(found) < 8  # by the eight words that stand for a note, at most one differs between most of them


# -- what is shown -----------------------------------------------------------------------------------


def test_many_hits_are_made_one_part_after_another_and_are_the_same(
    vault: Path, settings: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        file = vault / f"{number}.md"
        file.write_text(f"zebra number{number} {'stripe ' * number}")
        os.utime(file, (1_790_000_000, 1_790_000_000))  # a file that was just written is indexed once more
    index.update(settings)  # all of them: a search on a busy machine begins with some
    few = ask(settings, "zebra stripe", collapse=False, limit=100, update=False).hits

    monkeypatch.setattr(hits, "AT_ONCE", 4)
    many = ask(settings, "zebra stripe", collapse=False, limit=100, update=False).hits

    assert isinstance(many, hits.ManyHits)
    assert [(hit.path, hit.snippet, hit.score) for hit in many] == [(hit.path, hit.snippet, hit.score) for hit in few]
    assert (len(many), many[1].path, [hit.path for hit in many[7:]]) == (9, few[1].path, [few[7].path, few[8].path])
    (vault / "3.md").write_text("zebra changed in place")
    assert "changed in place" in {hit.path: hit.snippet for hit in many}["3.md"]


def test_a_hit_carries_what_a_list_shows(settings: Config) -> None:
    (hit,) = ask(settings, "validator").hits

    assert (hit.id, hit.kind, hit.project, hit.session) == ("m2k4j8q1w2", "response", "acme-app", "00893aaf-19fa")
    assert hit.created == "2026-09-14T08:00:01Z"
    assert hit.path.startswith(SESSION)
    assert hit.score > 0
    assert [hit.snippet[start:end] for start, end in hit.spans] == ["validator"]


def test_a_snippet_is_of_the_text_as_it_is_now(vault: Path, settings: Config) -> None:
    index.update(settings)
    file = vault / "notes" / "decision-storage.md"
    file.write_text(file.read_text().replace("PostgreSQL", "PostgreSQL 17"))

    (hit,) = engine.search(settings, "postgresql", engine.SearchOptions(update=False)).hits

    assert "PostgreSQL 17" in hit.snippet


def test_a_title_is_found_in_front_matter_heading_or_text(vault: Path, settings: Config) -> None:
    (vault / "a.md").write_text("---\ntitle: Zebra one\n---\ntext")
    (vault / "b.md").write_text("\n# Zebra two\n\ntext")
    (vault / "c.md").write_text("\n- zebra three\nmore")
    (vault / "zebra four.md").write_text("")
    (vault / "2026-09-14.md").write_text("- [ ] call zebra five\n- [x] done\n")

    found = {hit.path: hit.title for hit in ask(settings, "", limit=100).hits}

    assert found["a.md"] == "Zebra one"
    assert found["b.md"] == "Zebra two"
    assert found["c.md"] == "zebra three"
    assert found["zebra four.md"] == "zebra four"
    assert found["2026-09-14.md"] == "call zebra five"


@pytest.mark.parametrize(
    "header", ["\nA quagga between two rules\n\n", "- quagga\n- zebra\n", "title: Quagga: striped: half\n"]
)
def test_words_of_front_matter_that_cannot_be_read_are_found(vault: Path, settings: Config, header: str) -> None:
    (vault / "notes" / "rules.md").write_text(f"---\n{header}---\n\nThe text.\n")
    assert [hit.path for hit in ask(settings, "quagga").hits] == ["notes/rules.md"]


def test_a_title_on_several_lines_is_shown_on_one(vault: Path, settings: Config) -> None:
    (vault / "notes" / "folded.md").write_text("---\ntitle: >\n  Quagga\n  one\n---\n\nText.\n")
    assert [hit.title for hit in ask(settings, "quagga").hits] == ["Quagga one"]


def test_a_word_that_no_note_has_is_asked_back(settings: Config) -> None:
    assert ask(settings, "postgresqk kind:note").suggestion == "postgresql kind:note"
    assert ask(settings, "pasrer storag").suggestion == "parser storag"
    assert ask(settings, "posgtresqk").suggestion == "postgresql"
    assert ask(settings, "parser").suggestion is None
    assert ask(settings, "xyzzyplugh").suggestion is None


def test_a_word_is_suggested_of_which_one_note_was_rewritten(vault: Path) -> None:
    """Of the segment in which that note was, no note has the word any more."""
    settings = config.load(str(vault))
    (vault / "notes").mkdir(exist_ok=True)
    for name in ("one", "two", "three", "four", "five"):
        path = vault / "notes" / f"{name}.md"
        path.write_text("# Uploads\n" if name == "one" else "# A chapter\n")
        os.utime(path, (1e9, 1e9))  # long ago, or all are read again
    index.update(settings)
    (vault / "notes/one.md").write_text("# Uploads are retried\n")
    assert index.update(settings).changed == 1
    view = index.current(settings)
    assert view is not None
    assert spelling.suggest(view, settings.vault, query.parse("uploadds")) == "uploads"


def test_operators_that_cannot_be_read_leave_a_hint(settings: Config) -> None:
    result = ask(settings, "parser since:whenever")

    assert result.total > 0
    assert "as a time. Try" in result.hints[0]


# -- other questions ---------------------------------------------------------------------------------


def test_many_questions_are_answered_in_one_go_as_plain_words(settings: Config) -> None:
    questions = [("q1", 'What did "the validator" do -now?'), ("q2", "ship date"), ("q3", "zzz")]

    answers = dict(engine.batch(settings, iter(questions), limit=3))

    assert answers["q1"][0].endswith("m2k4j8q1w2.md")
    assert len(answers["q2"]) == 3
    assert answers["q3"] == []
    assert json.dumps(answers)


def test_related_notes_share_what_is_typical_of_a_note(vault: Path, settings: Config) -> None:
    (vault / "notes" / "more.md").write_text("PostgreSQL window functions make the reports faster.")

    result = engine.related(settings, "notes/decision-storage.md")

    assert names(result)[0] == "more.md"
    assert "decision-storage.md" not in names(result)
    with pytest.raises(NotFoundError):
        engine.related(settings, "no-such-note")


def test_one_word_in_common_relates_no_notes_where_few_notes_are_stored(
    fresh: Callable[[], Path], ask: Callable[..., CompletedProcess[str]]
) -> None:
    notes = fresh() / "notes"
    notes.mkdir()
    for name, text in {
        "csv": "The CSV export uses semicolons, because Excel in Germany expects them. We use UTF-8 with a mark.",
        "dates": "The parser of dates accepts ISO 8601 only; we use it in the import, as other forms are ambiguous.",
        "releases": "Releases are cut on Tuesdays, never on Fridays; the manager writes the changelog.",
        "newline": "CSV export: the last row must end with a newline, or Excel drops it.",
        "anna": "Anna prefers short answers in German.",
    }.items():
        (notes / f"{name}.md").write_text(text, "utf-8")

    def related(name: str) -> list[str]:
        return [hit["path"] for hit in json.loads(ask("related", f"notes/{name}.md", "--json", check=True).stdout)]

    assert related("csv") == ["notes/newline.md"]
    assert related("newline") == ["notes/csv.md"]
    assert related("dates") == []


def _prompt(settings: Config, text: str, **how: Any) -> list[str]:
    found = answering.answers(settings, text, answering.Asker(now=NOW, **how), limit=100, budget_seconds=60)
    return [hit.id for answer in found for hit in answer.hits]


def test_a_prompt_is_reminded_of_its_project_and_of_notes_of_none(settings: Config) -> None:
    text = "The date picker fails: " + "is the parser wrong about the storage in PostgreSQL? " * 5

    everywhere = _prompt(settings, text)
    here = _prompt(settings, text, project="acme-app")

    assert "q1w2e3r4t5" in everywhere
    assert "q1w2e3r4t5" not in here
    assert "7gk2q9m4x1" in here
    storage = next(hit.id for hit in ask(settings, "is:pinned").hits)
    assert storage in here


def test_a_prompt_is_not_reminded_of_its_own_session(settings: Config) -> None:
    assert "7gk2q9m4x1" in _prompt(settings, "date parser")
    assert "7gk2q9m4x1" not in _prompt(settings, "date parser", without_session="00893aaf-19fa")


def test_a_prompt_is_plain_words_whatever_is_in_it(settings: Config) -> None:
    assert _prompt(settings, '"unclosed kind:nothing -parser +zzz since:never date parser')[0]
    assert _prompt(settings, "") == []
    assert _prompt(settings, "???") == []


def test_what_was_said_counts_more_to_an_agent_than_what_a_tool_printed(vault: Path, settings: Config) -> None:
    for kind in ("observation", "response"):
        meta = {"id": f"{kind}000", "kind": kind, "created": "2026-09-14T08:00:01Z"}
        (vault / f"{kind}.md").write_text(f"{front_matter.render(meta)}\nThe zebra crossing is {kind}.\n")

    assert _prompt(settings, "zebra crossing")[0] == "response000"


def _indexed(settings: Config) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in Path(settings.index_dir).iterdir()}


def test_a_prompt_sees_the_newest_notes_without_writing_the_index(vault: Path, settings: Config) -> None:
    for folder in (vault, *(path for path in vault.rglob("*") if path.is_dir())):
        os.utime(folder, ns=(10**18 + 1, 10**18 + 1))
    index.update(settings)
    before = _indexed(settings)
    session = vault / SESSION
    (session / "002-000-prompt-zebra.md").write_text("---\nid: new0000001\n---\nA zebra crossing in src/zebra.ts")
    changed = next(session.glob("001-003-*"))
    os.replace(_saved(vault / ".new", changed.read_text().replace("leap year", "zebra year")), changed)
    next(session.glob("001-000-*")).unlink()

    found = _prompt(settings, "zebra, date, parser")

    assert set(found) >= {"new0000001", "m2k4j8q1w2"}
    assert "7gk2q9m4x1" not in found
    assert _prompt(settings, "leap") == []
    assert _indexed(settings) == before
    assert "new0000001" in _prompt(settings, "zebra", project="acme-app")


def test_many_new_notes_are_indexed_by_the_prompt_that_finds_them(vault: Path, settings: Config) -> None:
    index.update(settings)
    for number in range(pending.MAX_NOTES + 1):
        (vault / f"zebra-{number}.md").write_text(f"zebra {number}")

    assert len(_prompt(settings, "zebra")) == pending.MAX_NOTES + 1
    assert (
        len(engine.search(settings, "zebra", engine.SearchOptions(collapse=False, limit=100, update=False)).hits)
        == pending.MAX_NOTES + 1
    )


def test_what_the_asking_session_has_just_stored_is_not_read_for_its_answer(vault: Path, settings: Config) -> None:
    session = "3f6c2a1e-5b7d-4c88-9a10-0c1d2e3f4a5b"
    folder = vault / "journal" / "acme-app" / "2026-09-16" / "0900-zebra-3f6c2a1e"
    folder.mkdir(parents=True)
    index.update(settings)
    stored = folder / "001-000-prompt-zebra-a1b2c3d4e5.md"
    stored.write_text("Which zebra did we pick?")
    path = stored.relative_to(vault).as_posix()

    without, everything = index.glance(settings, session), index.glance(settings)

    assert without is not None and without.find(path) is None
    assert everything is not None and everything.find(path) is not None


def _saved(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_any_folder_of_markdown_can_be_searched(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "wiki"
    (folder / "team" / "2024-01-05").mkdir(parents=True)
    (folder / "README.md").write_text("# Handbook\n\nHow we work.")
    (folder / "team" / "2024-01-05" / "02.md").write_text("---\nspeaker: Ann\nduration: 30\n---\nIn June!")
    (folder / "team" / "2024-01-05" / "01.md").write_text("---\nspeaker: Bob\n---\nWhen is the retreat?")
    settings = config.load(str(folder))

    assert {hit.path for hit in ask(settings, "retreat Ann").hits} == {"team/2024-01-05/01.md", "team/2024-01-05/02.md"}
    assert names(ask(settings, "ann"))[0] == "02.md"
    assert names(ask(settings, "on:2024-01-05 retreat"))[0] == "01.md"
    assert names(ask(settings, "handbook")) == ["README.md"]
    assert sorted(path.name for path in folder.rglob("*")) == ["01.md", "02.md", "2024-01-05", "README.md", "team"]


def test_an_answer_has_the_words_of_its_question_before_it(tmp_path: Path, home: Path) -> None:
    for folder, texts in (("a", ["In June!", "When is the retreat?"]), ("b", ["When is the retreat?", "In June!"])):
        (tmp_path / folder).mkdir()
        for number, text in enumerate(texts, 1):
            (tmp_path / folder / f"{number:02}.md").write_text(text)

    assert ask(config.load(str(tmp_path)), "June retreat", collapse=False).hits[0].path == "b/02.md"


def test_one_rare_word_tells_more_than_several_that_many_notes_have(tmp_path: Path, home: Path) -> None:
    for number in range(19):
        (tmp_path / f"{number:02}.md").write_text("It builds checks reports daily.")
    (tmp_path / "99.md").write_text("The kraken answers hides.")

    assert ask(config.load(str(tmp_path)), "builds checks reports kraken").hits[0].path == "99.md"


def test_an_empty_vault_is_asked_in_vain(vault: Path) -> None:
    settings = config.load(str(vault))

    result = ask(settings, "anything")
    assert (result.hits, result.total, result.hints, result.suggestion) == ((), 0, (), None)


@pytest.mark.parametrize(
    "words", ["", " ", "the", "-x", "+", '""', "*", "a" * 10_000, "x " * 5_000, "\0", "東" * 2_000, "📦"]
)
def test_any_text_is_a_query_and_raises_no_error_in_any_order(settings: Config, words: str) -> None:
    for sort in engine.SORTS:
        assert ask(settings, words, sort=sort).total >= 0


def test_a_question_in_another_language_finds_other_forms_of_its_words(tmp_path: Path) -> None:
    for number, text in enumerate(["Los parsers de fechas fallan en años bisiestos.", "La red va despacio.", "Nada."]):
        (tmp_path / f"nota {number}.md").write_text(text, encoding="utf-8")
    for asked in ("¿Por qué falla el parser con la fecha del año bisiesto?", "el fallo de una fecha"):
        assert engine.search(config.load(str(tmp_path)), asked).hits[0].path == "nota 0.md"
    (tmp_path / "auth.md").write_text("El auth caduca.", encoding="utf-8")
    assert engine.search(config.load(str(tmp_path)), "¿Cómo es la authentication?").hits[0].path == "auth.md"


@pytest.mark.parametrize("command", ["/mdmem:memory-search date parser", "/memory-history date parser"])
def test_a_command_that_looks_something_up_is_no_answer(vault: Path, tmp_path: Path, command: str) -> None:
    talk = Talk(vault, tmp_path / "notes-app")
    talk.says("Why does the date parser refuse leap days in the year 2100, and what can we do about it?")
    talk.answers("The date parser took every fourth year for a leap year. It now asks the calendar.")
    later = Talk(vault, tmp_path / "notes-app", "1" * 8 + "-0000-4000-8000-000000000000")
    later.says(command)
    later.answers("Nothing but the date parser of last week.")
    settings = config.load(str(vault))
    index.update(settings)

    found = [hit.session for hit in engine.search(settings, "date parser").hits]
    assert found[0] == talk.session
    answers = answering.answers(settings, "date parser", answering.Asker())
    assert {hit.session for answer in answers for hit in answer.hits} == {talk.session}
