"""Secrets that a command prints, in a tool run or a transcript: `gh auth token`, `cat /run/secrets/…`."""

from __future__ import annotations

from mdmem.privacy.secrets import PROMPTS, names, values
from mdmem.privacy.secrets.literals import line_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mdmem.privacy.secrets.scan import Span

PRINTERS: tuple[tuple[str, str], ...] = (
    ("pass show ", ""), ("gopass show ", ""), ("op read ", ""), ("op item get ", "field"), ("bw get password ", ""),
    ("lpass show ", "--password"), ("secret-tool lookup ", ""), ("keyring get ", ""),
    ("keepassxc-cli show ", " password"), ("security find-", " -w"), ("vault ", "-field="), ("kubectl ", "base64 -d"),
    ("kubectl ", "base64 --decode"), ("kubectl ", "base64decode"), ("secretsmanager get-secret-value", "secretstring"),
    ("ssm get-parameter", "parameter.value"), ("secrets versions access ", ""), ("keyvault secret show ", "value"),
    ("doppler secrets get ", "--plain"), ("auth token", ""), ("auth:token", ""), ("auth print-", "token"),
    ("get-access-token", ""), ("get-login-password", ""), ("whoami -t", ""), ("initial-password", ""), ("pwgen", ""),
    ("openssl rand ", ""), ("cat ", "/run/secrets/"), ("cat ", "/etc/secrets/"),
)  # fmt: skip
"""Pairs of lower-case strings. A command that contains both prints a secret."""

NAMED = ("cat ", "head ", "tail ", "echo $", 'echo "$', "printenv ", "output -raw ", "type ", "get-content ")
"""Commands that print a secret if the name of their argument says so: `cat db_password.txt`, `echo $API_TOKEN`."""

_ENDINGS = (".txt", ".secret", ".b64", ".asc", ".dat")
_AROUND = "\"'`${}()"
_ENDS = ("|", ">", "&&", ";")
_LONGEST_COMMAND, _LONGEST, _MOST_WORDS = 2048, 512, 40


def prints_secret(command: str) -> bool:
    """Whether a command's output is a secret and little else."""
    low = command[:_LONGEST_COMMAND].lower()
    if any(head in low and rest in low for head, rest in PRINTERS):
        return ">" not in low.replace("2>", "")
    return any(_asks_for_secret(command, low, verb) for verb in NAMED if verb in low)


def _asks_for_secret(command: str, low: str, verb: str) -> bool:
    at = low.rfind(verb)
    if at > 0 and low[at - 1].isalnum():
        return False
    words = command[at : at + _LONGEST].split()[:_MOST_WORDS]
    last = ""
    for word in words:
        if word.startswith(_ENDS):
            return False
        last = word
    name = last.strip(_AROUND).rpartition("/")[2]
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return len(words) > 1 and names.weigh(name.lstrip("."))[0] >= names.LITERAL


def first_word(output: str) -> str:
    """Return the first line of an output if it is a single word that may be a secret, else ""."""
    core = output.strip().partition("\n")[0].strip()
    is_word = len(core) <= _LONGEST and len(core.split()) == 1
    return core if is_word and values.is_secret(core, names.STRONG, quoted=True) and "://" not in core else ""


def find(text: str) -> Iterator[Span]:
    """Find printed secrets in a transcript: the line below `$ gh auth token`."""
    for prompt in PROMPTS:
        at = text.find(prompt)
        while at >= 0:
            end = line_end(text, at)
            if text[at - 1 : at] in ("", "\n", " ") and prints_secret(text[at + len(prompt) : end]):
                line = text[end + 1 : line_end(text, end + 1)]
                core = first_word(line)
                if core and not core.startswith(("{", "[", "-", "<", "#", "//")):
                    start = end + 1 + line.index(core)
                    yield start, start + len(core), "secret"
            at = text.find(prompt, max(end, at + 1))
