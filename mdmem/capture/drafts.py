"""Drafts: the notes of what a person or the agent said, which `store` cleans, builds and publishes."""

from __future__ import annotations

from mdmem.capture.pending import Capture, PendingNote
from mdmem.values import Value
from mdmem.vault import note, template, titles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_BYTES = 1024 * 1024
"""Maximum body size of a prompt or an answer, whatever the settings say."""


def of_prompt(capture: Capture, text: str, before: str = "") -> PendingNote:
    """Return the draft of a prompt. `before`: the host's text before the typed one, which is cleaned but not stored."""
    extra = capture.event.extra
    command, arguments = extra.get("command_name", ""), extra.get("command_args", "")
    return PendingNote(
        "prompt",
        {"text": text, "before": before, "command": command, "arguments": arguments},
        lambda clean: _build_prompt(capture, clean),
        identity=(capture.event.prompt_id,) if capture.event.prompt_id else (),
        origin="prompt",
        tags=("prompt",),
        chars=capture.config.settings.capture.prompt_chars,
    )


def _build_prompt(capture: Capture, clean: dict[str, str]) -> note.Draft | None:
    """Build a prompt's note; a slash command is stored as name and arguments, as the host parsed them if it did."""
    from mdmem.agents import prompts

    text = clean["text"].strip()
    name = clean["command"].strip().lstrip("/")
    slash = (f"/{name}", clean["arguments"].strip()) if name else prompts.command(text)
    meta: dict[str, Any] = {}
    if slash:
        text = " ".join(slash).strip()
        meta = {"command": note.one_line(slash[0], 80), "tags": ["prompt", "command"]}
    if not text:
        return None
    title = titles.first_line(_legible(text), capture.config.settings.privacy.marker)
    return _filled(capture, "prompt", title, text, meta)


class SpokenText(Value):
    """The agent's answer or summary. text: by default the event's message. of: the sub-agent's id, or ""."""

    kind: str
    text: str = ""
    origin: str = "assistant"
    label: str = ""
    meta: dict[str, Any] = {}  # noqa: RUF012 - copied for each
    tag: str = ""
    of: str = ""


def of_spoken(capture: Capture, spoken: SpokenText) -> PendingNote:
    """Return the draft of an answer or a summary."""
    kind = spoken.kind

    def build(clean: str) -> note.Draft | None:
        text = _without_analysis(clean).strip() if kind == "summary" else clean.strip()
        if not text:
            return None
        marker = capture.config.settings.privacy.marker
        shown = _legible(titles.without_headings(text) if kind == "summary" else text)
        title = titles.telling_line(shown, marker)
        return _filled(capture, kind, title, text, {})

    turn_id = capture.event.prompt_id or f"prompt {capture.prompt_number()}"
    return PendingNote(
        kind,
        spoken.text or capture.event.message,
        build,
        identity=(turn_id, spoken.of) if spoken.of else (turn_id,),
        label=spoken.label,
        origin=spoken.origin,
        meta=spoken.meta,
        tags=(kind, spoken.tag) if spoken.tag else (kind,),
        chars=capture.config.settings.capture.prompt_chars,
        by_text=True,  # a prompt can have several answers, when a hook makes the agent continue
    )


def _filled(capture: Capture, kind: str, title: str, text: str, meta: dict[str, Any]) -> note.Draft:
    """Return a note with its text, cut if it is too long, in the vault's template of its kind."""
    values = {"title": title, "body": _cut(capture, text)}
    return note.Draft(
        title, title, meta, template.fill(template.load(f"notes/{kind}.md", capture.config.vault), values)
    )


def _legible(text: str) -> str:
    """Return the part of a text that a title is made from, without what a terminal or an editor put around words."""
    text = text[: titles.SCAN_CHARS].removeprefix("\ufeff")
    if "\x1b" not in text and "".join(text.split()).isprintable():
        return text
    from mdmem.capture.tools import limits

    return limits.tidy(text, len(text), len(text))


def _cut(capture: Capture, text: str) -> str:
    """Cut the middle of a text that is longer than the settings or `_MAX_BYTES` allow; the user is told."""
    room = capture.config.settings.capture.prompt_chars
    if len(text) <= room and len(text) * 4 <= _MAX_BYTES:
        return text
    from mdmem.capture.tools import limits

    shortened = limits.cut(text, room, len(text))
    while (size := len(shortened.encode("utf-8", "replace"))) > _MAX_BYTES:
        room = min(room, len(text)) * _MAX_BYTES // size - 64
        shortened = limits.cut(text, room, len(text))
    capture.left_out = max(len(text) - room, 0)
    return shortened


def _without_analysis(text: str) -> str:
    """Return a compaction's summary without the agent's analysis before it."""
    _, tag, summary = text.partition("<summary>")
    return summary.partition("</summary>")[0] if tag else text
