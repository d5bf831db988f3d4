"""A note's Markdown as HTML. Notes are hostile input: their HTML is shown as text, and nothing is loaded or run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape, unescape
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from mdmem.vault import generated
from mdmem.views import code_colors, footnotes

_CODE = re.compile(r"`([^`]+)`")
_MARKS = re.compile(
    r"\[mem:(?P<id>[^\[\]\s&]{1,40})\]"
    r"|(?P<embed>!)?\[\[(?P<wiki>[^\[\]|\n]{1,200})(?:\|(?P<label>[^\[\]\n]{1,200}))?\]\]"
    r"|\[(?P<kept>PRIVATE|REDACTED(?::[\w-]{1,40})?)\]"
    # An address with a removed private part would lead elsewhere, so it is not made a link.
    r"|(?<![A-Za-z0-9])(?P<bare>https?://(?:[!#-%(-;=?-Z^_a-z{|}~]|&amp;){1,2000}+(?!\[))"
)


class NoteLinks(Protocol):
    """The targets of a note's links on the pages that it is rendered for; "" for no target."""

    def target(self, href: str) -> str:
        """Return the target of a link: one of the pages, or a safe outside address."""

    def cited(self, name: str) -> str:
        """Return the page of the note with this id."""

    def named(self, name: str) -> str:
        """Return the page of a wikilink's note."""

    def picture(self, source: str, *, by_name: bool = False) -> str:
        """Return the address of a picture in the vault. by_name: whether it is embedded by name, as in Obsidian."""


SAFE_SCHEMES = ("http", "https", "mailto")
"""Schemes that a link in a note may have."""


def outside(href: str) -> str:
    """Return an outside address if it is safe, else ""."""
    return href if split(href).scheme.lower() in SAFE_SCHEMES else ""


def split(href: str) -> SplitResult:
    """Split an address into its parts; all are "" if it is invalid."""
    try:
        return urlsplit(href)
    except ValueError:
        return urlsplit("")


def html(text: str, links: NoteLinks, *, level: int, most: int) -> str:
    """Return a text as HTML that is safe to put into a page. level: of its headings. most: maximum characters."""
    shown = generated.unmarked(text[:most])
    collected = footnotes.of(shown)
    env = {"links": links, "level": level, "footnotes": collected}
    rendered: str = _PARSER.render(shown, env)
    env["in_footnote"] = True
    rendered += footnotes.listed(collected, lambda note: str(_PARSER.render(note, env)))
    notice = '<p class="cut">The rest of this text is only in the file.</p>' if len(text) > most else ""
    return f"{rendered}{notice}"


def parsed(text: str) -> list[Token]:
    """Return a text's Markdown as tokens, for a terminal. Its HTML is text."""
    return _markdown().parse(text)


