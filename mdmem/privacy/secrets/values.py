"""Values: whether the value of a sensitive name is a secret, or a placeholder, a type, a word or code."""

from __future__ import annotations

from mdmem.privacy.secrets import KEYWORDS_BEYOND_ASCII, technologies
from mdmem.privacy.secrets.names import ELSEWHERE, LITERAL, STRONG
from mdmem.privacy.secrets.tokens import is_camel_case, reads_like_words, shape, turns
from mdmem.privacy.secrets.tokens.formats import DIGITS, HEX

_WORDS = frozenset(
    """
    null none nil nan undefined true false yes no on off void any unknown never auto default
    string str bytes bytearray byte number integer int float double bool boolean object char text varchar uuid
    optional required missing invalid incorrect wrong empty unset set reset change changed changeme expired valid
    field prompt input output value values name username user login hash hashed encrypted plaintext protected based
    policy manager auth authentication authorization bearer basic digest jwt oauth oauth2 sha1 sha256 sha512 md5
    rs256 hs256 es256 eddsa aes128 aes192 aes256 sha224 sha384 argon2 argon2i argon2id pbkdf2 rsa2048 rsa4096 ed25519
    bcrypt base64 utf8 hidden masked redacted private removed omitted include inherit same-origin omit readonly
    the a an in for from to and or is was of on with not be this that it its as by at if usage count limit type
    xxx todo tbd example sample dummy fake placeholder foo bar baz test testing abc key file path env url id here
    self data result args kwargs options option config settings request response process callback function lambda
    new await async return yield const let var else then when while flag argument parameter switch enabled disabled
    public pass passed password passwd pwd secret token credentials cookie define undef read write files compat
    key-id keyid identifier keyword comment constant operator punctuation describe always on_create amd64 arm64 i386
    armhf x86_64 aarch64 falsch leer ungültig erforderlich obligatoire requis incorrecte obligatoria requerida
    incorrecta obrigatória errata obbligatoria abgelaufen inaktiv gesperrt inactif expiré caducada scaduta bloccata
    onjuist verlopen nthash lmhash
    obavezna obavezno obavezan obvezna obvezno obvezen potrebna potrebno povinné povinný povinne povinná vyžadováno
    požadováno wymagane wymagany wymagana обязателен обязательно обязательный обязательное обязательна требуется
    задължителна задължително обов'язково обов'язковий необхідно pakollinen vaaditaan verplicht vereist obligatoriskt
    obligatorisk krävs påkrævet påkrevd zorunlu gerekli kötelező szükséges obligatorie obligatoriu privalomas būtinas
    vajalik nõutav nepieciešama υποχρεωτικός υποχρεωτικό απαιτείται חובה נדרש נדרשת مطلوبة مطلوب إلزامي आवश्यक अनिवार्य
    จำเป็น obligatori beharrezkoa wajib diperlukan
    """.split()
)
"""Words that occur next to `password` in prose, documentation, types and forms."""

_COMPOUNDS = frozenset((
    "accesstoken", "apikey", "apitoken", "authtoken", "bearertoken", "clientsecret", "idtoken", "refreshtoken",
    "secretkey", "sessiontoken", "userpassword", "usertoken", "username", "dbpassword", "yourtoken", "yourpassword",
))  # fmt: skip
"""Words that name a secret without a separator."""

_REFERENCES = (
    "process.env", "os.environ", "os.getenv", "getenv", "env.", "env[", "env(", "import.meta", "secrets.", "vars.",
    "var.", "local.", "module.", "self.", "this.", "cls.", "args.", "opts.", "options.", "config.", "conf.", "cfg.",
    "settings.", "props.", "state.", "params.", "req.", "request.", "ctx.", "context.", "op://", "vault:", "ref+",
    "env:", "arn:", "file:", "keychain:", "!vault", "!secret", "!ref", "!sub", "!getatt", "your-", "your_", "your ",
    "<your", "my_", "enter_", "insert-", "insert_", "replace-", "replace_", "replaceme", "change-", "change_",
    "example-", "example_", "example.", "projects/", "placeholder", "&lt;", "${", "$(", "{{", "{%", "<%", "#{", "...",
    "…", "***", "•••", "xxxx", "____", "http://", "https://", "=>", "->", "++", "--",
)  # fmt: skip
"""Beginnings of values that only refer to a secret, or are placeholders."""

_FILES = (
    ".pem", ".key", ".crt", ".cer", ".p12", ".pfx", ".jks", ".json", ".txt", ".yml", ".yaml", ".toml", ".env", ".asc",
    ".gpg", ".pub", ".py", ".js", ".ts", ".md", ".html", ".conf", ".ini", ".xml", ".sh", ".php", ".go", ".rb",
)  # fmt: skip
"""Endings of values that are file names."""

