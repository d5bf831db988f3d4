"""Secrets that a sentence announces: `the key for maps is …`, `use … as the API token`, `an acme secret … within`.

Near such a word, even a hexadecimal number or a UUID is masked, which alone would be a hash or an id. It is kept if a
word says that it is one, or if the sentence ends in between.
"""

from __future__ import annotations

from itertools import takewhile

from mdmem.privacy import secrets
from mdmem.privacy.secrets import signs, technologies, values
from mdmem.privacy.secrets.literals import PLACES, line_at, line_before, lines
from mdmem.privacy.secrets.names import WEAK
from mdmem.privacy.secrets.tokens import is_opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Name, Span

_REACH = 80
"""Maximum distance from a name to its value, in characters."""
_MOST_WORDS = 6  # words between a name and a value
_SHORTEST, _LONGEST = 14, 128  # characters of a value
_QUOTES = "\"'`*_"
_AROUND = _QUOTES + ",.;:!?"
_KINDS = frozenset(("key", "secret", "token", "credentials", "password", "authorization"))
_CODE = frozenset("=(){}[]<>\\/$@#")
_STOPS = frozenset(".;!?")  # end a sentence

_PUBLIC = frozenset(
    """
    address algorithm blob branch build cache checksum commit commits container count digest etag event file files
    fingerprint fixes function guid hash hashes head id ids identifier image index issue line merge message named node
    object parent path pgp gpg public pull ref refs release request rev revert reverts revision rsa session sha sha1
    sha256 sha512 signed since size snapshot ssh tag task thread tree type uuid version
    """.split()
)
"""Words between a name and a value, or just before, that mean that the value is not secret: `token for commit …`."""

_AS = frozenset(("is", "as", "was", "are", "<-", "←", "#", "//"))
"""Words between a value and the name after it: `use … as the API key`, `… <- my token`."""

_PRESENTERS = frozenset(("here", "here's", "heres", "my"))
"""Words of a line that announces a secret, but do not begin a commit title: `Here is the key`."""
_FENCES = ("```", "~~~")
_MOST_LINES = 4  # lines below a name


def announced(name: Name) -> list[Span]:
    """Find the secret that a sentence announces: after its name, before it, or on the lines below."""
    if name.kind not in _KINDS or (name.is_plain_key and not _is_of_something(name)):
        return []
    return _after_name(name) or _before_name(name) or _on_next_lines(name)


def behind_ideographs(name: Name) -> list[Span]:
    """Find the password in `密码已改成…`, `管理员密码…不要改`, where no blank separates words."""
    ahead = name.text[name.closed : name.closed + _REACH]
    size = next((number for number, sign in enumerate(ahead[: _MOST_WORDS + 1]) if sign.isascii()), _REACH)
    if size > _MOST_WORDS:
        return []
    word = "".join([sign if "!" <= sign <= "~" else " " for sign in ahead[size:]]).partition(" ")[0].rstrip(_AROUND)
    is_told = size == 0 or (ahead[size - 1] in _MADE and _OF_FIELDS.isdisjoint(ahead[:size]))
    if not (is_told and _is_password(word)):
        return []
    return [(name.closed + size, name.closed + size + len(word), name.kind)]


_MADE = "为為成到に"
"""End what comes between the name and the password: changed to."""
_OF_FIELDS = frozenset("段型列度")  # in field, type, column, length


def _is_of_something(name: Name) -> bool:
    """Whether a plain "key" may be secret, not one of a public kind: `RSA key`, `cache key`."""
    words = name.line_before().split()[-2:]
    return name.weight == WEAK and bool(words) and _PUBLIC.isdisjoint(words)


def _after_name(name: Name) -> list[Span]:
    text, at = name.text, name.closed
    if text.startswith(", ", at):
        return []  # one of several names
    line = line_at(text, at, _REACH)
    place, previous = 0, ""
    for word in line.split(None, _MOST_WORDS)[:_MOST_WORDS]:
        start = line.index(word, place)
        place = start + len(word)
        if len(word) >= _SHORTEST or place == len(line):
            start += at + len(word) - len(word.lstrip(_AROUND))
            value = _word(text, start)
            if is_opaque(value):
                return [(start, start + len(value), name.kind)] if previous not in PLACES else []
        previous = word.lower()
        if word[-1] in _STOPS or not _CODE.isdisjoint(word) or word.strip(_AROUND).lower() in _PUBLIC:
            return []
    return []


