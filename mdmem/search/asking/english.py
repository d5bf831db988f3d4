"""English: judges whether a sentence asks about the past. It lists function words and nouns of memory, no verbs."""

from __future__ import annotations

from mdmem.search.asking import frames, general, orders, references
from mdmem.search.asking.general import after as _after
from mdmem.search.asking.general import pairs as _pairs
from mdmem.search.asking.orders import word_set as _words

SURE, LIKELY, POSSIBLE, NOT = 3, 2, 1, 0
"""How surely a sentence asks about the past: by its words alone; by speaking of the past; as a question; not at all."""

_ENDS = _words("what whats why whys how hows")
"""Words that begin a question at the end of a sentence. `which`, `who`, `where` and `when` begin relative clauses."""
_ASKS, _BEFORE_ASKS = frames.ASKS, frames.BEFORE_ASKS
_RELATIVE = _words("which who whose whom")
"""After the first word, these add a relative clause to a sentence that asks for nothing."""
_INVERTED = _words(  # begin a question without a question word
    "did didnt was wasnt were werent has hasnt have havent had hadnt do does dont doesnt is isnt are arent any "
    "anything anyone anybody can cant am"
)
_LEADING = _words(  # may precede the first word of what is said
    "so and but also hey hi hello ok okay hmm well wait please quick question btw now then actually again just "
    "oh ah um hm uh erm sorry maybe thanks one more yeah yep yo alright anyway like right or"
)
MODAL = _words("should shall would could will must might may need wanna lets going gonna")  # not yet done
WE = _words("we our ours us weve wed")
_IS = _words("is are isnt arent whats")
_YOU = _words("you youve youd")
_RETURNING = _words("is are was were im")  # before "back": `the 401 is back`
PAST = _words("did didnt was wasnt were werent had hadnt been weve ive youve wed")  # tell of what was done
_HAVE = _words("have has havent hasnt")
BACK = _words(  # past times by themselves
    "yesterday ago earlier before previously already originally formerly recently lately ever initially historically"
)
NOW = _words("currently presently nowadays now")  # with one, a question is about what earlier work has brought about
_LAST = _words("last previous prior past earlier other")  # past times with a word of `_PERIOD`
_WEEKDAYS = _words("monday tuesday wednesday thursday friday saturday sunday")
_PERIOD = _WEEKDAYS | _words(
    "time week weeks month months year night day days sprint session sessions conversation conversations chat chats "
    "meeting discussion morning evening afternoon spring summer autumn fall winter quarter release attempt attempts "
    "run work try tries round iteration once"
)
_OUTCOME = _words(  # what came of earlier work
    "reason reasons reasoning rationale decision decisions verdict outcome conclusion fix cause culprit workaround "
    "resolution agreement answer solution motivation thinking trick lesson plan problem deal bug issue"
)
_STORY = _words("story backstory happened became rationale backdrop")  # `what is the story behind X`
_NOTES = _words("notes note memory memories journal records record history")
_AGREED = _words(  # `is there a decision on X`
    "plan plans decision decisions agreement agreements conclusion conclusions consensus verdict rationale"
)
SUBJECTS = _words("we i you weve ive youve")
_ABOUT = _words("on about regarding for of concerning")
TOLD = _words(
    "told said suggested recommended mentioned proposed explained advised promised claimed warned found showed gave "
    "wrote noted concluded"
)
_TELL = _words("summarize summarise recap tell show explain find dig look list describe give review remind")  # orders
HERE = _words("this these my here your me")  # point at the work at hand
_TROUBLE = _words(  # what was wrong
    "error errors bug bugs problem problems issue issues failure failures crash exception traceback symptom trouble "
    "warning flake segfault hang deadlock leak timeout regression"
)
FAILS = _words(
    "flaky broken failing crashing hanging leaking stuck red slow down fails crashes hangs breaks leaks flakes"
)
_RESUMES = _words("resume continue resuming continuing")
_RESUMES_TWO = frozenset(  # the same in two words
    [("pick", "up"), ("carry", "on"), ("get", "back"), ("getting", "back"), ("go", "back"), ("back", "to"),
     ("return", "to"), ("left", "off"), ("keep", "going"), ("go", "on"), ("catch", "me"), ("take", "up"),
     ("we", "stand"), ("things", "stand")]
)  # fmt: skip
_AGAIN = _words("again still back")  # with a past form or a trouble, something has come back
_AT_WORK = _words(
    "same test tests code output message line work works working worked fail failed failing get gets getting "
    "seeing see one thing things happens happening persists occurs here there now yet nothing something everything "
    "changed change helped help helps fixed fix solved solve didnt doesnt wont isnt as some all though"
)
"""Words about the work at hand that say nothing of its subject: `still the same error`, `the test fails again`."""
EVERY = (
    _ASKS | _INVERTED | MODAL | WE | _YOU | PAST | _HAVE | BACK | HERE
    | _words("the a an of to in on at with for from by it its that there be not no and or but if i about")
)  # fmt: skip
"""All closed classes: a sentence's number of these words tells its language."""
_NAMING_NO_SUBJECT = EVERY | _TROUBLE | FAILS | _AGAIN | _AT_WORK
_NOT_PAST = _words(  # end in -ed, but are not past forms
    "need needed seed feed speed embed exceed proceed succeed indeed unused based nested named typed shared red bed "
    "related unrelated required allowed supported deprecated"
)


