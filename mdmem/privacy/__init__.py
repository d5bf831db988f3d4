"""The gate: removes private sections and secrets from a value before anything else sees it.

`clean` is the only entry. It takes any decoded JSON value and returns the same shape, safe to store. From every
string, keys included, it removes private sections, then the blocks that hosts and memory programs add around the
user's words, then repetitions of the session's private sections (`echo`), then secrets. It repeats until nothing
changes.

Nothing slow is imported, and a scanner only when the text calls for it: most text has no tag, no word like
"password", and no long random word. Exceptions and log lines never contain text.
"""

from __future__ import annotations

import sys

from mdmem.hook_errors import DeadlineError
from mdmem.privacy import secrets, text
from mdmem.privacy.job import Cleaned as Cleaned
from mdmem.privacy.job import Hidden as Hidden
from mdmem.privacy.job import Job, RuleSet
from mdmem.privacy.secrets import signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.privacy.echo import Echo as Echo
    from mdmem.privacy.findings import Finding as Finding
    from mdmem.settings import Settings

TOO_DEEP = "[TOO DEEP]"
MAX_DEPTH = 64  # a value nested deeper than this is replaced by `TOO_DEEP`
SHORT_KEYS = ("pin", "otp", "cvv", "sid", "sig", "signature")  # names of secrets that count only as whole keys
IDENTITY_KEYS = frozenset((
    "ssn", "social_security_number", "socialsecuritynumber", "nino", "national_insurance_number", "passport", "cpf",
    "passport_number", "passportnumber", "passport_no", "dni", "nie", "nif", "pesel", "bsn", "aadhaar", "steuer_id",
    "steuerid", "idnr", "national_id", "nationalid", "codice_fiscale", "codicefiscale", "tfn", "itin", "tax_id", "curp",
    "personnummer", "cpr", "rut", "ahv", "nir",
))  # fmt: skip
"""Keys of objects whose value is a number that a state gave to a person."""

USUAL_KEYS = frozenset((
    "agent", "body", "branch", "command", "commit", "content", "context", "cwd", "description", "duration_ms", "error",
    "file_path", "filePath", "files", "input", "kind", "language", "lines", "meta", "new_string", "newString",
    "old_string", "oldString", "project", "prompt", "replace_all", "response", "sequence", "session", "slug", "staged",
    "status", "stderr", "stdout", "structuredPatch", "subagent", "success", "tags", "text", "title", "tool", "type",
    "originalFile", "oldStart", "oldLines", "newStart", "newLines", "replaceAll", "userModified", "interrupted",
    "isImage",
))  # fmt: skip
"""The keys of most notes and payloads. They are harmless, and scanning them for secrets costs a hook 3 %."""


class Rules(RuleSet):
    """Rules whose marks survive another cleaning unchanged; a mark that would not is replaced by the default."""

    if not TYPE_CHECKING:  # type checkers derive it from the fields

        def __init__(self, **values: Any) -> None:
            super().__init__(**values)
            self.tags = _tag_words(self.tags)
            self.marker = self.marker and _usable(self.marker, Rules.marker, self.tags)
            self.redacted = _usable(self.redacted, Rules.redacted, self.tags)

    @classmethod
    def of(cls, settings: Settings, *, skips_slow: bool = False) -> Rules:
        """Return the rules for these settings."""
        privacy = settings.privacy
        return cls(
            marker=privacy.marker,
            redacted=privacy.redacted,
            name_kinds=privacy.name_kinds,
            keep_lines=privacy.keep_lines,
            unclosed=privacy.unclosed,
            literal_code=privacy.literal_code,
            patterns=tuple(privacy.patterns),
            tags=tuple(privacy.tags),
            home=_home() if privacy.anonymize else "",
            skips_slow=skips_slow,
        )