def _markdown() -> MarkdownIt:
    """Return a parser for notes. Lists and quotes may nest deeply, as in outlines: what is deeper is left out."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    inline = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")  # nested links take quadratic time

    def parse_inline(state: StateCore) -> None:
        for token in state.tokens:
            if token.type == "inline":
                token.children = []
                parser.inline.parse(token.content, inline, state.env, token.children)

    parser.options["maxNesting"] = _MAX_BLOCKS
    parser.core.ruler.at("inline", parse_inline)
    parser.block.ruler.at("reference", _reference)
    return parser


_MAX_BLOCKS = 100
"""Maximum depth of blocks; a level of a list takes two."""


def without_title(text: str, title: str) -> str:
    """Return a text without a first heading that only repeats its title."""
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") and first[2:].strip() == title.strip() else text


def line(text: str) -> str:
    """Return a line of a note as HTML, with its code and its removed private parts marked."""
    # A title that was cut may end inside code.
    return _with_marks(_CODE.sub(r"<code>\1</code>", escape(text)).replace("`", ""), None)


def diff(text: str) -> str:
    """Return a patch as HTML; each line keeps its sign, so that color is not the only mark."""
    spans = []
    for patch_line in text.split("\n"):
        is_head = patch_line.startswith(("+++", "---", "diff ", "index "))
        name = "head" if is_head else _LINE_CLASSES.get(patch_line[:1], "same")
        spans.append(f'<span class="{name}">{_with_marks(escape(patch_line), None) or " "}</span>\n')
    while spans and spans[-1] == '<span class="same"> </span>\n':
        spans.pop()
    return f'<pre class="diff" tabindex="0"><code>{"".join(spans)}</code></pre>\n'


_LINE_CLASSES = {"+": "add", "-": "del", "@": "hunk"}


def _with_marks(escaped: str, links: NoteLinks | None) -> str:
    """Mark up private parts in text that is already escaped; with `links`, also citations and wikilinks."""

    def replaced(match: re.Match[str]) -> str:
        removed, name = match["kept"], match["id"]
        if removed:
            word = "private" if removed == "PRIVATE" else "secret"
            return f'<span class="kept" title="This part was kept out of the note">{word}</span>'
        if links is None:
            return match[0]
        if match["bare"]:
            return _bare_link(unescape(match["bare"]), links)
        if name:
            to, label, kind = links.cited(name), name, "cite"
        else:
            wiki = unescape(match["wiki"])
            picture = links.picture(wiki, by_name=True) if match["embed"] else ""
            if picture:
                return _image_tag(picture, match["label"] or match["wiki"])
            to, label, kind = links.named(wiki), match["label"] or match["wiki"], "wiki"
        return f'<a class="{kind}" href="{escape(to)}">{label}</a>' if to else match[0]

    return _MARKS.sub(replaced, escaped) if "[" in escaped or "://" in escaped else escaped


def _bare_link(text: str, links: NoteLinks) -> str:
    """Return a bare address in a text as a link, without the punctuation after it."""
    end = len(text)
    while text[end - 1] in ".,:;!?*_~" or (text[end - 1] == ")" and text.count(")", 0, end) > text.count("(", 0, end)):
        end -= 1
    to = links.target(text[:end])
    return f"{_link_tag(to)}{escape(text[:end])}</a>{escape(text[end:])}" if to else escape(text)


def _link_tag(to: str) -> str:
    """Return the opening tag of a link; an outside page opens in a new tab and does not see our address."""
    outside_attributes = ' rel="noopener noreferrer" target="_blank"' if urlsplit(to).scheme else ""
    return f'<a href="{escape(to)}"{outside_attributes}>'


def _image_tag(source: str, name: str) -> str:
    """Return the tag of a picture in the vault. name: its alternative text, escaped."""
    return f'<img src="{escape(source)}" alt="{name}" loading="lazy">'


_TASK = re.compile(r"\[([ xX])\] ")


def _tasks(state: StateCore) -> None:
    """Turn `[ ]` and `[x]` at the start of list items into checkboxes."""
    for item, paragraph, token in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        box = _TASK.match(token.content) if item.type == "list_item_open" and token.type == "inline" else None
        if box and paragraph.type == "paragraph_open" and token.children and token.children[0].type == "text":
            token.children[0].content = token.children[0].content[len(box[0]) :]
            token.children.insert(0, Token("task", "", 0, content=box[1]))
            item.attrSet("class", "task")


_CALLOUT = re.compile(r"\[!(?P<kind>[A-Za-z][\w-]{0,30})\][+-]? ?")
_URGENT = frozenset(["warning", "caution", "attention", "important", "danger", "error", "bug", "failure", "fail"])


def _callouts(state: StateCore) -> None:
    """Turn a quote that starts with `[!note]` into a callout, titled by the words after that, else by its kind."""
    for quote, paragraph, token in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        inline = token.children if (quote.type, paragraph.type) == ("blockquote_open", "paragraph_open") else None
        mark = _CALLOUT.match(inline[0].content) if inline and inline[0].type == "text" else None
        if not inline or not mark:
            continue
        kind = mark["kind"].lower()
        quote.attrSet("class", "callout urgent" if kind in _URGENT else "callout")
        inline[0].content = inline[0].content[len(mark[0]) :]
        breaks = (place for place, inner in enumerate(inline) if inner.type in ("softbreak", "hardbreak"))
        end = next(breaks, len(inline))
        if not any(inner.content for inner in inline[:end]):
            inline[0].content = kind.title()
        body = [Token("hardbreak", "br", 0), *inline[end + 1 :]] if inline[end:] else []
        token.children = [Token("strong_open", "strong", 1), *inline[:end], Token("strong_close", "strong", -1), *body]


def _reference(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse a link definition, `[name]: address`, but not a footnote, `[^1]: text`; return whether it is one."""
    begin = state.bMarks[first] + state.tShift[first]
    return not state.src.startswith("[^", begin) and reference(state, first, last, silent)


def _directions(state: StateCore) -> None:
    """Put the marks of a list or quote on the side where its text begins, as in Arabic on the right."""
    for token in state.tokens:
        if token.type in ("bullet_list_open", "ordered_list_open", "blockquote_open"):
            token.attrSet("dir", "auto")


