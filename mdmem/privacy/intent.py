"""Intent: whether a private tag without a partner begins a section, or is only mentioned.

The rules of `is_mention` look only at the tag's own line, so that a mention stays one wherever its text is copied. In
doubt, a tag begins a section.
"""

from __future__ import annotations

from mdmem.privacy import everyday, paired
from mdmem.privacy.tags import BRACKET, CLOSES, COMMENT, EMPTY, SHOUT, Tag

_KINDS = frozenset(["attribute", "attributes", "element", "elements", "section", "sections", "tag", "tags"])
"""Nouns after a tag that somebody mentions: `the <private> tag`."""

_KINDS_IN_PROSE = _KINDS | frozenset(
    """
    annotation block blocks bracket brackets directive generic header heading keyword label labels marker markers
    notation placeholder syntax
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
"""The same for a tag that does not begin its line. At the start of a line, these words could begin a private text."""

_BEFORE_A_NAME = frozenset(
    """
    a about an and as between by called chapter element in labeled like marked marker named of or tag tagged
    tags than the to use using via vs with without
    """.split()  # noqa: SIM905
)
"""Words before a tag that a sentence mentions: `marked with <private>, and …`."""

_ASKS = frozenset(["are", "can", "did", "do", "does", "how", "is", "should", "what", "when", "where", "which", "why"])
"""Words that begin a question."""

_GOES_ON = frozenset(
    """
    actually affect after and anyway are at be because before break can change do does end exactly exist for from
    get gets hide hides if in instead is isn't keep keeps like mean means not on or stops support supported to use
    used when with without work works
    """.split()  # noqa: SIM905
)
"""Words that follow a tag in a sentence about it: `why does <private> not work here?`."""

_SPEAKING = _ASKS | frozenset(
    """
    a an about add adding another any called close closing each every forgot left like lone missing my new no of old
    opening our put remove single some stray that the their these this those typed unclosed use using via without
    write wrote your
    """.split()  # noqa: SIM905
)
"""Words before a tag that is mentioned, or before a word in brackets: `the [private] channel`."""

_FOLLOWING = _GOES_ON | frozenset(
    """
    about above across against allowed along among around as behind being below between but by can't cannot
    correctly did doesn't don't during either even everywhere except had has have here inside into isn't may might
    must near needs nested never next off once only onto out outside over rather shall should silently since so
    somewhere than then there through toward towards twice more under unless until up upon versus vs was wasn't were
    where whether which while will within won't would yet
    """.split()  # noqa: SIM905
)
"""Function words that continue a sentence about the tag before them. Private text hardly begins with one."""

_BEGINNINGS = frozenset(["i", "it", "please", "they", "this", "that", "the", "we", "you"]) | _FOLLOWING | _ASKS
"""Words that may have a capital letter only because they begin the next sentence."""

_SUBJECTS = frozenset(["how", "if", "often", "only", "when", "where", "whether", "why"])
"""Words before a tag that is the subject of a clause: `how <private> works`."""

_VERBS = frozenset(
    """
    accept allow appear append autocomplete become behave break catch choke close conflict contain convert count
    cover detect differ disappear display document drop emit encrypt escape exclude expect filter find flag forget
    get handle hide highlight hit ignore interact interfere include insert keep leave list look make mark match
    mention miss move need nest occur open output parse pass print produce read recognize reject rename render
    replace return sanitize saw search see show skip split store strip support swallow take test tokenize treat
    unescape want wants wrap write
    """.split()  # noqa: SIM905
)
"""Stems of verbs for what programs and their authors do with a tag: `it emits <private> for …`."""

_MODALS = frozenset(["are", "can", "could", "did", "do", "does", "has", "is", "may", "must", "should", "will", "would"])
"""Words that begin a question about the tag after them: `can <private> have attributes`."""

_PLACES_OF_A_NAME = (
    _BEFORE_A_NAME
    | _SPEAKING
    | _SUBJECTS
    | frozenset(["after", "at", "before", "for", "from", "header", "inside", "into", "on", "section", "where"])
) - _MODALS
"""Words before a tag in a sentence about it."""

_PARTS = frozenset(
    """
    annotation attribute badge branch button cell channel child class column component constructor directory element
    endpoint entry field flag folder function group icon item keyword label line link list macro marker member
    method mode modifier module namespace network node option package parameter prefix property register repo
    repositorie repository row scope string subnet suffix symbol tab tooltip type value variable view word
    """.split()  # noqa: SIM905
)
"""Nouns for things in programs and on screens, in the singular: `the <private> column`."""

_TELLING = frozenset(
    """
    address boss card client code codename confidential credentials customer divorce fired key layoffs merger name
    nobody number passcode passphrase password patient phone pin remember salary secret token
    """.split()  # noqa: SIM905
)
"""Words that announce something private in a sentence."""

_WORDS_FOR_TAG = frozenset(
    "balise balises etiket etikett etiqueta etiquetas tag tagg tags znacznik тег тега теги тегом тэг".split()  # noqa: SIM905
)
"""Words for a tag in other languages, before it: `la etiqueta <private>`."""

_KINDS_BEHIND = ("タグ", "标签", "標籤", "태그")
"""Words for a tag after it, in scripts without blanks."""

_ASKED_ELSEWHERE = frozenset(
    """
    was warum wie wieso weshalb wo wofür wozu wann que qu'est-ce pourquoi comment où quand qué cómo como cuándo dónde
    para por porque che cosa perché quando dove o что почему как где зачем wat waarom hoe co dlaczego jak
    """.split()  # noqa: SIM905
)
"""Words that begin a question in other languages."""

_SPOKEN_ELSEWHERE = _WORDS_FOR_TAG | frozenset(
    """
    das der den dem die ein einen wird ist kann macht darf muss soll le la les un une el los las est fait peut es hace
    puede il lo è fa può os as um uma é faz pode het de een wordt kan doet делает работает
    """.split()  # noqa: SIM905
)
"""Words before a tag that is mentioned in another language."""

_GOES_ON_ELSEWHERE = frozenset(
    """
    nicht im in aus bei und oder ist wird werden auch als vor nach wenn genau eigentlich richtig hier
    dans ne n'est et ou sans pas sur est quand si en no es y sin se cuando del hace non è e o
    nel nella na não é sem em quando do da dos в не и или без при на из niet en of w nie i jest
    """.split()  # noqa: SIM905
)
"""Words that follow a mentioned tag in other languages."""

_NOUNS = frozenset("ausgabe browser code datei editor html json markdown prompt readme text titel vault xml".split())  # noqa: SIM905
"""Nouns that may have a capital in a question in another language. Any other capitalized word may be a name."""

_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’"}
_DATA = frozenset(",:]}")
_REACH = 200
"""How much of the line is examined on each side of a tag, in characters."""


def is_mention(tag: Tag, text: str, plain: str, last_closed: int) -> bool:
    """Whether a lone tag is only mentioned. `plain` is the text's shadow (`disguises`).

    last_closed: end of the last pair of tags in square brackets. Before it, brackets are tags.
    """
    start, _, family, does = tag
    if any(applies(tag, plain) for applies in _ALWAYS) or any(applies(tag, text) for applies in _BY_CASE):
        return True
    if does == CLOSES:
        return _is_closing_named(tag, plain)
    if not family.endswith(SHOUT) and start > last_closed and _is_part_of_sentence(tag, text, plain):
        return True
    is_bracket = family.endswith((BRACKET, SHOUT))
    if is_bracket and start <= last_closed:
        return family.endswith(SHOUT)
    return (
        family.endswith(SHOUT)
        or _is_named(tag, text, plain)
        or _is_asked_about(tag, plain)
        or (is_bracket and (_is_link(tag, plain) or _is_index(tag, plain) or _is_adjective(tag, text, plain)))
    )


def _in_code(tag: Tag, plain: str) -> bool:
    """Whether a tag ends a span of inline code, followed only by signs: `List<Private>` between backticks."""
    start, end = tag[0], tag[1]
    if plain[start - 1 : start] == "`" == plain[end : end + 1]:
        return True
    line = plain[plain.rfind("\n", max(0, start - _REACH), start) + 1 : start][-_REACH:]
    rest, closed, _ = plain[end : end + _REACH].partition("\n")[0].partition("`")
    return bool(closed) and line.count("`") % 2 == 1 and not any(map(str.isalnum, rest))


def _is_pattern(tag: Tag, plain: str) -> bool:
    """Whether a tag is a regular expression between slashes, with or without flags: `/<private>/i`."""
    start, end = tag[0], tag[1]
    before = plain[max(0, start - 2) : start]
    if before[-1:] != "/" or plain[end : end + 1] != "/" or before[:-1].strip(" \t\n(=,[!`'"):
        return False
    flags = plain[end + 1 : end + 4].rstrip(" \t\n.,;:?!)]`\"'")
    return flags.split(" ")[0] in ("g", "gi", "i", "ig")


def _is_code(tag: Tag, plain: str) -> bool:
    """Whether a program searches for a tag or has it as a string: `s/<private>/…/`, `TAG = "<private>"`."""
    start, end = tag[0], tag[1]
    is_looked_for = plain[end : end + 1] == "/" and paired.is_looked_for(plain, start)
    return is_looked_for or paired.is_literal(plain, start, end)


def _is_in_template(tag: Tag, plain: str) -> bool:
    """Whether a tag is text between two commands of a template: `{% if repo.private %}[private]{% endif %}`."""
    return plain[tag[0] - 2 : tag[0]] in ("%}", "}}") and plain[tag[1] : tag[1] + 2] in ("{%", "{{")


def _is_component(tag: Tag, text: str) -> bool:
    """Whether a tag is an empty component with a capitalized name, as in JSX: `<Private path="/x" />`."""
    return tag[3] == EMPTY and text.startswith("<Private ", tag[0])


def _in_quotes(tag: Tag, plain: str) -> bool:
    """Whether the tag alone is in quotation marks in a sentence. In a list of strings, it may be a line of a file."""
    start, end = tag[0], tag[1]
    before, after = plain[start - 1 : start] if start else "", plain[end : end + 1]
    return bool(after) and _QUOTES.get(before) == after and plain[end + 1 : end + 2] not in _DATA


def _is_called_a_tag(tag: Tag, plain: str) -> bool:
    rest = plain[tag[1] : tag[1] + 40].partition("\n")[0].lstrip("`\"'”’»* -")
    if rest.startswith(_KINDS_BEHIND):
        return True
    word = rest[: len(rest) - len(rest.lstrip("abcdefghijklmnopqrstuvwxyz"))]
    if tag[2].endswith(COMMENT) and word in ("comment", "comments"):
        return True
    return word in (_KINDS if _begins_line(plain, tag[0]) else _KINDS_IN_PROSE)


def _is_one_of_several(tag: Tag, plain: str) -> bool:
    """Whether another tag is mentioned right after it: `<private> and <public>`, `[private], [public]`."""
    rest = plain[tag[1] : tag[1] + 60].partition("\n")[0].lstrip("`")
    between, opened, name = rest.partition(plain[tag[0]])
    word, closed, _ = name.partition({"[": "]", "<": ">"}.get(opened, "\0"))
    joined = between.strip() != "" and between.strip(" ,`") in _JOINING
    return joined and bool(closed) and word.strip("/").isalnum() and len(word) > 3  # <b> is markup


_JOINING = frozenset(["", "and", "or", "vs", "versus", "to", "not", "into", "with", "instead of", "rather than"])


def _is_generic(tag: Tag, text: str) -> bool:
    r"""Whether a tag is a type parameter: `List<Private>`, `Vec::<Private>`; also in Markdown, `List\<Private>`."""
    start, end = tag[0], tag[1]
    if text[start:end] != "<Private>":
        return False
    before = text[max(start - 3, 0) : start].removesuffix("\\")[-2:]
    return before[-1:].isalnum() or before[-1:] == "_" or before == "::"


def _is_format_code(tag: Tag, text: str) -> bool:
    """Whether a tag is a format code of Perl's documentation (`C<private>`) or a word pattern (`\\<private\\>$`)."""
    start, end = tag[0], tag[1]
    before, after = text[start - 1 : start], text[end : end + 1]
    is_code = (
        before != ""
        and before in ("L" if tag[3] == CLOSES else "BCEFILSX")
        and not text[start - 2 : start - 1].isalnum()
    )
    is_pattern = text.startswith("\\>", end - 2) and bool(after.strip()) and not after.isalnum()
    return is_pattern or (is_code and text[start] == "<")


def _is_index(tag: Tag, plain: str) -> bool:
    """Whether a tag is an index: `values[private]`."""
    before = plain[tag[0] - 1 : tag[0]] if tag[0] else ""
    return before.isalnum() or (before != "" and before in "_)]")


def _is_named(tag: Tag, text: str, plain: str) -> bool:
    """Whether a sentence uses a tag as a name: `Does it know <private>?`, `with <private>, …`."""
    start, end = tag[0], tag[1]
    sign = plain[end : end + 1]
    if _begins_line(plain, start) or (sign.strip() and plain[end + 1 : end + 2].strip()):
        return False
    if sign and sign in "?)":
        return True
    last = plain[max(0, start - _REACH) : start].split()[-1:]
    if sign in ("", "\n"):
        return _is_second(tag, plain) and not {"from", *_BEFORE_A_NAME}.isdisjoint(last)
    tells = _names_something(tag, text) or any(map(str.isdigit, plain[end : end + _REACH].partition("\n")[0]))
    return sign in (",", ".", ";") and not tells and not _BEFORE_A_NAME.isdisjoint(last)


def _is_second(tag: Tag, plain: str) -> bool:
    """Whether its line has another tag of the same word before it: `how <private> differs from [private]`."""
    line = plain[max(0, tag[0] - _REACH) : tag[0]].rpartition("\n")[2]
    word = tag[2].rpartition("-")[0]
    return f"<{word}>" in line or f"[{word}]" in line


def _is_asked_about(tag: Tag, plain: str) -> bool:
    """Whether a question is about a tag: `why does <private> not work here?`."""
    before, after = _sentence(tag, plain)
    words = before.split()
    asks = "?" in after and not _ASKS.isdisjoint(words) and not any(map(_is_code_word, after.split()))
    return asks and words[-1] in _SPEAKING and _first_word(after) in _GOES_ON and _TELLING.isdisjoint(after.split())


def _is_code_word(word: str) -> bool:
    return word.count("-") > 1 or (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))


