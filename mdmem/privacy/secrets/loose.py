"""Passwords in notes and chats: `pw(…)`, `the password for bob: …`, `10.0.0.5 (root/…)`, `비번은…`.

People omit signs there, or put the user's name in between. A value counts only if it does not look like a word.
"""

from __future__ import annotations

from mdmem.privacy import limits, secrets
from mdmem.privacy.secrets import groups, technologies, values
from mdmem.privacy.secrets.literals import PLACES, PROSE, QUOTES, line_at, lines, run_end, skip_blank
from mdmem.privacy.secrets.names import ELSEWHERE, SHORT
from mdmem.privacy.secrets.tokens import is_camel_case, shape, turns
from mdmem.privacy.secrets.tokens.formats import DOTTED, HEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Name, Span

_SHORTEST, _LONGEST = 6, 64  # characters of a password
_LONGEST_USER = 20  # characters of a user's name
_NEAR, _LONG_WORD = 128, 14  # characters around a name; a word this long there may be a key
_MOST_USERS = 3  # words skipped before the value: `password for bob (bob/…)`
USERS = ("root/", "admin/", "master/", "user/", "default/", "root:", "admin:")
"""Beginnings of an isolated pair of user and password."""
_SIGNING_IN = tuple(f"{verb} {word} " for verb in ("login", "log in", "sign in", "connect") for word in ("with", "as"))
LOGINS = (*_SIGNING_IN, "login:", "account:", "telnet:", "telnet ", "ssh:", "ftp:", "계정:", "계정 ")
"""Precede a user and a password, in lower case."""
_IN_PATHS = frozenset("/\\.-_~@$%=")  # before a pair that is a part of a path
_JOINS = " :(,-/)"  # between a name and its value
_BEFORE_VALUE = ":/( "  # between a user's name and the value
_SEPARATORS = frozenset(":/(,-")
_HANGUL = ("가", "힣")  # the first and the last syllable
_STOPS = " \t\r\n,;:)/\"'`<>|"  # end a value
_SIGNS = frozenset("!@#$%^&*+~")
_CODE = frozenset("=.()[]{}\\")  # in code, not in a password


def after_name(name: Name) -> list[Span]:
    """Find the password after its name, or after the name and the user's name."""
    if name.kind not in ("password", "credentials"):
        return []
    text, at = name.text, name.closed
    if not text[at : at + 1].isascii():  # the word continues in Korean: `비번은…`, `password 설정은…`
        ahead = text[at : at + 8]
        at += next((size for size, sign in enumerate(ahead) if not _HANGUL[0] <= sign <= _HANGUL[1]), 0)
    in_groups = groups.of_four(name, at)
    if in_groups:
        return in_groups
    at += 4 * text.startswith(" are", at)
    ahead = text[at : at + 8]
    start = at + len(ahead) - len(ahead.lstrip(_JOINS))
    word = _word(text, start)
    if ahead.endswith("(", 0, start - at) and _is_commit(word) and name.line_before().lstrip().startswith(("* ", "- ")):
        return []  # in a list of changes: `* reset password (8a1ec4d6)`
    if start == name.end:
        is_value = not name.word().isascii() and len(word) >= _SHORTEST and word.isascii() and text[start] not in _CODE
        is_value = is_value and values.is_unlike_words(word) and not values.names_something(word)
        return [(start, start + len(word), name.kind)] if is_value else []  # 密码…
    if _is_secret(word):
        return [(start, start + len(word), name.kind)]
    for skipped in range(_MOST_USERS):
        user, start = start, _behind_user(text, start)
        word = _word(text, start) if start else ""
        if not start or _is_secret(word):
            break
        last_word = text[user:start].strip()
        is_user = skipped == 0 or last_word not in PROSE or not _SEPARATORS.isdisjoint(text[name.closed : start])
        if name.kind == "credentials" and is_user and values.is_unlike_words(word) and word[:1].isalpha():
            return [(start, start + len(word), name.kind)]  # creds: bob / …
    is_found = _is_secret(word) and text[user:start].strip() not in PLACES
    return [(start, start + len(word), name.kind)] if is_found else _in_foreign_sentence(name)


