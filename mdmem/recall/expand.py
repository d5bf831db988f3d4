"""Expansion: a model writes a guess at the note that is looked for, and its words help the search (HyDE).

Nothing is called unless the user's own settings, or a command of his, ask for it. Private text is taken out
first; every call is a line in the ledger. A model that is missing, slow, refuses or answers rubbish changes
nothing but a line in the log. No one else calls a model.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from mdmem import log, vault
from mdmem.recall import ledger
from mdmem.recall.gate import Gate
from mdmem.recall.models import PROVIDERS, TASK, MissingError, Provider, RefusedError, Request, RubbishError, checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mdmem.config import Config

read_ledger = ledger.read

MAX_QUERY_CHARS = 3_000


def guess(
    config: Config, query: str, *, caller: str, env: Mapping[str, str] | None = None, seconds: float | None = None
) -> str:
    """Have a model guess the note that `query` looks for; "" when none did.

    caller: who asks, for the ledger (`search`, `inject`). seconds: how long all providers together may take; by
    default each has its deadline, one after the other.
    """
    env = os.environ if env is None else env
    text = Gate(config).prompt(query)[:MAX_QUERY_CHARS]
    if not text.strip() or env.get("MDMEM_CHILD"):
        return ""
    end = None if seconds is None else time.monotonic() + seconds
    for name in chosen(config, env):
        left = float(config.settings["expand.deadline_seconds"])
        if end is not None:
            left = min(left, end - time.monotonic())
        if left <= 0.05:
            break
        provider = PROVIDERS[name]
        model = str(config.settings["expand.model"]) or provider.model
        answer = _called(name, caller, provider, Request(config, env, model, text, left))
        if answer:
            return answer
    return ""


def chosen(config: Config, env: Mapping[str, str]) -> list[str]:
    """Name the providers that can be asked, in order: the one the user named, or all that are there."""
    wanted = str(config.settings["expand.provider"]).strip().lower().replace("_", "-")
    wanted = _OTHER_NAMES.get(wanted, wanted)
    if wanted and wanted not in PROVIDERS:
        log.write(config, "expand: there is no such provider")
        return []
    names = [wanted] if wanted else list(PROVIDERS)
    return [name for name in names if PROVIDERS[name].is_there(config, env)]


_OTHER_NAMES = {
    "claude": "claude-cli",
    "claude-code": "claude-cli",
    "cli": "claude-cli",
    "ollama": "compatible",
    "openai-compatible": "compatible",
    "local": "compatible",
}


def _called(name: str, caller: str, provider: Provider, request: Request) -> str:
    """Ask one provider; whatever happens is an outcome in the ledger, and never more."""
    started = time.monotonic()
    answer, outcome = "", "ok"
    try:
        answer = checked(provider.ask(request))
    except MissingError as error:
        log.write(request.config, f"expand: {error}")
        return ""
    except TimeoutError:
        outcome = "timeout"
    except RefusedError:
        outcome = "refused"
    except RubbishError:
        outcome = "rubbish"
    except Exception as error:  # noqa: BLE001 - client libraries raise what they like; its text may quote the query
        outcome = f"error: {type(error).__name__}"
    row = {
        "time": vault.iso_time(time.time()),
        "provider": name,
        "model": request.model,
        "caller": caller,
        "sent_chars": len(TASK) + len(request.text),
        "received_chars": len(answer),
        "seconds": round(time.monotonic() - started, 3),
        "outcome": outcome,
    }
    ledger.write(request.config, row)
    if outcome != "ok":
        log.write(request.config, f"expand: {name} gave nothing ({outcome})")
    return answer
