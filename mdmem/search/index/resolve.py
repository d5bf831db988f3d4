"""Resolve: finds the path of a note named by id, the beginning of an id, a citation, or a path."""

from __future__ import annotations

from itertools import islice

from mdmem.errors import AmbiguousError, BusyError, NotFoundError
from mdmem.search.index import catchup, completion, scan_record
from mdmem.search.index.store import current, opened
from mdmem.vault import disk, is_in_journal, note, unreadable
from mdmem.vault.layout import typed_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.config import Config
    from mdmem.search.index.view import View

TOO_SHORT = f"Give at least {note.MIN_PREFIX_CHARS} characters of an id."
MAX_TITLED = 5
"""Maximum number of notes named that have a title which was taken for an id."""
PATHS_AT_ONCE = 10_000
"""Maximum number of paths held in memory at once."""


def resolve(config: Config, reference: str, *, look: bool = True) -> str:
    """Return the vault-relative path of the note that `reference` names.

    reference: an id, a unique beginning of one (3 characters or more), `mem:ID`, `[mem:ID]`, a path, vault-relative or
    absolute, or the name of a file, as in `[[wikilinks]]`.
    look: check the vault for notes that the index lacks; not needed by callers that keep it current, except for a note
        that was moved just now, for which it is always done.

    Raises:
        NotFoundError: when no note matches.
        AmbiguousError: when more than one matches.
        BusyError: when the index must be rebuilt and another process is writing it.
    """
    wanted = note.id_in_reference(reference)
    path, name = _as_path(config, wanted), wanted.lower()
    if path is not None:
        return path
    try:
        paths, is_partial = _in_index(config, name, look=look)
    except (BusyError, OSError) as error:  # the index cannot be written or read
        paths, is_partial = in_files(config, name), False
        if not paths and isinstance(error, BusyError):
            raise
    if not paths and is_partial:
        paths = in_files(config, name)
    if len(paths) == 1:
        return paths[0]
    if is_partial and not paths:
        raise NotFoundError(f"No note has the id or path {reference!r:.80} so far. The index is still being built.")
    if not paths:
        hint = _hint(config, name) or "`mdmem search` finds notes by their words; `mdmem list` shows the newest."
        raise NotFoundError(f"No note has the id or path {reference!r:.80}. {hint}")
    names = ", ".join(paths[:5])
    text = f"{len(paths)} notes match {wanted!r:.40}: {names}. Give more characters, or the path."
    raise AmbiguousError(text, paths)


def _hint(config: Config, name: str) -> str:
    """Return where the note is or what reads the session with this id, or that a name is too short for an id."""
    try:
        view = current(config)
    except (BusyError, OSError):
        view = None
    if view is None or not name:
        return ""
    for path in _named(view, name):
        if why := unreadable.why_missing(config.vault, path):
            return f"Its file {path} is {why}"
    is_id = bool(view.remaining("facet", f"session:{name}"))
    if is_id or any(folder.endswith(f"-{name}") for folder in view.folders):
        import shlex

        return f"That is a session: `mdmem history {shlex.quote(name)}` reads it."
    ids = [f"mem:{view.facts(number)['id']}" for number in islice(with_title(view, name), MAX_TITLED)]
    if ids:
        return f"{'A note has' if len(ids) == 1 else 'Notes have'} this title: {', '.join(ids)}."
    return TOO_SHORT if len(name) < note.MIN_PREFIX_CHARS else ""


def with_title(view: View, title: str) -> Iterator[int]:
    """Yield the notes with this title, in any case."""
    from mdmem.search.text import analysis  # few callers need it
    from mdmem.vault import links

    sets = [view.notes("title", term) for term in analysis.counts(title)]
    for number in sorted(set.intersection(*map(set, sets)) - view.internal) if sets else ():
        facts = view.facts(number)
        if links.as_compared(str(facts["title"])) == links.as_compared(title):
            yield number


def path_of_id(config: Config, reference: str) -> str:
    """Return the path of the note with an id, or the beginning of one, as the index has it; "" where it cannot tell.

    Nothing is looked through, so that callers with a slower way of their own can try this first.
    """
    try:
        view = current(config)
        notes = with_id(view, note.id_in_reference(reference).lower()) if view is not None else ()
        paths = {view.path(number) for number in notes} if view is not None else set()
    except Exception:  # noqa: BLE001 - whatever a damaged index makes a reader do: the slower way does without
        return ""
    path = paths.pop() if len(paths) == 1 else ""
    return path if path and disk.read_path(config.vault, path) is not None else ""


