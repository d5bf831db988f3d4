"""Searching prompts: the language of FTS5, on real prompts, with hints for what is not understood."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.search.prompts import language
from mdmem.vault import journal
from tests.helpers.server_calls import Server

TEXTS = {
    "first": "The validation of dates fails in dates.py",
    "second": "Add validation to the import form",
    "third": "The third validation rule is wrong, fix the parser",
    "fourth": "Why does the date parser, of all things, fail on leap days?",
    "fifth": "Rename user_id to account in the schema for September",
}


@pytest.fixture
def prompts(vault: Path) -> dict[str, str]:
    """Write two sessions' prompts; return their names by id."""
    ids = {}
    for number, (name, text) in enumerate(TEXTS.items(), 1):
        session = "aaaa1111" if number <= 3 else "bbbb2222"
        project = "acme" if number <= 3 else "other"
        home = vault / "journal" / project / "2026-09-14" / f"0800-x-{session}"
        home.mkdir(parents=True, exist_ok=True)
        head = f"id: p{number:09d}\nkind: prompt\ntitle: {json.dumps(text)}\ncreated: 2026-09-1{number}T08:00:00Z\n"
        head += f"project: {project}\nsession: {session}-19fa\nprompt: {number}\ntags: [orange]\n"
        (home / f"00{number}-000-prompt-x.md").write_text(f"---\n{head}---\n\n{text}\n")
        ids[f"p{number:09d}"] = name
    return ids


@pytest.fixture
def server(vault: Path) -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


CASES = [
    ("validation NOT third", {"first", "second"}),
    ("validation AND dates", {"first"}),
    ("import OR leap", {"second", "fourth"}),
    ("import OR leap AND parser", {"second", "fourth"}),
    ("(import OR leap) AND form", {"second"}),
    ("validation parser", {"third"}),
    ('"validation rule"', {"third"}),
    ('"rule validation"', set()),
    ("NEAR(date parser, 5)", {"fourth"}),
    ("NEAR(parser leap, 4)", set()),
    ("NEAR(parser leap, 5)", {"fourth"}),
    ("NEAR(leap parser 6)", set()),
    ('NEAR("date parser" "leap days")', {"fourth"}),
    ("valid*", {"first", "second", "third"}),
    ('"the dat"*', {"fourth"}),
    ("^the", {"first", "third"}),
    ("prompt_text:leap", {"fourth"}),
    ("prompt_text:(leap OR form)", {"second", "fourth"}),
    ("prompt:3", {"third"}),
    ("validation prompt:2", {"second"}),
    ("prompt:2 OR prompt:5", {"second", "fifth"}),
    ("NOT validation", {"fourth", "fifth"}),
    ("validation -third -form", {"first"}),
    ("validation AND project:acme NOT form", {"first", "third"}),
    ("project:other", {"fourth", "fifth"}),
    ("-project:other", {"first", "second", "third"}),
    ("dates.py", {"first"}),
    ("prompt_text:orange", set()),  # a tag is not text
    ("prompt_text:september", {"fifth"}),  # nor is a date
    ("why does the parser fail on days", {"fourth"}),
    ("", set(TEXTS)),
]


@pytest.mark.parametrize(("query", "names"), CASES)
def test_the_language_means_what_it_means_in_fts5(
    server: Server, prompts: dict[str, str], query: str, names: set[str]
) -> None:
    answer = server.call("search_user_prompts", {"query": query})

    assert not answer.error, answer.said
    assert {prompts[one["id"]] for one in answer.value["entries"]} == names
    assert answer.value["total"] == len(names)


@pytest.mark.parametrize("query", ["kind:response", "validation -kind:prompt"])
def test_notes_of_other_kinds_are_no_prompts(server: Server, prompts: dict[str, str], query: str) -> None:
    answer = server.call("search_user_prompts", {"query": query})
    assert (answer.value["entries"], answer.value["total"]) == ([], 0)
    assert answer.value["hints"] == ["Only prompts are searched here. `search` finds notes of other kinds."]
    every = server.call("search_user_prompts", {"query": "kind:prompt,response"})
    assert every.value["total"] == len(prompts)


@pytest.mark.parametrize(
    "query",
    [
        "validation NOT third", "validation NOT third parser", "form OR leap AND date", "(form OR leap) AND date",
        "validation NOT form OR leap", "NEAR(parser leap, 4)", "NEAR(parser leap, 5)", "NEAR(leap parser, 5)",
        'NEAR("date parser" "leap days", 4)', 'NEAR("date parser" "leap days", 5)', "NEAR(the validation)", "valid*",
        '"third validation" wrong', '"validation third"', "^the", "^validation", "prompt_text : leap", '"the dat"*',
        "validation AND NEAR(third rule, 1) AND fix", "NEAR(third rule, 0)", "the NOT (leap OR form OR dates)",
    ],
)  # fmt: skip
def test_fts5_itself_answers_the_same(server: Server, prompts: dict[str, str], query: str) -> None:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("create virtual table t using fts5(name unindexed, prompt_text)")
        base.executemany("insert into t values (?, ?)", TEXTS.items())
        wanted = {name for (name,) in base.execute("select name from t where t match ?", (query,))}

    answer = server.call("search_user_prompts", {"query": query})

    assert {prompts[one["id"]] for one in answer.value["entries"]} == wanted