def is_of_the_work_at_hand(words: list[str], topic: list[str], grade: int) -> bool:
    """Whether a text only says or asks whether something here works, but not what: `why do the tests fail`.

    words, topic: of the text and of its subject, folded. A question about the past that is likely is none.
    """
    used = frozenset(words)
    if words[0] in _INVERTED and "again" not in used and set(topic) <= _NAMING_NO_SUBJECT | general.RUNS:
        return not (used & WE or _is_back(words, used))  # `did the tests pass?`
    shown = used & general.PARTS_OF_CODE if used & HERE else frozenset()  # `what changed in this file`
    if not _NAMING_NO_SUBJECT.issuperset(set(topic) - shown):
        return False
    return grade == POSSIBLE or not (used & WE or _is_back(words, used) or (not shown and _is_past(words, used)))


def judge(words: list[str], *, asks: bool) -> int:
    """Return how surely a sentence asks about the past, NOT to SURE.

    words: folded. asks: whether it ends in a question mark.
    """
    if "this" in words:
        words = [word for word, after in _pairs([*words, ""]) if word != "this" or after not in _PERIOD] or words
    if (framed := frames.clause(words)) and (grade := _of_clause(framed)) != NOT:
        return grade
    prepositions = next((at for at, word in enumerate(words) if word not in _BEFORE_ASKS), 0)
    if words[prepositions] in _ASKS:
        words = words[prepositions:]
    used = frozenset(words)
    first = next((word for word in words if word not in _LEADING), "")
    wh = first in _ASKS or (asks and (not used.isdisjoint(_ASKS) or _is_of_ours(words, first)))
    past, back = _is_past(words, used), _is_back(words, used)
    asks_last = frames.asks_last(words, first) or _after(words[-2:], _BEFORE_ASKS | {"of"}, _ASKS)
    wh = wh or (past and first not in orders.VERBS and asks_last)
    question = wh or (first in _INVERTED and (asks or first not in _ORDERS)) or (asks and first not in MODAL)
    if first in _INVERTED and _after(words, _NOTES, _ABOUT):
        return SURE
    if first in _INVERTED and not used & MODAL and _after(words, _AGREED, _ABOUT):
        return LIKELY
    if _is_request(words, first):
        question = wh = False
    if question and (sure := _asks_surely(words, used, wh=wh, past=past, back=back)) != NOT:
        return sure
    grade = max(
        _without_question(words, used, past=past, back=back),
        LIKELY * references.points_back(words),
        references.likens(words),
    )
    if not question:
        return max(grade, _in_passing(words, used, past=past))
    asked = words[words.index(first) :] if first else words
    supposes = not past and _supposes(words, used)
    if (not back and (supposes or general.explains(asked))) or (not past and general.defines(asked)):
        return grade  # asks what something is in general
    if not past and not back and not used & _NOTES and _reads_it(words, used):
        return grade
    ours = wh and not used.isdisjoint(WE)
    done = used & PAST or used & WE
    if back or ours or (past and (wh or (done and not used & (HERE | _YOU)))):
        return max(grade, LIKELY)
    if used & NOW and not general.asks_what_became(words):
        return max(grade, _of_now(asked, used))
    if used & NOW or _asks_why(words, used):
        return max(grade, LIKELY)
    return grade if used & HERE else max(grade, POSSIBLE)


