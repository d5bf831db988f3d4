"""`doctor`: run all checks, say what to do, and fix what is safe to fix."""

from __future__ import annotations

import click

from mdmem import config, plural
from mdmem.cli.terminal import options, progress, render
from mdmem.health import checks


@click.command()
@click.option("--fix", is_flag=True, help="Fix what is safe: permissions, index, temporary files, queued notes.")
@click.option(
    "--only",
    multiple=True,
    metavar="CHECK",
    type=click.Choice([check.name for check in checks.CHECKS]),
    help=f"Run only this check: {', '.join(check.name for check in checks.CHECKS)}; repeatable.",
)
@click.option("--all", "every", is_flag=True, help="Check every note and git object, not only new ones.")
@options.as_json("an array of objects: check, severity, text, todo, fixable, done")
@click.pass_context
def doctor(ctx: click.Context, fix: bool, only: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Check Python, git, settings, agents, notes, index and history; report what is wrong and how to fix it.

    In a vault of more than 2,000 notes, it reads only those that are new since the last check. --all and --only
    read every note, as does one check every 30 days.

    Exit status: 0 when nothing is wrong, 1 when something is.

    \b
    Example:  mdmem doctor --fix
              mdmem doctor --only notes --json
    """
    settings = config.load(ctx.obj)
    found = []
    with progress.ProgressBar("Looking") as bar:
        for one in checks.look(settings, only, every=every or bool(only), report=bar.report):
            one = checks.fixed(one) if fix and one.finding.fix else one
            found.append(one)
            if not as_json:
                _print(one)
    if as_json:
        render.print_json([_as_object(one) for one in found])
    else:
        _sum_up(found, fix=fix)
    ctx.exit(1 if any(one.is_wrong for one in found) else 0)


MARKS = {"fine": ("✓", "green"), "note": ("·", "blue"), "warning": ("!", "yellow"), "error": ("✗", "red")}


def _print(one: checks.CheckResult) -> None:
    mark, style = MARKS["fine" if one.done == "fixed" else one.finding.severity]
    below = (one.done, "green" if one.done == "fixed" else "red") if one.done else (one.finding.todo, "dim")
    render.hanging([(f"{mark} ", f"bold {style}"), (f"{one.check:<12}", "dim")], [(render.safe(one.finding.text), "")])
    if below[0]:
        render.hanging([(f"{'':14}", "")], [(render.safe(below[0]), below[1])])


def _sum_up(found: list[checks.CheckResult], *, fix: bool) -> None:
    wrong = sum(one.is_wrong for one in found)
    fixable = sum(one.is_wrong and one.finding.fix is not None for one in found)
    click.echo()
    if not wrong:
        click.echo("Nothing is wrong.")
    elif fixable and not fix:
        click.echo(f"{plural.number(wrong, 'problem')}; `mdmem doctor --fix` can fix {fixable}.")
    else:
        click.echo(f"{plural.number(wrong, 'problem')}.")


def _as_object(one: checks.CheckResult) -> dict[str, object]:
    severity, text, todo, fix = one.finding
    fixable = fix is not None
    return {"check": one.check, "severity": severity, "text": text, "todo": todo, "fixable": fixable, "done": one.done}