def _is_commit(word: str) -> bool:
    return len(word) in _COMMIT_LENGTHS and not word.strip(HEX)


_COMMIT_LENGTHS = (7, 8, 9, 10, 40)
"""Of a commit's id, as git shortens it, or in full."""


def _in_foreign_sentence(name: Name) -> list[Span]:
    """Find the password in a sentence in another language: `das Kennwort … lautet …`, `пароль от сервера …`.

    The verb need not be known: the password is the first word of letters and digits, a few words after the name.
    """
    if not (name.word().endswith(_ELSEWHERE) or not name.word().isascii() or name.line_before().endswith(_GIVERS)):
        return []
    line = line_at(name.text, name.closed, _LONGEST_SENTENCE).rstrip("\r")
    most = _MOST_BETWEEN if not name.line_before().endswith(_GIVERS) else 0
    at, previous = name.closed, ""
    for number, part in enumerate(line.split(" ")):
        word = part.lstrip("\"'`«»“„「:：=—–-（(，,")
        word = word.lstrip(_letters_beyond_ascii(word))
        core = word.rstrip("\"'`»”」.,;:!?)）。")
        if len(core) >= _SHORTEST and values.is_unlike_words(core) and core.isascii() and _CODE.isdisjoint(core):
            start = at + part.index(core)
            is_other = values.is_algorithm(core) or technologies.is_type(core) or technologies.is_used(previous, core)
            return [(start, start + len(core), name.kind)] if not is_other else []
        if number > most or part[-1:] in (".", ";") or any(map(str.isdigit, part)):
            break
        at += len(part) + 1
        previous = part.lower()
    return []


def next_word(name: Name) -> list[Span]:
    """Find the secret that follows its name without a sign: `the user ana, password …`, `the API key …`."""
    if name.kind not in _SHORTEST_NEXT or (name.word() in SHORT and not _is_of_account(name)) or name.is_plain_key:
        return []  # `pass` and the like have other meanings
    start = name.closed + 1
    word = _word(name.text, start).rstrip(".?") if name.text[name.closed : start] == " " else ""
    if len(word) < _SHORTEST_NEXT[name.kind] or not word.isascii() or not _CODE_OR_PATH.isdisjoint(word):
        return []
    if not values.is_unlike_words(word) or values.names_something(word):
        return []
    return [(start, start + len(word), name.kind)]


def _is_of_account(name: Name) -> bool:
    """Whether the name follows an account on its line: `ssh root@10.0.0.4, pass …`, `user ana / pw …`."""
    before = name.line_before()
    is_next = before.endswith((", ", " / ", " and ")) and secrets.has_any(before, ("@", "ssh ", "user", "login"))
    return is_next or (before.endswith(" ") and "@" in "".join(before.split()[-1:]))


_SHORTEST_NEXT = {"password": 6, "key": 12, "token": 12, "secret": 12, "code": 8}
_CODE_OR_PATH = _CODE | frozenset("_/:|<>")


def _letters_beyond_ascii(word: str) -> str:
    return "".join([sign for sign in set(word) if sign > "\x7f"])


_ELSEWHERE = (*ELSEWHERE, "passe", "mdp", "clave", "sandi")
"""Endings of names in other languages, in ASCII."""
_GIVERS = ("with ", "use ", "use the ", "using ", "using the ", "with the ")
"""Precede "password" where the password itself follows."""
_MOST_BETWEEN, _LONGEST_SENTENCE = 4, 96
"""Maximum number of words between the name and the password, and of characters to search."""


def before_name(name: Name) -> list[Span]:
    """Find the password in `… is the password`, `… is my root password`, `… as the password`, `… as password`."""
    begin = max(0, name.start - _LONGEST - 24)
    head = name.text[begin : name.start]
    *words, after_blank = head.rpartition("\n")[2].split(" ")
    if words[-2:-1] in (["the"], ["my"], ["your"], ["its"]):
        words.pop()
    if words[-1:] in (["the"], ["my"], ["your"], ["its"]):
        words.pop()
    elif words[-1:] == ["is"]:
        return []
    is_said = len(words) > 1 and words.pop() in ("is", "as", "als", "como", "come", "comme")
    if name.kind not in ("password", "pin") or not is_said or after_blank or not (word := words[-1].strip("\"'`")):
        return []
    last = words[-1]
    end = head.rindex(last) + len(last) - 1  # of a quoted phrase
    start = head.rfind(last[-1], 0, end) + 1
    if last[-1] in QUOTES and values.phrase_at(name.text, begin + start) == head[start:end]:
        return [(begin + start, begin + end, name.kind)]
    is_quoted = last[0] in QUOTES and last[-1] in QUOTES
    is_secret = _is_secret(word) or values.is_spoken_secret(word, quoted=is_quoted)
    if not is_secret and not (is_quoted and values.is_rare(word)):
        return []
    start = begin + head.rindex(word)
    return [(start, start + len(word), name.kind)]


