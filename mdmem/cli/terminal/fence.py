"""Fence: what mdmem prints to an agent is marked as memory, so that no part of it is stored as something new."""

from __future__ import annotations

import os
import sys

import click

FENCED = frozenset(
    ["search", "related", "show", "list", "sessions", "history", "timeline", "digest", "log", "review", "why", "diff"]
)
"""The commands that print what notes say."""

_FOR_PROGRAMS = frozenset(["--json", "--raw", "--path", "--open", "--queries", "-h", "--help"])
"""With these options a program reads the output, or there is none of a note."""


def begin(ctx: click.Context) -> None:
    """Print the beginning of the fence, and its end when the command is over, where an agent reads it as text."""
    is_text = ctx.invoked_subcommand in FENCED and _FOR_PROGRAMS.isdisjoint(sys.argv)
    if not is_text or sys.stdout.isatty():
        return
    nonce = os.urandom(4).hex()
    click.echo(f"<mdmem-context id={nonce}>")
    ctx.call_on_close(lambda: click.echo(f"</mdmem-context id={nonce}>"))