def _before_name(name: Name) -> list[Span]:
    line = line_before(name.text, name.start, _REACH + _LONGEST)
    words = line.split()
    between: list[str] = []
    for word in reversed(words[-_MOST_WORDS:]):
        value = word.strip(_QUOTES)
        if len(value) >= _SHORTEST and is_opaque(value):
            if not between or between[-1] not in _AS or not _PUBLIC.isdisjoint(between):
                return []
            start = name.start - len(line) + line.rindex(value)
            return [(start, start + len(value), name.kind)]
        if not word.isalpha() and word not in _AS:
            return []
        between.append(word.lower())
    return []


def _on_next_lines(name: Name) -> list[Span]:
    """Find the secret on a separate line below `Here is my key:`."""
    text = name.text
    rest_of_line, newline, _ = text[name.closed : name.closed + _REACH].partition("\n")
    if not newline or not _presents(name.line_before().split(), rest_of_line.strip()):
        return []
    at = name.closed + len(rest_of_line) + 1
    for start, line in [*lines(text[at : at + _REACH + _LONGEST], at)][:_MOST_LINES]:
        value = line.strip().strip(_QUOTES)
        if value and not line.startswith(_FENCES):
            start += line.index(value)
            return [(start, start + len(value), name.kind)] if is_opaque(value) else []
    return []


def _presents(before: list[str], rest_of_line: str) -> bool:
    """Whether a line announces the value below it, and does not say that this is public."""
    after = rest_of_line.rstrip(_AROUND).lower().split()
    if len(after) > _MOST_WORDS or not _CODE.isdisjoint(rest_of_line) or not _PUBLIC.isdisjoint((*before, *after)):
        return False
    return rest_of_line[-1:] == ":" or not _PRESENTERS.isdisjoint(before)


def _word(text: str, at: int) -> str:
    """Return the word at an offset, up to white space, without punctuation and quotes at its end."""
    ahead = text[at : at + _LONGEST + 1].split(None, 1)
    word = ahead[0] if ahead and not text[at].isspace() else ""
    return word.rstrip(_AROUND)


# -- passwords in what people and agents write


def in_prose(text: str) -> Iterator[Span]:
    """Find the passwords in sentences about signing in: `log in as ana with …`, `change the password from … to …`.

    A password is a word of letters and digits at a place where a name is unlikely. Lines of code are not searched.
    """
    for at, line in lines(text):
        is_prose = len(line) <= _LONGEST_LINE and _CODE_IN_LINE.isdisjoint(line.replace("; ", " "))
        if is_prose and _speaks_of_signing_in(line.lower()):
            for start, end, kind in _in_line(line):
                yield at + start, at + end, kind


def _speaks_of_signing_in(low: str) -> bool:
    return secrets.has_any(low, signs.PROSE_SIGNS)


def _in_line(line: str) -> Iterator[Span]:
    sentences = line
    for sign in _SENTENCE_ENDS:
        sentences = sentences.replace(sign, sign[:-1] + "\n")
    for at, sentence in lines(sentences):
        if _speaks_of_signing_in(sentence.lower()):
            words = list(_words(sentence))
            passwords: set[int] = set()
            for number, (start, word) in enumerate(words):
                is_next = number - 2 in passwords and words[number - 1][1] in _JOINING
                is_password = _is_password(word) or (_is_of_two_words(word) and _is_told(words, number))
                if is_password and (is_next or _is_given(words, number, sentence)):
                    passwords.add(number)
                    yield at + start, at + start + len(word), "password"
            yield from ((at + start, at + end, kind) for start, end, kind in _codes(words, sentence))


