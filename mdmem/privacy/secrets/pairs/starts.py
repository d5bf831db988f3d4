"""Finds where the value of a named secret begins: after `=`, "is", a closing tag, or a label on the line above.

There is one function for each way to join a name and a value. It returns the offset of the value, or 0 if the text
does not have this form. Its docstring shows the notation, with `…` for the value.
"""

from __future__ import annotations

from mdmem.privacy.secrets import literals, scan
from mdmem.privacy.secrets.literals import QUOTES, closes_call, line_at, line_before, run_end, skip_blank
from mdmem.privacy.secrets.pairs import lines
from mdmem.privacy.secrets.tokens import shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.secrets.scan import Name

_CHANGES = (
    " has been set to ", " has been changed to ", " has changed to ", " was set to ", " was changed to ", " is set to ",
    " got changed to ", " set to ", " changed to ",
)  # fmt: skip
_SAYS = (
    *_CHANGES, " is ", " is: ", " was ", " should be ", " must be ", " will be ", " remains ", " became ", " ist ",
    " lautet ", " est ", " es ", " è ", " é ",
)  # fmt: skip
_VERBS = (*_SAYS, " to ", " from ", "は", "는 ", "은 ", "是", "为", "為")  # between a name and its value
_OF_WHAT = (  # `the password for the shop is …`
    " for ", " on ", " of ", " to ", " in ", " at ", " von ", " für ", " pour ", " de ", " para ", " del ", " della ",
    " du ", " do ", " da ", " vom ", " zum ",
)  # fmt: skip
_WHEN = ("now ", "still ", "currently ", "again ", "just ", "always ", "jetzt ", "maintenant ", "ahora ")  # `is now …`
_TAGS = ("<b>", "<strong>")  # around a value in a sentence
_OF_WHOM = ("admin ", "root ", "user ", "db ", "wifi ", "my ")  # before `pass to …`, which else has other meanings
_RENAMING = frozenset(("rename", "renames", "renamed", "renaming"))  # before a name in code and the new one
_LONGEST_SUFFIX = 3  # characters of a new name that begins with the old one: `getUserTokenV2`, `api_token_v2`
_PARTS = frozenset(("class", "column", "constant", "field", "function", "method", "parameter", "property", "variable"))
"""Parts of code, before their names."""
_ARROWS = ("-> ", "→ ", "- ", "– ", "⇒ ", "⇒")
_FALLBACKS = ("or ", "|| ", "?? ", "||= ", "{ ", ".unwrap_or(", ".unwrap_or_else(|_| ")  # `getenv("NAME") or "…"`
ASKING = ("what ", "which ", "please ", "enter ", "give ", "tell ", "provide ", "type ")
"""Beginnings of questions that are answered with a value, in lower case."""
_LONGEST_INSIDE, _LONGEST_WHAT = 32, 48  # characters of a type or an index; of what a password is for
_BLOCKS = (('variable "', "default"), ('output "', "value"))
_DATA, _CELLS = "<![CDATA[", ("<td>", "<dd>", "<td ")
_CELL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-*`."
_MARKUP_VALUES = ("<value>", "<string>", "<value ", '<stringprop name="argument.value">')


def after_assignment(name: Name) -> int:
    """`name = …`, `"name": …`, `name := …`; also with the value on the next line, in JSON."""
    text = name.text
    value = scan.assignment(text, name.sign)
    if not value:
        return 0
    is_prose = name.sign > name.closed == name.end and text[name.sign] == ":" and not text[value : value + 1].isspace()
    if is_prose:
        return 0  # "Pass :meth:`…`" is prose
    if name.is_quoted() and text.endswith(("? ", "?"), 0, name.start - 1):
        return 0  # … ? "pass" : "fail"
    if text[value : value + 1] == "-" and text[name.start - 2 : name.start] == "${":
        return value + 1  # ${NAME:-…}
    value = scan.behind_pointer(text, skip_blank(text, value))
    stars = scan.closers(text, value)
    if stars > value and text[stars : stars + 1] in ("\n", "\r") and not text.startswith(('"""', "'''"), value):
        return 0  # **Password:**, with the value on the next line
    if (
        name.closed == name.end
        and text[value : value + 1] in QUOTES
        and literals.closes_string(text, name.start, value)
    ):
        return 0
    if name.is_quoted() and text[value : value + 64].lstrip().startswith("string("):
        return value + len(text[value : value + 64].partition('"')[0])  # PHP's var_dump
    if text[value : value + 1] in ("\n", "\r"):
        ahead = text[value : value + 64]
        following = ahead.lstrip()
        return value + len(ahead) - len(following) if name.is_quoted() and following[:1] == text[name.closed - 1] else 0
    if text[value : value + 1] in QUOTES and name.low[name.start - 2 : name.start] == ", ":
        return _of_its_place(name, value)
    return _after_tag(name, value)


def _of_its_place(name: Name, value: int) -> int:
    """Return the start of this name's value in `user, password = "…", "…"`."""
    text = name.text
    other_names = name.line_before().strip().rstrip(",").split(", ")
    if not all(other_name.isidentifier() for other_name in other_names):
        return value
    at = value
    for _ in other_names:
        literal = literals.read(text, at, whole_word=False)
        if not literal or text[literal.end + 1 : literal.end + 2] != ",":
            return value
        at = skip_blank(text, literal.end + 2)
    return at


def _after_tag(name: Name, value: int) -> int:
    """Return the start of a value after a YAML tag or anchor (`!!str …`, `&name …`), a wrapper, or Markdown's stars."""
    text = name.text
    first = text[value : value + 2]
    if first == "**":
        return skip_blank(text, value + 2)
    for opening in _WRAPPERS:
        if text.startswith(opening, value):
            ahead = text[value + len(opening) : value + len(opening) + _LONGEST_INSIDE]
            return value + len(opening) + len(ahead) - len(ahead.lstrip())
    if text.startswith("(string) ", value):  # printed by Go's spew
        return max(value, text.find('"', value, value + _LONGEST_INSIDE))
    if text.startswith(literals.IN_TEMPLATES, value) and (start := literals.in_template(text, value)) != value:
        return start
    if text[value : value + 1] == "{":
        return value + 1 if text[name.start - 1 : name.start] == ";" else _in_object(text, value)  # PWD={…};
    if first == "!!" or (first[:1] == "&" and first[1:].isalpha()):
        tag, blank, following = text[value : value + 32].partition(" ")
        return value + len(tag) + 1 if blank and tag.isprintable() and following[:1] != "=" else value
    return value


_WRAPPERS = (
    "[]string{", "!unsafe ", "[]byte(", "String::from(", "Some(", "new String(", "std::string(", "Buffer.from(",
    "SecretString::from(", "SecretString::new(", "SecretStr(", "Secret(", "tostring(", "sensitive(", "Field(default=",
)  # fmt: skip


def _in_object(text: str, at: int) -> int:
    """Return the start of the value in `{"type": "string", "value": "…"}`, or of the default, else `at`."""
    members, closing, _ = text[at + 1 : at + _LONGEST_OBJECT].partition("}")
    head, key, _ = members.partition(next((key for key in _VALUE_KEYS if key in members), _VALUE_KEYS[0]))
    value = scan.assignment(text, at + 1 + len(head) + len(key)) if key and closing and "{" not in head else 0
    return skip_blank(text, value) if value else at


_VALUE_KEYS, _LONGEST_OBJECT = ('"value"', '"Default"', '"default"'), 240  # characters of an object with both


def after_comparison(name: Name) -> int:
    """`name == "…"`, `name.equals("…")`."""
    at = scan.comparison(name.low, name.sign)
    return skip_blank(name.text, at) if at else 0


def after_type(name: Name) -> int:
    """`var name string = "…"`."""
    kind, equals, _ = name.text[name.sign : name.sign + 48].partition("=")
    if not equals:
        return 0
    at = skip_blank(name.text, name.sign + len(kind) + 1)
    is_type = kind.rstrip(" :").partition("(")[0].strip().replace("[]", "").strip("*&?").isidentifier()
    return at if is_type and name.text[at : at + 1] in QUOTES else 0


def after_for(name: Name) -> int:
    """`SET PASSWORD FOR 'bob'@'host' = '…'`."""
    if not name.low.startswith(" for ", name.closed):
        return 0
    head, equals, _ = line_at(name.text, name.closed, 96).partition(" = '")
    return name.closed + len(head) + 3 if equals else 0


def at_string(name: Name) -> int:
    """`IDENTIFIED BY PASSWORD '…'`, "the password `…`", `#define kPassword @"…"`."""
    if name.text[name.sign] == "@" and name.text[name.sign + 1 : name.sign + 2] != '"':
        return 0
    return 0 if name.word() == "pass" or literals.closes_string(name.text, name.start, name.sign) else name.sign


