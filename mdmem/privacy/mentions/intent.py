"""Intent: whether a private tag without a partner begins a section, or is only mentioned.

The rules of `is_mention` look only at the tag's own line, so that a mention stays one wherever its text is copied. In
doubt, a tag begins a section.
"""

from __future__ import annotations

from mdmem.privacy import everyday
from mdmem.privacy.mentions import paired
from mdmem.privacy.mentions.vocabulary import (
    AFTER_TAG,
    AFTER_TAG_IN_SENTENCE,
    BEFORE_NAME,
    BEFORE_SUBJECT,
    BEFORE_TAG,
    BEFORE_TAG_IN_SENTENCE,
    BETWEEN_TAGS,
    FOREIGN_AFTER_TAG,
    FOREIGN_BEFORE_TAG,
    FOREIGN_NOUNS,
    FOREIGN_QUESTION_WORDS,
    FOREIGN_TAG_NOUNS,
    MODALS,
    PRIVATE_TOPICS,
    PROGRAM_PARTS,
    QUESTION_WORDS,
    SENTENCE_BEGINNINGS,
    TAG_NOUNS,
    TAG_NOUNS_BEHIND,
    TAG_NOUNS_IN_PROSE,
    VERB_STEMS,
)
from mdmem.privacy.tags import BRACKET, CLOSES, COMMENT, EMPTY, SHOUT, Tag

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
    line = plain[max(0, start - _REACH) : start].rpartition("\n")[2]
    before_tick, closed, _ = plain[end : end + _REACH].partition("\n")[0].partition("`")
    return bool(closed) and line.count("`") % 2 == 1 and not any(map(str.isalnum, before_tick))


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
    after = plain[tag[1] : tag[1] + 40].partition("\n")[0].lstrip("`\"'”’»* -")
    if after.startswith(TAG_NOUNS_BEHIND):
        return True
    word = after[: len(after) - len(after.lstrip("abcdefghijklmnopqrstuvwxyz"))]
    if tag[2].endswith(COMMENT) and word in ("comment", "comments"):
        return True
    return word in (TAG_NOUNS if _begins_line(plain, tag[0]) else TAG_NOUNS_IN_PROSE)


def _is_one_of_several(tag: Tag, plain: str) -> bool:
    """Whether another tag is mentioned right after it: `<private> and <public>`, `[private], [public]`."""
    after = plain[tag[1] : tag[1] + 60].partition("\n")[0].lstrip("`")
    between, opened, name = after.partition(plain[tag[0]])
    word, closed, _ = name.partition({"[": "]", "<": ">"}.get(opened, "\0"))
    joined = between.strip() != "" and between.strip(" ,`") in BETWEEN_TAGS
    return joined and bool(closed) and word.strip("/").isalnum() and len(word) > 3  # <b> is markup


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
        return _is_second(tag, plain) and not {"from", *BEFORE_NAME}.isdisjoint(last)
    tells = _names_something(tag, text) or any(map(str.isdigit, plain[end : end + _REACH].partition("\n")[0]))
    return sign in (",", ".", ";") and not tells and not BEFORE_NAME.isdisjoint(last)


def _is_second(tag: Tag, plain: str) -> bool:
    """Whether its line has another tag of the same word before it: `how <private> differs from [private]`."""
    line = plain[max(0, tag[0] - _REACH) : tag[0]].rpartition("\n")[2]
    word = tag[2].rpartition("-")[0]
    return f"<{word}>" in line or f"[{word}]" in line


def _is_asked_about(tag: Tag, plain: str) -> bool:
    """Whether a question is about a tag: `why does <private> not work here?`."""
    before, after = _sentence(tag, plain)
    words = before.split()
    asks = "?" in after and not QUESTION_WORDS.isdisjoint(words) and not any(map(_is_code_word, after.split()))
    return (
        asks
        and words[-1] in BEFORE_TAG
        and _first_word(after) in AFTER_TAG
        and PRIVATE_TOPICS.isdisjoint(after.split())
    )


def _is_code_word(word: str) -> bool:
    return word.count("-") > 1 or (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))


