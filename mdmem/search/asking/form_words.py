"""Form words: words that ask, resume work or fill a sentence, and when one of them is its subject all the same.

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
currently presently
vs versus
"""
NO_TOPIC = frozenset(_NOT_TOPIC.split())

_OF_PEOPLE = frozenset(["sessions", "notes", "memories"])
_OF_PROGRAMS = _OF_PEOPLE | {"memory", "session", "week", "month"}
"""`memory leak`, `out of memory` and `why do sessions expire` are about programs; `your memory`, `last sessions` and
`notes on X` about the journal. So is `the week view`."""
_OF_JOURNAL = frozenset(
    """your my last previous earlier past prior recent other old that this these those any some all which what many in
    during from through search check consult read show list summarize summarise recap find have""".split()
)
_TELLS_OF = frozenset("about on of regarding say says said tell tells mention mentions show shows".split())
_ANY = frozenset(["a", "each", "every", "per"])
"""`how long does a session last`: not one session of the journal."""
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

    typed: the word with the punctuation after it, which separates it from the next one.
    """
    if word not in _OF_PROGRAMS or before in _OF_JOURNAL:
        return False
    if before in _SUBJECT_FOLLOWS:
        return True
    if word == "session" and before in _ANY:
        return after not in _TELLS_OF and after != ""
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


# -- in other languages too -------------------------------------------------------------------------

_LEFT = """
off leave left leaving stop stopped stand stands yesterday today weekend week month morning earlier recently lately last
latest still open up going on happening state status project repo repository codebase work working
chat conversation where half missing remaining remains unfinished outstanding undone finished todo todos anything yet
finish began begun
stehen stehengeblieben geblieben gestern zuletzt aufgehort letztens neulich stand projekt sitzung weiter
arrete arretes arretee etions etait hier projet
ibamos ayer quedado dejado sigamos seguimos seguir continuamos proyecto ontem estavamos projeto
rimasti rimasto ieri progetto reprend reprends reprenons gebleven gisteren
вчера остановились проект
"""
LEFT_OFF = frozenset(_LEFT.split())
"""Words of questions where work stopped."""
_FILLING = """
a an the this that these here there it its is are was were be been being do did does done doing to at in of with from
before after then now ok okay so and or but for by about what whats who how when which why i me my you your we us our
again next any some all thing things stuff just please give show tell quick short can could would should lets hey hi
keep carry please moving along want wanted
da wir wo was ich uns das die der dem den und in an mit noch mal bitte denn wie im es sind war waren
la on en est ce que qui quoi le les nous sest setait se je ou
lo por donde que y el de en se os onde a o dove che si ci we er
мы на чем что где
"""
FILLERS = frozenset(["", *_FILLING.split()])
"""Words that name no subject beside those."""
_FAILING = """
fehler bug absturz problem test tests schlagt fehl geht lauft klappt funktioniert gleiche gleichen selbe derselbe
dasselbe immer noch wieder meme erreur bogue probleme panne echoue echouent marche plante toujours encore
mismo misma error fallo problema falla fallan fallar funciona prueba pruebas todavia vuelve
mesmo erro falha falham teste testes funciona stesso errore fallisce falliscono funziona ancora sempre
тест тесты ошибка баг проблема падает падают работает опять снова та тот же все еще
"""
FAILING = frozenset(_FAILING.split())
"""Words that say that the work at hand fails, but not what: `der Test schlägt wieder fehl`."""
FAILING_UNSPACED = (
    "测试", "通过", "失败", "错误",
    "不工作", "跑不起来", "打不开", "报错", "问题", "同样的", "还是", "又", "了", "的", "吗",
    "テスト", "失敗", "エラー", "動かない", "動きません", "動作しない",
    "同じ", "まだ", "また", "する", "した", "している", "です", "が", "の", "は",
    "테스트", "실패", "오류", "에러", "같은", "아직도", "또", "했어", "해", "하지", "가", "이",
)  # fmt: skip

_BEFORE = """
a al de con en da di per hasta in an mit von wegen uber seit fur zu bei bis aus auf ab um
durch gegen ohne nach unter pour avec depuis aan met
op e et y und o na z c
из с на до для от при по
"""
BEFORE_ASKS = frozenset(_BEFORE.split())
"""Words that may come before a question word: `a cuántos ms`, `à combien`, `из-за чего`."""
