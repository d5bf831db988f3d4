"""The layout of the journal: the folders of projects, days and sessions, and where a new session goes.

No other module knows the shape of these paths:

    journal/PROJECT/project.md
    journal/PROJECT/2026-09-14/SESSION/NOTE.md      while no folder gets long
    journal/PROJECT/2026/09/14/SESSION/NOTE.md      from then on; in `14-2` and so on for many sessions a day
    journal/PROJECT/2024/09/14/SESSION.md           an archived session of the first shape
    journal/PROJECT/2024/09/14/SESSION.packed.md    an archived session of the second shape
    …/SESSION/part2/NOTE.md                         notes of a session with very many, in either shape

A vault may have both shapes permanently: no session is ever moved, so that all machines have it in the same place.
Within a session, a note's name is `NOTE.md`, or `part2/NOTE.md` in a part.
"""

from __future__ import annotations

import os

from mdmem import system, timestamps
from mdmem.vault import JOURNAL, is_in_journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MANY = 450
"""Number of names in a folder from which on a new session goes elsewhere. Even if two machines fill a folder at the
same time, or a folder has archives of both shapes, it stays below 1,000."""
_PACKED = ".packed.md"
_PART = "part"


def is_day(name: str) -> bool:
    """Whether a name is a day: 2024-09-14."""
    return len(name) == 10 and name[4] == name[7] == "-" and (name[:4] + name[5:7] + name[8:]).isdecimal()


def typed_path(root: str, typed: str) -> str:
    """Return a typed path relative to the vault, "" when it leads outside.

    It counts from the vault's top, or from the current folder if only that has such a file. Links are not followed: a
    link in the vault must not turn into its target.
    """
    try:
        here = os.getcwd()
    except OSError:  # it was deleted
        here = root
    relative = ""
    for start in (root, here):
        path = os.path.normpath(os.path.join(start, os.path.expanduser(typed)))
        if path.startswith(f"{root}{os.sep}"):
            inner = path[len(root) + 1 :].replace(os.sep, "/")
            relative = inner if start == root else relative
            try:
                os.lstat(path)
            except OSError:
                continue
            except ValueError:  # a NUL or a lone surrogate
                return ""
            return inner
    return relative


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a path, vault-relative, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path


def project_of(path: str) -> str:
    """Return the project folder's name in a journal path; "" for any other path."""
    parts = path.split("/", 2)
    return parts[1] if len(parts) > 2 and parts[0] == JOURNAL else ""


def project_named(path: str, meta: Mapping[str, object]) -> str:
    """Return a note's project: that of its folder in the journal, which its owner may have renamed; else what it says.

    meta: its front matter, in which a list of one project, as Obsidian writes it, names that.
    """
    said = meta.get("project") or ""
    return project_of(path) or (", ".join(map(str, said)) if isinstance(said, list) else str(said))


def is_session(folder: str) -> bool:
    """Whether a vault-relative folder is a session's, judged by its path."""
    depth = folder.count("/")
    if depth == 3:
        return is_in_journal(folder) and not (folder[-3] == "/" and folder[-2:].isdecimal())  # not a month
    return depth == 5 and bool(_day_by_year(folder.split("/")))


def split(path: str) -> tuple[str, str]:
    """Return a file's folder and its name there; in a part of a session, the session's folder and `part2/NOTE.md`."""
    folder, _, name = path.rpartition("/")
    if f"/{_PART}" in folder:
        parent, _, folder_name = folder.rpartition("/")
        if is_part(folder_name) and is_session(parent):
            return parent, f"{folder_name}/{name}"
    return folder, name


def folder_of(path: str) -> str:
    """Return a file's folder; in a part of a session, the session's folder."""
    return split(path)[0]


def session_of(path: str) -> str:
    """Return the session folder of a note's path; "" for any other file."""
    folder = folder_of(path)
    return folder if is_session(folder) else ""


def is_in_session(path: str) -> bool:
    """Whether a path is in a session's folder; faster than `session_of`."""
    if f"/{_PART}" in path:
        return bool(session_of(path))
    depth = path.count("/")
    return is_in_journal(path) and (depth == 4 or (depth == 6 and bool(_day_by_year(path.split("/")))))


def names_its_session(path: str) -> bool:
    """Whether the name of a session's folder has the words of this note's name."""
    folder, name = split(path)
    words = folder.rpartition("/")[2].partition("-")[2].rpartition("-")[0]
    return bool(words) and is_in_session(path) and f"-{words}" in name


