"""Form words: the words by which a question asks, and when one of them is its subject all the same.

`what did we do in the last session` asks about no session, and `why do sessions expire` does.
"""

from __future__ import annotations

_NOT_TOPIC = """
remember remembered recall remind memory memories reason story happened happen yesterday ago last week month
days previous previously earlier already session sessions past thing work working again reminded forgot
conversation discussion left finally originally recently lately tell told know said say asked decide decided
decision discussed talked agreed answer notes we us lets let back continue resume pick attempts attempt tried far
find found figure story morning night today day end whats stuff chose choose picked ended fix fixed solve solved
summarize summarise recap tell explain all ever dealt encountered faced agreement conclusion outcome verdict rationale
use used using uses reasons reasoning motivation handle handled repair repaired cause culprit trick allowed super
totally really quite usage trouble need needs needed want wanted without wonder wondering curious kindly sorry bother
sure happen seriously considered gotcha gotchas someone somebody heard overheard seem vaguely hey hi um uh erm hmm yeah
yep speaks rid pitfall pitfalls caveat caveats quirk quirks luck prefer preference preferences anymore nowadays
vs versus
"""
NO_TOPIC = frozenset(_NOT_TOPIC.split())

_OF_PEOPLE = frozenset(["sessions", "notes", "memories"])
_OF_PROGRAMS = _OF_PEOPLE | {"memory", "session"}
"""`memory leak`, `out of memory` and `why do sessions expire` are about programs; `your memory`, `last sessions` and
`notes on X` about the journal."""
_OF_JOURNAL = frozenset(
    """your my last previous earlier past prior recent other old that this these those any some all which what many in
    during from through search check consult read show list summarize summarise recap find have""".split()
)
_TELLS_OF = frozenset("about on of regarding say says said tell tells mention mentions show shows".split())
_SUBJECT_FOLLOWS = frozenset("about with handle fix fixing".split())
_GRAMMAR = """
about at by for from in into of on to with and as or if so that this which where when what who why how it is was are
were be been do does did has have had can could will would should the a an my your i you he she they there here
mention mentions contain contains hold holds show shows record records say says know knows our these those
"""
_NOT_OF_PROGRAMS = NO_TOPIC.union(_GRAMMAR.split())
_MUCH = frozenset(["of", "much", "more", "less", "high", "low", "enough", "free", "shared", "process"])


def is_of_programs(before: str, word: str, after: str, typed: str) -> bool:
    """Whether an ambiguous word means a part of a program here, not the journal, judging by its neighbors.

    typed: the word with the punctuation behind it, which separates it from the next one.
    """
    if word not in _OF_PROGRAMS or before in _OF_JOURNAL:
        return False
    if before in _SUBJECT_FOLLOWS:
        return True
    if word in _OF_PEOPLE:
        return after not in _TELLS_OF and (after != "" or before not in ("the", "our"))
    if word == "memory" and (before in _MUCH or (before == "the" and after == "of")):
        return True
    return after.isalpha() and after not in _NOT_OF_PROGRAMS and typed[-1:].isalpha()


def is_part(word: str, after: str) -> bool:
    """Whether a word belongs to the next one: `back up`, `decision 3`."""
    if after.isdecimal():
        return word in _NUMBERED
    return word == "back" and after in _BEHIND_BACK


_NUMBERED = frozenset(["decision", "note", "fix", "answer", "attempt", "figure"])
_BEHIND_BACK = frozenset(["up", "ups", "end", "ends", "off", "out"])
