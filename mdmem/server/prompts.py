"""The tool that searches the user's prompts: each with its session, number, project and time."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from mdmem import timestamps
from mdmem.errors import UsageError
from mdmem.search.index.view import View
from mdmem.server import entries, lookup
from mdmem.server.access import FOR_TEXT, Access
from mdmem.server.reading import MAX_CHARS, MAX_QUERY_CHARS, Limit, Offset, ProjectName, Since
from mdmem.views import prompts
from mdmem.views.prompts import FoundPrompt, MatchedPrompts

FORMATS = ("index", "full")
LEAST_CHARS = 400


class FoundPrompts(TypedDict):
    """A page of an answer. next_offset: start of the next page, or null. hints: what was not understood."""

    entries: list[dict[str, Any]]
    total: int
    next_offset: int | None
    hints: list[str]


def search_user_prompts(
    access: Access,
    query: Annotated[
        str,
        Field(
            description='As in FTS5: a AND b, OR, NOT, NEAR(a b, 5), "phrase", begin*, prompt:3. Empty: the latest.',
            max_length=MAX_QUERY_CHARS,
        ),
    ] = "",
    project: ProjectName = "",
    session: Annotated[str, Field(description="Session id, or its beginning.")] = "",
    since: Since = "",
    until: str = "",
    order: Annotated[str, Field(description="relevance, newest or oldest.")] = "relevance",
    format: Annotated[str, Field(description="index (a line each) or full.")] = "index",  # noqa: A002
    limit: Limit = 20,
    offset: Offset = 0,
) -> FoundPrompts:
    """Search what the user really asked, word for word, across sessions."""
    if order not in prompts.ORDERS:
        raise UsageError(f"order must be one of {', '.join(prompts.ORDERS)}, not {order!r:.40}.")
    if format not in FORMATS:
        raise UsageError(f"format must be {' or '.join(FORMATS)}, not {format!r:.40}.")
    if format == "full":
        access.require(FOR_TEXT)
    filters = {"project": project or None, "session": session or None, "since": since or None, "until": until or None}
    parsed, narrowed = prompts.read(query, filters)
    if narrowed.hints:
        raise UsageError(" ".join(narrowed.hints))
    part = prompts.PromptSlice("newest" if access.titles_only and order == "relevance" else order, limit, offset)
    visible, root, only = lookup.without_hidden(access, narrowed), access.config.vault, access.titles_only

    def answer(view: View) -> tuple[MatchedPrompts, list[FoundPrompt]]:
        found = prompts.match(view, root, parsed, visible, part, here=access.here, titles_only=only)
        found_prompts = (
            prompts.read_prompt(view, root, prompt, found.scores[prompt], with_text=not only) for prompt in found.shown
        )
        return found, list(found_prompts)

    nothing: tuple[MatchedPrompts, list[FoundPrompt]] = MatchedPrompts([], {}, 0, ()), []
    (page, found), notices = lookup.ask(access, answer, nothing)
    visible_prompts = [prompt for prompt in found if lookup.read(access, prompt.path) is not None]
    chars = max(MAX_CHARS // (len(visible_prompts) or 1), LEAST_CHARS) if format == "full" else 0
    return {
        "entries": [_line(access, prompt, chars) for prompt in visible_prompts],
        "total": page.total,
        "next_offset": entries.next_offset(page.total, offset, limit),
        "hints": [*page.hints, *notices],
    }


def _line(access: Access, prompt: FoundPrompt, chars: int) -> dict[str, Any]:
    """Return an entry. chars: maximum length of the text; 0: one line."""
    text = access.text(prompt.text)[:chars] if chars else access.line(prompt.text or prompt.title)
    values = access.values(prompt._asdict(), ("id", "session", "prompt", "project"))
    return {**values, "date": timestamps.readable(prompt.created), "text": text}


def prompts_text(page: FoundPrompts) -> list[str]:
    """Return prompts as text."""
    lines = []
    for prompt in page["entries"]:
        project = f" ({prompt['project']})" if prompt["project"] else ""
        lines.append(
            f"- {prompt['date']} [mem:{prompt['id']}] session {prompt['session']}, prompt {prompt['prompt']}{project}"
        )
        lines += [f"  > {line}" for line in prompt["text"].split("\n")]
    return [*(lines or ["Nothing found."]), f"{entries.extent(len(page['entries']), page)}.", *page["hints"]]
