"""Text: cleans one text in steps, repeated until nothing changes.

Each step reads the text and returns edits. A scanner is imported only if the text calls for it.
"""

from __future__ import annotations

from mdmem.privacy.job import Job
from mdmem.privacy.secrets import SIGN_CODES, has_any, has_sign, searches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mdmem.privacy.findings import Edit
    from mdmem.privacy.job import RuleSet
    from mdmem.privacy.tags import PrivateSection

MAX_ROUNDS = 6
"""Removing text can join its surroundings into new tags, so a text is cleaned until it no longer changes. One that
still changes after this many rounds is removed whole."""

SHORTEST = 8
"""A shorter string cannot hold a tag or a secret."""

_NOTHING = " \t\r\n.,;:!?…-–—*_()\"'“”‘’«»。、！？，；：（）「」\u200b\u200c\u200d\ufeff"
"""Characters without meaning of their own: white space, punctuation, and quotes."""

SHORTEST_REVEALED = 4
"""A private value shorter than this is not masked elsewhere: that would hide mostly unrelated text."""


def clean(text: str, job: Job) -> str:
    """Return a text that is storable, has no private sections or secrets, and would not change if cleaned again."""
    is_known = len(text) <= job.plain_chars and not job.secrets and job.revealed is None
    if is_known and not searches.finds_token(text, job.marks):
        return text
    text = storable(text)
    if len(text) < SHORTEST and not job.rules.patterns and job.revealed is None and job.echo is None:
        return text
    sections, private, marks = len(job.spans), job.cleaned.private, job.marks
    for _ in range(MAX_ROUNDS):
        before, low, unmarked = text, lower(text), False
        for step in _STEPS:
            edits = step(text, low, job)
            if edits:
                unmarked = unmarked or not all(edit[2].startswith(marks) for edit in edits)
                text = apply(text, edits, job)
                low = lower(text)
        if text in (before, job.rules.redacted) or not _may_change_again(text, unmarked, job):
            break
    else:
        job.cleaned.redacted += 1
        return job.rules.marker or job.rules.redacted
    marker = job.rules.marker
    hidden = len(job.spans) > sections or (job.revealed is not None and job.cleaned.private > private)
    if hidden and not _says_more(text.replace(marker, "") if marker else text, job.origin):
        return ""
    return text


def is_plain(text: str, job: Job) -> bool:
    """Whether no step finds anything but tokens in a text or any part of it. In doubt, False."""
    low = lower(text)
    if storable(text) is not text or has_any(low, _CONTEXTS) or has_any(text, _STREAMS) or _may_encode_tag(low):
        return False
    return not (_has_tag(low, job.rules.tags) or searches.may_find(text, low, is_output=job.origin == "tool"))


def _may_change_again(text: str, unmarked: bool, job: Job) -> bool:
    """Whether a changed text needs another round.

    Removal can only create new matches around the marks, so in a long text only the surroundings of marks are checked.
    unmarked: something was removed without leaving a mark.
    """
    if len(text) < _LONG_AGAIN or unmarked or job.rules.patterns or job.echo or job.revealed:
        return True
    from mdmem.privacy import marks

    around_marks = marks.around(text, job.marks, _NEAR)
    if sum([end - start for start, end in around_marks]) > len(text) // 2:
        return True
    for start, end in around_marks:
        part = text[start:end]
        trial = _trial(job)
        trial.secrets = dict(job.secrets)
        low = lower(part)
        if any(step(part, low, trial) for step in _STEPS):
            return True
    return False


def _trial(job: Job) -> Job:
    """Return a job of the same rules for a text, whose counts do not matter."""
    trial = Job(type(job.cleaned)(), job.rules, job.origin, None)
    trial.is_input = job.is_input
    return trial


_LONG_AGAIN = 64 * 1024
_NEAR = 4 * 1024
"""How much on each side of a mark is checked for new matches, in characters."""


def _says_more(remaining: str, origin: str) -> bool:
    """Whether a text has more than private sections. Outside a tool's output, punctuation alone does not count."""
    return bool(remaining.strip() if origin == "tool" else remaining.strip(_NOTHING))


