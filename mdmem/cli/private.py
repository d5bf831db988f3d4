"""`privacy check`, `pause`, `resume`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import click

from mdmem import choice, config, privacy
from mdmem.digest import short


@click.group("privacy")
def privacy_group() -> None:
    """See what mdmem keeps out of its files.

    \b
    Example:  mdmem privacy check notes.txt
    """


@privacy_group.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@click.option("--tool", is_flag=True, help="Read the text as a tool's output, not as a prompt.")
@click.option("--json", "as_json", is_flag=True, help="Print an object with the text and the findings.")
@click.pass_obj
def check(vault: str | None, file: str, tool: bool, as_json: bool) -> None:
    """Show what would be stored of FILE (`-`: stdin), and which rule takes out what. Nothing is stored.

    \b
    Example:  echo 'deploy with password=hunter2' | mdmem privacy check
    """
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    text = data.decode("utf-8", "replace")
    rules = privacy.Rules.of(config.load(vault).settings)
    cleaned = privacy.clean(text, rules=rules, origin="tool" if tool else "prompt", explain=True)
    found = cleaned.findings
    if as_json:
        click.echo(
            json.dumps(
                {
                    "text": cleaned.value,
                    "private": cleaned.private,
                    "redacted": cleaned.redacted,
                    "unclosed": cleaned.unclosed,
                    "findings": [{"rule": item.rule, "line": item.line, "column": item.column} for item in found],
                },
                ensure_ascii=False,
            )
        )
        return
    click.echo(cleaned.value.rstrip("\n"))
    for item in found:
        click.secho(f"line {item.line}, column {item.column}: {item.rule}", err=True, dim=True)
    if cleaned.unclosed:
        what = (
            "its text is stored, as privacy.unclosed says"
            if rules.unclosed == "keep"
            else "what follows it is kept out"
        )
        click.secho(f"A private tag is not closed: {what}.", err=True, fg="yellow")
    click.secho(f"{cleaned.private} private, {cleaned.redacted} redacted", err=True)


@click.command()
@click.option("--session", metavar="ID", help="Only this session.")
@click.pass_obj
def pause(vault: str | None, session: str | None) -> None:
    """Store nothing until `mdmem resume`: of everything, or of one session.

    \b
    Example:  mdmem pause
    """
    path = _flag(vault, session)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():  # its time is when the pause began
        path.touch(mode=0o600)
    click.echo(f"Paused{f' for session {session}' if session else ''}. `mdmem resume` stores again.")


@click.command()
@click.option("--session", metavar="ID", help="Only this session.")
@click.pass_obj
def resume(vault: str | None, session: str | None) -> None:
    """Store again after `mdmem pause`.

    \b
    Example:  mdmem resume
    """
    path = _flag(vault, session)
    if path.exists():
        whose = short(session, 16) if session else "all"
        choice.remember_pause(config.load(vault), path.stat().st_mtime, time.time(), whose)
        path.unlink(missing_ok=True)
    click.echo("Storing again.")


def _flag(vault: str | None, session: str | None) -> Path:
    name = f"paused-{short(session, 16)}" if session else "paused"
    return Path(config.load(vault).state_dir) / name
