"""Secrets with a name: `PASSWORD=…`, `"apiKey": "…"`, `--token …`, "the pin is …".

`scan` reads a name that contains a keyword, and the signs after it. `RULES` has one row for each way to join a name and
a value: the possible first signs, a condition on the name, a function that finds the value (`starts`), and one that
judges it (`judge`). The first row that finds a secret decides.
"""

from __future__ import annotations

from mdmem.privacy import limits, secrets
from mdmem.privacy.secrets import groups, literals, loose, names, scan, tables
from mdmem.privacy.secrets.names import LITERAL, WEAK
from mdmem.privacy.secrets.pairs import judge, starts
from mdmem.privacy.secrets.scan import Name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mdmem.privacy.secrets.scan import Span

    Rule = tuple[str, Callable[[Name], bool], Callable[[Name], int], Callable[[Name, int], list[Span]]]

_LIGHT = 0.5  # what an occurrence that names no secret counts towards `limits.MOST_NAMES`
_OF_PROGRAMS = ("password", "secret", "random_password", "github-oauth", "gitlab-oauth", "gitlab-token")
"""Names that `lines.value_in_program` knows, beside those behind an equals sign."""

_MAY_FOLLOW = frozenset(scan.CLOSERS + " \t:=＝：?!><([|→\n\r,는은は是为為/*.")
_FIRST_HANGUL, _CJK = "가", "\u3000"
_VERB_SIGNS = "aAbBcCdDeEfFgGhHiIlLmMoOpPrRsStTvVwWèéは는은是为為"
_NO_VALUE = "|:=＝：,\n\r()"
"""Signs that do not begin a value."""
_SETTERS = (
    "env ", "set -x ", "set -gx ", "set -ux ", "fastcgi_param ", "setx ", "configure set ", "config set ",
    "etcdctl put ", "git config ", "config --global ", "config --local ", "config --system ", "config set --secret ",
    "kv put ", "--arg ", "proxy_set_header ", "setenv ",
)  # fmt: skip
_GETTERS = (
    "env(", "env.get(", "environ.get(", "environ[", "env[", "env.fetch(", "env.", "environment.", "variable(", "::var(",
)  # fmt: skip
_IN_QUERY = ("key", "code", "sig", "x-amz-signature")


def in_text(text: str, low: str, marks: tuple[str, ...], words: frozenset[str] | None) -> Iterator[Span]:
    """Find secrets with a name, in pairs, tables and what commands print, also in disguised or escaped letters."""
    yield from find(text, low, marks, words)
    if secrets.has_any(text, secrets.PROMPTS):
        from mdmem.privacy.secrets import printed

        yield from (span for span in printed.find(text) if not text.startswith(marks, span[0]))
    bare = secrets.plain_names(tables.in_ascii(text))
    low_bare = low if bare is text else bare.replace("\u0130", "I").lower()
    if bare is not text or "\x1b[" in text or secrets.has_any(low, literals.ESCAPES):
        plain = literals.unescaped(bare, low)
        yield from find(plain, literals.unescaped(low_bare, low), marks, words if bare is text else None)
    if "\n" in text or secrets.has_any(low, secrets.IN_ONE_LINE):
        yield from (span for span in tables.find(bare, low_bare) if not text.startswith(marks, span[0]))
    if text.lstrip()[:1] in _JSON and "\\n" in text and not text.startswith('"""'):
        yield from _in_strings(text, low, marks)


_JSON = ("{", "[", '"')
"""Beginnings of a text in JSON."""


def _in_strings(text: str, low: str, marks: tuple[str, ...]) -> Iterator[Span]:
    """Find such secrets in the strings of JSON that have several lines, as if each were a file."""
    from mdmem.privacy import views

    lines = views.strings_of_lines(text, low)
    low = lines.lower() if lines.isascii() else views.strings_of_lines(low, low)
    for start, end, kind in in_text(lines, low, marks, secrets.words(low)) if lines else ():
        yield start, start + len(lines[start:end].rstrip()), kind  # a blank stands before what was an escape


def find(text: str, low: str, marks: tuple[str, ...], words: frozenset[str] | None = None) -> Iterator[Span]:
    """Find secrets with a name, in ascending order for each keyword.

    low: the text in lower case, with the same offsets. marks: prefixes of values that are already masked.
    words: the words of a long text, from `secrets.words`.

    Raises:
        FloodError: there are more than `limits.MOST_NAMES` names to judge.
    """
    judged = 0.0
    for keyword in [word for word in secrets.keywords(text, words) if word in low]:
        length = len(keyword.rstrip("=:").removesuffix(" is"))
        at = low.find(keyword)
        while at >= 0:
            end = scan.name_end(low, at + length)
            is_cjk = keyword[0] >= _CJK
            if not keyword.isascii():
                end = at + length if is_cjk else scan.word_end(low, end)
            if is_cjk or low[end : end + 1] in _MAY_FOLLOW or low[end : end + 1] >= _FIRST_HANGUL or end == len(low):
                start = scan.name_start(low, at)
                weight, kind = _weigh(text, low, start, end)
                if not (weight or names.is_in_module(text, start, end, "")) and "-" in low[at + length : end]:
                    spans = _of_part(text, low, start, low.index("-", at + length))  # "password-bob: …"
                    yield from (span for span in spans if not text.startswith(marks, span[0]))
                judged += 1 if weight and (kind != _PLAIN_KEY or low[end : end + 1] == " ") else _LIGHT
                if judged > limits.MOST_NAMES:
                    raise limits.FloodError
                if weight:
                    name = Name(text, low, start, end)
                    name.weight, name.kind = weight, kind
                    if kind == _PLAIN_KEY:
                        name.kind, name.is_plain_key = "key", True
                    for span in _secrets_of(name):
                        if not text.startswith(marks, span[0]):
                            yield span
                            end = max(end, span[1])
            at = low.find(keyword, end)


