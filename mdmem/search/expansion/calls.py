"""Calls: asks the providers that the user named in turn, each within its deadline; the ledger records each call.

The text has already passed the privacy gate. A model that is missing, slow, refuses or answers nonsense only costs a
line in the log.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from mdmem import log, timestamps
from mdmem.search.expansion import ledger
from mdmem.search.expansion.providers import (
    KEYS,
    NOT_STARTED,
    PROVIDERS,
    NoAnswerError,
    Provider,
    Request,
    checked,
    value_of,
)
from mdmem.search.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdmem.config import Config


class Question(NamedTuple):
    """A question to a model. task: what to do with the text. caller: who asks, for the ledger."""

    task: str
    text: str
    caller: str
    max_tokens: int


class ModelAnswer(NamedTuple):
    """A model's answer, "" if none answered, with its provider and model."""

    text: str
    provider: str = ""
    model: str = ""


def ask(config: Config, question: Question, *, each: float, seconds: float | None) -> ModelAnswer:
    """Ask the providers until one answers.

    each: deadline of one provider. seconds: time limit for all; each gets an equal share of the remaining time.
    """
    if not question.text.strip() or os.environ.get("MDMEM_CHILD"):
        return ModelAnswer("")
    end = None if seconds is None else time.monotonic() + seconds
    names = chosen(config, os.environ)
    for place, name in enumerate(names):
        seconds_left = each if end is None else min(each, (end - time.monotonic()) / (len(names) - place))
        if seconds_left <= MIN_SECONDS:
            continue
        model = _model(config, name, is_first=place == 0)
        request = Request(
            config, os.environ, model, question.text, seconds_left, {}, question.task, question.max_tokens
        )
        answer = _ask_one(name, question.caller, PROVIDERS[name], request)
        if answer:
            return ModelAnswer(answer, name, model)
    return ModelAnswer("")


MIN_SECONDS = 0.05
"""A provider is not asked if less time than this is left for it."""


def _model(config: Config, name: str, *, is_first: bool) -> str:
    """Return a provider's model: its row in `expand.models`, `expand.model` for the first one, or its default."""
    return (
        value_of(name, config.settings.expand.models)
        or (config.settings.expand.model if is_first else "")
        or PROVIDERS[name].model
    )


def chosen(config: Config, env: Mapping[str, str]) -> list[str]:
    """Return the providers to ask, in order: the one that the user named, or all available ones."""
    wanted = config.settings.expand.provider.strip().lower().replace("_", "-")
    wanted = _OTHER_NAMES.get(wanted, wanted)
    if wanted and wanted not in PROVIDERS:
        log.write(config, "expand: there is no such provider")
        return []
    return [wanted] if wanted else [name for name in PROVIDERS if PROVIDERS[name].is_there(config, env)]


def why_none(config: Config) -> str:
    """Return the sentence for the user that says why no model answered, and what to do."""
    if chosen(config, os.environ):
        return "None answered: `mdmem stats --model` lists the calls."
    return "None is set up: `mdmem help cost` says how."


_OTHER_NAMES = {
    **dict.fromkeys(["claude", "claude-code", "cli"], "claude-cli"),
    **dict.fromkeys(["ollama", "openai-compatible", "local"], "compatible"),
}


def _ask_one(name: str, caller: str, provider: Provider, request: Request) -> str:
    """Ask one provider; any failure only becomes an outcome in the ledger."""
    started = time.monotonic()
    answer, outcome, message = "", "ok", ""
    try:
        if not provider.is_there(request.config, request.env):
            raise NoAnswerError(NOT_STARTED, _MISSING[name])
        answer = checked(provider.ask(request))
    except NoAnswerError as error:
        outcome, message = error.outcome, str(error)
    except TimeoutError:
        outcome = "timeout"
    except Exception as error:  # noqa: BLE001 - any network failure
        outcome = f"error: {type(error).__name__}"
    message = message or str(request.facts.pop("error", ""))
    row = {
        "time": timestamps.iso_time(time.time()),
        "provider": name,
        "model": request.model,
        "caller": caller,
        "sent_chars": len(request.task) + len(request.text),
        "received_chars": len(answer),
        "seconds": round(time.monotonic() - started, 3),
        "outcome": outcome,
        **request.facts,
    }
    if message and outcome != "ok":
        row["error"] = _without_query(request, message)
    ledger.write(request.config, row)
    if outcome != "ok":
        log.write(request.config, f"model: {name} gave nothing ({outcome})")
    return answer


_MISSING = {name: f"{variable} is not set, and expand.keys has no row for it" for name, variable in KEYS.items()} | {
    "claude-cli": "there is no program `claude` on PATH, or expand.without_claude_cli is set",
    "compatible": "expand.address is not set",
}


def _without_query(request: Request, message: str) -> str:
    """Return a provider's error message, without private text; replaced if it repeats the query or a key."""
    text = " ".join(Gate(request.config).stored(message).split())
    asked = request.text.lower().split()
    pieces = (" ".join(asked[at : at + 3]) for at in range(max(len(asked) - 2, 1)))
    repeats = any(len(piece) > 8 and piece in text.lower() for piece in pieces)
    return "(it repeats the query)" if repeats else text[:MAX_ERROR_CHARS]


MAX_ERROR_CHARS = 200
