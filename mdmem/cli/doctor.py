"""`doctor`: look at everything that can be wrong, say what to do, and do what is safe."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from mdmem import config
from mdmem.cli import lines, options, render
from mdmem.cli.health import WRONG, Finding, error
from mdmem.errors import MdmemError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from mdmem.config import Config


class Check(NamedTuple):
    """A thing to look at: what it is called, what looks (a function of a module in `mdmem.cli.health`).

    in_vault: it makes no sense without a vault.
    """

    name: str
    module: str
    function: str
    in_vault: bool = True


CHECKS = (
    Check("python", "machine", "python", in_vault=False),
    Check("packages", "machine", "packages", in_vault=False),
    Check("git", "machine", "git", in_vault=False),
    Check("vault", "house", "vault", in_vault=False),
    Check("settings", "house", "settings", in_vault=False),
    Check("permissions", "house", "permissions"),
    Check("agents", "machine", "registrations", in_vault=False),
    Check("events", "machine", "events", in_vault=False),
    Check("switches", "machine", "switches", in_vault=False),
    Check("waiting", "house", "waiting", in_vault=False),
    Check("log", "house", "log", in_vault=False),
    Check("templates", "house", "templates"),
    Check("notes", "contents", "files"),
    Check("index", "contents", "index"),
    Check("watcher", "machine", "watcher"),
    Check("history", "past", "git"),
    Check("remote", "past", "remote"),
    Check("leftovers", "house", "leftovers"),
)


class Looked(NamedTuple):
    """A finding, the check it comes from, and what became of it: "fixed", "failed: why", or ""."""

    check: str
    finding: Finding
    done: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether something is still wrong."""
        return self.finding.severity in WRONG and self.done != "fixed"


@click.command()
@click.option("--fix", is_flag=True, help="Do what is safe: chmod, index, temporary files, waiting notes, commits.")
@click.option(
    "--only", multiple=True, metavar="CHECK", type=click.Choice([check.name for check in CHECKS]), help="Only this one."
)
@options.as_json("an array of objects: check, severity, text, todo, fixable, done")
@click.pass_context
def doctor(ctx: click.Context, fix: bool, only: tuple[str, ...], as_json: bool) -> None:
    """Look at Python, git, settings, agents, notes, index and history; say what is wrong and what to do.

    Exit status: 0 when nothing is wrong, 1 when something is.

    \b
    Example:  mdmem doctor --fix
              mdmem doctor --only notes --json
    """
    settings = config.load(ctx.obj)
    console = None if as_json else lines.terminal()
    found = []
    for one in look(settings, only):
        one = _fixed(one) if fix and one.finding.fix else one
        found.append(one)
        if not as_json:
            _print(console, one)
    if as_json:
        click.echo(render.as_json([_as_object(one) for one in found]))
    else:
        _sum_up(found, fix=fix)
    ctx.exit(1 if any(one.is_wrong for one in found) else 0)


def look(settings: Config, only: tuple[str, ...] = ()) -> Iterator[Looked]:
    """Run the checks, all of them or those that are named; one that fails is a finding itself."""
    for check in CHECKS:
        if (only and check.name not in only) or (check.in_vault and not Path(settings.vault).is_dir()):
            continue
        try:
            for finding in getattr(import_module(f"mdmem.cli.health.{check.module}"), check.function)(settings):
                yield Looked(check.name, finding)
        except (MdmemError, OSError) as problem:
            yield Looked(check.name, error(f"This could not be looked at: {problem}", "Mend that, and look again."))


def _fixed(one: Looked) -> Looked:
    assert one.finding.fix is not None
    try:
        one.finding.fix()
    except (MdmemError, OSError) as problem:
        return one._replace(done=f"failed: {problem}")
    return one._replace(done="fixed")


MARKS = {"fine": ("✓", "green"), "note": ("·", "blue"), "warning": ("!", "yellow"), "error": ("✗", "red")}


def _print(console: Console | None, one: Looked) -> None:
    mark, style = MARKS["fine" if one.done == "fixed" else one.finding.severity]
    below = (one.done, "green" if one.done == "fixed" else "red") if one.done else (one.finding.todo, "dim")
    head = [(f"{mark} ", f"bold {style}"), (f"{one.check:<12}", "dim"), (render.safe(one.finding.text), "")]
    lines.write(console, [head, *([[(f"{'':14}{below[0]}", below[1])]] if below[0] else [])])


def _sum_up(found: list[Looked], *, fix: bool) -> None:
    wrong = sum(one.is_wrong for one in found)
    fixable = sum(one.is_wrong and one.finding.fix is not None for one in found)
    click.echo()
    if not wrong:
        click.echo("Nothing is wrong.")
    elif fixable and not fix:
        click.echo(f"{wrong} to look at, of which `mdmem doctor --fix` mends {fixable}.")
    else:
        click.echo(f"{wrong} to look at.")


def _as_object(one: Looked) -> dict[str, object]:
    finding = one.finding
    return {
        "check": one.check,
        "severity": finding.severity,
        "text": finding.text,
        "todo": finding.todo,
        "fixable": finding.fix is not None,
        "done": one.done,
    }
