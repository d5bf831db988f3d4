"""The privacy gate of commits: no text enters history that the privacy rules would change."""

from __future__ import annotations

import codecs
import shlex
from typing import NamedTuple

from mdmem import files, privacy
from mdmem.lazy_pattern import lazy
from mdmem.privacy import encoded
from mdmem.settings import Settings
from mdmem.vault import archives, disk, generated, layout, note, packed, people

TOO_LARGE, UNREADABLE, DISK, CUT_OFF, ELSEWHERE = "too large", "unreadable", "disk", "cut off", "elsewhere"
LINK, HIDDEN, EMPTIED = "link", "hidden page", "emptied"
NUL, NESTED, FILE_NAME, SESSION_NAME = "NUL byte", "nested repository", "file name", "name in a session"
"""Rules for content that is not text, and so cannot be searched; they have rows in `_ADVICE`."""

SO_NAMED = (
    "The session's folder and page, which are committed with its other notes, may be named so too."
    " `mdmem purge 'THE TEXT' --apply` removes it from these names, and from history."
)
IN_HISTORY = " The private text is already in history; `mdmem purge 'THE TEXT' --apply` removes it there too."


class HeldBack(NamedTuple):
    """A file that the gate kept out of a commit.

    line: of the first finding, from 1. rule: the rule that found it.
    in_history: the last commit contains the private text, from before it was marked.
    """

    path: str
    line: int
    rule: str
    in_history: bool = False

    def __str__(self) -> str:
        return f"{self.why} {self.todo}"

    @property
    def why(self) -> str:
        """Return a sentence that says why the file was not committed."""
        return self._filled(_ADVICE.get(self.rule, _OF_TEXT)[0])

    @property
    def todo(self) -> str:
        """Return a sentence that says what the owner can do."""
        return self._filled(_ADVICE.get(self.rule, _OF_TEXT)[1])

    def _filled(self, text: str) -> str:
        quoted = shlex.quote(self.path)
        return text.format(
            path=self.path, line=self.line, rule=self.rule, known=IN_HISTORY if self.in_history else "", quoted=quoted,
            accept=f"mdmem commit --accept {quoted}", restoring=archives.restoring(self.path),
            most=disk.MAX_READ_BYTES // 1024**2,
        )  # fmt: skip


_CANNOT_BE_READ = "{path} cannot be read, so it was not committed."
_NAME_HOLDS = "The name of {path} holds private text or what looks like a secret, so it was not committed."
_ADVICE = {
    TOO_LARGE: ("{path} is larger than {most} MiB, so it was not committed.", "Split it, or move it out of the vault."),
    UNREADABLE: (  # for lack of permission
        _CANNOT_BE_READ,
        "Take ownership of it, in the vault's folder: sudo chown $USER {quoted}; chmod u+rw {quoted}",
    ),
    DISK: (
        _CANNOT_BE_READ,
        "The disk, or the program that fetches the file from elsewhere, failed: `mdmem doctor` shows why.",
    ),
    ELSEWHERE: (
        "{path} is not on this machine, but its sync program has a copy, so its deletion was not committed.",
        "Let that program keep the vault's files on this machine, or delete the note there.",
    ),
    LINK: (
        "{path} is a link, which mdmem does not follow, so the deletion of what was there was not committed.",
        "Put the file or folder itself in its place, or delete the link.",
    ),
    HIDDEN: (
        "{path} is a link or only at a sync program, and may be private, so its project's notes were not committed.",
        "Put the file itself in its place.",
    ),
    EMPTIED: (
        "{path} is empty now, as a power cut or a sync program may leave a file, so that was not committed.",
        (
            "In the vault's folder, `git restore {quoted}` writes its last committed version again. If it may be empty:"
            " {accept}"
        ),
    ),
    CUT_OFF: ("{path} has lost its end, and so notes of its session; it was not committed.", "{restoring}"),
    NESTED: (
        "{path} is a git repository of its own, so its notes are not committed here.",
        "Move its {path}.git out of the vault, or name {path} in .gitignore.",
    ),
    NUL: (  # in UTF-16, no rule finds a secret
        (
            "{path}:{line} contains a NUL byte (is it saved as UTF-16?), so it cannot be searched for secrets and was"
            " not committed."
        ),
        "Save it as UTF-8, without NUL bytes, and commit again, or, if it may stay: {accept}",
    ),
    FILE_NAME: (f"{_NAME_HOLDS}{{known}}", "Rename it."),
    SESSION_NAME: (_NAME_HOLDS, SO_NAMED),  # made of a prompt, as the names of the session's folder and page
}
"""Rule -> why a file was not committed, and what its owner can do."""
_OF_TEXT = (
    "{path}:{line} holds private text or what looks like a secret ({rule}), so it was not committed.{known}",
    "Remove that and commit again, or, if it may stay: {accept}",
)
"""The same for the rules of the privacy gate."""


def is_emptied(path: str, data: bytes | None) -> bool:
    """Whether a note is there, but has no text at all, as after a power cut."""
    return data is not None and disk.is_note_path(path) and not data.strip(b"\0")


