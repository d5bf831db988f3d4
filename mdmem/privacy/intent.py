"""Intent: whether a private tag without a partner begins a section, or is only spoken of.

Every rule here looks at the tag's own line alone, so that a mention stays one wherever its text is put. In doubt a
tag is a section.
"""

from __future__ import annotations

from mdmem.privacy.tags import BRACKET, CLOSES, COMMENT, SHOUT, Tag

_KINDS = frozenset(["attribute", "attributes", "element", "elements", "section", "sections", "tag", "tags"])
"""What a tag is called by somebody who speaks of it: `the <private> tag`."""

_KINDS_IN_PROSE = _KINDS | frozenset(
    [
        "annotation", "block", "blocks", "bracket", "brackets", "directive", "generic", "header", "heading", "keyword",
        "label", "labels", "marker", "markers", "notation", "placeholder", "syntax",
    ]
)  # fmt: skip
"""The same where the tag does not begin its line, and the word cannot be a command."""

_BEFORE_A_NAME = frozenset(
    [
        "a", "about", "an", "and", "as", "between", "by", "called", "in", "labeled", "like", "marked", "named", "of",
        "or", "tag", "tagged", "tags", "than", "the", "to", "use", "using", "via", "vs", "with", "without",
    ]
)  # fmt: skip
"""Words before a tag that is named in a sentence: `marked with <private>, and …`."""

_ASKS = frozenset(["are", "can", "did", "do", "does", "how", "is", "should", "what", "when", "where", "which", "why"])
"""How a question begins."""

_GOES_ON = frozenset(
    [
        "actually", "affect", "after", "and", "anyway", "are", "at", "be", "because", "before", "break", "can",
        "change", "do", "does", "end", "exactly", "exist", "for", "from", "get", "gets", "hide", "hides", "if", "in",
        "instead", "is", "isn't", "keep", "keeps", "like", "mean", "means", "not", "on", "or", "stops",
        "support", "supported", "to", "use", "used", "when", "with", "without", "work", "works",
    ]
)  # fmt: skip
"""How a sentence goes on behind what it speaks of: `why does <private> not work here?`."""

_SPEAKING = _ASKS | frozenset(
    [
        "a", "an", "about", "add", "adding", "another", "any", "called", "close", "closing", "each", "every", "forgot",
        "left", "like", "lone", "missing", "my", "new", "no", "of", "old", "opening", "our", "put", "remove", "single",
        "some", "stray", "that", "the", "their", "these", "this", "those", "typed", "unclosed", "use", "using", "via",
        "without", "write", "wrote", "your",
    ]
)  # fmt: skip
"""Words before a tag, or a word in brackets, that somebody speaks of: `the [private] channel`."""

_FOLLOWING = _GOES_ON | frozenset(
    [
        "about", "above", "across", "against", "allowed", "along", "among", "around", "as", "behind", "being", "below",
        "between", "but", "by", "can't", "cannot", "correctly", "did", "doesn't", "don't", "during", "either", "even",
        "everywhere", "except", "had", "has", "have", "here", "inside", "into", "isn't", "may", "might", "must", "near",
        "needs", "nested", "never", "next", "off", "once", "only", "onto", "out", "outside", "over", "rather", "shall",
        "should", "silently", "since", "so", "somewhere", "than", "then", "there", "through", "toward", "towards",
        "twice", "under", "unless", "until", "up", "upon", "versus", "vs", "was", "wasn't", "were", "where", "whether",
        "which", "while", "will", "within", "won't", "would", "yet",
    ]
)  # fmt: skip
"""Words of grammar, which go on in a sentence about the tag before them, and begin nothing that is told."""

_SUBJECTS = frozenset(["how", "if", "often", "only", "when", "where", "whether", "why"])
"""Words before a tag of which something is said: `how <private> works`."""

_VERBS = frozenset(
    [
        "accept", "allow", "appear", "append", "break", "catch", "choke", "close", "contain", "convert", "count",
        "cover", "detect", "display", "document", "drop", "emit", "escape", "exclude", "expect", "filter", "find",
        "flag", "forget", "get", "handle", "highlight", "hit", "ignore", "include", "insert", "keep", "leave", "list",
        "look", "make", "mark", "match", "mention", "miss", "move", "need", "nest", "open", "output", "parse", "pass",
        "print", "produce", "read", "recognize", "reject", "rename", "render", "replace", "return", "sanitize", "saw",
        "search", "see", "show", "skip", "split", "store", "strip", "support", "swallow", "take", "test", "tokenize",
        "treat", "unescape", "want", "wants", "wrap", "write",
    ]
)  # fmt: skip
"""What programs and their authors do with a tag, without an ending: `it emits <private> for …`."""

