"""Secrets that a command prints, in a tool run or a transcript: `gh auth token`, `cat /run/secrets/…`."""

from __future__ import annotations

from mdmem.privacy import secrets
from mdmem.privacy.secrets import names, scan, stores, values
from mdmem.privacy.secrets.literals import line_at, line_end, lines
from mdmem.privacy.secrets.signs import PROMPTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mdmem.privacy.secrets.scan import Span

    Lister = Callable[[str], Iterator[Span]]

PRINTERS: tuple[tuple[str, str], ...] = (
    ("pass show ", ""), ("gopass show ", ""), ("op read ", ""), ("op item get ", "field"), ("bw get password ", ""),
    ("lpass show ", "--password"), ("secret-tool lookup ", ""), ("keyring get ", ""),
    ("keepassxc-cli show ", " password"), ("security find-", " -w"), ("vault ", "-field="), ("kubectl ", "base64 -d"),
    ("kubectl ", "base64 --decode"), ("kubectl ", "base64decode"), ("secretsmanager get-secret-value", "secretstring"),
    ("ssm get-parameter", "parameter.value"), ("secrets versions access ", ""), ("keyvault secret show ", "value"),
    ("doppler secrets get ", "--plain"), ("auth token", ""), ("auth:token", ""), ("print-access-token", ""),
    ("get-access-token", ""), ("get-login-password", ""), ("whoami -t", ""), ("initial-password", ""), ("pwgen", ""),
    ("openssl rand ", ""), ("cat ", "/run/secrets/"), ("cat ", "/etc/secrets/"),
    ("secrets.token_", "print"), (" genkey", ""), (" token create", ""), (" tokens create", ""), (" create token ", ""),
    ("/dev/urandom", "base64"), ("rails r", "application.credentials"),
    ("get-random-password", ""), ("kwallet-query ", " -r "), ("dcli password ", ""),
    ("nmcli ", "wireless-security.psk"), ("nmcli ", "wifi-sec.psk"), ("nmcli ", "wireless-security.wep-key"),
    ("nmcli ", "wireless-security.leap-password"), ("rails secret", ""), ("rake secret", ""), ("phx.gen.secret", ""),
    ("key:generate", "--show"), ("keyctl print ", ""), ("keyctl pipe ", ""),
    ("get_random_secret_key", "print"), ("generate-password", ""), ("generate password", ""), ("pass generate ", ""),
)  # fmt: skip
"""Pairs of lower-case strings. A command that contains both prints a secret."""

SHOWERS: tuple[tuple[str, str], ...] = (
    ("get secret", "template"), ("vault ", "operator init"), ("sops ", " -d"), ("sops ", "decrypt"),
    ("user-secrets ", "list"), ("ansible-vault ", "--output -"), ("ssm get-parameter", "with-decryption"),
    ("doppler secrets", ""), ("config get requirepass", ""), ("heroku config", ""), ("state show ", "password"),
    ("state show ", "secret"), ("state show ", "private_key"), ("terraform console", "password"),
    ("terraform console", "secret"), ("tofu console", "password"), ("cat .env", "cut -d"), ("cut -d= -f2 .env", ""),
    ("config get ", "--secret"), ("get secret", ".data"), ("--show-secrets", ""), ("nomad var get", ""),
    ("secretsmanager get-secret-value", ""), ("secrets versions access ", ""), ("keyvault secret show ", ""),
    ("rails credentials:show", ""),
)  # fmt: skip
"""Pairs of lower-case strings. A command that contains both shows a list whose values are secrets, as do `stores`."""

NAMED = (
    "cat ", "head ", "tail ", "echo $", 'echo "$', "printenv ", "output -raw ", "terraform output ", "tofu output ",
    "type ", "get-content ", "get ", "getenv ",
)  # fmt: skip
"""Commands that print a secret if the name of their argument says so: `cat db_password.txt`, `echo $API_TOKEN`."""

