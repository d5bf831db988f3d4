"""Rules: finds the secret that belongs to a name.

`RULES` has one row for each way to join a name and a value: the possible first signs, a condition on the name, a
function that finds the value (`starts`), and one that judges it (`judge`).
"""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import groups, headers, loose, scan
from mdmem.privacy.secrets.literals import line_at, line_before
from mdmem.privacy.secrets.names import WEAK
from mdmem.privacy.secrets.pairs import judge, lines, starts
from mdmem.privacy.secrets.scan import Name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mdmem.privacy.secrets.scan import Span

    Rule = tuple[str, Callable[[Name], bool], Callable[[Name], int], Callable[[Name, int], list[Span]]]

_OF_PROGRAMS = ("password", "secret", "random_password", "github-oauth", "gitlab-oauth", "gitlab-token")
"""Names that `lines.value_in_program` knows, beside those after an equals sign."""
_VERB_SIGNS = "aAbBcCdDeEfFgGhHiIlLmMoOpPrRsStTvVwWèéは는은是为為"
_NO_VALUE = "|:=＝：,\n\r()"
"""Signs that do not begin a value."""
_SETTERS = (
    "env ", "set -x ", "set -gx ", "set -ux ", "fastcgi_param ", "setx ", "configure set ", "config set ",
    "etcdctl put ", "git config ", "config --global ", "config --local ", "config --system ", "config set --secret ",
    "kv put ", "--arg ", "proxy_set_header ",
)  # fmt: skip
_GETTERS = (
    "env(", "env.get(", "environ.get(", "environ[", "env[", "env.fetch(", "env.", "environment.", "variable(", "::var(",
)  # fmt: skip
_LONGEST_LINE = 96
_OF_ACCOUNTS = ("user", "log", "sign", "bind", "connect", "account", "cn=")
"""Words in a sentence that gives an account's password."""


def secrets_of(name: Name) -> list[Span]:
    """Return the secrets that a name names, in order; the first row that finds one decides."""
    text = name.text
    if name.word() in _OF_PROGRAMS or text[name.start - 1 : name.start] == "=":
        value = lines.value_in_program(name)
        if value and (spans := judge.flag(name, value)):
            return spans
    for condition, value_at, judged in _rules_at(text[name.sign : name.sign + 1]):
        if condition(name):
            value = value_at(name)
            if value:
                spans = judged(name, value) if not name.repeats_at(value) else []
                if spans or judged is judge.assigned:
                    grouped = groups.of_four(name, name.closed) if name.kind in ("password", "key", "secret") else []
                    return grouped or spans or loose.after_name(name)
    spans = loose.after_name(name) or loose.next_word(name) or loose.before_name(name) or loose.nearby(name)
    if not spans and name.word()[-1:] >= scan.CJK:
        from mdmem.privacy.secrets import nearby

        return nearby.behind_ideographs(name)
    return spans or (groups.near(name) if name.kind == "password" else [])


# -- conditions on a name


def _always(_: Name) -> bool:
    return True


def _appends(name: Name) -> bool:
    return name.text.startswith(".=", name.sign)


def _is_tag(name: Name) -> bool:
    outer = name.outer()
    if name.text[outer - 1 : outer] == ":":  # <jdbc:password>
        outer = scan.name_start(name.low, outer - 1)
    return name.text[outer - 1 : outer] == "<" and name.text[outer] != "/" and name.closed == name.end


def _is_tag_with_attributes(name: Name) -> bool:
    return name.text[name.start - 1 : name.start] in ("<", ":") and _is_bare(name) and _is_tag(name)


def _is_in_lisp(name: Name) -> bool:
    """Whether the name is the first element of a pair: `(password . "…")`."""
    return _is_bare(name) and name.text[name.start - 1 : name.start] == "(" and name.text.startswith('. "', name.sign)


def _is_told(name: Name) -> bool:
    """Whether a sentence gives the password next: `bound with password …`."""
    if not _is_bare(name):
        return False
    before = name.line_before()
    if before.strip(" #") == "enable":
        return True  # enable secret …
    gives = before.endswith(("with ", "with the ")) or (before.endswith("and ") and "with " in before)
    return gives and secrets.has_any(before, _OF_ACCOUNTS)


def _is_input(name: Name) -> bool:
    """Whether the name is the type of a form field: `<input type="password" …`."""
    return name.low.endswith(('type="', "type='"), 0, name.start) and name.is_quoted()


