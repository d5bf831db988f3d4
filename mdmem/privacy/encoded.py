"""Decodes base64, base85, base32 and hexadecimal in a text, also as separate bytes, in dumps and in lists."""

from __future__ import annotations

from mdmem.privacy.views import TextView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST_RUN = 6  # characters of base64 that may encode a word
_LONG_RUN = 40  # characters: a shorter run of small letters and signs is words
_SHORTEST_PLAIN = 12  # characters: fewer small letters are a word, and fewer hexadecimal digits are decoded whole
_SHORTEST_LINE = 40  # characters of each line of base64 or hexadecimal that is wrapped
_SHORTEST_BINARY = 16  # characters of base64 whose parts are searched for text if the whole is not text
_SHORTEST_WIDE = 8  # characters of a word that may encode UTF-16
_LONGEST_BASE32 = 2_000  # characters of base32 to decode: longer data is usually in base64
_SHORTEST_STRETCH = 4  # characters of text between bytes that are not text
_IN_RUNS = b"+/-_="


def _blank_but(signs: bytes) -> bytes:
    """Return a translation table that blanks every byte except letters, digits and `signs`."""
    table = bytearray(b" " * 256)
    for code in b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + signs:
        table[code] = code
    return bytes(table)


_RUNS = _blank_but(_IN_RUNS)
_PARTS = _blank_but(b"")
_BYTES = _blank_but(b"\n")
_HIGH_BYTES = bytes(range(128, 256))
_BASE64 = bytes.maketrans(b"-_", b"+/")
_TEXT_BYTES = bytes(code if code >= 32 and code != 127 else 0 for code in range(256))
_IN_BASE32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz234567"
_BASE32 = bytes.maketrans(_IN_BASE32, b"0123456789abcdefghijklmnop" * 2 + b"qrstuv")
_HEX = b"0123456789abcdefABCDEF"
_NO_TEXT = frozenset(b"ABEFGHghijklmnopqrstuv")  # base64 of these begins with a control or a continuation byte


def decoded(text: str) -> TextView | None:
    """Return only the decoded parts of a text, from base64, hexadecimal and the like; None if there are none.

    The last views are cached, because the searches for private text and for secrets read the same strings.
    """
    if not (cached := _views.get(text)):
        if len(_views) >= _MOST_CACHED:
            _views.clear()
        cached = _views[text] = (_decoded(text),)
    return cached[0]


_views: dict[str, tuple[TextView | None]] = {}
_MOST_CACHED = 16
forget = _views.clear  # called once a value is cleaned: a process that goes on must not keep its secrets


def _decoded(text: str) -> TextView | None:
    view = TextView()
    plain = text.encode("ascii", "replace")  # keeps every offset
    in_lines = plain.replace(b"\\n", b" \n")  # those of JSON too
    flat = b" %b " % in_lines.translate(_RUNS)
    runs = flat.split()
    every = set(runs)
    parts_of = {run: parts for run in every if not _is_words(run) and (parts := list(_decode_parts(run)))}
    at = 0
    for run in filter(parts_of.__contains__, runs) if parts_of else ():
        at = flat.index(b" %b " % run, at)
        for start, end, plain_text in parts_of[run]:
            view.add(f"\n{plain_text}\n", at + start, at + end, decoded=True)
        at += len(run)
    if any(len(run) >= _SHORTEST_LINE for run in every):
        _wrapped(in_lines, view)
    has_addresses = any(run[:3] == b"000" and len(run) >= _SHORTEST_ADDRESS for run in every)
    if (
        has_addresses
        or any(run[2:3] == b"-" == run[5:6] for run in every)
        or sum(len(run) < 7 and _is_byte(run.strip(b"U+")) for run in every) > 2
    ):
        _bytes_apart(plain, view)
    if has_addresses or plain.count(b"   ") * 8 > len(plain):  # mostly columns of four
        _characters(plain, view)
    _base85(plain, view)
    return view.close() if view else None


def _is_words(run: bytes) -> bool:
    """Whether a run is too short, or consists of lower-case words, which encoded text never looks like."""
    if len(run) < _SHORTEST_RUN:
        return True
    return run[1:].islower() and len(run) < _LONG_RUN and run.translate(None, _IN_RUNS).isalpha() and not _is_hex(run)