_SECRET_FOLDERS = ("/secrets/", "/.secrets/")
_OF_CODE = (
    ".py", ".pyi", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".vue", ".go", ".rs", ".rb", ".java", ".kt", ".scala", ".c",
    ".h", ".cc", ".cpp", ".cs", ".swift", ".php", ".ex", ".exs", ".sh", ".sql", ".html", ".css", ".md", ".rst", ".adoc",
)  # fmt: skip
"""Endings of code and documents, which are about secrets where their folder is called so."""
_ENDINGS = (".txt", ".secret", ".b64", ".asc", ".dat")
_AROUND = "\"'`${}()"
_ENDS = ("|", ">", "&&", ";")
_LONGEST_COMMAND = 2048
_LONGEST = 512
_MOST_WORDS = 40


def prints_secret(command: str) -> bool:
    """Whether a command's output is a secret and little else."""
    low = command[:_LONGEST_COMMAND].lower()
    if _is_one_of(PRINTERS, low) or _selects_secret(command, low):
        return not _is_redirected(low)
    return any(_asks_for_secret(command, low, verb) for verb in NAMED if verb in low)


def shown_by(command: str) -> Lister | None:
    """Return what finds the secrets in a command's output, if that is a list of names and values that are secrets."""
    low = command[:_LONGEST_COMMAND].lower()
    if _is_redirected(low):
        return None
    if _is_one_of(SHOWERS, low) or stores.shows_entry(low) or any(map(names_codes, files_read(command))):
        return _values_or_word
    return _values_but_counts if stores.names_both(low) else None


def _values_or_word(output: str) -> Iterator[Span]:
    """Find the same, or the only word of an output, which may end with equals signs as base64 does."""
    core = output.strip().strip(_AROUND_VALUE)
    name, _, value = core.partition("=")
    is_pair = value.strip("=") and (name.isupper() or name.lower() in _NO_SECRETS or names.weigh(name)[0])
    if _is_value(core) and not (is_pair or core.startswith(("{", "[")) or core[-1] == ":"):
        yield output.index(core), output.index(core) + len(core), "secret"
    else:
        yield from values_in(output)


def _values_but_counts(output: str) -> Iterator[Span]:
    """Find the same in the output of an unknown program, which may tell how many there are: `Exported: 4212`."""
    for start, end, kind in _values_or_word(output):
        if end - start >= _SHORTEST_NUMBER or not output[start:end].isdecimal():
            yield start, end, kind


_SHORTEST_NUMBER = 6  # digits; a shorter number is a count, a one-time code has six


def _selects_secret(command: str, low: str) -> bool:
    """Whether a command prints the value of one name of many, and the name says that it is a secret."""
    if secrets.has_any(low, _ASKS_ABOUT):
        return False
    for at, end in secrets.occurrences(low, *_SELECTORS):
        chosen = _selected(low[at:end], line_at(command, end, _LONGEST))
        if any(names.weigh(name)[0] >= names.LITERAL for name in chosen):
            return True
    return False


_PATHS = (
    "jq ", "yq ", "--query ", "--query=", "jsonpath=", "template=", "configure get ", "config get ", "config --get ",
)  # fmt: skip
"""What precedes the path of a value, whose last name counts: `jq -r .db.password`."""
_FILTERS = ("jq ", "yq ")
_LINES = ("awk ", "sed -n", "grep ")
"""Programs that pick lines of a file, here of a file of settings by a name."""
_SELECTORS = (
    *_PATHS, *_LINES, "process.env.", "environ[", "environ.get(", "getenv(", " env(", "'env(", "env[", "env.fetch(",
    "$env:", "printf ", "select ",
)  # fmt: skip
_SETTINGS_FILES = (".env", ".ini", ".yml", ".yaml", ".toml", ".properties", ".cnf", ".conf", "credentials", ".tfvars")
_ASKS_ABOUT = ("length", "len(", "wc ", "grep -c", "count", "keys", " ? ", "has(", "signingkey", "-f1", "-f 1")
"""Signs that a command prints something about a secret, or its public part."""
_CUTTERS = ("cut -d", "sed ", "awk ", "\\k", "(?<=", "tr -d")


