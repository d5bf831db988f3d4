"""Pointing: questions that only point at what was said before, or name what is asked about by one word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.injected import after_sessions, ask, entries, new_session
from tests.helpers.talk import Talk


@pytest.fixture
def talk(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session in a project with a session about the time zones of videos."""
    past = Talk(vault, tmp_path / "photos")
    past.start()
    past.says("GoPro videos land in the wrong day")
    past.edits("quirks.py", ["+GOPRO = 'local time'"])
    past.answers("GoPro writes local time into the field of videos that should be UTC.")
    return new_session(past, 3)


@pytest.mark.parametrize(
    "question", ["why did we do it that way?", "Why did we do that?", "warum haben wir das so gemacht?"]
)
def test_a_question_that_points_is_about_the_turn_before(talk: Talk, question: str) -> None:
    talk.says("Let's look at the GoPro videos, and their day")
    talk.answers("They have an entry in quirks.py.")

    (answer,) = entries(ask(talk, question))

    assert "that should be UTC" in answer


def test_new_work_before_such_a_question_recalls_nothing(talk: Talk) -> None:
    talk.says("Add a wishlist page where customers can save products for later")
    talk.answers("The page is at /wishlist.")

    assert ask(talk, "why did we do it that way?") == ""
    assert ask(talk, "why did we do that?") == ""


def test_in_the_first_prompt_it_is_about_the_last_sessions(talk: Talk) -> None:
    assert "Recent sessions" in ask(talk, "why did we do that?")


def test_what_is_left_of_something_named_by_one_word_is_told_of_that(vault: Path, tmp_path: Path) -> None:
    first = Talk(vault, tmp_path / "shop")
    ends = ("The ledger is faster, without its archive.", "The columns are renamed.", "It is 1.4 now.", "Sorted.")
    for day, ended in enumerate(ends):
        talk = new_session(first, day)
        talk.says("The next one of the list")
        talk.edits(f"part_{day}.py")
        talk.answers(ended)

    (answer,) = entries(ask(new_session(first, 9), "how far did we get with ledger support?"))

    assert "without its archive" in answer


def test_a_question_behind_a_name_is_answered_by_what_has_all_of_it_and_stands_out(vault: Path, tmp_path: Path) -> None:
    first = Talk(vault, tmp_path / "station")
    others = "It keeps the limit. " + "Other parts of the station were painted and moved to the second floor. " * 6
    ends = ("The turnstile has a limit. The limit of a turnstile is 40 per minute.", *[others] * 4, "Done.")
    for day, ended in enumerate(ends):
        talk = new_session(first, day)
        talk.says(f"Go on with part {day}")
        talk.edits(f"part_{day}.py")
        talk.answers(ended)

    assert "40 per minute" in ask(new_session(first, 9), "turnstile: what must its limit be?")


