"""References: finds where an English order or statement points to how something was done before, or to a rule.

`ship it the way we shipped 1.6`, `use the same trick as with the bank importer`, `stick to our naming rule`, `we had
that with the Japanese ones`. Such a sentence asks nothing, and still needs what it points to.
"""

from __future__ import annotations

from mdmem.search.asking.general import after
from mdmem.search.asking.orders import IRREGULAR, VERBS, word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIKELY, POSSIBLE, NOT = 2, 1, 0
"""As in `english`, which uses this."""
WHO, POINTS = word_set("we you i"), word_set("for with in on to from when")
_HAD = word_set("had seen")
"""`bad device token, had that`."""
_WISHES = word_set("wish wished if hope nice")
"""`I wish we had that` is about nothing that was there."""
_THAT = word_set("that this it those these")


def points_back(words: list[str]) -> bool:
    """Whether a sentence points to earlier work. words: folded."""
    had = len(words) > 2 and words[-2] in _HAD and words[-1] in _THAT
    had = had and (_WISHES if words[-3] == "we" else WHO).isdisjoint(words)
    if had or _is_settled(words) or _begins(words[-3:], *_MY_WAY):
        return True
    said = ["and", *words]  # a row for what follows `and` also fits the beginning
    if any(_begins(said[at:], *row) for at, word in enumerate(said) for row in _ROWS_BY_WORD.get(word, ())):
        return True
    if _begins(words, _RECALL, _NAMED) and _STATES.isdisjoint(words):
        return words[-1] in _HAPPENED or words[-1].isdecimal()
    if any(_begins(words, *row) for row in _SURE_THAT) and _AT_HAND.isdisjoint(words):
        return True
    if _holds(words, _NEGATED, _WE):
        return not _holds(words, _IN, _AT_HAND)
    return words[0] in _ENDS and _holds(words[2:], WHO, _BEGAN)


def likens(words: list[str]) -> int:
    """Return how surely an order points to earlier work that it is to be like, or to a rule. words: folded.

    SURE is never returned; LIKELY if it tells that something was done, or uses again what solved something; POSSIBLE if
    it only compares with something, which the current files may show.
    """
    words = words[next((at for at, word in enumerate(words) if word not in _LEADS), 0) :]
    if not words or words[0] in _NO_ORDER:
        return NOT
    if _uses_again(words):
        return LIKELY
    return max(_likened(words), default=POSSIBLE if words[rule(words)] else NOT)


def _likened(words: list[str]) -> Iterator[int]:
    """Yield for each thing that an order names as what something is to be like how surely that is earlier work."""
    same = len(words)
    for at, word in enumerate(words[:-1]):
        before, behind = words[at - 1] if at else "", words[at + 1]
        same = min(same, at) if word == "same" and behind not in _LOOKS else same
        if word in WHO and 1 < at < len(words) - 2 and behind not in _NOT_DONE:
            if _is_done(words, at) and _HERE.isdisjoint(words[at + 2 :]):
                yield LIKELY
        elif word not in _LIKENS or at == 0 or behind in _NOTHING or not _is_known(words[at + 1 :]):
            continue
        elif behind in WHO:
            if before not in _SEEMING and _tells_done(words[at + 2 : at + 3]):
                yield LIKELY
        elif word == "as" and (behind in _AS_WITH or same < at):
            is_one = before == "same" and words[at + 2 : at + 3] == ["one"]
            is_known = is_one or behind in _AS_WITH or words[at + 1 :] == ["always"]
            yield LIKELY if is_known or not MANNER.isdisjoint(words[same:at]) else POSSIBLE
        elif word == "like" and before not in _SEEMING | WHO and not _is_kind(words, at):
            is_manner = behind in _AS_WITH or (before in _IT and words[at - 2] in _SOLVE)
            yield LIKELY if is_manner else POSSIBLE


def _tells_done(verb: list[str]) -> bool:
    """Whether the verb after a "we" tells what was done or is usual. verb: one word, or none."""
    return any(word.endswith("ed") or word in IRREGULAR - _TOLD_NOW or word in _DID | {"do"} for word in verb)


