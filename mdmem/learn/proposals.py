"""Proposals: what agents and rules suggest to keep, merge, pin or drop. A person accepts or dismisses each.

Nothing happens automatically. A dismissal is recorded in the front matter of the note in question (`dismissed`), so
that no machine proposes it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from mdmem import timestamps
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.hashing import short
from mdmem.inject import injection_log
from mdmem.learn import decisions, similarity, work
from mdmem.search import freshness
from mdmem.search.index.layout import FLAGS
from mdmem.search.index.view import View
from mdmem.search.text import wordings
from mdmem.vault import note, people, user_notes
from mdmem.vault.note import PAGES

MAX_OF_A_KIND = 50
WORDING_DAYS = 90
"""Older prompts are not searched for wordings."""
_DAY = 86_400


class Proposal(NamedTuple):
    """A proposal.

    key: its name for `accept` and `dismiss`. kind: a key of KINDS. title: what is proposed. why: the reason.
    id, path: of the note in question. other: id of a second note. noted: what a dismissal adds to `dismissed`.
    """

    key: str
    kind: str
    title: str
    why: str
    project: str
    created: str
    id: str
    path: str
    other: str = ""
    noted: str = ""


def waiting(config: Config, project: str = "", *, now: float) -> list[Proposal]:
    """Return the open proposals, those of agents first; each kind newest first.

    project: only those of this project or of none; "": all. now: seconds since the epoch.
    """
    return freshness.ask(config, lambda view: in_view(config, view, project, now=now))


def in_view(config: Config, view: View, project: str = "", *, now: float) -> list[Proposal]:
    """Return the open proposals in one state of the index, like `waiting`."""
    return _Finder(config, view, project, now).every()


def accept(config: Config, key: str, *, now: float) -> Proposal:
    """Accept a proposal and carry it out.

    Raises:
        NotFoundError: when no open proposal has this key.
        UsageError, VaultError, BusyError, OSError: when a note cannot be written.
    """
    proposal = _waiting_with_key(config, key, now)
    KINDS[proposal.kind].accept(config, proposal, now)
    return proposal


def dismiss(config: Config, key: str, *, now: float) -> Proposal:
    """Dismiss a proposal, so that it is not made again.

    Raises:
        NotFoundError: when no open proposal has this key.
        UsageError, VaultError, BusyError, OSError: when a note cannot be written.
    """
    proposal = _waiting_with_key(config, key, now)
    if proposal.kind == "note":
        user_notes.set_keys(config, proposal.path, {"status": "dismissed"})
    else:
        _note_dismissed(config, proposal)
    return proposal


def _note_dismissed(config: Config, proposal: Proposal) -> None:
    before = people.load_clean(config.vault, proposal.path).meta.get("dismissed")
    dismissed = [*(before if isinstance(before, list) else []), proposal.noted or proposal.kind]
    user_notes.set_keys(config, proposal.path, {"dismissed": dismissed})


def _waiting_with_key(config: Config, key: str, now: float) -> Proposal:
    proposal_key = key.strip("[]#")
    _, notices = freshness.bring_up_to_date(config, most=freshness.MOST_AT_ONCE)
    match = next((proposal for proposal in waiting(config, now=now) if proposal.key == proposal_key), None)
    if match is None:
        lists = ("`mdmem proposals` lists what waits.", *notices)
        raise NotFoundError(f"No proposal has the id {key!r:.40}. {' '.join(lists)}")
    return match


class _Finder:
    """Finds proposals in one state of the index."""

    def __init__(self, config: Config, view: View, project: str, now: float) -> None:
        self._config, self._view, self._project, self._now = config, view, project, now
        self._created = view.numbers("created")

    def every(self) -> list[Proposal]:
        """Return all proposals."""
        by_kind = (list(KINDS[kind].find(self))[:MAX_OF_A_KIND] for kind in KINDS)
        return list(chain.from_iterable(by_kind))

    def _newest(self, numbers: set[int]) -> Iterator[tuple[int, note.Parsed]]:
        """Yield notes of the project, newest first, without internal memories."""
        in_project = decisions.of_project(self._view, numbers - self._view.internal, self._project)
        for number in sorted(in_project, key=lambda n: (self._created[n], self._view.path(n)), reverse=True):
            parsed = people.load_clean(self._config.vault, self._view.path(number))
            if parsed.meta:
                yield number, parsed

    def _undismissed(
        self, number: int, meta: Mapping[str, Any], kind: str, title: str, why: str, *, noted: str, other: str = ""
    ) -> Iterator[Proposal]:
        """Yield a proposal about a note with this front matter, unless it was dismissed."""
        dismissed = meta.get("dismissed")
        if not (isinstance(dismissed, list) and noted in map(str, dismissed)):
            yield self._proposal(number, kind, title, why, other=other, noted=noted)

    def _proposal(self, number: int, kind: str, title: str, why: str, *, other: str = "", noted: str = "") -> Proposal:
        facts = self._view.facts(number)
        name = str(facts["id"])
        return Proposal(
            key=short(f"{kind}\0{name}\0{other}\0{noted}", work.KEY_CHARS),
            kind=kind,
            title=title,
            why=why,
            project=str(facts.get("project", "")),
            created=timestamps.iso_time(self._created[number]),
            id=name,
            path=self._view.path(number),
            other=other,
            noted=noted,
        )

    def notes(self) -> Iterator[Proposal]:
        """Yield the notes that agents proposed."""
        for number, parsed in self._newest(self._view.notes("facet", "is:proposed")):
            if parsed.meta.get("status") == "proposed":
                statement = decisions.statement(parsed)
                unverified = parsed.meta.get("unverified")
                remarks = (
                    [f"quotes what its source does not say: {unverified[0]}"] if isinstance(unverified, list) else []
                )
                remarks += [f"supersedes [mem:{name}]" for name in decisions.linked_ids(parsed.meta.get("supersedes"))]
                reason = "; ".join([f"{parsed.meta.get('kind', 'note')} proposed by an agent", *remarks])
                yield self._proposal(number, "note", parsed.fact("title") or statement, reason)

    def wordings(self) -> Iterator[Proposal]:
        """Yield sentences in prompts that sound like a decision or a rule."""
        since = self._now - WORDING_DAYS * _DAY
        recent = {number for number in self._view.notes("facet", "is:candidate") if self._created[number] > since}
        for number, parsed in self._newest(recent):
            for place, (kind, sentence) in enumerate(wordings.worded_rules(parsed.body)):
                noted = f"{kind}:{place + 1}" if place else kind
                why = f"sounds like a {kind} in a prompt"
                yield from self._undismissed(number, parsed.meta, "wording", sentence, why, noted=noted)

    def paired(self, kind: str) -> Iterator[Proposal]:
        """Yield decisions in force with the same subject as an earlier one, to supersede it; or to merge into it those
        that say the same.
        """
        written = self._view.of_kinds(decisions.KINDS)
        in_force = [(n, parsed) for n, parsed in self._newest(written) if decisions.is_in_force(parsed)]
        for at, older in similarity.pairs([parsed for _, parsed in in_force]):
            number, newer = in_force[at]
            name, earlier = older.fact("id"), f"“{older.meta.get('title', '')}”"
            why = f"the same subject ({similarity.key(newer)}): supersede {earlier}"
            if is_same := similarity.says_the_same(newer, older):
                why = f"says the same as {earlier} ({similarity.key(older)}): merge into it"
            if is_same == (kind == "merge"):
                title, noted = newer.fact("title"), f"{kind}:{name}"
                yield from self._undismissed(number, newer.meta, kind, title, why, noted=noted, other=name)

    def pins(self) -> Iterator[Proposal]:
        """Yield notes that answers in several sessions cite."""
        sessions = dict(cited(self._view))
        for number, parsed in self._newest(set(sessions) - self._view.notes("facet", "is:pinned")):
            if decisions.is_in_force(parsed):
                title, why = self._title(number), f"cited in {sessions[number]} sessions: pin it"
                yield from self._undismissed(number, parsed.meta, "pin", title, why, noted="pin")

    def archived(self) -> Iterator[Proposal]:
        """Yield notes that were injected often and never cited."""
        times = dict(given_in_vain(self._config, self._view))
        pinned, flags = self._view.notes("facet", "is:pinned"), self._view.numbers("flags")
        for number, parsed in self._newest(set(times) - pinned):
            if decisions.is_in_force(parsed) and not flags[number] & FLAGS["edited"]:  # reviewed ones count as edited
                title, why = self._title(number), f"given {times[number]} times, never cited: archive it"
                yield from self._undismissed(number, parsed.meta, "archive", title, why, noted="archive")

    def stale(self) -> Iterator[Proposal]:
        """Yield open work older than `work.STALE_DAYS`."""
        why = f"open for more than {work.STALE_DAYS} days"
        for item in work.in_view(self._config, self._view, self._project, self._now):
            number = self._view.find(item.path)
            if item.is_stale and number is not None:
                marks, noted = decisions.marks_of(self._config, self._view, number), f"drop:{item.key}"
                yield from self._undismissed(number, marks, "drop", item.text, why, noted=noted, other=item.key)

    def _title(self, number: int) -> str:
        return str(self._view.facts(number)["title"])


# -- what accepting does ---------------------------------------------------------------------------


def _take_note(config: Config, proposal: Proposal, now: float) -> None:
    meta, day = people.load_clean(config.vault, proposal.path).meta, timestamps.note_time(now)[:10]
    user_notes.set_keys(config, proposal.path, {"status": None, "accepted": day, "reviewed": day})
    for old in decisions.linked_ids(meta.get("supersedes")):
        with suppress(NotFoundError):  # forgotten since
            decisions.supersede(config, old, proposal.id)


def _write_wording(config: Config, proposal: Proposal, now: float) -> None:
    body = f"> {proposal.title}\n\nSaid in [mem:{proposal.id}].\n"
    kind = proposal.noted.partition(":")[0]
    decisions.add(config, proposal.title, body, kind=kind, project=proposal.project, now=now)
    _note_dismissed(config, proposal)


def _supersede(config: Config, proposal: Proposal, now: float) -> None:  # noqa: ARG001 - signature of `Accept`
    decisions.supersede(config, proposal.other, proposal.id)
    superseded = decisions.linked_ids(people.load_clean(config.vault, proposal.path).meta.get("supersedes"))
    links = [*superseded, proposal.other] if superseded else proposal.other
    user_notes.set_keys(config, proposal.path, {"supersedes": links})


def _merge(config: Config, proposal: Proposal, now: float) -> None:  # noqa: ARG001
    """Mark the later note as superseded by the earlier one, which replaces both."""
    decisions.supersede(config, proposal.id, proposal.other)


def _setting(key: str, value: Any) -> Accept:
    """Return a function that sets a front matter key of the proposal's note."""
    return lambda config, proposal, _now: user_notes.set_keys(config, proposal.path, {key: value})


