"""The session page: one session's journal page, updated between two markers.

Everything outside the markers belongs to the user, including the front matter, which is written once. The only
exception is the placeholder title: the first prompt or answer replaces it unless somebody has changed it.
"""

from __future__ import annotations

from mdmem import plural, timestamps
from mdmem.capture import page_entry
from mdmem.vault import disk, front_matter, generated, journal, note, template, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.capture.page_entry import PageEntry
    from mdmem.capture.session import Session
    from mdmem.vault.turns import NotePlace

BEGIN, END = generated.BEGIN, generated.END
MAX_FILES = 40
"""Maximum number of touched files listed on the page."""


def first(session: Session, first_note: note.Note) -> note.Note:
    """Return the page of a session with its first note, whose cleaned metadata is reused."""
    keep = ("project", "session", "agent", "cwd", "branch", "commit")
    created = str(first_note.meta["created"])
    title = first_note.title if first_note.meta["kind"] == "prompt" else journal.untitled(created)
    meta = {
        "id": note.make_id(session.id, "session"),
        "kind": "session",
        "title": title,
        "created": created,
        **{key: first_note.meta[key] for key in keep if key in first_note.meta},
        "tags": ["session"],
        "aliases": [title],
    }
    text = template.load("notes/session.md", session.config.vault)
    body = template.fill(text, {"title": title, "page": f"{BEGIN}\n{END}"})
    return note.Note(meta, "", body)


def update(session: Session, folder: disk.Folder) -> bool:
    """Update the part between the markers; return False if the page was left alone.

    A page without markers belongs to its owner, and one too large to read is not touched. A concurrent save by somebody
    else is kept.
    """
    for _ in range(3):
        name = journal.page_in(folder)
        old = disk.read(folder, name) if name else None
        if old is None or len(old) >= disk.MAX_READ_BYTES:
            return False
        new = _updated(old, session, folder)
        if new is None or new == old:
            return False
        durable = session.config.durable
        if disk.replace(folder, name, old, new, durable=durable):
            return True
    return False


def bring_up_to_date(session: Session) -> None:
    """Update the page of a session that has a folder. Raises OSError or VaultError when it cannot be written."""
    folder = session.open_folder()
    if folder is not None:
        with folder:
            folder.lock()
            session.catch_up(folder)
            if update(session, folder):
                session.mark_page(folder)


def refresh(session: Session) -> None:
    """Update the page of a session that has a folder; a failure is only logged."""
    try:
        bring_up_to_date(session)
    except Exception as error:  # noqa: BLE001 - the note is stored; the next turn's end updates the page
        from mdmem import log

        log.write(session.config, "session page not updated", error)


def _updated(old: bytes, session: Session, folder: disk.Folder) -> bytes | None:
    """Return the page with the part between its markers updated; None if it has no markers."""
    parts = generated.lines_of(old.decode("utf-8", "surrogateescape"))
    if parts is None:
        return None
    head, generated_lines, tail = parts
    generated_lines = [line.rstrip("\r") for line in generated_lines]
    entries = page_entry.of_session(session, folder)
    new = render(session, entries, generated_lines).split("\n")[:-1]
    if head[-1].endswith("\r"):
        new = [f"{line}\r" for line in new]
    return "\n".join([*_titled(head, entries, folder), *new, *tail]).encode("utf-8", "surrogateescape")


def _titled(lines: list[str], entries: list[PageEntry], folder: disk.Folder) -> list[str]:
    """Replace the placeholder title by the title of the first prompt, or of the first answer if there is none."""
    placeholder = _placeholder(lines)
    kinds = {entry.kind: entry for entry in reversed(entries)}
    titled = kinds.get("prompt") or kinds.get("response")
    if not titled or not any(placeholder in line for line in lines):
        return lines
    title = page_entry.read(folder, titled.name).title
    replacements = {
        front_matter.line("title", placeholder): front_matter.line("title", title),
        front_matter.line("aliases", [placeholder]): front_matter.line("aliases", [title]),
        f"# {placeholder}": f"# {title}",
    }
    return [replacements.get(line.rstrip(), line.rstrip()) + line[len(line.rstrip()) :] for line in lines]


