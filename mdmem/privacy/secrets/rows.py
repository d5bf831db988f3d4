"""Secrets in the rows that a query prints without the columns' names: `sqlite3 x.db 'select user, password from …'`."""

from __future__ import annotations

from mdmem.privacy.secrets import names, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.printed import Lister
    from mdmem.privacy.secrets.scan import Span

_DELIMITERS = ("|", "\t", ",")
_AROUND = " \t\r\n\"'`[]()"
_LONGEST_COMMAND = 2048


def selected_by(command: str) -> Lister | None:
    """Return what finds the secrets in the output of a command that selects several columns, one with secrets."""
    query = command[:_LONGEST_COMMAND].lower().partition("select ")[2]
    listed, is_query, _ = query.partition(" from ")
    heads = [names.weigh(column.rpartition(" ")[2].strip(_AROUND)) for column in map(str.strip, listed.split(","))]
    if not is_query or len(heads) < 2 or not any(weight >= names.LITERAL for weight, _ in heads):
        return None
    return lambda output: _in_rows(output, heads)


def _in_rows(output: str, heads: list[tuple[int, str]]) -> Iterator[Span]:
    """Find the secrets in lines with as many cells as `heads`, the weights and kinds of the columns' names."""
    at = 0
    for line in output.split("\n"):
        delimiter = next((sign for sign in _DELIMITERS if line.count(sign) == len(heads) - 1), "")
        start = at
        for (weight, kind), cell in zip(heads, line.split(delimiter) if delimiter else (), strict=False):
            core = cell.strip(_AROUND)
            if weight >= names.LITERAL and " " not in core and values.is_secret(core, names.STRONG, quoted=True):
                begin = start + cell.index(core)
                yield begin, begin + len(core), kind
            start += len(cell) + 1
        at += len(line) + 1
