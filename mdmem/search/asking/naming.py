"""Naming: recognizes prompts that only name what to look for, as in a search box, and are not orders or output."""

from __future__ import annotations

from mdmem.search.asking import english, orders, prose

MAX_CHARS = 100


def only_names(prompt: str) -> bool:
    """Whether a prompt only names something and is not a sentence: `thumbnailer memory leak`."""
    if len(prompt) > MAX_CHARS or "\n" in prompt.strip():
        return False
    if _is_order_behind_label(prompt) or any(map(_is_place, prompt.split())):
        return False
    words = prose.folds(prose.words(prose.prose(prompt)))
    is_compound = "-" in prompt.lstrip().partition(" ")[0] and words[1:2] and words[1] not in _BEHIND_VERBS
    if is_compound and not english.names(words):
        words = words[1:]  # `run-time error 1004`: a compound noun, and no order
    if not english.names(words) or not all(map(str.isascii, words)):
        return False
    if (words[0] == "id" and words[1] in _WISHES) or words[1] in _ARTICLES or _is_command(words, prompt):
        return False
    from mdmem.search.text.stopwords import FOREIGN

    return FOREIGN.isdisjoint(words) and _NO_NAMES.isdisjoint(words)


_BEHIND_VERBS = orders.word_set("up down in out off on over")
"""Behind a hyphen, these make a verb: `set-up the server`."""
_MAX_ENDING = 10


def is_file(prompt: str) -> bool:
    """Whether a prompt is nothing but a file's name: `report.py`, `src/report-table.tsx`."""
    path = prompt.strip()
    name, dot, ending = path.rpartition(".")
    is_short = bool(name and dot) and len(path) <= MAX_CHARS and len(ending) <= _MAX_ENDING
    return is_short and ending[:1].isalpha() and ending.isalnum() and not _IN_NO_FILE.intersection(path)


_IN_NO_FILE = frozenset(" \t\n:;,?!()[]{}<>'\"`=")


_WISHES = orders.word_set("like love prefer rather")
"""After `I'd`, these say what is wanted."""


_ARTICLES = orders.word_set("o unos den")
"""Beside those in `FOREIGN`, and after the first word, these make it an order: `deixa o botão maior`."""
_NO_NAMES = orders.word_set(
    "mir mich dir uns bitte moi nous stp svp nos favor mij ons alstublieft jetzt maintenant ahora agora adesso"
)
"""Words of orders and sentences in other languages: `zeig mir X`, `montre-moi X`, `e agora?`."""


def _is_order_behind_label(prompt: str) -> bool:
    """Whether an order follows a label: `invoice footer: center the page numbers`."""
    words = prompt.partition(": ")[2].split()
    return len(words) > 1 and prose.fold(words[0]) in orders.VERBS


def _is_place(word: str) -> bool:
    """Whether a word is a line of a file, as in a program's output: `src/app.ts:14:7`."""
    name, _, line = word.partition(":")
    return "/" in name and "." in name and line[:1].isdecimal()


def _is_command(words: list[str], prompt: str) -> bool:
    """Whether a prompt is a command to be run, `npm run build`, and not what is looked for: `docker build fails`."""
    if words[1] not in _RUN or not prompt.islower():
        return False
    said = [word for word in prompt.split() if not word.startswith("-")]
    is_refused = any(word[:1] in "45" and word.isdecimal() and len(word) == 3 for word in said)  # `dvc push 403`
    if is_refused or not (english.SOUGHT | english.FAILS).isdisjoint(said):
        return False
    from mdmem.search import runs

    return words[0] in runs.SUBCOMMANDS


_RUN = orders.VERBS | orders.word_set("up down ci status plan init sync fmt lint dev exec logs ps clippy test stash")
"""What programs are told to do."""