def _is_kind(words: list[str], at: int) -> bool:
    """Whether what follows a `like` is not a thing of the project: `a function like map`, `like on mobile`."""
    behind = words[at + 1]
    if behind in _PLACES:
        return words[at + 2 : at + 3] not in (["the"], ["our"]) and words[at - 1] not in _IT
    return behind not in _NAMED and not _ARTICLES.isdisjoint(words[max(0, at - _KIND_WORDS) : at])


def _is_done(words: list[str], at: int) -> bool:
    """Whether a clause of "we" tells how something was done, or is done elsewhere. at: the place of the "we"."""
    before, verb, behind = words[at - 1], words[at + 1], words[at + 2]
    if verb.endswith("ed") or verb in IRREGULAR or verb in _DID:
        return before in _LIKENS or behind in _BEHIND_DONE
    return before in _LIKENS - {"how"} and (before != "way" or at > _CHANGED_WAY)


def _is_known(named: list[str]) -> bool:
    """Whether words can name earlier work: none of them points to what is at hand, such as a file."""
    is_placed = named[:1] == ["the"] and named[1:2] in (["one"], ["ones"]) and named[2:3] in (["in"], ["on"], ["at"])
    has_file = any("." in word and not word[-1].isdecimal() for word in named)
    return not (is_placed or has_file) and _ELSEWHERE.isdisjoint(named)


def rule(words: list[str]) -> slice:
    """Return the words of an order that name a rule: `naming rule` in `stick to our naming rule`; none if none do."""
    at = next((at for at, word in enumerate(words) if word in _OUR and words[0] not in _NO_ORDER), len(words))
    end = next((end for end in range(at + 2, min(at + 5, len(words))) if words[end] in _NORM), at)
    return slice(at + 1, end + 1)


def _uses_again(words: list[str]) -> bool:
    """Whether an order uses again what solved something: `use the trick from the importer`."""
    is_also = words[-1] == "too" or words[-2:] == ["as", "well"]
    behind, verbs = (_FROM | _TO, _USE) if is_also else (_FROM, _USE - {"make"})
    return words[0] in verbs and after(words[2:], MANNER, behind) and _is_known(words)


MANNER = word_set(
    "trick way approach technique method pattern fix workaround solution fallback idea recipe thing setup settings "
    "steps strategy"
)
"""What earlier work can be used again as."""
_BEHIND_DONE = POINTS | word_set("about of at against by")
_NO_ORDER = WHO | word_set(
    "the a an it its this that these those there here he she they is are was were what why who which when where how "
    "will would can could should may might if my our im ive did does has have"
)
"""No order begins with one of these."""
_LEADS = word_set("please and so then now also ok okay lets next")
_ELSEWHERE = word_set(
    "doc docs documentation readme upstream other others example examples spec article link mockup design screenshot "
    "picture case cases usual rest above below before this that these those here it now file environment comment paper"
)
"""What is at hand, or no earlier work: `like in the mockup`, `the same as above`."""
_HERE = word_set("above below here this these")
_AS_WITH = word_set("for with")
_PLACES = POINTS - _AS_WITH
_ARTICLES, _KIND_WORDS = word_set("a an"), 3
_LOOKS = word_set(
    "size height width length color colour font margin padding border place position line layer thread order type "
    "name names value number time speed signature window row column page level shape"
)
"""Behind `same`, what the current files show: `the same height as the header`."""
_TOLD_NOW = word_set("said told")
"""`as I said` is about this session."""
_NOTHING = word_set("a an so to is are well soon long much many possible usual")
"""Words after `like` and `as` that compare with nothing known."""
_SEEMING = word_set(
    "look looks looking feel feels sound sounds seem seems behave behaves be is are was were would id something "
    "anything things stuff more just not act"
)
"""Before `like`, these tell how something appears."""
_LIKENS, _DID = word_set("way like as how"), word_set("did had")
_CHANGED_WAY = 3
"""Place of the "we" in `change the way we load it`, which is about what is at hand."""
_NOT_DONE = word_set("want need wanted needed should could would can will must may might just have currently")
_USE = word_set("use apply reuse take try copy follow repeat make")  # `use the trick from the importer`
_SOLVE, _IT = word_set("do handle solve fix implement"), word_set("it that this them")
"""`do it like the importer`."""
_FROM, _TO = word_set("of from for in with"), word_set("to on")
_NORM = word_set("rule rules style styles convention conventions policy policies guideline guidelines standard")
"""What people agree on and write down: `in our SQL style`."""
_OUR = word_set("our my")


