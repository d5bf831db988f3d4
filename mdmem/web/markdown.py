"""A note's markdown as HTML. Notes are hostile input: their own HTML is text, nothing of theirs is loaded or run."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markupsafe import Markup

from mdmem.vault import journal
from mdmem.web import address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

_CODE = re.compile(r"`([^`]+)`")
MAX_CHARS = 128 * 1024
"""Of a longer text, only this much is rendered; the page says so."""

_MARKS = re.compile(
    r"\[mem:(?P<id>[^\[\]\s&]{1,40})\]"
    r"|(?P<embed>!)?\[\[(?P<wiki>[^\[\]|\n]{1,200})(?:\|(?P<label>[^\[\]\n]{1,200}))?\]\]"
    r"|\[(?P<kept>PRIVATE|REDACTED(?::[\w-]{1,40})?)\]"
)


def render(text: str, base: str = "", *, level: int = 3, is_help: bool = False) -> Markup:
    """Return a text as HTML that is safe to put into a page.

    base: the folder of the note, relative to the vault, from which its links lead. level: of its headings.
    is_help: it is a help page.
    """
    cut = len(text) > MAX_CHARS
    html = _PARSER.render(journal.unmarked(text[:MAX_CHARS]), {"base": base, "help": is_help, "level": level})
    more = '<p class="cut">The rest of this text is only in the file.</p>' if cut else ""
    return Markup(f"{html}{more}")  # noqa: S704 - made by the renderer below, which escapes


def marked(text: str) -> Markup:
    """Return a line of a note, its citations as links and what was kept out of it as marks."""
    escaped = _CODE.sub(r"<code>\1</code>", escape(text))
    return Markup(_with_marks(escaped, links=False))  # noqa: S704 - escaped first


def without_title(text: str, title: str) -> str:
    """Return a text without the heading at its beginning that only repeats its title."""
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") and first[2:].strip() == title.strip() else text


def diff(text: str) -> Markup:
    """Return a patch, a line each, what goes and what comes marked by more than colour."""
    return Markup(_diff(text))  # noqa: S704 - each line is escaped


def _with_marks(escaped: str, *, links: bool, base: str = "") -> str:
    """Replace citations, wiki links and marks of private parts in text that is escaped already."""

    def replaced(found: re.Match[str]) -> str:
        kept, name, wiki = found["kept"], found["id"], found["wiki"]
        if found["embed"] and links and address.attachment_type(_plain(wiki)).startswith("image/"):
            return _shown(address.attachment(_plain(wiki), base), found["label"] or wiki)
        if kept:
            word = "private" if kept == "PRIVATE" else "secret"
            return f'<span class="kept" title="This part was kept out of the note">{word}</span>'
        if not links:
            return found[0]
        if name:
            return f'<a class="cite" href="{escape(address.note(name))}">{name}</a>'
        return f'<a class="wiki" href="{escape(address.query("/go", to=_plain(wiki)))}">{found["label"] or wiki}</a>'

    return _MARKS.sub(replaced, escaped) if "[" in escaped else escaped


def _shown(source: str, name: str) -> str:
    """Write a picture of the vault. name: what stands for it, escaped."""
    return f'<img src="{escape(source)}" alt="{name}" loading="lazy">'


def _plain(escaped: str) -> str:
    from html import unescape

    return unescape(escaped)


# -- the renderer ----------------------------------------------------------------------------------


def _text(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    return _with_marks(escape(tokens[place].content), links=not env.get("in_link"), base=str(env.get("base", "")))


def _link_open(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    env["in_link"] = True
    target = str(tokens[place].attrGet("href") or "")
    to = address.in_help(target) if env.get("help") else address.in_note(target, str(env.get("base", "")))
    env.setdefault("links", []).append(to)
    if not to:
        return f'<span class="dead" title="{escape(target[:300])}">'
    outside = ' rel="noopener noreferrer" target="_blank"' if urlsplit(to).scheme else ""
    return f'<a href="{escape(to)}"{outside}>'


def _link_close(_: Any, _tokens: Sequence[Token], _place: int, _options: Any, env: dict[str, Any]) -> str:
    env["in_link"] = False
    return "</a>" if env["links"].pop() else "</span>"


def _image(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    """Show an image of the vault. One from elsewhere is not loaded: only a click opens it."""
    source = str(tokens[place].attrGet("src") or "")
    name = escape(tokens[place].content or "image")
    local = "" if env.get("help") else address.picture(source, str(env.get("base", "")))
    if local:
        return _shown(local, name)
    try:
        parts = urlsplit(source)
    except ValueError:
        return f'<span class="picture">{name}</span>'
    if parts.scheme.lower() not in ("http", "https") or env.get("in_link"):
        return f'<span class="picture">{name}</span>'
    where = escape(parts.netloc[:80])
    return (
        f'<a class="picture" href="{escape(source)}" rel="noopener noreferrer" target="_blank">'
        f"{name} <small>image at {where}, opens there</small></a>"
    )


def _fence(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    token = tokens[place]
    language = (token.info.split() or [""])[0].lower()
    if language in ("diff", "patch"):
        return _diff(token.content)
    shown = f' data-language="{escape(language)}"' if language.isalnum() else ""
    return f'<pre tabindex="0"{shown}><code>{_with_marks(escape(token.content), links=False)}</code></pre>\n'


def _code_block(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    return f'<pre tabindex="0"><code>{_with_marks(escape(tokens[place].content), links=False)}</code></pre>\n'


def _code_inline(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    return f"<code>{_with_marks(escape(tokens[place].content), links=False)}</code>"


def _cell_open(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    """A cell's side is a class: the policy of the pages takes no inline style."""
    token = tokens[place]
    side = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="{side}">' if side in ("right", "center") else f"<{token.tag}>"


def _heading_open(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    """A note's headings stand below those of the page, and skip no level: that is how screen readers walk."""
    first = int(env["level"])
    wanted = first + (tokens[place].tag not in ("h1", "h2"))
    env["last"] = min(wanted, env.get("last", first - 1) + 1)
    return f"<h{env['last']}>"


def _heading_close(_: Any, _tokens: Sequence[Token], _place: int, _options: Any, env: dict[str, Any]) -> str:
    return f"</h{env['last']}>\n"


_LINE_CLASSES = {"+": "add", "-": "del", "@": "hunk"}


def _diff(text: str) -> str:
    """Write a patch; the sign at a line's beginning says what colour says."""
    made = []
    for line in text.split("\n"):
        head = line.startswith(("+++", "---", "diff ", "index "))
        name = "head" if head else _LINE_CLASSES.get(line[:1], "same")
        made.append(f'<span class="{name}">{_with_marks(escape(line), links=False) or " "}</span>')
    while made and made[-1] == '<span class="same"> </span>':
        made.pop()
    return f'<pre class="diff" tabindex="0"><code>{"".join(f"{line}{chr(10)}" for line in made)}</code></pre>\n'


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    parser.enable(["table", "strikethrough"])
    rules = {
        "text": _text,
        "link_open": _link_open,
        "link_close": _link_close,
        "image": _image,
        "fence": _fence,
        "code_block": _code_block,
        "code_inline": _code_inline,
        "td_open": _cell_open,
        "th_open": _cell_open,
        "heading_open": _heading_open,
        "heading_close": _heading_close,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


_PARSER = _parser()
