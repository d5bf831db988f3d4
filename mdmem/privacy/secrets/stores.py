"""Commands that show what a store of secrets keeps: `vault kv get`, `infisical secrets get`, `pass show`.

No list of programs' commands is complete, so a rule reads them: a store, or a noun for secrets, with a verb that shows.
"""

from __future__ import annotations

from mdmem.privacy.secrets import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STORES = frozenset(
    """
    pass gopass passage op bw rbw lpass dcli dashlane chamber credstash infisical doppler sops berglas keyring
    ansible-vault aws-vault vault secret-tool akeyless keepassxc-cli systemd-creds rclone dotenvx
    """.split()
)
"""Programs that do little else than keep secrets."""

VERBS = frozenset("get show view read access export reveal decrypt print dump lookup".split())
_NOUN_ALONE = {"dcli": ("password", "p"), "dashlane": ("password", "p")}
_ENTRIES = frozenset(("pass", "gopass", "passage"))  # of which an entry's path alone is a command that shows it
_NO_SECRETS = frozenset(
    "policy policies user account vault group project projects config configs metadata help token lease".split()
)
"""What a store also shows, if one of these is before the verb."""
_OTHERS = frozenset(
    """
    kubectl oc k helm flux argocd git gh glab svn hg jj docker podman echo printf grep rg ag cat head tail sed awk find
    ls cd cp mv mkdir rm tree wc diff test man apt apt-get apt-cache dpkg dnf brew pip pip3 gem composer poetry uv make
    npm yarn pnpm just task tox pytest jest vitest python python3 node ruby go cargo flutter dart mix terraform tofu
    systemctl curl http https xh wget complete
    """.split()
)
"""Programs with nouns and verbs like these that show no value, or whose output other rules read."""
_RUNNERS = frozenset(("docker", "podman", "kubectl", "oc", "k", "poetry", "uv"))  # `docker exec v vault kv get …`
_NAMING = ("-n", "--namespace", "-k")  # options before the name of something else: `flux -n vault get all`

_BEFORE = frozenset(("sudo", "env", "time", "command", "exec", "nohup", "npx"))
_ENDS = str.maketrans(dict.fromkeys("\n|;`()", " ; "))
_AROUND = "\"'$"
_MOST_WORDS = 6  # of a command's beginning, which say what it does


def shows_entry(command: str) -> bool:
    """Whether a command shows what a store keeps. `command` is in lower case."""
    return any(_is_of_store(begun, number) for begun in _commands(command) for number in range(len(begun)))


def names_both(command: str) -> bool:
    """Whether a command of a program that need not be a store asks for secrets. `command` is in lower case."""
    return any(map(_names_both, _commands(command)))


def may_get(command: str) -> bool:
    """Whether a program that `command` begins, in lower case, prints what its `get` asks for: `redis-cli `."""
    begun = next(reversed(list(_commands(command))), [])
    return not begun or _runs_any(begun)


def _commands(command: str) -> Iterator[list[str]]:
    """Yield the words of each command in a line, without what precedes its program."""
    begun: list[str] = []
    for word in (*command.replace("\\\n", " ").replace("&&", ";").translate(_ENDS).split(), ";"):
        if word in (";", "&"):
            if begun:
                yield begun
            begun = []
        elif begun or not ("=" in word or word in _BEFORE or not word.strip(_AROUND)):
            begun.append(word)


def _program(word: str) -> str:
    return word.strip(_AROUND).rpartition("/")[2].removesuffix(".exe")


def _runs_any(before: list[str]) -> bool:
    """Whether the words before a program run it, or are none: `timeout 5`, `docker exec v`, but not `cargo test`."""
    first = _program(before[0]) if before else ""
    if first not in _OTHERS:
        return True
    is_runner = first in _RUNNERS and not {"exec", "run"}.isdisjoint(before)
    return is_runner or "--" in before or "-exec" in before or (first[:6] == "python" and before[-1] == "-m")


def _is_of_store(command: list[str], number: int) -> bool:
    """Whether the word with this index is a store that shows something: `docker exec v vault kv get …`."""
    program = _program(command[number])
    before = command[:number]
    if program not in STORES or (before and before[-1] in _NAMING) or not _runs_any(before):
        return False
    words = _words(command[number + 1 : number + 1 + _MOST_WORDS])
    is_entry = program in _ENTRIES and number == 0 and len(command) == 2 and "/" in command[1]
    told = words[: 1 if program in _ENTRIES else 3]
    verb = next((place for place, word in enumerate(told) if word in VERBS), -1)
    is_alone = "".join(words[:1]) in _NOUN_ALONE.get(program, ())
    return is_entry or is_alone or (verb >= 0 and _NO_SECRETS.isdisjoint(told[:verb]))


def _names_both(command: list[str]) -> bool:
    """Whether a command has a noun for secrets beside a verb that shows: `azure keyvault secret show`."""
    if _program(command[0]) in _OTHERS:
        return False
    words = _words(_without_phrase(command)[1 : 1 + _MOST_WORDS])
    pairs = [(before, word) for before, word in zip(["", *words], words, strict=False) if before]
    if any((word in VERBS and _is_noun(before)) or (before in VERBS and _is_noun(word)) for before, word in pairs):
        return True
    return any(verb in VERBS and _is_noun(noun) for verb, _, noun in (word.partition("-") for word in words[:2]))


def _without_phrase(command: list[str]) -> list[str]:
    """Return a command up to its first argument of several words in quotes, unless a shell runs that."""
    if _program(command[0]) in _SHELLS:
        return command
    phrases = (number for number, word in enumerate(command) if word[0] in "\"'" and word[-1] != word[0])
    return command[: next(phrases, None)]


_SHELLS = frozenset(("bash", "sh", "zsh", "ssh"))


def _words(arguments: list[str]) -> list[str]:
    bare = [word.strip(_AROUND) for word in arguments]
    return [part for word in bare if word and word[0] not in "-/." for part in word.split(":")]


def _is_noun(word: str) -> bool:
    """Whether a word of a command is a noun for secrets: `secrets`, `credentials`, `secret-value`."""
    return word.replace("-", "").isalpha() and names.weigh(word)[0] == names.STRONG
