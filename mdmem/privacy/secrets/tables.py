"""Secrets named by a heading of a column, a block or a list: tables, `INSERT`, `Recovery codes:`."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import headers, literals, names, values
from mdmem.privacy.secrets.literals import QUOTES, line_before, run_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.printed import Lister
    from mdmem.privacy.secrets.scan import Span

HEADS = (
    "passw", "pwd", "secret", "token", "api_key", "apikey", "passphrase", "pin", ";pw", ",pw", "kennwort", "senha",
    "contrase", "wachtwoord", "парол", "密码", "비밀번호", "パスワード",
)  # fmt: skip
"""Every name of a column with secrets contains one of these, in lower case."""

_DELIMITERS = ("|", "\t", ";", ",")
_GAP = "  "
"""The separator of aligned columns below a header in capitals, or with capital initials."""
_DIGITS = "0123456789"
_MOST_ROWS = 1000  # of one table or statement
_LONGEST_LINE = 2000  # characters before and after a name in a header
_KINDS = ("kind: secret", 'kind: "secret', "kind: 'secret", 'kind": "secret', 'kind":"secret')
_SIGNS_OF_BLOCKS = (
    "passwd <<", "passwords:", "secrets:", "passwd:", 'passwords":', 'secrets":', 'stringdata":', *_KINDS,
)  # fmt: skip
"""Every block that `blocks` knows contains one of these, in lower case."""
_OF_CODES = ("recovery", "backup", "2fa", "scratch", "notfall")
"""Words before `codes` that give access to an account, with or without a separator."""
_MOST_CODES = 40  # of one list
_SHORTEST_CODE = 4
_LONGEST_CODE = 24
_CODE_SIGNS = "-*.)#[]{} \t,;|`\"'/&="
_BETWEEN_CODES = ("and", "or", "und")
_SHORTEST_OF_SENTENCE = 6


def find(text: str, low: str) -> Iterator[Span]:
    """Find the secrets in tables, `INSERT … VALUES` statements, blocks and code lists."""
    yield from _columns(text, low)
    yield from _records(text)
    yield from _ruled(text)
    yield from _inserted(text, low)
    yield from _copied(text, low)
    yield from _in_json(text, low)
    yield from headers.in_cookie_file(text)
    yield from _codes(text, low)
    if secrets.has_any(low, _SIGNS_OF_BLOCKS):
        from mdmem.privacy.secrets import blocks

        yield from blocks.find(text, low)


# -- tables


def _columns(text: str, low: str) -> Iterator[Span]:
    """Find secrets in columns of Markdown tables, of psql and mysql output, and of CSV."""
    for head in HEADS:
        searched_to, at = 0, low.find(head)
        while at >= 0:
            start = low.rfind("\n", max(0, at - _LONGEST_LINE), at) + 1
            end = low.find("\n", at, at + _LONGEST_LINE)
            if end < 0:
                break
            if start >= searched_to:
                spans, searched_to = _table(text, start, end)
                yield from spans
            at = low.find(head, end)


def _table(text: str, start: int, end: int) -> tuple[list[Span], int]:
    """Return the secrets and the end of a table with its header from `start` to `end`; none if it is not a header."""
    line = text[start:end]
    is_aligned = _GAP in line and (line.isupper() or (line.istitle() and _GAP in line.strip() and '"' not in line))
    delimiter = next((sign for sign in _DELIMITERS if sign in line), _GAP if is_aligned else _blank_of(line))
    if not delimiter or not _has_rows(text, end + 1, line, delimiter):
        return [], end
    cells = _cells(line, delimiter)
    columns = {number: _head(cell) for number, (_, cell) in enumerate(cells) if _head(cell)[0]}
    if not columns or not _is_head(cells, delimiter):
        return [], end
    spans: list[Span] = []
    ruled = delimiter != "|" or _is_packed(line)
    for at, row in literals.rows(text, end + 1, _MOST_ROWS):
        row_cells = _cells(row, delimiter)
        if _is_rule(row):
            ruled = True
        elif len(row_cells) != len(cells) or not ruled:
            break
        else:
            for number, (weight, kind) in columns.items():
                spans += _cell(at + row_cells[number][0], row_cells[number][1], weight, kind)
    return spans, at


def _blank_of(line: str) -> str:
    """Return the blanks that separate the columns of a header in small letters, which tells accounts, or ""."""
    heads = line.split() if not secrets.has_any(line, "(=:") else []
    is_head = len(heads) > 1 and all(head in _OF_ACCOUNTS or _head(head)[0] for head in heads)
    is_head = is_head and not _OF_ACCOUNTS.isdisjoint(heads)
    return "" if not is_head else _GAP if _GAP in line.strip() else " "


_OF_ACCOUNTS = frozenset(
    "user username login name account email mail host hostname server domain site url service port id role".split()
)
"""Names of columns beside one of secrets."""


def _has_rows(text: str, at: int, head: str, delimiter: str) -> bool:
    """Whether the line at `at` can follow a table header: it is a rule, or a row with as many cells."""
    row = text[at : literals.line_end(text, at)]
    if delimiter == "|" and not (_is_packed(head) and _is_packed(row)):
        return "-" in row and not row.strip("|+-: \t\r")
    if delimiter in _GAP and _is_rule(row):
        at += len(row) + 1
        row = text[at : literals.line_end(text, at)]
    if delimiter == " ":  # a sentence has not the same number of words in every line
        lines = text[at : at + _LONGEST_LINE].partition("\n\n")[0].strip().split("\n")
        return all(len(line.split()) == len(head.split()) for line in lines)
    return len(_cells(row, delimiter)) == len(_cells(head, delimiter))


def _is_rule(row: str) -> bool:
    return bool(row.strip()) and not row.strip("|+-=: \t\r")


def _is_packed(line: str) -> bool:
    """Whether a line's cells have no blanks around them, as in psql's unaligned output and that of sqlite."""
    return line[:1] not in ("", "|", " ") and "| " not in line and " |" not in line and "-" not in line[:1]


def _cells(line: str, delimiter: str) -> list[tuple[int, str]]:
    """Split a line into cells: the offset and the text of each."""
    cells, at = [], 0
    for cell in line.rstrip("\r").split(delimiter):
        if cell or delimiter != _GAP:
            cells.append((at, cell))
        at += len(cell) + len(delimiter)
    return cells


def _head(cell: str) -> tuple[int, str]:
    name = cell.strip().strip("\"'`*")
    return names.weigh(name) if 1 < len(name) <= 32 else (names.NONE, "")


def _is_head(cells: list[tuple[int, str]], delimiter: str) -> bool:
    """Whether every cell is a short name, as in a table header."""
    texts = [cell.strip().strip("\"'`*") for _, cell in cells]
    if delimiter == "|":
        return len(cells) > 1 and all(len(name) <= 40 and not set(name) & set("=(){}<>;") for name in texts)
    plain = all(name.rstrip(_DIGITS).replace("_", "").replace("-", "").replace(" ", "").isalpha() for name in texts)
    is_quoted = all(cell[:1] == '"' == cell.rstrip()[-1:] for _, cell in cells)
    one_word = delimiter != "," or is_quoted or sum(" " in name for name in texts) * 3 <= len(texts)  # otherwise prose
    return plain and one_word and all(len(name) <= 24 for name in texts)


def _cell(at: int, cell: str, weight: int, kind: str) -> Iterator[Span]:
    core = cell.strip().strip("\"'`*")
    if core and values.is_secret(core, max(weight, names.LITERAL)) and " " not in core:
        start = at + cell.index(core)
        yield start, start + len(core), kind


def _records(text: str) -> Iterator[Span]:
    """Find the secrets in psql's expanded output, which has a line `name | value` for each column."""
    for _, head in secrets.occurrences(text, "-[ RECORD "):
        for at, row in literals.rows(text, literals.line_end(text, head) + 1, _MOST_ROWS):
            name, bar, value = row.partition("|")
            if not bar or name.startswith("-["):
                break
            weight, kind = _head(name)
            if weight:
                yield from _cell(at + len(name) + 1, value, weight, kind)