def clean(
    value: Any,
    *,
    rules: Rules | None = None,
    origin: str = "prompt",
    echo: Echo | None = None,
    explain: bool = False,
    names: frozenset[str] = frozenset(),
    said: tuple[str, ...] = (),
) -> Cleaned:
    """Return a decoded JSON value without private sections and secrets, and a record of what was removed.

    origin: who wrote it ("prompt", "assistant" or "tool"). A lone `[private]` does not count in a tool's output, and in
        its input, which is the value's key "input", only where it begins a line or a sentence.
    echo: finds what this session's private sections said; it is masked here as well.
    explain: collect `findings`, if `value` is a string.
    names: mdmem's own keys, which stay unchanged even if a pattern of the user matches them.
    said: private texts of the same event (`spans` of an earlier call), masked here as well.

    A text that cannot be cleaned, because of a fault or because the hook's deadline passes, is withheld (`withheld`).
    Raises PatternError when a pattern of the user takes too long for a text, unless the rules say that it is withheld.
    """
    job = Job(Cleaned(), rules or DEFAULT, origin, echo)
    job.names, job.said, job.clean = names, said, text.clean
    try:
        if DeadlineError.has_passed:
            raise DeadlineError
        _fill(value, job)
    except (Exception, DeadlineError) as error:  # noqa: BLE001 - a fault must neither lose an event nor let text through
        from mdmem.privacy import withheld

        job = withheld.without_unchecked(value, job, error, _fill)
    finally:
        for name in ("disguises", "encoded", "secrets.groups", "secrets.repeated"):
            if forget := getattr(sys.modules.get(f"mdmem.privacy.{name}"), "forget", None):
                forget()  # a module that another thread is still loading has none
    if isinstance(value, str) and explain:
        from mdmem.privacy import findings

        job.cleaned.findings = findings.locate(text.storable(value), job.history)
    return job.cleaned


def _fill(value: Any, job: Job) -> None:
    """Clean a value; the result is `job.cleaned`."""
    cleaned, known = job.cleaned, len(job.said)
    job.spans += job.said
    remaining = _without_spanning(value, job)
    job.plain_chars = _plain_chars(remaining, job) if job.echo is None and not job.rules.patterns else 0
    cleaned.value = _value(remaining, job, 0)
    if any(len(span) >= text.SHORTEST_REVEALED for span in job.spans):
        from mdmem.privacy import revealed

        job.spans[known:] = revealed.in_plain_words(job.spans[known:])
        if cleaned.value != "":
            job.revealed = revealed.of(tuple(job.spans))
            cleaned.value = _value(cleaned.value, job, 0)
    if job.secrets:
        from mdmem.privacy.secrets import repeated

        if not isinstance(value, str) and repeated.stands_in(cleaned.value, job.secrets):
            cleaned.value = _value(cleaned.value, job, 0)
        cleaned.secrets = tuple(repeated.without_format(job.secrets))
    cleaned.spans = tuple(job.spans)


def may_hold_tag(value: str, rules: Rules) -> bool:
    """Whether a text may hold a tag of any kind: a quick check that never misses one."""
    if text.may_hold_private(value, rules):
        return True
    return secrets.has_any(text.lower(value), ("-context", "system-", "system_", "persisted-output", "hook_context"))


def anonymized(value: Any, rules: Rules) -> Any:
    """Return a JSON value without the user's home folder and name in its paths, if the rules ask for that."""
    if not rules.home:
        return value
    from mdmem.privacy import anonymous as paths

    return paths.apply(value, rules.home)


def may_hold_private(value: Any, rules: Rules) -> bool:
    """Whether any string of a JSON value may hold a private tag: a quick check that never misses one."""
    return _may_span(value, rules, True, 0)


def may_name_secret(value: Any, rules: Rules) -> bool:
    """Whether a JSON value may hold a secret that is known by its name, by its command or file, or by a sentence."""
    texts: list[str] = []
    _gather(value, texts, 0)
    low = text.lower("\n".join(texts))
    return rules.secrets and (secrets.may_name(low) or secrets.has_any(low, ("vault ", "sops ", "/secrets/")))


def as_typed(prompt: str) -> str:
    """Return a prompt with `[PRIVATE]` turned into the tag that the user meant; within a sentence, it is a marker.

    The user means a tag at the start of the prompt, and before words at the start of a line or a sentence.
    """
    if "[PRIVATE]" not in prompt:
        return prompt
    from mdmem.privacy import sections

    typed: list[str] = []
    copied = 0
    for at, end in secrets.occurrences(prompt, "[PRIVATE]"):
        before, after = prompt[max(0, at - _TYPED_REACH) : at], prompt[end : end + _TYPED_REACH].partition("\n")[0]
        is_first = not copied and not before.strip() and not prompt[:at].strip()
        if is_first or (sections.begins_sentence(before) and after.strip(" \t:.,;!?…-")):
            typed += (prompt[copied:at], "[private]")
            copied = end
    return "".join([*typed, prompt[copied:]])


_TYPED_REACH = 200


def holds_memory(value: str) -> bool:
    """Whether a text holds a block of injected memories, in any encoding. A mention of its name does not count."""
    from mdmem.privacy import fences, limits, sections

    low = text.lower(value)
    if not any(name in low for name in fences.NAMES):
        return False
    try:
        return any(rule in fences.NAMES for *_, rule in sections.context(value, low))
    except limits.FloodError:
        return True