def nearby(name: Name) -> list[Span]:
    """Find the secret in a sentence, if a word near the name is long enough."""
    if not has_long_word(name.text, name.start, name.closed):
        return []
    from mdmem.privacy.secrets import nearby as sentence

    return sentence.announced(name)


def has_long_word(text: str, start: int, end: int) -> bool:
    """Whether a word before or after a name is long enough to be a key."""
    around = text[max(0, start - _NEAR) : start] + text[end : end + _NEAR]
    return any(len(word) >= _LONG_WORD for word in around.split())


def of_users(text: str) -> Iterator[Span]:
    """Find the password in `root/…` and `admin:…@host` for common users, unless the pair is part of a path."""
    for at, start in secrets.occurrences(text, *USERS):
        word = _word(text, start)
        before, after = text[at - 1 : at], text[start + len(word) : start + len(word) + 1]
        ends = ("@",) if text[start - 1] == ":" else ("", "\n", "\r", ",", " ", ")")
        apart = not (before.isalnum() or before in _IN_PATHS) and after in ends
        if apart and _is_secret(word) and len(set(shape(word))) > 2:
            yield start, start + len(word), "password"


def of_hosts(text: str) -> Iterator[Span]:
    """Find the password in `user@host:…`. Values with signs of paths do not count, nor do ports, which are numbers."""
    for at, _ in secrets.occurrences(text, "@"):
        begin = run_end(text, at + 1, DOTTED, _LONGEST)
        sign = next((sign for sign in (":", " / ") if text.startswith(sign, begin)), "")
        begin += len(sign)
        word = _word(text, begin) if sign else ""
        is_mixed = _SHORTEST <= len(word) <= _LONGEST and "0" in shape(word) and _OF_PATHS.isdisjoint(word)
        is_mixed = is_mixed and (len(word) < _SHORTEST_HASH or word.strip(HEX) != "")
        if is_mixed and text[at - 1 : at].isalnum() and turns(shape(word)) * 3 >= len(word):
            yield begin, begin + len(word), "password"


def chosen(text: str) -> Iterator[Span]:
    """Find passwords as people choose them, without a name: `Summer2049!`, `kW8r!tqLom`, `Admin@123`, `P@ssw0rd`.

    In code, a word with `!` is a cell of a sheet, a macro or a value that is not null, and one with `@` a version.
    """
    judged_to = 0
    for at, _ in sorted(secrets.occurrences(text, "!", "@")):
        before, ahead = text[max(judged_to, at - _LONGEST) : at], text[at : at + _LONGEST]
        start = at - len(before) + len(before.rstrip(_CHOSEN))
        end = at + len(ahead) - len(ahead.lstrip(_CHOSEN))
        word = text[start:end]
        judged_to = max(judged_to, end)
        apart = text[start - 1 : start] not in _JOINED_BEFORE and text[end : end + 1] not in _JOINED_AFTER
        apart = apart and not (text[end : end + 1] == "." and text[end + 1 : end + 2].isalnum())
        if apart and _SHORTEST_CHOSEN <= len(word) <= secrets.LONGEST_CHOSEN and _is_chosen(word):
            yield start, end, "password"