def _ruled(text: str) -> Iterator[Span]:
    """Find the secrets in aligned columns below `Name   Value` and a rule: a column of secrets, or names and values."""
    done = 0
    for at, _ in secrets.occurrences(text, "\n---"):
        if at < done:
            continue
        end = literals.line_end(text, at + 1)
        rule = text[at + 1 : end].rstrip()
        above, header = ["", *text[max(0, at - _LONGEST_LINE) : at].rsplit("\n", 2)][-2:]
        starts = [place for place in range(len(rule)) if rule[place] == "-" and rule[place - 1 : place] in ("", " ")]
        if rule.strip("- ") or not 1 < len(starts) <= _MOST_COLUMNS or not (above.strip("-= ") or not above.strip()):
            continue
        places = list(zip(starts, [*starts[1:], _LONGEST_LINE], strict=True))
        heads = [header[start:stop].strip() for start, stop in places]
        low_heads = [head.lower() for head in heads]
        named = low_heads.index("value") if low_heads[0] in ("name", "key") and "value" in low_heads else 0
        for begin, row in literals.rows(text, end + 1, _MOST_ROWS):
            cells = [row[start:stop] for start, stop in places]
            for number, head in enumerate(heads):
                weight, kind = _head(cells[0] if named and number == named else head)
                if weight or (named and number == named and cells[0].strip() == "secret_id"):
                    yield from _cell(begin + starts[number], cells[number], weight, kind)
            done = begin
            if not row.strip():
                break