def behind_sign(name: Name) -> int:
    """`<name>…`, also `<name><![CDATA[…`."""
    return name.sign + (len(_DATA) + 1 if name.text.startswith(_DATA, name.sign + 1) else 1)


def behind_attributes(name: Name) -> int:
    """`<name type="…">…`."""
    attributes, closing, _ = name.text[name.sign : name.sign + _LONGEST_ATTRIBUTES].partition(">")
    return name.sign + len(attributes) + 1 if closing and attributes[-1:] in ("'", '"') and "<" not in attributes else 0


_LONGEST_ATTRIBUTES = 160  # characters between `<` and `>`


def behind_dot(name: Name) -> int:
    """`(name . "…")`, a pair in Lisp."""
    return name.sign + 2


def in_input(name: Name) -> int:
    """`<input type="password" … value="…">`."""
    attributes, closing, _ = name.low[name.closed : name.closed + _LONGEST_ATTRIBUTES].partition(">")
    head, key, _ = attributes.partition(" value=")
    return name.closed + len(head) + len(key) if closing and key else 0


def at_sign(name: Name) -> int:
    """`name …`."""
    return name.sign


def next_item(name: Name) -> int:
    """`"--name", "…"`, and `- --name` with `- …` on the next line."""
    text, at = name.text, name.sign
    if text[at : at + 1] == ",":
        at = skip_blank(text, at + 1)
        return at if text[at : at + 1] in QUOTES else 0
    next_line = scan.next_line(text, at) if name.line_before().strip(" \"'") == "-" else 0
    return skip_blank(text, next_line + 1) if text.startswith("- ", next_line) else 0


