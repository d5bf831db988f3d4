"""The gate: what is private or secret is removed from a value before anything else sees it.

`clean` is the one door. It takes any decoded JSON value and gives the same shape back, safe to store. Of every
string, keys included, it removes private sections, then what hosts and memories put around the user's words,
then what the session's private sections held (`echo`), then secrets; and again, until nothing changes.

Nothing slow is imported, and the scanners only when something in the text calls for them: most text has no tag,
no word like "password", and no long random word. No exception and no log line ever holds text.
"""

from __future__ import annotations

from mdmem.privacy import secrets, text
from mdmem.privacy.job import Cleaned as Cleaned
from mdmem.privacy.job import Hidden as Hidden
from mdmem.privacy.job import Job, RuleSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.privacy.echo import Echo as Echo
    from mdmem.privacy.findings import Finding as Finding
    from mdmem.settings import Settings

TOO_DEEP = "[TOO DEEP]"
MAX_DEPTH = 64
"""A value inside more lists and objects than this is replaced by `TOO_DEEP`."""

SHORT_KEYS = ("pin", "otp", "cvv", "sid", "sig", "signature")
"""Further names of secrets, which count as the whole key of an object only."""

USUAL_KEYS = frozenset((
    "agent", "body", "branch", "command", "commit", "content", "context", "cwd", "description", "duration_ms", "error",
    "file_path", "filePath", "files", "input", "kind", "language", "lines", "meta", "new_string", "newString",
    "old_string", "oldString", "project", "prompt", "replace_all", "response", "sequence", "session", "slug", "staged",
    "status", "stderr", "stdout", "structuredPatch", "subagent", "success", "tags", "text", "title", "tool", "type",
    "originalFile", "oldStart", "oldLines", "newStart", "newLines", "replaceAll", "userModified", "interrupted",
    "isImage",
))  # fmt: skip
"""The keys of most notes and payloads: they tell nothing, and looking for secrets in them costs a hook 3 %."""


