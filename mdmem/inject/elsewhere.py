"""Elsewhere: another project of the vault that a prompt names, as in `how did we do the retries in payments-api?`"""

from __future__ import annotations

from mdmem.inject.rendering.block import Section, inert
from mdmem.lazy_pattern import lazy
from mdmem.search.asking.prose import fold
from mdmem.search.asking.shape import Shape
from mdmem.vault import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from mdmem.inject.occasion import Occasion

MAX_PROJECTS = 2
MAX_CHARS = 1_000
"""Only in so much of a prompt is a name looked for."""
_WORD = lazy(r"[a-z0-9]+|[^\W_a-z0-9]+")
_SEPARATED, _BEGIN, _END = r"[\W_]{0,3}", r"(?<![a-z0-9_-])", r"(?![a-z0-9_-])"
"""Between the words of a name, and around it: Japanese and Chinese write no space there."""
_IS_PROJECT = r"(projects?|repo|repos|repository|codebase|app|service|projekts?|projet|proyecto)"
_PARTS = ("app", "service")
_GENERAL = frozenset(
    """
    my our new old the api app apps back backend build ci cli client common config core data database db demo dev docs
    end example examples front frontend infra lib library local main mobile next playground prod sandbox sample samples
    script scripts server service services shared site src staging test testing tests tool tools ui web website
    """.split()
)
"""Words for parts of any project. A name of nothing else is meant beside `project` or the like, or at the beginning."""
_IN = "(?:in|from|for|of|at|over|inside|im|bei|aus|von|dans|chez|de|du|en|del)"
_POINTED_BEFORE = lazy(
    rf"(?:^|[\s,(])(?:{_IN}"
    r"(?: (?:the|our|der|dem|le|la|el))?|project|repo|projekt|projet|proyecto)[ `'\"]+$"
)
_ADDRESSED, _COMMA = lazy(rf"\s*{_IN} [`'\"]?$"), lazy(r"[`'\"]?, ")
"""Around a name with which a prompt begins: `in app, how did we …`."""
_DOES_BEFORE = lazy(r"(?:^|\s)(?:did|does|has|like|than|unlike)(?: the)? $")
_POINTED_BEHIND = lazy(rf"[`'\"]?(?:'s)?\s+{_IS_PROJECT}\b")
_ADDRESS_BEFORE, _PATH_BEHIND = lazy(r"://\S*$"), lazy(r"[/.:@][\w*]")
"""Inside an address, and at the beginning or in the middle of a path or file name, a name is only a part of it."""
_CALLED_BEFORE = lazy(r"\b(?:project|repo|projekt|projet|proyecto) [`'\"]?$")
_ENDS = lazy(r"[`'\"]?\s*(?:$|[?!.,;:)]|(?:and|or|und|et|y|again|back|last|before|yesterday)\b)")


def occasions(occasion: Occasion, text: str, asked: Shape) -> Iterator[tuple[Occasion, str, Shape]]:
    """Yield for each other project that a prompt names: the occasion there, and the prompt and question without it.

    A name with its hyphens counts anywhere, other names where they are pointed at, and a part that only one project
    has beside `project` or the like. Projects that stay on this machine or are excluded are left out.
    """
    if asked.language == "error":
        return
    named = named_in(text[:MAX_CHARS], layout.projects(occasion.config.vault), {occasion.project, *occasion.names})
    for project, words in named[:MAX_PROJECTS]:
        if occasion.is_closed(project):
            continue
        there = occasion.in_project(project)
        topic = _without(asked.topic, words)
        yield there, _without(text, words), Shape(asked.grade, asked.language, asked.words, topic, asked.resumes)


def titled(section: Section, project: str) -> Section:
    """Return a section of another project's notes with its name in the heading and the remark."""
    remark = section.remark.replace("this project", inert(project))  # a remark is not made inert later
    heading = section.heading.replace("this project", project)
    return Section(heading if project in heading else f"{heading}, in {project}", section.items, remark)