def _is_setting(name: Name) -> bool:
    """Whether name and value end a line of a settings file, as `lines` knows them."""
    if not _is_bare(name) or len(line_at(name.text, name.sign, _LONGEST_LINE).split()) != 1:
        return False
    return lines.is_setting(name)


def _is_bare(name: Name) -> bool:
    """Whether no quotes or brackets close the name, and a blank follows."""
    return name.end == name.closed != name.sign


def _is_flag(name: Name) -> bool:
    if not _is_bare(name):
        return False
    if name.text[name.start - 1 : name.start] == "\\" and name.text[name.start - 2 : name.start - 1].isalnum():
        return False  # a hyphen in a manual page
    start = name.outer()
    if name.low[start] == "-" and name.text.startswith("  ", name.closed) and lines.explains_option(name):
        return False
    blank = name.low.rfind(" ", max(0, start - 80), start) + 1
    is_set = name.low.endswith(_SETTERS, 0, blank) and "=" not in name.low[blank:start]
    if is_set or name.low[start] == "-" or name.line_before().strip() == "option":
        return True
    before = name.low[max(0, name.start - 200) : name.start] if name.word().startswith("password") else ""
    return "login " in before and ("machine " in before or "default " in before)  # a line of .netrc


def _is_keyed(name: Name) -> bool:
    """Whether the name is the key of an XML element: `<entry key="NAME">`."""
    return name.is_quoted() and name.low.endswith(("key=", "name="), 0, name.outer() - 1)


def _is_bearer(name: Name) -> bool:
    return name.word() == "bearer" and _is_bare(name)


def _heads_bare_line(name: Name) -> bool:
    return _is_bare(name) and name.heads_line()


def _is_of_router(name: Name) -> bool:
    """Whether a digit follows that gives a router's encoding of the value: `username x password 7 …`."""
    return _is_bare(name) and scan.type_digit(name.text, name.sign) > 0


def _is_of_statement(name: Name) -> bool:
    """Whether the name is in an SQL statement: `ALTER ROLE x WITH LOGIN PASSWORD '…'`."""
    return name.word() == "password" and secrets.has_any(name.line_before(), ("role ", "user ", "login ", "options ("))


def _is_form_field(name: Name) -> bool:
    """Whether the name is a field of a multipart form: `form-data; name="password"`."""
    return name.low.endswith('form-data; name="', 0, name.start)


def _is_label(name: Name) -> bool:
    before = name.line_before()
    if before[-1:] in ("$", "{", "=", "%"):
        return False  # PASSWORD=$SECRET
    return name.weight > WEAK and len(before) <= 40 and not any(sign in before for sign in ",;|\t")


def _is_argument(name: Name) -> bool:
    """Whether the name is a string and the first argument of a call: ("NAME", …."""
    if not name.is_quoted() or name.sign != name.closed:
        return False
    return name.text[max(0, name.outer() - 16) : name.outer() - 1].rstrip(" \\")[-1:] == "("


def _is_in_tuple(name: Name) -> bool:
    """Whether the name is the first element of a tuple in Erlang (`{password, "…"}`) or Elixir (`{:password, "…"}`)."""
    return name.text[name.start - 1 : name.start] in ("{", ":") and name.text.endswith(("{", "{:"), 0, name.start)


def _is_field(name: Name) -> bool:
    """Whether a test fills in the field with this name: `page.fill("#password", …`."""
    return secrets.has_any(line_before(name.low, name.start, 40), ("fill", ".type("))


def _is_listed_flag(name: Name) -> bool:
    return name.low.startswith("--", name.start)


def _is_constant(name: Name) -> bool:
    return name.word().startswith("curlopt_") and name.end == name.closed


def _is_looked_up(name: Name) -> bool:
    """Whether the name is looked up in the environment: os.environ.get("NAME"), process.env.NAME."""
    start = name.outer() - 1 if name.is_quoted() else name.start
    return name.low[max(0, start - 32) : start].rstrip("\"'").endswith(_GETTERS)


def _is_called(name: Name) -> bool:
    return name.closed == name.end == name.sign


def _heads_block(name: Name) -> bool:
    """Whether the name is a key with members below: `NAME:⏎  Type: …`."""
    return name.text.startswith(":\n", name.end) and not name.line_before().strip()


def _ends_question(name: Name) -> bool:
    """Whether the name ends a message that asks for it: `ana: what is the password?`."""
    return name.text[name.end + 1 : name.end + 2] in ("\n", "\r")


