"""Places that two machines changed differently: the note keeps both versions, and a person chooses, on any machine.

The merge commit names them in trailers, so that every machine knows them; so does the commit of a decision.
When one version is no longer in the note, somebody has decided in an editor.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mdmem import files, plural
from mdmem.config import Config
from mdmem.errors import GitError, NotFoundError, VaultError
from mdmem.history import find, rewrite
from mdmem.history.git import checked_out, lock, objects, repository, writer
from mdmem.history.git.repository import Repository
from mdmem.history.git.writer import CommitDraft
from mdmem.history.merging.both import OTHER, Both
from mdmem.history.merging.merge import KeptBoth
from mdmem.history.rewrite import RewriteStep
from mdmem.lazy_pattern import lazy
from mdmem.vault import disk, editing, note

TRAILER = "Kept-Both"
DECIDED = "Decided"

MOST = 5
"""Maximum number of places that a hint names."""

MAX_STATE_BYTES = 4 << 20

_FIELDS = "%H%x1e%(trailers:key=Kept-Both,valueonly,separator=%x1f)%x1e%(trailers:key=Decided,valueonly,separator=%x1f)"
_PLACE = lazy(r"(?s)(.+):(?:(\d+)-(\d+),(\d+)-(\d+)|([^:]+))")


class KeptPlace(NamedTuple):
    """A place of a note: two runs of lines, or a front matter key whose other value is under `KEY_other`."""

    path: str
    lines: KeptBoth | None
    key: str = ""

    @property
    def what(self) -> str:
        """Return what both machines changed, in words."""
        if self.lines is None:
            return f"`{self.key}`"
        (first, _), (_, last) = self.lines
        return f"line {first}" if last - first < 2 else f"lines {first} to {last}"

    @property
    def name(self) -> str:
        """Return the name of the place in commit messages."""
        return f"{self.path}:{','.join(f'{first}-{last}' for first, last in self.lines) if self.lines else self.key}"


class OpenChoice(NamedTuple):
    """A place that waits for a decision: its current path, and both versions as the note has them.

    line: 0 for a front matter key. named: its names in commit messages. merge: the newest commit that names it.
    """

    path: str
    line: int
    one: str
    other: str
    key: str = ""
    named: tuple[str, ...] = ()
    merge: str = ""


def places(path: str, merged: Both) -> list[KeptPlace]:
    """Return the places of a merged note that have two versions."""
    return [KeptPlace(path, lines) for lines in merged.kept] + [KeptPlace(path, None, key) for key in merged.keys]


def trailers(kept: Iterable[KeptPlace]) -> str:
    """Return the trailers of a merge commit; a name that does not fit on a line is left out."""
    lines = "".join(f"{TRAILER}: {place.name}\n" for place in kept if place.name.isprintable())
    return f"\n{lines}" if lines else ""


def waiting(config: Config) -> list[OpenChoice]:
    """Return the undecided places, sorted by note. Raises VaultError when the vault is not a repository."""
    repo = repository.open_vault(config.vault)
    named = [(oid, place) for oid, name in _undecided_places(config, repo) if (place := _parse(name))]
    texts = _texts(repo, [f"{oid}:{place.path}" for oid, place in named])
    named_by: dict[OpenChoice, list[tuple[str, str]]] = {}
    for merged_text, (oid, place) in zip(texts, named, strict=True):
        choice = _open_choice(config, merged_text, place) if merged_text is not None else None
        if choice:  # two machines may have made the same merge
            named_by.setdefault(choice, []).append((oid, place.name))
    return sorted(
        choice._replace(named=tuple(dict.fromkeys(name for _, name in names)), merge=names[0][0])
        for choice, names in named_by.items()
    )


def hint(config: Config) -> str:
    """Return a sentence about the undecided places and what to do; "" when there are none."""
    try:
        choices = waiting(config)
    except (VaultError, GitError):
        return ""
    if not choices:
        return ""
    marks = dict.fromkeys(f"{choice.path}:{choice.line}" if choice.line else choice.path for choice in choices)
    kept_places = "Where two machines changed the same place, both versions are kept"
    return f"{kept_places}: {plural.some([*marks], MOST)}; `mdmem review` asks which one stays."


def decide(config: Config, choice: OpenChoice, *, keep: str = "") -> bool:
    """Keep one version ("one", "other") or both ("") and commit that; False when the note has changed.

    Raises what `rewrite.apply` raises.
    """
    trailer_lines = "".join(f"{DECIDED}: {name}\n" for name in choice.named)
    text = f"Review: keep {'one version' if keep else 'both versions'} in {choice.path}\n\n{trailer_lines}"
    if keep:
        before = disk.read_path(config.vault, choice.path)
        after = _without(before, choice, keep) if before is not None else None
        if after is None:
            return False
        return bool(rewrite.apply(config, [RewriteStep(choice.path, before, after)], text).changed)
    repo = repository.open_vault(config.vault)
    with lock.held(config.state_dir, repo.common_dir) as lock_fd:
        branch = checked_out.branch(repo)
        head = writer.tip(repo, branch)
        return writer.write(repo, branch, head, [CommitDraft(text, {})], lock_fd)


class _Undecided(NamedTuple):
    """The undecided places in the history up to `tip`, each with the commit that names it."""

    tip: str
    places: list[tuple[str, str]]


def _undecided_places(config: Config, repo: Repository) -> list[tuple[str, str]]:
    """Return (commit, name) of the places that no later commit has decided, newest commit first.

    The result is stored in the state folder, so that only newer commits are read next time.
    """
    tip = writer.tip(repo, "HEAD")
    state = str(Path(config.state_dir, "kept-both"))
    stored = _load_undecided(state)
    if stored.tip == tip or not tip:
        return stored.places if tip else []
    if stored.tip and not objects.is_ancestor(repo, stored.tip, tip):
        stored = _Undecided("", [])  # history was rewritten
    arguments = ("log", "-z", "--topo-order", "-E", f"--grep=^({TRAILER}|{DECIDED}): ", f"--format={_FIELDS}")
    log = repository.attempt(repo, *arguments, tip, *([f"^{stored.tip}"] if stored.tip else []))
    decided: set[str] = set()
    undecided: list[tuple[str, str]] = []
    for row in os.fsdecode(log.out).split("\0"):
        oid, _, fields = row.partition("\x1e")
        kept_both, _, decisions = fields.partition("\x1e")
        decided.update(decisions.strip().split("\x1f"))
        undecided += [(oid.strip(), name) for name in kept_both.strip().split("\x1f") if name and name not in decided]
    undecided += [place for place in stored.places if place[1] not in decided]
    if not log.status:
        with suppress(OSError):
            files.replace(state, json.dumps(_Undecided(tip, undecided)).encode())
    return undecided


def _load_undecided(path: str) -> _Undecided:
    with suppress(OSError, ValueError, TypeError):
        tip, places = json.loads(files.read_own(path, MAX_STATE_BYTES))
        return _Undecided(str(tip), [(str(oid), str(name)) for oid, name in places])
    return _Undecided("", [])


def _parse(value: str) -> KeptPlace | None:
    match = _PLACE.fullmatch(value)
    if not match:
        return None
    if match[6]:
        return KeptPlace(match[1], None, match[6])
    numbers = [int(number) for number in match.groups()[1:5]]
    return KeptPlace(match[1], KeptBoth((numbers[0], numbers[1]), (numbers[2], numbers[3])))


def _texts(repo: Repository, names: list[str]) -> list[bytes | None]:
    """Read these files of commits; None for a missing one."""
    if not names:
        return []
    out = repository.run(repo, "cat-file", "--batch", stdin=os.fsencode("\n".join([*names, ""])))
    return [data for _, data in objects.printed(io.BytesIO(out))]


def _open_choice(config: Config, merged_note: bytes, place: KeptPlace) -> OpenChoice | None:
    """Return the choice if the note, possibly elsewhere by now, still has both versions.

    merged_note: the note as the merge left it.
    """
    path = place.path
    current = disk.read_path(config.vault, path)
    if current is None:
        path = _moved_path(config, merged_note)
        current = disk.read_path(config.vault, path) if path else None
    if current is None:
        return None
    if place.lines is None:
        meta = note.parse(current).meta
        one, other = (meta.get(key) for key in (place.key, place.key + OTHER))
        return OpenChoice(path, 0, str(one), str(other), place.key) if None not in (one, other) else None
    lines = merged_note.decode("utf-8", "surrogateescape").split("\n")
    texts = ["\n".join(lines[first - 1 : last]) for first, last in place.lines]
    line = line_of(current.decode("utf-8", "surrogateescape"), texts[0])
    has_other = line and line_of(current.decode("utf-8", "surrogateescape"), texts[1])
    return OpenChoice(path, line, texts[0], texts[1]) if has_other else None


def _moved_path(config: Config, data: bytes) -> str:
    """Return the current path of a note by its id; "" when it has none or is deleted."""
    name = note.parse(data).fact("id")
    if name:
        with suppress(NotFoundError):
            return find.path_of(config, name)
    return ""


def line_of(text: str, block: str) -> int:
    """Return the line number, from 1, at which these whole lines begin in a text; 0 when it lacks them."""
    at = f"\n{text}\n".find(f"\n{block}\n")
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def _without(data: bytes, choice: OpenChoice, keep: str) -> bytes | None:
    """Return the note with one version only; None when it no longer has both."""
    if choice.key:
        meta = note.parse(data).meta
        if None in (meta.get(choice.key), meta.get(choice.key + OTHER)):
            return None
        values = {choice.key: meta[choice.key if keep == "one" else choice.key + OTHER], choice.key + OTHER: None}
        return editing.set_keys(data, values)
    text = data.decode("utf-8", "surrogateescape")
    kept, dropped = (choice.one, choice.other) if keep == "one" else (choice.other, choice.one)
    kept_line, dropped_line = line_of(text, kept), line_of(text, dropped)
    if not (kept_line and dropped_line):
        return None
    lines = text.split("\n")
    kept_size, dropped_size = kept.count("\n") + 1, dropped.count("\n") + 1
    kept_begin, dropped_begin = kept_line - 1, dropped_line - 1
    kept_end, dropped_end = kept_begin + kept_size, dropped_begin + dropped_size
    between = lines[min(kept_end, dropped_end) : max(kept_begin, dropped_begin)]
    if not any(line.strip() for line in between):  # still next to each other, as the merge put them
        lines[min(kept_begin, dropped_begin) : max(kept_end, dropped_end)] = kept.split("\n")
    else:
        del lines[dropped_begin:dropped_end]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def mine(config: Config, choice: OpenChoice) -> str:
    """Return which version was this machine's before the merge, "one" or "other"; "" when it is not known.

    A machine that was cloned after the merge had neither.
    """
    repo = repository.open_vault(config.vault)
    before = _before(repo, choice.merge)
    shown = repository.attempt(repo, "cat-file", "blob", f"{before}:{choice.path}") if before else None
    if shown is None or shown.status:
        return ""
    had = [name for name in ("one", "other") if _has(shown.out, choice, getattr(choice, name))]
    return had[0] if len(had) == 1 else ""


def _before(repo: Repository, merge: str) -> str:
    """Return the last commit that this machine was at before it had the merge; "" when the reflog does not say."""
    branch = checked_out.branch(repo)
    after = repository.attempt(repo, "rev-list", "--ancestry-path", f"{merge}..{branch}").out.decode("ascii").split()
    tips = repository.attempt(repo, "log", "--walk-reflogs", "--format=%H", branch).out.decode("ascii").split()
    having = {merge, *after}
    return next((tip for tip in tips if tip not in having), "") if having.intersection(tips) else ""


def _has(data: bytes, choice: OpenChoice, version: str) -> bool:
    if choice.key:
        return str(note.parse(data).meta.get(choice.key)) == version
    return bool(line_of(os.fsdecode(data), version))
