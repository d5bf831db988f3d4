"""Secrets: finds values that are recognizable by their name, place or format.

This module and `signs` have the quick checks that every text of a payload passes. The scanners are loaded only for a
text that may hold a secret.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Families = tuple[tuple[str, tuple[str, ...]], ...]
    """Words by a part that they share, for which a text is searched first."""

_KEYWORDS_ALONE = (
    "pass", "pw", "secret", "token", "key", "cred", "auth", "cookie", "bearer", "jwt", "psk", "sid=", "kennwort",
    "senha", "parol", "mnemonic", "phrase", "lozink", "zaporka", "nenosiri", "nonce", "p/w", "asword", "sifre", "kode",
    "mdp", "clave", "sandi", "otp", "zugangsdaten", "stringdata", "dockerc", "recovery words", "puk",
)  # fmt: skip

_KEYWORD_FAMILIES: Families = (
    ("code", ("code=", "einmalcode", "your code", "verification code", "security code", "login code", "recovery code")),
    ("code", ("enter the code", "enter code", "zugangscode", "user_code", "user code", "backup code", "2fa code")),
    ("code", ("codes", "alarm code", "door code", "access code", "one-time code")),
    ("seed", ("wallet seed", "wallet_seed", "seed words", "seed_words", "fa_seed")),
    ("_pat", ("gh_pat", "hub_pat", "lab_pat", "ext_pat", "_pat=", "_pat:")),
    ("pin", ("pin is", "pin=", "pin:")), ("sess", ("sessid", "jsessionid")),
    ("sig", ("sig=", "signature=")),
    ("sal", ("salt", "salasana")),
    ("slo", ("heslo", "haslo", "geslo")),
    ("woord", ("wachtwoord", "wagwoord")),
    ("contr", ("contribsys", "contrasen", "contrasinal")),
)  # fmt: skip
KEYWORDS = (*_KEYWORDS_ALONE, "key content", *[word for _, family in _KEYWORD_FAMILIES for word in family])
"""Every name of a secret contains one of these, in lower case. A text without them needs no scan for names."""

_FAMILIES_BEYOND_ASCII: Families = (
    ("о", ("парол", "лозинк", "токен", "ключ доступа", "содержимое ключа")), ("й", ("секретный ключ",)),
    ("ү", ("нууц үг",)), ("ө", ("құпия сөз",)), ("ó", ("jelszó", "código de verificación")), ("ậ", ("mật khẩu",)),
    ("ñ", ("contraseña",)), ("ł", ("hasło",)), ("ş", ("şifre",)), ("ö", ("lösenord",)), ("ð", ("lykilorð",)),
    ("ž", ("slaptažod",)), ("ë", ("fjalëkalim",)), ("ă", ("parolă",)), ("ę", ("kod dostępu",)),
    ("ü", ("wlan-schlüssel", "netzwerkschlüssel", "schlüsselinhalt", "api-schlüssel")), ("ä", ("bestätigungscode",)),
    ("é", ("code de vérification", "clé secrète", "contenu de la clé", "clé api", "clé d'api")),
    ("κωδικ", ("κωδικός πρόσβασης", "κωδικό πρόσβασης", "κωδικό", "κωδικού", "κωδικών", "κωδικοί", "κωδικος")),
    ("ס", ("סיסמ",)), ("م", ("كلمة المرور", "كلمة مرور", "كلمة السر", "رمز عبور")), ("گ", ("گذرواژه",)),
    ("स", ("पासवर्ड",)), ("স", ("পাসওয়ার্ড",)), ("ட", ("கடவுச்சொல்",)),
    ("స", ("పాస్\u200cవర్డ్", "పాస్వర్డ్", "పాస్_వర్డ్")), ("ร", ("รหัสผ่าน",)), ("ລ", ("ລະຫັດຜ່ານ",)),
    ("პ", ("პაროლი",)), ("գ", ("գաղտնաբառ",)), ("စ", ("စကားဝှက်",)), ("ព", ("ពាក្យសម្ងាត់",)), ("የ", ("የይለፍ ቃል",)),
    ("밀", ("비밀번호",)), ("번", ("비번",)), ("호", ("암호",)), ("드", ("패스워드",)),
    ("ー", ("パスワード", "トークン")), ("口", ("口令",)), ("码", ("密码",)), ("碼", ("密碼",)),
    ("钥", ("密钥", "私钥")), ("鑰", ("密鑰",)), ("鍵", ("秘密鍵",)), ("令", ("令牌",)), ("番", ("暗証番号",)),
    ("容", ("关键内容",)), ("ツ", ("主要なコンテンツ",)),
)  # fmt: skip
KEYWORDS_BEYOND_ASCII = tuple(dict.fromkeys(word for _, family in _FAMILIES_BEYOND_ASCII for word in family))
TOKENS_BEYOND_ASCII = (
    "токен", "トークン", "ключ доступа", "секретный ключ", "clé secrète", "秘密鍵", "api-schlüssel", "kod dostępu",
    "clé api", "clé d'api",
)  # fmt: skip
"""Those that name a token or a key, of which a sentence may also tell something."""

WITH_SIGNS = (
    "_pat=", "_pat:", "sig=", "signature=", "sid=", "code=", "pin is", "pin=", "pin:", "p/w", "recovery code",
    "backup code", "2fa code", "key content", "your code", "verification code", "security code", "login code",
    "one-time code", "enter the code", "enter code", "user code", "wallet seed", "seed words", "recovery words",
    "alarm code", "door code", "access code",
)  # fmt: skip
"""Those keywords that are more than a part of a name."""

HARMLESS = frozenset((
    b"passed", b"passes", b"passing", b"passage", b"bypassed", b"bypassing", b"author", b"authors", b"authored",
    b"keys", b"keyword", b"keywords", b"keyboard", b"keyerror", b"keyof", b"keyframes", b"monkeypatch", b"tokens",
    b"tokenize", b"tokenized", b"tokenizer", b"max_tokens", b"upward", b"upwards", b"stopwords",
))  # fmt: skip # whole names that contain a keyword but never name a secret, and are common in code
_MOST_NAMED = 64 * 1024  # characters: a longer text surely has other names too

SHORTEST_TOKEN = 14  # characters of a token that is recognizable by its format

_BREAKS, _LONG = bytes(range(33)) + b"\"'`()[]{}<>,;", 4 * 1024
_SPACED = bytes.maketrans(_BREAKS, b" " * len(_BREAKS))


def has_any(text: str, words: Iterable[str]) -> bool:
    """Whether a text contains one of these words. This is hot: it runs for every text of a payload, with long lists."""
    for word in words:  # noqa: SIM110 - `any` costs twice as much
        if word in text:
            return True
    return False


def has_sign(text: str, signs: tuple[str, ...], families: Families) -> bool:
    """Whether a text contains one of these signs, or one of a family."""
    if has_any(text, signs):
        return True
    for part, family in families:  # noqa: SIM110 - as in `has_any`
        if part in text and has_any(text, family):
            return True
    return False


SIGN_CODES: Families = (
    ("\\", ("\\u", "\\x", "\\3")), ("&", ("&#", "amp;#")), ("=c", ("=c2=", "=c3=", "=ce=", "=cf=")),
    ("=d", ("=d0=", "=d1=")), ("=e", ("=e2=", "=e3=", "=ef=")), ("=f", ("=f0=",)),
    ("%", ("%u", "%5cu", "%ab", "%bb", "%c2%", "%c3%", "%ce%", "%cf%", "%d0%", "%d1%", "%e2%", "%e3%", "%ef%", "%f0%")),
    ("%25", ("25c2%25", "25c3%25", "25ce%25", "25cf%25", "25d0%25", "25d1%25")),
    ("%25", ("25e2%25", "25e3%25", "25ef%25", "25f0%25")),
)  # fmt: skip
"""Every lower-case text with an escaped character beyond ASCII, of those that look like one of a tag, has one."""


def may_hold_dump(text: str) -> bool:
    r"""Whether a text may hold a name of a secret and an equals sign as bytes: `73 73 77 … 3d`, `\163\163 … \75`."""
    for equals, between, form in _DUMPS if len(text) > SHORTEST_TOKEN else ():
        if equals in text:
            parts = [between.join([format(ord(sign), form) for sign in part]) for part in _PARTS]
            if has_any(text, parts):
                return True
    return False


_DUMPS = (
    (" 3d ", " ", "02x"), ("0x3d, ", ", 0x", "02x"), (" 3D ", " ", "02X"), ("0x3D, ", ", 0x", "02X"),
    ("   =   ", "   ", "c"), (" 61, ", ", ", "d"), (" 61 ", " ", "d"), (",61,", ",", "d"), ("\\75", "\\", "o"),
    ("\\075", "\\", "o"), ("\\x3d", "\\x", "02x"), ("\\u003d", "\\u00", "02x"),
)  # fmt: skip
_PARTS = ("ssw", "wor", "oke", "cre", "key", "SSW", "WOR", "OKE", "CRE", "KEY")  # of names of secrets


def occurrences(text: str, *signs: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each occurrence of these signs, sign by sign, in ascending order for each."""
    for sign in signs:
        at = text.find(sign)
        while at >= 0:
            yield at, at + len(sign)
            at = text.find(sign, at + len(sign))


