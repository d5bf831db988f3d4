"""Turn groups: groups notes by session and turn, and separates turns that did work from those that only asked about it.

A turn is a prompt, its answer and the tool runs in between. Its number comes first in the file names of its notes.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import chain, islice

from mdmem.agents import prompts
from mdmem.search.asking import shape, small_talk
from mdmem.search.asking.english import LIKELY, SURE
from mdmem.values import Value
from mdmem.vault import disk, front_matter, journal, people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from mdmem.search.index.view import View

WORK, TALK, RETOLD, UNANSWERED, ECHO = range(5)
"""Kinds of turns: work; a question that led to no change, or a request without result; an answered question about
earlier work; an unanswered question; a question about earlier work whose turn answers nothing."""

TALK_WORTH = 0.5
"""Factor on the score of a question that led to no change: what it asks about was done elsewhere."""

EDITS = ("edit", "write", "multiedit", "notebookedit", "apply", "patch", "update", "create", "replace", "str")
"""Prefixes, after the numbers, of the names of notes about tools that change files."""
SHELLS = frozenset(["bash", "shell", "local", "exec", "unified", "run", "powershell"])
"""Beginnings, in notes' file names, of the names of `runs.SHELLS`."""
_LOOK_UPS = frozenset(["read", "grep", "glob", "ls", "list", "find", "search", "web", "mcp", "task", "todowrite"])
_TALKS = frozenset(["prompt", "response", "summary"])
_NO_CHANGES = SHELLS | _LOOK_UPS | _TALKS
"""Sources of the notes of a turn that may have done no work."""
_LOOK_UP_COMMANDS = frozenset(f"memory-{name}" for name in ("history", "list", "review", "search", "stats"))
_MAX_ASKED_CHARS = 600


MAX_TURNS = 2
"""Maximum number of turns returned per session: two sessions tell more than three turns of one."""


class Group(Value):
    """The found notes of one turn, or one note outside sessions.

    folder: the session's folder, "" for a single note. notes: numbers in the index, best first. score: the best note's.
    is_talk: whether it is a question that led to no change. is_said: whether it changed no file, so that only its words
    exist. is_retold: whether it is an answered question about earlier work. page: the session's page, if it was found
    too: a person may have written the answer there.
    """

    folder: str
    notes: list[int]
    score: float
    is_talk: bool = False
    is_said: bool = False
    is_retold: bool = False
    page: int | None = None

    @property
    def worth(self) -> float:
        """Return the factor on the scores of its notes."""
        return TALK_WORTH if self.is_talk else 1.0

    def add(self, note: int, score: float) -> None:
        """Add a note; the best score counts."""
        self.notes.append(note)
        self.score = max(self.score, score)


def by_turn(view: View, kind_of: Kinds, scores: dict[int, float], order: Iterable[int], *, limit: int) -> list[Group]:
    """Return the notes grouped by turn, best turn first: at most `limit`, and MAX_TURNS per session, without echoes.

    A session's page counts for the turn that has the most of the question, also for a talk: the page repeats its words.

    kind_of: the kinds of the view's turns. scores: each note's score. order: the notes, best first.
    """
    groups: dict[tuple[str, int], Group] = {}
    of_session: dict[str, list[Group]] = {}
    pages: list[tuple[int, float]] = []
    for note in order:
        folder = session_folder(view, note)
        kind = kind_of(note) if folder else WORK
        if kind in (UNANSWERED, ECHO):
            continue
        is_talk = kind in (TALK, RETOLD)
        score = scores[note] * (TALK_WORTH if is_talk else 1.0)
        numbers = journal.numbers(view.name(note))
        if folder and not numbers:
            pages.append((note, score))
            continue
        key = (folder, numbers[0]) if folder else (view.path(note), 0)
        groups_of_session = of_session.setdefault(key[0], [])
        if key in groups:
            groups[key].add(note, score)
        elif len(groups_of_session) < MAX_TURNS:
            groups[key] = Group(folder, [note], score, is_talk)
            groups_of_session.append(groups[key])
    groups_and_pages = [*groups.values(), *_with_pages(view, scores, pages, of_session)]
    best_groups = sorted(groups_and_pages, key=lambda group: group.score, reverse=True)[:limit]
    for group in best_groups:  # only these: it reads the names of all notes of a session
        note = group.notes[0]
        group.is_said = group.folder != "" and kind_of.is_said(note)
        group.is_retold = group.is_talk and kind_of(note) == RETOLD
    return best_groups


