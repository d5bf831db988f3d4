"""The last look before a commit: no text goes into history that the privacy rules would change."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from mdmem import privacy
from mdmem.history.changes import MARKDOWN
from mdmem.settings import Settings
from mdmem.vault import archives, disk, journal, layout, note, packed, people

TOO_LARGE = "too large"
"""The rule by which a file is held back that is longer than anything of a vault is read."""

UNREADABLE = "unreadable"
"""The rule by which a file is held back that may not be read."""

NUL = "NUL byte"
"""The rule by which a note is held back that is not UTF-8 text: in UTF-16, no rule would find a secret."""

FILE_NAME = "file name"
"""The rule by which a file is held back whose name tells something."""


IN_HISTORY = " History has it from before it was marked; `mdmem purge 'THE TEXT' --apply` removes it there, too."


class HeldBack(NamedTuple):
    """A file that was not committed, because of what its text holds.

    line: where the first private text or secret is, from 1. rule: the rule that finds it.
    in_history: the last commit has the private text, from before it was marked.
    """

    path: str
    line: int
    rule: str
    in_history: bool = False

    def __str__(self) -> str:
        return f"{self.why} {self.todo}"

    @property
    def why(self) -> str:
        """Return why the file was not committed, in a sentence."""
        if self.rule == TOO_LARGE:
            return f"{self.path} is larger than {disk.MAX_READ_BYTES // 1024**2} MiB, so it was not committed."
        if self.rule == UNREADABLE:
            return f"{self.path} may not be read, so it was not committed."
        if self.rule == NUL:
            return (
                f"{self.path}:{self.line} holds a NUL byte (is it saved as UTF-16?), so it cannot be searched for"
                " secrets and was not committed."
            )
        what = f"The name of {self.path}" if self.rule == FILE_NAME else f"{self.path}:{self.line}"
        rule = "" if self.rule == FILE_NAME else f" ({self.rule})"
        known = IN_HISTORY if self.in_history else ""
        return f"{what} holds private text or what looks like a secret{rule}, so it was not committed.{known}"

    @property
    def todo(self) -> str:
        """Return what its owner can do, in a sentence."""
        if self.rule == TOO_LARGE:
            return "Split it, or move it out of the vault."
        if self.rule == FILE_NAME:
            return "Rename it."
        if self.rule == UNREADABLE:
            name = shlex.quote(self.path)
            return f"Make it yours, in the vault's folder: sudo chown $USER {name}; chmod u+rw {name}"
        if self.rule == NUL:
            return f"Save it as UTF-8, without NUL bytes, and commit again, or, if it may stay: {self._accept}"
        return f"Remove that and commit again, or, if it may stay: {self._accept}"

    @property
    def _accept(self) -> str:
        return f"mdmem commit --accept {shlex.quote(self.path)}"


class CommitGate:
    """The gate of one vault's commits: its privacy rules, read more leniently for files that are not notes."""

    def __init__(self, settings: Settings) -> None:
        self._rules = privacy.Rules.of(settings)
        self._mentions = privacy.Rules.of(settings.changed({"privacy.unclosed": "keep"}))

    def look(self, path: str, data: bytes) -> HeldBack | None:
        """Pass one file's name and text through the privacy rules; None when they leave both as they are.

        In a file that is not a note, such as mdmem.toml, a lone tag is only spoken of, and hides no secret behind it.
        Of an image, or another file that is not text, only the name can be looked at.
        """
        if people.clean_path(self._rules, path, data) != path:
            return HeldBack(path, 1, FILE_NAME)
        if layout.archived_in(path) and packed.parse(data):
            return self._look_inside(path, data)
        is_note = path.endswith(MARKDOWN)
        if not is_note and not _is_text(data):
            return None
        if b"\0" in data:
            return HeldBack(path, data[: data.index(b"\0")].count(b"\n") + 1, NUL)
        text = data.decode("utf-8", "replace")
        if is_note:
            text = _FORMER_ID.sub("session", text, count=1)
        rules = self._rules if is_note else self._mentions
        origin = people.origin(note.parse(text)) if is_note else "prompt"
        if privacy.clean(text, rules=rules, origin=origin).value == text or self._is_list_of_titles(text, origin):
            return None
        findings = privacy.clean(text, rules=rules, origin=origin, explain=True).findings
        first = min(findings, key=lambda found: found.line, default=None)
        return HeldBack(path, first.line if first else 1, first.rule if first else "unknown")

    def is_known(self, data: bytes, before: bytes) -> bool:
        """Whether a private section of a file stands in what the file was before."""
        spans = privacy.clean(data.decode("utf-8", "replace"), rules=self._rules).spans
        marks = ("", self._rules.marker, self._rules.redacted)  # of what is gone already
        return any(span.strip().encode("utf-8", "replace") in before for span in spans if span.strip() not in marks)

    def _look_inside(self, path: str, data: bytes) -> HeldBack | None:
        """Look at each note of an archive, and at what somebody wrote beside them; lines are those of the archive."""
        folder = layout.archived_in(path)
        for name, text in archives.contents(folder, data).items():
            held = self.look(f"{folder}/{name}", text)
            if held:
                return held._replace(path=path, line=_line_in(data, text, held.line))
        return None

    def _is_list_of_titles(self, text: str, origin: str) -> bool:
        """Whether nothing private is in a page that mdmem made, if each title that it lists is read by itself.

        A title that mentions a tag hides nothing, and less so the lines behind it; that of a tool run is read as its
        note was. Of the names of notes and sessions, what mdmem made of numbers and ids is no part of a secret.
        """
        if not all(mark in text for mark in journal.PAGE_MARKS):
            return False
        page = note.parse(text)
        titles = [(_ESCAPED.sub(r"\1", title), _origin(target)) for title, target in _LINKED.findall(page.body)]
        rest = _MADE_NAME.sub(r"\1", _LINKED.sub("", page.body))
        of_front = [value for value in page.meta.values() if isinstance(value, (str, list))]
        has_comments = "#" in text[: text.find(page.body)]  # which no value holds
        return not (page.problem or has_comments) and bool(
            privacy.clean(rest, rules=self._rules, origin=origin).value == rest
            and all(privacy.clean(title, rules=self._rules, origin=of).value == title for title, of in titles)
            and all(privacy.clean(value, rules=self._rules).value == value for value in of_front)
        )