def may_log_in(text: str) -> bool:
    """Whether a text may hold `user:password@host` or `user@host:password`: a quick check that never misses one."""
    if "@" not in text or ":" not in text:
        return False
    before, *parts = text.split("@", _MOST_LOGINS)
    for part in parts:
        if ":" in before[-_LONGEST_LOGIN:].rpartition(" ")[2] or ":" in part[:_LONGEST_LOGIN].partition(" ")[0]:
            return True
        before = part
    return len(parts) == _MOST_LOGINS  # the rest was not checked


_LONGEST_LOGIN, _MOST_LOGINS = 64, 1000


def may_hold_chosen(text: str) -> bool:
    """Whether a text may hold a password as people choose them (`loose.chosen`): a check that never misses one."""
    for at, end in occurrences(text, "!"):
        if text[at - 1 : at].isalnum():
            around = text[max(0, at - LONGEST_CHOSEN) : end + LONGEST_CHOSEN].encode("ascii", "replace")
            if len(around.translate(None, _DIGITS)) < len(around):
                return True
    for at, end in occurrences(text, "@"):
        if text[at - 1 : at].isalpha() and (text[end : end + 3].isdecimal() or not text[at - 3 : at].isalnum()):
            return True
    return False


LONGEST_CHOSEN = 40  # characters of such a password
_DIGITS = b"0123456789"