def storable(text: str) -> str:
    """Return a text with lone surrogates and NUL replaced, which cannot be stored in a file."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _without_surrogates(text)
    return text


def _without_surrogates(text: str) -> str:
    """Return a text with surrogate pairs joined and lone surrogates replaced."""
    halves = sorted(char for char in set(text) if "\ud800" <= char <= "\udfff")
    if halves[0] < "\udc00" <= halves[-1]:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.translate(dict.fromkeys(map(ord, halves), "\ufffd"))


def lower(text: str) -> str:
    """Return a text in lower case of the same length: U+0130, which alone would become two characters, is replaced."""
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower()


def apply(text: str, edits: list[Edit], job: Job) -> str:
    """Apply edits to a text and record them in `job.history`. They must be in order and must not overlap."""
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


# -- the steps: each takes a text and its lower case, and returns edits in order


def may_hold_private(text: str, rules: RuleSet) -> bool:
    """Whether a text may hold a private tag: a quick check that never misses one."""
    return may_open_tag(text) and _has_tag(lower(text), rules.tags)


def may_open_tag(text: str) -> bool:
    """Whether a text has a sign that tags begin with. Searching for signs is ten times faster than for words."""
    return has_any(text, _ASCII_OPENERS if text.isascii() else _OPENERS)


def _has_tag(low: str, words: tuple[str, ...]) -> bool:
    if not low.isascii() and not has_any(low, _OPENERS):
        return False
    if has_sign(low, (), SIGN_CODES):
        from mdmem.privacy import tags

        low = tags.with_decoded_signs(low)
    if not low.isascii():
        from mdmem.privacy import disguises

        low = disguises.visible_ascii(low)
    if not has_any(low, words):
        return has_any(low, _ASCII_OPENERS if low.isascii() else _OPENERS) and _may_spell(low, words)
    return has_any(low, _TAG_SIGNS) or any(has_any(low, [sign + word for sign in _OTHER_SIGNS]) for word in words)


def _may_spell(low: str, words: tuple[str, ...]) -> bool:
    """Whether a text may have one of these words with gaps between its letters, or with escaped letters."""
    letters = low.encode("ascii", "ignore").translate(None, _BETWEEN)
    is_spelled = any(letters.find(word.encode().translate(None, _BETWEEN)) >= 0 for word in words)
    if not (is_spelled or "\b" in low or (has_any(low, _ESCAPING) and has_any(low, _ESCAPED))):
        return False
    from mdmem.privacy import disguises

    return has_any(disguises.shadow(low, words), words)


_BETWEEN = bytes(code for code in range(128) if not chr(code).isalpha()) + b"nrtmk"
r"""What may be between the letters of a word. The letters are the last ones of escapes such as `\n` and of colors."""

_ASCII_OPENERS = (*"<[{(\\%", "&#", "amp;#", "=3", "=5", "=E", "=e", "=C2=AB", "=c2=ab")
_OPENERS = (*_ASCII_OPENERS, *"＜［｛（【〔〖〘〚⟦❲⁅⟨〈〈❬❮❰⧼﹤«‹《「『≪")
"""Every text with a tag contains one of these."""
_ESCAPING = ("\\", "%", "&#", "amp;#", "=3", "=5")
_ESCAPED = (
    "003c", "005b", "{3c", "{5b", "\\x3c", "\\x5b", "\\3c", "\\74", "\\074", "\\133", "%3c", "%5b", "253c", "255b",
    "=3c", "=5b", "&#", "amp;#",
)  # fmt: skip
"""The escaped forms of an opening bracket."""
_TAG_SIGNS = ("<", "[", *_ESCAPED)
"""The beginnings of a tag, in lower case."""
_OTHER_SIGNS = ("{", "(", "/", "/ ")
"""What precedes the word in tags with other brackets: such a bracket at the start of a prompt, or a closing slash."""


def private_edits(text: str, low: str, job: Job) -> list[Edit]:
    """Return the edits that remove the private sections. `low` is the text in lower case."""
    sections = private_sections(text, low, job)
    return _marked(text, sections, job) if sections else []


def private_sections(text: str, low: str, job: Job) -> list[PrivateSection]:
    """Return the private sections of a text, in order. `low` is the text in lower case."""
    if not _has_tag(low, job.rules.tags):
        return []
    from mdmem.privacy import limits, sections, tags

    rules = job.rules
    try:
        private, unclosed = sections.private(
            text,
            low,
            rules.tags,
            strict=job.origin != "tool",
            begun=job.is_input,
            keep_unclosed=rules.unclosed == "keep",
            literal_code=rules.literal_code,
        )
    except limits.FloodError:
        return [(0, len(text), 0, len(text), "flood")]
    job.cleaned.unclosed |= bool(unclosed)
    job.cleaned.stray |= tags.CLOSES in unclosed
    return private


def _marked(text: str, sections: list[PrivateSection], job: Job) -> list[Edit]:
    """Return edits that put a marker for each section. Adjacent sections share one; empty ones get none."""
    edits: list[Edit] = []
    last_mark = -1  # index of the last edit with a marker, if only white space followed it
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
        job.cleaned.hidden.add(inner)
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
    if not has_any(low, _CONTEXTS):
        return []
    from mdmem.privacy import limits, sections

    try:
        return [(start, end, "", rule) for start, end, _, _, rule in sections.context(text, low)]
    except limits.FloodError:
        return [(0, len(text), "", "flood")]


_CONTEXTS = ("-context", "system", "persisted-output", "hook_context")
"""Every name of a fence or a host's block contains one of these."""


