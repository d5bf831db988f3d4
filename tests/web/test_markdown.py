"""Notes as HTML: whatever is in them is shown, and nothing of it runs, loads or leads astray."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.views import code_colors, markup
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
        "sup",
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
    "dir",
    "id",
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


class _Anchors(HTMLParser):
    """The ids of a piece of HTML, the text in each list item, and the targets of its links on the page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.items: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.targets += [str(values["href"])[1:]] if str(values.get("href")).startswith("#") else []
        self.items += [""] if tag == "li" else []

    def handle_data(self, data: str) -> None:
        if self.items:
            self.items[-1] += data


def footnotes(text: str) -> list[str]:
    """Return the texts of the footnotes of a note, each with whether a link leads back; every link has its target."""
    seen = _Anchors(str(markdown.render(text)).partition('<ol class="footnotes"')[2])
    whole = _Anchors(str(markdown.render(text)))
    assert len(whole.ids) == len(set(whole.ids))
    assert set(whole.targets) <= set(whole.ids)
    return [" ".join(item.split()) for item in seen.items]


def test_a_footnote_is_a_number_that_leads_to_its_text_and_back() -> None:
    text = (
        "Said[^Two] once[^1], again[^two].\n\n[^1]: First\n[^two]: https://x.example\n\n[c]: https://y.example\n\n[c]"
    )
    html = str(markdown.render(text))

    assert footnotes(text) == ["https://x.example ↩", "First ↩"]
    assert "[^" not in html
    assert html.count('aria-label="Footnote 1">1</a></sup>') == 2
    assert '<a href="https://x.example"' in html
    assert '<a href="https://y.example"' in html


def test_no_footnote_is_lost() -> None:
    text = "A[^a].\n\n[^b]: unmarked\n\n[^a]: see[^c]\nlazy\n\n    more\n\n[^c]: third"

    assert footnotes(text) == ["see2 lazy more ↩", "third ↩", "unmarked"]
    assert footnotes("- item[^l]\n\n  [^l]: in a list\n- next\n\n> [^q]: quoted") == ["in a list ↩", "quoted"]
    assert "</sup>: twice" in markdown.render("[^a]: once\n\n[^a]: twice")


def test_what_is_no_footnote_is_text() -> None:
    assert str(markdown.render("A[^a], `[^b]`.\n\n[^b]: B")).count("[^") == 2
    assert footnotes("A[^a]") == []
    assert "<p>A [^b] and [^b]<sup>" in markdown.render("A \\[^b] and \\[^b\\][^b]\n\n[^b]: B")
    assert ">[^b]</a>" in markdown.render("[[^b]](https://x.example)\n\n[^b]: B")


def test_texts_of_a_page_do_not_share_anchors() -> None:
    first, second = (_Anchors(str(markdown.render(f"A[^1]\n\n[^1]: {word}"))).ids for word in ("one", "two"))
    assert not set(first) & set(second)


@pytest.mark.parametrize(
    "text", ["\n".join(f"{'  ' * depth}- level {depth}" for depth in range(40)), f"{'>' * 60} level 39"]
)
def test_an_outline_is_shown_whole_however_deep_it_is(text: str) -> None:
    assert "level 39" in markdown.render(text)
    assert any("level 39" in token.content for token in markup.parsed(text))


def colored(code: str, language: str) -> dict[str, list[str]]:
    """Return the pieces of code that have a color, by class; the code itself is whole."""
    html = str(markdown.render(f"````{language}\n{code}\n````"))
    assert is_safe(html).text.rstrip("\n") == code.rstrip("\n")
    found: dict[str, list[str]] = {}
    for kind, piece in re.findall(r'<span class="(\w)">([^<]*)</span>', html):
        found.setdefault(kind, []).append(unescape(piece))
    return found


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        (
            "python",
            "def f(a='x', b=r\"#\"):  # why\n    return None is 0x1f, items.pass_\n",
            {"k": ["def", "return", "None", "is"], "s": ["'x'", 'r"#"'], "c": ["# why"], "n": ["0x1f"]},
        ),
        ("python", '"""a\n# b "c"\n""" if x else 1', {"s": ['"""a\n# b "c"\n"""'], "k": ["if", "else"], "n": ["1"]}),
        ("ts", "const a = `x ${b}\n`; // it's\nlet c", {"k": ["const", "let"], "s": ["`x ${b}\n`"], "c": ["// it's"]}),
        ("rust", "fn f<'a>(c: u8) { 'x' } /* don't */", {"k": ["fn"], "s": ["'x'"], "c": ["/* don't */"]}),
        ("go", 'func f() { m.range(`"`) }', {"k": ["func"], "s": ['`"`']}),
        (
            "sh",
            "if [ ${#a} ]; then echo 'b # c'; fi # d",
            {"k": ["if", "then", "echo", "fi"], "s": ["'b # c'"], "c": ["# d"]},
        ),
        ("sql", "SELECT 'a' FROM t -- b", {"k": ["SELECT", "FROM"], "s": ["'a'"], "c": ["-- b"]}),
        ("json", '{"a": "b", "c": [1.5, true]}', {"k": ['"a"', '"c"', "true"], "s": ['"b"'], "n": ["1.5"]}),
        ("yaml", "a-b: it's # c\n- d: 1", {"k": ["a-b", "- d"], "c": ["# c"], "n": ["1"]}),
        ("toml", "[a.b]\nc = 'd'", {"k": ["[a.b]", "c"], "s": ["'d'"]}),
        ("html", '<a href="b">it\'s</a><!-- c -->', {"k": ["<a", ">", "</a", ">"], "s": ['"b"'], "c": ["<!-- c -->"]}),
        ("text", "if 'a' # 1", {}),
        ("nosuch", "if 'a' # 1", {}),
    ],
)
def test_code_has_colors(language: str, code: str, expected: dict[str, list[str]]) -> None:
    assert colored(code, language) == expected


@given(
    st.sampled_from(sorted(code_colors.languages())),
    st.lists(
        st.sampled_from(["'", '"', "`", "/*", "*/", "//", "#", "--", "<!--", "<", "&", "\\", "\n", "a", " ", "0", ":"])
    ),
)
def test_colors_change_no_code(language: str, pieces: list[str]) -> None:
    code = "".join(pieces)
    html = code_colors.html(code, language)

    assert unescape(re.sub(r'<span class="[cskn]">|</span>', "", html)) == code
    assert "<" not in re.sub(r'<span class="[cskn]">|</span>', "", html)


def test_a_removed_part_is_marked_in_colored_code() -> None:
    html = markdown.render('```python\na = "Bearer [REDACTED:token] x"  # [PRIVATE]\n```')

    assert re.search(r'<span class="s">"Bearer <span class="kept"[^>]*>secret</span> x"</span>', html)
    assert re.search(r'<span class="c"># <span class="kept"[^>]*>private</span></span>', html)