class Rules(RuleSet):
    """Rules of which marker and mark of redaction stay as they are when they are read again: else the usual ones."""

    if not TYPE_CHECKING:  # type checkers make it from the fields

        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self.tags = _tag_words(self.tags)
            self.marker = self.marker and _usable(self.marker, Rules.marker, self.tags)
            self.redacted = _usable(self.redacted, Rules.redacted, self.tags)

    @classmethod
    def of(cls, settings: Settings) -> Rules:
        """Return the rules that the settings ask for."""
        given = settings.privacy
        return cls(
            marker=given.marker,
            redacted=given.redacted,
            name_kinds=given.name_kinds,
            keep_lines=given.keep_lines,
            unclosed=given.unclosed,
            literal_code=given.literal_code,
            patterns=tuple(given.patterns),
            tags=tuple(given.tags),
            home=_home() if given.anonymize else "",
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
    """Return a decoded JSON value without what is private or secret, and what was taken out.

    origin: who wrote it ("prompt", "assistant" or "tool"); a lone `[private]` counts only where people write.
    echo: what private sections of this session held, to be masked here as well.
    explain: gather `findings`, if `value` is one text.
    names: keys of mdmem's own, which stay as they are whatever a person's patterns match.
    said: what private sections of the same event held, `spans` of an earlier call, to be masked here as well.

    Raises:
        PatternError: when a pattern of the user's own takes too long.
    """
    cleaned = Cleaned()
    job = Job(cleaned, rules or DEFAULT, origin, echo)
    job.names = names
    job.spans += said
    value_left = _without_spanning(value, job)
    job.plain_chars = _plain_chars(value_left, job) if echo is None and not job.rules.patterns else 0
    cleaned.value = _value(value_left, job, 0)
    if any(len(span) >= text.SHORTEST_REVEALED for span in job.spans):
        from mdmem.privacy import revealed

        job.spans[len(said) :] = revealed.in_plain_words(job.spans[len(said) :])
        if cleaned.value != "":
            job.revealed = revealed.of(tuple(job.spans))
            cleaned.value = _value(cleaned.value, job, 0)
    if job.secrets and not isinstance(value, str) and secrets.stands_in(cleaned.value, job.secrets):
        cleaned.value = _value(cleaned.value, job, 0)
    cleaned.spans = tuple(job.spans)
    if isinstance(value, str) and explain:
        from mdmem.privacy import findings

        cleaned.findings = findings.locate(text.storable(value), job.history)
    return cleaned


def may_hold_tag(value: str, rules: Rules) -> bool:
    """Whether a text may hold a tag of any kind; False is sure, True only a reason to look closer."""
    if text.may_hold_private(value, rules):
        return True
    low = text.lower(value)
    return secrets.has_any(low, ("-context", "system-", "system_", "persisted-output", "hook_context"))


def anonymized(value: Any, rules: Rules) -> Any:
    """Return a JSON value whose paths do not tell the user's home folder and name, where the rules ask for that."""
    if not rules.home:
        return value
    from mdmem.privacy import anonymous as paths

    return paths.apply(value, rules.home)


def may_hold_private(value: Any, rules: Rules) -> bool:
    """Whether a JSON value may hold a private tag in any of its strings; False is sure."""
    return _may_span(value, rules, True, 0)


def as_typed(prompt: str) -> str:
    """Return a prompt in which `[PRIVATE]` at the very start is the tag that it was typed as, not a mark of mdmem's."""
    bare = prompt.lstrip()
    return f"[private]{bare[len('[PRIVATE]') :]}" if bare.startswith("[PRIVATE]") else prompt


def holds_memory(value: str) -> bool:
    """Whether a text holds a block of memories that was injected, in any encoding; a mention of its name is none."""
    from mdmem.privacy import fences, limits, sections

    low = text.lower(value)
    if not any(name in low for name in fences.NAMES):
        return False
    try:
        return any(rule in fences.NAMES for *_, rule in sections.context(value, low))
    except limits.FloodError:
        return True


def explain(value: str, rules: Rules | None = None, *, origin: str = "prompt") -> list[Finding]:
    """Return what `clean` takes out of a text, where, and by which rule; in the text's order."""
    return list(clean(value, rules=rules, origin=origin, explain=True).findings)


# -- values


def _without_spanning(value: Any, job: Job) -> Any:
    """Return a value without the private sections that reach over several of its strings."""
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
    """Return a tool run without the secret that its command printed."""
    given = run.get("input")
    command = given.get("command") if isinstance(given, dict) else None
    if not isinstance(command, str) or not secrets.has_any(command, secrets.PRINTED):
        return run
    from mdmem.privacy.secrets import named

    return named.without_printed(run, command, job)


def _may_span(value: Any, rules: RuleSet, listed: bool, depth: int) -> bool:
    """Whether a tag may stand in a string of a list, or in the file that an edit was made in."""
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
        return text.clean(value, job)
    if isinstance(value, dict):
        return _object(value, job, depth)
    if isinstance(value, (list, tuple)):
        return _list(value, job, depth)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return job.rules.redacted  # not JSON: nothing is known about it


def _list(value: Any, job: Job, depth: int) -> list[Any]:
    result: list[Any] = []
    flag = ""
    for item in value:
        cleaned = _value(item, job, depth + 1)
        if flag and isinstance(item, str):  # ["--password", "…"]
            cleaned = _under_name(flag, cleaned, job)
        flag = item if job.rules.secrets and isinstance(item, str) and item[:1] == "-" else ""
        result.append(cleaned)
    return result


def _object(value: dict[Any, Any], job: Job, depth: int) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    pair = _named_value(value)
    for key, item in value.items():
        name, cleaned = key, _value(item, job, depth + 1)
        if isinstance(key, str) and not _is_plain(key, job):
            name = key if key in job.names else text.clean(key, job)
            if job.rules.secrets:
                cleaned = _under_name(pair if key in ("value", "Value") and pair else key, cleaned, job)
        while name in result:  # two keys that were hidden alike
            name = f"{name}+{len(result)}"
        result[name] = cleaned
    return result


def _plain_chars(value: Any, job: Job) -> int:
    """Return how long a text of a list or an object may be that calls for no closer look, but for tokens.

    Asked once of all of them: a payload has some thirty, and each would be asked for more than a hundred words.
    """
    if isinstance(value, str):
        return 0
    found: list[str] = []
    _gather(value, found, 0)
    longer = [one for one in found if len(one) > _NAME_CHARS]
    if not text.is_plain("\n".join([one for one in found if len(one) <= _NAME_CHARS]), job):
        return 0
    is_plain = sum(map(len, longer)) <= _MOST_CHARS and text.is_plain("\n".join(longer), job)
    return _MOST_CHARS if is_plain else _NAME_CHARS


_NAME_CHARS = 64
"""A longer text says something, and is more likely to call for a closer look."""
_MOST_CHARS = 8 * 1024
"""Of longer texts, looking twice costs more than it saves."""


def _gather(value: Any, found: list[str], depth: int) -> None:
    if isinstance(value, str):
        found.append(value)
    elif depth <= MAX_DEPTH and isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str) and key not in USUAL_KEYS:
                found.append(key)
            _gather(item, found, depth + 1)
    elif depth <= MAX_DEPTH and isinstance(value, (list, tuple)):
        for item in value:
            _gather(item, found, depth + 1)