def behind_with(name: Name) -> int:
    """`fill in "name" with "…"`, a step of a test in plain words."""
    is_step = name.low.startswith('with "', name.sign) and "fill" in name.line_before()
    return name.sign + len("with ") if is_step else 0


def behind_comma(name: Name) -> int:
    """`("name", …`."""
    at = skip_blank(name.text, name.sign + 1)
    at += len("with: ") * name.text.startswith("with: ", at) + 2 * name.text.startswith('<<"', at)  # in Erlang
    return _behind_default(name.text, at)


def typed_in(name: Name) -> int:
    """`locator("#name").fill("…`, as tests fill in a form."""
    at = run_end(name.text, name.sign, " })", 8)  # getByRole('textbox', { name: 'NAME' }).fill('…')
    call = next((call for call in _TYPED if name.text.startswith(call, at)), "")
    return at + len(call.rstrip("\"'")) if call else 0


_TYPED = (
    ".fill(", ".type(", ".send_keys(", ".sendKeys(", ".setValue(", ".pressSequentially(", ".value='", ".value = '",
)  # fmt: skip


def after_verb(name: Name) -> int:
    """`my password is …`, `the password for the shop is now …`."""
    low, at = name.low, name.closed
    if low.startswith(_OF_WHAT, at):
        line = line_at(low, at, _LONGEST_WHAT)
        at += min((line.find(verb) for verb in _SAYS if verb in line), default=0)
    if not low.startswith(_VERBS, at):
        return 0
    if low.startswith((" to ", " from "), at):
        is_other = name.word() == "pass" and not name.line_before().endswith(_OF_WHOM)
        if is_other or _is_renamed(name, at):
            return 0
    at = skip_blank(low, at + len(next(verb for verb in _VERBS if low.startswith(verb, at))))
    at = skip_blank(low, at + len(next((word for word in _WHEN if low.startswith(word, at)), "")))
    at += len(next((tag for tag in _TAGS if low.startswith(tag, at)), ""))
    return skip_blank(low, at + 1) if low[at : at + 1] in (":", "：") else at


