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
    loaded = config.load(ctx.obj)
    results = []
    with progress.ProgressBar("Looking") as bar:
        for result in checks.run(loaded, only, every=every or bool(only), report=bar.report):
            result = checks.fixed(result) if fix and result.finding.fix else result
            results.append(result)
            if not as_json:
                _print(result)
    if as_json:
        render.print_json([_as_object(result) for result in results])
    else:
        _sum_up(results, fix=fix)
    ctx.exit(1 if any(result.is_wrong for result in results) else 0)


MARKS = {"fine": ("✓", "green"), "note": ("·", "blue"), "warning": ("!", "yellow"), "error": ("✗", "red")}


def _print(result: checks.CheckResult) -> None:
    mark, style = MARKS["fine" if result.done == "fixed" else result.finding.severity]
    below, color = result.finding.todo, "dim"
    if result.done:
        below, color = result.done, "green" if result.done == "fixed" else "red"
    head = [(f"{mark} ", f"bold {style}"), (f"{result.check:<12}", "dim")]
    render.hanging(head, [(render.safe(result.finding.text), "")])
    if below:
        render.hanging([(f"{'':14}", "")], [(render.safe(below), color)])


def _sum_up(results: list[checks.CheckResult], *, fix: bool) -> None:
    wrong = sum(result.is_wrong for result in results)
    fixable = sum(result.is_wrong and result.finding.fix is not None for result in results)
    click.echo()
    if not wrong:
        click.echo("Nothing is wrong.")
    elif fixable and not fix:
        click.echo(f"{plural.number(wrong, 'problem')}; `mdmem doctor --fix` can fix {fixable}.")
    else:
        click.echo(f"{plural.number(wrong, 'problem')}.")


def _as_object(result: checks.CheckResult) -> dict[str, object]:
    finding = result.finding._asdict()
    fixable = finding.pop("fix") is not None
    return {"check": result.check, **finding, "fixable": fixable, "done": result.done}
