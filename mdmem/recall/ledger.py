"""The ledger: a line for each call of a model, so that no cost is hidden. It holds sizes, never what was said."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mdmem.config import Config

FILE = "model-calls.jsonl"


class Sum(NamedTuple):
    """What the calls of one day and caller come to. sent, received: characters. answered: calls that helped."""

    day: str
    caller: str
    calls: int
    answered: int
    sent: int
    received: int
    seconds: float


def write(config: Config, row: dict[str, Any]) -> None:
    """Add a call."""
    path = Path(config.state_dir) / FILE
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
        finally:
            os.close(fd)
    except OSError:
        return


def read(config: Config) -> list[dict[str, Any]]:
    """Give the calls, oldest first; a line that cannot be read is passed over."""
    try:
        lines = (Path(config.state_dir) / FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    rows = []
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def by_day_and_caller(rows: Iterable[dict[str, Any]]) -> list[Sum]:
    """Sum up calls by day and caller, the last day first."""
    sums: dict[tuple[str, str], Sum] = {}
    for row in rows:
        day, caller = str(row.get("time", ""))[:10], str(row.get("caller", ""))
        last = sums.get((day, caller), Sum(day, caller, 0, 0, 0, 0, 0.0))
        sums[day, caller] = Sum(
            day,
            caller,
            last.calls + 1,
            last.answered + (row.get("outcome") == "ok"),
            last.sent + int(row.get("sent_chars") or 0),
            last.received + int(row.get("received_chars") or 0),
            round(last.seconds + float(row.get("seconds") or 0.0), 3),
        )
    return sorted(sums.values(), key=lambda one: (one.day, one.caller), reverse=True)
