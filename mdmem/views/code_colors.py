"""Colors for code: comments, strings, numbers and keywords of common languages, found in one pass.

Notes are hostile input: the lexers of a library take quadratic time on some. Here, one expression for each family of
languages never reads a text twice; what it does not know, it leaves as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import NamedTuple

_HASH = r"(?<!\S)#[^\n]*+"
_SLASHES = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_DOUBLE = r'"(?:[^"\\\n]|\\.)*+"?'
_SINGLE = r"(?<!\w)'(?:[^'\\\n]|\\.)*+'?"
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n][^'\n]{0,8})'"  # a lifetime of Rust, 'a, is none
_BACKTICKS = r"`(?:[^`\\]|\\[\s\S])*+`?"
_TRIPLE = r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:""")?|' + r"'''(?:[^'\\]|\\[\s\S]|'(?!''))*+(?:''')?"
_PYTHON_STRING = rf"(?<!\w)(?:[bfrtuBFRTU]{{1,2}}(?=[\"']))?(?:{_TRIPLE}|{_DOUBLE}|'(?:[^'\\\n]|\\.)*+'?)"
_SETTING = r"(?m:^[ \t]*+(?:- )?+[\w.-]++(?=[ \t]?[:=](?:\s|\Z)))|(?m:^\[[\w. -]++\])"
_TAG = r"</?[A-Za-z][\w:.-]*+|/?>"

_PYTHON = (
    "False None True and as assert async await break class continue def del elif else except finally for from "
    "global if import in is lambda nonlocal not or pass raise return self try while with yield"
)
_JAVASCRIPT = (
    "as async await break case catch class const continue declare default delete do else enum export extends false "
    "finally for from function if implements import in instanceof interface let new null of private protected "
    "public readonly return static super switch this throw true try type typeof undefined var void while yield"
)
_GO = (
    "break case chan const continue default defer else fallthrough false for func go goto if import interface map "
    "nil package range return select struct switch true type var"
)
_C = (
    "abstract as async auto await bool boolean break case catch char class const constexpr continue crate default "
    "delete do double dyn else enum extends extern false final finally float fn for fun goto if impl implements "
    "import in int interface internal let long loop match mod move mut namespace new null nullptr override package "
    "private protected pub public return self short signed sizeof static struct super switch template this throw "
    "throws trait true try typedef typename union unsafe unsigned use using val var virtual void volatile when "
    "where while yield"
)
_SHELL = (
    "alias case do done echo elif else esac exit export fi for function if in local read readonly return set shift "
    "source then trap unset until while"
)
_RUBY = (
    "and begin break case class def do else elsif end ensure false for function if in local module my next nil not "
    "or repeat require rescue retry return self sub super then true undef unless until use when while yield"
)
_SQL = (
    "add all alter and as asc begin between by case check commit constraint create cross delete desc distinct drop "
    "else end exists false foreign from full group having if in index inner insert into is join key left like limit "
    "not null offset on or order outer over partition primary references returning right rollback select set table "
    "then true union unique update using values view when where with"
)
_DATA = "False True false no null off on true yes"


class _Family(NamedTuple):
    """Languages that look alike. expressions: of what has a color, by its class. words: the keywords."""

    expressions: dict[str, str]
    words: str


_FAMILIES = {
    "py pyi python": _Family({"c": _HASH, "s": _PYTHON_STRING}, _PYTHON),
    "javascript js jsx mjs svelte ts tsx typescript vue": _Family(
        {"c": _SLASHES, "s": f"{_DOUBLE}|{_SINGLE}|{_BACKTICKS}"}, _JAVASCRIPT
    ),
    "go": _Family({"c": _SLASHES, "s": f"{_DOUBLE}|{_CHARACTER}|{_BACKTICKS}"}, _GO),
    "c cc cpp cs csharp groovy h hpp java kotlin kt objectivec proto rs rust scala solidity swift zig": _Family(
        {"c": _SLASHES, "s": f"{_DOUBLE}|{_CHARACTER}"}, _C
    ),
    "css dart less php scss": _Family({"c": _SLASHES, "s": f"{_DOUBLE}|{_SINGLE}"}, _C),
    "bash dockerfile fish ksh makefile sh shell zsh": _Family({"c": _HASH, "s": f"{_DOUBLE}|{_SINGLE}"}, _SHELL),
    "elixir julia perl r rb ruby": _Family({"c": _HASH, "s": f"{_DOUBLE}|{_SINGLE}"}, _RUBY),
    "lua": _Family({"c": r"--[^\n]*+", "s": f"{_DOUBLE}|{_SINGLE}"}, _RUBY),
    "psql sql": _Family({"c": rf"--[^\n]*+|{_SLASHES}", "s": f"{_SINGLE}|{_DOUBLE}"}, f"{_SQL} {_SQL.upper()}"),
    "json json5 jsonc jsonl": _Family({"c": _SLASHES, "k": rf"{_DOUBLE}(?=[ \t]*:)", "s": _DOUBLE}, _DATA),
    "cfg conf hcl ini properties terraform tf toml yaml yml": _Family(
        {"c": _HASH, "k": _SETTING, "s": rf"(?<!\w){_DOUBLE}|{_SINGLE}"}, _DATA
    ),
    "htm html svg xml": _Family(
        {"c": r"<!--(?:[^-]|-(?!->))*+(?:-->)?", "k": _TAG, "s": r"(?<==)(?:\"[^\"]*+\"?|'[^']*+'?)"}, ""
    ),
}
_BY_NAME = {name: names for names in _FAMILIES for name in names.split()}
_WORDS = {names: frozenset(family.words.split()) for names, family in _FAMILIES.items()}


@lru_cache(maxsize=len(_FAMILIES))
def _pattern(names: str) -> re.Pattern[str]:
    """Return the expression of a family: classes by name, and `w` for words, which may be keywords."""
    parts = [f"(?P<{name}>{expression})" for name, expression in _FAMILIES[names].expressions.items()]
    return re.compile("|".join([*parts, r"(?P<n>(?<![\w.])\d[\w.]*+)", r"(?P<w>(?<![.\w])[^\W\d]\w*+)"]))


def languages() -> frozenset[str]:
    """Return the names of the languages that have colors."""
    return frozenset(_BY_NAME)


def html(code: str, language: str) -> str:
    """Return code as the content of an element: comments (c), strings (s), numbers (n) and keywords (k) have a class.

    language: in lowercase, as a fence names it; code in another one is returned without classes.
    """
    names = _BY_NAME.get(language)
    if names is None:
        return escape(code, quote=False)
    words = _WORDS[names]
    parts: list[str] = []
    end = 0
    for found in _pattern(names).finditer(code):
        kind = found.lastgroup
        if kind == "w":
            if found[0] not in words:
                continue
            kind = "k"
        before, colored = code[end : found.start()], escape(found[0], quote=False)
        parts += (escape(before, quote=False), f'<span class="{kind}">{colored}</span>')
        end = found.end()
    return f"{''.join(parts)}{escape(code[end:], quote=False)}"