def _with_pages(
    view: View, scores: dict[int, float], pages: list[tuple[int, float]], of_session: dict[str, list[Group]]
) -> Iterator[Group]:
    """Add session pages to the best turn of each session; yield groups for pages of sessions without other notes."""
    for note, score in pages:
        folder = session_folder(view, note)
        if of_session.get(folder):
            best = max(of_session[folder], key=lambda group: group.score / group.worth)
            best.add(note, scores[note] * best.worth)
            best.page = note
        else:
            yield Group(folder, [note], score)


def echoes_last(view: View, root: str, order: Iterable[int]) -> Iterator[int]:
    """Yield notes in order, but of the first LOOKED_AT, those whose turn only asked about earlier work last."""
    kind_of = Kinds(view, root)
    notes = iter(order)
    echoes: list[int] = []
    for note in islice(notes, LOOKED_AT):
        if session_folder(view, note) and kind_of(note) in (RETOLD, ECHO):
            echoes.append(note)
        else:
            yield note
    yield from notes
    yield from echoes


LOOKED_AT = 100


def answer_title(view: View, prompt: int, withheld: Set[int]) -> str:
    """Return the title of the last answer to a prompt, which is how it begins; "" if there is none to show.

    withheld: notes that are not shown.
    """
    turn = journal.numbers(view.name(prompt))[:1]
    if not turn or not session_folder(view, prompt):
        return ""

    def position(note: int) -> tuple[int, ...]:
        return journal.numbers(view.name(note))

    responses = (note for note in view.members[view.folder_of[prompt]] if view.kind(note) == "response")
    answers = [note for note in responses if position(note)[:1] == turn and note not in withheld]
    facts = view.facts(max(answers, key=position)) if answers else {}
    return "" if people.keeps_private(facts) else str(facts.get("title", ""))


def session_folder(view: View, note: int) -> str:
    """Return the session folder of a note; "" for a note outside sessions."""
    number = view.folder_of[note]
    return view.folders[number] if view.is_session[number] else ""


class Kinds:
    """The kinds of notes' turns, each determined once. A session page has the best kind of its turns."""

    def __init__(self, view: View, root: str) -> None:
        self._view = view
        self._root = root
        self._names = cache(partial(_names_by_turn, view))
        self._known = view.turn_kinds

    def __call__(self, note: int) -> int:
        """Return the kind of a note's turn."""
        folder = self._view.folder_of[note]
        name = self._view.name(note)
        numbers = journal.numbers(name)
        if numbers and source(name) not in _NO_CHANGES:
            return WORK  # without reading the names of the other notes
        if numbers:
            return self._of(folder, numbers[0])
        return min((self._of(folder, turn) for turn in self._names(folder)), default=WORK)

    def is_said(self, note: int) -> bool:
        """Whether a note's turn has an answer and changed no file."""
        sources = set(map(source, self._turn(note)))
        return "response" in sources and not any(name.startswith(EDITS) for name in sources)

    def prompts(self, note: int) -> list[str]:
        """Return the path of the prompt of a note's turn, or of all turns for a page; [] if one of them ran a tool."""
        turn = journal.numbers(self._view.name(note))[:1]
        names = self._turn(note) if turn else list(chain(*self._names(self._view.folder_of[note]).values()))
        if not {"prompt", "response"}.issuperset(map(source, names)):
            return []
        return [f"{session_folder(self._view, note)}/{name}" for name in names if source(name) == "prompt"]

    def _turn(self, note: int) -> list[str]:
        """Return the names of the notes of a note's turn."""
        numbers = journal.numbers(self._view.name(note))
        return self._names(self._view.folder_of[note]).get(numbers[0] if numbers else 0, [])

    def _of(self, folder: int, turn: int) -> int:
        if (folder, turn) not in self._known:
            path = f"{self._root}/{self._view.folders[folder]}"
            self._known[folder, turn] = kind_of_turn(path, self._names(folder)[turn])
        return self._known[folder, turn]


def _names_by_turn(view: View, folder: int) -> dict[int, list[str]]:
    """Return the names of a folder's notes, by turn."""
    turns: dict[int, list[str]] = {}
    for name in view.names(view.members[folder]):
        numbers = journal.numbers(name)
        if numbers:
            turns.setdefault(numbers[0], []).append(name)
    return turns


SHARE = 0.7
"""Share of the words of what was left to do that a later turn must have to be about it."""
LEAST_ASKED = 2
"""One word in common does not make two requests the same."""