def _selected(sign: str, rest: str) -> list[str]:
    """Return the names that the rest of a line after a selector asks for."""
    words = [word for word in rest.split() if word[0] != "-"]
    if sign == "select ":
        head = words[: words.index("from")] if "from" in words else []
        return [word.strip(",\"'`") for word in head]
    if sign == "printf ":
        return [word.strip("\"'{}$") for word in words[:2] if word.strip("\"'")[:1] == "$"]
    if sign in _LINES:
        cuts = sign != "grep " or secrets.has_any(rest.lower(), _CUTTERS)
        is_settings = secrets.has_any(rest.partition("|")[0], _SETTINGS_FILES)
        return next(filter(None, map(_names_in, words)), []) if cuts and is_settings else []
    path = words[0].partition("|")[0] if words else ""
    if sign not in _PATHS:
        return _names_in(path)[:1]
    last = _names_in(path)[-1:]
    files = words[1:2] if sign in _FILTERS and _NO_SECRETS.isdisjoint(map(str.lower, last)) else []
    return last + [word.rpartition("/")[2].partition(".")[0] for word in files]


def _names_in(text: str) -> list[str]:
    return "".join([char if char.isalnum() or char == "_" else " " for char in text]).split()


def _is_one_of(pairs: tuple[tuple[str, str], ...], low: str) -> bool:
    return any(head in low and argument in low for head, argument in pairs)


def _is_redirected(low: str) -> bool:
    return ">" in low.replace("2>", "")


def shows_cracked(command: str) -> bool:
    """Whether a command's output lists the passwords that a cracker has found."""
    return secrets.has_any(command[:_LONGEST_COMMAND], CRACKERS)


CRACKERS = ("john --show", "john --wordlist", "john --format", "john.pot", "hashcat ", "hashcat.pot")


def of_cracked(output: str) -> Iterator[Span]:
    """Find the passwords in `hash:…`, `ana:…:1001:…` and `…     (ana)`, as crackers list them."""
    for at, line in lines(output):
        head, colon, rest = line.rstrip("\r").partition(":")
        word = line.partition("  ")[0]
        if colon and head[-1:] not in ("", ".") and " " not in head:
            is_hash = len(head) >= _SHORTEST_HASH
            start, end = len(head) + 1, len(head) + 1 + len(rest if is_hash else rest.partition(":")[0])
        else:
            start, end = 0, len(word) if line.rstrip()[-1:] == ")" and " (" in line and " " not in word else 0
        if line[start : start + 1] != " " and values.is_secret(line[start:end]):
            yield at + start, at + end, "password"


_SHORTEST_HASH = 13  # of `crypt` as it was in 1979


def values_in(output: str) -> Iterator[Span]:
    """Find the values of a list of secrets: `name: …`, `name = …`, `name   …`, `"name": "…"`, or one a line."""
    for at, line in lines(output):
        start, name = _value_start(line)
        cell = line[start:].strip()
        value = (cell.partition("  ")[0] if line[:start].endswith("  ") else cell).strip(_AROUND_VALUE)
        if '":"' in line or '": "' in line.strip()[1:]:
            yield from ((at + first, at + last, "secret") for first, last in json_values(line))
        elif value and name not in _NO_SECRETS and len(value) <= _LONGEST and values.is_secret(value):
            begin = at + line.index(value, start)
            yield begin, begin + len(value), "secret"


def files_read(command: str) -> Iterator[str]:
    """Yield the words of a command that may be files which it prints or writes: those after `cat`, `grep`, `>`."""
    reads = False
    for word in command[:_LONGEST_COMMAND].replace("\\\n", " ").replace("\n", " ; ").split():
        bare = word.strip(_AROUND + _SEPARATORS)
        if word[0] in _SEPARATORS:
            reads = False
        reads = reads or word[0] in "<>" or bare.rpartition("/")[2].lower() in _READERS
        if reads:
            yield bare.lstrip("<>")
        reads = reads and word[-1] not in _SEPARATORS


_SEPARATORS = ";|&"
_READERS = frozenset(
    """
    cat tac bat batcat less more head tail nl grep egrep fgrep rg sed awk gawk cut sort uniq tee diff strings xxd od
    type gc get-content findstr select-string
    """.split()
)


