"""Terminal: turns terminal output into the text that remained on the screen."""

from __future__ import annotations

_PARAMETERS = "0123456789:;<=>?"
_INTERMEDIATES = " !\"#$%&'()*+,-./"


def last_drawn(text: str) -> str:
    """Keep what was drawn last on each line: a progress bar's final state, not its history.

    A carriage return goes back to the start of the line; one at the end of a line overwrites nothing.
    """
    *pieces, last = [piece for piece in text.split("\r") if piece] or [""]
    following = [*pieces[1:], last]
    drawn = [
        piece if next_piece[0] == "\n" else piece[: piece.rfind("\n") + 1]
        for piece, next_piece in zip(pieces, following, strict=bool(pieces))
    ]
    return "".join([*drawn, last])


def without_escapes(text: str) -> str:
    """Return a text without escape sequences (ECMA-48): colors, cursor moves, titles, links and pictures.

    A sequence that never ends takes no more than its line, a picture no more than up to the next sequence. Linear time.
    """
    start, *pieces = text.replace("\x9b", "\x1b[").replace("\x9d", "\x1b]").split("\x1b")
    return start + "".join([_after_sequence(piece) for piece in pieces])


def _after_sequence(piece: str) -> str:
    """Return the text after an ESC, up to the next one, without the sequence that it begins."""
    first = piece[:1]
    if first == "[":  # CSI: parameters, intermediates, one final character
        return _after_final(piece[1:].lstrip(_PARAMETERS).lstrip(_INTERMEDIATES), "@")
    if first == "]":  # OSC: up to BEL, or up to the ESC \ that begins the next piece
        line, newline, following = piece.partition("\n")
        return line.partition("\a")[2] + newline + following
    if first in ("P", "X", "^", "_"):  # DCS, SOS, PM, APC: up to the ESC \ that begins the next piece
        return ""
    return _after_final(piece.lstrip(_INTERMEDIATES), "0")


def _after_final(piece: str, lowest: str) -> str:
    return piece[1:] if lowest <= piece[:1] <= "~" else piece