def _is_renamed(name: Name, at: int) -> bool:
    """Whether a name in code gets a new one: `rename the column token to …`, `change userToken to userToken2`."""
    before = [word.strip("\"'`(*:") for word in name.line_before().rstrip("\"'`").split()[-3:]]
    if before and before[-1] in _PARTS:
        before = before[:-1] if before[-2:-1] != ["the"] else before[:-2]
    old = name.text[name.start : name.end]
    new = "".join(name.text[at : at + len(" to ") + len(old) + 8].split()[1:2]).rstrip(".,;:")
    version = new[len(old) :].lstrip("_").lstrip("vV") if len(new) <= len(old) + _LONGEST_SUFFIX else ""
    is_version = new.startswith(old) and len(version) == 1 and version.isdecimal() and before[-1:] != ["set"]
    is_numbered = is_version and ("_" in old or "aA" in shape(old))
    return is_numbered or (bool(before) and before[-1] in _RENAMING)


def after_question(name: Name) -> int:
    """`"What is the password?"="…"`, as agents note a person's answer."""
    if not name.line_before().rpartition('"')[2].startswith(ASKING):
        return 0
    sign = next((sign for sign in ('?"=', '?": ', '?":') if name.text.startswith(sign, name.closed)), "")
    return name.closed + len(sign) if sign else 0


def after_remark(name: Name) -> int:
    """`Password for bob: …`, `A temporary password is generated for root@localhost: …`, `PASSWORD elastic = …`."""
    line = line_at(name.text, name.closed, 96)
    head, sign, _ = line.partition(": " if ": " in line else " = ")
    return name.closed + len(head) + len(sign) if sign and " " in head and not head.strip(_REMARK) else 0


_REMARK = _CELL + ":@'\"/()äöüßàáâãçèéêíñóôõúąęłóśżź"


def next_numbered(name: Name) -> int:
    """`3) "NAME"⏎4) "…"`, as Redis lists names and values."""
    number = name.line_before().rstrip('"')
    if not number.endswith(") ") or not number[:-2].strip().isdecimal():
        return 0
    at = scan.next_line(name.text, name.closed)
    digits = f"{int(number[:-2]) + 1}) "
    return at + len(digits) if name.text.startswith(digits, at) else 0


def in_next_cell(name: Name) -> int:
    """`| name | … |`."""
    row = line_before(name.text, name.start, 48)
    value = skip_blank(name.text, name.sign + 1)
    is_alone = not row.strip() and _is_aligned(name.text, name.sign)
    is_cell = is_alone or ("|" in row and not row.rpartition("|")[2].strip(_CELL))
    return value if is_cell and name.text[value : value + 1] != "|" else 0