def _below_sentence(name: Name) -> int:
    sentence, line_break, _ = name.text[name.closed : name.closed + _LONGEST_LINE].partition("\n")
    if not line_break or not sentence.rstrip().endswith((":", ".", " reset")):
        return 0
    return lines.below_sentence(name)


_BEHIND_VALUE = (_always, starts.before_name, judge.flag)

RULES: tuple[Rule, ...] = (
    # first signs, condition on the name, start of the value, judge
    ("\"'`)]|?o,{.", _is_looked_up, starts.after_fallback, judge.assigned),
    ("?", _always, starts.after_question, judge.flag),
    ("?", _ends_question, lines.in_answer, judge.after_remark),
    (":=＝：?!|<+", _always, starts.after_assignment, judge.assigned),
    (".", _appends, starts.after_assignment, judge.assigned),
    ("=!.e-", _always, starts.after_comparison, judge.beside),
    ("", _is_tag_with_attributes, starts.behind_attributes, judge.markup),
    ("", _is_bare, starts.after_type, judge.assigned),
    ("fF", _always, starts.after_for, judge.assigned),
    (":", _heads_block, lines.in_parameter, judge.assigned),
    (":：\n\r", _is_label, starts.on_next_line, judge.below),
    ("\n\r", _is_form_field, starts.on_next_line, judge.flag),
    ("0123456789", _is_of_router, starts.after_type_digit, judge.flag),
    ("'", _is_of_statement, starts.at_sign, judge.flag),
    ("[", _always, starts.after_brackets, judge.assigned),
    ("rR/", _is_bare, starts.after_registry_type, judge.flag),
    (">", _is_tag, starts.behind_sign, judge.markup),
    (">", _is_keyed, starts.behind_sign, judge.markup),
    ("|", _always, starts.in_next_cell, judge.beside),
    ("(", _is_called, starts.behind_sign, judge.call),
    ("(", _is_bare, starts.after_remark, judge.after_remark),
    (",", _is_argument, starts.behind_comma, judge.argument),
    (",\n", _is_listed_flag, starts.next_item, judge.beside),
    (",", _is_in_tuple, starts.behind_comma, judge.beside),
    (",", _is_field, starts.behind_comma, judge.flag),
    (".", _is_in_lisp, starts.behind_dot, judge.flag),
    (".}", _always, starts.typed_in, judge.flag),
    (",", _is_constant, starts.behind_comma, judge.constant),
    ("'\"`@", _is_bare, starts.at_string, judge.in_quotes),
    ("w", Name.is_quoted, starts.behind_with, judge.beside),
    ("「『", _always, starts.at_sign, judge.beside),
    (_VERB_SIGNS, _always, starts.after_verb, judge.spoken),
    ("-→–⇒.", _always, starts.after_arrow, judge.beside),
    ("", _is_bearer, starts.at_sign, headers.authorization),
    ("", _always, _below_sentence, judge.below),
    ("\n\r", Name.is_quoted, starts.next_numbered, judge.assigned),
    ("", _is_flag, starts.at_sign, judge.flag),
    ("", _is_setting, starts.at_sign, judge.ends_line),
    ("", _is_input, starts.in_input, judge.flag),
    ("", _is_told, starts.at_sign, judge.given_word),
    (",\n\raAvV-", _always, starts.after_value_word, judge.assigned),
    ("<>", _always, starts.after_markup, judge.markup),
    ("<", _always, starts.in_cell_of_html, judge.beside),
    ("<", _always, starts.after_bold, judge.beside),
    ("{", _always, starts.after_default, judge.assigned),
    ("", _is_bare, starts.after_remark, judge.after_remark),
    (",\n\r}/>", *_BEHIND_VALUE),
    ("", _heads_bare_line, starts.at_sign, judge.line),
)
"""The first row that finds a secret decides; an assignment always does. Without signs, a row fits any sign."""

_OTHERS = [rule[1:] for rule in RULES if not rule[0]]
_SIGNS = frozenset("".join([rule[0] for rule in RULES]))
_by_sign: dict[str, list[Any]] = {"": [_BEHIND_VALUE]}


def _rules_at(sign: str) -> list[Any]:
    """Return the rows that fit the first sign after a name. The table is filled on first use of a sign."""
    if sign in _SIGNS and sign not in _by_sign:
        _by_sign[sign] = [rule[1:] for rule in RULES if (sign in rule[0] if rule[0] else sign not in _NO_VALUE)]
    return _by_sign.get(sign, _OTHERS)