def may_hold_number(text: str) -> bool:
    """Whether a text may hold the number of a card or an account (`payments`): a check that never misses one.

    It has ten digits in a row, but for blanks and hyphens.
    """
    return len(text) >= _SHORTEST_NUMBER and TEN_DIGITS in zeros(text)


def zeros(text: str) -> str:
    """Return a text with zeros for all digits and blanks for other signs, but for blanks and hyphens."""
    return text.encode("ascii", "replace").translate(_ONLY_DIGITS, b" -").decode("ascii")  # `in` is slow for bytes


TEN_DIGITS, _SHORTEST_NUMBER = "0" * 10, 15
_ONLY_DIGITS = bytes.maketrans(_DIGITS + bytes(range(48)) + bytes(range(58, 256)), b"0" * 10 + b" " * 246)


def plain_names(text: str) -> str:
    """Return a text with its disguised names of secrets in plain letters (`disguised.undone`), or the text itself."""
    if not _may_disguise(text):
        return text
    from mdmem.privacy.secrets import disguised

    return disguised.undone(text, _has_plain_keyword)


def _may_disguise(text: str) -> bool:
    """Whether letters may be escaped, or others look like ASCII: a quick check that never misses one."""
    for sign, following in _ESCAPES:
        if sign in text:
            _, *parts = text.split(sign, _FEW)  # faster than a search for each
            for part in parts:
                if part.startswith(following):
                    return True
            if len(parts) == _FEW and has_any(parts[-1], [sign + letter for letter in following]):
                return True
    if text.isascii():
        return False
    encoded = text.encode("utf-8", "replace")
    form = encoded.translate(_KINDS, _CONTINUED).decode("ascii")
    is_mixed = "l" in form and ("al" in form or "la" in form)
    is_mixed = is_mixed or ("L" in form and ("aL" in form or "La" in form or "LL" in form))
    return "\u00ad" in text or (is_mixed and not _PRINTED.issuperset(encoded.translate(None, _ASCII).decode()))