def _placeholder(lines: list[str]) -> str:
    """Return the title that a page has until a better one is known: its time, or that its first text was withheld."""
    if any(line.startswith("# [WITHHELD: ") for line in lines):
        from mdmem.privacy.withheld import MARK  # rarely needed: not loaded by each hook

        return MARK
    created = next((line[9:].strip() for line in lines if line.startswith("created: ")), "")
    return journal.untitled(created)


def render(session: Session, entries: list[PageEntry], current: list[str]) -> str:
    """Render the part between the markers: times, branches, prompts with links, files, commits, failures.

    current: its lines so far; the links to other sessions and the titles of runs are kept.
    """
    in_turns = turns.numbered(entries, _place)
    asked = "".join([f"{line}\n" for line in prompts(in_turns)])
    parts = [_times(session, entries), asked, _files(entries), _work(entries)]
    lines = "".join([f"{part}\n" for part in parts if part]).split("\n")
    links = generated.navigation(current, "/".join(session.folder))
    return "\n".join(generated.with_runs(lines, links, _runs(in_turns, generated.runs(current))))


def _place(entry: PageEntry) -> NotePlace:
    first, second = entry.numbers
    return (first, second), entry.moment, entry.name, entry.kind == "prompt"


def _runs(in_turns: list[tuple[int, list[PageEntry]]], known: dict[str, str]) -> dict[str, tuple[list[str], int]]:
    """Return each prompt's run lines and number of failures; a run without a known title is named by its file."""
    runs_of: dict[str, tuple[list[str], int]] = {}
    for _, entries in in_turns:
        runs = [entry for entry in entries if entry.kind == "observation"]
        prompt = next((entry.name for entry in entries if entry.kind == "prompt"), "")
        if runs and prompt:
            lines = [known.get(run.name) or run_line(run.name, _words(run.name), success=run.success) for run in runs]
            runs_of[prompt] = lines, sum(not run.success for run in runs)
    return runs_of


def run_line(name: str, title: str, *, success: bool) -> str:
    """Render a tool run as a line of the page, from its file name and title."""
    return f"- {'' if success else '✗ '}[{link_text(title)}]({generated.target(name)})"


def _words(name: str) -> str:
    """Return the words of a note's file name, used as its title until the note is read."""
    return " ".join(name[name.rfind("/") + 9 :].removesuffix(".md").split("-")[:-1]) or name


def _times(session: Session, entries: list[PageEntry]) -> str:
    starts, ends = session.moments("start"), session.moments("end")
    last = max(entries, key=_place).moment if entries else 0.0
    moments = [entry.moment for entry in entries if entry.moment]
    signs = sorted(moments + [now for now, _ in ends])
    signs = [now for now in signs if now and not timestamps.is_clock_set_back(last, now)]  # of life
    signs = signs or [now for now, _ in starts]
    if not signs:
        return ""
    begin = starts[0][0] if starts else signs[0]
    lines = [f"- Began {_readable_time(begin)}"]
    if ends and ends[-1][0] == signs[-1] and ends[-1][0] >= max([now for now, _ in starts], default=0):
        lines.append(f"- Ended {_readable_time(signs[-1])} ({note.one_line(ends[-1][1] or 'no reason given', 60)})")
    else:
        lines.append(f"- Last heard of {_readable_time(max(signs[-1], begin))}")
    took = timestamps.worked(moments)
    lines += [f"- Took {_duration(took)}"] if took else []
    branches = _branches(entries)
    lines += [f"- {branches}"] if branches else []
    resumed = [(now, why) for now, why in starts[1:] if why not in ("startup", "clear", "")]
    lines += [f"- {_WORDS.get(why, why.capitalize())} {_readable_time(now)}" for now, why in resumed[-10:]]
    return "\n".join(lines) + "\n"


_WORDS = {"resume": "Resumed", "compact": "Compacted", "fork": "Forked"}


def _branches(entries: list[PageEntry]) -> str:
    """Return the branches that the session worked on, each with its commit at that time."""
    visits: list[tuple[str, str]] = []
    for entry in entries:
        if entry.branch and (not visits or entry.branch != visits[-1][0]):
            visits.append((entry.branch, entry.head))
    names = [code(branch) + (f" at {code(head)}" if head else "") for branch, head in visits]
    return f"On {', then '.join(names)}" if names else ""