def _is_aligned(text: str, bar: int) -> bool:
    """Whether the line above or below has its first bar at the same place, as in a database's output of one record."""
    start = text.rfind("\n", max(0, bar - _LONGEST_HEAD), bar) + 1
    line_above = text[max(0, start - _LONGEST_ROW) : max(0, start - 1)].rpartition("\n")[2]
    line_below = text[bar : bar + _LONGEST_ROW].partition("\n")[2].partition("\n")[0]
    return any(line.find("|") == bar - start for line in (line_above, line_below))


_LONGEST_HEAD, _LONGEST_ROW = 80, 400  # characters before a bar, and of a row of a table


def after_arrow(name: Name) -> int:
    """`name -> …`, `name - …`, `name ..... …`."""
    arrow = next((arrow for arrow in _ARROWS if name.text.startswith(arrow, name.sign)), "")
    if not arrow and name.text.startswith("...", name.sign):
        end = run_end(name.text, name.sign, ".", 96)
        arrow = name.text[name.sign : end + name.text.startswith(":", end)]
    return (
        skip_blank(name.text, name.sign + len(arrow)) if arrow and (name.sign != name.closed or arrow[-1] == ":") else 0
    )


def after_type_digit(name: Name) -> int:
    """`username x password 7 …`, `key 1 md5 7 …`."""
    return scan.type_digit(name.text, name.sign)


def after_brackets(name: Name) -> int:
    """`char name[] = "…"`; `name [None]: …`, as in a program's prompt."""
    content, closing, _ = name.text[name.sign + 1 : name.sign + 1 + _LONGEST_INSIDE].partition("]")
    at = name.sign + len(content) + 2
    if not closing or "\n" in content:
        return 0
    if name.text.startswith(": ", at):
        return skip_blank(name.text, at + 1) if name.sign != name.closed else 0
    value = scan.assignment(name.text, skip_blank(name.text, at)) if not content or content.isdigit() else 0
    value = skip_blank(name.text, value) if value else 0
    return value if name.text[value : value + 1] == '"' else 0


def after_registry_type(name: Name) -> int:
    """`name    REG_SZ    …`, `/v name /t REG_SZ /d …`, as in the Windows registry."""
    at = name.sign + 3 * name.low.startswith("/t ", name.sign)
    kind = name.low[at : at + _LONGEST_INSIDE].partition(" ")[0]
    if not kind.startswith("reg_"):
        return 0
    at = skip_blank(name.low, at + len(kind))
    return skip_blank(name.low, at + 3) if name.low.startswith("/d ", at) else at


def in_cell_of_html(name: Name) -> int:
    """`<td>NAME</td><td>…`, `<dt>NAME</dt><dd>…`."""
    ahead = name.low[name.sign : name.sign + 96]
    following = ahead.partition(">")[2].lstrip()
    is_cell = ahead[:3] in ("</t", "</d") and following.startswith(_CELLS)
    return name.sign + len(ahead) - len(following) + following.index(">") + 1 if is_cell else 0


def after_bold(name: Name) -> int:
    """`<b>NAME</b>: …`."""
    tag, _, following = name.low[name.closed : name.closed + 24].partition(">")
    at = name.closed + len(tag) + 1
    return skip_blank(name.low, at + 1) if tag in ("</b", "</strong", "</em") and following[:1] == ":" else 0


def after_default(name: Name) -> int:
    """`variable "NAME" { default = "…" }` and `output "NAME" { value = "…" }`, as in Terraform."""
    word = next((word for kind, word in _BLOCKS if name.low.endswith(kind, 0, name.start)), "")
    block, keyword, _ = name.low[name.closed : name.closed + 400].partition(word) if word else ("", "", "")
    if not keyword or "}" in block.partition("{")[2]:
        return 0
    value = scan.assignment(name.low, skip_blank(name.low, name.closed + len(block) + len(keyword)))
    return skip_blank(name.low, value) if value else 0