_ESCAPES, _FEW = (("\\", ("x", "u00", "u{")), ("%", ("4", "5", "6", "7")), ("&", ("#",))), 100
_KINDS = bytes(map(ord, f"{' ' * 48}{'a' * 10}{' ' * 7}{'a' * 26}{' ' * 4}a {'a' * 26}{' ' * 69}"))
_KINDS += bytes(map(ord, f"{' ' * 9}{'l' * 14} l{' ' * 8}LL{' ' * 7}L    LL  L{' ' * 12}"))
"""Replaces ASCII letters by "a", first bytes of look-alikes by "l" or, if whole words look so, "L"; others by " "."""
_CONTINUED, _ASCII = bytes(range(128, 192)), bytes(range(128))
_PRINTED = frozenset(map(chr, (*range(160, 173), *range(174, 256), *range(0x2013, 0x2027))))  # “x”, é


def has_keyword(low: str) -> bool:
    """Whether a lower-case text contains a word that could name a secret, perhaps in disguise."""
    return _has_plain_keyword(low) or plain_names(low) is not low


def _has_plain_keyword(low: str) -> bool:
    return _has_ascii_keyword(low) or _has_keyword_beyond_ascii(low)


def _has_ascii_keyword(low: str) -> bool:
    return has_sign(low, _KEYWORDS_ALONE, _KEYWORD_FAMILIES)


def _has_keyword_beyond_ascii(low: str) -> bool:
    return not low.isascii() and has_sign(low, (), _FAMILIES_BEYOND_ASCII)


def may_name(low: str) -> bool:
    """Whether a lower-case text contains such a word in other than `HARMLESS` names, perhaps in disguise."""
    if len(low) > _MOST_NAMED or not _has_ascii_keyword(low) or has_any(low, WITH_SIGNS) or has_any(low, _COLUMNS):
        return has_keyword(low)
    blanks = table(_LETTERS + "_-", _LETTERS + "_-")
    names = set(low.encode("ascii", "replace").translate(blanks).split()) - HARMLESS
    every = b" ".join(names).decode("ascii")
    return _has_ascii_keyword(every) or _has_keyword_beyond_ascii(low) or plain_names(low) is not low


_COLUMNS = ("pin", "insert into")  # signs of a table, whose columns may have names without these keywords


def keywords(text: str, words: frozenset[str] | None) -> tuple[str, ...] | list[str]:
    """List the keywords that a text may contain. For a long text, `words` (see below) makes this fast."""
    possible: tuple[str, ...] | list[str] = KEYWORDS
    if words is not None:
        every = " ".join(words)
        possible = [keyword for keyword in KEYWORDS if _last_word(keyword) in every]
    return possible if text.isascii() else [*possible, *KEYWORDS_BEYOND_ASCII]


