"""Whether a name and its value are isolated, as they never are in code, so that even a plain word is a secret."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import scan, values
from mdmem.privacy.secrets.literals import QUOTES, line_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy.secrets.literals import Literal
    from mdmem.privacy.secrets.scan import Name


def is_alone(name: Name, literal: Literal, *, in_line: bool, is_flag: bool) -> bool:
    """Whether a name and its value are isolated, so that even a plain word is a value, not a variable."""
    text = name.text
    if literal.start < name.start:
        return scan.line_ends(text, literal.end)
    around = text[name.start - 1 : name.start] + text[literal.end : literal.end + 1]
    if around in ('""', "''", "``") and (text[name.end] == "=" or values.is_rare(literal.text)):
        return True  # - "PASSWORD=word", echo 'password: word'
    if name.kind in ("password", "secret") and (_is_among_settings(name, literal) or _is_labeled(name, literal)):
        return True
    if name.kind == "token" and text[name.end : literal.start] == "=":
        if text[name.start - 1 : name.start] in ("?", "&", "#"):
            return any(map(str.isdigit, literal.text)) or values.is_rare(literal.text)  # ?token=…
        if text[name.start - 1 : name.start] == " " == text[literal.end : literal.end + 1]:  # I ran it with token=… and
            return values.is_rare(literal.text) and _CODE_BEFORE.isdisjoint(name.line_before())
    if literal.text[-1:] == "}" and text.endswith("${", 0, name.outer()):
        return name.kind in ("password", "secret")  # ${NAME:-…}
    if name.low[name.closed : literal.start].replace(" ", "").endswith(("value:", "value=", "default:")):
        return scan.line_ends(text, literal.end)
    if text[name.start - 1 : name.start] == "[" and text[name.end] == "]" and _is_shown_by_index(name, literal):
        return True
    if is_flag or text.startswith("--", name.outer()):
        if text[name.end] == "=" and literal.start == name.end + 1 and name.kind in ("password", "secret", "key"):
            return True  # --password=word install
        is_rare = name.kind == "password" and values.is_rare(literal.text)
        return scan.line_ends(text, literal.end) or _is_in_command(text, literal.end) or is_rare
    is_spaced = text[name.end : literal.start] == " = "
    if is_spaced and text[name.outer() - 1 : name.outer()] in ("", "\n") and _is_in_properties(name):
        return scan.line_ends(text, literal.end)
    if is_spaced and _is_right_aligned(name):
        return scan.line_ends(text, literal.end)
    is_statement = is_spaced and not (_is_in_section(name) or _is_hyphened(literal.text))
    is_statement = is_statement or literal.text[-1:] in (",", ";", ")")
    return in_line and not is_statement and scan.line_ends(text, literal.end)


def _is_in_command(text: str, end: int) -> bool:
    """Whether an option, an address, a file or another command follows the argument that ends here."""
    following = line_at(text, end, _LONGEST_NEXT)
    word = "".join(following.split()[:1])
    is_host = "." in word and word[-1].isalnum() and word[0].isalnum()
    return following[:1] == " " and (is_host or word[:1] in _IN_COMMANDS or "://" in word or word in _OF_NETRC)


_IN_COMMANDS = frozenset("-/~|>&")
_OF_NETRC = ("machine", "account", "macdef", "default")


def _is_among_settings(name: Name, literal: Literal) -> bool:
    """Whether a pair is among others: `Id=a;Password=…`, `?user=a&pw=…&b=1`, `user=a pw=… b`, `user: a / pass: …`."""
    text, before = name.text, name.line_before()
    after = text[literal.end : literal.end + 1]
    if _is_in_record(name, literal, before):
        return True
    before = before.rpartition("] ")[2] if before[:1] == "[" else before  # a log line: `[ssh] login: … password: …`
    if text[name.end] == "=" and text[name.end + 1 : literal.start] in ("", "{"):
        last_word = "".join(before.split(" ")[-2:-1]).replace('"', "").strip("'")
        in_row = "=" in last_word and last_word.replace("=", "", 1).replace(".", "").replace("_", "").isalnum()
        in_query = text[name.start - 1 : name.start] in ("?", "&") and (after in _ENDS_PAIR or after in QUOTES)
        is_next = text[name.start - 1 : name.start] == ","
        in_options = is_next and (" -o " in before or before.split()[-1].startswith(_USERS))  # -o username=a,password=…
        if text[name.start - 1 : name.start] in QUOTES and after == " ":  # --extra-vars "password=… env=prod"
            in_options = "=" in text[literal.end : literal.end + _LONGEST_NEXT].split(" ")[1]
        is_option = text.startswith(("--", "-D", "-P"), name.outer()) and name.word() != "pass"
        in_row = in_row or in_options or is_option or before.lstrip("$ ").startswith(_COMMANDS)
        if in_query or in_row or text[name.start - 1 : name.start] == ";" or "-" in literal.text:
            return True
        return after in _ENDS_WORD and values.is_rare(literal.text) and _CODE_BEFORE.isdisjoint(before)
    is_login = secrets.has_any(before, _ACCOUNTS) or (name.word() in ("pw", "pwd") and after in ("", "\n"))
    is_login = is_login and ":" in text[name.end : literal.start] and name.closed == name.end
    return is_login and after in _ENDS_PAIR and _CODE_BEFORE.isdisjoint(before)


def _is_in_record(name: Name, literal: Literal, before: str) -> bool:
    """Whether the pair is a field of a printed object: `Login[user=…, pw=…]`, `{User:… Password:…}`."""
    opening = max(before.rfind("["), before.rfind("{"), before.rfind("("))
    fields = before[opening + 1 :]
    if name.is_shouted() and before[opening : opening + 1] == "[" and name.text[name.end : literal.start] == "=":
        variables = [field.partition("=") for field in name.text[name.start - len(fields) : name.start].split()]
        if all(sign and variable.isupper() for variable, sign, _ in variables):
            return True  # [PATH=… DB_PASSWORD=…], as Docker prints an environment
    sign = name.text[name.end : literal.start]
    if opening < 0 or (literal.text[-1:] not in ("]", "}", ")", ",") and sign != ":"):
        return False
    if sign == ": " and before[opening] == "{":
        return _is_in_flow(name, literal, before[:opening].strip(" "), fields)
    if sign == ":":
        parts = fields.split()
        if before.endswith("map["):
            return True  # a map printed by Go
        return (
            before[opening] == "{"
            and bool(parts)
            and all(":" in part.strip(",:") and part[-1] != "," for part in parts)
        )
    shows = before[opening - 1 : opening].isalnum() and before[opening] != "("
    shows = shows or "@" in fields or values.is_rare(literal.text.rstrip("]}),"))
    return sign == "=" and "=" in fields and '"' not in fields and shows


def _is_in_flow(name: Name, literal: Literal, head: str, fields: str) -> bool:
    """Whether the pair is in a mapping that is a line of YAML: `login: {user: …, password: …}`."""
    last = name.text[literal.end - 1 : literal.end + _LONGEST_NEXT].partition("\n")[0].rstrip()[-1:]
    if last != "}" or (head not in ("", "-") and head[-1:] != ":"):
        return False
    is_account = head == "-" or secrets.has_any(fields, _ACCOUNTS)  # no line of a program begins with `- {`
    return name.is_shouted() or (is_account and values.is_rare(literal.text.rstrip(",}")))


def _is_shown_by_index(name: Name, literal: Literal) -> bool:
    """Whether the pair is `[password] => …` on a separate line, or `&user[password]=…` in form data."""
    text, before = name.text, name.line_before()
    sign = text[name.end + 1 : literal.start]
    if sign == " => ":
        return before.strip() == "[" and scan.line_ends(text, literal.end) and not values.is_adjective(literal.text)
    is_form = text[literal.end : literal.end + 1] == "&" or "&" in before
    return sign == "=" and is_form and text[literal.end : literal.end + 1] in ("", "&", "\n", "'", '"')


def _is_hyphened(value: str) -> bool:
    """Whether a value is words joined by hyphens, not a subtraction of variables: `red-lamp-shade`."""
    words = value.split("-")
    return len(words) > 1 and all(word.isalpha() and len(word) > 2 for word in words)


def _is_labeled(name: Name, literal: Literal) -> bool:
    """Whether the line is `Root password: …` or `New password: …`, as programs ask for a password or print it."""
    text, before = name.text, name.line_before().split()
    is_label = text[name.end : literal.start].strip() == ":" and 1 <= len(before) <= _MOST_LABELS
    asks = before[:1] in _ASKING
    is_label = is_label and all(
        word in _LABELS or word.endswith(_OF_HOST) or (asks and word.isalpha()) for word in before
    )
    is_label = is_label and scan.line_ends(text, literal.end)
    return is_label and not values.is_adjective(literal.text)


def _is_in_section(name: Name) -> bool:
    """Whether the pair is in an INI file: only settings and comments are between it and a `[section]` above."""
    lines_above = name.text[max(0, name.start - _LONGEST_SECTION) : name.start].split("\n")[:-1]
    for line in reversed(lines_above):
        if line[:1] == "[":
            return line.rstrip()[-1:] == "]" and not any(sign in line for sign in "\"',(")
        if "=" not in line and line.strip()[:1] not in ("", "#", ";"):
            return False
    return False


def _is_in_properties(name: Name) -> bool:
    """Whether the pair is among settings of which one has a value that a program would quote: `db.url = jdbc:…://…`."""
    lines_above = name.text[max(0, name.start - _LONGEST_SECTION) : name.start].split("\n")[:-1]
    lines_below = name.text[name.end : name.end + _LONGEST_SECTION].split("\n")[1:]
    for lines in (reversed(lines_above), lines_below):
        for line in lines:
            key, sign, value = line.partition("=")
            if not sign and line.strip()[:1] not in ("", "#", "!"):
                break
            if len(key.split()) == 1 and _is_unquoted(value.strip()):
                return True
    return False


def _is_right_aligned(name: Name) -> bool:
    """Whether the names of this line and of another one beside it end in the same column, as sqlite prints a record."""
    before, _, indent = name.text[max(0, name.start - _LONGEST_SECTION) : name.start].rpartition("\n")
    below = name.text[name.end : name.end + _LONGEST_SECTION].split("\n")[1:2]
    column = len(indent) + name.end - name.start
    for line in (before.rpartition("\n")[2], *below):
        blanks = len(line) - len(line.lstrip(" "))
        if line.find(" = ") == column and blanks != len(indent) and line[blanks:column].isidentifier():
            return not indent.strip()
    return False


def _is_unquoted(value: str) -> bool:
    """Whether a value is an address or a host without quotes, of which no program consists."""
    is_host = value == "localhost" or (value.count(".") == 3 and value.replace(".", "").isdecimal())
    return is_host or ("://" in value and " " not in value and _QUOTING.isdisjoint(value) and value[0].isalpha())


_QUOTING = frozenset("\"'`(,;")
_LONGEST_SECTION, _MOST_LABELS = 600, 3
_LABELS = frozenset(
    """
    new old current enter re-enter type retype repeat confirm verify root admin administrator default user db database
    mysql postgres wifi wi-fi wlan
    master initial temporary temp generated login sudo my your the app application mail email ssh ftp vnc guest router
    key private gpg pgp elastic grafana jenkins superuser owner account server ihr dein mein das neues votre mon mot
    vault become npm ldap keystore de mi su minha sua mia moje mijn mitt la il el
    """.split()
)
"""Words before "password" in a label."""
_ASKING = (["enter"], ["please"], ["verifying"], ["re-enter"], ["retype"], ["confirm"])
_OF_HOST = "'s"
"""Ends what a client prints before `password:`: the user and the host."""
_USERS = ("user=", "username=", "domain=")
_COMMANDS = ("vault write ", "/interface ", "/ip ", "/user ", "/ppp ")
"""Commands that take settings as arguments."""
_ACCOUNTS = tuple("user login benutzer usuario usuário utilisateur utente użytkownik gebruiker логин".split())
"""Words in the label of an account's name."""
_LONGEST_NEXT = 64
_ENDS_WORD = ("", " ", "\n", "\r")
_ENDS_PAIR = frozenset(("", "&", " ", "\n", "\r", ","))
_CODE_BEFORE = frozenset('(){}[]<>"=')