def _is_chosen(word: str) -> bool:
    """Whether a word with `!` or `@` has capitals, small letters and digits as passwords have them."""
    form = shape(word)
    bare, _, after_at = word.rstrip("!").partition("@")
    if after_at.isdecimal():  # Admin@123, but not Angular@17
        return len(after_at) >= _FEWEST_DIGITS and bare.isalpha() and bare.istitle() and len(bare) >= _FEWEST_LETTERS
    if not ("a" in form and "A" in form and "0" in form):
        return False
    if after_at:  # P@ssw0rd
        return len(bare) <= _FEWEST_DIGITS - 1 and after_at.isalnum() and after_at[0].islower()
    if not bare.isalnum():
        after_mark = bare.partition("!")[2]
        is_cell = after_mark.lstrip("$")[:1].isupper() and after_mark.lstrip("$ABCDEFGHIJKLMNOPQRSTUVWXYZ").isdecimal()
        return "!" in bare.strip("!") and "!!" not in bare and not is_cell
    return (form[0] == "A" and form.count("0") >= _FEWEST_DIGITS) or values.is_jumbled(bare)


_CHOSEN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!@#$&*+"
_JOINED_BEFORE = frozenset("._-%^~?<{}[]);")  # before a part of code
_JOINED_AFTER = frozenset("=([{}_-%^~?>")  # after it
_SHORTEST_CHOSEN = 8  # characters that most services ask for
_FEWEST_DIGITS, _FEWEST_LETTERS = 3, 4  # `Admin@123`, but `Angular@17` is a version


def of_addresses(text: str) -> Iterator[Span]:
    """Find the password in `user:password@host` if a port or path follows, or the password does not look like a word.

    Without that, `label:ana@example.org` is a mail address.
    """
    for at, after in secrets.occurrences(text, "@"):
        if not 0 <= text.rfind(":", max(0, at - _LONGEST), at) < at - _SHORTEST_AT:
            continue
        word = (text[max(0, at - _LONGEST) : at].split() or [""])[-1]
        word = word if "://" in word else word.rpartition("//")[2]
        user, colon, password = word.rpartition("=")[2].lstrip("\"'`([{<").partition(":")
        user = user.rpartition("/")[2] if user[:1].isalnum() and user.count("/") == 1 else user  # acme.local/ana
        is_user = colon and user.isidentifier() and user.lower() not in _NO_USERS and text[at - 1] not in " \t\n"
        if not (is_user and _OF_PATHS.isdisjoint(password)) or values.is_placeholder(password):
            continue
        ahead = text[after : after + _LONGEST]
        host = ahead[: len(ahead) - len(ahead.lstrip(_HOST))]
        if values.names_a_secret(password) or not _is_host(host):
            continue
        port = ahead[len(host) + 1 : len(host) + 6].partition("/")[0]
        leads_on = ahead[len(host) : len(host) + 1] == "/" or ahead.startswith("::", len(host))
        if leads_on or (ahead[len(host) : len(host) + 1] == ":" and _is_port(port)) or _is_sure(password, host):
            yield at - len(password), at, "url-password"


def _is_host(host: str) -> bool:
    return host[:1].isalnum() and (not host.replace(".", "").isdigit() or len(host.split(".")) == _PARTS_OF_IP)


def _is_port(word: str) -> bool:
    digits = word[: len(word) - len(word.lstrip("0123456789"))]
    return len(digits) > 1 and not word[len(digits) :][:1].isalnum()


def _is_sure(password: str, host: str) -> bool:
    """Whether a password counts even if nothing follows the host."""
    return "." in host and (values.is_unlike_words(password) or host.replace(".", "").isdigit())


_HOST = DOTTED + "-"
_PARTS_OF_IP, _SHORTEST_AT = 4, 4  # numbers of an IP address; characters between `:` and `@`
_NO_USERS = frozenset((
    "mailto", "sip", "sips", "xmpp", "acct", "ssh", "git", "npm", "to", "cc", "bcc", "from", "email", "mail", "jid",
    "http", "https", "ftp", "contact", "author", "user", "login", "host", "server", "remote", "origin", "url", "pkg",
    "image", "docker", "workspace", "matrix", "im", "tel", "by", "sender", "recipient", "uses",
))  # fmt: skip
"""Precede a colon and an address, or a colon and a name with a version."""

_SHORTEST_HASH = 16  # hexadecimal digits: fewer may be a password
_OF_PATHS = frozenset("/\\.~:=([]{}")  # in a path, an address or code


