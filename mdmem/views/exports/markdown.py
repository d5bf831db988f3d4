"""A note's Markdown as HTML for pages without a server. Its own HTML is text; nothing is loaded or run."""

from __future__ import annotations

import posixpath
import re
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt

from mdmem.vault import journal, links

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

MAX_CHARS = 64 * 1024
"""Of a longer text, only this much is shown."""
_MARKS = re.compile(
    r"\[mem:(?P<id>[0-9a-z]{4,40})\]|\[\[(?P<wiki>[^\[\]|\n]{1,200})(?:\|(?P<label>[^\[\]\n]{1,200}))?\]\]"
)


class Places(NamedTuple):
    """Where notes lie among the pages: each by its path without ending, by its file's name, and by its id.

    A value is a path with slashes and perhaps an anchor, from the top of the pages.
    """

    by_path: dict[str, str]
    by_name: dict[str, str]
    by_id: dict[str, str]


NOWHERE = Places({}, {}, {})


def html(text: str, places: Places = NOWHERE, folder: str = "", page: str = "") -> str:
    """Return a text as HTML.

    folder: of the note, vault-relative, from which its links lead. page: the path of the page it stands on.
    """
    cut = len(text) > MAX_CHARS
    made: str = _PARSER.render(
        journal.unmarked(text[:MAX_CHARS]), {"places": places, "folder": folder, "page": page, "open": []}
    )
    return made + ("<p><em>The rest of this text is only in the file.</em></p>\n" if cut else "")


def relative(place: str, page: str) -> str:
    """Return the address of a place for a link on a page, both from the top of the pages."""
    path, _, anchor = place.partition("#")
    address = quote(posixpath.relpath(path, posixpath.dirname(page) or ".")) if path != page or not anchor else ""
    return f"{address}#{quote(anchor)}" if anchor else address


def _target(env: dict[str, Any], href: str) -> str:
    """Return where a link leads: to a page, or out of them over HTTP; "" for nowhere."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if parts.scheme or parts.netloc:
        return href if parts.scheme.lower() in ("http", "https", "mailto") else ""
    path = posixpath.normpath(posixpath.join(env["folder"], unquote(parts.path))) if parts.path else ""
    place = env["places"].by_path.get(links.stem(path.lower()), "")
    return relative(place, env["page"]) if place else ""


def _text(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    return _marked(escape(tokens[place].content), env) if not env["open"] else escape(tokens[place].content)


def _marked(escaped: str, env: dict[str, Any]) -> str:
    """Make links of citations and wikilinks, as far as they lead to a page."""

    def link(found: re.Match[str]) -> str:
        name = (found["wiki"] or "").partition("#")[0].strip().lower()
        known: Places = env["places"]
        if found["id"]:
            to, label = known.by_id.get(found["id"], ""), found[0]
        else:
            to = known.by_name.get(links.stem(name)) or known.by_path.get(links.stem(name), "")
            label = found["label"] or found["wiki"]
        return f'<a href="{escape(relative(to, env["page"]))}">{label}</a>' if to else found[0]

    return _MARKS.sub(link, escaped) if "[" in escaped else escaped


def _link_open(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    to = _target(env, str(tokens[place].attrGet("href") or ""))
    env["open"].append(to)
    return f'<a href="{escape(to)}" rel="noreferrer">' if to else "<span>"


def _link_close(_: Any, _tokens: Sequence[Token], _place: int, _options: Any, env: dict[str, Any]) -> str:
    return "</a>" if env["open"].pop() else "</span>"


def _image(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    """No image is loaded: its words stand for it."""
    return f"<em>{escape(tokens[place].content or 'image')}</em>"


def _fence(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    token = tokens[place]
    if (token.info.split() or [""])[0].lower() in ("diff", "patch"):
        return f"<pre><code>{''.join(_diff_line(line) for line in token.content.splitlines())}</code></pre>\n"
    return f"<pre><code>{escape(token.content)}</code></pre>\n"


def _diff_line(line: str) -> str:
    tag = {"+": "ins", "-": "del"}.get(line[:1]) if not line.startswith(("+++", "---")) else None
    return f"<{tag}>{escape(line)}</{tag}>\n" if tag else f"{escape(line)}\n"


def _heading_open(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    return f"<h{_level(tokens[place].tag)}>"


def _heading_close(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    return f"</h{_level(tokens[place].tag)}>\n"


def _level(tag: str) -> int:
    """The page has headings of its own above those of a note."""
    return min(int(tag[1]) + 2, 6)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    rules = {
        "text": _text,
        "link_open": _link_open,
        "link_close": _link_close,
        "image": _image,
        "fence": _fence,
        "heading_open": _heading_open,
        "heading_close": _heading_close,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


_PARSER = _parser()