_NOUNS = ("passw", "passphrase", "secret", "token", "credential", "apikey", "api_key", "api-key", "api key", "pwd")
"""A value that contains one of these and no digit is a name of a secret, not a secret."""

_GRAMMAR = " []()^|\\<>"
"""Signs of prose, code and regular expressions, which no token contains."""


def is_secret(value: str, weight: int = STRONG, *, quoted: bool = True, alone: bool = False) -> bool:
    """Whether the value of a name with this weight, or what stands where only a password can, is a secret.

    quoted: the value was in quotes, or a whole string.
    alone: name and value were isolated, as in a settings file, where even a plain word is a value (see `alone`).
    """
    core = value.strip() if quoted else value.strip().rstrip(",;.)]}")
    if (
        len(core) < (3 if weight == STRONG else 4 if weight == LITERAL else 8)
        or is_placeholder(core)
        or ("." in core and core.replace(".", "").isdigit())  # a version: 'Event::Pass' => '1.302103'
        or not any(map(str.isalnum, core))  # part of a regular expression: secret:.*|)$
        or is_short_number(core)
        or (not quoted and is_code(core, numbers=alone))
    ):
        return False
    if is_user_code(core):
        return True
    if weight == LITERAL:
        return looks_random(core) or _is_literal(core, clear=quoted or alone)
    if weight != STRONG:
        return looks_random(core)
    if (len(core) == 3 and not quoted) or (" " in core and _is_prose(core)):
        return False
    if names_a_secret(core) and not (quoted and len(core) >= 8 and is_own_word(core)):
        return False  # password = user_password; "Enter password"; but "supersecret" is one
    return quoted or alone or not _is_name(core)


def _is_literal(core: str, *, clear: bool) -> bool:
    """Whether a value of four or more characters is a literal, not the name of something else.

    clear: it was in quotes or alone, so it cannot be a variable.
    """
    form = shape(core)
    if any(sign in form for sign in _GRAMMAR):
        return False
    digits = form.count("0")
    if not form.strip("0._,"):
        return clear and digits >= 6 and digits == len(form)
    if not digits:
        return clear and (is_jumbled(core) or is_own_word(core) or _is_of_random_letters(core))
    return clear or digits >= 3


def is_own_word(core: str) -> bool:
    """Whether a value is one lower-case word that is not a common name: `mytoken`, not `access_token`."""
    return len(core) >= 4 and core.isalpha() and core.islower() and core not in _WORDS and core not in _COMPOUNDS


def has_signs(value: str) -> bool:
    """Whether a value is one varied word with at least two different signs: `x;Kd!rTq>4`."""
    core = value.strip().rstrip(",;.)")
    signs = {sign for sign in core if not sign.isalnum()}
    return len(core) >= 8 and " " not in core and len(signs) >= 2 and is_varied(core) and not is_placeholder(core)


def is_varied(core: str) -> bool:
    """Whether a value looks random, or has several digits or changes of case."""
    form = shape(core)
    return looks_random(core) or turns(form) >= 3 or form.count("0") >= 3


def is_placeholder(value: str) -> bool:
    """Whether a value is only a placeholder: a variable, a template, a type, a word like `required`."""
    low = value.lower()
    if low.strip("\"'`.:!?;,*-_()[]{}<>|\\").partition("|")[0] in _WORDS or low.startswith(_REFERENCES):
        return True
    if low.endswith(("/tcp", "/udp")) and low[0].isdecimal():
        return True  # a port, in /etc/services
    if low.endswith(_FILES) or (("%s" in value or "%(" in value) and not looks_random(value.replace("%s", ""))):
        return True
    first, last = low[:1], low[-1:]
    if first == "$":
        return low[1:2].isalpha() or low[1:2] == "_"
    if first == "/":
        return _is_path(low)
    if first == "%":
        return len(low) == 2 or (len(low) > 2 and last == "%")
    if first == "{":
        return last != "=" and not (last == "}" and any(map(looks_random, value.strip("{}").split())))
    if first == ":":  # :py:data:`bytes`
        return last == ":" and low.replace(":", "").isalpha()
    return (first == "<" and last == ">") or len(set(low)) == 1


def is_color(value: str) -> bool:
    """Whether a value is a color, as in the styles of editors, where a "token" has one: `#ABB2BF`."""
    return value[:1] == "#" and len(value) in (7, 9) and not value[1:].strip(HEX)


