"""A session's folder on disk: its page, and its notes in order, as the project that asks may see them."""

from __future__ import annotations

import os
from functools import cached_property
from itertools import groupby

from mdmem import privacy, timestamps
from mdmem.inject import eligibility
from mdmem.inject.rendering import excerpts
from mdmem.inject.rendering.block import Item, cut
from mdmem.search import turn_groups
from mdmem.vault import disk, generated, journal, layout, note, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.config import Config
    from mdmem.inject.occasion import Occasion
    from mdmem.search.gate import Gate
    from mdmem.vault.note import Parsed

_MAX_RUNS, _MAX_EDITS = 40, 12
"""Maximum number of commands and changes of a turn or session that are read, counted from the last."""
_EXCERPT_CHARS = 1_000
_ANSWER_CHARS = 4_000
_SHORT_BYTES, _MAX_READ = 90, 5
"""A last answer up to this length tells little: `Committed as 8c1f2aa.` In UTF-8, as a Chinese one needs a third of the
letters. So many are read for a longer one."""
_OUTCOME_CHARS = 240, 400
"""Minimum and maximum length of how a session ended."""
_FILES = f"\n{generated.FILES}\n"


class SessionFolder:
    """One session's folder on disk: its page, and its notes in order. folder: relative to the vault, POSIX.

    from_elsewhere: another project asks, so that notes that stay on this machine count as empty.
    """

    def __init__(self, config: Config, gate: Gate, folder: str, *, from_elsewhere: bool = False) -> None:
        self._config = config
        self._is_hidden = people.stays_here if from_elsewhere else people.keeps_private
        self.gate = gate
        self.folder = folder
        names = disk.names_in(config.vault, folder)
        self.names = sorted([name for name in names if journal.numbers(name)], key=journal.numbers)
        self.page_name = journal.page_of(names, folder.rpartition("/")[2])

    @cached_property
    def _written(self) -> Parsed:
        return note.load(self._config.vault, self.path(self.page_name))

    def is_looked_through(self) -> bool:
        """Whether the vault's pages were made since the session ended, so that its open work is known."""
        body = self._written.body
        navigation = body.partition(generated.NAVIGATION_MARK)[0].rpartition("\n")[2]  # a hook writes one link only
        return " · " in navigation and all(f"({name})" in body for name in self.of_kind("response")[-1:])

    @cached_property
    def page(self) -> Parsed:
        """The session's page; its text is only the part about files: a long session has thousands of lines.

        Its title is the time if it is that of a prompt or answer that is not shown.
        """
        written = self._written
        if not privacy.may_hold_tag(written.body, self.gate.rules):
            _, heading, following = written.body.partition(_FILES)
            part = heading + following.partition("\n## ")[0] if heading else ""
            written = note.Parsed(written.meta, part, written.problem)
        page = self._unless_hidden(people.cleaned(self._config.vault, written, self.gate.rules))
        first = next(iter((*self.of_kind("prompt"), *self.of_kind("response"))), "")
        if first and page.meta and self._is_hidden(note.load(self._config.vault, self.path(first)).meta):
            page.meta["title"] = journal.untitled(page.fact("created"))
        return page

    def path(self, name: str) -> str:
        """Return the vault path of one of the session's files."""
        return f"{self.folder}/{name}"

    def read(self, name: str) -> Parsed:
        """Read one of the session's files; a missing one, or one marked private in its front matter, is empty."""
        return self._unless_hidden(people.load_clean(self._config.vault, self.path(name), self.gate.rules))

    def _unless_hidden(self, parsed: Parsed) -> Parsed:
        return note.parse(b"") if self._is_hidden(parsed.meta) else parsed

    def is_work(self, turn: int) -> bool:
        """Whether a turn did work."""
        return self._kind_of(self.of_turn(turn)) == turn_groups.WORK

    def _kind_of(self, names: Iterable[str]) -> int:
        return turn_groups.kind_of_turn(os.path.join(self._config.vault, self.folder), names)

    def is_worth_showing(self) -> bool:
        """Whether the session has work, or a question that was answered from more than memory."""
        answered = self.turns_with("response")
        turns = groupby(self.names, lambda name: journal.numbers(name)[0])
        kinds = ((turn, self._kind_of(names)) for turn, names in turns)
        return any(kind == turn_groups.WORK or (kind == turn_groups.TALK and turn in answered) for turn, kind in kinds)

    def last_turn(self) -> int:
        """Return the number of the last turn."""
        return journal.numbers(self.names[-1])[0] if self.names else 0

    def of_turn(self, turn: int) -> list[str]:
        """Return the notes of a turn, in order."""
        return [name for name in self.names if journal.numbers(name)[0] == turn]

    def began(self) -> float:
        """Return the time at which the session began, as `journal.began`, or that of its folder."""
        return layout.begin_time(self.folder, journal.began(self._config.vault, self.folder))

    def ended(self) -> float:
        """Return the time of the last note, in seconds since the epoch; 0 without one."""
        return timestamps.epoch(self.read(self.names[-1]).fact("created")) if self.names else 0.0

    def is_after(self, other: SessionFolder) -> bool:
        """Whether this session's last note is later than that of another one."""
        return bool(self.names and other.names) and self.ended() > other.ended()

    def of_kind(self, kind: str) -> list[str]:
        """Return the notes with this kind in their file name, oldest first; observations have their tool there."""
        return [name for name in self.names if turn_groups.source(name) == kind]

    def turns_with(self, kind: str) -> dict[int, str]:
        """Return the numbers of the turns that have a note of this kind, each with the last one."""
        return {journal.numbers(name)[0]: name for name in self.of_kind(kind)}

    def waits_elsewhere(self, branch: str) -> bool:
        """Whether the notes that the session is shown by wait on a code branch other than this one."""
        ends = [*self.names[:1], *self.names[-1:], *self.of_kind("prompt")[-1:], *self.of_kind("response")[-1:]]
        return any(str(self.read(name).meta.get("staged") or branch) != branch for name in dict.fromkeys(ends))

    def excerpt(self, parsed: Parsed) -> str:
        """Return the cleaned beginning of a note's text."""
        return self.gate.stored(parsed.body[:_EXCERPT_CHARS]).strip()

    def outcome(self, name: str, taken: int, *, with_left: bool = True) -> str:
        """Return the sentences of an answer that say how it ended, cleaned.

        taken: characters used of an item. with_left: also those that say what is left to do.
        """
        room = min(max(self._config.settings.inject.bullet_chars - taken, _OUTCOME_CHARS[0]), _OUTCOME_CHARS[1])
        body = self.read(name).body
        if len(body) > 2 * _ANSWER_CHARS:  # what is left to do is at the end
            body = "\n\n".join([body[:_ANSWER_CHARS], body[-_ANSWER_CHARS:].partition("\n\n")[2]])
        return cut(excerpts.outcome(self.gate.stored(body), (), room, with_left=with_left), room)

    def item(self, name: str, text: str, *marks: str, room: int = 0) -> Item | None:
        """Return one of the session's files as an item; None if it has no id or is not to be shown."""
        parsed = self.page if name == self.page_name else self.read(name)
        meta = parsed.meta
        if not meta.get("id") or eligibility.left_out(parsed):
            return None
        return Item(
            id=str(meta["id"]),
            kind=str(meta.get("kind", "note")),
            title=self.gate.stored(str(meta.get("title", ""))),
            date=timestamps.readable(str(meta.get("created", ""))),
            text=text,
            marks=marks,
            room=room,
        )

    def telling_answer(self) -> str:
        """Return the answer of the last turn that changed a file; if none did, the last long one; "" for none."""
        changed = {journal.numbers(name)[0] for name in filter(turn_groups.is_edit, self.names)}
        answers = self.of_kind("response")[::-1]
        if changed:
            return next((name for name in answers if journal.numbers(name)[0] in changed), "")
        sizes = ((name, len(self.read(name).body.encode("utf-8", "replace"))) for name in answers[:_MAX_READ])
        return next((name for name, size in sizes if size > _SHORT_BYTES), "")

    def is_interrupted(self) -> bool:
        """Whether the last prompt asked for work and has no answer."""
        last = self.last_prompt()
        return last > 0 and last not in self.turns_with("response") and self.is_work(last)

    def last_prompt(self) -> int:
        """Return the number of the last turn that a prompt began; 0 for none."""
        return max(self.turns_with("prompt"), default=0)

    def last_run(self) -> str:
        """Return that the last prompt has no answer yet, and the last command that was run for it."""
        run = next(filter(turn_groups.is_shell, reversed(self.of_turn(self.last_turn()))), "")
        title = self.gate.stored(self.read(run).fact("title")) if run else ""
        return f"Not answered yet. The last command: `{title}`." if title else "Not answered yet."

    def changed_files(self, names: list[str]) -> list[str]:
        """Return the files that the last edits among notes changed; unlike the page, also those of a turn at work."""
        named = (self.read(name).meta.get("files") for name in last_edits(names))
        return list(dict.fromkeys(str(file) for files in named if isinstance(files, list) for file in files))

    def files(self) -> list[str]:
        """Return the files that the session touched, from its page."""
        _, heading, following = self.page.body.partition(_FILES)
        lines = following.partition("\n## ")[0].splitlines() if heading else []
        return [line[3:].partition("`")[0] for line in lines if line.startswith("- `")]


def last_edits(names: list[str]) -> list[str]:
    """Return the last notes, judging by their file names, of tools that change files; as many as are read."""
    return list(filter(turn_groups.is_edit, names))[-_MAX_EDITS:]


def last_commands(names: list[str]) -> list[str]:
    """Return the last notes of commands, in the same way."""
    return list(filter(turn_groups.is_shell, names))[-_MAX_RUNS:]


def this_session(occasion: Occasion) -> SessionFolder | None:
    """Return the folder of the session that an event is of; None if nothing of it is stored."""
    parts = occasion.record.folder or journal.find_session(occasion.config, occasion.record.id, most=journal.MAX_DAYS)
    return session_in(occasion, "/".join(parts)) if parts else None


def session_in(occasion: Occasion, folder: str) -> SessionFolder:
    """Return the session in a folder, as the project that asks may see it."""
    is_elsewhere = not occasion.is_of(layout.project_of(folder))
    return SessionFolder(occasion.config, occasion.gate, folder, from_elsewhere=is_elsewhere)