def _is_settled(words: list[str]) -> bool:
    """Whether a sentence ends in what was settled: `we discussed that`, `the profile we agreed on`."""
    *_, before, verb, last = ("", "", *words)
    return before in _SETTLERS and ((verb in _SETTLED and last in _THAT) or (verb in _SETTLED_ON and last in _ON))


_SETTLERS = word_set("we already")
_SETTLED = word_set("settled discussed decided agreed covered sorted debated")
_SETTLED_ON, _ON = word_set("agreed decided settled"), word_set("on upon about")


def asks_last_thing(words: list[str]) -> bool:
    """Whether a sentence asks what was done last: `what was the last thing in the importer`. words: folded."""
    asks = not _WHAT.isdisjoint(words) and _WISHED.isdisjoint(words)
    return asks and _holds(words, _LAST, _THING)


_WHAT, _LAST, _THING = word_set("what whats which"), word_set("last"), word_set("thing things")
_WISHED = word_set("want need should would could can will must")
"""`the last thing I want is a lock` asks nothing."""


def asks_what_i_said(words: list[str]) -> bool:
    """Whether a question asks what the person said: `what did I say about X`, `did I ever mention X`. words: folded."""
    typed = [word for word in words if word not in _EVER]
    return _holds(typed, _DID_OR_HAVE, _I, SAY) or (typed[:1] == ["what"] and _holds(typed, _I, _SAID))


_EVER = word_set("ever already once actually even not")
_DID_OR_HAVE, _I = word_set("did didnt have havent had hadnt"), word_set("i")
SAY = word_set("say mention tell ask write note suggest propose request said mentioned told asked written noted")
_SAID = word_set("said mentioned told asked")


def follows_up(words: list[str]) -> bool:
    """Whether a short prompt only goes on with the one before: `and for partners?`, `what about staging`.

    words: folded.
    """
    if len(words) > _MAX_FOLLOWING or not _AT_WORK.isdisjoint(words):
        return False
    if words[0] in _GOING_ON:
        return len(words) > 1 and words[1] not in VERBS
    return _begins(words, word_set("what how"), word_set("about")) or _begins(words, word_set("same"), POINTS)


_MAX_FOLLOWING = 8
_GOING_ON = word_set("and but und et y e och og")
_AT_WORK = word_set("please now also this these here you can could then bitte maintenant")
"""With these, the prompt is about the work at hand."""


def meets_again(words: list[str]) -> bool:
    """Whether a sentence tells that someone has met something again, and what: `I get SIGBUS again`."""
    is_met = len(words) > 3 and "again" in words and words[0] in _MEETERS and not _MEETS.isdisjoint(words[1:3])
    return is_met and _PRONOUNS.isdisjoint(words[1:4])


_MEETERS, _MEETS = word_set("i im we were users"), word_set("get getting see seeing have having hit hitting")
_PRONOUNS = word_set("it that this them those you")


def is_hearsay(words: list[str]) -> bool:
    """Whether a sentence tells of something vaguely known: `there was something about X`, `the thing with X`.

    words: folded, without those that only begin a sentence.
    """
    words = words[words[:1] == ["i"] :]
    if any(_begins(words, *row) for row in _HEARSAY):
        return words[0] != "heard" or "is" not in words
    if words[:1] not in (["the"], ["that"]):
        return False
    named = next((at for at, word in enumerate(words) if word in _THING), 0)
    follows = words[named + 1 : named + 2]
    if not follows:
        return named > 1 and _UNKNOWN.isdisjoint(words[1:named])
    return named > 0 and follows[0] in POINTS | _MORE_OF_IT


