"""Values in JSON that are secret because of their key, `{"password": …}`, or of the command that printed them."""

from __future__ import annotations

from mdmem.privacy import text
from mdmem.privacy.secrets import names, printed, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.privacy.job import Job


def hidden(name: str, value: Any, job: Job) -> Any:
    """Return a key's value with the secrets masked, if the key is a name of one."""
    weight, kind = names.weigh(name)
    return _hidden(value, weight, kind, job) if weight else value


def _hidden(value: Any, weight: int, kind: str, job: Job) -> Any:
    if isinstance(value, str):
        if kind == "authorization" or (kind == "cookie" and "=" in value):
            return _as_header(kind, value, job)
        if value.startswith(job.rules.marks()) or not values.is_secret(value, weight, quoted=True):
            return value
    elif isinstance(value, list):
        return [_hidden(item, weight, kind, job) for item in value]
    elif isinstance(value, dict):
        return {key: _hidden(item, weight, kind, job) for key, item in value.items()}
    elif value is None or isinstance(value, bool) or kind not in names.EVEN_NUMBERS:
        return value
    job.cleaned.redacted += 1
    if isinstance(value, str):
        text.learn_secret(value, job)
    return job.rules.mark(kind)


def _as_header(name: str, value: str, job: Job) -> str:
    """Clean a value as if it followed `Authorization:` or `Cookie:`."""
    line = f"{name}: {value}"
    return text.apply(line, text.secret_edits(line, text.lower(line), job), job).removeprefix(f"{name}: ")


def without_printed(run: dict[Any, Any], command: str, job: Job) -> dict[Any, Any]:
    """Return a tool run without secrets that its command printed."""
    if printed.shows_secrets(command):
        run = {**run, "response": _without_values(run["response"], job)}
    prints = printed.prints_secret(command)
    return {**run, "response": _without_first_word(run["response"], job)} if prints else run


def without_content(run: dict[Any, Any], path: str, job: Job) -> dict[Any, Any]:
    """Return a tool run without the secret that is the only content of its file, by the file's name."""
    return _without_only_word(run, job) if printed.names_secret(path) else run


def _without_only_word(value: Any, job: Job) -> Any:
    if isinstance(value, list):
        return [_without_only_word(item, job) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_first_word(item, job)
        if key in _CONTENT and isinstance(item, str) and len(item.split()) == 1
        else _without_only_word(item, job)
        for key, item in value.items()
    }


_CONTENT = ("content", "new_string", "newString", "old_string", "oldString", "response")


def _without_values(value: Any, job: Job) -> Any:
    """Return what a command printed without the values of the list in it."""
    if isinstance(value, dict):
        return {key: item if key in _NO_OUTPUT else _without_values(item, job) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_values(item, job) for item in value]
    if not isinstance(value, str):
        return value
    shown = [span for span in printed.values_in(value) if not value.startswith(job.rules.marks(), span[0])]
    for start, end, _ in shown:
        text.learn_secret(value[start:end], job)
    job.cleaned.redacted += len(shown)
    return text.apply(value, [(start, end, job.rules.mark(kind), kind) for start, end, kind in shown], job)


def _without_first_word(value: Any, job: Job) -> Any:
    if isinstance(value, dict):
        return {key: item if key in _NO_OUTPUT else _without_first_word(item, job) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_first_word(item, job) for item in value]
    core = printed.first_word(value) if isinstance(value, str) else ""
    if not core or core.startswith(job.rules.marks()):
        return value
    job.cleaned.redacted += 1
    text.learn_secret(core, job)
    return value.replace(core, job.rules.mark("secret"), 1)


_NO_OUTPUT = ("stderr", "type", "status")