def _decode_parts(run: bytes) -> Iterator[tuple[int, int, str]]:
    """Decode a run and its parts between signs: it may be a path, a name or a URL with encoded text in it."""
    if plain_text := _decode(run):
        yield 0, len(run), plain_text
    if run.isalnum():
        return
    parts = run.translate(_PARTS)
    at = 0
    for part in parts.split():
        at = parts.find(part, at)
        if len(part) >= _SHORTEST_RUN and len(part) < len(run.rstrip(b"=")) and (plain_text := _decode(part)):
            yield at, at + len(part), plain_text
        at += len(part)


def _decode(word: bytes) -> str:
    """Return the texts that a word encodes in base64, base32 or hexadecimal, or ""."""
    from_base64 = "" if word[0] in _NO_TEXT and len(word) < _SHORTEST_WIDE else _from_base64(word)
    digits = word[2:] if word[:2] in (b"0x", b"0X") else word
    other = _from_hex(digits) if _is_hex(digits) else _from_base32(word.rstrip(b"="))
    return "\n".join(filter(None, [other, from_base64]))


def _from_base32(bare: bytes) -> str:
    if not _SHORTEST_WIDE <= len(bare) <= _LONGEST_BASE32 or bare.translate(None, _IN_BASE32):
        return ""
    size = len(bare) * 5
    return _text((int(bare.translate(_BASE32), 32) >> size % 8).to_bytes(size // 8, "big"))


def _from_base64(word: bytes) -> str:
    bare = word.rstrip(b"=")
    if b"=" in bare:
        return ""  # NAME=value: its parts are decoded separately
    if len(bare) < _SHORTEST_PLAIN and bare[1:].islower() and bare.isalpha():
        return ""  # a plain word
    data = _unbase64(bare)
    return _text(data) or (_stretches(data) if len(bare) >= _SHORTEST_BINARY else "")


def _from_hex(digits: bytes) -> str:
    even = len(digits) // 2 * 2
    data = bytes.fromhex(digits[:even].decode())
    if even < _SHORTEST_PLAIN:
        return _text(data) if even == len(digits) else ""
    shifted = bytes.fromhex(digits[1 : 1 + (len(digits) - 1) // 2 * 2].decode())
    return "\n".join(filter(None, [readable(data), _stretches(shifted)]))


def _unbase64(bare: bytes) -> bytes:
    from binascii import Error, a2b_base64

    if len(bare) % 4 == 1:
        bare = bare[:-1]
    try:
        return a2b_base64(bare.translate(_BASE64) + b"=" * (-len(bare) % 4))
    except (Error, ValueError):
        return b""


def _text(data: bytes) -> str:
    """Decode bytes that are text in UTF-8, UTF-16 (as from PowerShell) or Latin-1; return "" for other bytes."""
    if len(data) < 4:
        return ""
    if data.count(0) * 3 > len(data):
        even = data[: len(data) // 2 * 2]
        decoded_text = even.decode("utf-16-be" if data[0] == 0 else "utf-16-le", "replace")
        return decoded_text if sum(map(str.isascii, decoded_text)) * 2 > len(decoded_text) else ""
    try:
        decoded_text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3:  # more than a last character that was cut
            return f"{_wide_text(data)}\n{_latin_text(data)}".strip("\n")
        decoded_text = data[: error.start].decode()
    has_controls = not decoded_text.isprintable() and any(c < " " and c not in "\t\n\r" for c in decoded_text)
    return "" if has_controls else decoded_text


def _wide_text(data: bytes) -> str:
    """Decode UTF-16 without a zero byte: Chinese, Japanese or Korean only. Return "" for anything else."""
    data = data[2:] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data
    data = data[: len(data) // 2 * 2]
    for coding, high in (("utf-16-le", 1), ("utf-16-be", 0)):
        if data[high::2].translate(None, _WIDE_BYTES):
            continue
        decoded_text = data.decode(coding, "replace")
        if decoded_text and all("\u3000" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" for char in decoded_text):
            return decoded_text
    return ""


_WIDE_BYTES = bytes([*range(0x30, 0xA0), *range(0xAC, 0xD8)])  # high bytes of characters that `_wide_text` accepts


def _latin_text(data: bytes) -> str:
    """Decode Latin-1 if most of its bytes are ASCII; return "" for anything else."""
    is_text = len(data.translate(None, _HIGH_BYTES)) * 3 > len(data) * 2 and 0 not in data.translate(_TEXT_BYTES)
    return data.decode("latin-1") if is_text else ""


def readable(data: bytes) -> str:
    """Return bytes as text, or the parts of them that are text."""
    return _text(data) or _stretches(data)


def _stretches(data: bytes) -> str:
    """Return the parts of binary data that are text in UTF-8 or UTF-16, as in an image or an archive."""
    plain = data.translate(_TEXT_BYTES).decode("utf-8", "replace").replace("\ufffd", "\0")
    parts = plain.split("\0")
    if b"\0" in data:
        parts += data.replace(b"\0", b"").translate(_TEXT_BYTES).decode("ascii", "replace").split("\ufffd")
    return "\n".join([part.replace("\0", "\n") for part in parts if len(part) >= _SHORTEST_STRETCH])


def _wrapped(plain: bytes, view: TextView) -> None:
    """Decode what is wrapped over lines, but for base85: the end of one, whole lines, and the start of the last."""
    run: list[bytes] = []
    begin = at = 0
    for line in plain.split(b"\n") if b"\n" in plain else ():
        words = line.split() or [b""]
        if run and (_is_hex if _is_hex(run[0]) else _is_base64)(words[0]):
            run.append(words[0])
            if len(words) == 1 and len(words[0]) == len(run[0]) and words[0][-1:] != b"=":
                at += len(line) + 1
                continue
            end = at + line.find(words[0]) + len(words[0])
            joined = b"".join(run).rstrip(b"=")
            view.add(f"\n{readable(_joined(joined))}\n{_from_base32(joined)}\n", begin, end, decoded=True)
        run = []
        if len(words[-1]) >= _SHORTEST_LINE and _is_base64(words[-1]):
            run, begin = [words[-1]], at + line.rfind(words[-1])
        at += len(line) + 1


def _joined(run: bytes) -> bytes:
    return bytes.fromhex(run[: len(run) // 2 * 2].decode()) if _is_hex(run) else _unbase64(run)


def _is_base64(word: bytes) -> bool:
    return word.rstrip(b"=").translate(None, _IN_RUNS).isalnum()


def _is_hex(word: bytes) -> bool:
    return bool(word) and not word.translate(None, _HEX)


# -- separate bytes

_DUMP_BYTES = 16  # bytes in a line of a dump: after them comes its column of text
_WORDS = (4, 8, 16)  # digits of a number that `hexdump`, `od -x` and `xxd -e` show for bytes, the last one first
_OCTAL_WORD = 6  # octal digits of a number that `od` shows for two bytes, the second one first
_SHORTEST_ADDRESS = 6  # hexadecimal digits at the start of a line of a dump


def _is_byte(word: bytes) -> bool:
    """Whether a word may be one or two bytes in hexadecimal, or one as a number of three digits."""
    bare = word[2:] if word[:2] in (b"0x", b"0X") else word
    return (len(bare) in (2, 4) and _is_hex(bare)) or (len(bare) == 3 and bare.isdigit())


def _bytes_apart(plain: bytes, view: TextView) -> None:
    """Decode separate bytes, as in `68 75 6e 74`, `68:75:6e:74`, `[104, 117, 110]` and the output of `xxd` and `od`."""
    flat = plain.translate(_BYTES)
    byte_words = {word for word in set(flat.split()) if len(word) < 7 and _is_byte(word)}
    collected: list[tuple[bytes, int, int]] = []
    at = last = 0
    for line in flat.split(b"\n"):
        words = line.split()
        address = next((word for word in words[:3] if len(word) >= _SHORTEST_ADDRESS and _is_hex(word)), b"")
        if address and (of_dump := _bytes_of_dump(line, address, plain[at : at + len(line)], byte_words)):
            collected += [*[(word, at + start, at + end) for word, start, end in of_dump], (_LINE, 0, 0)]
            last = at + len(line)
        elif len(byte_words.intersection(words)) > (not collected and len(words) > 1):
            collected += [*_bytes_of(line, words, at, byte_words), (_LINE, 0, 0)]
            last = at + len(line)
        elif collected and at > last + _MOST_BETWEEN:
            _add_bytes(collected, view)
            collected = []
        at += len(line) + 1
    _add_bytes(collected, view)


_MOST_BETWEEN = 40  # characters between two lines with bytes of one text


def _bytes_of(line: bytes, words: list[bytes], begin: int, byte_words: set[bytes]) -> list[tuple[bytes, int, int]]:
    """List the bytes of a line with their spans; an empty one stands for a word between them."""
    bytes_of_line: list[tuple[bytes, int, int]] = []
    at = 0
    for word in words:
        at = line.find(word, at)
        if word in byte_words:
            bytes_of_line.append((word, begin + at, begin + at + len(word)))
        elif bytes_of_line and bytes_of_line[-1][0] and word not in (b"chr", b"CHR", b"Chr", b"char", b"U"):
            bytes_of_line.append((b"", 0, 0))
        at += len(word)
    return bytes_of_line


def _bytes_of_dump(line: bytes, address: bytes, written: bytes, byte_words: set[bytes]) -> list[tuple[bytes, int, int]]:
    """List the bytes or numbers after a dump's address. The last span includes the text column.

    In a dump of `xxd`, which has a colon after the address, that column follows two blanks.
    """
    at = line.index(address) + len(address)
    is_closed = written[at : at + 1] == b":"
    columns = line[at : written.find(b"  ", at + 1)] if is_closed and b"  " in written[at + 1 :] else line[at:]
    bytes_of_line: list[tuple[bytes, int, int]] = []
    count = 0
    for word in columns.split():
        is_number = len(word) in (_OCTAL_WORD, *_WORDS[1:]) and _is_hex(word)
        if not (word in byte_words or is_number) or (count >= _DUMP_BYTES and not is_closed):
            break
        at = line.find(word, at)
        bytes_of_line.append((word, at, at + len(word)))
        count += len(word) // (3 if len(word) == _OCTAL_WORD else 2)
        at += len(word)
    if bytes_of_line:
        bytes_of_line[-1] = (*bytes_of_line[-1][:2], len(line))
    return bytes_of_line


def _add_bytes(words: list[tuple[bytes, int, int]], view: TextView) -> None:
    """Decode the bytes of lines, run by run: all lines together, or, if that is not text, each by itself."""
    lines: list[list[tuple[bytes, int, int]]] = [[]]
    for word_span in [*words, (b"", 0, 0)]:
        if word_span[0] == _LINE:
            lines.append([])
        elif word_span[0]:
            lines[-1].append(word_span)
        else:
            if not _add_run([word for line in lines for word in line], view):
                for line in lines if len(lines) > 1 else ():
                    _add_run(line, view)
            lines = [[]]


_LINE = b"\n"  # stands for the end of a line among its bytes


def _add_run(run: list[tuple[bytes, int, int]], view: TextView) -> bool:
    """Decode bytes in each way that gives a text. Return whether there is one."""
    is_text = False
    for data in _readings(b" ".join([word for word, _, _ in run])) if len(run) > 1 else ():
        if plain_text := readable(data):
            view.add(f"\n{plain_text}\n", run[0][1], run[-1][2], decoded=True)
            is_text = True
    return is_text


def _readings(words: bytes) -> Iterator[bytes]:
    """Yield the bytes that words may stand for, as decimal, octal or hexadecimal numbers."""
    numbers = words.split()
    if all(word.isdigit() and int(word) < 256 for word in numbers):
        yield bytes(map(int, numbers))
    if all(len(word) == 3 and max(word) < ord("8") for word in numbers):
        yield bytes([int(word, 8) & 255 for word in numbers])
    if all(len(word) == _OCTAL_WORD and max(word) < ord("8") and word[0] < ord("2") for word in numbers):
        yield b"".join([int(word, 8).to_bytes(2, "little") for word in numbers])
    digits = words.replace(b"0x", b"").replace(b"0X", b"").replace(b" ", b"")
    if len(digits) % 2 == 0 and all(len(word) != 3 for word in numbers):
        yield bytes.fromhex(digits.decode())
        if len(numbers[0]) in _WORDS and all(len(word) % 2 == 0 and _is_hex(word) for word in numbers):
            yield b"".join([bytes.fromhex(word.decode())[::-1] for word in numbers])


# -- base85

_SHORTEST_BASE85 = 10  # characters, which are eight bytes
_BASE85_DIGITS = (  # of Ascii85, of Git and Python, and of ZeroMQ
    bytes(range(33, 118)),
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
)
_BASE85 = [bytes(digits.find(code) & 255 for code in range(256)) for digits in _BASE85_DIGITS]
_FIRST_DIGITS = frozenset([*range(10, 41), *range(62, 77)])
"""The first digits of a group that begins with printable ASCII or a UTF-8 character of several bytes."""

_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_AROUND_BASE85 = b"\"'`,;()[]"


def _base85(plain: bytes, view: TextView) -> None:
    """Decode words that are text in base85. Words that are mostly lower case are skipped: base85 rarely is."""
    words = plain.split()
    long_words = {word for word in words if len(word) >= _SHORTEST_BASE85}
    text_of = {word: plain_text for word in long_words if (plain_text := _of_base85(word))}
    at = 0
    for word in filter(text_of.__contains__, words) if text_of else ():
        at = plain.index(word, at)
        view.add(f"\n{text_of[word]}\n", at, at + len(word), decoded=True)
        at += len(word)


def _of_base85(word: bytes) -> str:
    if len(word.translate(None, _LOWER)) * 3 < len(word):
        return ""
    bare = word[2:] if word[:2] in (b"b'", b'b"') else word
    bare = bare.strip(_AROUND_BASE85).removeprefix(b"<~").removesuffix(b"~>")
    candidates = (word, bare) if len(word) > len(bare) >= _SHORTEST_RUN else (word,)
    pairs = [(digits, values) for digits in candidates for values in _BASE85 if values[digits[0]] in _FIRST_DIGITS]
    return "\n".join(filter(None, [_from_base85(digits, values) for digits, values in pairs]))


def _from_base85(word: bytes, values: bytes) -> str:
    digits = word.translate(values)
    if b"\xff" in digits or not _begins_text(digits[:5]):
        return ""
    padding = -len(digits) % 5
    digits += bytes([84]) * padding
    data = b"".join([_group(digits[at : at + 5]) for at in range(0, len(digits), 5)])
    return _text(data[: len(data) - padding])


def _begins_text(digits: bytes) -> bool:
    """Whether the first group decodes to the beginning of a text."""
    head = _group(digits).decode("utf-8", "ignore")
    return head.isprintable() and len(head.encode()) > 1


def _group(digits: bytes) -> bytes:
    number = 0
    for digit in digits:
        number = number * 85 + digit
    return (number & 0xFFFFFFFF).to_bytes(4, "big")


_CELL = 4  # columns of a byte in the output of `od -c`


def _characters(plain: bytes, view: TextView) -> None:
    """Decode lines of characters in columns of four, perhaps after an address: `0000000   h   u   n   t  \\n`."""
    data = b""
    begin = end = at = 0
    for line in [*plain.split(b"\n"), b""]:
        address = next((word for word in line.split()[:3] if len(word) >= _SHORTEST_ADDRESS and _is_hex(word)), b"")
        first = line.find(address) + len(address)
        is_row = address or line[:2] == b"  "
        cells = [line[place : place + _CELL].strip() for place in range(first, len(line), _CELL)] if is_row else []
        if len(cells) > 1 and max(map(len, cells)) < _CELL:
            begin, end = begin if data else at + first, at + len(line)
            data += b"".join(map(_of_cell, cells))
        elif data and not address:
            view.add(f"\n{readable(data)}\n", begin, end, decoded=True)
            data = b""
        at += len(line) + 1


def _of_cell(cell: bytes) -> bytes:
    if len(cell) == 3 and cell.isdigit() and max(cell) < ord("8"):
        return bytes([int(cell, 8) & 255])
    return _ESCAPES.get(cell, cell[:1] or b" ")


_ESCAPES = {b"\\n": b"\n", b"\\t": b"\t", b"\\r": b"\r", b"\\0": b"\0"}