_MODALS = frozenset(["are", "can", "could", "did", "do", "does", "has", "is", "may", "must", "should", "will", "would"])
"""Words that begin a question about the tag behind them: `can <private> have attributes`."""

_PLACES_OF_A_NAME = (
    _BEFORE_A_NAME
    | _SPEAKING
    | _SUBJECTS
    | frozenset(["after", "at", "before", "for", "from", "header", "inside", "into", "on", "section", "where"])
) - _MODALS
"""Words that a tag follows in a sentence about it."""

_PARTS = frozenset(
    [
        "annotation", "attribute", "badge", "branch", "button", "cell", "channel", "child", "class", "column",
        "component", "constructor", "directory", "endpoint", "entry", "field", "flag", "folder", "function", "group",
        "icon", "item", "label", "line", "link", "list", "macro", "member", "method", "mode", "modifier", "module",
        "namespace", "network", "node", "option", "package", "parameter", "prefix", "property", "register", "repo",
        "repositorie", "repository", "row", "scope", "string", "subnet", "suffix", "symbol", "tab", "tooltip", "type",
        "value", "variable", "view", "word",
    ]
)  # fmt: skip
"""What a tag names in programs and on screens, without the s of many: `the <private> column`."""

_TELLING = frozenset(
    [
        "address", "boss", "card", "client", "code", "codename", "confidential", "credentials", "customer", "divorce",
        "fired", "key", "layoffs", "merger", "name", "nobody", "number", "passcode", "passphrase", "password",
        "patient", "phone", "pin", "remember", "salary", "secret", "token",
    ]
)  # fmt: skip
"""A sentence with one of these may well say it."""

_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’"}
_DATA = frozenset(",:]}")
_REACH = 200
"""As far as a line is looked at beside a tag, in characters."""


def is_heading(tag: Tag, last_closed: int) -> bool:
    """Whether a lone tag is a bracket that in a tool's output heads a section of an INI file.

    last_closed: where the last closing bracket that has a partner stands. Before it, brackets are tags.
    """
    return tag[3] != CLOSES and tag[2].endswith((BRACKET, SHOUT)) and tag[0] > last_closed


def is_mention(tag: Tag, text: str, plain: str, last_closed: int) -> bool:
    """Whether a lone tag is only spoken of; `plain` is the text's shadow, `last_closed` as for `is_heading`."""
    start, end, family, does = tag
    if any(applies(tag, plain) for applies in (_in_code, _in_quotes, _is_called_a_tag, _is_one_of_several)):
        return True
    if _is_format_code(tag, text) or _is_pattern(tag, plain):
        return True
    if does == CLOSES:
        return _is_closing_named(tag, plain)
    if not family.endswith(SHOUT) and start > last_closed and _is_part_of_sentence(tag, text, plain):
        return True
    if not family.endswith((BRACKET, SHOUT)):
        return _is_generic(text, start, end) or _is_named(tag, plain) or _is_asked_about(tag, plain)
    if family.endswith(SHOUT):
        return True
    is_other = (
        _is_link(plain, start, end)
        or _is_index(plain, start)
        or _is_named(tag, plain)
        or _is_asked_about(tag, plain)
        or _is_adjective(tag, plain)
    )
    return is_other and start > last_closed