def _of_now(asked: list[str], used: frozenset[str]) -> int:
    """Return the grade of a question about the present: earlier work decides what is used, but not whether it runs.

    asked: the words from the first that asks.
    """
    if asked[0] == "why":
        return POSSIBLE
    runs = asked[0] in _INVERTED - {"can"} or used & (FAILS | _SHOWN)  # `is the test green now?`
    return LIKELY if not runs and general.PARTS_OF_CODE.isdisjoint(asked[1:2]) else NOT


_SHOWN = _words("look looks defined declared rendered computed calculated imported missing")
"""What something looks like and where it is computed is seen in the current files: `where is the port defined now`."""


def _of_clause(words: list[str]) -> int:
    """Return the grade of a clause that a sentence asks for: `we ever settled that`, `why we chose it`."""
    used = frozenset(words)
    past, back = _is_past(words, used), _is_back(words, used)
    if words[0] not in _ASKS | _BEFORE_ASKS:
        is_ours = past and MODAL.isdisjoint(used) and (words[0] in WE or back)
        return judge(["did", *words], asks=True) if is_ours else NOT
    return min(judge(words, asks=True), SURE if past or back or used & WE else POSSIBLE)


def ends(words: list[str]) -> bool:
    """Whether a last clause asks: `and why`, `who set it and why`, `which option fixed it`, not `which fixed it`."""
    words = without_leading(words) or [""]
    is_doubt = words[0].endswith("nt") and _after(words[:2], PAST | _HAVE, _POINTED)
    asks_why = words[0] in _ASKS and words[-2:] in (["and", "why"], ["and", "how"])
    if is_doubt or (asks_why and _is_past(words, frozenset(words))):
        return True
    if words[0] in _ENDS or frames.asks_last(words, words[0]):
        return True
    noun = words[1] if len(words) > 2 else ""
    is_verb = noun.endswith(("s", "ed")) and words[2] not in orders.IRREGULAR - _BASES
    return words[0] == "which" and noun.isalpha() and not is_verb and noun not in _NO_NOUN


_POINTED = SUBJECTS | _words("that it they those there")  # not `wasn't this centered before`
_NO_NOUN = _INVERTED | MODAL | _HAVE | SUBJECTS | orders.IRREGULAR | _words("it they he she the then also only")
"""Words after a `which` that tells more of something."""


LOOKS_UP = ("where", "how", "what do", "according to", " we ")
"""Each question that the current files may answer contains one of these."""


def looks_up(words: list[str]) -> bool:
    """Whether a sentence asks for something in files or a person's notes: `where is the phone for emergencies`.

    Also for agreements: `can we release on a Friday`, `do we use tabs`. words: folded.
    """
    used = frozenset(words)
    words = without_leading(words)
    if not words or used & (HERE | _YOU):
        return False
    agrees = words[0] in _AGREES and words[1:2] == ["we"]
    return agrees or general.explains(words) or (not used & MODAL and _reads_it(words, used))


_AGREES = _words("can do are may should must shall")
"""Before "we", these ask for an agreement or for something to be done; the results tell which."""


