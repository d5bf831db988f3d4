"""The checks of `mdmem doctor`, in order, and running and fixing them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from mdmem.config import Config
from mdmem.errors import MdmemError
from mdmem.health import WRONG, HealthFinding, error, folders, scope
from mdmem.progress import CountCallback
from mdmem.vault import projects


class Check(NamedTuple):
    """A check: its name, and a function of a module in `mdmem.health`.

    in_vault: it needs a vault. scoped: it takes a `CheckScope`.
    """

    name: str
    module: str
    function: str
    in_vault: bool = True
    scoped: bool = False


CHECKS = (
    Check("python", "machine", "python", in_vault=False),
    Check("packages", "machine", "packages", in_vault=False),
    Check("git", "machine", "git", in_vault=False),
    Check("vault", "folders", "vault", in_vault=False, scoped=True),
    Check("settings", "folders", "settings", in_vault=False),
    Check("state", "folders", "state", in_vault=False),
    Check("permissions", "folders", "permissions", scoped=True),
    Check("agents", "machine", "registrations", in_vault=False),
    Check("events", "machine", "events", in_vault=False),
    Check("switches", "machine", "switches", in_vault=False),
    Check("hook", "machine", "hook", in_vault=False),
    Check("waiting", "unstored", "waiting", in_vault=False),
    Check("lost", "unstored", "lost", in_vault=False),
    Check("log", "unstored", "log", in_vault=False),
    Check("templates", "templates", "templates"),
    Check("pages", "migration", "pages", scoped=True),
    Check("projects", "projects", "split"),
    Check("notes", "contents", "files", scoped=True),
    Check("links", "links", "links", scoped=True),
    Check("index", "index", "index", scoped=True),
    Check("watcher", "machine", "watcher"),
    Check("history", "history", "git", scoped=True),
    Check("remote", "history", "remote"),
    Check("leftovers", "folders", "leftovers", scoped=True),
)


class CheckResult(NamedTuple):
    """A finding, its check, and the outcome of its fix: "fixed", "failed: why", or ""."""

    check: str
    finding: HealthFinding
    done: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether this is still a problem."""
        return self.finding.severity in WRONG and self.done != "fixed"


def run(
    config: Config, only: tuple[str, ...] = (), *, every: bool = True, report: CountCallback | None = None
) -> Iterator[CheckResult]:
    """Run all checks or the named ones; a check that fails yields a finding itself.

    every: read every note, whatever was checked before. report: progress callback: notes done, total.
    """
    chosen = [check for check in CHECKS if not only or check.name in only]
    is_there = folders.can_be_read(config.vault) and not projects.is_emptied(config)
    check_scope = scope.of(config, every=every or not is_there)
    check_scope.report = report or check_scope.report
    for check in chosen:
        if check.in_vault and not is_there:
            continue
        function = getattr(import_module(f"mdmem.health.{check.module}"), check.function)
        try:
            for finding in function(config, check_scope) if check.scoped else function(config):
                yield CheckResult(check.name, finding)
        except (MdmemError, OSError) as problem:
            failed = error(f"This check failed: {problem}", "Fix it and run the check again.")
            yield CheckResult(check.name, folders.unreadable_own_folder(config, problem) or failed)
    if len(chosen) == len(CHECKS) and is_there:
        scope.remember(config, check_scope)


def fixed(result: CheckResult) -> CheckResult:
    """Apply the fix of a finding; return the finding with the outcome."""
    assert result.finding.fix is not None
    try:
        result.finding.fix()
    except (MdmemError, OSError) as problem:
        return result._replace(done=f"failed: {problem}")
    return result._replace(done="fixed")
