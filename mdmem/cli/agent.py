"""`hook` as seen by `--help`; `mdmem.__main__` runs the real one before click is loaded."""

from __future__ import annotations

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("agent", default="claude-code")
@click.option("--report", is_flag=True, help="Print what happened, as JSON; for people and scripts.")
@click.pass_obj
def hook(vault: str | None, agent: str, report: bool) -> None:
    """Store one hook payload of AGENT, read from stdin. Exits with 0 whatever happens.

    \b
    Example:  mdmem hook claude-code --report < payload.json
    """
    from mdmem.capture import hook as process

    process.main([agent, *(["--report"] if report else [])], vault)
