"""Secrets named by the heading of a block: `passwords:`, `chpasswd <<EOF`, `kind: Secret` of Kubernetes."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import literals, names, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

_DATA = ("data:", "stringdata:", "binarydata:")
_DEEPEST = 64  # columns that an object in a list is indented
_LONGEST_LINES = 2000  # characters of lines for `chpasswd`, or of the members of an object
_LONGEST_MANIFEST = 64 * 1024  # characters searched for the kind of a Kubernetes object
_MOST_MEMBERS = 1000
_SHORTEST_MEMBER = 4  # characters of a value in a block


def find(text: str, low: str) -> Iterator[Span]:
    """Find the secrets in blocks, in ascending order for each kind of block. low: the text in lower case."""
    yield from _blocks(text, low)
    yield from _kubernetes(text, low)
    if '"kind": "secret"' in low or '"kind":"secret"' in low:
        yield from _kubernetes_json(text, low, '"data":')
    if '"stringdata":' in low:
        yield from _kubernetes_json(text, low, '"stringdata":')


def _blocks(text: str, low: str) -> Iterator[Span]:
    """Find the values of the indented lines in `passwords:⏎  bob: …`."""
    for _, end in secrets.occurrences(low, "chpasswd <<"):
        begin = literals.line_end(text, end) + 1
        for at, line in literals.lines(text[begin : begin + _LONGEST_LINES], begin):
            user, colon, password = line.rstrip().partition(":")
            if not colon:
                break
            if values.is_secret(password):
                yield at + len(user) + 1, at + len(user) + 1 + len(password), "password"
    for _, end in secrets.occurrences(low, '"secrets":', '"passwords":'):
        members, closing, _ = text[end : end + _LONGEST_LINES].partition("}")
        if closing and "{" in members[:3] and members.count("{") == 1:
            from mdmem.privacy.secrets import printed

            yield from ((end + first, end + last, "secret") for first, last in printed.json_values(members))
    for at, end in secrets.occurrences(low, "passwords:", "secrets:", "chpasswd:"):
        if not text[end : literals.line_end(text, end)].strip():
            yield from _members(text, at, "secret" if low[at] == "s" else "password")


def _kubernetes(text: str, low: str) -> Iterator[Span]:
    """Find all values below `data:` in a manifest with `kind: Secret`, or in such an item of a list of manifests."""
    for kind in ("kind: secret", 'kind: "secret"', "kind: 'secret'"):
        done = 0
        for at, _ in secrets.occurrences(low, kind):
            if at < done:
                continue
            depth = len(literals.line_before(low, at, _DEEPEST))
            item = f"\n{' ' * (depth - 2)}- " if depth > 1 else "\n---"
            begin = max(0, low.rfind(item, max(0, at - _LONGEST_MANIFEST), at))
            done = low.find(item, at, at + _LONGEST_MANIFEST)
            done = done if done >= 0 else min(len(low), at + _LONGEST_MANIFEST)
            for start in _block_starts(low, begin, done, f"\n{' ' * depth}", item):
                yield from _members(text, start, "secret", every=True)


def _block_starts(low: str, begin: int, end: int, *before: str) -> Iterator[int]:
    """Yield where a block of a secret starts in a manifest: at its beginning, or after one of these signs."""
    for block in _DATA:
        if low.startswith(block, begin):
            yield begin
        for sign in before:
            start = low.find(sign + block, begin, end)
            if start >= 0:
                yield start + len(sign)


def _kubernetes_json(text: str, low: str, block: str) -> Iterator[Span]:
    """Find every value in a block of `{"data": {…}, "kind": "Secret"}`, or of each item in a list of secrets."""
    for _, at in secrets.occurrences(low, block):
        name = _string_behind("{", text, at)
        while name and (value := _string_behind(":", text, name[1] + 1)):
            if value[1] - value[0] >= _SHORTEST_MEMBER:
                yield *value, "secret"
            name = _string_behind(",", text, value[1] + 1)


def _string_behind(sign: str, text: str, at: int) -> tuple[int, int] | None:
    """Return the span of a JSON string after a sign and white space; None if something else follows."""
    at = literals.skip_space(text, at)
    start = literals.skip_space(text, at + 1)
    if not text.startswith(sign, at) or not text.startswith('"', start):
        return None
    start += 1
    end = text.find('"', start)
    while end >= 0 and literals.is_escaped(text, start, end):
        end = text.find('"', end + 1)
    return start, end if end >= 0 else len(text)


def _members(text: str, at: int, kind: str, *, every: bool = False) -> Iterator[Span]:
    """Find the values of `name: value` lines that are indented below the line at `at`.

    every: all values count, also of several words or lines.
    """
    depth = at - (text.rfind("\n", max(0, at - 256), at) + 1)
    indent = 0
    for begin, line in literals.rows(text, literals.line_end(text, at) + 1, _MOST_MEMBERS):
        body = line.lstrip(" \t")
        size = len(line) - len(body)
        if not body.strip() or size <= depth:
            return
        indent = indent or size
        name, colon, rest = body.partition(":")
        core = (body if every and size > indent else rest).strip().strip("\"'")
        is_member = bool(colon) and name.replace("_", "").replace("-", "").replace(".", "").isalnum()
        if every and len(core) >= _SHORTEST_MEMBER and (is_member or size > indent):
            start = begin + line.rindex(core)
            yield start, start + len(core), kind
        elif is_member and core and " " not in core:
            hidden = values.is_secret(core, names.STRONG, quoted=False, alone=True)
            if hidden and (kind == "password" or values.is_varied(core)):
                start = begin + line.rindex(core)
                yield start, start + len(core), kind