def _is_path(low: str) -> bool:
    """Whether a value is a path of plain words: `/path/to/private/key`."""
    words = low[1:].split("/")
    return len(words) >= 2 and all(len(word) > 1 and word.replace("-", "").replace("_", "").isalpha() for word in words)


def is_code(value: str, *, numbers: bool = False) -> bool:
    """Whether an unquoted value is an expression: a call, an index, an attribute, an operator, a type.

    numbers: names with digits count as values, as in a settings file.
    """
    if value[0] in "([" or value.startswith(("#[", "#![")):
        return True
    if _is_type(value):
        return True
    if value[0] == "@" and value[1:].rstrip(";").isidentifier() and not numbers:
        return True  # a list in Perl: @ARGV
    if (value[0] in "&*!|+-=~" and not value[1:2].isalnum()) or (value[0].isdigit() and value[1:2] == "*"):
        return True  # an operator, or a repetition in a grammar
    for opener in "([":
        head, bracket, _ = value.partition(opener)
        if bracket and _is_dotted_name(head):
            return True
    core = value.rstrip(".,;:)")
    if core.count(":") >= 2 and all(map(str.isidentifier, core.split(":"))):
        return True  # fields of a line: pw_uid:pw_gid:pw_dir
    if not _is_dotted_name(core) or (numbers and "0" in shape(core)):
        return False
    if any(noun in core.lower() for noun in _NOUNS) or ("key" in core.lower() and not (numbers and core.islower())):
        return True  # private_key: Ed25519PrivateKey
    return "." in core and _digit_turns(core) <= 2 * (core.count(".") + 1)


def _is_type(value: str) -> bool:
    """Whether a value is a type or a reference in code: `[32]uint8`, `*ed25519.PrivateKey`, `&empty`."""
    name = value.lstrip("[]0123456789*&")
    if value[0] not in "[*&" or not _is_dotted_name(name):
        return False
    return "]" in value if value[0] == "[" else "." in name or "0" not in shape(name)


def looks_random(core: str) -> bool:
    """Whether a value of at least eight characters mixes letters and digits as no word does."""
    form = shape(core)
    if len(core) < 8 or not ("a" in form or "A" in form) or any(sign in form for sign in _GRAMMAR):
        return False
    if "0" not in form:
        return len(core) >= 16 and is_jumbled(core) and not is_camel_case(form, core)
    mixed = len(set(form)) >= 3
    return turns(form) >= (2 if mixed else 3 if len(core) >= 16 else 4)


def is_jumbled(core: str) -> bool:
    """Whether a value changes case more than names do: `RlkvRRMfMf`, not `userPassword`."""
    form = shape(core)
    return len(form) >= 8 and turns(form) >= 0.42 * len(form)


def is_spoken_secret(value: str, *, quoted: bool) -> bool:
    """Whether the word after "the password is" is a secret. Most words there only describe the password."""
    core = value.strip().rstrip(",;.!?)]}")
    if len(core) < 4 or is_placeholder(core):
        return False
    if core.isdigit():
        return len(core) >= 6
    form = shape(core)
    if _is_type(core) or technologies.is_type(core):
        return False
    if "_" in core and core.isupper() and core.isidentifier() and not looks_random(core.replace("_", "")):
        return False  # a constant: OP_SSLEAY_080_CLIENT_DH_BUG
    if "0" in form and ("a" in form or "A" in form):
        return form.count("-") != 1 or looks_random(core)
    if len(core) >= 12 and is_jumbled(core):
        return True
    return quoted and " " not in core and len(set(form)) >= 2 and not is_code(core)


def is_unlike_words(value: str) -> bool:
    """Whether a value mixes letters and digits, or has random letters, and is not code: for values near a name."""
    core = value.strip()
    form = shape(core)
    mixed = "0" in form and ("a" in form or "A" in form) and " " not in form and form.count("\\") < 2
    return (
        (mixed or _is_of_random_letters(core) or is_user_code(core))
        and not is_short_number(core)
        and len(core) >= 5
        and not is_placeholder(core)
        and not is_code(core, numbers=True)
    )


def is_rare(core: str) -> bool:
    """Whether a value is one lower-case word that is common neither in English nor in code: `greypartridge`."""
    if not 6 <= len(core) <= 24 or not (core.isalpha() and core.isascii() and core.islower()) or is_placeholder(core):
        return False
    from mdmem.privacy import everyday

    is_name = any(noun in core for noun in _PARTS_OF_NAMES)
    return not is_name and not is_adjective(core) and not everyday.is_plain(core)