def _is_plain(key: str, job: Job) -> bool:
    """Whether a key is one short word that neither hides anything nor names a secret, as most keys are; False is safe.

    No step of `text.clean` changes such a word: tags, tokens, places and commands all take more.
    """
    if job.rules.patterns:
        return False
    if key in USUAL_KEYS:
        return True
    if job.secrets or job.echo is not None or job.revealed is not None:
        return False
    if len(key) >= secrets.SHORTEST_TOKEN or not (key.isascii() and key.isidentifier()) or key in ("value", "Value"):
        return False
    low = key.lower()
    return low not in SHORT_KEYS and not secrets.has_keyword(low)


def _named_value(value: dict[Any, Any]) -> str:
    """`{"name": "DB_PASSWORD", "value": …}`: the name that an object gives to its `value`, or ""."""
    if "value" in value or "Value" in value:
        for key in ("name", "key", "Name", "Key"):
            name = value.get(key)
            if isinstance(name, str):
                return name
    return ""


def _under_name(name: str, value: Any, job: Job) -> Any:
    """Hide a whole value, texts and numbers in lists and objects included, if its name says that it is secret."""
    if value is None or isinstance(value, bool) or value in ("", [], {}):
        return value
    low = name.lower()
    if low not in SHORT_KEYS and not secrets.has_keyword(low):
        return value
    from mdmem.privacy.secrets import named

    return named.hidden(name, value, job)


def _usable(mark: str, default: str, tags: tuple[str, ...]) -> str:
    return mark if mark == default or (mark and _is_inert(mark, tags)) else default


def _is_inert(mark: str, tags: tuple[str, ...]) -> bool:
    """Whether a mark stays as it is when it is read again, wherever it stands."""
    rules = Rules(tags=tags)
    sample = f"a {mark} b1c2d3 {mark}b1c2d3 {mark}{mark}"
    return all(clean(sample, rules=rules, origin=origin).value == sample for origin in ("prompt", "tool"))


def _home() -> str:
    from mdmem import config

    return config.home()


def _tag_words(given: tuple[str, ...]) -> tuple[str, ...]:
    if given in ((), ("private",)):
        return ("private",)
    from mdmem.privacy import tags

    return tags.words(given)


DEFAULT = Rules()
"""The rules of an empty settings file."""