def explain(value: str, rules: Rules | None = None, *, origin: str = "prompt") -> list[Finding]:
    """Return where `clean` removes something from a text, and by which rule, in the text's order."""
    return list(clean(value, rules=rules, origin=origin, explain=True).findings)


# -- values


def _without_spanning(value: Any, job: Job) -> Any:
    """Return a value without the private sections that span several of its strings."""
    if isinstance(value, str):
        return value
    may_span = _may_span(value, job.rules, False, 0)
    if isinstance(value, dict) and ("files_after" in value or "files_shown" in value):
        from mdmem.privacy import edited

        value = edited.hide(value, job)
    if job.rules.secrets and isinstance(value, dict) and "response" in value:
        value = _without_printed(value, job)
    if not may_span:
        return value
    from mdmem.privacy import edits, segments

    return segments.hide(edits.hide(value, job), job, MAX_DEPTH)


def _without_printed(run: dict[Any, Any], job: Job) -> dict[Any, Any]:
    """Return a tool run without secrets that its command printed or wrote, or that are all its file holds."""
    given, tool = run.get("input"), run.get("tool")
    if not isinstance(given, dict):
        return run
    if isinstance(tool, str) and tool[:3].lower() == "mcp" and secrets.has_any(tool.lower(), _SECRET_TOOLS):
        from mdmem.privacy.secrets import named

        run = named.without_told(run, tool, job)
    for key in _COMMANDS + _PATHS:
        told = given.get(key)
        if isinstance(told, list):
            told = " ".join([word for word in told if isinstance(word, str)])
        if told and isinstance(told, str) and signs.may_print(told):
            from mdmem.privacy.secrets import named

            run = named.without_printed(run, told, job) if key in _COMMANDS else named.without_content(run, told, job)
    return run


_SECRET_TOOLS = ("secret", "passw", "cred")
_COMMANDS = ("command", "cmd", "patch", "patchText", "patch_text")
_PATHS = ("file_path", "filePath", "path", "absolute_path", "target_file")


def _may_span(value: Any, rules: RuleSet, listed: bool, depth: int) -> bool:
    """Whether a string in a list, or the original file of an edit, may hold a tag."""
    if isinstance(value, str):
        return listed and text.may_hold_private(value, rules)
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, dict):
        originals = listed or "riginal" in "".join([key for key in value if isinstance(key, str)])
        return any(_may_span(item, rules, originals, depth + 1) for item in value.values())
    return isinstance(value, (list, tuple)) and any(_may_span(item, rules, True, depth + 1) for item in value)


def _value(value: Any, job: Job, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return TOO_DEEP
    if isinstance(value, str):
        return job.clean(value, job)
    if isinstance(value, dict):
        return _object(value, job, depth)
    if isinstance(value, (list, tuple)):
        return _list(value, job, depth)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return job.rules.redacted  # not JSON, so it cannot be checked


def _list(value: Any, job: Job, depth: int) -> list[Any]:
    result: list[Any] = []
    flag = ""
    for item in value:
        cleaned = _value(item, job, depth + 1)
        if flag and isinstance(item, str):  # ["--password", "…"]
            cleaned = _under_name(flag, cleaned, job)
        flag = item if job.rules.secrets and isinstance(item, str) and _is_flag(item) else ""
        result.append(cleaned)
    return result


def _is_flag(item: str) -> bool:
    """Whether a string of a list is an option of a command; `-    pass` is a line of a diff."""
    return item[:1] == "-" and len(item.split()) == 1


def _object(value: dict[Any, Any], job: Job, depth: int) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    pair = _named_value(value)
    if job.rules.secrets and not _TABLES.isdisjoint(value):
        from mdmem.privacy.secrets import named

        value = named.without_columns(value, job)
    for key, item in value.items():
        if depth == 0:
            job.is_input = key == "input"
        name, cleaned = key, _value(item, job, depth + 1)
        is_paired = pair != "" and (key in _VALUES or (key == "text" and "value" not in value))
        if isinstance(key, str) and (is_paired or not _is_plain(key, job)):
            name = key if key in job.names else job.clean(key, job)
            if job.rules.secrets:
                cleaned = _under_name(pair if is_paired else key, cleaned, job)
        while name in result:  # two keys were masked to the same text
            name = f"{name}+{len(result)}"
        result[name] = cleaned
    return result


_TABLES = frozenset(("rows", "values", "records", "data", "stringData"))
"""Keys of an object whose other keys may say which of their values are secret."""


def _plain_chars(value: Any, job: Job) -> int:
    """Return the length up to which all strings of a list or an object are harmless, except for tokens.

    One check covers them all: a payload has some thirty strings, and each would be searched for over a hundred words.
    """
    if isinstance(value, str):
        return 0
    texts: list[str] = []
    _gather(value, texts, 0)
    longer = [string for string in texts if len(string) > _NAME_CHARS]
    if not text.is_plain("\n".join([string for string in texts if len(string) <= _NAME_CHARS]), job):
        return 0
    is_plain = sum(map(len, longer)) <= _MOST_CHARS and text.is_plain("\n".join(longer), job)
    return _MOST_CHARS if is_plain else _NAME_CHARS


_NAME_CHARS = 64  # a longer string is likely to be prose or code, which more often needs a full scan
_MOST_CHARS = 8 * 1024  # above this total length, checking twice costs more than it saves


def _gather(value: Any, texts: list[str], depth: int) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif depth <= MAX_DEPTH and isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str) and key not in USUAL_KEYS:
                texts.append(key)
            _gather(item, texts, depth + 1)
    elif depth <= MAX_DEPTH and isinstance(value, (list, tuple)):
        for item in value:
            _gather(item, texts, depth + 1)