# -- the renderer ----------------------------------------------------------------------------------


def _text(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    return _with_marks(escape(tokens[place].content), None if env.get("in_link") else env["links"])


def _task(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    is_done = tokens[place].content != " "
    state = ' checked aria-label="done"' if is_done else ' aria-label="to do"'
    return f'<input type="checkbox" disabled{state}> '


def _link_open(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    env["in_link"] = True
    target = str(tokens[place].attrGet("href") or "")
    to = env["links"].target(target)
    env.setdefault("open", []).append(to)
    if not to:
        return f'<span class="dead" title="{escape(target[:300])}">'
    return _link_tag(to)


def _link_close(_: Any, _tokens: Sequence[Token], _place: int, _options: Any, env: dict[str, Any]) -> str:
    env["in_link"] = False
    return "</a>" if env["open"].pop() else "</span>"


def _image(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    """Show an image of the vault. An outside image is not loaded; a click opens it."""
    source = str(tokens[place].attrGet("src") or "")
    name = escape(tokens[place].content or "image")
    local = env["links"].picture(source)
    if local:
        return _image_tag(local, name)
    parts = split(source)
    if parts.scheme.lower() not in ("http", "https") or env.get("in_link"):
        return f'<span class="picture">{name}</span>'
    host = escape(parts.netloc[:80])
    return (
        f'<a class="picture" href="{escape(source)}" rel="noopener noreferrer" target="_blank">'
        f"{name} <small>image at {host}, opens there</small></a>"
    )


def _fence(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    token = tokens[place]
    language = (token.info.split() or [""])[0].lower()
    if language in ("diff", "patch"):
        return diff(token.content)
    attribute = f' data-language="{escape(language)}"' if language.isalnum() else ""
    return f'<pre tabindex="0"{attribute}><code>{_code(token.content, language)}</code></pre>\n'


_KEPT = re.compile(r"\[(?:PRIVATE|REDACTED(?::[\w-]{1,40})?)\]")
_PLACE = "\ue000"
"""Stands for a removed part while code is colored: a mark must not end the string or comment that it is in."""


def _code(text: str, language: str) -> str:
    if _PLACE in text:
        return _with_marks(escape(text), None)
    marks = (_with_marks(mark, None) for mark in _KEPT.findall(text))
    first, *further = code_colors.html(_KEPT.sub(_PLACE, text), language).split(_PLACE)
    return first + "".join(f"{mark}{piece}" for mark, piece in zip(marks, further, strict=True))


def _cell_open(_: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    """Write a cell's alignment as a class: the pages' policy forbids inline styles."""
    token = tokens[place]
    side = str(token.attrGet("style") or "").removeprefix("text-align:")
    return f'<{token.tag} class="{side}">' if side in ("right", "center") else f"<{token.tag}>"


def _heading_open(_: Any, tokens: Sequence[Token], place: int, _options: Any, env: dict[str, Any]) -> str:
    """Put a note's headings below those of the page, without skipping a level, for screen readers."""
    first = int(env["level"])
    wanted = first + (tokens[place].tag not in ("h1", "h2"))
    env["last"] = min(wanted, env.get("last", first - 1) + 1)
    return f"<h{env['last']}>"


def _parser() -> MarkdownIt:
    parser = _markdown()
    parser.core.ruler.push("tasks", _tasks)
    parser.core.ruler.push("callouts", _callouts)
    parser.core.ruler.push("directions", _directions)
    parser.block.ruler.before("reference", "footnote", footnotes.parse, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.after("link", footnotes.MARK, footnotes.parse_mark)
    rules: dict[str, Callable[..., str]] = {
        "text": _text,
        footnotes.MARK: lambda _, tokens, at, __, env: footnotes.mark(tokens[at].content, env["footnotes"]),
        "task": _task,
        "link_open": _link_open,
        "link_close": _link_close,
        "image": _image,
        "fence": _fence,
        "code_block": _fence,
        "code_inline": lambda _, tokens, at, *__: f"<code>{_with_marks(escape(tokens[at].content), None)}</code>",
        # a wide table scrolls in a box of its own, also by keyboard
        "table_open": lambda *_: '<div class="table" tabindex="0"><table>\n',
        "table_close": lambda *_: "</table></div>\n",
        "td_open": _cell_open,
        "th_open": _cell_open,
        "heading_open": _heading_open,
        "heading_close": lambda *given: f"</h{given[-1]['last']}>\n",
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


_PARSER = _parser()