def is_asked_for(wanted: Set[str], asked: Set[str]) -> bool:
    """Whether a prompt asks for what was left to do, by their terms. Its answer also tells what is still left."""
    return len(wanted & asked) >= max(SHARE * len(wanted), LEAST_ASKED)


def goes_on(prompt: str) -> bool:
    """Whether a prompt only asks to go on: `continue`, `pick up where we left off`."""
    asked = shape.of(prompt)
    resumes = asked is not None and asked.resumes and not asked.topic
    return resumes or small_talk.plain_text(prompt) in small_talk.GO_ON


def kind_of_turn(folder: str, names: Iterable[str]) -> int:
    """Return the kind of a turn, by the names of its notes. folder: their folder on disk."""
    names = list(names)
    sources = {source(name) for name in names}
    prompt = next((name for name in names if source(name) == "prompt"), "")
    if not prompt or not sources <= _NO_CHANGES:
        return WORK
    tools = sources - _TALKS
    has_result = bool(tools) or not sources.isdisjoint(["response", "summary"])
    text = _text(folder, prompt)
    if not tools and _is_look_up(text):
        return ECHO
    question = shape.of(text) if text and len(text) <= _MAX_ASKED_CHARS else None
    answers = [name for name in names if source(name) == "response"] if question or "?" in text else []
    if not tools and any(_knows_nothing(_text(folder, name)) for name in answers):
        return ECHO
    is_sure = question is not None and question.grade == SURE
    if question is None or not tools.isdisjoint(SHELLS):
        return WORK if has_result and not is_sure else TALK
    if is_sure and (tools or not answers or not question.topic):
        return ECHO
    if question.grade >= LIKELY and any(b"[mem:" in (disk.readable(folder, name) or b"") for name in answers):
        return ECHO
    if is_sure:
        return RETOLD
    if not has_result:
        return UNANSWERED
    return WORK if tools else TALK


def _text(folder: str, name: str) -> str:
    """Return a note's text without its front matter."""
    return front_matter.split(front_matter.text_of(disk.readable(folder, name) or b""))[1].strip()


def source(name: str) -> str:
    """Return the source of a session's note, from its file name: `prompt`, `response`, or the tool's name."""
    return name.split("-", 3)[2]


def is_shell(name: str) -> bool:
    """Whether a session's note, by its file name, is of a tool that runs commands."""
    return source(name) in SHELLS


def is_edit(name: str) -> bool:
    """Whether a session's note, by its file name, is of a tool that changes files."""
    return source(name).startswith(EDITS)


def is_work(name: str) -> bool:
    """Whether a session's note, by its file name, is of a tool that changes files or runs commands."""
    return is_edit(name) or is_shell(name)


def is_only_look(name: str) -> bool:
    """Whether a session's note, by its file name, is of a tool that only looks at files."""
    return source(name) in _LOOK_UPS


def _is_look_up(text: str) -> bool:
    """Whether a prompt is a look-up command of mdmem's plugin, such as `/mdmem:memory-search dates`."""
    name, _ = prompts.command(text[:_MAX_ASKED_CHARS]) or ("", "")
    return name.lstrip("/").removeprefix("mdmem:") in _LOOK_UP_COMMANDS


def _knows_nothing(answer: str) -> bool:
    """Whether an answer says that nothing is known."""
    beginning = answer[:_MAX_BLANK_CHARS].lower().replace("’", "'")
    return any(phrase in beginning for phrase in _KNOWS_NOTHING)


_MAX_BLANK_CHARS = 200
"""How much of an answer is searched for such a phrase: it comes at the beginning."""
_KNOWS_NOTHING = (
    "i don't know", "i do not know", "i don't have", "i do not have", "i don't recall", "i don't remember", "no record",
    "no memory", "no information", "couldn't find", "could not find", "can't find", "cannot find", "found nothing",
    "say nothing", "nothing about", "nobody knows", "weiß nicht", "weiß ich nicht", "keine information", "keine notiz",
    "keine aufzeichnung", "nichts gefunden", "nichts dazu", "ne sais pas", "aucune note", "rien trouvé", "no lo sé",
    "ninguna nota", "no encuentro", "no encontré", "não sei", "non lo so", "не знаю", "не нашёл", "не нашел",
    "нет записей", "わかりません", "分かりません", "見つかりません", "記録がありません", "不知道", "没有找到",
    "没有记录",
)  # fmt: skip
