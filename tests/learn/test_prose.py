"""Prose: a paragraph that a model writes on request, from nothing that an agent would not be given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.learn import decisions
from mdmem.search.expansion import ledger
from mdmem.vault import user_notes
from tests.helpers import cli_day
from tests.helpers.model_server import ModelServer
from tests.helpers.open_work import FAILED, Work

SPAN = ("digest", "--on", "2026-09-14")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    found = ModelServer()
    yield found
    found.close()


@pytest.fixture
def at(tmp_path: Path) -> Work:
    made = Work(cli_day.empty(tmp_path), tmp_path)
    one = made.session(1)
    one.ask("Fix the date parser, please <private>before Bob SEES it</private>")
    one.run("pytest -q", FAILED)
    one.edit("src/dates.py")
    one.run("pytest -q")
    one.answer("The parser asks the calendar. It knows leap days now.")
    one.ask("ok")
    one.answer("Anything else?")
    return made


def configure(at: Work, server: ModelServer, **learn: Any) -> None:
    """Write the user's own settings: a compatible server, and rows of [learn]."""
    file = Path(config.user_file(at.day.env))
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{key} = {json.dumps(value)}\n" for key, value in learn.items())
    file.write_text(
        f'[expand]\nprovider = "compatible"\nmodel = "small"\naddress = "{server.address}/v1"\n\n[learn]\n{rows}'
    )


def sent(server: ModelServer) -> str:
    """Return the text of the only request."""
    ((_, _, body),) = server.requests
    return str(body["messages"][1]["content"])


def test_a_model_writes_a_paragraph_that_cites_what_it_was_given_and_brings_no_markup(
    at: Work, server: ModelServer
) -> None:
    configure(at, server)
    answer = at.day.id("The parser asks the calendar. It knows leap days now.")
    server.speaks(
        "openai", f"You fixed the parser [mem:{answer}] and [mem:aaaaaaaaaa] saw <img src=x> ![a](http://b/c)."
    )

    said = at.day.run(*SPAN, "--prose").stdout

    head, prose, by, rest = said.split("\n\n", 3)
    assert prose == f"You fixed the parser [mem:{answer}] and saw \\<img src=x> !\\[a\\](http://b/c)."
    assert by == "*Written by compatible small; what follows is from the notes.*"
    assert f"{head}\n\n{rest}" == at.day.run(*SPAN).stdout
    assert f"- answered: The parser asks the calendar. It knows leap days now. [mem:{answer}]" in sent(server)
    assert "- asked: Fix the date parser, please" in sent(server)
    (row,) = ledger.read(at.day.config())
    assert (row["caller"], row["provider"], row["outcome"]) == ("digest", "compatible", "ok")
    assert row["sent_chars"] >= len(sent(server))


@pytest.mark.slow
def test_nothing_leaves_that_an_agent_would_not_be_given(at: Work, server: ModelServer) -> None:
    settings = at.day.config()
    old = decisions.add(settings, "Superseded words", "Old.", kind="decision", project="app", now=at.now)
    decisions.add(settings, "Words in force", "New.", kind="decision", supersedes=old.id, project="app", now=at.now)
    decisions.add(settings, "Proposed words", "By an agent.", kind="lesson", proposed=True, project="app", now=at.now)
    made = user_notes.add(settings, "Private words", "Hush.", project="app", now=at.now)
    user_notes.set_keys(settings, made.path, {"private": True})
    user_notes.add(settings, "Words of another project", "Elsewhere.", project="secret-client", now=at.now)
    kept = at.day.path("Fix the date parser, please")
    configure(at, server)
    file = Path(config.user_file(at.day.env))
    file.write_text(file.read_text() + '[capture]\nexclude_projects = ["secret-*"]\n')
    server.speaks("openai", "A paragraph about the work of the day.")

    at.day.run(*SPAN, "--prose")

    said = sent(server)
    assert "Words in force" in said
    assert not [
        words for words in ("Superseded", "Proposed", "Private words", "another project", "SEES") if words in said
    ]
    server.requests.clear()
    kept.write_text(kept.read_text().replace("private: 1\n", "private: true\n"))
    at.day.run(*SPAN, "--prose")
    assert "Fix the date parser" not in sent(server)


def test_no_model_is_asked_unless_the_user_says_so(at: Work, server: ModelServer) -> None:
    configure(at, server)
    server.speaks("openai", "A paragraph about the work of the day.")
    (at.day.vault / "mdmem.toml").write_text("[learn]\nprose = true\n")
    at.day.run(*SPAN)
    assert server.requests == []
    configure(at, server, prose=True)
    assert at.day.json(*SPAN)["prose"]["text"] == "A paragraph about the work of the day."
    at.day.run(*SPAN, "--no-prose")
    at.day.run("digest", "latest", "--for-agent")
    assert len(server.requests) == 1
    assert "does not go with --prose" in str(at.day.attempt("digest", "latest", "--for-agent", "--prose").exception)


@pytest.mark.slow
def test_the_budget_of_a_day_ends_the_calls_and_the_digest_is_complete_all_the_same(
    at: Work, server: ModelServer
) -> None:
    configure(at, server, prose_chars=5_000)
    server.speaks("openai", "A paragraph about the work of the day. " * 50)
    plain = at.day.run(*SPAN).stdout
    assert at.day.run(*SPAN, "--prose").stdout != plain
    done = at.day.run(*SPAN, "--prose")
    assert done.stdout == plain
    assert "Today's budget for digests has" in done.stderr
    assert len(server.requests) == 1


def test_without_a_model_a_paragraph_that_was_asked_for_names_the_help_page(at: Work) -> None:
    done = at.day.run(*SPAN, "--prose", env={"PATH": ""})
    assert done.stdout == at.day.run(*SPAN).stdout
    assert done.stderr == "No model wrote a paragraph. None is set up: `mdmem help cost` says how.\n"


def test_a_server_that_fails_leaves_the_digest_complete(at: Work, server: ModelServer) -> None:
    configure(at, server)
    server.status = 500
    done = at.day.run(*SPAN, "--prose")
    assert done.stdout == at.day.run(*SPAN).stdout
    assert "No model wrote a paragraph." in done.stderr
    assert "mdmem stats --model" in done.stderr
