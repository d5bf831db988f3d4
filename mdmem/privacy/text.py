"""How one text is cleaned: step by step, and again until nothing changes.

Each step looks at the text and says what is to be changed in it; a scanner is imported only when something in
the text calls for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mdmem.privacy import Cleaned, Rules
    from mdmem.privacy.echo import Echo
    from mdmem.privacy.sections import Section

MAX_ROUNDS = 6
"""Taking text out can glue new tags together, so every text is cleaned until it stays as it is; one that
is still changing after this many rounds is dropped whole."""

SHORTEST = 8
"""A shorter string can hold neither a tag nor a secret."""

KEYWORDS = (
    "pass", "pw", "secret", "token", "key", "cred", "auth", "cookie", "bearer", "jwt", "psk", "sessid", "jsessionid",
    "gh_pat", "hub_pat", "lab_pat", "ext_pat", "sig=", "signature=", "sid=", "code=", "kennwort", "senha", "wachtwoord",
    "parola", "salasana",
)  # fmt: skip
"""What every name of a secret holds, in lower case. A text without them needs no closer look."""

KEYWORDS_BEYOND_ASCII = (
    "비밀번호", "암호", "パスワード", "密码", "密碼", "口令", "пароль", "contraseña", "hasło", "şifre", "lösenord",
    "jelszó",
)  # fmt: skip

Edit = tuple[int, int, str, str]
"""Start, end, what stands there instead, and the rule that says so."""


class Job:
    """One call of `clean`: its rules, and what it has taken out so far.

    emptied: the last text was left empty by private tags. history: the edits of each step on the last text.
    """

    __slots__ = ("cleaned", "echo", "emptied", "history", "origin", "rules", "spans")

    def __init__(self, cleaned: Cleaned, rules: Rules, origin: str, echo: Echo | None) -> None:
        self.rules = rules
        self.origin = origin
        self.echo = echo
        self.cleaned = cleaned
        self.spans: list[str] = []
        self.emptied = False
        self.history: list[list[Edit]] = []


def clean(text: str, job: Job) -> str:
    """Clean one text: storable, without what is private or secret, and the same if it is cleaned again."""
    text = storable(text)
    job.emptied = False
    if len(text) < SHORTEST and not job.rules.patterns:
        return text
    sections = len(job.spans)
    for _ in range(MAX_ROUNDS):
        before, low = text, lower(text)
        for step in _STEPS:
            edits = step(text, low, job)
            if edits:
                text = apply(text, edits, job)
                low = lower(text)
        if text == before:
            break
    else:
        job.cleaned.redacted += 1
        return job.rules.marker or job.rules.redacted
    marker = job.rules.marker
    if len(job.spans) > sections and not (text.replace(marker, "") if marker else text).strip():
        job.emptied = True
        return ""
    return text


def storable(text: str) -> str:
    """Replace what no file can hold: lone surrogates, and NUL."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def lower(text: str) -> str:
    """Put a text in lower case, every character at its place: U+0130 is the one that would become two."""
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower()


def apply(text: str, edits: list[Edit], job: Job) -> str:
    """Make the edits, which are in order and apart from each other, and note them."""
    if not edits:
        return text
    job.history.append(edits)
    parts: list[str] = []
    at = 0
    for start, end, instead, _ in edits:
        parts += (text[at:start], instead)
        at = end
    parts.append(text[at:])
    return "".join(parts)


# -- the steps: from a text (and its lower case) to what is to be changed in it, in order


def _private_edits(text: str, low: str, job: Job) -> list[Edit]:
    if "private" not in low or not any(sign in low for sign in ("<", "[", "＜", "［", "\\u003c")):
        return []
    from mdmem.privacy import sections

    rules = job.rules
    found, unclosed = sections.private(
        text,
        low,
        strict=job.origin != "tool",
        keep_unclosed=rules.unclosed == "keep",
        literal_code=rules.literal_code,
    )
    job.cleaned.unclosed |= unclosed
    return _marked(text, found, job)


def _marked(text: str, sections: list[Section], job: Job) -> list[Edit]:
    """Put one marker for each section, and for sections with only white space between them; none for empty ones."""
    edits: list[Edit] = []
    last_mark = -1  # the number of the edit that put a marker, if only white space came since
    at = 0
    for start, end, inner_start, inner_end, rule in sections:
        if last_mark >= 0 and text[at:start].strip():
            last_mark = -1
        at = end
        inner = text[inner_start:inner_end]
        if not inner.strip():
            edits.append((start, end, "", rule))
            continue
        job.spans.append(inner)
        job.cleaned.private += 1
        if last_mark >= 0:
            start, _, _, rule = edits[last_mark]
            del edits[last_mark:]
        last_mark = len(edits)
        edits.append((start, end, job.rules.marker + _lines(text, start, end, job), rule))
    return edits


def _lines(text: str, start: int, end: int, job: Job) -> str:
    return "\n" * text.count("\n", start, end) if job.rules.keep_lines else ""