def is_user_code(core: str) -> bool:
    """Whether a value is a code that lets a device in (RFC 8628), of letters that form no words: `WDJB-MJHT`."""
    return len(core) == _USER_CODE and core[4] == "-" and not core.strip(_CONSONANTS + "-") and len(set(core)) > 4


_USER_CODE = 9  # characters
_CONSONANTS = "BCDFGHJKLMNPQRSTVWXZ"


def is_adjective(word: str) -> bool:
    """Whether a word has an ending of words that describe a password or what is done with it: `nullable`, `rotated`."""
    return word.endswith(_ADJECTIVES)


def is_short_number(core: str) -> bool:
    """Whether a value is a short hexadecimal number that begins with `0x`."""
    bare = core.lstrip("-")
    return bare[:2] == "0x" and len(bare) <= _LONGEST_NUMBER


def is_dense(core: str) -> bool:
    """Whether a value may be base64 or hexadecimal, which mixes letters as no word does."""
    form = shape(core)
    return len(core) >= 8 and ("0" in form or turns(form) >= 4 or form[-1] == "=")


def _digit_turns(value: str) -> int:
    form = shape(value)
    return sum(form.count(turn) for turn in ("a0", "0a", "A0", "0A"))


def _is_dotted_name(value: str) -> bool:
    flat = value.replace("->", ".").replace("::", ".").replace("?.", ".").replace("$", "_").rstrip("!?")
    return all(part.isidentifier() for part in flat.split("."))


def _is_name(core: str) -> bool:
    """Whether a value has only letters, like the name of a variable or a plain word."""
    letters = core.replace("_", "").replace("-", "")
    return letters.isalpha() and not is_jumbled(core) and not _is_of_random_letters(core)


def _is_of_random_letters(core: str) -> bool:
    """Whether a value has letters of both cases whose pairs are rare in words: `ldKVhoqcmSEm`."""
    form = shape(core)
    if len(core) < _SHORTEST_LETTERS or "a" not in form or "A" not in form or turns(form) < _LEAST_HUMPS:
        return False
    return not is_camel_case(form, core) and not reads_like_words(form, core)


_SHORTEST_LETTERS, _LEAST_HUMPS = 12, 4
_LONGEST_NUMBER = 11
_ADJECTIVES = (
    "ed", "ing", "able", "ible", "ent", "ant", "ous", "ive", "ical", "ural", "ional", "ary", "ory", "ful", "less",
    "tion", "ity",
)  # fmt: skip
_PARTS_OF_NAMES = ("pass", "pw", "secret", "token", "cred", "auth", "hash", "user", "key", "str", "val", "arg")
"""Parts of the names of variables that hold a password."""


def names_something(word: str) -> bool:
    """Whether a word after a name is a type, an algorithm, a size or a part: `OAuth2Token`, `argon2id`, `8chars`."""
    if is_algorithm(word) or word.lower().rstrip(DIGITS) in _PARTS:
        return True
    if word[0].isdigit() and word.lstrip(DIGITS).isalpha():
        return True
    return is_camel_case(shape(word), word) and not word.rstrip("!?#*")[-2:].isdigit()


def is_algorithm(word: str) -> bool:
    """Whether a word is an algorithm or a protocol with a number: `argon2id`, `SOCKSv5`."""
    return word.lower().startswith(_ALGORITHMS)


_PARTS = frozenset(("field", "step", "page", "column", "input", "form", "case", "option", "test", "version", "phase"))
_ALGORITHMS = (
    "argon2", "bcrypt", "pbkdf2", "scrypt", "sha1", "sha2", "sha3", "sha5", "md4", "md5", "ntlm", "base6", "base3",
    "utf", "oauth", "socks", "aes1", "aes2", "x509", "rsa1", "rsa2", "rsa3", "rsa4", "pkcs",
)  # fmt: skip


def names_a_secret(core: str) -> bool:
    """Whether a value names a secret instead of being one: it contains a word like "password" and no digit.

    In other languages, it is such a word, perhaps inflected; where no blanks part words, also a sentence with one.
    """
    low = core.lower()
    if "0" in shape(core):
        return False
    if any(noun in low for noun in _NOUNS) or low.endswith(" key") or low in ELSEWHERE:
        return True
    if low.isascii():
        return False
    return any(noun in low and (noun >= _CJK or len(low) <= len(noun) + 3) for noun in KEYWORDS_BEYOND_ASCII)


_CJK = "\u2e80"  # from here, scripts without blanks between words


def _is_prose(core: str) -> bool:
    """Whether a phrase reads like a sentence or a label rather than a passphrase."""
    return core.startswith(("The ", "A ", "Your ", "Enter ", "Invalid ")) or (
        core.count(" ") >= 3 and core[-1] in ".?!:"
    )


