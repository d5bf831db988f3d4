"""Providers: asks models, each provider in its own way, within a deadline.

The callers decide whether one is asked and what is sent. No other module talks to a model.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mdmem import files, system
from mdmem.agents import objects
from mdmem.search.text import analysis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mdmem.config import Config

_Answer = TypeVar("_Answer")

MAX_GUESS_CHARS = 2_000
MIN_WORDS = 5
"""An answer with fewer words is not a note."""


REFUSED, RUBBISH, NOT_STARTED = "refused", "rubbish", "not started"
"""Outcomes: the model refused to answer; the response is not an answer; the provider could not be reached."""


class NoAnswerError(Exception):
    """A provider gave no answer. outcome: one of the above or `error: …`, for the ledger. The message may be ""."""

    def __init__(self, outcome: str, message: str = "") -> None:
        super().__init__(message)
        self.outcome = outcome


class Request(NamedTuple):
    """A request to a provider. seconds: the time limit. facts: further fields for the ledger.

    task: what the model is to do with the text.
    """

    config: Config
    env: Mapping[str, str]
    model: str
    text: str
    seconds: float
    facts: dict[str, Any]
    task: str
    max_tokens: int


class Provider(NamedTuple):
    """A provider: its default model, whether it is available, and how to ask it."""

    model: str
    is_there: Callable[[Config, Mapping[str, str]], bool]
    ask: Callable[[Request], str]


_REFUSALS = (
    "i can't", "i cannot", "i can not", "i'm sorry", "i am sorry", "sorry,", "i'm unable", "i am unable", "as an ai",
)  # fmt: skip


def checked(answer: Any) -> str:
    """Return an answer that can be a note. Raises NoAnswerError when it cannot."""
    if not isinstance(answer, str):
        raise NoAnswerError(RUBBISH)
    text = " ".join(answer[: 4 * MAX_GUESS_CHARS].split())
    if text.lower().replace("’", "'").startswith(_REFUSALS):
        raise NoAnswerError(REFUSED)
    odd = sum(not c.isprintable() or c == "\ufffd" for c in text)
    is_markup = text.startswith(("{", "<", "["))
    if len(analysis.words(text)) < MIN_WORDS or 20 * odd > len(text) or is_markup:
        raise NoAnswerError(RUBBISH)
    return text[:MAX_GUESS_CHARS]


# -- Claude's own program: the user's subscription, no key -------------------------------------------

_CLAUDE_WORDS = (
    *("-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--disable-slash-commands"),
    *("--no-session-persistence", "--settings", '{"disableAllHooks": true}'),
)
"""No tools, servers, skills, hooks or transcript: only a question and an answer."""


def _has_claude(config: Config, env: Mapping[str, str]) -> bool:
    return not config.settings.expand.without_claude_cli and bool(shutil.which("claude", path=env.get("PATH")))


def _ask_claude(request: Request) -> str:
    """Run `claude` once, as a child process that cannot trigger mdmem's hooks, with its subscription and no key."""
    program = shutil.which("claude", path=request.env.get("PATH"))
    folder = Path(request.config.state_dir) / "model"  # no project's folder: no CLAUDE.md, no settings
    files.make_folder(str(folder))
    passed_on = {name: value for name, value in request.env.items() if not name.startswith(_NOT_FOR_CLAUDE)}
    with tempfile.TemporaryFile() as errors:  # not a pipe, which its child processes may keep open
        try:
            process = subprocess.Popen(
                [program or "claude", *_CLAUDE_WORDS, "--model", request.model, "--system-prompt", request.task],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env={**passed_on, "MDMEM_CHILD": "1"},
                **system.detached(),
            )
        except OSError as error:
            raise NoAnswerError(NOT_STARTED, f"`claude` could not be started: {error.strerror}") from None
        request.facts["pid"] = process.pid
        try:
            out, _ = process.communicate(request.text.encode("utf-8", "replace"), timeout=request.seconds)
            request.facts["exit_code"] = process.returncode
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        finally:
            _end(process)
        errors.seek(0)
        request.facts["error"] = errors.read(2_000).decode("utf-8", "replace") if process.returncode else ""
    return _claude_result(out, process.returncode)