def of_logins(text: str, low: str) -> Iterator[Span]:
    """Find the password in `Login: user/…`, `connect as user/…` and `account: user …`.

    Raises:
        FloodError: there are more than `limits.MOST_NAMES` such labels.
    """
    for begin, at in limits.counted(secrets.occurrences(low, *LOGINS), limits.MOST_NAMES):
        start = _behind_user(text, skip_blank(text, at))
        word = _word(text, start) if start else ""
        if text.startswith("//", start + len(word)):
            word = word.removesuffix("@")  # scott/…@//host, of Oracle
        is_pair = low.startswith(_SIGNING_IN, begin) and text[at:start].strip()[-1:] in ("/", ":")
        is_pair = is_pair and "//" not in text[at:start] and values.is_varied(word)
        if _is_secret(word) or (is_pair and values.is_unlike_words(word) and not values.names_something(word)):
            yield start, start + len(word), "password"


def pairs(text: str) -> Iterator[Span]:
    """Find the password in `(user/…)`."""
    for at, _ in secrets.occurrences(text, "(") if "/" in text else ():
        slash = text.find("/", at + 2, at + 2 + _LONGEST_USER)
        user = text[at + 1 : slash] if slash > 0 else ""
        if user.replace(".", "").isalnum():
            start = at + 2 + len(user)
            word = _word(text, start)
            if _is_secret(word) and text[start + len(word) : start + len(word) + 1] in (")", ",", " "):
                yield start, start + len(word), "password"


def _behind_user(text: str, at: int) -> int:
    """Return where the value after a user's name begins: `bob: …`, `for bob/…`, `bob(…`; 0 if there is none."""
    at = skip_blank(text, at + 3) if text.startswith("for ", at) else at
    ahead = text[at : at + _LONGEST_USER]
    user = next((ahead[:end] for end, sign in enumerate(ahead) if not (sign.isalnum() or sign in "._")), "")
    start = at + len(user)
    if not user or text[start : start + 1] not in _BEFORE_VALUE:
        return 0
    return run_end(text, start, _BEFORE_VALUE, 4)


def _word(text: str, at: int) -> str:
    word = text[at : at + _LONGEST + 1]
    for stop in _STOPS:
        word = word.partition(stop)[0]
    return word


def _is_secret(word: str) -> bool:
    """Whether a word alternates between letters and digits more than names do, or has signs among them."""
    if not _SHORTEST <= len(word) <= _LONGEST or not _CODE.isdisjoint(word):
        return False
    form = shape(word)
    if "0" not in form or ("a" not in form and "A" not in form) or values.is_placeholder(word):
        return False
    if word[:2] == "0x" or (len(word) >= _SHORTEST_HASH and not word.strip(HEX)):
        return False  # a number, or a hash
    if not _SIGNS.isdisjoint(word):
        return turns(form) >= 2
    return turns(form) >= 0.4 * len(form) and not is_camel_case(form, word)


def of_mails(text: str) -> Iterator[Span]:
    """Find the passwords in a list of lines that are `user@host:password`."""
    rows = 0
    listed: list[Span] = []
    for at, line in lines(text + "\n"):
        mail, _, value = line.rstrip("\r").partition(":")
        user, _, host = mail.partition("@")
        if _is_mail(user, host) and len(value) >= _SHORTEST_LISTED and not _SIGNS_OF_PATHS.intersection(value):
            rows += 1
            if values.is_unlike_words(value):
                listed.append((at + len(mail) + 1, at + len(mail) + 1 + len(value), "password"))
        elif rows:
            if rows > 1 or (listed and values.is_varied(text[listed[0][0] : listed[0][1]])):
                yield from listed
            rows, listed = 0, []


def _is_mail(user: str, host: str) -> bool:
    is_host = "." in host and host.replace("-", "").replace(".", "").isalnum()
    return is_host and bool(user) and user.translate(_NO_MAIL_SIGNS).isalnum()


_SHORTEST_LISTED = 6  # characters of a password in a list of `mail:password`
_SIGNS_OF_PATHS = frozenset("/ \t.,:;<>()[]{}\"'`")
_NO_MAIL_SIGNS = dict.fromkeys(map(ord, "._%+-"))