def phrase_at(text: str, start: int) -> str:
    """Return the words at `start` up to the end of the clause if they may be a passphrase, else "".

    They are three to ten, all in small letters or all with a capital, and none is in most sentences.
    """
    phrase = text[start : start + _LONGEST_PHRASE]
    for end in _ENDS_OF_CLAUSE:
        phrase = phrase.partition(end)[0]
    phrase = phrase.rstrip().removesuffix(".")
    words = phrase.split(" ")
    if not 3 <= len(words) <= _MOST_WORDS or not all(word.isalpha() and 3 <= len(word) <= 12 for word in words):
        return ""
    if not (phrase.islower() or all(map(str.istitle, words))) or any(map(_describes, map(str.lower, words))):
        return ""
    return phrase


def _describes(word: str) -> bool:
    is_adjective = len(word) >= _SHORTEST_ADJECTIVE and word.endswith(_DESCRIBING) and word not in _THINGS
    return is_adjective or word in OF_SENTENCES or word in _WORDS or names_a_secret(word)


def is_command(phrase: str) -> bool:
    """Whether words are a value and a command for which it is set: `PASSWORD=abc docker compose up`."""
    return not _PROGRAMS.isdisjoint(phrase.split(" ")[:2])


_LONGEST_PHRASE, _MOST_WORDS = 128, 10
_ENDS_OF_CLAUSE = ("\n", ". ", ",", ";", "!", "?", '"', "'", "`", ")", "|")
_DESCRIBING = ("ed", "ing", "able", "ible", "tion", "ly")
_SHORTEST_ADJECTIVE = 7
_THINGS = frozenset((
    "pudding", "darling", "wedding", "herring", "starling", "duckling", "lightning", "evening", "morning", "station",
    "vegetable", "syllable", "butterfly", "dragonfly", "firefly", "assembly", "ceiling", "seaweed",
))  # fmt: skip
"""Words with the endings of adjectives that are none."""
NO_SEEDS = frozenset((
    "the", "and", "are", "was", "for", "with", "your", "from", "not", "should", "into", "which", "they", "words", "but",
    "has", "its",
))  # fmt: skip
"""Words that are in most sentences but never in a mnemonic phrase."""
NOT_IN_QUOTES = NO_SEEDS | frozenset((
    "too", "used", "stored", "this", "that", "you", "have", "when", "then", "than", "only", "still", "already", "never",
    "must", "will", "can", "each", "all", "any", "also",
))  # fmt: skip
"""Words of which a password in quotes has none."""
OF_SENTENCES = NOT_IN_QUOTES | frozenset(
    """
    about above across after again against another anymore around because been before behind being below beside between
    both broken button cached cannot character characters chars choose chosen client could did digits does done during
    either elsewhere error errors ever every except few fine first forgot form forms get gets given gives good had
    hashes hence how inside instead just keep kept kind label last later layout leaked least length less letters like
    line locked long longer look loud made mail make many maximum may maybe mean might minimum minutes more most much
    need needs next nor now numbers often okay once one other our out outside over own page passcode per plain please
    point put rather really returns reused right salted same say says see sent server shall short show shown shows
    simple since some sometimes somewhere soon special stay strong such sure symbols take tests their them there these
    thing those through times today tomorrow tool toward towards try two under unless until upon upper users uses using
    very via view want way weak well were what where whether who whose why within without would yesterday yet
    nicht mehr noch schon immer leider richtig wird wurde worden werden kein keine und oder mit von für der die das ein
    eine dem den zum zur bei auf aus nach bitte eingeben sehr aber auch nur wenn ist sind war nie pas plus encore
    toujours déjà très trop mal bien vide faux les une des pour dans avec sur par est sont muy más todavía siempre nunca
    los las una con para por está vacío campo otra vez não mais muito sempre uma com vazia aqui non più molto mai gli
    """.split()
)
"""Words that are in most sentences about passwords, in several languages, beside those of `_WORDS`."""
_PROGRAMS = frozenset((
    "docker", "npm", "npx", "yarn", "pnpm", "cargo", "python", "pip", "make", "node", "bash", "psql", "mysql",
    "curl", "git", "kubectl", "helm", "terraform", "ansible", "rails", "bundle", "rake", "php", "java", "mvn",
    "gradle", "pytest", "django", "flask", "uvicorn", "gunicorn", "serverless", "restic", "borg", "rclone", "sudo",
    "env", "exec", "ssh", "sshpass", "rsync", "mongo", "redis", "deno", "bun", "poetry", "tox", "nox", "dotnet",
    "swift", "just", "task",
))  # fmt: skip