_NOT_FOR_CLAUDE = ("CLAUDECODE", "CLAUDE_CODE_", "ANTHROPIC_API_KEY", "MDMEM_")
"""Prefixes of variables that are not passed on: those of the surrounding session, and a key, which would be charged."""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a child process and all that it started."""
    system.end_group(process)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


def _claude_result(out: bytes, status: int) -> str:
    try:
        value = json.loads(out)
    except (ValueError, RecursionError):
        raise NoAnswerError(RUBBISH) from None
    if isinstance(value, list):  # if the user has set --verbose, all messages come
        value = next((item for item in reversed(value) if isinstance(item, dict) and "result" in item), None)
    if not isinstance(value, dict) or status != 0 or value.get("is_error"):
        raise NoAnswerError(RUBBISH)
    if value.get("stop_reason") == "refusal":
        raise NoAnswerError(REFUSED)
    return checked(value.get("result"))


# -- providers with a key, over plain HTTPS ------------------------------------------------------------

MAX_ANSWER_BYTES = 1_000_000


def _ask_anthropic(request: Request) -> str:
    address = request.env.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
    body = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": request.task,
        "messages": [{"role": "user", "content": request.text}],
    }
    headers = {"x-api-key": key(request.config, request.env, "anthropic"), "anthropic-version": "2023-06-01"}
    answer = _within(request.seconds, lambda: _post(f"{address}/v1/messages", headers, body, request.seconds))
    if answer.get("stop_reason") == "refusal":
        raise NoAnswerError(REFUSED)
    return "\n".join(str(block.get("text", "")) for block in objects(answer.get("content")))


def _chat(request: Request, *, name: str, limit: str = "max_tokens") -> str:
    """Ask a server that has OpenAI's interface. name: the provider's. limit: its name for the maximum of tokens."""
    variable, known = _ADDRESSES.get(name, ("", request.config.settings.expand.address))
    address = request.env.get(variable) or known
    body = {
        "model": request.model,
        "messages": [{"role": "system", "content": request.task}, {"role": "user", "content": request.text}],
        limit: request.max_tokens,
    }
    secret = key(request.config, request.env, name)
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    url = f"{address.rstrip('/')}/chat/completions"
    answer = _within(request.seconds, lambda: _post(url, headers, body, request.seconds))
    choice = next(iter(objects(answer.get("choices"))), {})
    message = choice.get("message")
    if not isinstance(message, dict):
        raise NoAnswerError(RUBBISH)
    if choice.get("finish_reason") == "content_filter" or message.get("refusal"):
        raise NoAnswerError(REFUSED)
    return str(message.get("content") or "")


_ADDRESSES = {
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "openrouter": ("OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1"),
}
"""Provider -> the environment variable with its address, and the address without one."""


def _post(url: str, headers: Mapping[str, str], body: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Send a JSON object and return the response. A redirect is an error, so that a key goes nowhere else.

    Raises:
        NoAnswerError: when the address is invalid, the server cannot be reached or responds with an error status, or
            the response is not a JSON object.
        TimeoutError: when the server does not respond in time.
    """
    from urllib import error, request

    class Stay(request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    if not url.startswith(("https://", "http://")):
        raise NoAnswerError("error: address", "The address of a provider must begin with https:// or http://.")
    data = json.dumps(body).encode()
    post = request.Request(url, data, {"content-type": "application/json", **headers})  # noqa: S310 - checked above
    try:
        with request.build_opener(Stay).open(post, timeout=seconds) as answer:
            text = answer.read(MAX_ANSWER_BYTES)
    except error.HTTPError as failed:
        with failed:
            raise NoAnswerError(f"error: HTTP {failed.code}", failed.read(2_000).decode("utf-8", "replace")) from None
    except error.URLError as failed:
        if isinstance(failed.reason, TimeoutError):
            raise TimeoutError from None
        raise NoAnswerError(NOT_STARTED, f"the server could not be reached: {failed.reason}") from None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise NoAnswerError(RUBBISH) from None
    if not isinstance(value, dict):
        raise NoAnswerError(RUBBISH)
    return value


def _within(seconds: float, ask: Callable[[], _Answer]) -> _Answer:
    """Run `ask` for at most `seconds`; a socket's timeout would restart with each byte.

    Raises TimeoutError when it takes longer; its thread is abandoned.
    """
    answers: list[_Answer] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(ask())
        except BaseException as error:  # noqa: BLE001 - raised again in the calling thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not answers:
        raise TimeoutError
    return answers[0]


def key(config: Config, env: Mapping[str, str], name: str) -> str:
    """Return a provider's key from the environment or from the row `NAME KEY` in `expand.keys`; "" if none."""
    return env.get(KEYS.get(name, "")) or value_of(name, config.settings.expand.keys)


def value_of(name: str, rows: Iterable[str]) -> str:
    """Return the value in the first row `NAME VALUE` of a setting; "" if there is none."""
    pairs = (row.split() for row in rows)
    return next((pair[1] for pair in pairs if len(pair) == 2 and pair[0] == name), "")


KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "openai": "OPENAI_API_KEY",
    "compatible": "MDMEM_COMPATIBLE_API_KEY",
}
"""Provider -> the environment variable with its key; a compatible server may need none."""


def _with_key(name: str) -> Callable[[Config, Mapping[str, str]], bool]:
    return lambda config, env: bool(key(config, env, name))


PROVIDERS: dict[str, Provider] = {
    "claude-cli": Provider("haiku", _has_claude, _ask_claude),
    "anthropic": Provider("claude-haiku-4-5", _with_key("anthropic"), _ask_anthropic),
    "openrouter": Provider("anthropic/claude-haiku-4.5", _with_key("openrouter"), partial(_chat, name="openrouter")),
    "openai": Provider(
        "gpt-4.1-mini", _with_key("openai"), partial(_chat, name="openai", limit="max_completion_tokens")
    ),
    "compatible": Provider(
        "llama3.2", lambda config, _: bool(config.settings.expand.address), partial(_chat, name="compatible")
    ),
}
"""Provider's name in the settings -> how to ask it, in the order of attempts."""