def day_of(path: str) -> str:
    """Return the day in the path of a session, its notes, or a day's folder; "" elsewhere."""
    parts = path.split("/", 5)
    if len(parts) < 3 or parts[0] != JOURNAL:
        return ""
    by_year = _day_by_year(parts)
    if by_year or _is_number(parts[2], 4):
        return by_year
    return parts[2] if len(parts) > 3 or is_day(parts[2]) else ""


def _day_by_year(parts: list[str]) -> str:
    """Return the day of a path with folders for year, month and day; "" for any other."""
    if len(parts) < 5 or parts[0] != JOURNAL or not (_is_number(parts[2], 4) and _is_number(parts[3], 2)):
        return ""
    day, dash, number = parts[4].partition("-")
    good = _is_number(day, 2) and (number.isdecimal() or not dash)
    return f"{parts[2]}-{parts[3]}-{day}" if good else ""


def _is_number(name: str, digits: int) -> bool:
    return len(name) == digits and name.isdecimal()


def to_project(folder: str) -> str:
    """Return the relative link from a session's page to its project's folder."""
    return "/".join([".."] * (folder.count("/") - 1))


# -- the parts of a session with very many notes -----------------------------------------------------


def is_part(name: str) -> bool:
    """Whether a folder name is that of a part of a session."""
    return name.startswith(_PART) and name[len(_PART) :].isdecimal()


def part_for(notes: int) -> str:
    """Return the prefix of the next note's name in its session, such as `part2/`; "" while it has few notes."""
    return f"{_PART}{notes // MANY + 1}/" if notes >= MANY else ""


def with_parts(root: str, folder: str, names: list[str]) -> list[str]:
    """Replace the parts among a session folder's names by the names inside them; other folders stay as they are."""
    parts = [name for name in names if is_part(name)] if is_session(folder) else []
    in_parts = [f"{part}/{name}" for part in parts for name in names_on_disk(root, f"{folder}/{part}")]
    return [*(name for name in names if name not in parts), *in_parts] if parts else names


# -- archives --------------------------------------------------------------------------------------


def archive_of(folder: str) -> str:
    """Return the archive's path for a session's folder; "" for a folder that cannot be archived."""
    parts = folder.split("/")
    if len(parts) == 6 and _day_by_year(parts):
        return folder + _PACKED
    if len(parts) != 4 or parts[0] != JOURNAL or not is_day(parts[2]) or f"{folder}.md".endswith(_PACKED):
        return ""
    return f"{JOURNAL}/{parts[1]}/{parts[2].replace('-', '/')}/{parts[3]}.md"


def archived_in(path: str) -> str:
    """Return the session folder of an archive's path; "" for any other file."""
    if path.count("/") != 5 or not path.endswith(".md"):
        return ""
    parts = path.split("/")
    day = _day_by_year(parts)
    if day and path.endswith(_PACKED):
        return path.removesuffix(_PACKED)
    return f"{JOURNAL}/{parts[1]}/{day}/{parts[5][:-3]}" if day and len(parts[4]) == 2 else ""


def may_hold_archives(folder: str) -> bool:
    """Whether a folder is one for archives."""
    return folder.count("/") == 4 and bool(_day_by_year(folder.split("/")))


def archives_of_day(folder: str) -> str:
    """Return the folder with the archives of a day's sessions; "" when `folder` is not that of a day."""
    return archive_of(f"{folder}/-").rpartition("/")[0]


def days_packed_in(folder: str) -> tuple[str, ...]:
    """Return the day folders whose archives may be in a folder; for a day's own folder, itself."""
    if may_hold_archives(folder):
        flat = archived_in(f"{folder}/-.md").rpartition("/")[0]
        return (folder, flat) if flat else (folder,)
    return (folder,) if archives_of_day(folder) else ()


# -- what there is ---------------------------------------------------------------------------------


def folders(path: str) -> list[str]:
    """Return the folders in a folder, without hidden ones and links; [] when it cannot be read."""
    try:
        with os.scandir(path) as scan:
            return [item.name for item in scan if item.is_dir(follow_symlinks=False) and item.name[:1] != "."]
    except OSError:
        return []


def is_vault(root: str) -> bool:
    """Whether a folder is a vault, rather than a folder of other files that was named by mistake."""
    return any(os.path.exists(os.path.join(root, name)) for name in ("mdmem.toml", JOURNAL))