def _last_word(keyword: str) -> str:
    """Return the last part of a keyword, which is always inside one word."""
    return keyword.removesuffix(" is").rstrip("=:").replace("/", "_").replace(" ", "_").rpartition("_")[2]


def words(low: str, least: int = _LONG) -> frozenset[str] | None:
    """Return the alphanumeric words of a lower-case text; None for a short one, where they save no time."""
    if len(low) < least:
        return None
    return frozenset(low.encode("ascii", "replace").translate(table(_LETTERS, _LETTERS)).decode("ascii").split())


_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def table(signs: str, written: str) -> bytes:
    """Return a table for `bytes.translate` that replaces `signs` by `written`, and all other bytes by blanks."""
    listed = signs.encode("ascii")
    other_bytes = bytes(range(256)).translate(None, listed)
    return bytes.maketrans(listed + other_bytes, written.encode("ascii") + b" " * len(other_bytes))


def may_hold_token(text: str) -> bool:
    """Whether a text has a long word that is neither plain lower case nor a bare UUID, a spelled token or a seed."""
    words = spaced(text).split()
    for word in words:  # `any` costs twice as much
        if len(word) >= SHORTEST_TOKEN and not _is_harmless(word, text):
            return True
    return is_spelled(words) or may_hold_seed(words)


def spaced(text: str) -> bytes:
    """Return a text with blanks in place of signs that no token contains; every offset stays valid."""
    return text.encode("ascii", "replace").translate(_SPACED)


def is_spelled(words: list[bytes]) -> bool:
    """Whether many consecutive words have one character each, or four of base32: `g h p _ X 4 …`, `JBSW Y3DP …`."""
    if len(words) < FEWEST_FOURS:
        return False
    line = b" ".join([b"", *words, b""])
    form = line.translate(_ONE_SIGN)
    if form.find(_SPELLED) >= 0:
        return True
    at = form.find(_FOURS)
    while at >= 0:
        group = line[at : at + len(_FOURS)].translate(None, b" ")
        if not group.isalpha() and not group.translate(None, _BASE32):
            return True
        at = form.find(_FOURS, at + 5)
    return False


def may_hold_seed(words: list[bytes]) -> bool:
    """Whether the words of a wallet's seed may be among these, perhaps numbered (`checked.seeds`)."""
    if len(words) < len(_SEED):
        return False
    try:
        form = bytes(map(len, words)).translate(_SIZES)
    except ValueError:  # a word of more than 255 signs
        form = bytes([min(len(word), 255) for word in words]).translate(_SIZES)
    is_numbered = form.count(b"ba") >= _SHORT_NUMBERS and not _TWELFTH.isdisjoint(words)
    if not is_numbered and form.find(_SEED) < 0:
        return False
    from mdmem.privacy.checked import seeds

    return seeds.stand_in(words, form, is_numbered=is_numbered)


_SEED = b"a" * 12  # the form of the fewest words that a seed may have
_SIZES = b" bbaaaaaaa" + b" " * 246
"""Replaces the sizes of words that a seed may have, with a sign after them, by "a", and of numbers by "b"."""
_SHORT_NUMBERS, _TWELFTH = 9, frozenset((b"12", b"12.", b"12:"))  # 1. to 9. have a size of their own
FEWEST_FOURS = 4  # groups of a seed in base32
_SPELLED, _FOURS = b" a" * SHORTEST_TOKEN + b" ", b" aaaa" * FEWEST_FOURS + b" "
_ONE_SIGN = b"a" * 32 + b" " + b"a" * 223
_BASE32 = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def _is_harmless(word: bytes, text: str) -> bool:
    is_uuid = len(word) == 36 and word.translate(None, b"0123456789abcdef") == b"----"
    return (is_uuid and not has_any(text, ("=", ": ", ">"))) or (
        word.islower() and word.translate(None, b"0123456789") == word
    )
