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
_OF_STORES = VERBS | {"password", "p"}
_ENTRIES = frozenset(("pass", "gopass", "passage"))  # of which an entry's path alone is a command that shows it
_OTHERS = frozenset("kubectl oc k git gh glab docker podman echo printf grep rg ag cat find ls cd apt apt-get".split())
"""Programs with nouns and verbs like these that show no value, or whose output other rules read."""

_BEFORE = frozenset(("sudo", "env", "time", "command", "exec", "nohup"))
_ENDS = ("|", "&&", "||", ";", "&")
_AROUND = "\"'`$()"
_MOST_WORDS = 6  # of a command's beginning, which say what it does


def shows(command: str) -> bool:
    """Whether a command shows what a store keeps. `command` is in lower case."""
    begun: list[str] = []
    for word in (*command.split(), ";"):
        bare = word.strip(_AROUND).rstrip(";")
        if word not in _ENDS and bare and (begun or not ("=" in bare or bare in _BEFORE)):
            begun.append(bare)
        if word in _ENDS or word[-1] == ";":
            if len(begun) > 1 and _is_shown(begun[0].rpartition("/")[2].removesuffix(".exe"), begun[1:]):
                return True
            begun = []
    return False


def _is_shown(program: str, arguments: list[str]) -> bool:
    if program in _OTHERS:
        return False
    words = [part for word in arguments[:_MOST_WORDS] if word[0] not in "-/." for part in word.split(":")]
    if program in STORES:
        is_entry = program in _ENTRIES and len(arguments) == 1 and "/" in arguments[0]
        return is_entry or any(word in _OF_STORES for word in words[:3])
    pairs = [(before, word) for before, word in zip(["", *words], words, strict=False) if before]
    if any((word in VERBS and _is_noun(before)) or (before in VERBS and _is_noun(word)) for before, word in pairs):
        return True
    return any(verb in VERBS and _is_noun(noun) for verb, _, noun in (word.partition("-") for word in words[:2]))


def _is_noun(word: str) -> bool:
    """Whether a word of a command is a noun for secrets: `secrets`, `credentials`, `secret-value`."""
    return word.replace("-", "").isalpha() and names.weigh(word)[0] == names.STRONG
