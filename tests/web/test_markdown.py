"""Notes as HTML: whatever is in them is shown, and nothing of it runs, loads or leads astray."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.views import markup
from mdmem.web import address, markdown
from tests.helpers.hostile import SAMPLES

TAGS = {
    *(
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h2",
        "div",
        "h3",
        "h4",
        "hr",
        "input",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "small",
        "span",
    ),
    *("span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {
    "aria-label",
    "checked",
    "disabled",
    "type",
    "href",
    "class",
    "title",
    "rel",
    "target",
    "tabindex",
    "data-language",
    "start",
}


class Seen(HTMLParser):
    """What a browser would make of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: dict[str, list[str]] = {}
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def is_safe(html: str) -> Seen:
    seen = Seen(html)
    assert seen.tags <= TAGS, seen.tags - TAGS
    assert set(seen.attributes) <= ATTRIBUTES, seen.attributes
    for target in seen.attributes.get("href", []):
        scheme = urlsplit(target).scheme
        assert scheme in ("http", "https", "mailto") or (not scheme and target[:2] not in ("//", "/\\")), target
        assert scheme or target.startswith(("/", "#")), target
    return seen


@pytest.mark.parametrize("text", SAMPLES, ids=range(len(SAMPLES)))
def test_hostile_text_is_text(text: str) -> None:
    is_safe(markdown.render(text, "notes"))
    is_safe(markdown.marked(text))
    is_safe(markdown.diff(text))


PIECES = st.sampled_from(
    ["<", ">", '"', "'", "&", "[", "]", "(", ")", "!", "`", "```", "\n", " ", "javascript:", "a", "mem:", "|", "-", "#",
     "[[", "]]", "[PRIVATE]", "https://x.example", "\\", "*", "_", "//", "data:", "<script>", "&#x6a;", "diff", "../"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_becomes_anything_but_text(text: str) -> None:
    is_safe(markdown.render(text, "journal/p/2026-09-14/s"))
    is_safe(markdown.marked(text))


@given(st.text(max_size=300))
def test_any_characters_are_rendered(text: str) -> None:
    is_safe(markdown.render(text))


def test_a_remote_image_is_a_link_and_is_not_loaded() -> None:
    html = markdown.render("![a chart](https://pictures.example/a.png)")

    assert "<img" not in html
    assert 'href="https://pictures.example/a.png"' in html
    assert "image at pictures.example" in html


def test_citations_and_wiki_links_lead_to_notes() -> None:
    html = markdown.render("see [mem:7gk2q9m4x1] and [[how we release|releases]]")

    assert '<a class="cite" href="/note/7gk2q9m4x1">7gk2q9m4x1</a>' in html
    assert '<a class="wiki" href="/go?to=how+we+release">releases</a>' in html


def test_links_between_notes_lead_to_their_pages() -> None:
    text = "[answer](001-006-response-done-fj6hmnw2qf.md) [up](../../../../notes/a%20b.md)"
    html = markdown.render(text, "journal/p/d/s")

    assert 'href="/note/fj6hmnw2qf"' in html
    assert 'href="/note/notes/a%20b.md"' in html


def test_a_link_to_a_sessions_page_leads_to_the_session() -> None:
    folder = "journal/p/2026-09-14/0800-why-3f0c6d1e"

    assert address.in_note(f"../{folder}/0800-why-3f0c6d1e.md", "notes") == "/session/3f0c6d1e"
    assert address.in_note(f"../{folder}/session.md", "notes") == "/session/3f0c6d1e"


def test_a_link_out_of_the_vault_leads_nowhere() -> None:
    assert address.in_note("../../../../../etc/passwd.md", "journal/p/d/s") == ""
    assert address.in_note("/etc/passwd.md", "notes") == ""
    assert address.in_note("../../picture.svg", "notes") == ""
    assert address.in_note("script.py", "notes") == ""


def test_a_picture_of_the_vault_is_shown_and_other_attachments_are_links() -> None:
    html = markdown.render("![a chart](img/a%20b.png) and [the report](report.pdf)", "notes/q3")

    assert '<img src="/attachment/notes/q3/img/a%20b.png" alt="a chart" loading="lazy">' in html
    assert '<a href="/attachment/notes/q3/report.pdf">the report</a>' in html


def test_an_embedded_picture_is_found_by_its_name() -> None:
    html = markdown.render("![[chart.png|The chart]] and ![[ideas]]", "notes")

    assert '<img src="/attachment/chart.png?from=notes" alt="The chart" loading="lazy">' in html
    assert 'href="/go?to=ideas"' in html


def test_what_was_captured_shows_no_files_of_the_project_as_attachments() -> None:
    html = markdown.render("![shot](docs/shot.png) [data](out.csv)", "journal/p/2026-09-14/0800-a-1")

    assert "<img" not in html
    assert "/attachment/" not in html


def test_what_was_kept_out_is_a_mark() -> None:
    html = markdown.render("a [PRIVATE] b `[REDACTED:github-token]`")

    assert html.count('class="kept"') == 2
    assert "[PRIVATE]" not in html


def test_headings_stand_below_the_pages_own_and_skip_none() -> None:
    html = markdown.render("### deep\n\n# top\n\n#### deeper", level=2)

    assert [part[:3] for part in html.split("<")[1::2]] == ["h2>", "h2>", "h3>"]


def test_a_diff_says_by_its_signs_what_its_colors_say() -> None:
    html = markdown.render("```diff\n@@ -1 +1 @@\n-old\n+new\n```")

    assert '<span class="del">-old</span>' in html
    assert '<span class="add">+new</span>' in html


def test_a_table_is_aligned_without_inline_style() -> None:
    html = markdown.render("| a | b |\n|---|--:|\n| 1 | 2 |")

    assert '<td class="right">2</td>' in html
    assert "style=" not in html


def test_a_very_long_text_is_cut_and_says_so() -> None:
    html = markdown.render("word " * 100_000)

    assert len(html) < 200_000
    assert "only in the file" in html


def test_a_heading_that_repeats_the_title_is_left_out() -> None:
    assert markup.without_title("# Times in UTC\n\nText", "Times in UTC") == "\nText"
    assert markup.without_title("# Another\n\nText", "Times in UTC") == "# Another\n\nText"


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "", "a"])
def test_a_form_leads_back_to_pages_of_ours_only(to: str) -> None:
    assert address.local(to) == "/"