_MOST_COLUMNS = 40  # of a table with a rule below its header


# -- JSON and SQL


def selected_by(command: str) -> Lister | None:
    """Return what finds the secrets in the output of a command that selects several columns, one with secrets."""
    query = command[:_LONGEST_COMMAND].lower().partition("select ")[2]
    listed, is_query, _ = query.partition(" from ")
    heads = [names.weigh(column.rpartition(" ")[2].strip(_AROUND_CELL)) for column in map(str.strip, listed.split(","))]
    if not is_query or len(heads) < 2 or not any(weight >= names.LITERAL for weight, _ in heads):
        return None
    return lambda output: _in_rows(output, heads)


def _in_rows(output: str, heads: list[tuple[int, str]]) -> Iterator[Span]:
    """Find the secrets in lines with as many cells as `heads`, the weights and kinds of the columns' names."""
    for start, line in literals.lines(output):
        delimiter = next((sign for sign in _DELIMITERS_OF_ROWS if line.count(sign) == len(heads) - 1), "")
        for (weight, kind), cell in zip(heads, line.split(delimiter) if delimiter else (), strict=False):
            core = cell.strip(_AROUND_CELL)
            if weight >= names.LITERAL and " " not in core and values.is_secret(core):
                begin = start + cell.index(core)
                yield begin, begin + len(core), kind
            start += len(cell) + 1


_LONGEST_COMMAND = 2048
_DELIMITERS_OF_ROWS, _AROUND_CELL = ("|", "\t", ","), " \t\r\n\"'`[]()"


def _in_json(text: str, low: str) -> Iterator[Span]:
    """Find the secrets in `{"columns": ["name", "password"], "rows": [["bob", "…"], …]}`."""
    for _, at in secrets.occurrences(low, *JSON_HEADS):
        opened = text.find("[", at, at + 8)
        closed = text.find("]", opened, opened + _LONGEST_LINE) if opened >= 0 else -1
        listed = text[opened + 1 : closed] if closed >= 0 else ""
        items = listed.split('"name"')[1:] if "{" in listed else listed.split(",")
        heads = [_head(item.lstrip(" \t\r\n:").partition(",")[0].partition("}")[0]) for item in items]
        columns = {number: head for number, head in enumerate(heads) if head[0]}
        rows = text.find("[", closed + 1, closed + 64) if columns else -1
        if rows >= 0:
            yield from _tuples(text, rows + 1, columns, "[]")


