"""Steps: splits a shell command into the programs that it runs."""

from __future__ import annotations

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 2000
"""Maximum length of a command that is split; the rest is left out."""
_HERE = lazy(r"(?s)(?<!<)<<-?[ \t]*(['\"]?)([A-Za-z_][\w.-]*)\1(?:([^\n]*)\n(?:.*?\n)??[ \t]*\2[ \t]*(?=\n|\Z)|.*)")
_TOKEN = lazy(
    r"(?s)(?P<none>(?<!\S)#[^\n]*|\\\r?\n\s*|(?<=\s)\\\s+)"
    r"|(?P<output>(?:(?<!\S)[\d*])?&?>[>|]?\s*(?:&[\d-]|>?\([^)]*\)|[^\s;|&()]+))"
    r"|(?P<join>&&|\|\||\|&|[|;\n&])"
    r"|(?P<here><<(?!<))"
    r"|(?P<typed>'[^']*(?:'|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)|\$\([^()]*\)|<<<|\\.|.)"
)
"""A command that was cut may end within a quote, which then holds all of the rest, so that no step ends there."""


class Step(NamedTuple):
    """One program that a command runs.

    typed: without comments and where its output goes. piped: the programs whose output it reads, joined by `|`, or "".
    joined: what joins it to the step before: `&&`, `;` or "". groups: the places of the parentheses around it.
    """

    typed: str
    piped: str
    joined: str
    groups: tuple[int, ...]

    @property
    def in_full(self) -> str:
        """Return the step after those whose output it reads."""
        return f"{self.piped} | {self.typed}" if self.piped else self.typed


def split(command: str) -> Iterator[Step]:
    """Yield the steps of a command, without those that run only if another one fails or that read the lines below."""
    typed, piped, joined, is_other = "", "", "", False
    groups: tuple[int, ...] = ()
    around = groups
    for token in _TOKEN.finditer(_HERE.sub(lambda here: f"<<{here[3] or ''}", command[:MAX_CHARS]) + "\n"):
        kind, text, is_begun = token.lastgroup, token[0], bool(typed.strip())
        if kind == "here":
            is_other = True
        elif text == "(" and not is_begun:
            groups = (*groups, token.start())
        elif text == ")" and groups:
            groups = groups[:-1]
        elif kind == "typed" or (text == "&" and not is_begun):  # in PowerShell, `& program` runs it
            around = around if is_begun else groups
            typed += text
        elif kind == "join" and is_begun:
            step = Step(typed.strip(), piped, joined, around)
            if not is_other:
                yield step
            piped = step.in_full if text in ("|", "|&") else ""
            if not piped:
                joined, is_other = ("&&" if text == "&&" else ";"), text == "||"
            typed = ""
        else:
            typed += " " if is_begun and kind == "none" else ""