class CommitGate:
    """The gate of one vault's commits: its privacy rules, more lenient for files that are not notes."""

    def __init__(self, settings: Settings) -> None:
        self._rules = privacy.Rules.of(settings)
        self._mentions = privacy.Rules.of(settings.changed({"privacy.unclosed": "keep"}))
        self._pairs = privacy.Rules.of(settings.changed({"privacy.unclosed": "keep", "privacy.patterns": []}))
        self._pairs.secrets = False

    def look(self, path: str, data: bytes) -> HeldBack | None:
        """Check a file's name and text; None when the privacy rules would change neither.

        Outside notes, for example in mdmem.toml, an unclosed tag counts as a mention; secrets after it are still found.
        Of a file that is not text, such as an image or an archive, only the name and pairs of private tags are checked.
        """
        is_note = path.endswith(disk.NOTE_ENDINGS)
        if people.clean_path(self._rules, path, data if is_note or layout.archived_in(path) else None) != path:
            is_made = layout.is_in_session(path) or layout.archived_in(path)
            return HeldBack(path, 1, SESSION_NAME if is_made else FILE_NAME)
        if layout.archived_in(path) and packed.is_cut_off(data):
            return HeldBack(path, 1, CUT_OFF)
        if layout.archived_in(path) and packed.parse(data):
            return self._look_inside(path, data)
        if not is_note and data[:2] in _UTF16:
            data = data.decode("utf-16", "replace").encode("utf-8", "replace")
        if not is_note and not _is_text(data):
            return self._look_for_tags(path, data)
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
        first = min(findings, key=lambda finding: finding.line, default=None)
        return HeldBack(path, first.line if first else 1, first.rule if first else "unknown")

    def _look_for_tags(self, path: str, data: bytes) -> HeldBack | None:
        """Check what a file that is not text says between private tags: an image's description, a compressed text."""
        for part in (data, *files.unpacked(data, disk.MAX_READ_BYTES)):
            text = encoded.readable(part)
            if privacy.may_hold_private([text], self._pairs):
                spans = privacy.clean(text, rules=self._pairs).spans
                if any(map(str.strip, spans)):
                    return HeldBack(path, 1, "private-tag")
        return None

    def is_known(self, data: bytes, before: bytes) -> bool:
        """Whether a private section of the file is also in its earlier content."""
        spans = privacy.clean(data.decode("utf-8", "replace"), rules=self._rules).spans
        marks = ("", self._rules.marker, self._rules.redacted)  # of text that is already masked
        return any(span.strip().encode("utf-8", "replace") in before for span in spans if span.strip() not in marks)

    def _look_inside(self, path: str, data: bytes) -> HeldBack | None:
        """Check each note of an archive and any text beside them; line numbers are those of the archive."""
        folder = layout.archived_in(path)
        for name, text in archives.contents(folder, data).items():
            held_back = self.look(f"{folder}/{name}", text)
            if held_back:
                return held_back._replace(path=path, line=_line_in(data, text, held_back.line))
        return None

    def _is_list_of_titles(self, text: str, origin: str) -> bool:
        """Whether a generated page is clean when each listed title is checked on its own.

        A tag mentioned in a title must not hide the lines after it, and the title of a tool run is checked as its note
        was. The numbers and ids in the file names of notes and sessions are not checked.
        """
        if generated.lines_of(text) is None:
            return False
        page = note.parse(text)
        titles = [(generated.unescaped(title), _origin(target)) for title, target in _LINKED.findall(page.body)]
        other_text = _MADE_NAME.sub(r"\1", _LINKED.sub("", page.body))
        front_texts = [value for value in page.meta.values() if isinstance(value, (str, list))]
        has_comments = "#" in text[: text.find(page.body)]  # comments are in no value
        return not (page.problem or has_comments) and bool(
            any(
                privacy.clean(rest, rules=self._rules, origin=origin).value == rest
                for rest in (other_text, generated.unescaped(other_text))  # the latter for subjects of commits
            )
            and all(privacy.clean(title, rules=self._rules, origin=of).value == title for title, of in titles)
            and all(privacy.clean(value, rules=self._rules).value == value for value in front_texts)
        )


_FORMER_ID = lazy(r"(?m)(?<=^session: )session-[0-9a-hjkmnp-tv-z]{20}$")
"""What version 0.1 wrote for a session id that looks like a secret: a hash of the id."""
_LINKED = lazy(r"(?<=\[)((?:\\.|[^\\\[\]\n])*)(?=\]\(<?([^()<>\n]*))")
"""The title and the target of a link."""
_MADE_NAME = lazy(r"(?<=[(</])(?:\d{3}-\d{3}|\d{4})-([^()<>/\n]*)-[0-9a-hjkmnp-tv-z]{8,10}(?=\.md[)>]|/)")
"""The file name of a note or a session in a link: number or time, slug, id."""


def _line_in(data: bytes, text: bytes, line: int) -> int:
    """Return the line number in a file of a line of an embedded text."""
    position = data.find(text.split(b"\n")[line - 1], max(data.find(text), 0))
    return data[: max(position, 0)].count(b"\n") + 1


def _origin(target: str) -> str:
    """Return the origin of a link's title: "tool" when the link leads to a tool run, else "prompt"."""
    turn, sequence, source, *_ = [*target.split("-", 3), "", ""]
    is_note = len(turn) == len(sequence) == 3 and (turn + sequence).isdigit()
    return "tool" if is_note and source not in ("prompt", "response", "summary") else "prompt"


def _is_text(data: bytes) -> bool:
    """Whether a file is text: in UTF-8, or in any encoding of one byte per letter."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return len(data.translate(None, _NO_TEXT)) == len(data)
    return b"\0" not in data


_NO_TEXT = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x1b\b\a")
"""Control characters that no text in another encoding has."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
