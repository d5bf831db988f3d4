"""Diffs: selects the hunks of a turn's changes that matter, and the lines of each that fit."""

from __future__ import annotations

from mdmem.inject.rendering import excerpts
from mdmem.search.text import analysis
from mdmem.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence


class ExcerptHunk(Value):
    """One hunk of a diff: its file, its lines, and the old file's line number of the first."""

    file: str
    lines: list[str]
    start: int = 0

    @property
    def added(self) -> list[str]:
        """Return the added lines, without their sign."""
        return [line[1:] for line in self.lines if line.startswith("+")]

    def reverts(self, earlier: ExcerptHunk) -> bool:
        """Whether the hunk takes back an earlier one as a whole."""
        is_in_file = self.file == earlier.file
        return is_in_file and all(self._changed(sign) == earlier._changed(other) for sign, other in ("+-", "-+"))

    def _changed(self, sign: str) -> list[str]:
        return sorted(line[1:].strip() for line in self.lines if line[:1] == sign)

    def place(self, places: Iterable[FileLine]) -> int:
        """Return the index of the hunk's first line that is at one of `places`, or -1."""
        numbers = {number for file, number in places if file and f"/{file}".endswith(f"/{self.file}")}
        numbers |= {number for file, number in places if file and f"/{self.file}".endswith(f"/{file}")}
        before = self.start
        for at, line in enumerate(self.lines if numbers else ()):
            if line[:1] != "+":
                if before in numbers:
                    return at
                before += 1
        return -1


FileLine = tuple[str, int]
"""A file or the end of its path, and a line number."""


def hunks(body: str, file: str) -> list[ExcerptHunk]:
    """Return the hunks of the diffs in a note; a new file in a fence is one hunk of added lines."""
    in_order: list[ExcerptHunk] = []
    known = file
    for language, lines in excerpts.fences(body):
        if language != "diff":
            in_order.append(ExcerptHunk(file, [f"+{line}" for line in lines]))
            continue
        for line in lines:
            if line.startswith("@@"):
                number = line.partition("-")[2].partition(" ")[0].partition(",")[0]
                in_order.append(ExcerptHunk(file, [], int(number) if number.isdecimal() else 0))
            elif line.startswith("+++ "):
                file = line[4:].removeprefix("b/").strip() or file
                is_known = known and f"/{file}".endswith(f"/{known}")  # OpenCode's diffs have the whole path
                file = known if is_known else file
            elif in_order and line[:1] in ("+", "-", " ") and not line.startswith("--- "):
                in_order[-1].lines.append(line)
    return [hunk for hunk in in_order if any(line[:1] in "+-" for line in hunk.lines)]


def kept(hunks: Sequence[ExcerptHunk]) -> list[ExcerptHunk]:
    """Return the hunks without those that cancel each other out; all of them, if none would be left."""
    remaining: list[ExcerptHunk] = []
    for hunk in hunks:
        reverted = next((earlier for earlier in reversed(remaining) if hunk.reverts(earlier)), None)
        if reverted is None:
            remaining.append(hunk)
        else:
            remaining = [earlier for earlier in remaining if earlier is not reverted]
    return remaining or list(hunks)


def rank(hunks: Iterable[ExcerptHunk], terms: Collection[str], places: Collection[FileLine] = ()) -> list[ExcerptHunk]:
    """Return the hunks, the most relevant first: at a place, with the terms, replacing code, late; tests come last.

    Scratch files are left out if any other file was changed.
    """
    distinct = list({frozenset(line.strip() for line in hunk.added): hunk for hunk in hunks}.values())
    worth = {id(hunk): _hunk_worth(hunk, terms, at / max(len(distinct), 1)) for at, hunk in enumerate(distinct)}
    if not all(is_scratch(hunk.file) for hunk in distinct):
        distinct = [hunk for hunk in distinct if not is_scratch(hunk.file)]
    return sorted(distinct, key=lambda hunk: (_is_aside(hunk.file, terms), hunk.place(places) < 0, -worth[id(hunk)]))


def best_lines(
    hunks: Iterable[ExcerptHunk], terms: Collection[str], chars: int, places: Collection[FileLine] = ()
) -> Iterator[str]:
    """Yield the most relevant hunks within `chars` characters, without those that repeat an earlier one."""
    files: dict[str, set[str]] = {}
    for hunk in rank(hunks, terms, places):
        if chars < _LEAST_CHARS and files:
            return
        shown_lines = files.get(hunk.file, set())
        if repeats(hunk, shown_lines):
            continue
        lines = lines_of(hunk, chars, terms, places)
        if len(lines) > 1:
            files[hunk.file] = shown_lines.union(line.strip() for line in hunk.added)
            chars -= sum(map(_width, lines))
            yield from lines