def named_in(text: str, known: Sequence[str], own: set[str]) -> list[tuple[str, list[str]]]:
    """Return the projects other than the own one that a text names, each with the words that name it, longest first."""
    import re

    folded = fold(text)
    present = set(_WORD.findall(folded))
    words_of = {name: _WORD.findall(fold(name)) for name in {*known, *own}}
    runs: dict[tuple[str, ...], set[str]] = {}
    for name, words in words_of.items():
        if present.isdisjoint(words):
            continue
        for begin in range(len(words)):
            for end in range(begin + 1, len(words) + 1):
                if present.issuperset(words[begin:end]):
                    runs.setdefault(tuple(words[begin:end]), set()).add(name)
    wholes = {tuple(words): name for name, words in words_of.items()}
    lower = {name.lower() for name in own}
    named: dict[str, list[str]] = {}
    for run in sorted(runs, key=len, reverse=True):
        having = {wholes[run]} if run in wholes else runs[run]
        pattern = re.compile(rf"{_BEGIN}{_SEPARATED.join(map(re.escape, run))}{_END}")
        is_found = any(_is_meant(folded, match, run, run in wholes) for match in pattern.finditer(folded))
        folded = pattern.sub(" ", folded) if len(run) > 1 or run in wholes else folded
        if is_found and len({name.lower() for name in having}) == 1 and (name := min(having)).lower() not in lower:
            named.setdefault(name, list(run))
    return list(named.items())


def _is_meant(text: str, match: re.Match[str], words: Sequence[str], is_whole: bool) -> bool:
    """Whether words mean a project: `the X project`; a whole name also: `as-it-is-written`, `in X`, `how does X do it`.

    Other words of a name are ordinary ones: `for the data` does not ask for data-pipeline. So are names like `docs`,
    but where a prompt begins with one: `in docs, how …`.
    """
    before, behind = text[: match.start()], text[match.end() :]
    if _ADDRESS_BEFORE.search(before) or _PATH_BEHIND.match(behind):
        return False
    is_general = _GENERAL.issuperset(words)
    pointed = _POINTED_BEHIND.match(behind)
    if (pointed and not (is_general and pointed[1] in _PARTS)) or _CALLED_BEFORE.search(before):
        return True
    if is_general:
        return is_whole and bool(_ADDRESSED.match(before) and _COMMA.match(behind))
    if not is_whole:
        return False
    is_joined = match[0].isascii() and not match[0].isalnum() and " " not in match[0]
    if is_joined or _DOES_BEFORE.search(before) or (not before.strip() and behind[:1] == ":"):
        return True
    return bool(_POINTED_BEFORE.search(before) and _ENDS.match(behind))


def without_own(topic: str, names: Iterable[str]) -> str:
    """Return a question's topic without the own project's name where it only says where: `in infra`."""
    import re

    spellings = {spelling for name in names for spelling in (name.lower(), fold(name))}  # a topic has its accents
    for words in filter(None, map(_WORD.findall, spellings)):
        name = _SEPARATED.join(map(re.escape, words))
        pattern = (
            rf"(?i)(?:^|(?<=\s))(?:{_IN} )(?:(?:the|our|this) )?[`'\"]?{name}[`'\"]?(?: {_IS_PROJECT}\b)?(?=$|[\s?!,])"
        )
        topic = re.sub(pattern, "", topic)
    return " ".join(topic.split())


def _without(text: str, words: Sequence[str]) -> str:
    """Return a text without the words that name a project, and without `project` beside them."""
    import re

    name = _SEPARATED.join(map(re.escape, words))
    pattern = rf"(?i)(?:\b{_IS_PROJECT} )?[`'\"]?{_BEGIN}{name}{_END}(?:'s)?[`'\"]?(?: {_IS_PROJECT}\b)?"
    return " ".join(re.sub(pattern, " ", text).split())
