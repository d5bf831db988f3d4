"""A private tag is one however its characters are written: wrapped, escaped, colored, spelled, with a namespace."""

from __future__ import annotations

import base64
import json
import quopri
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest

from mdmem.privacy import Rules, clean, tags

VALUE = "walrus4711"
Disguise = Callable[[str], str]


def with_signs(less: str, greater: str) -> Disguise:
    return lambda tag: tag.replace("<", less).replace(">", greater)


def each(form: str) -> Disguise:
    return lambda tag: "".join([form.format(ord(sign)) for sign in tag])


def wrapped(between: str) -> Disguise:
    return lambda tag: tag.replace("private", f"pri{between}vate")


def around(before: str, after: str) -> Disguise:
    return lambda tag: tag.replace("private", f"{before}private{after}")


def quoted(times: int) -> Disguise:
    def disguise(tag: str) -> str:
        for _ in range(times):
            tag = urllib.parse.quote(tag, safe="")
        return tag

    return disguise


def as_json(times: int) -> Disguise:
    def disguise(tag: str) -> str:
        for _ in range(times):
            tag = json.dumps(tag)[1:-1]
        return tag

    return disguise


def beyond_ascii(form: str) -> Disguise:
    return lambda tag: "".join([sign if sign.isascii() else form.format(ord(sign)) for sign in tag])


def in_bytes(form: str) -> Disguise:
    return lambda tag: "".join([sign if sign.isascii() else "".join(map(form.format, sign.encode())) for sign in tag])


BEYOND_ASCII = (
    "＜private＞{}＜/private＞", "【private】{}【/private】", "‹private›{}‹/private›", "«private»{}«/private»",
    "＜ｐｒｉvate＞{}＜／ｐｒｉvate＞", "<рrivate>{}</рrivate>", "<privàte>{}</privàte>", "<p\u200brivate>{}</private>",
)  # fmt: skip
ENCODINGS: dict[str, Disguise] = {
    **{f"JSON {times} times": as_json(times) for times in (1, 2, 3)},
    **{form: beyond_ascii(form) for form in ("&#{};", "&#x{:X};", "&amp;#{};", "&amp;amp;#{};", "&#38;#{};")},
    **{form: beyond_ascii(form) for form in ("\\u{{{:x}}}", "%u{:04X}", "\\U{:08x}", "%5Cu{:04x}")},
    **{f"{form} for each byte": in_bytes(form) for form in ("\\x{:02x}", "\\{:o}", "\\\\x{:02x}", "\\\\{:o}")},
    **{f"{form} for each byte": in_bytes(form) for form in ("%{:02X}", "%25{:02X}", "%2525{:02x}", "={:02X}")},
}

WRAPS = (
    "\n", "\r\n", "\n    ", "\n> ", "\n# ", "\n+", "\n- ", "\n  12→", "\n12:", "\n  12\t", "\n// ", "\n * ", "-\n",
    "\\\n", "\\n", "=\n", " |\n| ", " │\n│ ", "↵\n",
    '" "', '"\n  "', '" + "', "\u200b", "\u00ad", "\ufeff", "\v", "\x01", "\0", "x\b",
)  # fmt: skip

SIGNS = (
    ("=3C", "=3E"), ("=3c", "=3e"), ("&#60;", "&#62;"), ("&#060;", "&#062;"), ("&#60", "&#62"), ("&#x3c;", "&#x3e;"),
    ("&#x3C;", "&#x3E;"), ("&#x003c;", "&#x003e;"), ("&amp;#60;", "&amp;#62;"), ("&amp;amp;#60;", "&amp;amp;#62;"),
    ("\\\\u003c", "\\\\u003e"), ("\\\\\\\\u003C", "\\\\\\\\u003E"), ("\\u{003c}", "\\u{003e}"), ("\\x3c", "\\x3e"),
    ("\\U0000003c", "\\U0000003e"), ("\\74", "\\76"), ("\\3c ", "\\3e "), ("\\<", "\\>"), ("＜", "＞"), ("<", "!>"),
    ("&#60;!-- ", " --&#62;"), ("<!--\n", "\n-->"), ("&#91;", "&#93;"), ("=5B", "=5D"),
    ("\x1b[1m<\x1b[0m", "\x1b[1m>\x1b[0m"), ("%u003C", "%u003E"), ("&#38;#60;", "&#38;#62;"),
    ("%5Cu003c", "%5Cu003e"), ("\\00003c", "\\00003e"),
)  # fmt: skip

CODES = ("={:02X}", "&#{};", "&#x{:X};", "\\u{:04x}", "\\\\u{:04x}", "\\x{:02x}", "%{:02x}")

