"""The trigger: many ways to ask in several languages are answered from a vault; ordinary prompts are not."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from mdmem import config
from mdmem.agents import Event
from mdmem.inject import bars, context, evidence, process
from mdmem.search import answering, engine, freshness, index
from mdmem.search.asking import shape
from tests.conftest import session_pages
from tests.helpers.injected import after_sessions, entries, new_session
from tests.helpers.talk import Talk

NOW = 1_795_000_000
"""When prompts are given: how old a note is decides what comes first."""

SESSIONS = (
    (
        "Celery is too much for two jobs a day",
        "app/scheduler.py",
        "The jobs run from cron now; the celery workers are gone, since a broker for two jobs a day was not worth it.",
    ),
    (
        "ledger.py deadlocks under load",
        "app/ledger.py",
        "The deadlock in ledger.py came from locking accounts in any order. Rows are locked sorted by id now.",
    ),
    (
        "Move the login to authlib",
        "app/oauth.py",
        "The OAuth migration to authlib works for one provider. Left: the other provider and token refresh.",
    ),
    (
        "Which TLS library for the SMTP relay?",
        "relay/tls.py",
        "We picked rustls for the SMTP relay over OpenSSL: the build is smaller.",
    ),
    (
        "The thumbnailer eats memory",
        "media/thumbs.py",
        "The memory leak in the thumbnailer was a cache of open images without a bound; it holds 64 now.",
    ),
    (
        "The ARM build is broken",
        "ci/build.yml",
        "The ARM build was broken by a wheel that is not published; the workaround builds it from source.",
    ),
    (
        "The sitemap times out",
        "web/sitemap.py",
        "The sitemap generator read all products; it pages through them in steps of 500 now.",
    ),
    (
        "Draw the pricing rollout plan",
        "docs/pricing.md",
        "The pricing service is rolled out by region; the first rollout failed since the currency table was empty.",
    ),
    (
        "Snapshots differ between machines",
        "tests/snap.py",
        "The flaky snapshot came from timezones: the formatter used the local zone.",
    ),
    (
        "Pin protobuf",
        "pyproject.toml",
        "protobuf is pinned to 4 because the generated stubs need it.",
    ),
    (
        "Add a settings page",
        "web/settings.py",
        "The settings page is done.",
    ),
    (
        "Load the configuration from a file",
        "app/config.py",
        "The configuration is loaded from TOML.",
    ),
    (
        "Make the header sticky",
        "web/header.css",
        "The header is sticky.",
    ),
    (
        "Clean up the linter warnings",
        "app/util.py",
        "No warnings are left.",
    ),
)

ASKING = (
    "why did we drop the celery workers?",
    "what made us replace celery with cron",
    "the deadlock in ledger.py is back, how did we get rid of it last time?",
    "which of the TLS libraries did we end up with for the relay?",
    "how was the memory leak in the thumbnailer solved?",
    "what was the workaround for the broken ARM build?",
    "didn't we see the sitemap generator time out before?",
    "have we had trouble with the sitemap generator before?",
    "what went wrong with the first rollout of the pricing service?",
    "you said the flaky snapshot came from timezones, right?",
    "which version of protobuf were we stuck on?",
    "why is protobuf pinned to 4?",
    "what's left on the oauth migration to authlib?",
    "let's continue with the oauth migration from last week",
    "do we have notes on the SMTP relay?",
    "is there anything in the journal about the smtp relay?",
    "same deadlock in ledger.py as last month",
    "I forgot what the thumbnailer leak was",
    "summarize what we've done about the OAuth migration so far",
    "where were we with authlib?",
    "Wieso hatten wir die Celery-Worker rausgeworfen?",
    "Welche TLS-Bibliothek haben wir für das SMTP-Relay genommen?",
    "Lass uns mit der OAuth-Migration von letzter Woche weitermachen",
    "Pourquoi avait-on retiré celery ?",
    "Continuons la migration OAuth commencée hier",
    "¿No habíamos arreglado ya el deadlock de ledger.py?",
    "Sigamos con la migración de OAuth de la semana pasada",
    "Perché abbiamo tolto celery?",
    "Waarom hebben we celery eruit gehaald?",
    "Почему мы убрали celery?",
    "ledger.pyのデッドロック、前にどうやって直したっけ？",
    "先週、SMTPのTLSライブラリはどれを選んだ？",
    "之前ledger.py的死锁是怎么解决的？",
    "我们为什么把celery换掉了？",
    "지난주에 ledger.py 데드락을 어떻게 해결했지?",
    "is there a reason protobuf is pinned to 4?",
    "protobuf: why 4?",
    "the deadlock in ledger.py is back",
    "the sitemap generator timed out once more",
    "the memory leak in the thumbnailer, how was that solved",
    "I thought the deadlock in ledger.py was fixed?",
    "explain why we don't use celery workers any more",
    "show me earlier work on the pricing rollout",
    "what do I need to know about the sitemap generator?",
    "did the OAuth migration to authlib cause any trouble?",
    "back to the oauth migration",
    "what's left on the authlib migration?",
    "Der Deadlock in ledger.py ist wieder da",
    "Wieso ist protobuf auf 4 gepinnt?",
    "Gibt es Notizen zum SMTP-Relay?",
    "Mach bei der OAuth-Migration weiter",
    "Pourquoi protobuf est-il épinglé ?",
    "C'était quoi le problème avec le sitemap generator ?",
    "¿Por qué está fijado protobuf?",
    "¿Qué pasó con el deadlock de ledger.py?",
    "protobufはなぜ固定されているの？",
    "protobuf为什么锁定在4？",
    "继续做authlib的迁移",
)

ORDINARY = (
    "write a migration that adds a nullable column to orders",
    "how do I mock datetime.now in pytest?",
    "what's the best way to paginate in graphql?",
    "can you explain this regex?",
    "run the tests",
    "does this function handle empty lists?",
    "rename last_seen to previous_login everywhere",
    "undo the last change",
    "use the previous implementation as a fallback",
    "is this thread safe?",
    "why does mypy complain here?",
    "what did you just do?",
    "did the tests pass?",
    "are there any other callers of this method?",
    "add an 'already exists' error to the signup form",
    "we should handle timeouts in the client",
    "the tests failed, fix them",
    "it worked before your change",
    "let's go back to the first approach you showed",
    "continue",
    "please continue",
    "ok what's next?",
    "find commits from last week that touched auth",
    "list all users who logged in yesterday",
    "show the last 10 log lines",
    "which files did you modify?",
    "what is our test coverage?",
    "TypeError: 'NoneType' object is not subscriptable",
    "check the notes.md file for spelling",
    "the cache stores what was decided by the router",
    "the job had already been processed, so skip it",
    "Füge einen Test für den Export hinzu",
    "Wie funktioniert die Funktion?",
    "Mach weiter",
    "Comment fonctionne cette fonction ?",
    "¿Podemos usar redis aquí?",
    "この関数は何をするの？",
    "続けて",
    "这个函数怎么用？",
    "继续",
    "계속해",
    "have the tests passed?",
    "don't use sleep in tests",
    "what is a deadlock?",
    "is rustls faster than OpenSSL?",
    "again please",
    "it's back to normal now",
    "tell me what this does",
    "why is my build so slow?",
    "was that all?",
    "Warum ist das so langsam?",
    "Kannst du das nochmal prüfen?",
    "Continúa",
    "Encore la même erreur",
    "¿Por qué es tan lento?",
    "もう一度お願いします",
    "再试一次",
)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> tuple[config.Config, str]:
    """Make a vault of work of several weeks, once for all prompts."""
    root = tmp_path_factory.mktemp("journal")
    vault = root / "vault"
    vault.mkdir()
    (vault / "mdmem.toml").touch()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("STATE", "CACHE", "CONFIG"):
            patch.setenv(f"XDG_{name}_HOME", str(root / name.lower()))
        for number, (asked, file, ended) in enumerate(SESSIONS):
            talk = Talk(vault, root / "shop", f"{number:08d}-19fa-41d2-8238-13269b9b3ca0")
            talk.now += 86_400 * number
            talk.start()
            talk.says(asked)
            talk.edits(file)
            talk.answers(ended)
        settings = config.load(str(vault))
    index.update(settings)
    return settings, str(root / "shop")


def block(journal: tuple[config.Config, str], prompt: str) -> str:
    """Return what a prompt is given as the first of a new session."""
    settings, cwd = journal
    event = Event(agent="claude-code", name="UserPromptSubmit", session="new", cwd=cwd, prompt=prompt)
    found = context.explain(settings, event, NOW, time.monotonic() + 240)
    return found.block.text if found.block else ""


@pytest.mark.slow
def test_most_ways_to_ask_are_answered(journal: tuple[config.Config, str]) -> None:
    silent = [prompt for prompt in ASKING if not block(journal, prompt)]

    assert len(silent) <= 0.1 * len(ASKING), silent


@pytest.mark.parametrize(
    "prompt",
    [
        "Where did I leave off?",
        "Was haben wir gestern gemacht?",
        "catch me up",
        "where did we leave off with shop?",
        "what was the last thing in shop?",
    ],
)
def test_a_prompt_that_resumes_work_is_given_what_was_done_last(
    journal: tuple[config.Config, str], prompt: str
) -> None:
    given = block(journal, prompt)

    assert given.find("linter warnings") < given.find("header sticky") < given.find("configuration")
    assert "linter warnings" in given


def test_what_is_left_is_answered_by_the_last_sessions_where_little_fits(journal: tuple[config.Config, str]) -> None:
    left, decided = shape.of("what's left on the zeppelin export?"), shape.of("what did we decide on the export?")
    assert left is not None and decided is not None

    assert "linter warnings" in block(journal, "what's left on the zeppelin export?")
    assert bars.of_question(left) != bars.of_question(decided)


@pytest.mark.parametrize(
    "prompt",
    [
        "pick up the zeppelin mooring from the other day",
        "let's get back to the zeppelin mooring, what's left to do?",
        "Wo waren wir beim Luftschiffhafen stehen geblieben?",
        "why did we leave snowflake?",
    ],
)
def test_a_prompt_that_goes_on_with_work_nobody_did_is_given_nothing(
    journal: tuple[config.Config, str], prompt: str
) -> None:
    assert block(journal, prompt) == ""


def test_a_prompt_that_goes_on_with_work_known_by_a_part_of_its_name_is_given_what_was_done_last(
    journal: tuple[config.Config, str],
) -> None:
    assert "linter warnings" in block(journal, "let's get back to the zeppelin header")


@pytest.mark.parametrize("prompt", ["Pourquoi est-ce qu'on a gardé celery ?", "почему мы запускали celery?"])
def test_one_rare_word_is_enough_in_another_language(journal: tuple[config.Config, str], prompt: str) -> None:
    assert "cron" in block(journal, prompt)


def test_only_a_prompt_that_asks_for_earlier_work_is_waited_for_longer(journal: tuple[config.Config, str]) -> None:
    def seconds(prompt: str) -> float:
        return process.seconds(journal[0], Event(agent="claude-code", name="UserPromptSubmit", prompt=prompt))

    usual = journal[0].settings.inject.deadline_seconds
    assert seconds("What did we decide about the relay?") == process.ASKED_TIMES * usual
    assert seconds("Make the header sticky") == usual


@pytest.mark.slow
def test_ordinary_prompts_are_left_alone(journal: tuple[config.Config, str]) -> None:
    given = [prompt for prompt in ORDINARY if block(journal, prompt)]

    assert len(given) <= 0.02 * len(ORDINARY), given


def test_a_question_that_was_answered_before_is_a_source_also_when_it_is_asked_again(
    tmp_path: Path, vault: Path
) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("Which calendar shall the report dates use?")
    talk.answers("We decided to use the Gregorian calendar for all report dates.")
    there = config.load(str(vault)), str(talk.cwd)

    assert "Gregorian" in block(there, "Which calendar did we decide to use for the report dates?")
    assert "Gregorian" in block(there, "Which calendar shall the report dates use?")


def test_what_was_told_of_earlier_work_without_a_tool_answers_unless_it_was_recalled(
    tmp_path: Path, vault: Path
) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("What did the load test of the checkout show yesterday?")
    talk.answers("It peaked at 340 requests a second, then the connection pool was exhausted.")
    there = config.load(str(vault)), str(talk.cwd)

    assert "340" in block(there, "what did we see in the load test of the checkout?")
    later = Talk(vault, talk.cwd, "00000001-0000-4000-8000-000000000000")
    asked = "What did we find out about the load test of the checkout?"
    assert "340" in later.asks(asked)
    later.store("UserPromptSubmit", prompt=asked)
    later.answers("The load test of the checkout found a ceiling of 340.")
    assert "ceiling" not in block(there, "what did we see in the load test of the checkout?")


def test_what_was_decided_without_a_tool_where_notes_were_recalled_is_no_echo_of_them(
    tmp_path: Path, vault: Path
) -> None:
    talk = Talk(vault, tmp_path / "shop")
    for number, (asked, said) in enumerate(
        [
            ("The year view is slow", "The readings are a Timescale table now, and the year view is fast."),
            ("The checkout is slow", "The checkout has an index now."),
            ("Show the moon", "The moon is shown."),
        ]
    ):
        work = Talk(vault, talk.cwd, f"0000001{number}-0000-4000-8000-000000000000")
        work.says(asked)
        work.edits(f"{number}.sql")
        work.answers(said)
    later = Talk(vault, talk.cwd, "00000001-0000-4000-8000-000000000000")
    asked = "can we drop the timescale table of the readings? ops do not like it"
    assert "year view" in later.asks(asked)
    later.store("UserPromptSubmit", prompt=asked)
    later.answers("We keep Timescale, if Ops agree to stay on version 2.17.")

    given = block((config.load(str(vault)), str(talk.cwd)), "por qué seguimos con timescale 2.17?")

    assert "stay on version 2.17" in given


@pytest.mark.parametrize(
    "prompt", ["bad record mac", "bad record mac again?", "is that the bad record mac of the workers again?"]
)
def test_the_work_is_given_as_often_as_it_is_asked_for_and_not_what_was_answered_from_it(
    tmp_path: Path, vault: Path, prompt: str
) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("production logs are full of database errors since the deploy, find the cause: bad record mac")
    talk.edits("deploy/gunicorn.py", ["-preload_app = True", "+preload_app = False"])
    talk.answers("gunicorn's preload made the engine before the fork, so the workers shared TLS sockets.")
    for number in range(3):
        other = Talk(vault, talk.cwd, f"1000000{number}-0000-4000-8000-000000000000")
        other.says(f"Set up task number {number} of the mailer")
        other.edits(f"mailer/task{number}.py", ["+send = True"])
        other.answers(f"Task {number} is set up.")
    for number in range(1, 4):
        later = Talk(vault, talk.cwd, f"0000000{number}-0000-4000-8000-000000000000")
        later.now = talk.now + 86_400 * number
        later.start()
        later.prompts += 1
        given = later.inject("UserPromptSubmit", prompt=prompt)
        later.store("UserPromptSubmit", prompt=prompt)
        later.answers("It was the preload of gunicorn: the workers shared the sockets, as bad record mac says.")

        assert "preload_app = False" in given, f"day {number}"
        assert "as bad record mac says" not in given


def test_a_prompt_that_is_in_the_index_already_is_judged_as_before(
    tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The open invoices page is slow")
    talk.edits("billing/open.py", ["+index = True"])
    talk.answers("The page of open invoices has an index now.")
    for number in range(12):
        talk.says(f"Write the mail of step {number}")
        talk.answers(f"The mail {number} is written.")
    later = Talk(vault, talk.cwd, "00000001-0000-4000-8000-000000000000")
    asked = "the slow page of open invocies in the bililng"
    settings = config.load(str(vault))
    asker = answering.Asker(project="shop", without_session=later.session)

    (before, *_) = answering.answers(settings, asked, asker)
    later.says(asked)
    index.update(settings)
    monkeypatch.setitem(freshness.followers, settings.index_dir, lambda: True)  # as a watcher does
    (after, *_) = answering.answers(settings, asked, asker)

    assert after.folder == before.folder
    assert after.words == before.words == 5
    assert after.coverage == pytest.approx(before.coverage, rel=0.05)


def test_of_answers_that_have_all_of_a_question_the_newest_comes_first(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("Should we use Stripe or Adyen for card payments? We need SEPA too.")
    talk.answers("Adyen: it has SEPA and is cheaper.")
    talk.says("ok, SEPA by Adyen it is")
    talk.answers("Noted: SEPA goes through Adyen.")
    later = Talk(vault, talk.cwd, "00000001-0000-4000-8000-000000000000")
    later.now += 30 * 86_400
    later.says("Adyen wants a minimum of 1,000 euros a month, so SEPA goes through GoCardless instead.")
    later.edits("payments.py")
    later.answers(
        "Changed: cards go through Stripe and SEPA through GoCardless, because of the minimum that Adyen wants."
    )
    there = config.load(str(vault)), str(talk.cwd)

    given = block(there, "what did we decide about SEPA?")

    assert 0 < given.find("GoCardless") < given.find("Noted: SEPA goes through Adyen")


def test_asked_about_a_file_the_turns_that_changed_it_are_given_the_newest_first(tmp_path: Path, vault: Path) -> None:
    for number, what in enumerate(("Set up the tasks.py of the relay, tasks.py is for tasks", "Write rows in chunks")):
        talk = Talk(vault, tmp_path / "shop", f"{number:08d}-0000-4000-8000-000000000000")
        talk.now += number * 86_400
        talk.says(what)
        talk.edits("relay/tasks.py" if number else "tasks.py")
        talk.answers(f"{what}: done.")
    there = config.load(str(vault)), str(talk.cwd)

    given = block(there, "what did we change in tasks.py?")

    assert 0 < given.find("Write rows in chunks") < given.find("Set up the tasks.py")


@pytest.mark.parametrize(
    ("score", "coverage", "first"), [(40.0, 0.9, "talk"), (20.0, 0.9, "work"), (40.0, 0.4, "work")]
)
def test_what_was_only_said_is_given_where_work_has_much_less_of_the_question(
    journal: tuple[config.Config, str], score: float, coverage: float, first: str
) -> None:
    (found, *_) = answering.answers(journal[0], "celery", answering.Asker())
    work = answering.Answer("journal/shop/a", 10.0, False, False, found.hits, 0.6, 1.0, 1)
    talk = answering.Answer("journal/shop/b", score, True, True, found.hits, coverage, 2.0, 2)

    (chosen, *_), _ = evidence.chosen(shape.of("why did we choose celery?"), [talk, work])

    assert chosen is {"talk": talk, "work": work}[first]


def test_an_answer_without_a_change_is_as_good_as_work_that_has_less_of_the_question(
    journal: tuple[config.Config, str], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(journal[0].vault, vault)
    talk = Talk(vault, Path(journal[1]), "00000001-0000-4000-8000-000000000000")
    talk.says("Load the relay before the tests load")
    talk.edits("pytest.ini")
    talk.answers("The tests load after the relay: load order of a test is load first, then test.")
    later = Talk(vault, Path(journal[1]), "00000002-0000-4000-8000-000000000000")
    later.says("What did the load test show?")
    later.answers("The load test peaked at 340 requests a second.")

    assert "340" in block((config.load(str(vault)), journal[1]), "what peak did the load test get to over time?")


def test_parts_of_an_unknown_word_are_little_evidence(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    for text in ("Logs of the week are kept thirty days.", "A week of seven days is shown."):
        talk.says("Show the days of the week")
        talk.edits("days.py")
        talk.answers(text)
    talk.says("Draw the header")
    talk.answers("It is drawn.")
    there = config.load(str(vault)), str(talk.cwd)

    assert block(there, "on which weekdays do we ship?") == ""


def test_an_identifier_is_one_word_of_a_question_whatever_its_parts_are(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The state of two runs is mixed up")
    talk.edits("backend.tf")
    talk.answers("The state is locked by use_lockfile, and a RowReader reads it.")
    there = config.load(str(vault)), str(talk.cwd)

    assert block(there, "what is RowReader?") == ""
    assert block(there, "what does use_lockfile do?") == ""
    assert "use_lockfile" in block(there, "why did we set use_lockfile?")


def test_a_word_is_no_identifier_that_it_is_a_part_of(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The gateway is slow")
    talk.edits("gateway.py")
    talk.answers("The gateway has a quantile of its own.")
    talk.says("Draw the header")
    talk.answers("It is drawn.")
    there = config.load(str(vault)), str(talk.cwd)

    assert block(there, "why did we drop quantile_high and quantile_low?") == ""
    assert "of its own" in block(there, "why did we drop the quantile in quantile_low?")


def test_a_question_that_names_an_unknown_identifier_is_about_something_else(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("Show the version in the footer")
    talk.edits("footer.py")
    talk.answers("The footer shows the version of the shop.")
    talk.says("Draw the header")
    talk.answers("It is drawn.")
    there = config.load(str(vault)), str(talk.cwd)

    assert block(there, "¿Por qué fijamos la versión de urllib3?") == ""
    assert "version of the shop" in block(there, "¿Por qué fijamos la versión del footer?")


def test_what_was_asked_and_what_was_answered_are_evidence_together(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("Make an installer for the viewer of raw pictures")
    talk.answers("It is built by NSIS, which compresses with LZMA. It is not signed.")
    there = config.load(str(vault)), str(talk.cwd)

    assert "not signed" in block(there, "is the installer signed?")
    assert block(there, "is the installer translated?") == ""


def test_a_question_may_use_another_word_for_the_same_thing(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("It is crashing when I open the folder with the raw files")
    talk.edits("decode.py")
    talk.answers("A job called back into a view that was gone.")
    talk.says("Draw the header")
    talk.edits("header.py")
    talk.answers("It is drawn in blue.")
    there = config.load(str(vault)), str(talk.cwd)

    assert "called back" in block(there, "the segfault with the raw pictures, how did we repair it?")
    assert block(there, "why is there a segfault when the printer prints?") == ""


def test_what_was_proposed_is_given_with_what_was_decided(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("What shall I take for the window, Tkinter or Wayland or SDL?")
    talk.answers("Tkinter: it has color management on three systems, Wayland is weak on Windows.")
    talk.says("Ok Tkinter is good, not Wayland, set it up")
    talk.edits("window.py")
    talk.answers("It is set up.")
    there = config.load(str(vault)), str(talk.cwd)

    given = block(there, "why did we take Tkinter and not Wayland?")

    assert "color management" in given
    assert "window.py" in given


def test_an_answer_with_all_of_a_question_counts_where_it_scores_nearly_as_well(
    journal: tuple[config.Config, str],
) -> None:
    (found, *_) = answering.answers(journal[0], "celery", answering.Asker())
    half = answering.Answer("journal/shop/a", 15.2, False, False, found.hits, 0.43, 0.75, 1)
    whole = answering.Answer("journal/shop/b", 13.4, False, False, found.hits, 1.0, 1.75, 2)

    chosen, _ = evidence.chosen(shape.of("what do we use for the queue of the sensors?"), [half, whole])

    assert chosen[0] is whole


@pytest.mark.parametrize(("prompt", "count"), [("how big is the image cache?", 1), ("is the image cached?", 0)])
def test_a_question_of_one_fact_needs_less(journal: tuple[config.Config, str], prompt: str, count: int) -> None:
    (found, *_) = answering.answers(journal[0], "celery", answering.Asker())
    best = answering.Answer("journal/shop/a", 22.0, False, False, found.hits, 1.0, 1.38, 2)
    next_one = answering.Answer("journal/shop/b", 10.0, False, False, found.hits, 0.4, 0.55, 1)

    chosen, _ = evidence.chosen(shape.of(prompt), [best, next_one])

    assert chosen == [best][:count]


def test_one_rare_word_is_enough_for_half_of_a_question_of_the_past(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("Mails to large providers are refused")
    talk.edits("worker.py")
    talk.answers("The worker sends fourteen mails a second to each domain.")
    talk.says("Draw the header")
    talk.answers("It is drawn.")
    there = config.load(str(vault)), str(talk.cwd)

    assert "fourteen" in block(there, "why are we throttling per domain")
    assert block(there, "why are we throttling searches per domain") == ""
    assert block(there, "is there throttling per domain?") == ""


def test_a_word_that_only_a_tool_run_has_is_not_enough_for_half_of_a_question(
    journal: tuple[config.Config, str],
) -> None:
    assert block(journal, "what is our test coverage?") == ""


def test_an_answer_that_knows_nothing_answers_nothing(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("What did we decide about the color of the gift cards?")
    talk.answers("I couldn't find anything about the color of gift cards.")
    talk.says("Which color do the gift cards have?")
    talk.answers("I don't know which color the gift cards have.")
    there = config.load(str(vault)), str(talk.cwd)

    assert block(there, "What did we decide about the color of the gift cards?") == ""
    assert block(there, "Which color do the gift cards have?") == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "How are feature flags named?",
        "do we name feature flags in lowercase?",
        "wich name do we use for feature flags?",
    ],
)
def test_what_was_only_said_answers_a_question_that_files_may_answer(tmp_path: Path, vault: Path, prompt: str) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("We always name feature flags team.area.thing. Remember that.")
    talk.answers("Feature flags are named team.area.thing, in lowercase.")
    talk.says("We deploy on Tuesdays and Thursdays only, never on a Friday.")
    talk.answers("Understood: a release happens on Tuesdays and Thursdays, none on Fridays.")
    there = config.load(str(vault)), str(talk.cwd)

    assert "team.area.thing" in block(there, prompt)
    assert "Tuesdays" in block(there, "can we release on Friday?")
    assert block(there, "can we release the new flags page?") == ""
    assert block(there, "where are the deploy scripts?") == ""


def test_a_note_that_a_person_keeps_needs_less_in_common(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("Make the dates of the export sortable")
    talk.answers("The export writes dates as ISO 8601.")
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "release.md").write_text("# How we release\n\nOn Tuesdays, never on a Friday.\n")
    (vault / "notes" / "colors.md").write_text("# Palette\n\nOnly pastel colors are accepted.\n")
    there = config.load(str(vault)), str(talk.cwd)

    assert "Tuesdays" in block(there, "how do we release?")
    assert "Tuesdays" in block(there, "can we release today?")
    assert "pastel" in block(there, "which colors are accepted?")
    assert block(there, "can we release the export page?") == ""
    assert block(there, "which fonts are accepted?") == ""
    assert block(there, "how do we pay taxes?") == ""


def test_a_question_for_a_place_is_answered_by_a_note_that_a_person_keeps_or_in_full(
    tmp_path: Path, vault: Path
) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("Sign the session cookie of the export page")
    talk.edits("cookie.py")
    talk.answers("The session cookie of the export page is signed in cookie.py.")
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "phone.md").write_text("# On-call phone\n\nIt lies in the drawer under the coffee machine.\n")
    (vault / "notes" / "restore.md").write_text(
        "# Restoring the database\n\nStop the workers; they are started later.\n"
    )
    there = config.load(str(vault)), str(talk.cwd)

    assert "drawer" in block(there, "ok, where is the on-call phone?")
    assert "cookie.py" in block(there, "where is the session cookie of the export page signed?")
    assert block(there, "where is the session cookie of the export page read?") == ""
    assert block(there, "where is the cookie signed?") == ""
    assert block(there, "how many workers are started?") == ""
    assert block(there, "where should the on-call phone page go?") == ""


def test_an_unanswered_question_is_not_given_as_an_answer(tmp_path: Path, vault: Path) -> None:
    Talk(vault, tmp_path / "shop").says("why does the csv export lose a row")

    there = config.load(str(vault)), str(tmp_path / "shop")
    assert block(there, "did we fix the csv export that loses a row?") == ""


def test_a_request_without_a_result_ranks_below_an_answer(tmp_path: Path, vault: Path) -> None:
    asked = "The csv export loses the last row of the price list"
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The export to csv drops a row")
    talk.edits("export.py")
    talk.answers("The export wrote the price list without its last line break.")
    Talk(vault, talk.cwd, "00000001-0000-4000-8000-000000000000").says(asked)

    given = block((config.load(str(vault)), str(talk.cwd)), "did we fix the csv export that loses the last row?")

    assert "line break" in given
    assert asked not in given


def test_nothing_is_given_where_nothing_fits(journal: tuple[config.Config, str]) -> None:
    for prompt in ("why did we move to kubernetes?", "what was decided about the mobile app?", "did we add dark mode?"):
        assert block(journal, prompt) == ""


def test_an_error_that_was_seen_before_is_evidence_by_itself(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The import of prices fails")
    talk.runs("make import", error="Exit code 1\nCurrencyTableError: no rate for XDR on 2026-01-04")
    talk.edits("prices.py")
    talk.answers("A missing rate falls back to the day before.")
    settings = config.load(str(vault))
    prompt = "Traceback (most recent call last):\nCurrencyTableError: no rate for XDR on 2026-02-11"

    assert "falls back to the day before" in block((settings, str(talk.cwd)), prompt)
    assert block((settings, str(talk.cwd)), "Traceback (most recent call last):\nKeyError: 'id'") == ""


def test_an_error_with_the_same_words_but_another_message_is_not_evidence(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("Pickle the label of an installed app")
    talk.answers("A LookupError with no label is raised where no app is installed; the label stays empty.")
    talk.says("The nightly import fails")
    talk.runs("make import", error="Exit code 1\nLookupError: no rate table with label eur")
    talk.answers("The rates of the day before are used.")
    there = config.load(str(vault)), str(talk.cwd)

    given = block(there, "LookupError: no rate table with label usd")

    assert "rates of the day before" in given
    assert "Pickle" not in given


def test_an_error_that_names_something_else_is_another_error(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The import of prices fails")
    talk.runs("make import", error="Exit code 1\nModuleNotFoundError: No module named 'openpyxl'")
    talk.answers("It is in requirements.txt now.")
    talk.says("Treat hg checkouts like git")
    talk.answers("A folder with .hg counts as a repository, like one with .git; not a single other place looks for it.")
    there = config.load(str(vault)), str(talk.cwd)

    assert "requirements.txt" in block(there, "ModuleNotFoundError: No module named 'openpyxl'")
    assert block(there, "ModuleNotFoundError: No module named 'requests'") == ""
    assert block(there, "fatal: not a git repository") == ""


@pytest.mark.parametrize(
    "message",
    ["Model failed to converge with max|grad| = 0.0217", "Could not open rates.v2.csv for reading: no such file"],
)
def test_a_message_with_a_dot_is_the_same_error_by_all_its_words(tmp_path: Path, vault: Path, message: str) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The import of prices fails")
    talk.runs("make import", error="Exit code 1\nmissing: there is no such file for reading it 0217")
    talk.answers("The folder is created first.")
    there = config.load(str(vault)), str(talk.cwd)
    assert block(there, message) == ""

    talk.says("The model of prices fails")
    talk.runs("make model", error=f"Exit code 1\n{message}")
    talk.answers("The prices are scaled now.")

    assert "prices are scaled" in block(there, message)


def test_a_value_in_a_long_message_does_not_make_it_another_error(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The import of prices fails")
    talk.runs("make import", error="Exit code 1\nValueError: invalid literal for int() with base 10: 'twelve'")
    talk.answers("Words are skipped now.")

    prompt = "ValueError: invalid literal for int() with base 10: 'dozen'"
    assert "Words are skipped" in block((config.load(str(vault)), str(talk.cwd)), prompt)


@pytest.mark.parametrize(
    ("failed", "fails"),
    [
        ("ld: section `.bss' overflowed by 1184 bytes", "ld: section `.bss' overflowed by 64 bytes"),
        ("TimeoutError: probe took 2000ms", "TimeoutError: probe took 5,500 ms"),
        ("MemoryError: allocating 38.2 GiB", "MemoryError: allocating 7GiB"),
        ("IOError: partial 1184-byte page", "IOError: partial 64-byte page"),
        ("IOError: page has (1184)  bytes", "IOError: page has 64 bytes"),
    ],
)
def test_an_amount_in_a_short_message_does_not_make_it_another_error(
    tmp_path: Path, vault: Path, failed: str, fails: str
) -> None:
    talk = Talk(vault, tmp_path / "probe")
    talk.says("The image does not work")
    talk.runs("make", error=f"Exit code 2\n{failed}")
    talk.answers("The sample buffer is halved now.")

    assert "sample buffer is halved" in block((config.load(str(vault)), str(talk.cwd)), f"make fails: {fails}")


def test_a_word_that_each_page_has_is_as_rare_as_in_what_was_said(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "clinic")
    for number, (asked, told) in enumerate(
        [
            (
                "Do we store visits in UTC or in local time?",
                "Local time, so that 9 stays 9 in summer.",
            ),
            *((f"Visits: add column {column}", "Added.") for column in ("room", "doctor", "reason")),
        ]
    ):
        talk = new_session(talk, number) if number else talk
        talk.says(asked)
        if number:
            talk.edits("visits.sql")
        talk.answers(told)
        talk.store("SessionEnd", reason="other")

    given = block((config.load(str(vault)), str(talk.cwd)), "warum nicht UTC für die visits?")
    assert "9 stays 9" in entries(given)[0]


def test_a_person_s_words_on_a_project_s_page_count_though_other_pages_have_them(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "clinic")
    talk.says("Visits: add column room")
    talk.answers("Added.")
    page = vault / "journal/clinic/project.md"
    page.write_text(page.read_text() + "\nVisits begin and end in UTC.\n")

    given = block((config.load(str(vault)), str(talk.cwd)), "do we begin visits in UTC?")
    assert "begin and end in UTC" in given


def test_a_word_of_a_page_s_headings_is_as_rare_as_in_what_was_said(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "clinic")
    for number, (asked, told) in enumerate(
        [
            ("Where shall the prompt texts be kept?", "In assets, so that translators find them."),
            *((f"Visits: add column {column}", "Added.") for column in ("room", "doctor", "reason")),
        ]
    ):
        talk = new_session(talk, number) if number else talk
        talk.says(asked)
        if number:
            talk.edits("visits.sql")
        talk.answers(told)
        talk.store("SessionEnd", reason="other")

    given = block((config.load(str(vault)), str(talk.cwd)), "where do the prompt texts go?")
    assert "translators find them" in entries(given)[0]


def test_an_answer_that_stands_out_tells_whether_something_is_so(tmp_path: Path, vault: Path) -> None:
    talk = after_sessions(
        Talk(vault, tmp_path / "estate"),
        [
            ("spot nodes for the batch jobs?", "pool.yaml", "Batch jobs run on spot nodes, what has state does not."),
            ("sort the labels", "labels.yaml", "Sorted."),
        ],
    )

    given = block((config.load(str(vault)), str(talk.cwd)), "do batch workloads run on spot nodes?")
    assert "what has state does not" in given


def test_words_that_only_begin_alike_are_little_evidence_in_another_language(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    talk.says("The table shrinks")
    talk.answers("It usually does.")
    there = config.load(str(vault)), str(talk.cwd)

    assert block(there, "¿cómo arreglamos los usuarios?") == ""


def test_search_takes_a_question_for_what_it_is_about_and_shows_earlier_questions_last(
    journal: tuple[config.Config, str], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(journal[0].vault, vault)
    for number in range(5):
        echo = Talk(vault, Path(journal[1]), f"{number:08d}-aaaa-4fca-8238-13269b9b3ca0")
        echo.now += 86_400 * (40 + number)
        echo.says("What did we decide about the TLS library for the SMTP relay?")

    found = engine.search(config.load(str(vault)), "what did we decide about the TLS library for the SMTP relay?").hits

    assert any("rustls" in hit.snippet for hit in found[:2])
    echoes = ["What did we decide" in hit.title for hit in found]
    assert echoes == sorted(echoes)
    assert sum(echoes) <= 2


def test_one_word_of_three_is_no_evidence_even_where_a_person_keeps_few_notes(tmp_path: Path, vault: Path) -> None:
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "templates.md").write_text("# Templates\n\nOne folder for each customer.\n")
    there = config.load(str(vault)), str(tmp_path / "shop")

    assert "One folder" in block(there, "how did we arrange the templates?")
    assert block(there, "what happened to the nightly mailing of signed templates?") == ""


def test_the_times_on_a_sessions_page_do_not_answer_a_question_with_a_date(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop", "0c8eb60f-bbbb-4fca-8238-13269b9b3ca0")
    talk.says("Draw the header")
    talk.answers("It is drawn.")
    settings = config.load(str(vault))
    index.update(settings)
    (page,) = session_pages(vault)
    began = re.search(r"Began (\S+ \S+)", page.read_text())
    assert began is not None

    assert block((settings, str(tmp_path / "shop")), f"Why does the parser fail on {began[1]}?") == ""


@pytest.mark.slow
def test_what_was_just_written_into_an_old_note_is_found(journal: tuple[config.Config, str], tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(journal[0].vault, vault)
    there = config.load(str(vault)), journal[1]
    oldest = min(vault.rglob("*-response-*.md"))
    for number in range(60):
        talk = Talk(vault, Path(journal[1]), f"{number:08d}-bbbb-4fca-8238-13269b9b3ca0")
        talk.says("Draw the header")
        talk.answers("It is drawn.")
    index.update(there[0])
    assert block(there, "what was the flamingo exemption about?") == ""

    with oldest.open("a") as file:
        file.write("\nThe flamingo exemption applies to the payment service.\n")

    assert "payment service" in block(there, "what was the flamingo exemption about?")


@pytest.mark.parametrize(
    "prompt",
    [
        "thumbnailer memory leak",
        "celery broker decision",
        "ARM wheel workaround",
        "snapshot timezones formatter bug",
        "deadlock in ledger.py, rows were locked or something",
        "smtp relay rustls",
        "authlib refresh problem",
    ],
)
def test_what_is_only_named_is_answered_where_it_stands_out(journal: tuple[config.Config, str], prompt: str) -> None:
    assert "## Notes on what is asked" in block(journal, prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "add celery workers to the relay",
        "thumbnail the images of the pricing page",
        "sort ledger rows by id",
        "zeppelin header colors",
        "rustls instead please",
        "entferne die celery worker",
    ],
)
def test_an_order_and_a_name_that_little_fits_are_given_nothing(
    journal: tuple[config.Config, str], prompt: str
) -> None:
    assert block(journal, prompt) == ""


@pytest.mark.parametrize(
    "prompt",
    ["since when is protobuf pinned to 4", "the thumbnailer leaks, which cache was it", "celery, and why cron"],
)
def test_a_question_word_need_not_come_first(journal: tuple[config.Config, str], prompt: str) -> None:
    assert "## Notes on what is asked" in block(journal, prompt)


@pytest.mark.parametrize("prompt", ["why did we leave the zeppelin header?", "how did we stop the zeppelin jobs?"])
def test_why_something_was_left_is_not_answered_by_what_was_done_last(
    journal: tuple[config.Config, str], prompt: str
) -> None:
    shaped = shape.of(prompt)

    assert shaped is not None
    assert not shaped.resumes


def test_what_a_word_stands_in_by_chance_is_no_answer(tmp_path: Path, vault: Path) -> None:
    for number, what in enumerate(("Draw the header", "Draw the footer", "Load the fonts")):
        talk = Talk(vault, tmp_path / "shop", f"{number:08d}-0000-4000-8000-000000000000")
        talk.says(what)
        talk.edits(f"page{number}.css")
        talk.runs("make", ("connection pool of 4 workers", "PROBE_9 ok", "ok")[number])
        talk.answers(f"{what}: done.")
    there = config.load(str(vault)), str(talk.cwd)

    assert block(there, "when did we add the zeppelin pool?") == ""
    assert "Draw the footer" in block(there, "have we seen PROBE_9 before?")


def test_a_short_note_with_one_word_does_not_hide_work_that_has_most_of_the_question(
    tmp_path: Path, vault: Path
) -> None:
    talk = Talk(vault, tmp_path / "shop")
    for what in ("Draw the header", "Load the fonts"):
        talk.says(what)
        talk.answers(f"{what}: done.")
    talk.says("The load job fails")
    talk.edits("load.py")
    talk.answers(
        "The files of the vendor have newlines within quotes since September, which shifted the columns of the CSV. "
        + "The loader takes them now. " * 12
    )
    (vault / "notes").mkdir(exist_ok=True)
    vendor = vault / "notes" / "vendor.md"
    vendor.write_text("# Vendor of files\n\nPieter, until 16:00.\n")
    os.utime(vendor, (NOW, NOW))
    there = config.load(str(vault)), str(talk.cwd)

    given = block(there, "what was up with the vendor csv files in september")

    assert "newlines within quotes" in given
    assert "Pieter" not in given


@pytest.fixture
def orchard(tmp_path: Path, vault: Path) -> tuple[config.Config, str]:
    """Return a project with a few sessions."""
    told = (
        ("Draw the header", "page.css", "Drawn."),
        ("Order form for apple boxes", "order.php", "Spam is held off by a honeypot field."),
        ("Import the tours", "gpx.kt", "The planned tours of Komoot come as routes, which the parser skips so far."),
        ("Load the fonts", "fonts.css", "Loaded."),
    )
    for number, (asked, file, ended) in enumerate(told):
        talk = Talk(vault, tmp_path / "orchard", f"{number:08d}-0000-4000-8000-000000000000")
        talk.says(asked)
        talk.edits(file)
        talk.answers(ended)
    return config.load(str(vault)), str(talk.cwd)


def test_why_something_does_what_it_does_is_answered_by_work_that_stands_out(
    orchard: tuple[config.Config, str],
) -> None:
    assert "parser skips" in block(orchard, "why do komoot tours come out empty")
    assert block(orchard, "why do fonts come out empty") == ""


def test_a_note_is_found_by_the_one_word_of_its_title(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    for what in ("Draw the header", "Load the fonts", "Toggle the lamp"):
        talk.says(what)
        talk.edits("page.c")
        talk.answers(f"{what}: done.")
    (vault / "notes").mkdir(exist_ok=True)
    (vault / "notes" / "pins.md").write_text("# Pins to avoid\n\nP0.09 and P0.10 are fused.\n")
    there = config.load(str(vault)), str(talk.cwd)

    assert "fused" in block(there, "which pins must not be used")