def _of_part(text: str, low: str, start: int, end: int) -> list[Span]:
    """Find the password after a name whose first part names it: `password-bob: …`."""
    name = Name(text, low, start, end)
    name.weight, name.kind = _weigh(text, low, start, end)
    return loose.after_name(name) if name.weight else []


def _secrets_of(name: Name) -> list[Span]:
    text = name.text
    if name.word() in _OF_PROGRAMS or text[name.start - 1 : name.start] == "=":
        from mdmem.privacy.secrets.pairs import lines

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
    if not spans and name.word()[-1:] >= _CJK:
        from mdmem.privacy.secrets import nearby

        return nearby.behind_ideographs(name)
    return spans or (groups.near(name) if name.kind == "password" else [])


# -- the weight of a name


def _weigh(text: str, low: str, start: int, end: int) -> tuple[int, str]:
    name = text[start:end]
    weight, kind = _remembered(name)
    if name == "nonce" and text.startswith(('="', "='"), end):
        return names.NONE, ""  # of a challenge or a page's scripts, so public
    if text[end : end + 1] == ":" == text[start - 1 : start] and names.is_in_arn(low, start):
        return names.NONE, ""
    if names.is_in_module(text, start, end, kind):
        return names.NONE, ""
    if weight or len(name) > scan.LONGEST_NAME // 2:
        return weight, kind
    word = low[start:end]
    if word.endswith("key") and text[end : end + 1] == " " and starts.type_digit(text, end + 1) and "pub" not in word:
        return LITERAL, "key"
    if word == "key" and low[max(0, start - 16) : start].rpartition("\n")[2].strip() == "option":
        return names.STRONG, "key"  # option key '…', of OpenWrt
    if word in ("key", "phrase", "code") and text[start - 1 : start] in (" ", "."):  # "the API key is …", "api.key=…"
        weight, kind = _remembered(" ".join(low[max(0, start - 12) : end].replace(".", " ").split()[-2:]))
        if not weight and word == "key" and text[end : end + 1] == " " and loose.has_long_word(text, end, end):
            return WEAK, _PLAIN_KEY
        if weight or (text[start - 1] == " " and (word != "key" or not _is_set(text, end))):
            return min(weight, LITERAL if _is_set(text, end) else WEAK) if kind == "key" else weight, kind
    if text[start - 1 : start] in ("?", "&") and low[start:end] in _IN_QUERY:
        return WEAK, "key"
    is_given = _is_set(text, end) or (len(name) > len("key") and text[end : end + 1] in _AFTER_KEY)
    if word.endswith("key") and is_given and names.may_open(word):
        return WEAK, _PLAIN_KEY
    return names.NONE, ""


_LONGEST_LINE = 96
_OF_ACCOUNTS = ("user", "log", "sign", "bind", "connect", "account", "cn=")
"""Words in a sentence that gives an account's password."""
_PLAIN_KEY = "some-key"
_AFTER_KEY = frozenset("\"'`>]\\ ")


def _is_set(text: str, end: int) -> bool:
    return text[end : end + 3].lstrip(" ")[:1] in ("=", ":")


def _remembered(name: str) -> tuple[int, str]:
    """Return the weight and kind of a name, cached, because a text repeats few names many times."""
    if name not in _weighed:
        if len(_weighed) >= _MOST_WEIGHED:
            _weighed.clear()
        _weighed[name] = names.weigh(name)
    return _weighed[name]


_weighed: dict[str, tuple[int, str]] = {}
_MOST_WEIGHED = 512


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
    if not _is_bare(name) or len(name.text[name.sign : name.sign + _LONGEST_LINE].partition("\n")[0].split()) != 1:
        return False
    from mdmem.privacy.secrets.pairs import lines

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
    if name.low[start] == "-" and name.text.startswith("  ", name.closed):
        from mdmem.privacy.secrets.pairs import lines

        if lines.explains_option(name):
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
    return _is_bare(name) and starts.type_digit(name.text, name.sign) > 0


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
    return secrets.has_any(name.low[max(0, name.start - 40) : name.start].rpartition("\n")[2], ("fill", ".type("))


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


def _in_answer(name: Name) -> int:
    from mdmem.privacy.secrets.pairs import lines

    return lines.in_answer(name)


def _below_sentence(name: Name) -> int:
    sentence, line_break, _ = name.text[name.closed : name.closed + _LONGEST_LINE].partition("\n")
    if not line_break or not sentence.rstrip().endswith((":", ".", " reset")):
        return 0
    from mdmem.privacy.secrets.pairs import lines

    return lines.below_sentence(name)


def _in_parameter(name: Name) -> int:
    from mdmem.privacy.secrets.pairs import lines

    return lines.in_parameter(name)


_BEHIND_VALUE = (_always, starts.before_name, judge.flag)

RULES: tuple[Rule, ...] = (
    # first signs, condition on the name, start of the value, judge
    ("\"'`)]|?o,{.", _is_looked_up, starts.after_fallback, judge.assigned),
    ("?", _always, starts.after_question, judge.flag),
    ("?", _ends_question, _in_answer, judge.after_remark),
    (":=＝：?!|<+", _always, starts.after_assignment, judge.assigned),
    (".", _appends, starts.after_assignment, judge.assigned),
    ("=!.e-", _always, starts.after_comparison, judge.beside),
    ("", _is_tag_with_attributes, starts.behind_attributes, judge.markup),
    ("", _is_bare, starts.after_type, judge.assigned),
    ("fF", _always, starts.after_for, judge.assigned),
    (":", _heads_block, _in_parameter, judge.assigned),
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
    ("", _is_bearer, starts.at_sign, judge.header),
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