DISGUISES: dict[str, Disguise] = {
    **{f"wrapped {between!r}": wrapped(between) for between in WRAPS},
    **{f"signs {less!r}": with_signs(less, greater) for less, greater in SIGNS},
    **{f"each {form}": each(form) for form in CODES},
    **{f"quoted {times} times": quoted(times) for times in (1, 2, 3, 4)},
    "with a namespace": around("x:", ""),
    "with a long namespace": around("my-ns.1:", ""),
    "with thin blanks": around("\u2009", "\u2009"),
    "with wide blanks": around("\u3000", "\u3000"),
    "in color": around("\x1b[31m", "\x1b[0m"),
    "in color as JSON": around("\\u001b[31m", "\\u001b[0m"),
    "in color as a shell writes it": around("\\033[31m", "\\e[0m"),
    "in color as cat -v shows it": around("^[[31m", "^[[0m"),
    "as a link of a terminal": around("\x1b]8;;http://x\x1b\\", "\x1b]8;;\x1b\\"),
    "as a link that ends with a bell": around("\x1b]8;;http://x\a", "\x1b]8;;\a"),
    "partly in color, as grep marks it": lambda tag: tag.replace("private", "\x1b[01;31m\x1b[Kpri\x1b[m\x1b[Kvate"),
    "a letter a line": "\n".join,
    "with blanks": " ".join,
    "printed over": lambda tag: "".join([f"{sign}\b{sign}" for sign in tag]),
    "underlined": lambda tag: "".join([f"_\b{sign}" for sign in tag]),
}  # fmt: skip


@pytest.mark.parametrize("origin", ["prompt", "tool"])
@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES.keys())
def test_a_disguised_tag_hides_as_a_plain_one_does(disguise: Disguise, origin: str) -> None:
    opens, closes = disguise("<private>"), disguise("</private>")
    texts: list[Any] = [
        f"one {opens}{VALUE}{closes} two",
        f"one\n{opens}\n{VALUE}\n{closes}\ntwo",
        f"{VALUE} {closes} two",
    ]
    if "[" not in opens.replace("\x1b[", "").replace("^[[", "") and "91" not in opens and "5B" not in opens:
        texts.append(f"one {opens} {VALUE} x")  # a lone bracket of a tool's output heads a section of settings
    texts += [[f"one {opens}", VALUE, f"{closes} two"], {"stdout": texts[0]}]

    for text in texts:
        cleaned = clean(text, origin=origin)
        assert VALUE not in str(cleaned.value)
        assert "[PRIVATE]" in str(cleaned.value)
        assert "two" in str(cleaned.value) or "two" not in str(text)


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS.keys())
def test_tags_with_escaped_characters_beyond_ascii_hide_their_text(encode: Disguise) -> None:
    for section in BEYOND_ASCII:
        for origin in ("prompt", "tool"):
            text = encode(f"one {section.format(VALUE)} two")

            assert clean(text, origin=origin).value == "one [PRIVATE] two"
            assert clean({"stdout": text}, origin=origin).value == {"stdout": "one [PRIVATE] two"}


@pytest.mark.parametrize(
    "text",
    ["25c2%25", "%a 25c2%25ab", "1\\25c2%25", "\\\\3", "%2525c2%25", "%e3%2525c2%25", "&amp;#", "\\u", "%u", "=c2="],
)
def test_what_only_begins_like_an_escape_stays(text: str) -> None:
    assert len(tags.with_decoded_signs(text)) == len(text)
    assert clean(f"{text} one").value == f"{text} one"
    assert clean(f"one <private>{VALUE}</private> {text} two").value == f"one [PRIVATE] {text} two"


@pytest.mark.parametrize("section", BEYOND_ASCII)
@pytest.mark.parametrize("subject", ["Subject: =?UTF-8?Q?a?=", "Subject: é"])
def test_tags_in_a_mail_hide_their_text(section: str, subject: str) -> None:
    mail = quopri.encodestring(f"one {section.format(VALUE)} two".encode()).decode()

    assert clean(f"{subject}\n{mail}", origin="tool").value == f"{subject}\none [PRIVATE] two"


@pytest.mark.parametrize("line_break", ["=\n", "=\r\n"])
@pytest.mark.parametrize(
    "tags",
    [
        ("=E3=80{}=90private=E3=80=91", "=E3=80=90/private=E3{}=80=91"),
        ("=E3=80=90{}private{}=E3=80=91", "=E3=80=90/private{}=E3=80=91"),
        ("{}=EF=BC=9Cprivate{}=EF=BC=9E", "=EF=BC=9C/private=EF=BC{}=9E"),
        ("<priv{}=C3=A0te>", "</priv=C3{}=A0te>"),
    ],
)
def test_tags_in_a_mail_that_a_line_break_divides_hide_their_text(tags: tuple[str, str], line_break: str) -> None:
    opening, closing = (tag.replace("{}", line_break) for tag in tags)

    assert clean(f"one {opening}{VALUE}{closing} two", origin="tool").value == "one [PRIVATE] two"


def test_own_words_are_recognized_in_disguise() -> None:
    rules = Rules(tags=("private", "eyes-only"))

    for text in (f"a <eyes-\nonly>{VALUE}</eyes-\nonly> b", f"a &#60;eyes-only&#62;{VALUE}&#60;/eyes-only&#62; b"):
        assert VALUE not in clean(text, rules=rules).value