def _is_asked_about_elsewhere(tag: Tag, text: str) -> bool:
    """Whether a question in another language is about a tag, and has no name: `was macht <private> im Prompt?`."""
    before, after = _sentence(tag, text)
    words, rest = before.lower().replace("¿", "").split(), after.rstrip()
    behind = rest.strip("?! ").split()
    if not words or not rest.endswith("?") or rest[:1] not in (" ", "?") or not all(map(str.isalpha, behind)):
        return False
    if any(not word.islower() and word.isascii() and word.lower() not in _NOUNS for word in behind):
        return False
    if not _TELLING.isdisjoint(behind) or (behind and behind[0] not in _GOES_ON_ELSEWHERE):
        return False
    return words[-1] in _WORDS_FOR_TAG or (words[-1] in _SPOKEN_ELSEWHERE and words[0] in _ASKED_ELSEWHERE)


def _is_adjective(tag: Tag, text: str, plain: str) -> bool:
    """Whether a tag is an adjective in a sentence of everyday words: `the [private] channel is noisy`."""
    before, after = _sentence(tag, plain)
    if (_SPEAKING - _MODALS).isdisjoint(before.split()[-1:]) or not _first_word(after) or not _tells_nothing(after):
        return False
    is_plain = all(map(everyday.is_plain, after.translate(_PUNCTUATION).replace("-", " ").split()))
    return is_plain and not _names_something(tag, text)