def projects(root: str) -> list[str]:
    """Return the names of the projects' folders, sorted."""
    return sorted(folders(f"{root}/{JOURNAL}"))


def project_called(root: str, name: str) -> str:
    """Return the project that a person means by `name`, in any case and with spaces; `name` if the journal has none."""
    from mdmem.slug import slug  # not needed by a hook

    known = projects(root)
    alike = [folder for folder in known if folder.lower() == name.lower()] or {slug(name)}.intersection(known)
    return name if name in known else next(iter(alike), name)


def days(root: str, project: str) -> Iterator[tuple[str, str]]:
    """Yield (day, folder) of a project's days, unordered; a day may have several folders."""
    home = f"{JOURNAL}/{project}"
    names = folders(f"{root}/{home}")
    yield from ((name, f"{home}/{name}") for name in names if not _is_number(name, 4))
    yield from ((day_of(folder), folder) for folder in _days_by_year(root, home, names))


def _days_by_year(root: str, home: str, names: list[str]) -> Iterator[str]:
    """Yield the day folders below year folders. names: those in the project's folder."""
    for year in [name for name in names if _is_number(name, 4)]:
        for month in folders(f"{root}/{home}/{year}"):
            month_folder = f"{home}/{year}/{month}"
            yield from filter(may_hold_archives, _below(root, month_folder))


def sessions(root: str, project: str = "") -> Iterator[str]:
    """Yield the folders of sessions of all projects or one, unordered; archived sessions have none."""
    for name in projects(root):
        for _, folder in days(root, name) if project in ("", name) else ():
            yield from _below(root, folder)


def _below(root: str, folder: str) -> Iterator[str]:
    """Return the folders directly in a folder of the vault, vault-relative."""
    return (f"{folder}/{name}" for name in folders(f"{root}/{folder}"))


def last_sessions(root: str, most: int) -> Iterator[str]:
    """Yield the folders of sessions, latest day first, from at most `most` day folders."""
    dated = (day for project in projects(root) for day in days(root, project))
    for _, folder in sorted(dated, reverse=True)[:most]:
        yield from _below(root, folder)


def sessions_of(root: str, days: Iterable[str]) -> Iterator[str]:
    """Yield the folders of sessions that began on these days: `2026-09-14`. It reads no other days."""
    for home in [f"{JOURNAL}/{project}" for project in projects(root)]:
        for day in days:
            by_year = _below(root, f"{home}/{day[:4]}/{day[5:7]}")
            for folder in [f"{home}/{day}", *(dated for dated in by_year if day_of(dated) == day)]:
                yield from _below(root, folder)


def newest_sessions(root: str, project: str) -> Iterator[str]:
    """Yield the folders of a project's sessions, newest first by their names, reading one day at a time."""
    folders_of_day: dict[str, list[str]] = {}
    for day, folder in days(root, project):
        folders_of_day.setdefault(day, []).append(folder)
    for day in sorted(folders_of_day, reverse=True):
        sessions = (session for folder in folders_of_day[day] for session in _below(root, folder))
        yield from sorted(sessions, key=name_key, reverse=True)


def name_key(folder: str) -> tuple[float, str, str]:
    """Return the sort key of sessions of a day: by the time in their names; what has none may be the last."""
    return latest_begin(folder), folder[folder.rfind("/") + 1 :], folder


_BEHIND, _AHEAD = 12 * 3600, 14 * 3600
"""Seconds that clocks are behind UTC and ahead of it at most."""
_MINUTE, _DAY = 60, 86_400