def prompts(in_turns: Iterable[tuple[int, list[PageEntry]]]) -> list[str]:
    """Return the page's lines that list the prompts of these turns; [] without any."""
    lines = []
    for number, entries in in_turns:
        answer = next((entry for entry in reversed(entries) if entry.kind == "response"), None)
        for entry in entries:
            if entry.kind == "prompt":
                answer_link = (
                    f" → [{'answer' if answer.success else 'failed'}]({generated.target(answer.name)})"
                    if answer
                    else ""
                )
                lines.append(f"{number}. [{link_text(entry.title)}]({generated.target(entry.name)}){answer_link}")
            elif entry.kind == "summary":
                lines.append(f"{generated.indent(number)}- [{link_text(entry.title)}]({generated.target(entry.name)})")
    return [generated.PROMPTS, "", *lines] if lines else []


def _files(entries: list[PageEntry]) -> str:
    counts: dict[str, int] = {}
    for entry in entries:
        for path in entry.files if entry.success else ():
            counts[path] = counts.get(path, 0) + 1
    if not counts:
        return ""
    ranked = sorted(counts, key=lambda path: (-counts[path], path))
    lines = [f"- {code(path)}" + (f" ×{counts[path]}" if counts[path] > 1 else "") for path in ranked[:MAX_FILES]]
    omitted = [f"- and {len(ranked) - MAX_FILES} more"] if len(ranked) > MAX_FILES else []
    return "\n".join([f"{generated.FILES}\n", *lines, *omitted]) + "\n"


def _work(entries: list[PageEntry]) -> str:
    runs = [entry for entry in entries if entry.kind == "observation"]
    commits = [_commits(entry.commit) for entry in runs if entry.commit]
    failures = [entry for entry in entries if not entry.success]
    lines = [f"- {plural.number(len(runs), 'tool run')}"] if runs else []
    lines += [f"- Commits made: {', '.join(commits)}"] if commits else []
    failed_links = [
        f"[{'-'.join(f'{part:03d}' for part in entry.numbers)}]({generated.target(entry.name)})"
        for entry in failures[:20]
    ]
    lines += [f"- {len(failures)} failed: {', '.join(failed_links)}"] if failures else []
    return "\n".join([f"{WORK}\n", *lines]) + "\n" if lines else ""


WORK = "## Work"


def _commits(made: str) -> str:
    """Render the commits of one run: their hashes, and the last one's subject."""
    commits, _, subject = made.partition(": ")
    hashes = ", ".join(code(commit) for commit in commits.split())
    return f"{hashes} {link_text(subject)}" if subject else hashes


def link_text(title: str) -> str:
    """Escape a title for use as a link text, on one line, also for Obsidian and for GitHub.

    What is marked only in pairs, such as a highlighted `==word==`, stays as it is if there is one.
    """
    line = note.one_line(title)
    for mark in "\\[]`<":
        line = line.replace(mark, f"\\{mark}")
    if line.count("*") > 1 or line.count("_") > 1 or "&" in line:
        line = _without_emphasis(line)
    for mark in ("%%", "~", "$", "=="):
        line = line.replace(mark, f"\\{mark}") if line.count(mark) > (mark != "%%") else line
    return line


def _without_emphasis(line: str) -> str:
    """Escape each `*`, `_` and `&` that Markdown may read: not one between spaces, nor a `_` within a word."""
    pieces = []
    for before, char, after in zip(f" {line}", line, f"{line[1:]} ", strict=False):
        is_mark = (
            (char == "*" and not (before == after == " "))
            or (char == "_" and not (before.isalnum() and after.isalnum()))
            or (char == "&" and (after.isalnum() or after == "#"))
        )
        pieces.append(f"\\{char}" if is_mark else char)
    return "".join(pieces)


def code(text: str) -> str:
    """Render a short text as inline code, on one line."""
    line = note.one_line(text, 300)
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def _readable_time(now: float) -> str:
    iso = timestamps.note_time(now)
    return f"{iso[:10]} {iso[11:16]} UTC{iso[19:].rstrip('Z')}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{round(seconds)} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
