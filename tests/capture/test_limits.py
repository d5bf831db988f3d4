"""How much of a text is kept, and how it is made readable: cuts, terminal output, base64, binary."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.capture.tools import limits, terminal

LINES = 100
CHARS = 10_000


def tidy(text: str, *, screen: bool = True) -> str:
    return limits.tidy(text, CHARS, LINES, screen=screen)


def numbered(count: int) -> str:
    return "".join([f"line {n}\n" for n in range(1, count + 1)])


# -- cuts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["\n", ""])
def test_a_hundred_lines_are_kept_as_they_are(ending: str) -> None:
    text = numbered(100).removesuffix("\n") + ending
    assert limits.cut(text, CHARS, LINES) == text


def test_of_more_lines_the_first_and_the_last_fifty_are_kept_and_the_rest_is_counted() -> None:
    text = numbered(1304)
    gone = "".join(text.splitlines(keepends=True)[50:-50])
    kept = limits.cut(text, CHARS * 100, LINES).splitlines()
    assert kept[:50] == text.splitlines()[:50]
    assert kept[51:] == text.splitlines()[-50:]
    assert kept[50] == f"… 1,204 lines ({len(gone):,} characters) left out …"


def test_one_line_too_many_is_said_in_the_singular() -> None:
    assert limits.cut(numbered(101), CHARS, LINES).splitlines()[50] == "… 1 line (8 characters) left out …"


def test_ten_thousand_characters_are_kept_as_they_are() -> None:
    assert limits.cut("x" * CHARS, CHARS, LINES) == "x" * CHARS


def test_of_more_characters_the_first_and_the_last_five_thousand_are_kept() -> None:
    cut = limits.cut("a" * 5_000 + "b" + "c" * 5_000, CHARS, LINES)
    assert cut == "a" * 5_000 + "\n… 1 character left out …\n" + "c" * 5_000


def test_lines_that_were_only_broken_off_are_not_counted_as_left_out() -> None:
    text = "x" * 6_000 + "\nmiddle\n" + "y" * 6_000
    assert "… 1 line (2,008 characters) left out …" in limits.cut(text, CHARS, LINES)


def test_without_ends_the_start_alone_is_kept_in_full() -> None:
    assert limits.cut("x" * 600, 500, LINES, ends=False) == "x" * 500 + "\n… 100 characters left out …\n"


@pytest.mark.parametrize(("chars", "lines"), [(0, 0), (0, 9), (9, 0), (1, 1), (3, 3)])
def test_the_smallest_limits_hold(chars: int, lines: int) -> None:
    head, _, tail = limits.cut("ab\ncd\nef\ngh", chars, lines).partition("…")
    assert len(head.rstrip("\n")) + len(tail.rpartition("…")[2].strip("\n")) <= chars


@given(st.text("ab\n", max_size=80), st.integers(0, 30), st.integers(0, 12), st.booleans())
def test_what_a_cut_keeps_and_what_it_says_is_gone_add_up(text: str, chars: int, lines: int, ends: bool) -> None:
    cut = limits.cut(text, chars, lines, ends=ends)
    if "…" not in cut:
        assert cut == text
        assert len(text) <= chars
        assert len(text.splitlines()) <= lines
        return
    head, mark, tail = cut.partition("…")[0], cut.split("…")[1], cut.rpartition(" …\n")[2]
    said = [int(word.replace(",", "")) for word in mark.replace("(", "").split() if word[0].isdigit()]
    end = len(text) - len(tail)
    start = text[: end - said[-1]]
    assert head in (start, f"{start}\n")
    assert text.endswith(tail)
    assert len(start) + len(tail) <= chars
    assert len(start.splitlines()) + len(tail.splitlines()) <= lines
    places, place = [], 0
    for line in text.splitlines(keepends=True):
        places.append((place, place + len(line)))
        place += len(line)
    gone = len([1 for begin, stop in places if begin >= len(start) and stop <= end])
    assert said[:-1] == ([gone] if gone else [])


# -- terminals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[0m\x1b[01;34msrc\x1b[0m\r\nREADME\r\n", "src\nREADME\n"),
        ("\x1b[38;2;255;0;0mred\x1b[m", "red"),
        ("\x1b[2J\x1b[H\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        ("\x9b31mred\x9b0m", "red"),
        ("a\x1b]0;a title\x07b", "ab"),
        ("a\x1b]0;a title\x1b\\b", "ab"),
        ("\x1b]8;;https://example.com\x1b\\a link\x1b]8;;\x1b\\.", "a link."),
        ("a\x1b]never ends\nnext line", "a\nnext line"),
        ("a\x1bPq#0;2;0;0;0~~@@\x1b\\b", "ab"),
        ("\x1b(Bplain\x1b7\x1b8\x1b=", "plain"),
        ("a\x1b", "a"),
        ("a\x1b[", "a"),
        ("a\x1b[12;", "a"),
        ("bell\x07 back\x08space nul\x00 del\x7f", "bell backspace nul del"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("\r10%\r100%", "100%"),
        ("10%\r100%\r", "100%"),
        ("one\r\r\ntwo\r\n", "one\ntwo\n"),
        ("keep\tthe\ttabs", "keep\tthe\ttabs"),
        ("", ""),
    ],
)
def test_terminal_output_is_kept_as_it_was_left_on_the_screen(raw: str, shown: str) -> None:
    assert tidy(raw) == shown


def test_in_a_file_a_carriage_return_ends_a_line() -> None:
    assert tidy("an old\rfile\r\nwith both\n", screen=False) == "an old\nfile\nwith both\n"


def test_half_characters_are_marked_and_whole_ones_kept() -> None:
    assert tidy("half \ud83d pair \udfff \U0001f600") == "half \ufffd pair \ufffd \U0001f600"


@given(st.text(st.sampled_from("ab\n\r\x1b[]P\\m0;\x07\x9b\x00"), max_size=60))
def test_no_control_character_is_left_of_any_output(raw: str) -> None:
    shown = tidy(raw)
    assert not [c for c in shown if c != "\n" and not c.isprintable()]


@given(st.text(st.sampled_from("ab\n\r"), max_size=40))
def test_of_a_line_drawn_over_only_the_last_state_stays(raw: str) -> None:
    expected = []
    for line in raw.split("\n"):
        states = [state for state in line.split("\r") if state]
        expected.append(states[-1] if states else "")
    assert terminal.last_drawn(raw) == "\n".join(expected)


def test_a_megabyte_of_colours_is_cut_as_its_plain_text_would_be() -> None:
    plain = numbered(40_000)
    coloured = plain.replace("line", "\x1b[01;32mline\x1b[0m")
    kept, wanted = tidy(coloured).splitlines(), tidy(plain).splitlines()
    assert kept[:50] + kept[51:] == wanted[:50] + wanted[51:]
    assert kept[50].startswith("… 39,900 lines (")


def test_a_megabyte_of_escape_codes_leaves_the_text_between_them() -> None:
    assert tidy("start" + "\x1b[0m" * 250_000 + "end") == "startend"


# -- base64 and binary -----------------------------------------------------------------------------

NOISE = random.Random(7).randbytes(60_000)
ONE_LINE = base64.b64encode(NOISE).decode()
WRAPPED = base64.encodebytes(NOISE).decode()


@pytest.mark.parametrize("text", [ONE_LINE, WRAPPED, ONE_LINE + "\n"], ids=["one line", "wrapped", "line end"])
def test_a_file_in_base64_leaves_only_its_size(text: str) -> None:
    assert tidy(text) == f"[base64, {len(text):,} characters left out]"


def test_base64_inside_a_text_leaves_the_text_around_it() -> None:
    data = base64.b64encode(NOISE[:900]).decode()
    assert tidy(f'<img src="data:image/png;base64,{data}"> and so on') == (
        '<img src="data:image/png;base64,[base64, 1,200 characters left out]"> and so on'
    )


def test_wrapped_base64_inside_a_text_leaves_the_text_around_it() -> None:
    lines = base64.encodebytes(NOISE[:1000]).decode()
    kept = tidy(f"-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n")
    size = len(lines.replace("\n", ""))
    assert kept == f"-----BEGIN CERTIFICATE-----\n[base64, {size:,} characters left out]\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize(
    "text",
    [
        "A" * 3_000,
        "deadbeef" * 100,
        "".join([f"{n:064x}\n" for n in range(40)]),
        "".join([f"src/main/java/com/Example/Deep/Module{n}/Impl{n * 7}/{'Sub' * (n % 9)}/Thing\n" for n in range(30)]),
        "README\nMakefile\nLICENSE2\nsrc\n" * 20,
        "thisIsAVeryLongCamelCaseIdentifier1" * 5,
    ],
    ids=["one letter", "hexadecimal", "hashes", "folders", "names", "identifier"],
)
def test_what_only_resembles_base64_is_kept(text: str) -> None:
    assert "base64" not in tidy(text)


def test_binary_output_leaves_only_its_size() -> None:
    text = NOISE[:5_000].decode("utf-8", "replace")
    assert tidy(text) == f"[binary, {len(text):,} characters left out]"


def test_a_few_stray_bytes_do_not_make_a_text_binary() -> None:
    assert (
        tidy("a text with a\x00 few \ufffd odd\x01 ones, mostly words")
        == "a text with a few \ufffd odd ones, mostly words"
    )


@given(st.text(max_size=400))
def test_tidying_never_raises_and_always_leaves_what_utf8_can_hold(text: str) -> None:
    tidy(text).encode("utf-8")
