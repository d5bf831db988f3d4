"""Files: what is stored of a tool run that reads or changes a file; rows of `table.TOOLS`."""

from __future__ import annotations

from mdmem.capture.tools import diff
from mdmem.capture.tools.body import Part, inline
from mdmem.capture.tools.run import (
    RunFacts,
    answer,
    few,
    items,
    language,
    line_count,
    mapping,
    number,
    path,
    paths,
    short,
    text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.capture.tools.run import Run

_MAX_ORIGINAL_CHARS = 256 * 1024  # in longer files an edit is not located
_MAX_EDITS = 100
_MAX_PATCHED = 1000

# Where agents put a diff they made themselves.
_READY_DIFFS = (("gitDiff", "patch"), ("returnDisplay", "fileDiff"), ("metadata", "diff"))


def read(run: Run) -> RunFacts:
    """Describe a read: the text within the limits; for pictures and PDFs, their type and size."""
    file = mapping(run.result.get("file"))
    name = path(run, text(run.input, "file_path") or text(file, "filePath"))
    content = text(file, "content") or _cells(file.get("cells")) or ("" if file else answer(run.response))
    lines = number(file, "numLines") or (line_count(content) if content else None)
    parts = [
        Part(lines=_not_kept(text(run.result, "type"), file)),
        Part(text=content, language=language(name) or "text"),
    ]
    return RunFacts(f"Read {name}{_range(file)}", name, _meta(name, lines), parts)


def _meta(name: str, lines: int | None) -> dict[str, Any]:
    return {"files": few([name]) if name else [], "lines": lines, "language": language(name)}


def _range(file: dict[str, Any]) -> str:
    start, lines, total = number(file, "startLine") or 1, number(file, "numLines"), number(file, "totalLines")
    if not lines or not total or (start == 1 and lines >= total):
        return ""
    return f" (lines {start}-{start + lines - 1} of {total})"


def _not_kept(kind: str, file: dict[str, Any]) -> list[str]:
    if kind == "file_unchanged":
        return ["Unchanged since it was read before."]
    if kind == "text" and not text(file, "content"):
        return ["The file is empty."]
    size, parts = number(file, "originalSize"), number(file, "count")
    area = mapping(file.get("dimensions"))
    width, height = number(area, "originalWidth"), number(area, "originalHeight")
    facts = [
        "PDF" if kind in ("pdf", "parts") else inline(text(file, "type") or "picture", 60),
        f"{size:,} bytes" if size else "",
        f"{width} x {height} pixels" if width and height else "",
        f"in {parts:,} parts" if parts else "",
    ]
    return [f"Not kept: {', '.join(filter(None, facts))}."] if kind in ("image", "pdf", "parts") else []


def _cells(cells: Any) -> str:
    """Return a notebook's cells as one text, each after a `# %%` line, which editors take as a cell's start."""
    sources = []
    for cell in items(cells):
        source = mapping(cell).get("source")
        if isinstance(source, list):
            source = "".join([line for line in source if isinstance(line, str)])
        if isinstance(source, str):
            sources.append(f"# %%\n{source}")
    return "\n".join(sources)


def write(run: Run) -> RunFacts:
    """Describe a write: the text of a new file, else the diff."""
    name = _file(run)
    content = text(run.input, "content") or text(run.result, "content")
    original = run.result.get("originalFile")
    hunks = diff.of_patch(run.result.get("structuredPatch"))
    if not hunks and isinstance(original, str) and original and len(original) <= _MAX_ORIGINAL_CHARS:
        hunks = diff.of_texts(original, content)
    lines = line_count(content)
    if hunks:
        added, removed = _sums(hunks)
        parts = [Part(text=diff.render(hunks, name), language="diff")]
        return RunFacts(f"Write {name} (+{added} -{removed})", name, _meta(name, lines), parts)
    size = f"{lines:,} line{'s' * (lines != 1)}"
    state = f"new, {size}" if run.result.get("type") == "create" else size
    parts = [Part(text=content, language=language(name) or "text")]
    return RunFacts(f"Write {name} ({state})", name, _meta(name, lines), parts)


def edit(run: Run) -> RunFacts:
    """Describe one replacement in a file, as a diff."""
    return _changed(run, "Edit", [run.input])


def _file(run: Run) -> str:
    """Return the path of the file that a run changes."""
    return path(run, text(run.input, "file_path") or text(run.result, "filePath"))


def multi_edit(run: Run) -> RunFacts:
    """Describe several replacements in a file, as a diff."""
    return _changed(run, "MultiEdit", [mapping(edit) for edit in items(run.input.get("edits"))[:_MAX_EDITS]])


def _changed(run: Run, verb: str, edits: list[dict[str, Any]]) -> RunFacts:
    name = _file(run)
    hunks = diff.of_patch(run.result.get("structuredPatch"))
    unified = "" if hunks else _ready_diff(run.result)
    if not hunks and not unified:
        hunks = _hunks(edits, text(run.result, "originalFile", "originalFileContents"))
    added, removed = _changed_lines(unified) if unified else _sums(hunks)
    remarks = ["This edit was not made."] if run.failure is not None else []
    if run.result.get("userModified") is True:
        remarks.append("The user changed this edit before it was made.")
    if any(edit.get("replace_all") is True for edit in edits):
        remarks.append("Replaced everywhere in the file.")
    body = [Part(lines=remarks), Part(text=unified or diff.render(hunks, name), language="diff")]
    if run.failure is not None:
        return RunFacts(f"{verb} {name}", name, _meta(name, None), body)
    return RunFacts(f"{verb} {name} (+{added} -{removed})", name, _meta(name, added + removed), body)


def _sums(hunks: list[diff.Hunk]) -> tuple[int, int]:
    return sum([hunk.added for hunk in hunks]), sum([hunk.removed for hunk in hunks])


def _changed_lines(written: str) -> tuple[int, int]:
    """Return how many lines a diff adds and removes."""
    return (written.count("\n+") - written.count("\n+++ "), written.count("\n-") - written.count("\n--- "))


def _ready_diff(result: dict[str, Any]) -> str:
    diffs = [text(result.get(place), key) for place, key in _READY_DIFFS]
    return next(filter(None, diffs), "")


def _hunks(edits: list[dict[str, Any]], original: str) -> list[diff.Hunk]:
    """Return the diff of replacements: of the whole file if its old text is known, else of each pair by itself."""
    pairs = [(text(edit, "old_string"), text(edit, "new_string")) for edit in edits]
    changed = original if len(original) <= _MAX_ORIGINAL_CHARS else ""
    for edit, (old, new) in zip(edits, pairs, strict=True):
        if not old or old not in changed:
            return [hunk for pair in pairs for hunk in diff.of_texts(*pair, numbered=False)]
        changed = changed.replace(old, new, -1 if edit.get("replace_all") is True else 1)
    return diff.of_texts(original, changed)


def notebook_edit(run: Run) -> RunFacts:
    """Describe a change of one notebook cell, as a diff."""
    name = path(run, text(run.input, "notebook_path") or text(run.result, "notebook_path"))
    cell = short(text(run.input, "cell_id") or text(run.result, "cell_id"), 40)
    mode = text(run.input, "edit_mode") or text(run.result, "edit_mode")
    old, new = text(run.result, "old_source"), text(run.input, "new_source")
    hunks = diff.of_texts(old, "" if mode == "delete" else new, numbered=False)
    spoken = text(run.result, "language")
    spoken = spoken if spoken.isascii() and spoken.isalnum() and len(spoken) <= 20 else ""
    meta = {**_meta(name, sum([hunk.added + hunk.removed for hunk in hunks])), "language": spoken}
    remarks = {"insert": ["A new cell."], "delete": ["The cell was deleted."]}.get(mode, [])
    body = [Part(lines=remarks), Part(text=diff.render(hunks, name), language="diff")]
    return RunFacts(f"NotebookEdit {name}{f' cell {cell}' if cell else ''}", name, meta, body)


def patch(run: Run) -> RunFacts:
    """Describe a patch of one or more files, as the agent wrote it."""
    written = text(run.input, "patch")
    names = paths(run, _patched(written))
    added, removed = _changed_lines(written)
    single = language(names[0]) if len(names) == 1 else ""
    meta = {"files": few(names), "lines": added + removed, "language": single}
    about = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return RunFacts(f"Patch {about}", about, meta, [Part(text=written, language="diff")])


def _patched(written: str) -> list[Any]:
    """Return the files that a patch names, in `*** Update File:` or `+++ b/` lines."""
    names = []
    for piece in f"\n{written}".split("\n*** ")[1:][:_MAX_PATCHED]:
        action, _, name = piece.partition("\n")[0].partition(": ")
        if action in ("Add File", "Update File", "Delete File", "Move to"):
            names.append(name)
    if not names:
        pieces = f"\n{written}".split("\n+++ ")[1:][:_MAX_PATCHED]
        names = [piece.partition("\n")[0].partition("\t")[0].removeprefix("b/") for piece in pieces]
    return names
