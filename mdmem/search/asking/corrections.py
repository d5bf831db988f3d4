"""Corrections: recognizes prompts that revoke what the last turn did, and sentences that replace something named.

`no, use time based splits instead`, `nein, lieber LinguiJS`, `undo that`; `replace winston by pino`, `Traefik is gone`.
"""

from __future__ import annotations

from mdmem.lazy_pattern import lazy
from mdmem.search.asking import prose
from mdmem.search.asking.orders import word_set
from mdmem.search.text import analysis
from mdmem.search.text.stopwords import FOREIGN, STOPWORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_WORDS, FIRST_WORDS = 40, 15
"""A replacement is named in the first words of a text, an objection made in those of a prompt."""

_LEADING = word_set("ok okay hm hmm oh ah well sorry but and wait ach also mais bon pero ma")  # skipped
_NO = word_set("no nope nah nein nee non nao wrong incorrect falsch")  # object, as the first word
_STOP = word_set("stop wait halt stopp alto")
"""With a comma or the like after them, these object."""
_PAUSES = (",", ".", ";", ":", "!", "-", "–", "—")
_NOT_OBJECTING = word_set(  # after `no`: `no problem`
    "thanks thank thx problem problems worries need rush hurry matter questions more further danke merci gracias"
)
_OBJECTING = word_set("i we it its that thats you the this not dont use please rather lets just leave keep")
"""After `no` without a comma."""
_UNDO = word_set("undo revert rollback unwind annule annuler deshaz revierte desfaz annulla")  # `undo that`
_BACK = word_set("roll take put change turn switch set")  # `roll it back`
_POINTS = word_set("that this it those these your the last ca cela eso isso")  # after those two
_ACTUALLY, _ORDER = word_set("actually"), word_set("lets use make take prefer want rather id no not dont keep")
_NOT_GOOD = word_set("not wrong isnt wasnt")  # after `_SUBJECTS`: `that is not …`
_SUBJECTS = word_set("that thats this it its")
_INSIDE = word_set("instead rather stattdessen lieber ruckgangig plutot invece piuttosto")  # object anywhere
_COMPARING = word_set("of than")
"""`instead of text` is as likely part of a new request."""
_RUNS = tuple(
    tuple(run.split())
    for run in (
        "changed my mind", "changed our mind", "changed our minds", "change of plan", "change of plans",
        "on second thought", "on second thoughts", "scratch that", "forget that", "forget it", "drop it", "drop that",
        "vergiss es", "lass das", "laisse tomber", "dejalo", "deixa pra la", "lascia perdere", "not what i", "i meant",
        "i told you", "i said", "you misunderstood", "doch nicht", "anders uberlegt", "doch lieber", "nicht so",
        "change davis", "a la place", "au lieu", "en vez", "en lugar", "mejor no", "em vez", "still fails",
        "still failing", "still broken", "still wrong", "still crashes", "still happens", "still not", "still the same",
        "still doesnt", "doesnt work", "didnt work", "didnt help", "does not work", "did not help", "immer noch nicht",
        "geht nicht", "klappt nicht", "funktioniert nicht", "hilft nicht", "ne marche pas", "no funciona",
    )
)  # fmt: skip


def corrects(prompt: str) -> bool:
    """Whether a prompt objects to what the turn before it did, in one of a few languages."""
    text = prose.prose(prompt[: prose.HEAD_CHARS])
    typed = prose.words(text)[:FIRST_WORDS]
    words = prose.folds(typed)
    begin = next((at for at, word in enumerate(words) if word not in _LEADING or word in _STOP), len(words))
    typed, words = typed[begin:], words[begin:]
    if not words:
        return False
    behind = text[text.find(typed[0]) + len(typed[0]) :].lstrip(" ")[:1]
    objects = words[0] in _NO | _STOP and words[1:] and words[1] not in _NOT_OBJECTING
    if objects and (behind in _PAUSES or (words[0] in _NO and words[1] in _OBJECTING)):
        return True
    undoes = words[0] in _UNDO or (words[0] in _BACK and "back" in words[1:5])
    if undoes and (len(words) < 3 or not _POINTS.isdisjoint(words[1:4])):
        return True
    if words[0] in _ACTUALLY and not _ORDER.isdisjoint(words[1:4]):
        return True
    if words[0] in _SUBJECTS and not _NOT_GOOD.isdisjoint(words[1:3]):
        return True
    inside = [word for word, after in zip(words, [*words[1:], ""], strict=True) if after not in _COMPARING]
    if words[:1] == ["still"] or words[:2] in (["immer", "noch"], ["toujours", "pas"]):
        return True
    return not _INSIDE.isdisjoint(inside) or any(_has(words, run) for run in _RUNS)