def _echo_edits(text: str, low: str, job: Job) -> list[Edit]:
    del low  # each memory normalizes the text itself
    if not (memories := [memory for memory in (job.echo, job.revealed) if memory is not None]):
        return []
    from mdmem.privacy import marks

    spans = _joined(sorted((*span, "echo") for memory in memories for span in memory.find(text)))
    edits = [(at, end, job.rules.marker, rule) for at, end, rule in spans if not marks.cuts(text, at, end, job.marks)]
    job.cleaned.private += len(edits)
    return edits


def secret_edits(text: str, low: str, job: Job) -> list[Edit]:
    """Return the edits that mask the secrets. `low` is the text in lower case."""
    spans = searches.find(text, low, job.marks, is_output=job.origin == "tool") if job.rules.secrets else []
    if job.rules.patterns:
        from mdmem.privacy import patterns

        spans += patterns.find(text, job.rules.compiled(), job.marks, job.patience)
    if not spans:
        return []
    if has_any(text, job.marks):
        from mdmem.privacy import marks

        spans = [(*marks.whole(text, start, end, job.marks), kind) for start, end, kind in spans]
    spans.sort(key=lambda span: span[0])
    edits: list[Edit] = []
    for start, end, kind in _joined(spans):
        mark = job.rules.mark(kind) + _lines(text, start, end, job)
        if text[start:end] != mark:
            edits.append((start, end, mark, kind))
            learn_secret(text[start:end], job)
    job.cleaned.redacted += len(edits)
    return edits


def learn_secret(value: str, job: Job) -> None:
    """Remember a secret, to mask it wherever it occurs again, unless it is an ordinary word."""
    from mdmem.privacy.secrets import repeated

    for form in repeated.forms(value.strip()):
        if len(job.secrets) < repeated.MOST:
            job.secrets[form] = None


def _repeated_edits(text: str, low: str, job: Job) -> list[Edit]:
    del low  # secrets are case-sensitive
    repetitions = [(start, end, "repeated-secret") for start, end in job.echo.find_secrets(text)] if job.echo else []
    if not (job.secrets or repetitions):
        return []
    from mdmem.privacy import marks

    if job.secrets:
        from mdmem.privacy.secrets import repeated

        repetitions += [*repeated.find(text, job.secrets), *repeated.find_encoded(text, job.secrets)]
    spans = sorted(span for span in repetitions if not marks.cuts(text, *span[:2], job.marks))
    edits = [(start, end, job.rules.mark(kind), kind) for start, end, kind in _joined(spans)]
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


