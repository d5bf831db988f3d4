"""Undone: finds the clause of a sentence that says that something is not done yet, or promises it for later."""

from __future__ import annotations

from mdmem.lazy_pattern import lazy

_OPEN = (
    r"\bstill (?:missing|open|needs?|lacks?|ha(?:s|ve) to|to be)\b|\bnoch (?:nicht|keine?[nrms]?|offen)\b"
    r"|\bfehl(?:t|en) noch\b|\b(?:todavía|aún) no\b|\bfaltan? (?=\w+[aei]r\b)|\bpas encore\b"
)
_LATER = r"\b(?:later|tomorrow|afterwards|next|follow-?up|separate(?:ly)?|später|morgen|danach|nächste[nrsm]?)\b"
_PROMISE = r"\b(?:I['’]ll|I will|ich werde|werde ich)\b"
_SAID = lazy(rf"(?i)(?:n['’]t|\bnot)\b[^,;\n]{{0,200}}?\byet\b|{_OPEN}|{_PROMISE}[^\n]{{0,200}}?{_LATER}")
_SIGNS = (
    "yet", "still ", "noch", "todavía no", "aún no", "falta", "pas encore",
    "i'll", "i’ll", "i will", "ich werde", "werde ich",
)  # fmt: skip
"""`_SAID` finds nothing in a line without one of these. It tries each of its forms at each letter, which is slow."""
_PROMISES = lazy(f"(?i){_PROMISE}")
_MARKS = lazy(f"(?i){_OPEN}|{_LATER}|{_PROMISE}")
_PAUSE = lazy(r"[,;:.!?]\s|\s[–—(-]|\s(?:because|since|as|until|weil|da|bis|porque|parce)\s")
_START = lazy(r".*(?:[.;:]|,? (?:but|aber|pero|mais))\s")
_CONDITION = lazy(
    r"(?i)\b(?:if|wenn|falls)\s"
    r"|^\W*(?:when|while|until|unless|once|as long as|solange|sobald|si|cuando|mientras|quand|tant que)\s"
)
_OFFER = lazy(r"(?i)\bif you\b|\blet me know\b")
_REASON = lazy(r"\b(?:because|weil|porque|parce que)\b")


def is_in(text: str) -> bool:
    """Whether a text has words by which something is not done yet, or is promised."""
    lines = text.casefold().split("\n")
    return any(_SAID.search(line) for line in lines if any(sign in line for sign in _SIGNS))


def clause(sentence: str) -> str:
    """Return the clause of a sentence that says so, "" if it says nothing of the kind."""
    said = _SAID.search(_REASON.split(sentence)[0])  # "… fail because the library does not support it yet"
    if said is None or "?" in sentence:
        return ""
    start, pause = _START.match(sentence, 0, said.start() + 1), _PAUSE.search(sentence, said.end())
    begin = start.end() if start else 0
    told, before = sentence[begin : pause.start() if pause else None], sentence[begin : said.start()]
    if _PROMISES.match(said[0]):  # a condition and an offer hold for all of it: "if you like, I'll …"
        return "" if _OFFER.search(sentence) or _CONDITION.search(before) else told
    is_condition = _CONDITION.search(before.rpartition(", ")[2])  # "while there is no index yet, …"
    return "" if is_condition or _OFFER.search(told) else told


def subject(text: str) -> str:
    """Return what is left to do without the words that say that it is."""
    return _MARKS.sub(" ", text)