def after_value_word(name: Name) -> int:
    """`{"name": "NAME", "value": "…"}`, and the same in YAML, XML and PowerShell (`-Name NAME -Value …`)."""
    ahead = name.low[name.closed : name.closed + 64]
    following = ahead.lstrip(" \t\r\n,\"'-").removeprefix("android:").removeprefix("parameter")
    if len(following) == len(ahead) or not following.startswith(("value", "default")):
        is_member = name.text[name.closed : name.closed + 1] == "," and name.is_quoted()
        return lines.in_same_object(name) if is_member else 0
    size = len("value" if following[0] == "v" else "default")
    at = scan.closers(name.low, name.closed + len(ahead) - len(following) + size)
    value = scan.assignment(name.low, skip_blank(name.low, at)) or at * name.low.startswith(
        "-value ", at - len("-value")
    )
    return skip_blank(name.low, value) if value else 0


def before_name(name: Name) -> int:
    """`{"value": "…", "name": "NAME"}`, and the same in YAML and XML."""
    at = name.outer()
    if name.low[max(0, at - _LONGEST_KEY) : at].rstrip("\"' :=")[-3:] not in ("ame", "key"):
        return 0
    before, key, between = name.low[max(0, at - _LONGEST_OBJECT) : at].rpartition("value")
    if not key or not _BRACES.isdisjoint(between) or between.count("\n") > 1 or before[-1:].isalnum():
        return 0
    at = scan.closers(name.low, at - len(between))
    value = scan.assignment(name.low, skip_blank(name.low, at))
    return skip_blank(name.low, value) if value else 0


_LONGEST_KEY, _BRACES = 10, frozenset("{}<>")


def after_markup(name: Name) -> int:
    """`<name>NAME</name> <value>…`, `<key>NAME</key> <string>…`, `<property name="NAME"><value>…`."""
    ahead = name.low[name.closed : name.closed + 96]
    following = ahead.partition(">")[2].lstrip()
    if not following.startswith(_MARKUP_VALUES) or ahead[:2] not in ("</", "><", ">\n"):
        return 0
    return name.closed + len(ahead) - len(following) + following.index(">") + 1


def after_fallback(name: Name) -> int:
    """`os.environ.get("NAME") or "…"`, `process.env.NAME || '…'`, `getenv("NAME", "…")`."""
    text, at = name.text, skip_blank(name.text, name.closed)
    if text[at : at + 1] == ",":
        at = _behind_default(text, skip_blank(text, at + 1))
        return at if closes_call(text, at) else 0
    at = skip_blank(text, at + 1) if text[at : at + 1] in (")", "]") else at
    sign = next((sign for sign in _FALLBACKS if text.startswith(sign, at)), "")
    at = skip_blank(text, at + len(sign))
    return at if sign and text[at : at + 1] in QUOTES else 0


def _behind_default(text: str, at: int) -> int:
    """Return the start of the value in `default="…"`, else `at`."""
    return at + len("default=") if text.startswith("default=", at) else at


def on_next_line(name: Name) -> int:
    """A label that is alone on its line, with the value on the next line, perhaps after a rule."""
    at = scan.closers(name.text, name.sign + (name.text[name.sign : name.sign + 1] in (":", "：")))
    next_line = scan.next_line(name.text, at) if scan.line_ends(name.text, at) else 0
    if name.text.startswith("```", next_line):  # a block of code with only the value
        in_block = scan.next_line(name.text, next_line + len(line_at(name.text, next_line, 24)))
        end = name.text.find("\n", in_block, in_block + _LONGEST_VALUE) if in_block else -1
        return in_block if end >= 0 and name.text[end:].lstrip()[:3] == "```" else 0
    if not next_line:
        return 0
    next_line = scan.behind_echo(name.text, next_line)
    rule_end = run_end(name.text, next_line, "-=~", 96)
    is_rule = rule_end >= next_line + 3 and scan.line_ends(name.text, rule_end)
    return scan.next_line(name.text, rule_end) if is_rule else next_line


_LONGEST_VALUE = 256  # characters of a line in a block