def _is_asked_about_elsewhere(tag: Tag, text: str) -> bool:
    """Whether a question in another language is about a tag, and has no name: `was macht <private> im Prompt?`."""
    before, after = _sentence(tag, text)
    words, following = before.lower().replace("¿", "").split(), after.rstrip()
    words_after = following.strip("?! ").split()
    is_question = following.endswith("?") and following[0] in " ?"
    if not words or not is_question or not all(map(str.isalpha, words_after)):
        return False
    if any(not word.islower() and word.isascii() and word.lower() not in FOREIGN_NOUNS for word in words_after):
        return False
    if not PRIVATE_TOPICS.isdisjoint(words_after) or (words_after and words_after[0] not in FOREIGN_AFTER_TAG):
        return False
    return words[-1] in FOREIGN_TAG_NOUNS or (words[-1] in FOREIGN_BEFORE_TAG and words[0] in FOREIGN_QUESTION_WORDS)


def _is_adjective(tag: Tag, text: str, plain: str) -> bool:
    """Whether a tag is an adjective in a sentence of everyday words: `the [private] channel is noisy`."""
    before, after = _sentence(tag, plain)
    if (BEFORE_TAG - MODALS).isdisjoint(before.split()[-1:]) or not _first_word(after) or not _tells_nothing(after):
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
    if not PRIVATE_TOPICS.isdisjoint(words) or not _tells_nothing(_without_tags(after)):
        return False
    last = words[-1]
    if len(words) == 1 and last in MODALS:
        return first in AFTER_TAG_IN_SENTENCE or first.endswith(("ed", "ing"))
    if first in AFTER_TAG_IN_SENTENCE:
        return last in BEFORE_TAG_IN_SENTENCE or _singular(last) in PROGRAM_PARTS or _is_verb(last)
    if _is_verb(first) and words[0] in QUESTION_WORDS and "?" in after and last in MODALS | BEFORE_TAG_IN_SENTENCE:
        return True
    if first.endswith("s") and len(words) > 1 and (last in BEFORE_SUBJECT or last in PROGRAM_PARTS):
        return True
    if first.endswith("s") and last in BEFORE_TAG_IN_SENTENCE and _is_verb(first):
        return True
    return _singular(first) in PROGRAM_PARTS and (last in BEFORE_TAG or tag[2].endswith(BRACKET))


def _singular(word: str) -> str:
    """Return the singular of a regular plural, such as `entries`, `classes` or `columns`; any other word unchanged."""
    if word.endswith("ies"):
        return f"{word.removesuffix('ies')}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word.removesuffix("es")
    return word if word.endswith(("ss", "us", "is")) else word.removesuffix("s")


def _is_verb(word: str) -> bool:
    """Whether a word is a form of one of `VERB_STEMS`: `emits`, `emitting`, `escaped`."""
    stems = [word.removesuffix(ending) for ending in ("", "s", "es", "d", "ed", "ing")]
    doubled = [stem[:-1] for stem in stems if stem[-1:] == stem[-2:-1]]
    return not VERB_STEMS.isdisjoint([*stems, *[f"{stem}e" for stem in stems], *doubled])


def _names_something(tag: Tag, text: str) -> bool:
    """Whether a capitalized word follows that is not an abbreviation and does not just begin a sentence."""
    words = text[tag[1] : tag[1] + _REACH].partition("\n")[0].split()
    ends = [" ", *[word[-1] for word in words]]
    return any(
        word[:1].isupper()
        and not (word.rstrip(".,;:?!").isupper() and len(word) > 1)
        and not (end in ".?!" and (word.lower().rstrip(",") in SENTENCE_BEGINNINGS or _is_verb(word.lower())))
        for word, end in zip(words, ends, strict=False)
    )


def _without_tags(part: str) -> str:
    """Return a part of a sentence with other tags turned into plain words, and without backticks."""
    words = [word.strip("`") for word in part.replace("code block", "block").replace("in code", "in text").split()]
    return " ".join([_bare_word(word) for word in words])


def _bare_word(word: str) -> str:
    inner = word.rstrip(".,;:?!")
    is_tag = inner[:1] + inner[-1:] in ("<>", "[]") and inner[1:-1].strip("/").isalpha()
    return inner[1:-1].strip("/") if is_tag else word


def _is_closing_named(tag: Tag, plain: str) -> bool:
    """Whether a closing tag is only mentioned: `I forgot the </private> at the end`."""
    before, after = _sentence(tag, plain)
    words = before.split()
    spoken = (
        bool(words) and words[-1] in BEFORE_TAG and (_first_word(after) in AFTER_TAG or after[:1] in (".", ",", "?"))
    )
    whole = len(before) == tag[0]  # it would hide all text before it, which must be this sentence only
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
    return all(word.replace("-", "", 1).isalpha() and word.isascii() for word in words) and PRIVATE_TOPICS.isdisjoint(
        words
    )


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