JSON_HEADS = ('"columns":', '"fields":', '"header":', '"headers":', '"fieldnames":', '"cols":')


def _inserted(text: str, low: str) -> Iterator[Span]:
    """Find the secrets in `INSERT INTO users (name, password) VALUES ('bob', '…'), …`."""
    created = dict(_created(low)) if "insert into" in low else {}
    for _, after in secrets.occurrences(low, "insert into"):
        table, values_word, _ = low[after : after + _LONGEST_TABLE].partition(" values")
        if values_word and (columns := created.get(table.strip())):
            yield from _tuples(text, after + len(table) + len(values_word), columns)
        opened = text.find("(", after, after + 128)
        closed = text.find(")", opened, opened + _LONGEST_LINE) if opened >= 0 else -1
        rows = low.find("values", closed, closed + 32) if closed >= 0 else -1
        if rows >= 0:
            heads = [_head(name) for name in text[opened + 1 : closed].split(",")]
            columns = {number: head for number, head in enumerate(heads) if head[0]}
            if columns:
                yield from _tuples(text, rows + len("values"), columns)


def _created(low: str) -> Iterator[tuple[str, dict[int, tuple[int, str]]]]:
    """Yield the name and the secret columns of each table that a dump creates, with a column in each line."""
    for _, after in secrets.occurrences(low, "create table "):
        end = low.find("\n)", after, after + _LONGEST_LINE)
        table, opening, lines = low[after : max(after, end)].partition(" (\n")
        heads = [_head(line.strip(" \t,").partition(" ")[0]) for line in lines.split("\n")]
        columns = {number: head for number, head in enumerate(heads) if head[0]}
        if opening and columns:
            yield table.removeprefix("if not exists ").strip(), columns


_LONGEST_TABLE = 160  # characters of a table's name, and of `values` after it


def _copied(text: str, low: str) -> Iterator[Span]:
    """Find the secrets in the lines below `COPY users (name, password) FROM stdin;`, as PostgreSQL dumps a table."""
    for at, end in secrets.occurrences(low, ") from stdin"):
        head = line_before(low, at, _LONGEST_LINE)
        heads = [_head(name) for name in head.partition("(")[2].split(",")] if head.startswith("copy ") else []
        most = _MOST_ROWS if any(weight for weight, _ in heads) else 0
        for begin, row in literals.rows(text, literals.line_end(text, end) + 1, most):
            cells = _cells(row, "\t")
            if len(cells) != len(heads):
                break
            for (place, cell), (weight, kind) in zip(cells, heads, strict=True):
                yield from _cell(begin + place, cell, weight, kind) if weight else ()


def _tuples(text: str, at: int, columns: dict[int, tuple[int, str]], brackets: str = "()") -> Iterator[Span]:
    for _ in range(_MOST_ROWS):
        at = run_end(text, at, " \t\r\n,", 64)
        if text[at : at + 1] != brackets[0]:
            return
        number, at = 0, at + 1
        while text[at : at + 1] not in ("", brackets[1], ";"):
            at = literals.skip_space(text, at)
            literal = literals.read(text, at, whole_word=False) if text[at : at + 1] in QUOTES else None
            if literal and number in columns and values.is_secret(literal.text, columns[number][0]):
                yield literal.start, literal.end, columns[number][1]
            at = literal.end + 1 if literal else _next_field(text, at)
            if text[at : at + 1] == ",":
                number, at = number + 1, at + 1
        at += 1


def _next_field(text: str, at: int) -> int:
    """Return the end of a field that is not a string."""
    ahead = text[at : at + 256]
    size = min((ahead.find(sign) for sign in ",)];\n" if sign in ahead), default=len(ahead))
    return at + max(size, 1)