def _words(sentence: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a sentence with their offsets, without the signs around them. A lone sign is a word too.

    Chinese and Japanese characters separate words.
    """
    without_cjk = "".join([char if char < _CJK else " " for char in sentence])
    place = 0
    for part in without_cjk.split():
        place = without_cjk.index(part, place)
        word = part.strip(_EDGES)
        yield (place + part.index(word), word) if word else (place, part)
        place += len(part)


def _is_password(word: str) -> bool:
    """Whether a word is of letters and digits, and not the name of a program, an algorithm, a part or a commit."""
    low = word.lower()
    if not (_SHORTEST_TYPED <= len(word) <= _LONGEST_TYPED and word.isascii() and _SIGNS.isdisjoint(word)):
        return False
    if low.rstrip("0123456789") in _PROGRAMS or not low.strip("0123456789abcdef") or not values.is_unlike_words(word):
        return False
    return word[0].isalpha() and not values.names_something(word) and not technologies.is_type(word)


def _is_of_two_words(word: str) -> bool:
    """Whether a word is two or more words and a number, as people choose passwords: `velvet-ocean7`."""
    if not (word[-1].isdigit() and "-" in word and word.isascii() and len(word) <= _LONGEST_TYPED):
        return False
    return all(part.isalpha() and len(part) >= _SHORTEST_PART for part in word.rstrip("0123456789").split("-"))


_SHORTEST_PART = 4  # letters of each word: `velvet-ocean7`


def _is_told(words: list[tuple[int, str]], number: int) -> bool:
    """Whether a word directly follows `password is`."""
    before = [previous.lower() for _, previous in words[max(0, number - 2) : number]]
    return len(before) == 2 and before[1] in _EQUALS and before[1] not in _AS_A and before[0] in _PASSWORDS


_PASSWORDS = frozenset(("password", "passphrase", "passwort", "kennwort", "passcode", "contraseña", "senha"))


def _is_given(words: list[tuple[int, str]], number: int, sentence: str) -> bool:
    """Whether the words around a word give it as a password, and do not name a machine or a person with it."""
    start, word = words[number]
    before = [previous.lower() for _, previous in words[max(0, number - _MOST_GIVING) : number]]
    next_word = words[number + 1][1].lower() if number + 1 < len(words) else ""
    last_word = before[-1] if before else ""
    around = sentence[max(0, start - 2) : start] + sentence[start + len(word) : start + len(word) + 2]
    if any(char >= _CJK for char in around):
        return "パス" in sentence or not technologies.is_technology(word)
    if last_word in _JOINING:
        givers = _WITH | _ACCOUNTS if last_word == "/" else _WITH
        return len(before) > 1 and before[-2].isalpha() and not givers.isdisjoint(before)
    if last_word in _EQUALS and last_word not in _AS_A:
        subject = before[-2] if len(before) > 1 else ""
        return subject in _SUBJECTS or _speaks_of_signing_in(subject + " ")
    after = [following.lower() for _, following in words[number + 2 : number + 7]] if next_word in _AS_A else []
    role = set(takewhile(lambda following: following not in _FOR, after))
    if not _USER_NAMES.isdisjoint(role) and _PASSWORDS.isdisjoint(role):
        return False
    if technologies.is_used(last_word, word) and _AS_USER.isdisjoint(before) and next_word not in _AS_A:
        return False
    if last_word in _INTO:
        return any(previous.startswith(_CHANGING) for previous in before)
    if last_word == "from":
        return next_word == "to"
    return last_word in _GIVING if last_word else next_word in _EQUALS


def _codes(words: list[tuple[int, str]], sentence: str) -> Iterator[Span]:
    """Find the digits of `the OTP is …`, `die TAN ist …`, `2FA code 483 920`, `暗証番号は…`."""
    for number, (start, word) in enumerate(words):
        if (
            word.isdecimal()
            and secrets.has_any(sentence[:start], signs.CODES_IN_CJK)
            and _SHORTEST_CODE <= len(word) <= _LONGEST_CODE
        ):
            yield start, start + len(word), "pin"
        if word not in _CODES and word.lower() not in _CODES_BEFORE_VERB:
            continue
        words_after = words[number + 1 : number + 1 + _MOST_GIVING]
        verbs = list(takewhile(lambda pair: pair[1].lower() in _BEFORE_CODE, words_after))
        after_verbs = words_after[len(verbs) :]
        if not after_verbs or not (word in _CODES or verbs):
            continue
        first, code = after_verbs[0]
        end = first + len(code)
        if len(code) == _HALF_OF_CODE and len(after_verbs) > 1 and len(after_verbs[1][1]) == _HALF_OF_CODE:
            code, end = code + after_verbs[1][1], after_verbs[1][0] + _HALF_OF_CODE
        if code.isdecimal() and _SHORTEST_CODE <= len(code) <= _LONGEST_CODE:
            yield first, end, "pin"


_LONGEST_LINE = 1000  # characters: a longer line is data, not prose
_CODE_IN_LINE = frozenset("{};=<>")  # a line with one of these is code, except for a semicolon between clauses
_SENTENCE_ENDS = (". ", "! ", "? ", "; ", "。")
_EDGES = "\"'`«»“„”「」()*,.;:!?–—"
_SIGNS = frozenset("()[]{}\\/_.:|<>=-'\"")
_SHORTEST_TYPED, _LONGEST_TYPED = 6, 40  # characters of a password that a person types
_MOST_GIVING = 6  # words searched for a verb before a password, or for a code
_SHORTEST_CODE = 4  # digits
_LONGEST_CODE = 8
_HALF_OF_CODE = 3  # digits in each half of `123 456`
_PROGRAMS = frozenset(
    """
    python pypy mysql mariadb postgres postgresql mongo redis node nodejs php ruby java jdk django rails vue react
    angular bootstrap ubuntu debian fedora centos rhel windows macos android ios ucs latin iso ipv http https tls ssl
    urllib sqlite openid saml error status code exit user win lib sprint release chapter part task ticket issue build es
    chrome chromium firefox safari iphone ipad rfc port
    """.split()
)
"""Words that numbers follow: programs, formats, parts."""
_JOINING = frozenset(("and", "und", "et", "y", "e", "/"))  # between a user and a password
_WITH = frozenset(("with", "as", "user", "mit", "als", "avec", "con", "use", "credentials", "identifiants", "in"))
_AS_USER = frozenset(("as", "als", "comme", "como", "user", "utilisateur", "usuario"))  # before a user
_ACCOUNTS = frozenset(("login", "logins", "zugang", "account", "konto", "acceso", "accès"))  # `the login is ana / …`
_INTO = frozenset(("to", "auf", "en", "a"))  # before the new password, after `_CHANGING`
_CHANGING = ("set", "chang", "reset", "rotat", "switch", "änder", "geändert", "cambi", "passwort", "kennwort")
_GIVING = frozenset(
    """
    with use enter type try it's its still now be not mit lautet gib heißt nimm sondern mets tape
    c'est vaut toujours avec con pon siendo or : - → ->
    verwende verwendet benutze nehmt utilise utilisez utiliser prends mettez tapez usa utiliza usar gebruik inserisci
    """.split()
)
"""Words before a password."""
_AS_A = frozenset(("as", "als", "comme", "como"))  # rather before a user than a password
_FOR = frozenset(("for", "of", "für", "von", "pour", "para", "voor"))  # between a secret and whose it is
_USER_NAMES = frozenset(("name", "username", "user", "benutzername", "utilisateur", "usuario"))
"""Say that the word before "as" is a user: `use … as the login name`."""
_EQUALS = frozenset(("is", "are", "was", "ist", "war", "est", "es", *_AS_A))
"""Words after a password that begins a sentence, or before one."""
_SUBJECTS = frozenset(("it", "this", "that", "which", "one", "code", "es", "das", "wifi", "server", "root", "admin"))
_CJK = "\u3000"
_CODES = frozenset(("OTP", "TAN", "2FA", "MFA", "PIN"))
_CODES_BEFORE_VERB = frozenset(("pin", "otp", "tan", "2fa", "mfa", "einmalcode"))
_BEFORE_CODE = frozenset(("code", "is", "ist", "lautet", "est", "c'est", "es", ":", "now", "number"))
