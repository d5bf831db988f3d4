"""Whether a person has edited a captured note is told by its digest, whatever its line ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mdmem import privacy
from mdmem.vault import note

TEXTS = st.text(st.sampled_from("ab #-\n\r\t\x0b\x85\u2028\ufeffé\x00"), min_size=1, max_size=40)


def made(text: str) -> bytes:
    request = note.NoteRequest(
        "prompt", text, lambda body: note.Draft(title=body, slug=body, meta={}, body=body), ("1",), "2026-09-14", {}
    )
    built, _ = note.new(request, privacy.Rules())
    assert built is not None
    return note.render(built).encode()


@given(TEXTS)
def test_no_captured_text_looks_edited_with_any_line_ends(text: str) -> None:
    data = made(text)
    assert not note.is_edited(note.parse(data))
    assert not note.is_edited(note.parse(data.replace(b"\n", b"\r\n")))


@given(TEXTS)
def test_a_word_more_is_an_edit_with_any_line_ends(text: str) -> None:
    data = made(text) + b"more\n"
    assert note.is_edited(note.parse(data))
    assert note.is_edited(note.parse(data.replace(b"\n", b"\r\n")))


def test_a_prompt_that_was_stored_and_counted_with_crlf_is_edited_only_by_a_change() -> None:
    head = made("Sort the dates.").decode().partition("\n\n")[0].rpartition("digest: ")[0]
    title, body = "Sort the dates.", "Sort the dates.\r\nThen test them.\n"
    data = f'{head}digest: "{note.fingerprint(title, body)}"\n---\n\n{body}'.encode()

    assert not note.is_edited(note.parse(data))
    assert note.is_edited(note.parse(data + b"more\n"))