_LEAST_CHARS = 80
"""With less room than this, no further hunk is shown."""


REPEATS = 0.7
"""A hunk is a repetition if this share of its added lines was shown for its file."""


def repeats(hunk: ExcerptHunk, shown: Collection[str]) -> bool:
    """Whether a hunk adds little to others of its file. shown: their added lines, stripped."""
    added = [line.strip() for line in hunk.added if line.strip()]
    return bool(added) and sum(line in shown for line in added) >= REPEATS * len(added)


def _hunk_worth(hunk: ExcerptHunk, terms: Collection[str], place: float) -> float:
    changed = "\n".join(line[1:] for line in hunk.lines if line[:1] in "+-")
    matched = len(terms & analysis.counts(f"{changed}\n{hunk.file}").keys()) if terms else 0
    replaces = any(line.startswith("-") for line in hunk.lines) and any(line.startswith("+") for line in hunk.lines)
    name = hunk.file.rpartition("/")[2].lower()
    return matched + 0.5 * replaces + place - 0.5 * name.endswith((".md", ".lock", ".json", ".txt"))


def _is_aside(file: str, terms: Collection[str]) -> bool:
    return is_scratch(file) or ("test" in file.lower() and "test" not in terms)


_IMPORTS = ("import ", "from ", "#include", "use ", "using ", "require", "package ")
"""Prefixes of the least informative lines, dropped first if there is too little room."""


def lines_of(
    hunk: ExcerptHunk, chars: int, terms: Collection[str] = (), places: Collection[FileLine] = ()
) -> list[str]:
    """Return a hunk as lines: its file, and the changed lines with a little context.

    With too little room, the context is dropped first, then removed lines, then those before the relevant one: the
    first changed line at or after a place, else the one with most of the terms.
    """
    changed = [at for at, line in enumerate(hunk.lines) if line[:1] in "+-" and line[1:].strip()]
    with_context = {at + step for at in changed for step in (-1, 0, 1)}
    chosen = [at for at in range(len(hunk.lines)) if at in with_context and hunk.lines[at].strip()]
    added = frozenset(at for at in changed if hunk.lines[at].startswith("+"))
    for only in (with_context, frozenset(changed), added):
        if sum(_width(hunk.lines[at]) for at in chosen) > chars:
            telling = (
                at for at in chosen if hunk.lines[at][1:].strip() and not hunk.lines[at][1:].startswith(_IMPORTS)
            )
            chosen = [at for at in telling if at in only] or chosen
    if sum(_width(hunk.lines[at]) for at in chosen) > chars:
        chosen = chosen[_start_of_relevant(hunk, chosen, chars, terms, places) :]
    lines = [f"{hunk.file}:"]
    for at in chosen:
        chars -= _width(hunk.lines[at])
        if chars < 0:
            break
        lines.append(hunk.lines[at])
    return lines


def _start_of_relevant(
    hunk: ExcerptHunk, chosen: list[int], chars: int, terms: Collection[str], places: Collection[FileLine]
) -> int:
    """Return the index in `chosen` to start from, so that the relevant line is shown."""
    failed = hunk.place(places)
    if failed >= 0:
        best = next((place for place, at in enumerate(chosen) if at >= failed), 0)
    else:
        matched = [len(terms & analysis.counts(hunk.lines[at]).keys()) if terms else 0 for at in chosen]
        best = matched.index(max(matched))
    ends = sum(_width(hunk.lines[at]) for at in chosen[: best + 2])
    return 0 if ends <= chars else max(best - 1, 0)


def _width(line: str) -> int:
    return len(line) + 5


_LOCK_NAMES = frozenset(["package-lock.json", "npm-shrinkwrap.json", "packages.lock.json", "go.sum"])
_LOCK_ENDS = (".lock", ".lockb", ".lock.hcl", ".lockfile", "-lock.yaml", "-lock.yml")


def is_lock_file(path: str) -> bool:
    """Whether a file is a package manager's list of exact versions."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    return name in _LOCK_NAMES or name.endswith(_LOCK_ENDS)


def is_scratch(file: str) -> bool:
    """Whether a file was most likely made to investigate something, and not to stay, or by a package manager."""
    name = file.rpartition("/")[2].lower()
    return is_lock_file(name) or name.startswith(("tmp", "scratch", "debug")) or "repro" in name or "replicat" in name