def _codes(text: str, low: str) -> Iterator[Span]:
    """Find the codes on the lines below `Recovery codes:`, or on the same line: `backup_codes = ['…', …`."""
    searched_to = 0
    for at, start in secrets.occurrences(low, "code"):
        if at < searched_to or not low[max(0, at - 12) : at].rstrip(" _-").endswith(_OF_CODES):
            continue
        searched_to = literals.line_end(text, at)
        start += low.startswith("s", start)
        line = text[start:searched_to]
        label, sign, rest_of_line = line.partition(next((joint for joint in _JOINS if joint in line), "\n"))
        label = label.strip("\"'`*_) ")
        if sign and (not label or label[0] == "("):
            yield from _codes_of_line(searched_to - len(rest_of_line), rest_of_line, is_sentence=True)
        if not rest_of_line.strip(_CODE_SIGNS):
            for _ in range(_MOST_CODES):
                line = text[searched_to + 1 : literals.line_end(text, searched_to + 1)]
                spans = list(_codes_of_line(searched_to + 1, line))
                if line.strip(_CODE_SIGNS) and not spans:
                    break
                yield from spans
                searched_to = min(searched_to + 1 + len(line), len(text))


_JOINS = (":", "=", " are ", " is ")


def _codes_of_line(at: int, line: str, *, is_sentence: bool = False) -> Iterator[Span]:
    """Find the codes of a line that has nothing else, except for a number or sign before each.

    is_sentence: other words may follow; then only codes of `_SHORTEST_OF_SENTENCE` characters count.
    """
    spans: list[Span] = []
    place = 0
    sizes = () if is_sentence else {len(part) for part in line.split() if _is_code(part)}  # of `8bgq etum`
    for word in line.split():
        place = line.index(word, place)
        core = word.strip(_CODE_SIGNS)
        if core and not (core.isdigit() and word[-1] in ".)") and core.lower() not in _BETWEEN_CODES:
            if not (_is_code(core) or (len(core) in sizes and core.isalpha() and core.isascii())):
                spans = [span for span in spans if is_sentence and span[1] - span[0] >= _SHORTEST_OF_SENTENCE]
                break
            start = at + place + word.index(core)
            spans.append((start, start + len(core), "code"))
        place += len(word)
    yield from spans


def _is_code(core: str) -> bool:
    """Whether a word is a code: it has digits, or groups of letters of equal length: `8f3a1-11b2c`, `abcd-efgh`."""
    groups = core.split("-")
    flat = "".join(groups)
    is_short = flat.isalnum() and flat.isascii() and _SHORTEST_CODE <= len(flat) <= _LONGEST_CODE
    return is_short and (any(map(str.isdigit, flat)) or (len(groups) > 1 and len(set(map(len, groups))) == 1))


def in_ascii(text: str) -> str:
    """Return a text with full-width letters, invisible signs and the lines of tables in ASCII; every offset stays."""
    if text.isascii() or not secrets.has_any(text, _DISGUISED):
        return text
    if not _plain_signs:
        full_width = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF5B))}
        alike = ((_INVISIBLE, "_"), (_BARS, "|"), (_RULES, "-"), (_CROSSES, "+"))
        _plain_signs.update(full_width | {ord(sign): ord(instead) for signs, instead in alike for sign in signs})
    return text.translate(_plain_signs)


_INVISIBLE = "\u200b\u2060\u00ad\ufeff"
_BARS = "│┃║"
_RULES = "─━═"
_CROSSES = "├┤┼┌┐└┘┬┴╞╡╪╔╗╚╝╠╣╦╩╬╭╮╰╯┡┩╇┏┓┗┛┳┻┣┫╋┠┨"
_DISGUISED = (*_INVISIBLE, *_BARS, *"ｐｓｔｋＰＳＴＫ")
"""Every text that `in_ascii` changes in or beside a name of a secret contains one of these."""
_plain_signs: dict[int, int] = {}