def declines(prompt: str) -> bool:
    """Whether a prompt says no to what the turn before it said, or objects to it."""
    first = prose.folds(prose.words(prompt[:MAX_WORDS]))[:1]
    return not _NO.isdisjoint(first) or corrects(prompt)


def _has(words: list[str], run: tuple[str, ...]) -> bool:
    return any(tuple(words[at : at + len(run)]) == run for at in range(len(words)))


_REPLACES = word_set(
    "replace replaced replaces replacing drop dropped drops dropping remove removed removes removing ditch ditched "
    "retire retired abandon abandoned rid instead longer swap swapped uninstall "
    "ersetze ersetzen ersetzt statt weg entferne entfernen entfernt abgelost ablosen "
    "remplace remplacer supprime supprimer abandonne lieu reemplaza reemplazar quita elimina vez lugar"
)
"""Words before the name of what is replaced."""
_MOVES = word_set(
    "move moved moves moving migrate migrated switch switched away umstieg wechsel wechseln wechselten weg passe"
)
_MOVES_OF = word_set(
    "passer passons passes migrer migrons migre cambiar cambiamos cambiado pasar pasamos pasado migrar migramos migrado"
)
"""The same directly before `de`, which is also "of": `cambiar los usuarios de MySQL`."""
_MOVED = word_set("umgestiegen gewechselt umgestellt umgezogen migriert weg")
"""The same after the name: `von X auf Y umgestiegen`."""
_FROM = word_set("from off von de")
_GOES = word_set(
    "gone shut replaced removed retired dropped deleted revoked uninstalled deprecated ersetzt entfernt abgelost "
    "abgeschafft remplace supprime eliminado reemplazado"
)
"""Words after the name of what is replaced."""
_RETURNS = word_set("revert reverted reverting reverts")
_GOES_BACK = word_set("go going gone went moved switched switch changed rolled rolling")
"""`reverted to X`, `went back to X`: what was decided against X is replaced."""
_SMALL = word_set("the our a all of use using old den die das der le la les el los las de du des")
_IS = word_set("is are was were has have been being now will be wird wurde ist sind est sont es ha sido")
_IT = word_set("it them that this")  # `X is slow, replace it`
_FAR = 15
"""Maximum number of words between a name and `replace it`, or between `move` and `from` a name."""


_CHANGING = _REPLACES | _MOVES | _MOVED | _MOVES_OF | _GOES | _RETURNS | _GOES_BACK
_LEAST_LETTERS = 3


def replaced(text: str) -> set[str]:
    """Return the terms for what a text says in its first words is replaced or removed, or is what it went back to.

    A term is a word's stem or, in Chinese and Japanese, two signs. Function words and numbers are left out.
    """
    text = text.partition("```")[0]
    typed = analysis.words(text)[:MAX_WORDS]
    words = prose.folds(typed)
    terms: set[str] = set()
    if not _CHANGING.isdisjoint(words):
        terms.update(*(analysis.terms(word) for at, word in enumerate(typed) if _is_replaced(words, at)))
    if not text.isascii():
        terms |= _replaced_unspaced(text[:_MAX_UNSPACED].lower())
    return set(filter(_is_name, terms))


def _is_name(term: str) -> bool:
    """Whether a term may be a name; of a script without spaces, if its two signs are likely one word."""
    is_pair = len(term) == 2 and analysis.is_unspaced(term) and not analysis.is_across(term)
    is_word = (is_pair or len(term) >= _LEAST_LETTERS) and not term.isdigit()
    return is_word and term not in STOPWORDS and term not in FOREIGN