_UNKNOWN = word_set("is has was needs wants does gets makes a an another one same only other first next last right")
"""Between `the` and `thing`, these name nothing known."""
_MORE_OF_IT = word_set("about where what whats how why which who")
"""Behind `the X thing`, these say or ask more of it."""
_SOME = word_set("some something")  # `there was something about X`
_TOLD = word_set("mentioned said told reported noticed noted suggested found warned claimed")
_HEARSAY = (
    (word_set("there wasnt"), word_set("was there"), _SOME),
    (word_set("heard overheard"),),
    (word_set("seem"), word_set("to"), word_set("remember recall")),
    (word_set("vaguely dimly faintly"), word_set("remember recall")),
    (word_set("someone somebody"), _TOLD),
)
_SURE_THAT = (
    (word_set("are"), word_set("we"), word_set("sure certain confident positive")),
    (word_set("do"), word_set("we"), word_set("know"), word_set("for"), word_set("sure certain")),
)
"""`are we sure that no feature leaks` asks for what was checked."""
_NEGATED, _WE = word_set("havent hadnt didnt"), word_set("we")
"""`haven't we seen this` asks, but not `haven't we got a function in this file`."""
_IN = word_set("in for of")
_AT_HAND = word_set("this these my here")  # with one, it is about what is at hand
_RECALL, _NAMED = word_set("remember recall"), word_set("the our")  # `remember the outage`
_HAPPENED = word_set(
    "bug bugs issue issues problem problems error errors crash outage incident failure flake regression deadlock leak "
    "timeout loop discussion story thing trouble"
)
_STATES = word_set("is are was were to must should has have needs for next when")
"""With these, a sentence says what shall be remembered: `remember the port is 8081`."""
_ENDS, _BEGAN = word_set("finish complete"), word_set("began begun started left")  # `finish what we began`
_PREFERENCE = word_set("preference preferences preferred")
_MY_WAY = word_set("way how"), word_set("i"), word_set("prefer like")


_ROWS: tuple[tuple[frozenset[str], ...], ...] = (
    (WHO, word_set("did had"), _THAT, POINTS),
    (word_set("that which"), word_set("worked helped fixed solved"), word_set("for with in on")),
    (WHO, word_set("built had made used chose measured wrote"), POINTS),
    (word_set("we"), word_set("know learned learnt"), word_set("of")),
    (word_set("did does"), word_set("that it this"), word_set("turn"), word_set("out")),
    (word_set("next"), word_set("step steps"), word_set("for on with in")),
    (word_set("dig"), _THAT, word_set("up")),
    (word_set("from"), word_set("experience")),
    (word_set("which"), word_set("one ones"), word_set("was were"), _THAT | word_set("they")),
    (word_set("has have did"), word_set("anyone anybody someone somebody")),
    (word_set("anything something what"), word_set("i we"), word_set("should need must"), word_set("know")),
    (word_set("do did"), word_set("i"), word_set("prefer like")),
    (*_MY_WAY, word_set("it them that my those")),
    (word_set("there wasnt"), word_set("was there"), word_set("a an some"), _NORM | word_set("decision agreement")),
    (word_set("what which"), word_set("is was are were"), word_set("my our"), _PREFERENCE),
    (word_set("whats per"), word_set("my our"), _PREFERENCE),
    (word_set("you and please"), word_set("know follow respect mind"), word_set("my our"), _PREFERENCE),
)
"""Runs of words that point to earlier work."""
_ROWS_BY_WORD: dict[str, list[tuple[frozenset[str], ...]]] = {}
"""The rows by the words that begin them: few words begin any."""
for _row in _ROWS:
    for _word in _row[0]:
        _ROWS_BY_WORD.setdefault(_word, []).append(_row)


def _holds(words: list[str], *row: frozenset[str]) -> bool:
    """Whether words that fit a row follow each other anywhere."""
    return any(word in row[0] and _begins(words[at:], *row) for at, word in enumerate(words))


def _begins(words: list[str], *row: Iterable[str]) -> bool:
    return len(words) >= len(row) and all(word in alternatives for word, alternatives in zip(words, row, strict=False))
