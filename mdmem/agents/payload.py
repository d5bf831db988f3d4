"""Payload: reads an agent's payload from stdin and encodes the reply, without importing `json`."""

from __future__ import annotations

import os

from mdmem import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
"""Maximum size of a payload; a longer one is logged, and the user is told."""


class NoPayloadError(ValueError):
    """The payload is not a JSON object: cut off, binary, or not meant for a hook."""


class PayloadTooLongError(ValueError):
    """The payload is longer than `MAX_PAYLOAD_BYTES`."""


def read_stdin(seconds: float | None = None) -> bytes:
    """Read all of stdin, but keep at most one byte more than `MAX_PAYLOAD_BYTES`; b"" if it is closed.

    seconds: time limit, for agents that never close stdin; what has arrived by then is the payload.

    A longer payload is still read to its end, because an agent may take writing to a closed pipe for a failure. If
    reading fails, what came before is the payload.

    Raises:
        Exception: reading fails before anything has come.
    """
    pieces: list[bytes] = []
    try:
        if seconds is None:
            _read_into(pieces)
        else:
            system.within(seconds, lambda: _read_into(pieces))
    except Exception as error:
        if not pieces and not isinstance(error, TimeoutError):
            raise  # and else nothing would be left for another attempt
    return b"".join(pieces)


def _read_into(pieces: list[bytes]) -> None:
    room = MAX_PAYLOAD_BYTES + 1
    while True:
        try:
            piece = os.read(0, 1 << 20)
        except BlockingIOError:  # never raised for a pipe on Windows
            os.set_blocking(0, True)
            continue
        except TimeoutError:
            raise
        except OSError as error:
            if pieces or system.is_error(error, "EBADF"):
                return
            raise
        if not piece:
            return
        pieces.append(piece[:room])
        room -= len(pieces[-1])


def decode(data: bytes) -> dict[str, Any]:
    """Decode a payload: a JSON object in UTF-8, or UTF-16 with a byte order mark; invalid bytes become U+FFFD.

    Raises:
        NoPayloadError: when it is not a JSON object. The message never quotes it.
        PayloadTooLongError: when it is longer than `MAX_PAYLOAD_BYTES`.
    """
    if len(data) > MAX_PAYLOAD_BYTES:
        raise PayloadTooLongError("payload too long")
    code = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    # Not "utf-8-sig", whose codec would be one more module to import.
    text = data.decode(code, "replace").removeprefix("\ufeff").lstrip()
    try:
        value = scan(text)
    except (StopIteration, RecursionError, ValueError, SystemError):
        value = None  # SystemError: raised by the scanner if it would need the module `json` for its error
    if not isinstance(value, dict):
        raise NoPayloadError("payload is not a JSON object")
    return value


def scan(text: str) -> Any:
    """Decode the JSON value that `text` begins with.

    Raises StopIteration, RecursionError, ValueError or SystemError when it does not begin with one.
    """
    return _scan(text)[0]


def load(text: str) -> Any:
    """Decode a text that is one JSON value.

    Raises ValueError or RecursionError when it is not.
    """
    text = text.strip(" \t\r\n")
    try:
        value, end = _scan(text)
    except (StopIteration, SystemError):
        end = -1
    if end != len(text):
        raise ValueError("not one JSON value")
    return value


def _scan(text: str) -> tuple[Any, int]:
    """Decode JSON with the C scanner: importing `json` costs as much as starting the interpreter."""
    try:
        from _json import make_scanner

        scan_once = make_scanner(_Context)  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):  # no scanner in C, or a later Python's that expects more
        from json import JSONDecoder

        own = _Context
        decoder = JSONDecoder(strict=own.strict, parse_int=own.parse_int, parse_constant=own.parse_constant)
        return decoder.raw_decode(text)
    return scan_once(text, 0)


def encode(value: Any) -> str:
    """Encode an object, list, string, number, boolean or None as `json.dumps` does."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{encode(str(key))}: {encode(item)}" for key, item in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join([encode(item) for item in value]) + "]"
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _quoted(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        import json

        return json.dumps(text)
    return encode_basestring_ascii(text)


class _Context:
    """The attributes that the C scanner expects of a decoder."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    array_hook = None  # since Python 3.15
    parse_float = float
    parse_int = staticmethod(lambda digits: int(digits) if len(digits) < 400 else 0)
    parse_constant = staticmethod(lambda _: None)
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own cache of keys