def _in_index(config: Config, wanted: str, *, look: bool) -> tuple[list[str], bool]:
    """Return the notes with an id or name, and whether the index is incomplete, so that there may be more.

    If one of them is not where the index has it, somebody has moved or deleted it, and the index is brought up to date.
    """
    try:
        indexed = _by_id(config, wanted)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a damaged index, or another version's, raises anything
        catchup.repair(config, error)
        if not _is_partial(config):
            catchup.update(config)
        indexed = _by_id(config, wanted)
    existing = _existing(config, indexed)
    is_moved = len(existing) < len(indexed)
    if (existing and not is_moved) or _is_partial(config):
        return existing, not existing
    if not (look or is_moved):
        return existing, False
    _add_missing(config)
    return _existing(config, _by_id(config, wanted)), False


def _existing(config: Config, paths: list[str]) -> list[str]:
    return [path for path in paths if _exists(config, path)]


def _exists(config: Config, path: str) -> bool:
    try:
        disk.lstat(config.vault, path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        pass  # such as a folder that cannot be read: whoever opens the note reports it
    return True


def _add_missing(config: Config) -> None:
    """Add to the index what it lacks; in a large vault, a background process checks most notes."""
    view = opened(config)
    if view is None or not scan_record.is_large(view):
        catchup.update(config)
        return
    catchup.update(config, quick=True, share=scan_record.EVERY)
    completion.check_files(config)


def _is_partial(config: Config) -> bool:
    """Whether a large vault's index is incomplete; starts a background process that finishes it."""
    try:
        if not completion.is_running(config) and catchup.begin(config, catchup.MOST_AT_ONCE, 0.1) is None:
            return False
    except BusyError:
        return completion.is_running(config)
    completion.finish(config)
    return True


def in_files(config: Config, wanted: str) -> list[str]:
    """Return the notes with an id or its beginning without the index: by file name, or by ids in people's own notes.

    The file names of captured notes end in their ids.
    """
    if len(wanted) < note.MIN_PREFIX_CHARS:
        return []
    paths = [entry.path for entry in disk.walk(config.vault)]
    matching = [path for path in paths if path.rpartition("-")[2].startswith(wanted)]
    matching = matching or [path for path in paths if _is_named(path, _tail(wanted))]
    if not matching:
        others = islice((path for path in paths if not is_in_journal(path)), PATHS_AT_ONCE)
        matching = [path for path in others if note.load(config.vault, path).fact("id").startswith(wanted)]
    return sorted(matching)


def _as_path(config: Config, wanted: str) -> str | None:
    for candidate in (typed_path(config.vault, wanted), typed_path(config.vault, f"{wanted}.md")):
        if candidate.endswith((".md", ".markdown")) and disk.read_path(config.vault, candidate) is not None:
            return candidate
    return None


def _by_id(config: Config, wanted: str) -> list[str]:
    view = current(config)
    return [] if view is None or not wanted else _named(view, wanted)


def _named(view: View, wanted: str) -> list[str]:
    paths = sorted(view.path(number) for number in with_id(view, wanted))
    return paths or named(view, _tail(wanted))


def with_id(view: View, wanted: str) -> set[int]:
    """Return the notes whose id is `wanted`, in lower case, or else begins with it."""
    notes = view.notes("facet", f"id:{wanted}") if wanted else set()
    if notes or len(wanted) < note.MIN_PREFIX_CHARS:
        return notes
    terms = view.starting_with("facet", f"id:{wanted}", limit=100)
    return {number for term in terms for number in view.notes("facet", term)}


def _tail(wanted: str) -> str:
    """Return the tail of a path that a link names, without its extension."""
    return wanted.partition("|")[0].partition("#")[0].removesuffix(".md").lstrip("/")


def named(view: View, tail: str) -> list[str]:
    """Return the notes whose file name or path ends in `tail`, ignoring the extension."""
    matching = []
    for first in range(0, view.size, PATHS_AT_ONCE):
        paths = view.some_paths(first, min(first + PATHS_AT_ONCE, view.size))
        candidates = ((note, path) for note, path in enumerate(paths, first) if tail in path.lower())
        matching += [path for note, path in candidates if _is_named(path, tail) and note not in view.deleted]
    return sorted(matching)


def _is_named(path: str, tail: str) -> bool:
    return f"/{path}".lower().rpartition(".")[0].endswith(f"/{tail}")
