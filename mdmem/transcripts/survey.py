"""Survey: shows what an import would add, without storing anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from mdmem import project
from mdmem.transcripts.saved import ReadOptions, Skipped
from mdmem.transcripts.sources import Transcript
from mdmem.vault import exclusions, journal


class Survey(NamedTuple):
    """The contents of one transcript.

    project, cwd: its project, and the folder where it began; of an export, those of its first session.
    sessions: the id of each session -> when its last event happened. prompts: number of typed prompts.
    events: maximum number of notes.
    first, last: when its first and last event happened, in seconds since the epoch.
    """

    transcript: Transcript
    project: str
    sessions: Mapping[str, float]
    prompts: int
    events: int
    first: float
    last: float
    cwd: str = ""


def survey(transcript: Transcript, now: float, roots: Mapping[str, str]) -> Survey | None:
    """Return the survey of a transcript; None if it has no event or cannot be read. roots: as in `ReadOptions`."""
    place, prompts, events = "", 0, 0
    sessions: dict[str, float] = {}
    times: list[float] = []
    try:
        for saved in transcript.source.read(transcript.path, ReadOptions(Skipped(), now, roots=roots)):
            place = place or saved.event.cwd
            session = journal.session_id(saved.event)
            sessions[session] = max(sessions.get(session, saved.at), saved.at)
            prompts += saved.event.name == "UserPromptSubmit"
            events += saved.event.name not in ("SessionStart", "SessionEnd")
            times.append(saved.at)
    except OSError:
        return None
    if not events:
        return None
    return Survey(transcript, _project(place), sessions, prompts, events, min(times), max(times), place)


@lru_cache(maxsize=4096)
def _project(cwd: str) -> str:
    return project.identify(cwd).name


class SurveyRow(NamedTuple):
    """One line of the preview: one project and agent."""

    project: str
    agent: str
    sessions: int
    prompts: int
    first: float
    last: float


def rows(surveys: Iterable[Survey]) -> list[SurveyRow]:
    """Return the totals by project and agent, the most recent first."""
    totals: dict[tuple[str, str], SurveyRow] = {}
    for survey in surveys:
        key = (survey.project, survey.transcript.source.title)
        row = totals.get(key) or SurveyRow(*key, 0, 0, survey.first, survey.last)
        first, last = min(row.first, survey.first), max(row.last, survey.last)
        sessions, prompts = row.sessions + len(survey.sessions), row.prompts + survey.prompts
        totals[key] = SurveyRow(*key, sessions, prompts, first, last)
    return sorted(totals.values(), key=lambda row: -row.last)


def count_deleted(surveys: Iterable[Survey], deleted: Mapping[str, float]) -> int:
    """Return how many sessions their owner has deleted as a whole.

    deleted: the tag of a session's folder -> when, in seconds since the epoch.
    """
    sessions = (session for surveyed in surveys for session in surveyed.sessions.items())
    return sum(
        any(deleted.get(tag, 0.0) >= last for tag in journal.session_tags(session)) for session, last in sessions
    )


def choose(
    surveys: Iterable[Survey], name: str, span: tuple[float, float] = (0.0, 0.0), limit: int = 0
) -> list[Survey]:
    """Return whole sessions, sorted by their last event.

    name: a glob for the project ("": all). span: start and end for the last event (0: open). limit: keep only this many
    of the last sessions (0: all).
    """
    first, last = span
    fitting = (survey for survey in surveys if survey.last >= first and (not last or survey.last < last))
    chosen = [survey for survey in fitting if (not name or exclusions.matches(name, survey.project))]
    chosen.sort(key=lambda survey: survey.last)
    return chosen[-limit:] if limit else chosen