def _reads_it(words: list[str], used: frozenset[str]) -> bool:
    """Whether the answer can be read or counted in the current files: `how many`, `where is it`, `how does it`."""
    does_so = _after(words[:2], _words("how"), _IS | _words("does")) and not used & _CHANGES
    reads = (words[0] == "where" and not used & NOW) or does_so
    if reads and not used & (_AGREED | _NOTES | _OUTCOME) and not _after(words, _words("are"), WE):
        return True
    counts = _after(words, _words("how"), _words("many much")) and not _after(words, _words("much"), _MORE)
    counts = counts and (bool("many" in used and used & NOW and used & general.PARTS_OF_CODE) or not used & (WE | NOW))
    does = (words[:2] == ["what", "does"] and used & _DOES) or (words[:2] == ["what", "do"] and words[-1] in _DOES)
    return (
        counts
        or bool(does and not used & (_CHANGES if "do" in used else _CHANGES - NOW))
        or _after(words, _words("according"), _words("to"))
    )


_MORE = _words("more less faster slower bigger larger smaller longer shorter higher lower better worse")
"""`how much slower is X`: what was measured is in no file."""
_DOES = _words("do return mean take accept expect print output contain look say show")
"""`what does X return`: what something does is read where it is defined."""


def _asks_why(words: list[str], used: frozenset[str]) -> bool:
    """Whether a question asks for a reason or purpose, or for what is planned, known or left."""
    if not used & (HERE | _YOU):
        how_far = (words[-1] in _GOING or "along" in used) and used & _words("how hows")
        planned = _after(words, _INVERTED, WE) and _after(words, _PLANNED, _words("to"))
        if how_far or planned or general.asks_purpose(words) or (general.asks_what_became(words) and not used & MODAL):
            return True
    if used & (HERE | _YOU | MODAL):
        return _after(words, _words("know"), _ABOUT)
    why = "why" in used or _after(words, _words("how"), _words("come")) or bool(used & _OUTCOME - _TROUBLE)
    of = _after(words, _COMMANDS, _words("for to")) or _after(words, _words("state status progress"), _words("of on"))
    return why or "left" in used or of or _after(words, _words("speaks speak spoke"), _words("against for"))


def _in_passing(words: list[str], used: frozenset[str], *, past: bool) -> int:
    """Return the grade of a sentence that is not a question by its form: `it failed again`, `the 401 is back`."""
    if words[0] in _TELL and not used & (HERE - {"me"}) and used & (_ASKS | BACK) and used & (WE | BACK | {"again"}):
        return LIKELY
    begin = without_leading(words)
    if begin[0] == "i" and begin[1:2] in (["remember"], ["recall"], ["thought"], ["believe"]):
        return LIKELY
    if used & MODAL or references.is_hearsay([word for word in words if word not in _LEADING]):
        return NOT if used & MODAL else LIKELY
    returns = _after(words, _RETURNING, _words("back")) or _after(words, _words("once"), _words("more"))
    fails = (words[-1] == "again" and used & FAILS) or ("again" in used and _is_told(words))
    says = (words[0] not in _PRONOUNS and not used.isdisjoint(_SAYS)) or words[:3] == ["tell", "me", "about"]
    goes_on = used & _AGAIN and (past or used & _TROUBLE)
    is_possible = (
        returns or fails or says or goes_on or references.meets_again(begin) or _after(words, _ASKS - _RELATIVE, PAST)
    )
    return POSSIBLE if is_possible else NOT


def _is_told(words: list[str]) -> bool:
    """Whether a sentence states something and gives no order: `prod is down again`, `the worker gets killed`."""
    at = next((at for at, word in enumerate(words[:5]) if word in _BECOMES), 0)
    return words[0] in _THE or (at > 0 and _ORDERED.isdisjoint(words[:at])) or not words[0].isalpha()


_SAYS = _words("says complains refuses throws rejects")
"""Verbs in reports of a failing program: `cargo release says uncommitted changes detected`."""
_PRONOUNS = _words("he she who it that this which")
_BECOMES = _IS | _words("was were gets got keeps kept")
_THE = _words("the a our my its it this that these those")
_ORDERED = _THE | _words("sure if when until")


MAX_NAMING_WORDS, MAX_POINTING_WORDS = 12, 6


