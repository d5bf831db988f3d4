"""Commands that show what a store of secrets keeps: `vault kv get`, `infisical secrets get`, `pass show`.

No list of programs' commands is complete, so a rule reads them: a store, or a noun for secrets, with a verb that shows.
"""

from __future__ import annotations

from mdmem.privacy.secrets import names

STORES = frozenset(
    """
    pass gopass passage op bw rbw lpass dcli dashlane chamber credstash infisical doppler sops berglas keyring
    ansible-vault aws-vault vault secret-tool akeyless keepassxc-cli
    """.split()
)
"""Programs that do little else than keep secrets."""

VERBS = frozenset("get show view read access export reveal decrypt print dump lookup".split())
_NOUN_ALONE = {"dcli": ("password", "p"), "dashlane": ("password", "p")}
_ENTRIES = frozenset(("pass", "gopass", "passage"))  # of which an entry's path alone is a command that shows it
_NO_SECRETS = frozenset(
    "policy policies user account vault group project projects config configs metadata help".split()
)
"""What a store also shows."""
_OTHERS = frozenset(
    """
    kubectl oc k git gh glab docker podman echo printf grep rg ag cat find ls cd apt apt-get make npm yarn pnpm just
    task python python3 node ruby go cargo complete
    """.split()
)
"""Programs with nouns and verbs like these that show no value, or whose output other rules read."""

_BEFORE = frozenset(("sudo", "env", "time", "command", "exec", "nohup", "npx"))
_ENDS = ("|", "&&", "||", ";", "&")
_AROUND = "\"'`$()"
_MOST_WORDS = 6  # of a command's beginning, which say what it does


def shows(command: str) -> bool:
    """Whether a command shows what a store keeps. `command` is in lower case."""
    begun: list[str] = []
    for word in (*command.split(), ";"):
        bare = word.rpartition("$(")[2].strip(_AROUND).rstrip(";")
        if word not in _ENDS and bare and (begun or not ("=" in bare or bare in _BEFORE)):
            begun.append(bare)
        if word in _ENDS or word[-1] == ";":
            if _names_both(begun) or any(_is_of_store(begun, number) for number in range(len(begun))):
                return True
            begun = []
    return False


def _is_of_store(command: list[str], number: int) -> bool:
    """Whether the word with this index is a store that shows something: `docker exec v vault kv get …`."""
    program = command[number].rpartition("/")[2].removesuffix(".exe")
    if program not in STORES:
        return False
    words = _words(command[number + 1 : number + 1 + _MOST_WORDS])
    is_entry = program in _ENTRIES and number == 0 and len(command) == 2 and "/" in command[1]
    told = words[: 1 if program in _ENTRIES else 3]
    is_shown = not VERBS.isdisjoint(told) or "".join(words[:1]) in _NOUN_ALONE.get(program, ())
    return is_entry or (is_shown and _NO_SECRETS.isdisjoint(told))


def _names_both(command: list[str]) -> bool:
    """Whether a command has a noun for secrets beside a verb that shows: `azure keyvault secret show`."""
    if not command or command[0].rpartition("/")[2] in _OTHERS:
        return False
    words = _words(command[1 : 1 + _MOST_WORDS])
    pairs = [(before, word) for before, word in zip(["", *words], words, strict=False) if before]
    if any((word in VERBS and _is_noun(before)) or (before in VERBS and _is_noun(word)) for before, word in pairs):
        return True
    return any(verb in VERBS and _is_noun(noun) for verb, _, noun in (word.partition("-") for word in words[:2]))


def _words(arguments: list[str]) -> list[str]:
    return [part for word in arguments if word[0] not in "-/." for part in word.split(":")]


def _is_noun(word: str) -> bool:
    """Whether a word of a command is a noun for secrets: `secrets`, `credentials`, `secret-value`."""
    return word.replace("-", "").isalpha() and names.weigh(word)[0] == names.STRONG