def _is_plain(key: str, job: Job) -> bool:
    """Whether a key is a short word that holds no secret and names none, like most keys. In doubt, False.

    No step of `text.clean` changes such a word: tags, tokens, places and commands are all longer or have signs.
    """
    if job.rules.patterns:
        return False
    if key in USUAL_KEYS:
        return True
    if job.secrets or job.echo is not None or job.revealed is not None:
        return False
    if len(key) >= secrets.SHORTEST_TOKEN or not (key.isascii() and key.isidentifier()) or key in _VALUES:
        return False
    low = key.lower()
    is_named = low in SHORT_KEYS or low in IDENTITY_KEYS or secrets.has_keyword(low)
    return not is_named and "card" not in low


def _named_value(value: dict[Any, Any]) -> str:
    """Return the name that an object gives its `value`, or "": `{"name": "DB_PASSWORD", "value": …}`.

    What a browser types has the field's description for a name: `{"element": "Password field", "text": …}`.
    """
    if not _VALUES.isdisjoint(value):
        for key in ("name", "key", "Name", "Key", "label", "id", "k"):
            name = value.get(key)
            if isinstance(name, str) and (name in SHORT_KEYS or secrets.has_keyword(name.lower())):
                return name
    for key in ("element", "selector") if "text" in value or "value" in value else ():
        name = value.get(key)
        if isinstance(name, str) and secrets.has_any(name.lower(), _TYPED_SECRETS):
            return "password"
    return ""


_VALUES, _TYPED_SECRETS = frozenset(("value", "Value", "v")), ("passw", "passcode", "passphrase")


def _under_name(name: str, value: Any, job: Job) -> Any:
    """Mask a whole value, nested texts and numbers included, if its name is one of a secret."""
    if value is None or isinstance(value, bool) or value in ("", [], {}):
        return value
    low = name.lower()
    if "card" in low and isinstance(value, str) and secrets.may_hold_number(value):
        from mdmem.privacy import payments

        return payments.hidden(value, job)
    if low in IDENTITY_KEYS:
        from mdmem.privacy.checked import identities

        return identities.hidden(low, value, job)
    if low not in SHORT_KEYS and not secrets.has_keyword(low):
        return value
    from mdmem.privacy.secrets import named

    return named.hidden(name, value, job)


def _usable(mark: str, default: str, tags: tuple[str, ...]) -> str:
    return mark if mark == default or (mark and _is_inert(mark, tags)) else default


def _is_inert(mark: str, tags: tuple[str, ...]) -> bool:
    """Whether cleaning leaves a mark unchanged, whatever surrounds it."""
    rules = Rules(tags=tags)
    sample = f"a {mark} b1c2d3 {mark}b1c2d3 {mark}{mark}"
    return all(clean(sample, rules=rules, origin=origin).value == sample for origin in ("prompt", "tool"))


def _home() -> str:
    from mdmem import config

    return config.home()


def _tag_words(configured: tuple[str, ...]) -> tuple[str, ...]:
    if configured in ((), ("private",)):
        return ("private",)
    from mdmem.privacy import tags

    return tags.words(configured)


DEFAULT = Rules()
"""The rules of an empty settings file."""