_FORMER_ID = re.compile(r"(?<=^session: )session-[0-9a-hjkmnp-tv-z]{20}$", re.MULTILINE)
"""What version 0.1 called a session whose id looks like a secret: the hash of that id."""
_LINKED = re.compile(r"(?<=\[)((?:\\.|[^\\\[\]\n])*)(?=\]\(<?([^()<>\n]*))")
"""The title of a link, and what it leads to."""
_MADE_NAME = re.compile(r"(?<=[(</])(?:\d{3}-\d{3}|\d{4})-([^()<>/\n]*)-[0-9a-hjkmnp-tv-z]{8,10}(?=\.md[)>]|/)")
"""The name of a note or a session in a link: number or time, slug, id."""
_ESCAPED = re.compile(r"\\([\\\[\]`<])")


def _line_in(data: bytes, text: bytes, line: int) -> int:
    """Return at which line of a file a line of a text in it stands."""
    found = data.find(text.split(b"\n")[line - 1], max(data.find(text), 0))
    return data[: max(found, 0)].count(b"\n") + 1


def _origin(target: str) -> str:
    """Return where the title of a link comes from: a tool, if it leads to a tool run."""
    turn, sequence, source, *_ = [*target.split("-", 3), "", ""]
    is_note = len(turn) == len(sequence) == 3 and (turn + sequence).isdigit()
    return "tool" if is_note and source not in ("prompt", "response", "summary") else "prompt"


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