def _value_start(line: str) -> tuple[int, str]:
    """Return where the value of a line begins, and its name in lower case.

    The value of a line without a name is its only word; a line of several words has none.
    """
    bare = line.strip()
    if bare.startswith(("==", "--")):  # a heading
        return len(line), ""
    sign = next((sign for sign in _SIGNS if sign in bare), "")
    if sign:
        at = line.index(sign, len(line) - len(line.lstrip()))
        return at + len(sign), line[:at].strip(_AROUND_VALUE).lower()
    mark, blank, word = bare.partition(" ")
    if blank and (mark == "-" or mark.rstrip(").").isdecimal()) and " " not in word:
        return line.index(word, line.index(mark) + len(mark)), ""
    return (len(line), "") if blank or bare[-1:] == ":" else (0, "")


def json_values(line: str) -> Iterator[tuple[int, int]]:
    """Find the strings after the keys of JSON on one line, except those of `_NO_SECRETS`."""
    at = line.find('"')
    key = ""
    while at >= 0:
        end = at + 1
        while end < len(line) and line[end] != '"':
            end += 2 if line[end] == "\\" else 1
        if line[end + 1 :].lstrip()[:1] == ":":
            key = line[at + 1 : end].lower()
        elif key:
            text = line[at + 1 : end]
            is_object = key == "secretstring" and text[:1] == "{"
            if is_object or (key not in _NO_SECRETS and values.is_secret(text)):
                yield at + 1, end
        at = line.find('"', end + 1)


_SIGNS = (": ", " = ", " | ", "\t", "  ", "=")
_AROUND_VALUE = " \t\r\"',"
_NO_SECRETS = frozenset((
    "error", "arn", "type", "name", "user", "username", "host", "hostname", "port", "region", "version", "versionid",
    "created", "created_time", "createddate", "lastmodifieddate", "datatype", "key", "apiversion", "kind", "namespace",
    "deletion_time", "contenttype",
    "recoverylevel", "destroyed", "lease_duration", "lease_id", "title", "vault", "category", "url", "bcrypt_hash",
    "id",
))  # fmt: skip
"""Names in such a list that are not secrets."""


def _asks_for_secret(command: str, low: str, verb: str) -> bool:
    at = low.rfind(verb)
    if at > 0 and low[at - 1].isalnum():
        return False
    words = command[at : at + _LONGEST].split()[:_MOST_WORDS]
    if verb in _GETTERS:
        is_other = low[at - 1 : at] in _BEFORE_OTHERS or len(words) > _MOST_GOT or "://" in words[-1]
        if is_other or secrets.has_any(low, _ASKS_ABOUT) or not stores.may_get(low[:at]):
            return False
    last_word = ""
    for word in words:
        if word.startswith(_ENDS):
            return False
        last_word = word
    return len(words) > 1 and names_secret(last_word)


_BEFORE_OTHERS = ("-", ".", "'", '"')  # apt-get, deps.get, a phrase
_GETTERS = ("get ", "getenv ")
_MOST_GOT = 3  # words: the verb, and perhaps a group before the name


def names_secret(path: str) -> bool:
    """Whether a file's name or a variable says that its content is a secret: `secrets/db_password.txt`, `$TOKEN`."""
    bare = path.rstrip(";").strip(_AROUND)
    name = bare.rpartition("/")[2]
    is_kept = not name.endswith(_OF_CODE) or bare.startswith(("/run/", "/etc/"))
    is_named = names.weigh(name)[0] >= names.LITERAL  # ldap.secret
    is_named = is_named or (is_kept and secrets.has_any(f"/{bare}", _SECRET_FOLDERS))
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return is_named or names.weigh(name.lstrip("."))[0] >= names.LITERAL


def names_codes(path: str) -> bool:
    """Whether a file's name says that it lists codes: `github-recovery-codes.txt`."""
    return names_secret(path) and names.weigh(path.rpartition("/")[2].partition(".")[0])[1] == "code"


def first_word(output: str) -> str:
    """Return the first line of an output if it is a single word that may be a secret, else ""."""
    core = output.strip().partition("\n")[0].strip()
    is_word = len(core) <= _LONGEST and len(core.split()) == 1
    return core if is_word and values.is_secret(core) and "://" not in core else ""


def answer(output: str, command: str) -> str:
    """Return the same for the output of a command, whose first line may repeat what it asked for: `etcdctl get …`."""
    head, _, rest = output.strip().partition("\n")
    return first_word(rest if head.strip() in command.split() else output)


