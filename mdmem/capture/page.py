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
    from mdmem.vault.turns import Place

BEGIN, END = generated.BEGIN, generated.END
MAX_FILES = 40
"""Maximum number of touched files listed on the page."""


def first(session: Session, made: note.Note) -> note.Note:
    """Return the page of a session whose first note is `made`; its cleaned metadata is reused."""
    keep = ("project", "session", "agent", "cwd", "branch", "commit")
    created = str(made.meta["created"])
    title = made.title if made.meta["kind"] == "prompt" else journal.untitled(created)
    meta = {
        "id": note.make_id(session.id, "session"),
        "kind": "session",
        "title": title,
        "created": created,
        **{key: made.meta[key] for key in keep if key in made.meta},
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


def refresh(session: Session) -> None:
    """Update the page of a session that has a folder; a failure is only logged."""
    try:
        folder = session.open_folder()
        if folder is None:
            return
        with folder:
            folder.lock()
            session.catch_up(folder)
            update(session, folder)
    except Exception as error:  # noqa: BLE001 - the note is stored; the next turn's end updates the page
        from mdmem import log

        log.write(session.config, "session page not updated", error)


def _updated(old: bytes, session: Session, folder: disk.Folder) -> bytes | None:
    """Return the page with the part between its markers updated; None if it has no markers."""
    cut = generated.lines_of(old.decode("utf-8", "surrogateescape"))
    if cut is None:
        return None
    head, was, tail = cut
    was = [line.rstrip("\r") for line in was]
    entries = page_entry.of_session(session, folder)
    new = render(session, entries, was).split("\n")[:-1]
    if head[-1].endswith("\r"):
        new = [f"{line}\r" for line in new]
    return "\n".join([*_titled(head, entries, folder), *new, *tail]).encode("utf-8", "surrogateescape")


def _titled(lines: list[str], entries: list[PageEntry], folder: disk.Folder) -> list[str]:
    """Replace the placeholder title by the title of the first prompt, or of the first answer if there is none."""
    created = next((line[9:].strip() for line in lines if line.startswith("created: ")), "")
    was = journal.untitled(created)
    kinds = {found.kind: found for found in reversed(entries)}
    chosen = kinds.get("prompt") or kinds.get("response")
    if not chosen or not any(was in line for line in lines):
        return lines
    title = page_entry.read(folder, chosen.name).title
    places = {
        _line_of("title", was): _line_of("title", title),
        _line_of("aliases", [was]): _line_of("aliases", [title]),
        f"# {was}": f"# {title}",
    }
    return [places.get(line.rstrip(), line.rstrip()) + line[len(line.rstrip()) :] for line in lines]


def _line_of(key: str, value: str | list[str]) -> str:
    return front_matter.write({key: value}).split("\n")[1]


def render(session: Session, entries: list[PageEntry], was: list[str]) -> str:
    """Render the part between the markers: times, branches, prompts with links, files, commits, failures.

    was: its current lines; the links to other sessions and the titles of runs are kept.
    """
    in_turns = turns.numbered(entries, _place)
    asked = "".join([f"{line}\n" for line in prompts(in_turns)])
    parts = [_times(session, entries), asked, _files(entries), _work(entries)]
    lines = "".join([f"{part}\n" for part in parts if part]).split("\n")
    links = generated.navigation(was, "/".join(session.folder))
    return "\n".join(generated.with_runs(lines, links, _runs(in_turns, generated.runs(was))))


def _place(one: PageEntry) -> Place:
    first, second = one.numbers
    return (first, second), timestamps.epoch(one.created), one.name, one.kind == "prompt"


def _runs(in_turns: list[tuple[int, list[PageEntry]]], known: dict[str, str]) -> dict[str, tuple[list[str], int]]:
    """Return each prompt's run lines and number of failures; a run without a known title is named by its file."""
    made: dict[str, tuple[list[str], int]] = {}
    for _, entries in in_turns:
        runs = [one for one in entries if one.kind == "observation"]
        prompt = next((one.name for one in entries if one.kind == "prompt"), "")
        if runs and prompt:
            lines = [known.get(one.name) or run_line(one.name, _words(one.name), success=one.success) for one in runs]
            made[prompt] = lines, sum(not one.success for one in runs)
    return made


def run_line(name: str, title: str, *, success: bool) -> str:
    """Render a tool run as a line of the page, from its file name and title."""
    return f"- {'' if success else '✗ '}[{link_text(title)}]({link(name)})"


def _words(name: str) -> str:
    """Return the words of a note's file name, used as its title until the note is read."""
    return " ".join(name[name.rfind("/") + 9 :].removesuffix(".md").split("-")[:-1]) or name


def _times(session: Session, entries: list[PageEntry]) -> str:
    starts, ends = session.moments("start"), session.moments("end")
    heard = sorted([timestamps.epoch(one.created) for one in entries if one.created] + [now for now, _ in ends])
    heard = [now for now in heard if now] or [now for now, _ in starts]
    if not heard:
        return ""
    begin = starts[0][0] if starts else heard[0]
    lines = [f"- Began {_spoken(begin)}"]
    if ends and ends[-1][0] == heard[-1] and ends[-1][0] >= max([now for now, _ in starts], default=0):
        lines.append(f"- Ended {_spoken(heard[-1])} ({note.one_line(ends[-1][1] or 'no reason given', 60)})")
    else:
        lines.append(f"- Last heard of {_spoken(max(heard[-1], begin))}")
    took = _took([begin, *[now for now, why in starts[1:] if why != "compact"]], heard)
    lines += [f"- Took {_duration(took)}"] if took > 0 else []
    lines += [f"- {_branches(entries)}"] if _branches(entries) else []
    resumed = [(now, why) for now, why in starts[1:] if why not in ("startup", "clear", "")]
    lines += [f"- {_WORDS.get(why, why.capitalize())} {_spoken(now)}" for now, why in resumed[-10:]]
    return "\n".join(lines) + "\n"


_WORDS = {"resume": "Resumed", "compact": "Compacted", "fork": "Forked"}


def _took(begins: list[float], heard: list[float]) -> float:
    """Add up the time from the beginning, and from each resumption, to the last sign of life before the next one."""
    total = 0.0
    for begin, next_ in zip(begins, [*begins[1:], float("inf")], strict=True):
        total += max([now for now in heard if begin <= now < next_], default=begin) - begin
    return total


def _branches(entries: list[PageEntry]) -> str:
    """Return the branches that the session worked on, each with its commit at that time."""
    found: list[tuple[str, str]] = []
    for one in entries:
        if one.branch and (not found or one.branch != found[-1][0]):
            found.append((one.branch, one.head))
    said = [code(branch) + (f" at {code(head)}" if head else "") for branch, head in found]
    return f"On {', then '.join(said)}" if said else ""


def prompts(in_turns: Iterable[tuple[int, list[PageEntry]]]) -> list[str]:
    """Return the page's lines that list the prompts of these turns; [] without any."""
    lines = []
    for number, entries in in_turns:
        answer = next((one for one in reversed(entries) if one.kind == "response"), None)
        for one in entries:
            if one.kind == "prompt":
                more = f" → [{'answer' if answer.success else 'failed'}]({link(answer.name)})" if answer else ""
                lines.append(f"{number}. [{link_text(one.title)}]({link(one.name)}){more}")
            elif one.kind == "summary":
                lines.append(f"   - [{link_text(one.title)}]({link(one.name)})")
    return [generated.PROMPTS, "", *lines] if lines else []


def _files(entries: list[PageEntry]) -> str:
    counts: dict[str, int] = {}
    for one in entries:
        for path in one.files if one.success else ():
            counts[path] = counts.get(path, 0) + 1
    if not counts:
        return ""
    ranked = sorted(counts, key=lambda path: (-counts[path], path))
    lines = [f"- {code(path)}" + (f" ×{counts[path]}" if counts[path] > 1 else "") for path in ranked[:MAX_FILES]]
    more = [f"- and {len(ranked) - MAX_FILES} more"] if len(ranked) > MAX_FILES else []
    return "\n".join(["## Files touched\n", *lines, *more]) + "\n"


def _work(entries: list[PageEntry]) -> str:
    runs = [one for one in entries if one.kind == "observation"]
    commits = [_commits(one.commit) for one in runs if one.commit]
    failures = [one for one in entries if not one.success]
    lines = [f"- {plural.number(len(runs), 'tool run')}"] if runs else []
    lines += [f"- Commits made: {', '.join(commits)}"] if commits else []
    named = [f"[{'-'.join(f'{part:03d}' for part in one.numbers)}]({link(one.name)})" for one in failures[:20]]
    lines += [f"- {len(failures)} failed: {', '.join(named)}"] if failures else []
    return "\n".join(["## Work\n", *lines]) + "\n" if lines else ""


def _commits(made: str) -> str:
    """Render the commits of one run: their hashes, and the last one's subject."""
    commits, _, subject = made.partition(": ")
    said = ", ".join(code(commit) for commit in commits.split())
    return f"{said} {link_text(subject)}" if subject else said


def link_text(title: str) -> str:
    """Escape a title for use as a link text, on one line."""
    line = note.one_line(title)
    for mark in "\\[]`<":
        line = line.replace(mark, f"\\{mark}")
    return line


def link(name: str) -> str:
    """Return a file name as a link target; a user's name may contain spaces or brackets."""
    return f"<{name}>" if set(name) & set(" ()<>") else name


def code(text: str) -> str:
    """Render a short text as inline code, on one line."""
    line = note.one_line(text, 300)
    return f"`` {line} ``" if "`" in line else f"`{line}`"


def _spoken(now: float) -> str:
    iso = timestamps.note_time(now)
    return f"{iso[:10]} {iso[11:16]} UTC{iso[19:].rstrip('Z')}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{round(seconds)} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"
