"""Values in JSON that are secret because of their key, `{"password": …}`, or of the command that printed them."""

from __future__ import annotations

from mdmem.privacy import secrets, text
from mdmem.privacy.secrets import names, plain_names, printed, settings_files, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mdmem.privacy.job import Job
    from mdmem.privacy.secrets.printed import Lister


def hidden(name: str, value: Any, job: Job) -> Any:
    """Return a key's value with the secrets masked, if the key is a name of one."""
    name = plain_names(name)
    weight, kind = names.weigh(name)
    if name.endswith("?") and isinstance(value, str) and name.lower().startswith(_ABOUT_SECRETS):
        is_value = values.is_unlike_words(value) and not values.names_something(value)
        weight, kind = (weight, kind) if is_value else (names.NONE, "")
    elif name.endswith("?") and isinstance(value, str) and values.is_unlike_words(value):
        weight, kind = _asked_for(name)
    return _hidden(value, weight, kind, job) if weight else value


def without_columns(value: dict[Any, Any], job: Job) -> dict[Any, Any]:
    """Return an object without the secrets in the columns of its rows, or in the data of a Kubernetes secret."""
    if value.get("kind") == "Secret":
        blocks = {key: value[key] for key in ("data", "stringData") if isinstance(value.get(key), dict)}
        return {**value, **{key: _hidden(block, names.STRONG, "secret", job) for key, block in blocks.items()}}
    heads: list[Any] = next((value[key] for key in _HEADS if isinstance(value.get(key), list)), [])
    named = [names.weigh(name) if isinstance(name, str) else (names.NONE, "") for name in map(_head, heads)]
    if not any(weight for weight, _ in named):
        return value
    return {
        key: [_row(row, named, job) for row in item] if key in _ROWS and isinstance(item, list) else item
        for key, item in value.items()
    }


_HEADS = ("columns", "fields", "header", "headers", "fieldnames", "cols")
_ROWS = ("rows", "values", "records", "data")


def _head(head: Any) -> Any:
    return head.get("name") if isinstance(head, dict) else head


def _row(row: Any, heads: list[tuple[int, str]], job: Job) -> Any:
    """Return a row of a table with the secrets masked, if it is a list with a value for each column."""
    if not isinstance(row, list) or len(row) != len(heads):
        return row
    return [_hidden(cell, *head, job) if head[0] else cell for cell, head in zip(row, heads, strict=True)]


_ABOUT_SECRETS = tuple(
    f"{word} "
    for word in (
        "should shall do does did is are can could would will has have add change reset store keep use rotate require"
        " remove delete how where when why who want need"
    ).split()
)
"""Beginnings of questions about a secret that are answered without it."""


def _asked_for(question: str) -> tuple[int, str]:
    """Return the weight and kind of the name of a secret in a question: "Which API key should I use?"."""
    words = question[: names.LONGEST_NAME].rstrip("?").split()
    both = [f"{before} {word}" for before, word in zip(["", *words], words, strict=False)]
    return max(map(names.weigh, (*words, *both)), default=(names.NONE, ""))


def _hidden(value: Any, weight: int, kind: str, job: Job) -> Any:
    if isinstance(value, str):
        if kind == "authorization" or (kind == "cookie" and "=" in value):
            return _as_header(kind, value, job)
        if value.startswith(job.rules.marks()) or not values.is_secret(value, weight):
            return value
        if kind != "password" and values.is_color(value):
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
    """Return a tool run without secrets that its command printed, or wrote to a file that is named as a secret."""
    response = run["response"]
    for listed in _listers(command, job):
        response = _changed(response, _masking(listed, job), _is_output)
    if "<<" in command and (written := settings_files.read_by(command)):
        run = {**run, "input": _changed(run["input"], _masking_below(_masking(written, job)), _any_key)}
    if printed.prints_secret(command):
        masked = _masking_first(lambda output: printed.answer(output, command), job)
        response = _changed(response, masked, _is_output)
    if response is not run["response"]:
        run = {**run, "response": response}
    for start, end in [*printed.written_in(command), *_said_in(command, job)]:
        run = {key: _without_word(part, command[start:end], job) for key, part in run.items()}
    return run


def _listers(command: str, job: Job) -> Iterator[Lister]:
    """Yield what finds the secrets in a command's output."""
    if shown := printed.shown_by(command):
        yield shown
    if listed := settings_files.read_by(command):
        yield listed
    if "elect " in command.lower():
        from mdmem.privacy.secrets import tables

        if selected := tables.selected_by(command):
            yield selected
    if secrets.has_any(command, _DUMPERS):
        from mdmem.privacy.secrets import repeated

        yield lambda dump: repeated.in_base64(dump, job.marks)
    if printed.shows_cracked(command):
        yield printed.of_cracked


_DUMPERS = ("hexdump ", "od -")
"""Programs that show two bytes as one number, in which a name of a secret is not to be seen."""