def _context_edits(text: str, low: str, job: Job) -> list[Edit]:
    del job  # no setting changes this
    if not any(word in low for word in ("-context", "system", "persisted-output")):
        return []
    if not any(sign in low for sign in ("<", "＜", "\\u003c")):
        return []
    from mdmem.privacy import sections

    return [(start, end, "", rule) for start, end, _, _, rule in sections.context(text, low)]


def _echo_edits(text: str, low: str, job: Job) -> list[Edit]:
    del low  # an echo is equal in every letter
    if job.echo is None:
        return []
    marks = job.rules.marks()
    found = [span for span in job.echo.find(text) if not _cuts_mark(text, *span, marks)]
    job.cleaned.private += len(found)
    return [(start, end, job.rules.marker, "echo") for start, end in found]


def secret_edits(text: str, low: str, job: Job) -> list[Edit]:
    """Say what is to be changed so that no secret is left; `low` is the text in lower case."""
    spans = _secret_spans(text, low, job) if job.rules.secrets else []
    if job.rules.patterns:
        spans += _own_spans(text, job.rules)
    if not spans:
        return []
    spans.sort(key=lambda span: span[0])
    edits: list[Edit] = []
    for start, end, kind in _joined(spans):
        mark = job.rules.mark(kind) + _lines(text, start, end, job)
        if text[start:end] != mark:
            edits.append((start, end, mark, kind))
    job.cleaned.redacted += len(edits)
    return edits


def _joined(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    joined: list[tuple[int, int, str]] = []
    for span in spans:
        if not joined or span[0] >= joined[-1][1]:
            joined.append(span)
        elif span[1] > joined[-1][1]:
            joined[-1] = (joined[-1][0], span[1], joined[-1][2])
    return joined


def _secret_spans(text: str, low: str, job: Job) -> list[tuple[int, int, str]]:
    marks = job.rules.marks()
    spans: list[tuple[int, int, str]] = []
    if len(text) > _LONG or may_hold_token(text):
        from mdmem.privacy import tokens

        spans += tokens.find(text)
    if any(sign in text for sign in _PLACE_SIGNS):
        from mdmem.privacy import places

        spans += places.find(text, low, marks)
    if has_keyword(low):
        from mdmem.privacy import pairs

        spans += pairs.find(text, low, marks)
    return spans


def may_hold_token(text: str) -> bool:
    """Whether a text has a long word that is neither plain lower case nor a UUID: all that a token could be."""
    words = text.encode("ascii", "replace").translate(_SPACED).split()
    return any(len(word) >= SHORTEST_TOKEN and not _is_harmless(word) for word in words)


def _is_harmless(word: bytes) -> bool:
    is_uuid = len(word) == 36 and word.translate(None, b"0123456789abcdef") == b"----"
    return is_uuid or (word.islower() and word.translate(None, b"0123456789") == word)


_PLACE_SIGNS = (
    "://", "-----", "Private-Lines", " --", " -p", " -P", " -a", " -A", " -u", " -U", " -w", " pass:", " /p:",
    " login ", " auth ", "entified ", "ENTIFIED ", "SecureString", "htpasswd", "rabbitmqctl", "mysqladmin",
    "codecov -t", ":5432:", ":*:", "sudo -S", "chpasswd",
)  # fmt: skip
"""What stands at every place that `places` knows: an address, a key block, an option of a command line."""

SHORTEST_TOKEN = 16
"""No token that can be told by its look is shorter, in characters."""

_LONG = 16 * 1024
"""A text that long is searched for tokens at once: it is sure to have a long word somewhere."""

_SPACED = bytes(code if code > 32 and chr(code) not in "\"'`()[]{}<>,;" else 32 for code in range(256))


def has_keyword(low: str) -> bool:
    """Whether a text in lower case holds a word that could name a secret."""
    if any(word in low for word in KEYWORDS):
        return True
    return not low.isascii() and any(word in low for word in KEYWORDS_BEYOND_ASCII)


def _own_spans(text: str, rules: Rules) -> list[tuple[int, int, str]]:
    """Find what a person's own patterns match, unless it is a mark, or a part of one."""
    spans: list[tuple[int, int, str]] = []
    for number, pattern in enumerate(rules.compiled(), 1):
        for match in pattern.finditer(text):
            start, end = match.span(1 if pattern.groups and match.group(1) is not None else 0)
            if start < end and not _cuts_mark(text, start, end, rules.marks()):
                spans.append((start, end, f"pattern-{number}"))
    return spans


def _cuts_mark(text: str, start: int, end: int, marks: tuple[str, ...]) -> bool:
    for mark in marks:
        at = text.find(mark, max(0, start - _LONGEST_MARK), end)
        while at >= 0:
            close = text.find("]", at) + 1 if mark[0] == "[" else at + len(mark)
            if at <= start < close or at < end < close:
                return True
            at = text.find(mark, at + 1, end)
    return False


_LONGEST_MARK = 64
"""A mark with its kind is not longer, in characters."""

_STEPS: tuple[Callable[[str, str, Job], list[Edit]], ...] = (
    _private_edits,
    _context_edits,
    _echo_edits,
    secret_edits,
)
"""In this order: taking out context first could take a closing tag with it."""