@pytest.mark.parametrize(
    "text",
    [
        "&lt;private&gt;x&lt;/private&gt;", "a <p>rivate</p> b", "[p]rivate or [s]hared?", "x=3cprivate y",
        "pri\nvate words", "std::private::x", "the C:private path", "url(%3Cprivatelink%3E)",
        "<x:privateer>v</x:privateer>", "p r i v a t e",
    ],
)  # fmt: skip
def test_what_only_resembles_a_tag_stays(text: str) -> None:
    for origin in ("prompt", "tool"):
        assert clean(text, origin=origin).value == text


@pytest.mark.parametrize("signs", ["«»", "‹›", "「」", "＜＞", "【】"])
@pytest.mark.parametrize("wrap", ["\n", "\n    ", "=\n", '" + "'])
def test_words_between_other_signs_are_tags_also_where_they_are_wrapped(signs: str, wrap: str) -> None:
    opens, closes = (f"{signs[0]}{slash}privat{wrap}e{signs[1]}" for slash in ("", "/"))
    for origin in ("prompt", "tool"):
        assert clean(f"one {opens}{VALUE}{closes} two", origin=origin).value == "one [PRIVATE] two"


def test_tags_in_an_address_of_latin_1_hide_their_text() -> None:
    address = urllib.parse.quote(f"«private»{VALUE}«/private»", encoding="latin-1")
    assert clean(f"GET /?q={address} 200", origin="tool").value == "GET /?q=[PRIVATE] 200"


def rows(data: bytes) -> list[bytes]:
    return [data[at : at + 16] for at in range(0, len(data), 16)]


def dump(data: bytes) -> str:
    return "".join([f"{16 * at:08x}: {row.hex(' ', 2):39}  {row!a}\n" for at, row in enumerate(rows(data))])


def numbers(data: bytes) -> str:
    """Show bytes as `hexdump` and `od -x` do."""
    words = [[row[at : at + 2][::-1].hex() for at in range(0, len(row), 2)] for row in rows(data)]
    return "".join([f"{16 * at:07x} {' '.join(row)}\n" for at, row in enumerate(words)])


BINARY: dict[str, Callable[[bytes], str]] = {
    "base64": lambda data: base64.b64encode(data).decode(),
    "base64 for URLs": lambda data: base64.urlsafe_b64encode(data).decode().rstrip("="),
    "base64 in lines": lambda data: base64.encodebytes(data).decode(),
    "base64 in lines as JSON": lambda data: json.dumps({"content": base64.encodebytes(data).decode()}),
    "hexadecimal": bytes.hex,
    "bytes": lambda data: data.hex(" "),
    "bytes with colons": lambda data: data.hex(":").upper(),
    "bytes in C": lambda data: ",\n  ".join([", ".join([f"{byte:#04x}" for byte in row]) for row in rows(data)]),
    "a dump": dump,
    "a dump of numbers": numbers,
}


@pytest.mark.parametrize("encode", BINARY.values(), ids=BINARY.keys())
@pytest.mark.parametrize("shift", ["", "x", "xx", "a line before it\n"])
def test_what_is_private_in_base64_and_hexadecimal_is_hidden_there_and_elsewhere(
    encode: Callable[[bytes], str], shift: str
) -> None:
    for section in (f"<private>{VALUE}</private>", f"[private]{VALUE}[/private]", f"<private>{VALUE}"):
        text = f"one\n{encode(f'{shift} {section} and so on '.encode() * 3)}\n-- two"

        cleaned = clean({"stdout": text, "stderr": f"no {VALUE} here"}, origin="tool").value

        assert cleaned["stdout"].startswith("one\n")
        assert "[PRIVATE]" in cleaned["stdout"]
        assert len(cleaned["stdout"]) < 60
        assert cleaned["stdout"].endswith("two")
        assert cleaned["stderr"] == "no [PRIVATE] here"


IN_LINES = {form: encode for form, encode in BINARY.items() if "\n" in encode(bytes(100))}


@pytest.mark.parametrize("encode", IN_LINES.values(), ids=IN_LINES.keys())
def test_a_tag_is_one_wherever_a_line_of_encoded_text_ends(encode: Callable[[bytes], str]) -> None:
    for before in range(57):  # bytes of a line of base64
        text = encode(f"{'x' * before}<private>{VALUE} and so on until the end ".encode())
        cleaned = clean(text, origin="tool").value
        assert cleaned == "" or cleaned.rstrip().endswith("[PRIVATE]")


def test_a_section_in_base64_is_counted_once_and_is_closed_although_parts_of_it_are_decoded_too() -> None:
    text = base64.b64encode(b"<private>hunter2 is here</private>").decode()

    cleaned = clean(f"look at {text} in here")

    assert "+" in text
    assert cleaned.value == "look at [PRIVATE] in here"
    assert (cleaned.private, cleaned.unclosed, cleaned.stray) == (1, False, False)
    assert (cleaned.hidden.sections, cleaned.hidden.chars) == (1, len(text))


def test_a_mention_of_a_tag_in_base64_hides_nothing() -> None:
    text = base64.b64encode(b"What does the `<private>` tag do? It hides text.").decode()
    assert clean(text, origin="tool").value == text