def _is_replaced(words: list[str], at: int) -> bool:
    start = next((place for place in range(at, 0, -1) if words[place - 1] not in _SMALL), 0)
    end = next((place for place in range(at + 1, len(words)) if words[place] not in _IS), len(words))
    before, behind = words[max(start - 1, 0) : start], words[end : end + 1]
    if end > at + 1 and not _GOES.isdisjoint(behind):
        return True
    is_whole = at + 1 == len(words) or words[at + 1] in STOPWORDS or words[at + 1] in FOREIGN
    if is_whole and not _REPLACES.isdisjoint(before):
        return True
    is_from = is_whole and not _FROM.isdisjoint(words[max(start - 1, 0) : at])
    moves, moved = words[max(start - _FAR, 0) : start], words[end : end + _FAR]
    is_moved = is_from and not (_MOVES.isdisjoint(moves) and _MOVED.isdisjoint(moved))
    if is_moved or (is_whole and "de" in words[start:at] and not _MOVES_OF.isdisjoint(before)):
        return True
    if before == ["to"] and start > 1:
        returning = words[max(start - 3, 0) : start - 1]
        if not _RETURNS.isdisjoint(returning) or (returning[-1] == "back" and returning[0] in _GOES_BACK):
            return True
    if behind == ["durch"] and not _REPLACES.isdisjoint(words[end:]):
        return True
    last = min(at + _FAR, len(words))
    return any(words[one] in _VERBS and not _IT.isdisjoint(words[one + 1 : one + 3]) for one in range(at + 1, last))


def _replaced_unspaced(head: str) -> set[str]:
    """Return the terms for what a text in Chinese or Japanese, in lower case, says is replaced.

    `从达达换到顺丰`, `弃用 Traefik`, `Adyen から Stripe に切り替え`.
    """
    is_change = any(verb in head for verb in (*_REPLACES_UNSPACED, *_REPLACED_UNSPACED))
    if not (is_change or _TO_UNSPACED.search(head) or _TO_JAPANESE.search(head)):
        return set()  # before each term is looked at
    return {
        name
        for name in filter(_is_name, analysis.counts(head))
        for start, end in _places(head, name)
        if _is_replaced_unspaced(head[:start].rstrip(), head[end : end + _NEAR].lstrip())
    }


def _places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a name is in a text. In Latin letters, it is the stem of a whole word."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if name.isascii():
            end = next((at for at in range(end, len(text)) if not _is_latin(text[at])), len(text))
        if not name.isascii() or (end - start - len(name) <= _MOST_ENDING and not _is_latin(text[start - 1 : start])):
            yield start, end
        start = text.find(name, end)


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _is_replaced_unspaced(before: str, behind: str) -> bool:
    """Whether a name is replaced, by what is before and after it; in `把 Redis 的超时改成 30 秒`, it is not."""
    verb = next((verb for verb in _REPLACES_UNSPACED if before.endswith(verb)), "")
    if verb:
        return _NOT_UNSPACED.isdisjoint(before.removesuffix(verb)[-2:])
    if behind.lstrip(_MEANWHILE).startswith(_REPLACED_UNSPACED) or _TO_JAPANESE.match(behind):
        return True
    moved = _TO_UNSPACED.search(_ENDS_NAME.split(behind)[0])
    return moved is not None and (before.endswith(_FROM_UNSPACED) or (moved.start() == 0 and before.endswith(_TAKES)))


_MAX_UNSPACED, _NEAR, _MOST_ENDING = 120, 16, 3
_FROM_UNSPACED, _TAKES = ("从", "從", "由"), ("把", "将", "將")
_TO_UNSPACED = lazy("[换換改迁遷转轉切][^到成]{0,2}[到成为為至向用往]")
_ENDS_NAME = lazy("[的，。；：、,;:]")
_TO_JAPANESE = lazy(r"から[^の、。]{1,12}?[にへ]\s*(?:移行|切り替え|切替|乗り換え|変更)")
_MEANWHILE = "已经經都也全部现現在"
_NOT_UNSPACED = frozenset("不别別没沒勿")
_REPLACES_UNSPACED = (
    "弃用", "棄用", "停用", "不再用", "不再使用", "去掉", "移除", "替换", "替換", "替代", "取代", "代替", "换掉", "換掉"
)  # fmt: skip
_REPLACED_UNSPACED = (
    "换成", "換成", "改成", "改为", "改為", "改用", "被替换", "被替換", "替换成", "替換成", "替换为", "替換為",
    "をやめ", "を廃止", "を置き換え",
)  # fmt: skip
_VERBS = word_set("replace drop remove ditch retire abandon swap uninstall rid")