def _is_part_of_sentence(tag: Tag, text: str, plain: str) -> bool:
    """Whether a tag is part of a sentence that reveals nothing: `it shows <private> instead`.

    The tag is a section if the sentence begins with it, if the rest of the line has a name or a number, or if the line
    has a word that announces a secret.
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
    if _is_verb(first) and words[0] in _ASKS and "?" in after and last in _MODALS | _PLACES_OF_A_NAME:
        return True
    if first.endswith("s") and len(words) > 1 and (last in _SUBJECTS or last in _PARTS):
        return True
    if first.endswith("s") and last in _PLACES_OF_A_NAME and _is_verb(first):
        return True
    return first.removesuffix("s") in _PARTS and (last in _SPEAKING or tag[2].endswith(BRACKET))


def _is_verb(word: str) -> bool:
    """Whether a word is a form of one of `_VERBS`: `emits`, `emitting`, `escaped`."""
    stems = [word.removesuffix(ending) for ending in ("", "s", "es", "d", "ed", "ing")]
    doubled = [stem[:-1] for stem in stems if stem[-1:] == stem[-2:-1]]
    return not _VERBS.isdisjoint([*stems, *[f"{stem}e" for stem in stems], *doubled])


def _names_something(tag: Tag, text: str) -> bool:
    """Whether a capitalized word follows that is no abbreviation and does not just begin a sentence."""
    words = text[tag[1] : tag[1] + _REACH].partition("\n")[0].split()
    ends = [" ", *[word[-1] for word in words]]
    return any(
        word[:1].isupper()
        and not (word.rstrip(".,;:?!").isupper() and len(word) > 1)
        and not (end in ".?!" and (word.lower().rstrip(",") in _BEGINNINGS or _is_verb(word.lower())))
        for word, end in zip(words, ends, strict=False)
    )


def _without_tags(part: str) -> str:
    """Return a part of a sentence with other tags turned into plain words, and without backticks."""
    words = [word.strip("`") for word in part.replace("code block", "block").replace("in code", "in text").split()]
    return " ".join([_bare(word) for word in words])


def _bare(word: str) -> str:
    inner = word.rstrip(".,;:?!")
    is_tag = inner[:1] + inner[-1:] in ("<>", "[]") and inner[1:-1].strip("/").isalpha()
    return inner[1:-1].strip("/") if is_tag else word


def _is_closing_named(tag: Tag, plain: str) -> bool:
    """Whether a closing tag is only mentioned: `I forgot the </private> at the end`."""
    before, after = _sentence(tag, plain)
    words = before.split()
    spoken = bool(words) and words[-1] in _SPEAKING and (_first_word(after) in _GOES_ON or after[:1] in (".", ",", "?"))
    whole = before == plain[: tag[0]]  # it would hide all text before it, which must be this sentence only
    return spoken and whole and _tells_nothing(before)


def _sentence(tag: Tag, plain: str) -> tuple[str, str]:
    """Return the text before and after a tag on its line, up to `_REACH` characters each."""
    before = plain[max(0, tag[0] - _REACH) : tag[0]].rpartition("\n")[2]
    return (before if before[-1:] == " " else ""), plain[tag[1] : tag[1] + _REACH].partition("\n")[0]


def _first_word(after: str) -> str:
    word = after[1:].partition(" ")[0].rstrip(".,;:?!") if after[:1] == " " else ""
    return word if word.replace("'", "").isalpha() else ""


def _tells_nothing(part: str) -> bool:
    """Whether a part of a sentence has only plain ASCII words, none of which announces a secret."""
    words = part.translate(_PUNCTUATION).split()
    return all(word.replace("-", "", 1).isalpha() and word.isascii() for word in words) and _TELLING.isdisjoint(words)


_PUNCTUATION = str.maketrans({**dict.fromkeys(',.?!;()"`', " "), "'": None})


def _is_link(tag: Tag, plain: str) -> bool:
    """Whether a tag is the text or the label of a link in Markdown, or a wiki link in double brackets."""
    start, end = tag[0], tag[1]
    after = plain[end : end + 1]
    is_reference = after == ":" and plain[end + 1 : end + 20].lstrip().startswith(
        ("http:", "https:", "<http", "./", "#")
    )
    before = plain[start - 1 : start] if start else ""
    return is_reference or before == "]" or (after != "" and after in "([") or (before == "[" and after == "]")


def _begins_line(plain: str, start: int) -> bool:
    """Whether only signs of Markdown, a diff or a comment precede `start` on its line."""
    line = plain[max(0, start - _REACH) : start].rpartition("\n")[2]
    return not line.strip(" \t>#*+-/|!<")


_ALWAYS = (_in_code, _in_quotes, _is_called_a_tag, _is_one_of_several, _is_pattern, _is_code, _is_in_template)
_BY_CASE = (_is_format_code, _is_component, _is_generic, _is_asked_about_elsewhere)
"""Rules that each recognize a mention: `_ALWAYS` reads the text's shadow, `_BY_CASE` the text itself."""