Accept = Callable[[Config, Proposal, float], Any]


class ProposalKind(NamedTuple):
    """A kind of proposal: how to find and accept them, and the question for a person."""

    find: Callable[[_Finder], Iterator[Proposal]]
    accept: Accept
    question: str


KINDS: dict[str, ProposalKind] = {
    "note": ProposalKind(_Finder.notes, _take_note, "keep this note?"),
    "wording": ProposalKind(_Finder.wordings, _write_wording, "write it down?"),
    "supersede": ProposalKind(
        partial(_Finder.paired, kind="supersede"), _supersede, "does it supersede the earlier one?"
    ),
    "merge": ProposalKind(partial(_Finder.paired, kind="merge"), _merge, "merge it into the earlier one?"),
    "pin": ProposalKind(_Finder.pins, _setting("pinned", True), "pin it?"),
    "archive": ProposalKind(_Finder.archived, _setting("status", "archived"), "archive it?"),
    "drop": ProposalKind(
        _Finder.stale, lambda config, proposal, now: work.mark_done(config, proposal.other, now=now), "drop it?"
    ),
}


CITED_SESSIONS = 3
"""Number of sessions whose answers must cite a note before it is proposed to be pinned."""
_ID_CHARS = 10


def cited(view: View) -> Iterator[tuple[int, int]]:
    """Yield notes cited by answers of at least `CITED_SESSIONS` sessions, with the number of sessions."""
    answers = view.notes("facet", "kind:response")
    for term in view.starting_with("facet", "link:"):
        name = term[5:]
        if len(name) != _ID_CHARS or view.count("facet", term) < CITED_SESSIONS:
            continue
        sessions = {str(view.facts(number).get("session", "")) for number in view.notes("facet", term) & answers}
        number = next(iter(view.notes("facet", f"id:{name}")), None)
        if number is not None and len(sessions) >= CITED_SESSIONS and view.kind(number) not in PAGES:
            yield number, len(sessions)


def given_in_vain(config: Config, view: View) -> Iterator[tuple[int, int]]:
    """Yield notes injected at least `injection_log.IN_VAIN_TIMES` times and never cited, with how often."""
    counted = Counter(str(name) for row in injection_log.read_log(config) for name in row["ids"])
    answers = view.notes("facet", "kind:response")
    for name, times in counted.most_common():
        if times < injection_log.IN_VAIN_TIMES:
            return
        number = next(iter(view.notes("facet", f"id:{name}".lower())), None)
        is_cited = not answers.isdisjoint(view.each("facet", f"link:{name}".lower()))
        if number is not None and view.kind(number) not in PAGES and not is_cited:
            yield number, times
