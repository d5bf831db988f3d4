"""Ledger: records each call of a model, so that no cost is hidden. It holds sizes, never text."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mdmem import files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.config import Config

FILE = "model-calls.jsonl"


class CallSum(NamedTuple):
    """The totals of one day (or hour) and caller. sent, received: characters. answered: calls that gave an answer.

    when: 2026-09-14, or 2026-09-14 08 for an hour (UTC).
    """

    when: str
    caller: str
    calls: int
    answered: int
    sent: int
    received: int
    seconds: float


def write(config: Config, row: dict[str, Any]) -> None:
    """Append a call to the ledger."""
    line = json.dumps(row, ensure_ascii=False) + "\n"
    with suppress(OSError):
        files.append(str(Path(config.state_dir) / FILE), line.encode("utf-8", "replace"))


def read(config: Config) -> list[dict[str, Any]]:
    """Return the calls, oldest first; unreadable lines are skipped."""
    try:
        lines = (Path(config.state_dir) / FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    rows = []
    for line in lines:
        with suppress(ValueError):
            rows.append(json.loads(line))
    return [row for row in rows if isinstance(row, dict)]


def summed(rows: Iterable[dict[str, Any]], *, hours: bool = False) -> list[CallSum]:
    """Return totals by day (or hour) and caller, the latest first."""
    sums: dict[tuple[str, str], CallSum] = {}
    for row in rows:
        when = str(row.get("time", ""))[: 13 if hours else 10].replace("T", " ")
        caller = str(row.get("caller", ""))
        so_far = sums.get((when, caller), CallSum(when, caller, 0, 0, 0, 0, 0.0))
        sums[when, caller] = CallSum(
            when,
            caller,
            so_far.calls + 1,
            so_far.answered + (row.get("outcome") == "ok"),
            so_far.sent + int(row.get("sent_chars") or 0),
            so_far.received + int(row.get("received_chars") or 0),
            round(so_far.seconds + float(row.get("seconds") or 0.0), 3),
        )
    return sorted(sums.values(), key=lambda call_sum: (call_sum.when, call_sum.caller), reverse=True)