def messages(command: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the messages in quotes that a command gives to git or a forge: `git commit -m "…"`."""
    for option, begin in secrets.occurrences(command[:_LONGEST_COMMAND], *_OF_MESSAGES):
        sign = command[begin : begin + 1]
        end = command.find(sign, begin + 1) if sign and sign in "\"'" else -1
        line = command[:option].rpartition("\n")[2]
        if end > 0 and secrets.has_any(line, _TAKERS):
            yield begin + 1, end


_OF_MESSAGES = (" -m ", " -am ", " --message ", " --message=", " --title ", " --body ", " --notes ")
_TAKERS = ("git ", "gh ", "glab ", "hg ", "jj ", "svn ")


def only_word(content: str) -> str:
    """Return the only word of a file if it may be a secret, else "". Agents print files with numbers and elements."""
    found = []
    for line in content.split("\n")[:_MOST_WORDS]:
        bare = line.strip()
        if bare[:1] == "<" or bare.startswith("(End of file"):
            continue
        head, _, rest = bare.replace("|", ":", 1).replace("\t", ":", 1).partition(":")
        found += (rest if head.isdecimal() else bare).split()
    return first_word(found[0]) if len(found) == 1 else ""


def written_in(command: str) -> Iterator[tuple[int, int]]:
    """Yield the words that a command or a patch writes to files named as secrets: `echo … > db_password.txt`."""
    for at, line in lines(command):
        if secrets.has_any(line, _WRITES) and any(map(names_secret, _targets(line))):
            if "<<" in line or line.startswith("***"):
                yield from _words_below(command, at + len(line) + 1)
            else:
                yield from [(at + first, at + last) for first, last in _echoed(line)]


_WRITES = (">", "tee ", "*** Add File: ", "*** Update File: ")


def _targets(line: str) -> list[str]:
    """Return the files that a line of a command may write, or that the header of a patch names."""
    words = line.replace(">>", " > ").replace(">", " > ").split()
    return [
        word.rstrip(";)&|")
        for before, word in zip(["", *words], words, strict=False)
        if before in (">", "tee", "-a", "File:")
    ]


def _echoed(line: str) -> Iterator[tuple[int, int]]:
    """Yield the span of the only word that `echo` or `printf` prints on a line."""
    for program in ("echo ", "printf "):
        at = line.find(program)
        if at >= 0:
            spans = [span for span in scan.words(line, at + len(program), len(line)) if line[span[0]] not in "-%"]
            ends = [number for number, (start, _) in enumerate(spans) if line[start] in "|>;&"]
            start, end = spans[0] if spans else (0, 0)
            end -= 2 * line.endswith("\\n", start, end)
            if ends[:1] == [1] and _is_value(line[start:end]):
                yield start, end


def _words_below(command: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words of a here-document, or of a part of a patch, if there are one or two."""
    spans = []
    for start, line in lines(command[at : at + _LONGEST_COMMAND], at):
        if line.startswith(("EOF", "END", "***")) or not line:
            break
        if line[:2] != "@@":
            bare = line.lstrip("+- ").rstrip()
            start += line.index(bare)
            spans.append((start, start + len(bare)))
    if len(spans) <= _MOST_WRITTEN and all(_is_value(command[start:end]) for start, end in spans):
        yield from spans


_MOST_WRITTEN = 2
"""The old word of a file and the new one."""


def _is_value(word: str) -> bool:
    return bool(word) and first_word(word) == word


def find(text: str) -> Iterator[Span]:
    """Find printed secrets in a transcript: the line below `$ gh auth token`, or `$ vault kv get …`."""
    for prompt in PROMPTS:
        at = text.find(prompt)
        while at >= 0:
            end = line_end(text, at)
            command = text[at + len(prompt) : end] if text[at - 1 : at] in ("", "\n", " ") else ""
            is_sure = prints_secret(command)
            listed = None if is_sure else shown_by(command)
            if is_sure or listed:
                begin = scan.behind_echo(text, end + 1)
                line = text[begin : line_end(text, begin)].strip(" \"'")
                core = first_word(line)
                if core and not core.startswith(("{", "[", "-", "<", "#", "//")):
                    start = text.index(core, begin)
                    for first, last, kind in listed(core) if listed else [(0, len(core), "secret")]:
                        yield start + first, start + last, kind
            at = text.find(prompt, max(end, at + 1))