def test_a_form_leads_back_to_where_it_was() -> None:
    assert address.local("/review?kind=note") == "/review?kind=note"


def test_items_of_a_task_list_are_boxes() -> None:
    html = str(markdown.render("- [ ] write it\n- [x] **read** it\n- [y] neither\n\n[x] no list"))

    assert '<li class="task"><input type="checkbox" disabled aria-label="to do"> write it</li>' in html
    assert '<input type="checkbox" disabled checked aria-label="done"> <strong>read</strong> it' in html
    assert "<li>[y] neither</li>" in html
    assert "<p>[x] no list</p>" in html


def test_nested_boxes_stand_within_their_item() -> None:
    assert str(markdown.render("- [ ] one\n  - [x] two")).count('<li class="task">') == 2


def linked(text: str) -> list[str]:
    return Seen(str(markdown.render(text))).attributes.get("href", [])


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("See https://forge.example/pull/3.", "https://forge.example/pull/3"),
        ("(https://wiki.example/A_(b))", "https://wiki.example/A_(b)"),
        ("见https://example.com/x。好", "https://example.com/x"),
        ("**http://x.example/?a=1&b=2**!", "http://x.example/?a=1&b=2"),
        ("[words](https://x.example) and `https://code.example`", "https://x.example"),
    ],
)
def test_an_address_in_a_text_is_a_link(text: str, to: str) -> None:
    assert linked(text) == [to]


def test_an_address_of_which_a_part_was_kept_out_is_no_link() -> None:
    html = str(markdown.render("https://x.example/[PRIVATE]/z"))

    assert "<a" not in html
    assert 'class="kept"' in html


def test_a_quote_that_begins_with_its_kind_is_a_callout() -> None:
    html = str(markdown.render("> [!NOTE]\n> Useful.\n\n> [!warning]- Mind the `gap`\n\n> Not [!NOTE]"))

    assert '<blockquote class="callout" dir="auto">\n<p><strong>Note</strong><br />\nUseful.</p>' in html
    assert '<blockquote class="callout urgent" dir="auto">\n<p><strong>Mind the <code>gap</code></strong></p>' in html
    assert "<p>Not [!NOTE]</p>" in html


@pytest.mark.parametrize("text", ["- שלום", "1. שלום", "> שלום"])
def test_the_marks_of_a_list_or_quote_are_on_the_side_where_its_text_begins(text: str) -> None:
    assert 'dir="auto"' in str(markdown.render(text)).partition("שלום")[0]


def test_the_text_of_a_footnote_is_read_and_stands_on_its_own_line() -> None:
    html = str(
        markdown.render("Said[^1] twice[^b].\n\n[^1]: Once\n[^b]: https://x.example\n\n[c]: https://y.example\n\n[c]")
    )

    assert "<p>Said[^1] twice[^b].</p>" in html
    assert "<p>[^1]: Once<br />\n[^b]: <a " in html
    assert '<a href="https://y.example"' in html


@pytest.mark.parametrize(
    "text", ["\n".join(f"{'  ' * depth}- level {depth}" for depth in range(40)), f"{'>' * 60} level 39"]
)
def test_an_outline_is_shown_whole_however_deep_it_is(text: str) -> None:
    assert "level 39" in markdown.render(text)
    assert any("level 39" in token.content for token in markup.parsed(text))