def _said_in(command: str, job: Job) -> Iterator[tuple[int, int]]:
    """Yield the secrets in the sentences of a commit's message, which end at its quotes."""
    for start, end in printed.messages(command):
        message = command[start:end]
        for first, last, _, _ in text.secret_edits(message, text.lower(message), job):
            yield start + first, start + last


def without_told(run: dict[Any, Any], tool: str, job: Job) -> dict[Any, Any]:
    """Return a run of an MCP tool without the secret that it reads or stores, by its name: `get_secret`."""
    words = tool.lower().replace("-", "_").replace(":", "_").split("_")
    if names.weigh(words[-1])[0] != names.STRONG and names.weigh("_".join(words[-2:]))[0] != names.STRONG:
        return run
    masked = _masking_first(printed.first_word, job)
    if not _READS.isdisjoint(words):
        response = _changed(run["response"], _masking(printed.values_in, job), _is_output)
        return {**run, "response": _changed(response, masked, _is_output)}
    if not _STORES.isdisjoint(words):
        return {**run, "input": _changed(run["input"], masked, _STORED.__contains__)}
    return run


_READS = frozenset(("get", "read", "fetch", "show", "reveal", "retrieve", "lookup", "access", "resolve", "generate"))
_STORES = frozenset(("set", "create", "put", "write", "update", "add", "store", "save"))
_STORED = frozenset(("value", "data", "content", "plaintext", "text", "payload"))
"""Keys of the input of a tool that stores a secret."""


def _without_word(value: Any, word: str, job: Job) -> Any:
    """Return a value with each occurrence of a secret masked that stands apart from other words."""
    from mdmem.privacy.secrets import repeated

    def masked(found: str) -> str:
        edits = [(start, end, job.rules.mark("secret"), "secret") for start, end, _ in repeated.find(found, (word,))]
        job.cleaned.redacted += len(edits)
        return text.apply(found, edits, job)

    text.learn_secret(word, job)
    return _changed(value, masked, _any_key)


def without_content(run: dict[Any, Any], path: str, job: Job) -> dict[Any, Any]:
    """Return a tool run without the secret that is the only word of its file, by the file's name."""
    if listed := settings_files.lister(path):
        run = _changed(run, _masking(listed, job), _CONTENT.__contains__)
    if not printed.names_secret(path):
        return run
    if printed.names_codes(path):
        run = _changed(run, _masking(printed.values_in, job), _CONTENT.__contains__)
    without: dict[Any, Any] = _changed(run, _masking_first(printed.only_word, job), _CONTENT.__contains__)
    return without


def _changed(value: Any, change: Callable[[str], str], takes: Callable[[str], bool], key: str = "") -> Any:
    """Return a value with its texts changed whose key `takes` accepts; of a list, its own key counts."""
    if isinstance(value, dict):
        return {name: _changed(item, change, takes, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_changed(item, change, takes, key) for item in value]
    return change(value) if isinstance(value, str) and takes(key) else value


def _is_output(key: str) -> bool:
    return key not in ("stderr", "type", "status")


def _any_key(_: str) -> bool:
    return True


_CONTENT = frozenset((
    "content", "contents", "file_text", "llmContent", "newContent", "new_str", "new_string", "newString", "old_str",
    "old_string", "oldString", "output", "preview", "response", "text", "textResultForLlm", "text_result_for_llm",
))  # fmt: skip


def _masking_below(masked: Callable[[str], str]) -> Callable[[str], str]:
    """Return what masks the values in the lines that a command writes to a file of settings.

    What follows the here-document is a text of its own: a list has a name and a value in every line.
    """

    def masked_below(command: str) -> str:
        first, newline, below = command.partition("\n")
        closing = "".join(first.rpartition("<<")[2].split()[:1]).strip("-'\"")
        end = below.find(f"\n{closing}") + 1 if closing else 0
        return first + newline + masked(below[:end]) + masked(below[end:])

    return masked_below


def _masking(listed: Lister, job: Job) -> Callable[[str], str]:
    """Return what masks the values of a list in an output."""

    def masked(output: str) -> str:
        spans = [span for span in listed(output) if not output.startswith(job.rules.marks(), span[0])]
        for start, end, _ in spans:
            text.learn_secret(output[start:end], job)
        job.cleaned.redacted += len(spans)
        return text.apply(output, [(start, end, job.rules.mark(kind), kind) for start, end, kind in spans], job)

    return masked


def _masking_first(secret_in: Callable[[str], str], job: Job) -> Callable[[str], str]:
    """Return what masks the first occurrence of the secret that `secret_in` finds; "" is none."""

    def masked(content: str) -> str:
        word = secret_in(content)
        if not word or word.startswith(job.rules.marks()):
            return content
        job.cleaned.redacted += 1
        text.learn_secret(word, job)
        return content.replace(word, job.rules.mark("secret"), 1)

    return masked