def test_plain_words_have_all_or_else_some_and_say_so(server: Server, prompts: dict[str, str]) -> None:
    found = server.call("search_user_prompts", {"query": "leap schema"}).value

    assert {prompts[one["id"]] for one in found["entries"]} == {"fourth", "fifth"}
    assert any("has all of these words" in hint for hint in found["hints"])


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("validation AND", "AND needs something after it"),
        ("OR validation", "OR needs something before it"),
        ("validation NOT", "NOT needs something after it"),
        ('"validation', "never closed"),
        ("(validation", "( is never closed"),
        ("validation)", "is not expected there"),
        ("()", "nothing between"),
        ("NEAR(date parser, soon)", "NEAR takes a number"),
        ("NEAR(date", "NEAR takes words"),
        ("prompt:three", "prompt: takes a number"),
        ("since:whenever", "whenever"),
        ("is:odd", "is:"),
    ],
)
def test_what_is_not_understood_gets_a_hint_and_no_answer(
    server: Server, prompts: dict[str, str], query: str, hint: str
) -> None:
    found = server.call("search_user_prompts", {"query": query}).value

    assert found["entries"] == []
    assert any(hint in each for each in found["hints"]), found["hints"]


@pytest.mark.parametrize("joined", [" ", " -", " AND ", " OR ", " NOT ", " -a "])
def test_a_query_of_many_words_is_answered(server: Server, prompts: dict[str, str], joined: str) -> None:
    answer = server.call("search_user_prompts", {"query": joined.join(["leap"] * 400)})

    assert "total" in answer.value


@pytest.mark.parametrize(("query", "hint"), [("validation not third", "NOT in capitals"), ("foo:leap", "no filter")])
def test_what_may_be_meant_otherwise_gets_a_hint(
    server: Server, prompts: dict[str, str], query: str, hint: str
) -> None:
    assert any(hint in each for each in server.call("search_user_prompts", {"query": query}).value["hints"])


def test_each_hit_has_its_session_number_project_time_and_text(server: Server, prompts: dict[str, str]) -> None:
    (one,) = server.call("search_user_prompts", {"query": "leap", "format": "full"}).value["entries"]

    assert one == {
        "id": "p000000004", "session": "bbbb2222-19fa", "prompt": 4, "project": "other", "date": "2026-09-14 08:00",
        "text": TEXTS["fourth"],
    }  # fmt: skip


def test_prompts_are_narrowed_ordered_and_paged(server: Server, prompts: dict[str, str]) -> None:
    def ask(**arguments: str | int) -> list[str]:
        entries = server.call("search_user_prompts", arguments).value["entries"]
        return [prompts[one["id"]] for one in entries]

    assert ask(order="oldest") == list(TEXTS)
    assert ask(order="newest", limit=2, offset=1) == ["fourth", "third"]
    assert ask(session="bbbb", order="oldest") == ["fourth", "fifth"]
    assert ask(project="acme", since="2026-09-12", order="oldest") == ["second", "third"]
    assert ask(query="validation", until="2026-09-12", order="oldest") == ["first", "second"]
    assert server.call("search_user_prompts", {"order": "best"}).error
    assert server.call("search_user_prompts", {"format": "long"}).error


@pytest.mark.slow
def test_the_command_answers_as_the_tool_does(
    server: Server, prompts: dict[str, str], mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    for query in ("validation NOT third", "NEAR(parser leap, 6)", "prompt:2 OR prompt:5"):
        told = server.call("search_user_prompts", {"query": query}).value["entries"]
        printed = json.loads(mdmem("prompts", query, "--json").stdout)
        assert [one["id"] for one in printed] == [one["id"] for one in told]
    shown = mdmem("prompts", "leap", "--full")
    assert f"{journal.session_tag('bbbb2222-19fa')} prompt 4  other" in shown.stdout
    assert TEXTS["fourth"] in shown.stdout
    assert "AND needs something after it" in mdmem("prompts", "leap AND").stderr


@given(st.lists(st.sampled_from(
    ["a", "word", "AND", "OR", "NOT", "NEAR(", "(", ")", '"', "*", ",", "5", "prompt:3", "x:y", "^", "-"]
), max_size=14))  # fmt: skip
def test_any_query_is_read_or_refused(parts: list[str]) -> None:
    found = language.parse(" ".join(parts))

    assert found.problem == "" or found.tree is None
    assert all(leaf.text for leaf in language.leaves(found.tree))


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    language.parse(text)
    assert not language.parse("(" * 5_000).tree
