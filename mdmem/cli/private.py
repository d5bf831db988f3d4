"""`privacy check`, `privacy keep-last`, `pause`, `resume`."""

from __future__ import annotations

import time
from pathlib import Path

import click

from mdmem import privacy, timestamps
from mdmem.cli.terminal import options, render
from mdmem.config import Config
from mdmem.errors import NotFoundError
from mdmem.vault import journal, pauses
from mdmem.views import conversation, storing, wording


@click.group("privacy")
def privacy_group() -> None:
    """See what mdmem would keep out of its files, or store what it kept out.

    \b
    Example:  mdmem privacy check notes.txt
    """


@privacy_group.command(short_help="Show what would be stored of a text, and why.")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@click.option("--tool", is_flag=True, help="Read the text as a tool's output, not as a prompt.")
@options.as_json("an object: text, private, redacted, unclosed, findings")
@options.with_config
def check(config: Config, file: str, tool: bool, as_json: bool) -> None:
    """Show what would be stored of FILE (`-`: stdin), and which rule removes what. Nothing is stored.

    \b
    Example:  echo 'deploy with password=hunter2' | mdmem privacy check
    """
    try:
        data = options.typed_text().buffer.read() if file == "-" else Path(file).read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {file}. To check a text: echo 'TEXT' | mdmem privacy check") from None
    text = data.decode("utf-8", "replace")
    rules = privacy.Rules.of(config.settings)
    cleaned = privacy.clean(text, rules=rules, origin="tool" if tool else "prompt", explain=True)
    findings = cleaned.findings
    if as_json:
        counts = {"private": cleaned.private, "redacted": cleaned.redacted, "unclosed": cleaned.unclosed}
        places = [{"rule": item.rule, "line": item.line, "column": item.column} for item in findings]
        render.print_json({"text": cleaned.value, **counts, "findings": places})
        return
    click.echo(cleaned.value.rstrip("\n"))
    for item in findings:
        click.secho(f"line {item.line}, column {item.column}: {item.rule}", err=True, dim=True)
    if cleaned.unclosed:
        stored, out = "its text is stored (privacy.unclosed)", "everything after it is kept out"
        what = stored if rules.unclosed == "keep" else out
        render.warn(f"A private tag is not closed: {what}.")
    click.secho(f"{cleaned.private} private, {cleaned.redacted} redacted", err=True)


@privacy_group.command("keep-last")
@options.as_json("an object: path")
@options.with_config
def keep_last(config: Config, as_json: bool) -> None:
    """Store what private tags kept out of your last prompt.

    The prompt is read from the agent's own transcript and stored without its tags. Secrets stay masked.

    \b
    Example:  mdmem privacy keep-last
    """
    from mdmem.transcripts import last_prompt

    path = last_prompt.keep(config)
    render.print_outcome(f"Stored the whole prompt: {path}", {"path": path}, as_json=as_json)


@click.command()
@click.option("--for", "length", metavar="TIME", help="Resume by itself after this long: 30m, 1h, 2d.")
@options.one_session
@options.as_json('an object: paused, session ("": all), until ("": until `mdmem resume`)')
@options.with_config
def pause(config: Config, length: str | None, session: str, as_json: bool) -> None:
    """Stop storing, in all sessions or in one, until `mdmem resume` or for a while.

    A session that is not stored yet needs its whole id.

    \b
    Example:  mdmem pause --for 1h
    """
    ends = time.time() + wording.seconds_of(length) if length else 0.0
    session_id = conversation.id_of(config, session) if session else ""
    pauses.begin_pause(config, session_id, ends)
    whose = f" for session {journal.session_tag(session_id)}" if session_id else ""
    until = f" until {timestamps.local_time(ends)}" if ends else ""
    text = f"Paused{whose}{until}. `{storing.resume_command(session_id)}` resumes storing."
    value = {"paused": True, "session": session_id, "until": timestamps.iso_time(ends) if ends else ""}
    render.print_outcome(text, value, as_json=as_json)


@click.command()
@options.one_session
@options.as_json('an object: paused, session ("": all)')
@options.with_config
def resume(config: Config, session: str, as_json: bool) -> None:
    """Store again after `mdmem pause`. A session that was paused on its own is resumed by `--session`.

    \b
    Example:  mdmem resume
              mdmem resume --session 3f0c6d1e
    """
    session_id = _paused_session(config, session) if session else ""
    key = pauses.key_of(session_id)
    was_paused = pauses.end_pause(config, key, time.time())
    if as_json:
        render.print_json({"paused": False, "session": session_id})
        return
    whose = f"session {journal.session_tag(session_id)}" if session_id else ""
    if was_paused:
        click.echo(f"Storing {whose} again." if session_id else "Storing again.")
    else:
        click.echo(f"{whose.capitalize() or 'Storing'} was not paused.")
    for still in filter(None, [storing.paused(config), *storing.paused_sessions(config)]):
        render.warn(still)


def _paused_session(config: Config, name: str) -> str:
    """Return the id of the paused session that `name` means, which may have no notes, else of any session."""
    paused = [pause.session for pause in pauses.of_sessions(config) if pause.session]
    candidates = [
        session for session in paused if session.startswith(name) or journal.session_tag(session) == name.lower()
    ]
    return candidates[0] if len(candidates) == 1 else conversation.id_of(config, name)