@pytest.fixture
def cluster(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session in a project with a session about the metrics of an ingress."""
    past = Talk(vault, tmp_path / "cluster")
    past.start()
    past.says("The ingress eats 6 GB and restarts every few hours")
    past.edits("ingress.yaml")
    past.answers("The heap is its metric registry, with a label for each path.")
    for number, asked in enumerate(("Rotate the keys", "Move the jobs", "Split the chart")):
        other = new_session(past, number)
        other.says(asked)
        other.edits(f"part_{number}.yaml")
        other.answers("Done.")
    return new_session(past, 9)


def _add_panel(talk: Talk) -> None:
    talk.says("Add their number to the dashboard")
    talk.edits("lag.json")
    talk.answers("A third panel shows the consumers per group.")


def test_a_question_about_what_the_session_just_said_is_not_answered_from_another_one(cluster: Talk) -> None:
    question = "which metric did you use for the consumers"
    assert "metric registry" in ask(cluster, question)

    later = new_session(cluster, 1)
    _add_panel(later)

    assert ask(later, question) == ""


@pytest.mark.parametrize(
    "question", ["what signal did you use for the worker to drain", "why does it drain for 20 seconds?"]
)
def test_nor_is_one_for_the_value_or_signal_that_it_just_chose(vault: Path, tmp_path: Path, question: str) -> None:
    ends = ("Deploys drain for 90 seconds, so that clients reconnect.", "Signed.", "Moved.", "Split.")
    asked = ("Deploys break the websocket sessions", "Sign the images", "Move the jobs", "Split the chart")
    files = ("deploy.yaml", "image.yaml", "jobs.yaml", "chart.yaml")
    talk = after_sessions(Talk(vault, tmp_path / "cluster"), zip(asked, files, ends, strict=True))
    assert "90 seconds" in ask(talk, question.replace("20", "90"))

    later = new_session(talk, 1)
    later.says("Give the worker a graceful stop")
    later.edits("worker.yaml")
    later.answers("The worker drains its queue for 20 seconds when it gets SIGTERM.")

    assert ask(later, question) == ""


@pytest.mark.parametrize(
    "question",
    [
        "which metric made the ingress restart, not the consumers",
        "which metric did we have for the consumers",
        "which metric do we use for the consumers?",
        "welche metric nutzen wir für consumers?",
        "do you remember which metric it was with the consumers?",
    ],
)
def test_a_question_about_more_than_that_or_about_us_or_the_past_is(cluster: Talk, question: str) -> None:
    _add_panel(cluster)

    assert "metric registry" in ask(cluster, question)


def test_so_is_one_that_names_another_project(cluster: Talk, tmp_path: Path) -> None:
    here = new_session(cluster, 1, tmp_path / "dashboards")
    _add_panel(here)

    assert "metric registry" in ask(here, "which metric did you use for the consumers in cluster?")
    assert ask(here, "which metric did you use for the consumers?") == ""


@pytest.fixture
def backoff(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session in a project that chose a number, said why, and has the number elsewhere."""
    past = Talk(vault, tmp_path / "courier")
    past.start()
    past.says("Hold a booked slot while the customer pays")
    past.edits("slots.py", ["+HOLD = 12"])
    past.answers("A booked slot is held for 12 minutes.")
    past.says("why 12 minutes?")
    past.answers("Nine of ten customers have paid after 7.")
    other = new_session(past, 1)
    other.says("Import the holidays")
    other.edits("days.py", ["+DAYS = 12"])
    other.answers("There are 12 holidays in the calendar.")
    return new_session(past, 2)


def test_a_question_for_a_number_is_about_what_the_turn_before_says_of_it(backoff: Talk) -> None:
    backoff.says("Hold the slot as we do")
    backoff.answers("The slot is held for 12 minutes, like the others.")

    answer, reason = entries(ask(backoff, "why 12?"))

    assert "booked slot" in answer
    assert "after 7" in reason


def test_such_a_question_that_is_repeated_gets_no_other_answer(backoff: Talk) -> None:
    other = new_session(backoff, 1)
    other.says("Hold the slot of a driver too")
    other.edits("driver.py", ["+HOLD = 12"])
    other.answers("The slot of a driver is held for 12 minutes as well.")
    now = new_session(backoff, 3)
    now.says("Hold the slot as we do")
    now.answers("The slot is held for 12 minutes, like the others.")

    (answer,) = entries(ask(now, "why 12?"))
    again = ask(now, "why 12?")

    assert "of a driver" in answer
    assert "Given above: [mem:" in again
    assert entries(again) == []


def test_a_question_for_a_number_of_new_work_is_not_about_one_that_only_another_session_has(backoff: Talk) -> None:
    other = new_session(backoff, 1)
    other.says("Load test the shop")
    other.edits("load.py", ["+RATE = 120"])
    other.answers("With 120 orders a second p95 was 2.3 s because the pool had 10 connections.")
    now = new_session(backoff, 3)
    now.says("Shrink the map tiles")
    now.answers("Tiles are 120 px now.")

    assert ask(now, "why 120?") == ""


def test_a_question_for_a_number_of_new_work_recalls_nothing(backoff: Talk) -> None:
    backoff.says("Rename Parcel to Shipment")
    backoff.answers("Renamed in 12 files.")

    assert ask(backoff, "why 12?") == ""
    assert ask(new_session(backoff, 1), "why 12?") == ""


LEFT_OFF = "where did we leave off with the heat map's legend?"


@pytest.fixture
def atlas(vault: Path, tmp_path: Path) -> Talk:
    """Return a session whose first turn drew a legend."""
    past = Talk(vault, tmp_path / "atlas")
    past.start()
    past.says("Draw the legend of the heat map")
    past.edits("legend.ts", ["+drawLegend()"])
    past.answers("The legend of the heat map shows five colors.")
    return past


def test_where_work_on_something_was_left_off_begins_with_how_its_session_ended(atlas: Talk) -> None:
    atlas.says("and round its numbers")
    atlas.edits("legend.ts", ["+round(value)"])
    atlas.answers("They are rounded. Left: the color for missing values.")

    first, second = entries(ask(new_session(atlas, 1), LEFT_OFF))

    assert "the color for missing values" in first
    assert "five colors" in second


@pytest.mark.parametrize(
    ("asked", "file", "answer"),
    [("Let the login accept passkeys", "login.ts", "They work. Left: recovery codes."), ("thanks!", "", "Welcome!")],
)
def test_a_session_that_ended_with_something_else_or_with_thanks_tells_no_end_of_it(
    atlas: Talk, asked: str, file: str, answer: str
) -> None:
    atlas.says(asked)
    if file:
        atlas.edits(file)
    atlas.answers(answer)

    (told,) = entries(ask(new_session(atlas, 1), LEFT_OFF))

    assert "five colors" in told
    assert answer not in told


def test_after_a_compaction_the_prompt_itself_is_not_how_the_session_ended(atlas: Talk) -> None:
    atlas.start("compact")
    atlas.says(LEFT_OFF)  # stored by the other hook of the same prompt
    atlas.prompts -= 1

    (told,) = entries(ask(atlas, LEFT_OFF))

    assert "five colors" in told
    assert "Not answered yet" not in told


@pytest.fixture
def offline(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session of an app after one about offline regions and one about a release."""
    past = Talk(vault, tmp_path / "trails")
    past.start()
    past.says("Offline maps for regions that the user picks")
    past.edits("RegionStore.kt", ["+class RegionStore"])
    past.answers("Offline regions are cut from the PMTiles archive and kept as MBTiles in the app's folder.")
    past.says("why not just copy pmtiles")
    past.answers("The renderer reads PMTiles over HTTP only.")
    release = new_session(past, 1)
    release.says("Release build")
    release.runs("./gradlew bundleRelease", "BUILD SUCCESSFUL")
    release.answers("Version 1.6 is uploaded to the internal track with fastlane.")
    return new_session(past, 5)


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("ship version 1.7 the way we shipped 1.6", "internal track with fastlane"),
        ("keep the elevation data in the app's folder like the offline regions", "MBTiles"),
    ],
)
def test_an_order_to_do_it_like_earlier_work_gets_that_work(offline: Talk, order: str, told: str) -> None:
    assert told in entries(ask(offline, order))[0]


@pytest.mark.parametrize(
    "order", ["write a class for regions", "make the icon the same size as the app's", "list the releases like a table"]
)
def test_an_order_that_likens_to_nothing_stored_gets_nothing(offline: Talk, order: str) -> None:
    assert ask(offline, order) == ""


def test_talk_that_went_on_with_the_work_is_given_behind_it(offline: Talk) -> None:
    first, second = entries(ask(offline, "why MBTiles and not PMTiles for the offline regions?"))

    assert "kept as MBTiles" in first
    assert "over HTTP only" in second


@pytest.fixture
def ferry(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session in a project that chose a supplier of locks, and raised a price twice."""
    past = Talk(vault, tmp_path / "ferry")
    past.start()
    past.says("Which locks do the cabins get?")
    past.edits("locks.py", ["+nuki"])
    past.answers("The cabins get Nuki locks, 190 euros apiece.")
    past.says("is there anybody we can call?")
    past.answers("Markus Thaler at Nuki answers until 18:00.")
    fare = new_session(past, 1)
    fare.says("Raise the bicycle fare")
    fare.edits("fare.py", ["-BICYCLE = 4", "+BICYCLE = 5"])
    fare.answers("A bicycle costs 5 euros.")
    for number, asked in enumerate(("Sort the harbors", "Print the berths", "Round the depths")):
        other = new_session(past, number + 2)
        other.says(asked)
        other.edits(f"part_{number}.py")
        other.answers("Done.")
    return new_session(past, 9)


def _asked_before(talk: Talk, prompt: str) -> str:
    """Ask what a session begins with, and store it as the hook of the same prompt does."""
    given = ask(talk, prompt)
    talk.prompts -= 1
    talk.says(prompt)
    return given


def test_a_pronoun_behind_a_question_stands_for_what_that_asked(ferry: Talk) -> None:
    assert "Nuki locks" in _asked_before(ferry, "which locks did we choose for the cabins?")

    again = ask(ferry, "when did we raise them?")

    assert "bicycle" not in again
    assert "Given above: [mem:" in again


def test_one_word_behind_a_question_is_asked_of_what_that_asked(ferry: Talk) -> None:
    assert "Nuki locks" in _asked_before(ferry, "which locks did we choose for the cabins?")

    assert "Given above: [mem:" in ask(ferry, "what was their warranty?")


def test_one_word_behind_new_work_is_asked_alone(ferry: Talk) -> None:
    ferry.says("Draw the locks of the cabins on the map")
    ferry.answers("Drawn.")

    assert ask(ferry, "what was their warranty?") == ""


def test_one_word_that_is_known_is_asked_alone_behind_a_question(ferry: Talk) -> None:
    assert "Nuki locks" in _asked_before(ferry, "which locks did we choose for the cabins?")

    (answer,) = entries(ask(ferry, "what did we decide about bicycles?"))

    assert "5 euros" in answer