def names(words: list[str]) -> bool:
    """Whether words only name something, as in a search box: `mcuboot revert after the update`.

    An order is different: it begins with a verb. So are words about what is at hand, which point at it.

    words: folded.
    """
    is_short = len(words) <= MAX_POINTING_WORDS and _after(words, SOUGHT, references.POINTS)
    points = words[:1] in (["the"], ["that"]) and (words[-1] in SOUGHT or is_short)
    words = words[points or (words[:1] == ["the"] and _after(words, _COMMANDS, _words("for to"))) :]
    if not 2 <= len(words) <= MAX_NAMING_WORDS or words[0] in _NAMING_NOTHING or words[1] in _THE:
        return False
    stated = general.is_well(words) or any(a in _IS and b not in ("they", "it") for a, b in _pairs([*words, ""]))
    return not stated and not general.explains(words) and _AT_HAND.isdisjoint(words)


def is_name(words: list[str]) -> bool:
    """Whether a few words can be the name of what is asked about: `CHUNK_BYTES why that value`. words: folded."""
    return 0 < len(words) < 4 and (EVERY | _TELL | _LEADING | orders.VERBS).isdisjoint(words)


SOUGHT = _TROUBLE | _OUTCOME
"""What is looked for of something, after its name: `the devnonce bug`."""
_NAMING_NOTHING = (
    orders.VERBS | _LEADING | MODAL | SUBJECTS | _THE | _YOU | _INVERTED
    | _words("yes yep yeah no nope not sure good great nice perfect cool looks lgtm fine right thx done same more less")
    | _words("if when once after before instead let lets then or because since i im ill he she they there here")
)  # fmt: skip
"""Words with which nobody begins to name what is looked for."""
_AT_HAND = HERE | _YOU | _words("it its that those please instead i im lets should now")


_COMMANDS = _words("command commands cmd")
"""`the command for X` is found in earlier runs."""
_PLANNED = _words("going planning supposed meant")  # `were we going to …`
_GOING = _words("going coming along progressing")
"""`how is X going` asks for its progress."""
_CHANGES = WE | _GOING | NOW | _words("again still left")
"""Words in questions about a state that earlier work has brought about."""
_ORDERS = _words("do dont can cant")
"""Words that can begin an order as well as a question."""


def _asks_surely(words: list[str], used: frozenset[str], *, wh: bool, past: bool, back: bool) -> int:
    ours = not used.isdisjoint(WE)
    if used & MODAL and not past:
        return NOT
    what_came_of_it = past and (ours or (used & _OUTCOME and not used & (_YOU | HERE)))
    told = used & _STORY and "here" not in used and len(without_leading(words)) > 2  # not `what happened?`
    if (past and back) or (wh and (what_came_of_it or told)):
        return SURE
    forgot = wh and words[-1] == "again" and "why" not in used and (ours or past)  # `how do we release again`
    return SURE if forgot or _after(words, _LAST, frozenset(["attempt", "attempts"])) else NOT


def _without_question(words: list[str], used: frozenset[str], *, past: bool, back: bool) -> int:
    """Return the grade of resumptions, reminders of what was said, and problems that are back."""
    ours = not used.isdisjoint(WE)
    if resumes(words):
        is_sure = back or (ours and "left" in used) or references.asks_last_thing(words)
        return SURE if is_sure or ("lets" in used and _after(words, _words("get"), _words("back"))) else LIKELY
    if used & _YOU and used & TOLD and not used & MODAL:
        return SURE if back else LIKELY
    if not back and words[0] == "same" and _after(words[1:], _words("thing story one") | _TROUBLE, _words("as")):
        return LIKELY
    if used & _TROUBLE and used & frozenset(["same", "again", "back"]):
        return SURE if back else NOT
    if back and (_after(words, _words("same thing story one"), _words("as")) or (used & _TROUBLE and "like" in used)):
        return LIKELY
    if ours and past and not used & MODAL and used & _ASKS and _is_request(words, words[0]) | (words[0] in _TELL):
        return SURE
    if _after(words, _NOTES, _ABOUT) and words[0] in ("search", "check", "look", "consult", "find", "show", "give"):
        return LIKELY
    done = words[0] in SUBJECTS and past and not used & MODAL
    return LIKELY if (ours and past and back) or (done and _tells_when(words, used)) else NOT


