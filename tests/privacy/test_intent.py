"""A mention of a private tag is not a section; a section stays one however its tag is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.privacy import Rules, clean
from tests.helpers.few import few

MENTIONS = (
    "show the [private] header of a user-agent",
    "what does the <private> tag do?",
    "What does the <Private> attribute mean in a .csproj?",
    "why is `<private>` shown, and what else is there?",
    "does `List<Private>` compile with `Map<Private, int>` in it?",
    "1. [List\\<Private> x](001-000-prompt.md)",
    "use List<Private> here, not Vec<Private> as before",
    "collect::<Private>() fails, why?",
    "in the .csproj <Private>True</Private> is set, remove it",
    "1. [.csproj \\<Private>True\\</Private> is set](001-000-prompt.md)",
    "<Private>false</Private> is what we want",
    "[private] section of smb.conf must have a path and a comment",
    "see [private](https://example.org/x) and [private][1] for more",
    "[private]: https://example.org/private-notes",
    "the words \"<private>\" and '<private>' are only words",
    "it says “<private>” there, and the rest matters",
    "the <private>-tag is what I mean, and it works",
    "Do you know <private>? It hides text from memory.",
    "Is there an element (say <private>) that hides text?",
    "I marked it with <private>, and the rest was gone.",
    "explain `close it with </private>` and go on",
    "the closing </private> tag is missing in line 4",
    "<private-note> and <privately> and <privateer> are other elements",
    "private: the field is private, [[private]] is a wikilink... privately",
    "make the class private and its members <T> public",
    "a <b>private</b> matter, [x] private",
    "the difference between <private> and <public> elements",
    "rename the group [private] to [internal] in the docs",
    "repos are marked [private], [public] and [archived] there",
    "const x = values[private] and row[0][private] in the code",
    "<!-- private --> comments: how do they work?",
    "git config --get-regexp '^private' > out.txt",
    "does the pattern /<private>/i match it, or /<private>/gi, and who reads it",
    "the exporter shows <private> instead of the title",
    "Can you hide the <private> column in the table?",
    "the serializer emits <private> for every internal field",
    "the parser chokes on <private> inside a list",
    "an error comes when <private> appears twice",
    "escape <private> before rendering the HTML",
    "Should <private> be allowed inside lists?",
    "it strips <private> from the transcript, and none asked for that",
    "sort [private] channels after the public ones",
    "the label [private] overlaps the avatar",
    "the regex <private>(.*?)</private> is greedy, why?",
    "make the <private> field optional",
    "the template has {% if repo.private %}[private]{% endif %}, show a lock",
    "¿Qué hace la etiqueta <private> en el prompt?",
    "Was macht <private> im Prompt?",
    "Что делает тег <private> в тексте?",
    "<private>タグは何をしますか？",
    "sed 's/<private>//g; s/<\\/private>//g' file.txt fails, why?",
    'TAG = "<private>"; END = "</private>" are the constants',
    'text.replace("<private>", "") leaves the closing one',
    "keep what stands between <private> and </private> out of the index",
    "how does <private> interact with redaction of links?",
    "list the files in which <private> occurs, please",
    "explain how <private> differs from [private]",
    '<Private path="/admin" component={Admin} /> is an old component',
    "it shows <private> in the list. The rest works, and it (also) does in self-hosted ones",
    "[mail]\nport = 25\n\n[private]\npath = /srv\n\n[public]\npath = /pub",
    "the {private} placeholder and the method foo (private) are not «private» at all",
    "const {private} = await import('./settings/private'); look in (/private) for it",
    "le champ « private » de la classe, 「private」 und ‹private›",
    "the <приват> element of 𝐬𝐨𝐦𝐞𝐭𝐡𝐢𝐧𝐠 else, рrivate",
)

SECTIONS = (
    ("fix x <private>S", "fix x [PRIVATE]"),
    ("fix x\n<private>\nS\nS", "fix x\n[PRIVATE]"),
    ("<private> S is the code", ""),
    ("ok <private> tagging S", "ok [PRIVATE]"),
    ("ok <private> block the account of S", "ok <private> block the account of S"),
    ("ok\n<private> block the account of S", "ok\n[PRIVATE]"),
    ("`<private>S` is the code", "`[PRIVATE]"),
    ("it shows <private> for Anna that S", "it shows [PRIVATE]"),
    ("it shows <private> for 4711", "it shows [PRIVATE]"),
    ("it shows <private> in the house of my boss", "it shows [PRIVATE]"),
    ("book the flight <private> to berlin", "book the flight [PRIVATE]"),
    ("fix the layout <private> because he drinks", "fix the layout [PRIVATE]"),
    ("the plan is <private> under the tunnel", "the plan is [PRIVATE]"),
    ("the spare one. <private> in the drawer", "the spare one. [PRIVATE]"),
    ("emits <private> the merger", "emits [PRIVATE]"),
    ("ok, <private> with the lawyers", "ok, [PRIVATE]"),
    ("it`s <private>S and `more`", "it`s [PRIVATE]"),
    ('echo "<private>S" > x', 'echo "[PRIVATE]'),
    ('["<private>", "S"', '["[PRIVATE]'),
    ("S</private>.", ""),
    ("<private>, S", ""),
    ("cd /srv/<private>/S", "cd /srv/[PRIVATE]"),
    ("cd /<private>/gym S", "cd /[PRIVATE]"),
    ("cd /<private>/i/S", "cd /[PRIVATE]"),
    ("cd /<private>/S", "cd /[PRIVATE]"),
    ("look at /<private>/ S", "look at /[PRIVATE]"),
    ("ok <private> <b>S</b>", "ok [PRIVATE]"),
    ("ok <private>, <b>S", "ok [PRIVATE]"),
    ("ok <private> and S <b>", "ok [PRIVATE]"),
    ("ok [private] and [S", "ok [PRIVATE]"),
    ("my code: <private>, S", "my code: [PRIVATE]"),
    ("List<private>S", "List[PRIVATE]"),
    ("ok <Private>S", "ok [PRIVATE]"),
    ("x<Private>S</Private> ok", "x[PRIVATE] ok"),
    ("[private]: S", ""),
    ("ok [private]: S", "ok [PRIVATE]"),
    ("the <private> tag hides <private>S", "the <private> tag hides [PRIVATE]"),
    ("the <private>S</private> tag", "the [PRIVATE] tag"),
    ("<private> and S and </private>", ""),
    ("a <private>y</private> b", "a [PRIVATE] b"),
    ("cd s/<private>/S", "cd s/[PRIVATE]"),
    ('["<private>", "S", "</private>"]', '["[PRIVATE]"]'),
    ("{{ x }}<private>S{{ y }}", "{{ x }}[PRIVATE]"),
    ("was macht <private> S morgen?", "was macht [PRIVATE]"),
    ("warum will der <private> nicht mit S", "warum will der [PRIVATE]"),
    ("la etiqueta <private> S se va", "la etiqueta [PRIVATE]"),
    ("it shows <private> in there. S left", "it shows [PRIVATE]"),
    ("use correct-horse-battery <private> in the correct-horse-S", "use correct-horse-battery [PRIVATE]"),
    ("[mail]\nport = 25\n\n[private] S\nhost = S", "[mail]\nport = 25\n\n[PRIVATE]"),
    ("[private]\ndoor = S", ""),
    ("the customer is [private] Sona", "the customer is [PRIVATE]"),
    ("ask about [private] falkenberg", "ask about [PRIVATE]"),
    ("ask about [private] the falkenberg deal", "ask about [PRIVATE]"),
    ("use the [private] Sona", "use the [PRIVATE]"),
    ("what is <private> in box7S?", "what is [PRIVATE]"),
    ("I logged in with <private>, box7S", "I logged in with [PRIVATE]"),
    ("the mail is from <private>. Sona", "the mail is from [PRIVATE]"),
    ("was ist <private> in Sona?", "was ist [PRIVATE]"),
    ("{private} S", ""),
    ("(private) S\nS", ""),
    ("【private】S", ""),
    ("ok 【рrivate】Sona", "ok [PRIVATE]"),
    ("S {/private} ok", "[PRIVATE] ok"),
)

DISGUISES = (
    "＜ｐｒｉｖａｔｅ＞{}＜／ｐｒｉｖａｔｅ＞",
    "［private］{}［/private］",
    "<pri\u200bvate>{}</priv\u00adate>",
    "<\u2060private\ufeff>{}<\u200d/private>",
    r"\x3cprivate\x3e{}\x3c/private\x3e",
    r"\074private\076{}\074/private\076",
    r"\u{{3c}}private\u{{3e}}{}\u{{3c}}/private\u{{3e}}",
    r"\\x3Cprivate\\x3E{}\\x3C\/private\\x3E",
    r"\u005bprivate\u005d{}\u005b/private\u005d",
    r"\x5bprivate\x5d{}\x5b/private\x5d",
    "%3Cprivate%3E{}%3C/private%3E",
    "%3cprivate%3e{}%3c%2fprivate%3e",
    "%5Bprivate%5D{}%5B%2Fprivate%5D",
    "%253Cprivate%253E{}%253C%252Fprivate%253E",
    "%3C!--%20private%20--%3E{}%3C!--%20/private%20--%3E",
    r"\u003c!-- private --\u003e{}\u003c!-- \/private --\u003e",
    "<рrіvаtе>{}</рrivate>",
    "<РRІVАТЕ>{}</РRIVATE>",
    "<ρrιvατε>{}</ΡRΙVΑΤΕ>",
    "<𝐩𝐫𝐢𝐯𝐚𝐭𝐞>{}</𝓅𝓇𝒾𝓋𝒶𝓉ℯ>",
    "<𝙿𝚁𝙸𝚅𝙰𝚃𝙴>{}</ⓟⓡⓘⓥⓐⓣⓔ>",
    "<ᴘʀɪᴠᴀᴛᴇ>{}</🅿🆁🅸🆅🅰🆃🅴>",
    "<prívàte>{}</prıvate>",
    "<p\u0336r\u0336i\u0336v\u0336a\u0336t\u0336e\u0336>{}</\u202eprivate\u202c>",
    "<р\u200brivate>{}</pri\u034fvate>",
    "<private>{}<⁄private>",
    "⟨private⟩{}⟨/private⟩",
    "❮private❯{}❮∕private❯",
    "[PRIVATE]{}[／ＰＲＩＶＡＴＥ]",
    "【private】{}【/private】",
    "〔private〕{}〔/private〕",
    "«private»{}«/private»",
    "{{private}}{}{{/private}}",
    "(private){}(/private)",
    "「private」{}「／private」",
    "｛ｐｒｉｖａｔｅ｝{}｛/рrivate｝",
)


def test_the_mark_of_what_was_taken_out_is_no_tag_in_markdown_either() -> None:
    page = r"1. [Log in as \[PRIVATE\] and look](001-000-prompt.md)" + "\nand a second line"

    for origin in ("prompt", "assistant", "tool"):
        assert clean(page, origin=origin).value == page


@pytest.mark.parametrize("text", MENTIONS)
def test_a_mention_loses_nothing(text: str) -> None:
    for origin in ("prompt", "assistant", "tool"):
        cleaned = clean(f"{text}\nand a second line", origin=origin)
        assert (cleaned.value, cleaned.private) == (f"{text}\nand a second line", 0), origin


@pytest.mark.parametrize(("text", "stored"), SECTIONS)
def test_a_tag_that_means_to_hide_hides(text: str, stored: str) -> None:
    cleaned = clean(text)

    assert cleaned.value == stored
    assert clean(cleaned.value).value == stored
    assert clean(cleaned.value, origin="tool").value == stored


@pytest.mark.parametrize("form", DISGUISES)
@pytest.mark.parametrize("origin", ["prompt", "tool"])
def test_a_tag_counts_however_its_characters_are_written(form: str, origin: str) -> None:
    assert clean(f"a {form.format('S S')} b", origin=origin).value == "a [PRIVATE] b"
    if form[0] not in "[［【〔«{(「｛" and "5b" not in form.lower():
        opening = form.format("|").partition("|")[0]
        assert clean(f"a {opening}S\nS", origin=origin).value == "a [PRIVATE]"


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    few(
        ["</private>", "`<private>", "<private> tag ", "[private], ", "x<Private>", "%3Cprivate%3E"],
        always=["</private>", "`<private>"],
    ),
)
def test_a_text_that_speaks_of_tags_without_end_is_hidden_where_nobody_would_read_on(unit: str) -> None:
    for origin in ("prompt", "tool"):
        once = clean(unit * 20_000, origin=origin).value
        assert len(once) <= len(unit) * 20_000
        assert clean(once, origin=origin).value == once


def test_a_tools_list_of_brackets_is_no_section_however_long_it_is() -> None:
    text = "[private] acme/notes-app\n" * 3000

    assert clean(text, origin="tool").value == text


def test_characters_that_nobody_sees_stay_where_no_tag_needs_them_gone() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"

    assert clean(f"{family} <private>S</private> private").value == f"{family} [PRIVATE] private"
    assert clean(f"{family} a\u200bb").value == f"{family} a\u200bb"
    assert clean(f"{family} <p\u200brivate>S</private> a\u200bb").value == f"{family} [PRIVATE] a\u200bb"


# -- words of one's own


def test_words_of_ones_own_make_tags_in_all_three_notations() -> None:
    rules = Rules(tags=("ephemeral", "<Scratch>"))

    for word in ("private", "ephemeral", "scratch", "SCRATCH"):
        for form in (f"<{word}>S</{word}>", f"[{word}]S[/{word}]", f"<!-- {word} -->S<!-- /{word} -->"):
            assert clean(f"a {form} b", rules=rules).value == "a [PRIVATE] b", form
    assert clean("a <ephemeral>S <scratch>S</scratch> S</ephemeral> b", rules=rules).value == "a [PRIVATE] b"
    assert clean("a <ephemeral>S</scratch> b", rules=rules).value == "a [PRIVATE]"
    assert clean("a <ephemeral>S</ephemeral> b").value == "a <ephemeral>S</ephemeral> b"
    assert clean({"x": ["<scratch>", "S", "</scratch>"]}, rules=rules).value == {"x": ["[PRIVATE]", "", ""]}


def test_private_is_always_a_tag_and_what_no_tag_can_hold_is_none() -> None:
    assert Rules(tags=("a b", "x", "", "é", "y" * 41, "ok")).tags == ("private", "ok")
    assert len(Rules(tags=tuple(f"word{number}" for number in range(99))).tags) == 20


def test_a_marker_that_would_be_a_tag_itself_is_not_taken() -> None:
    assert Rules(marker="[secret]").marker == "[secret]"
    assert Rules(marker="[secret]", tags=("secret",)).marker == "[PRIVATE]"


@given(
    st.lists(st.sampled_from(["<private>", "`", '"', " tag", " x", "\n", ",", "?", "S", "[private]", ":", "(", "Vec"]))
)
def test_what_is_left_is_never_changed_by_looking_again(parts: list[str]) -> None:
    for origin in ("prompt", "tool"):
        once = clean("".join(parts), origin=origin).value
        assert clean(once, origin=origin).value == once
        assert clean(once, origin="tool").value == once
        again = clean(f"---\ntitle: x\n---\n{once}\nmore", origin="tool")
        assert origin == "tool" or not again.value.startswith("---") or again.value.endswith(f"{once}\nmore")