def _stream_edits(text: str, low: str, job: Job) -> list[Edit]:
    """Return the edits that remove what is private or secret in the deltas of a model's stream, taken together."""
    if not has_any(low, _STREAMS):
        return []
    from mdmem.privacy import views

    view = views.streamed(text)
    said, low = view.text, lower(view.text)
    return view.pieces_of(private_edits(said, low, job), text) or view.pieces_of(secret_edits(said, low, job))


_STREAMS = ('"delta"', '"candidates"', '"done":false')  # one is in every stream of a model (`views.streamed`)


def _encoded_edits(text: str, low: str, job: Job) -> list[Edit]:
    """Return the edits that hide base64 and hexadecimal in which a private section is encoded.

    What is hidden is counted as it stands: one place may be decoded in several ways, in some of which a tag is cut.
    """
    if not _may_encode_tag(low):
        return []
    from mdmem.privacy import encoded

    view, trial = encoded.decoded(text), _trial(job)
    edits = view.pieces_of(private_edits(view.text, lower(view.text), trial)) if view else []
    spans = _joined(sorted((start, end, rule) for start, end, _, rule in edits))
    for start, end, _ in spans:
        job.cleaned.hidden.add(text[start:end])
    job.cleaned.private += len(spans)
    job.spans += trial.spans
    return [(start, end, job.rules.marker + _lines(text, start, end, job), rule) for start, end, rule in spans]


def _may_encode_tag(low: str) -> bool:
    """Whether a text may hold the word `private` in base64 or hexadecimal, also cut at the end of a line."""
    if has_any(low, _GROUPS) and has_any("".join(low.replace("\\n", " ").split()), _IN_BASE64):
        return True
    if "70" not in low:  # the letter p
        return False
    plain = low.replace("0x", "").replace("\\n", "").encode("ascii", "ignore")
    return has_any(plain.translate(None, _BETWEEN_BYTES).decode(), _IN_HEX)


_GROUPS, _IN_BASE64 = ("chjp", "axzh", "cml2"), ("chjpdmf0", "byaxzhdg", "wcml2yxrl")
"""A group of base64 that is in the word, and the word, as it begins at each byte of three; in lower case."""
_IN_HEX = ("70726976", "76617465", "72707669", "76697461", "69726176", "61766574")
"""Its first and last four letters, and four of them in numbers of two bytes, the second one first."""
_BETWEEN_BYTES = b" \t\r\n:,-"

_STEPS: tuple[Callable[[str, str, Job], list[Edit]], ...] = (
    _stream_edits,  # first, because the other steps would see the pieces of a stream, not what they say together
    _encoded_edits,
    private_edits,  # before the context, whose removal could take a closing tag with it
    _context_edits,  # blocks that hosts and memory programs add
    _echo_edits,  # repetitions of the session's private sections
    secret_edits,  # `searches.SEARCHES`, and the user's patterns
    _repeated_edits,  # last, because it masks again what the steps before it, in any text, have found
)
"""In this order; repeated until nothing changes."""


# -- the tags of a typed prompt


def unknown_tags(prompt: str, rules: RuleSet) -> list[str]:
    """Return the names of elements that look like private tags but are none, such as `private-note`."""
    if not may_hold_private(prompt, rules) and "<!--" not in prompt:
        return []
    from mdmem.privacy import tags

    return list(dict.fromkeys(tags.unknown(lower(prompt), rules.tags)))


def without_tags(prompt: str, rules: RuleSet) -> str:
    """Return a prompt with its private tags removed and their contents kept. Only on the user's request."""
    from mdmem.privacy import sections

    for _ in range(MAX_ROUNDS):
        before = prompt
        prompt = sections.without_tags(prompt, lower(prompt), rules.tags)
        if prompt == before:
            break
    return prompt
