"""Check: compares the index with the vault, note by note, and repairs it."""

from __future__ import annotations

from mdmem.named_tuple import NamedTuple
from mdmem.search.index import catchup, layout, scan
from mdmem.search.index.layout import DamagedError
from mdmem.search.index.store import open_view
from mdmem.search.index.update_process import update_in_process
from mdmem.vault import disk
from mdmem.vault.layout import split
from mdmem.vault.unreadable import UnreadableFolders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.progress import CountCallback
    from mdmem.search.index.view import View


class Report(NamedTuple):
    """What `verify` found before any repair; paths are relative to the vault.

    notes: number of notes in the vault. missing: not in the index. extra: in the index but not in the vault. stale:
    indexed with other content, or not found by id or path. doubled: indexed more than once.
    damage: why the index could not be read, or "".
    """

    notes: int
    missing: list[str]
    extra: list[str]
    stale: list[str]
    doubled: list[str]
    damage: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the index matched the vault."""
        return not (self.missing or self.extra or self.stale or self.doubled or self.damage)


def verify(config: Config, *, repair: bool = True, progress: CountCallback | None = None) -> Report:
    """Compare the whole index with the whole vault: number of notes, ids, and the hash of every file.

    repair: rebuild the index if they differ.

    Raises BusyError when a repair is needed and another process keeps writing.
    """
    update_in_process(config)
    try:
        view = open_view(config.index_dir, verify=True)
        report = _compare(config, view, progress) if view else Report(0, [], [], [], [], "there is no index")
    except DamagedError as error:
        report = Report(0, [], [], [], [], str(error))
    if repair and not report.agrees:
        catchup.rebuild(config, progress=progress)
    return report


def _compare(config: Config, view: View, progress: CountCallback | None) -> Report:
    is_in_vault = bytearray(view.size)  # by note number
    missing: list[str] = []
    stale: list[str] = []
    extra: list[str] = []
    doubled: list[str] = []
    count, within = 0, None
    known: dict[str, int] = {}
    for entry in scan.everywhere(config.vault).entries:
        folder, name = split(entry.path)
        if folder != within:
            within, known = folder, {view.name(note): note for note in view.members.of(folder)}
        note = known.get(name)
        if note is None:
            if disk.readable(config.vault, entry.path) is not None:
                missing.append(entry.path)
        else:
            is_in_vault[note] = 1
            if not _agrees(config, view, note, entry.path):
                stale.append(entry.path)
        count += 1
        if progress is not None:
            progress(count, max(count, view.live))
    unreadable = UnreadableFolders(config.vault)
    for path in unreadable.gone(view.path(note) for note in view.all if not is_in_vault[note]):
        with_path = view.notes("facet", layout.path_facet(path))
        (doubled if any(is_in_vault[other] for other in with_path) else extra).append(path)
    return Report(count, missing, extra, stale, doubled)


def _agrees(config: Config, view: View, note: int, path: str) -> bool:
    data = disk.readable(config.vault, path)
    if data is None:
        return True  # it cannot be read; the index keeps what it knows
    by_id = view.notes("facet", f"id:{view.facts(note)['id']}".lower())
    return view.number("digest", note) == layout.digest(data) and view.find(path) == note and note in by_id