def days_anywhere(first: float, last: float) -> list[str]:
    """Return the days, `2026-09-14`, that it is somewhere on earth between two times, in seconds since the epoch."""
    begin, end = first - _BEHIND, last + _AHEAD
    moments = (min(begin + number * _DAY, end) for number in range(int((end - begin) // _DAY) + 2))
    return list(dict.fromkeys(timestamps.iso_time(moment)[:10] for moment in moments))


def _named_time(folder: str) -> tuple[float, float]:
    """Return when a session's day begins by its path, and the end of the minute in its name, else of the day: in UTC.

    (0, infinity) without a day. The folder has the local time of the machine that wrote it, in a zone that is not told.
    """
    day = timestamps.epoch(f"{day_of(folder)}T00:00:00Z")
    if not day:
        return 0.0, float("inf")
    clock = folder[folder.rfind("/") + 1 :][:5]
    if not (clock[:4].isdecimal() and clock.isascii() and clock[4:] == "-"):
        return day, day + _DAY
    return day, day + min(int(clock[:2]) * 3600 + int(clock[2:4]) * 60 + _MINUTE, _DAY)


def earliest_begin(folder: str) -> float:
    """Return the earliest time at which a session may have begun by the day of its folder, as `latest_begin`."""
    return _named_time(folder)[0] - _AHEAD


def latest_begin(folder: str) -> float:
    """Return the latest time at which a session may have begun by its folder's name, in seconds since the epoch."""
    return _named_time(folder)[1] + _BEHIND


def may_begin(folder: str, moment: float) -> bool:
    """Whether it was the day of a session's folder somewhere on earth at a time, in seconds since the epoch."""
    day, _ = _named_time(folder)
    return not day or day - _AHEAD <= moment < day + _DAY + _BEHIND


def begin_time(folder: str, moment: float) -> float:
    """Return a time, or that of a session's folder if it was not that day anywhere; in seconds since the epoch.

    A folder whose page does not say its time zone was most likely made on this machine.
    """
    return moment if may_begin(folder, moment) else timestamps.of_local_clock(_named_time(folder)[1])


def newest_first(
    folders: Iterable[str], when: Callable[[str], float], known: Iterable[tuple[float, str]] = ()
) -> Iterator[tuple[float, str]]:
    """Yield times and folders of sessions, newest first by these times, looking ahead up to 26 hours.

    Machines in different time zones name folders by their own clocks, which are up to that far apart.

    folders: newest first by their names. when: returns the time at which a session began, in seconds since the epoch;
    see `begin_time`. known: more folders, with times that count whatever the names say.
    """
    from heapq import heapify, heappop, heappush  # most hooks do not need it

    waiting = [(-moment, 0, folder) for moment, folder in known]
    heapify(waiting)
    for place, folder in enumerate(folders, 1):
        latest = latest_begin(folder)
        while waiting and -waiting[0][0] >= latest:
            moment, _, found = heappop(waiting)
            yield -moment, found
        heappush(waiting, (-begin_time(folder, when(folder)), place, folder))
    while waiting:
        moment, _, found = heappop(waiting)
        yield -moment, found


def archives(root: str, project: str = "", most: int | None = None) -> Iterator[str]:
    """Yield the files in places for archives, of all projects or one, unordered.

    In a vault without year folders it reads only the projects' folders. most: read only this many day folders,
    the latest.
    """
    homes = [f"{JOURNAL}/{name}" for name in ([project] if project else projects(root))]
    day_folders: Iterable[str] = (
        day_folder for home in homes for day_folder in _days_by_year(root, home, folders(f"{root}/{home}"))
    )
    if most is not None:
        day_folders = sorted(day_folders, key=day_of, reverse=True)[:most]
    for folder in day_folders:
        yield from (f"{folder}/{file}" for file in names_on_disk(root, folder))


# -- what is new -----------------------------------------------------------------------------------


def for_new_session(root: str, project: str, day: str) -> tuple[str, ...]:
    """Return the parts of the folder for a session that begins on this day: `2026-09-14`.

    It lists the project's and the day's folder, so it is only for a session's first note.
    """
    home = f"{JOURNAL}/{project}"
    folder = f"{home}/{day}"
    if len(names_on_disk(root, home)) >= MANY or len(names_on_disk(root, folder)) >= MANY:
        first = folder = f"{home}/{day.replace('-', '/')}"
        number = 1
        while len(names_on_disk(root, folder)) >= MANY:
            number += 1
            folder = f"{first}-{number}"
    return tuple(folder.split("/"))


def for_new_note(root: str, folder: str, name: str) -> str:
    """Return the folder for a note that somebody has mdmem write: one by month when `folder` is crowded.

    name: its file name, which begins with the day. An existing note keeps its folder, so that it is not written twice.
    """
    names = names_on_disk(root, folder)
    return f"{folder}/{name[:4]}/{name[5:7]}" if len(names) >= MANY and name not in names else folder


def names_on_disk(root: str, folder: str) -> list[str]:
    """Return the names in a folder of the vault, without packed notes; [] when it cannot be read."""
    return system.names_in(os.path.join(root, folder))