def _tells_when(words: list[str], used: frozenset[str]) -> bool:
    """Whether a sentence about earlier work names a day or something similar: `you fixed this on monday`."""
    day = used & _words("yesterday ago") or _after(words, _LAST, _PERIOD) or _after(words, _words("on"), _WEEKDAYS)
    return bool(day) or _after(words, _words("something anything similar"), _words("like similar thing"))


def _is_past(words: list[str], used: frozenset[str]) -> bool:
    if used & PAST:
        return not general.asks_what_if(without_leading(words))
    if "be" in used and used & MODAL:  # "why would a pod be evicted" is about no past
        words = [word for before, word in _pairs(["", *words]) if before != "be"]
        used = frozenset(words)
    if (used & (_IS | _GETS) and not used & _HAVE) or "will" in used or _supposes(words, used):
        return False  # "why is it pinned" is about the present
    if used & (orders.IRREGULAR - _BASES if used & _PRESENT else orders.IRREGULAR):
        return True
    if used.isdisjoint(WE) and _after(words[:3], _ASKS, _words("do does")):
        return False  # "how do materialized views work"
    return any(len(word) > 4 and word.endswith("ed") and word not in _NOT_PAST and "_" not in word for word in words)


_GETS = _words("get gets")
_PRESENT = MODAL | _words("do does to")
_BASES = _words("put cut set hit let split shut")
"""Verbs with equal past and present forms; after these they are present."""


def _supposes(words: list[str], used: frozenset[str]) -> bool:
    """Whether a sentence asks what would be: `what would happen if we dropped X`, but not `would have happened`."""
    if general.asks_what_if(without_leading(words)):
        return True
    if "would" not in used or not used.isdisjoint(_HAVE) or not _after(words, _words("if"), SUBJECTS):
        return False
    return TOLD.isdisjoint(words[: words.index("would")])  # `who said it would break if we renamed X`


def _is_back(words: list[str], used: frozenset[str]) -> bool:
    """Whether a past time is named: `yesterday`, `last week`, `in an earlier session`, `back then`, `once`."""
    once = words[-1] == "once" and words[-2:-1] != ["at"]
    return bool(used & BACK or _after(words, _LAST, _PERIOD) or once or _after(words, _words("back"), _words("then")))


def without_leading(words: list[str]) -> list[str]:
    """Return the words from the first that does not only lead in; all, if each does."""
    return words[next((at for at, word in enumerate(words) if word not in _LEADING), 0) :]


def _is_of_ours(words: list[str], first: str) -> bool:
    """Whether a question asks what "we" do, even if its first word is misspelled: `wich do we use`."""
    return _after(words[words.index(first) + 1 :], _INVERTED, WE) if first else False


def _is_request(words: list[str], first: str) -> bool:
    """Whether a sentence only looks like a question: `can you look?`, `could we rename it?`, `should I push?`"""
    if first not in _ORDERS:
        return first in MODAL
    subject = [*words, ""][words.index(first) + 1]
    agrees = first in ("do", "dont") and subject == "we" and MODAL.isdisjoint(words)  # asks for an agreement
    return subject in ("you", "i", "we") and not agrees


def resumes(words: list[str]) -> bool:
    """Whether a sentence resumes earlier work."""
    used = frozenset(words)
    used = used | {"resume"} if words[0] == "pick" and words[-1] == "up" else used
    finishes = words[:2] == ["finish", "the"] and len(words) > 2 and _CLAUSE.isdisjoint(used)
    return (
        finishes
        or references.asks_last_thing(words)
        or bool(used & _RESUMES)
        or any(pair in _RESUMES_TWO for pair in _pairs(words))
    )


_CLAUSE = _words("before after when once with and then if so")
"""With these, an order says more of what shall be finished, and so it is at hand."""