def is_setting(text: str, outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    """Whether a pair of tags is a yes or no of a project file: `<Private>True</Private>` of MSBuild."""
    is_plain = text.startswith("<Private>", outer[0]) and text.endswith("</Private>", 0, outer[1])
    return is_plain and inner[1] - inner[0] < 12 and text[slice(*inner)].strip("\\ \t\r\n").lower() in ("true", "false")


def is_pattern(text: str, inner: tuple[int, int]) -> bool:
    """Whether a pair of tags encloses only signs of a regular expression, or dots: `<private>(.*?)</private>`."""
    return 0 < inner[1] - inner[0] < _LONGEST_PATTERN and not text[slice(*inner)].strip(_PATTERN_SIGNS)


_LONGEST_PATTERN, _PATTERN_SIGNS = 16, ".*?+()[]^$|…"


def _in_code(tag: Tag, plain: str) -> bool:
    """Whether it ends a span of inline code, with nothing but signs behind it: `List<Private>` between backticks."""
    start, end = tag[0], tag[1]
    if plain[start - 1 : start] == "`" == plain[end : end + 1]:
        return True
    line = plain[plain.rfind("\n", max(0, start - _REACH), start) + 1 : start][-_REACH:]
    rest, closed, _ = plain[end : end + _REACH].partition("\n")[0].partition("`")
    return bool(closed) and line.count("`") % 2 == 1 and not any(map(str.isalnum, rest))


def _is_pattern(tag: Tag, plain: str) -> bool:
    """Whether it is a regular expression between slashes, with flags: `/<private>/i`."""
    start, end = tag[0], tag[1]
    if (
        plain[start - 1 : start] != "/"
        or plain[end : end + 1] != "/"
        or plain[start - 2 : start - 1].strip(" \t\n(=,[!`'")
    ):
        return False
    flags = plain[end + 1 : end + 4].rstrip(" \t\n.,;:?!)]`\"'")
    return flags.split(" ")[0] in ("g", "gi", "i", "ig")


def _in_quotes(tag: Tag, plain: str) -> bool:
    """Whether quotation marks enclose the tag alone, in a sentence: in a list of strings it may be a line of a file."""
    start, end = tag[0], tag[1]
    before, after = plain[start - 1 : start] if start else "", plain[end : end + 1]
    return bool(after) and _QUOTES.get(before) == after and plain[end + 1 : end + 2] not in _DATA


def _is_called_a_tag(tag: Tag, plain: str) -> bool:
    rest = plain[tag[1] : tag[1] + 40].partition("\n")[0].lstrip("`\"'”’»* -")
    word = rest[: len(rest) - len(rest.lstrip("abcdefghijklmnopqrstuvwxyz"))]
    if tag[2].endswith(COMMENT) and word in ("comment", "comments"):
        return True
    return word in (_KINDS if _begins_line(plain, tag[0]) else _KINDS_IN_PROSE)


def _is_one_of_several(tag: Tag, plain: str) -> bool:
    """Whether another tag is named right behind it: `<private> and <public>`, `[private], [public]`."""
    rest = plain[tag[1] : tag[1] + 60].partition("\n")[0].lstrip("`")
    between, opened, name = rest.partition(plain[tag[0]])
    word, closed, _ = name.partition({"[": "]", "<": ">"}.get(opened, "\0"))
    joined = between.strip() != "" and between.strip(" ,`") in _JOINING
    return joined and bool(closed) and word.strip("/").isalnum() and len(word) > 3  # <b> is text in bold


_JOINING = frozenset(["", "and", "or", "vs", "versus", "to", "not", "into", "with", "instead of", "rather than"])


def _is_generic(text: str, start: int, end: int) -> bool:
    r"""Whether it is a type's parameter: `List<Private>`, `Vec::<Private>`; also as Markdown, `List\<Private>`."""
    if text[start:end] != "<Private>":
        return False
    before = text[max(start - 3, 0) : start].removesuffix("\\")[-2:]
    return before[-1:].isalnum() or before[-1:] == "_" or before == "::"


def _is_format_code(tag: Tag, text: str) -> bool:
    """Whether it is a format code in Perl's documentation (`C<private>`), or a word to look for (`\\<private\\>$`)."""
    start, end = tag[0], tag[1]
    before, after = text[start - 1 : start], text[end : end + 1]
    is_code = (
        before != ""
        and before in ("L" if tag[3] == CLOSES else "BCEFILSX")
        and not text[start - 2 : start - 1].isalnum()
    )
    is_pattern = text.startswith("\\>", end - 2) and bool(after.strip()) and not after.isalnum()
    return is_pattern or (is_code and text[start] == "<")


def _is_index(plain: str, start: int) -> bool:
    """Whether it is an index: `values[private]`."""
    before = plain[start - 1 : start] if start else ""
    return before.isalnum() or (before != "" and before in "_)]")


def _is_named(tag: Tag, plain: str) -> bool:
    """Whether a sentence goes on behind it as behind a name: `Does it know <private>?`, `with <private>, …`."""
    start, end = tag[0], tag[1]
    if _begins_line(plain, start) or plain[end + 1 : end + 2].strip():
        return False
    sign = plain[end : end + 1]
    if sign and sign in "?)":
        return True
    words = plain[max(0, start - _REACH) : start].split()
    return bool(sign) and sign in ",.;" and bool(words) and words[-1] in _BEFORE_A_NAME


def _is_asked_about(tag: Tag, plain: str) -> bool:
    """Whether a question is about it: `why does <private> not work here?`."""
    before, after = _sentence(tag, plain)
    words = before.split()
    asks = "?" in after and not _ASKS.isdisjoint(words)
    return asks and words[-1] in _SPEAKING and _first_word(after) in _GOES_ON and _TELLING.isdisjoint(after.split())


def _is_adjective(tag: Tag, plain: str) -> bool:
    """Whether it stands before a noun in a sentence that tells nothing: `the [private] channel is noisy`."""
    before, after = _sentence(tag, plain)
    words = before.split()
    return bool(words) and words[-1] in _SPEAKING and _first_word(after) != "" and _tells_nothing(after)


def _is_part_of_sentence(tag: Tag, text: str, plain: str) -> bool:
    """Whether a sentence goes on behind it with a word of grammar and tells nothing: `it shows <private> instead`.

    A name, a number or a word that announces a secret anywhere in the line makes it a section, and so does a
    sentence that begins at the tag.
    """
    before, after = _sentence(tag, plain)
    words, first = before.split(), _first_word(after)
    if not words or not first or not words[-1].replace("'", "").isalpha() or _names_something(tag, text):
        return False
    if not _TELLING.isdisjoint(words) or not _tells_nothing(_without_tags(after)):
        return False
    last = words[-1]
    if len(words) == 1 and last in _MODALS:
        return first in _FOLLOWING or first.endswith(("ed", "ing"))
    if first in _FOLLOWING:
        return last in _PLACES_OF_A_NAME or last.removesuffix("s") in _PARTS or _is_verb(last)
    if first.endswith("s") and len(words) > 1 and (last in _SUBJECTS or last in _PARTS):
        return True
    return first.removesuffix("s") in _PARTS and (last in _SPEAKING or tag[2].endswith(BRACKET))


def _is_verb(word: str) -> bool:
    """Whether a word is something done with tags, in any form: `emits`, `emitting`, `escaped`."""
    for ending in ("", "s", "es", "d", "ed", "ing"):
        stem = word.removesuffix(ending)
        if stem in _VERBS or f"{stem}e" in _VERBS or (stem[-1:] == stem[-2:-1] and stem[:-1] in _VERBS):
            return True
    return False


def _names_something(tag: Tag, text: str) -> bool:
    """Whether a word behind it begins with a capital, and is neither an abbreviation nor the first of a sentence."""
    words = text[tag[1] : tag[1] + _REACH].partition("\n")[0].split()
    return any(word[:1].isupper() and not (word.rstrip(".,;:?!").isupper() and len(word) > 1) for word in words)


def _without_tags(part: str) -> str:
    """Return a part of a sentence with other tags as plain words, and without what sets off inline code."""
    words = [word.strip("`") for word in part.replace("code block", "block").split()]
    return " ".join([_bare(word) for word in words])


def _bare(word: str) -> str:
    inner = word.rstrip(".,;:?!")
    is_tag = inner[:1] + inner[-1:] in ("<>", "[]") and inner[1:-1].strip("/").isalpha()
    return inner[1:-1].strip("/") if is_tag else word


def _is_closing_named(tag: Tag, plain: str) -> bool:
    """Whether a closing tag is only spoken of: `I forgot the </private> at the end`."""
    before, after = _sentence(tag, plain)
    words = before.split()
    spoken = bool(words) and words[-1] in _SPEAKING and (_first_word(after) in _GOES_ON or after[:1] in (".", ",", "?"))
    whole = before == plain[: tag[0]]  # it would hide all that stands before it, and that is all of the sentence
    return spoken and whole and _tells_nothing(before)


def _sentence(tag: Tag, plain: str) -> tuple[str, str]:
    """Return what stands before and behind a tag on its line, as far as that is looked at."""
    before = plain[max(0, tag[0] - _REACH) : tag[0]].rpartition("\n")[2]
    return (before if before[-1:] == " " else ""), plain[tag[1] : tag[1] + _REACH].partition("\n")[0]


def _first_word(after: str) -> str:
    word = after[1:].partition(" ")[0].rstrip(".,;:?!") if after[:1] == " " else ""
    return word if word.replace("'", "").isalpha() else ""


def _tells_nothing(part: str) -> bool:
    """Whether a part of a sentence is of plain words alone, none of which announces a secret."""
    plain = part.replace(",", " ").replace(".", " ").replace("?", " ").replace("!", " ").replace("'", "")
    words = plain.split()
    return all(word.isalpha() and word.isascii() for word in words) and _TELLING.isdisjoint(words)


def _is_link(plain: str, start: int, end: int) -> bool:
    """Whether it is a link's text, in markdown or in a wiki's double brackets, or the name of a link's address."""
    after = plain[end : end + 1]
    is_reference = after == ":" and plain[end + 1 : end + 20].lstrip().startswith(
        ("http:", "https:", "<http", "./", "#")
    )
    before = plain[start - 1 : start] if start else ""
    return is_reference or before == "]" or (after != "" and after in "([") or (before == "[" and after == "]")


def _begins_line(plain: str, start: int) -> bool:
    """Whether nothing but signs of markdown, of a diff or of a comment stands before it on its line."""
    line = plain[max(0, start - _REACH) : start].rpartition("\n")[2]
    return not line.strip(" \t>#*+-/|!<")
