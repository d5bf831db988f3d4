"""Public data that looks random: hashes, ids, certificates, wrapped data, binary layouts, and values labeled so."""

from __future__ import annotations

from mdmem.privacy.secrets.tokens.formats import ALNUM, BASE64, BEFORE_DATA, BEFORE_HASH, HEX, LONGEST, PUBLIC, is_hash

_OUTLINE = "0123456789.-MmZzLlHhVvCcSsQqTtAa"
"""The characters of an SVG path: numbers, and letters for drawing commands."""
_STRUCT = "0123456789xcbBhHiIlLqQnNefdspP"
_LONGEST_STRUCT = 24
_NUMBER = HEX + "xpP.+-_ui"
_BEFORE_STRUCT = frozenset("\"'<>=!@")
"""What precedes a binary layout of `_STRUCT` characters, as in `struct.unpack("<4sBBHH8x")`."""
_SHORTEST_WRAP = 56
"""Minimum length of a line of wrapped base64, which is usually wrapped at 60, 64 or 76 characters."""
_LONGEST_BLOCK = 4096

_TERMS = (
    "SHA512", "SHA384", "SHA256", "SHA224", "SHA1", "Sha256", "Sha1", "MD5", "Md5", "RC2", "RC4", "AES128", "AES192",
    "AES256", "X25519", "Ed25519", "ED25519", "X509", "P256", "P384", "P521", "UCS2", "UCS4", "UTF8", "Utf8", "UTF16",
    "Utf16", "Base64", "base64", "Int8", "Int16", "Int32", "Int64", "Float32", "Float64", "float32", "float64", "int64",
    "F16", "F32", "F64", "Pkcs7", "Pkcs8", "Pkcs11", "Pkcs12", "PKCS11", "PKCS12",
    "IPv4", "IPv6", "Ipv4", "Ipv6", "MP3", "MP4", "Mp4", "H264", "Win32", "Win64", "OAuth2", "S390X", "128Bit", "40Bit",
    "K8s", "K8S", "I18n", "i18n", "L10n", "Http2", "HTTP2", "Log4j", "EC2",
)  # fmt: skip
"""Terms with digits that are parts of names in code: `pbeWithSHA1And128BitRC4`."""

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_NAME = ALNUM + "_-."
_JOINS = " \t\\\"'`:=>([{"
"""Signs between a label and its value."""
_LABELS = (
    "sha", "md", "hash", "digest", "checksum", "etag", "integrity", "keyid",
    "fingerprint", "revision", "cursor", "marker", "modulus", "publickey", "pubkey", "certificate", "digestvalue",
    "signaturevalue", "ciphervalue", "identifier", "nexttoken", "pagetoken", "continuationtoken",
)  # fmt: skip
"""Endings of the names of public values, in lower case, without separators and without final digits and s."""
_IDS = ("Id", "Ids", "ID", "IDs", "_id", "_ids", "-id", "-ids", ".id")
_DOUBTFUL = (
    "secret", "sess", "auth", "pass", "pw", "cookie", "cred", "key", "client", "app", "api", "access", "account",
)  # fmt: skip
"""An id whose name contains one of these may be half of a secret."""


def is_public(text: str, start: int, end: int, run: str) -> bool:
    """Whether a random-looking run is public, judging by its format or context."""
    if (
        is_hash(run)
        or ("EXAMPLE" in run and not run.replace("EXAMPLE", "").strip(HEX + "-"))
        or run.lstrip("+").startswith(PUBLIC)  # also as a line that a diff adds
        or text.endswith(BEFORE_HASH, 0, start)
    ):
        return True
    if not run.strip(_OUTLINE) or text.endswith(BEFORE_DATA, 0, start):
        return True
    if len(run) < _LONGEST_STRUCT and not run.strip(_STRUCT) and text[start - 1 : start] in _BEFORE_STRUCT:
        return True
    if len(run) == 26 and run.startswith("01") and run.isupper():
        return True  # a ULID, an id that begins with a timestamp
    if run[:2] == "Q1" and end - start in (29, 30) and text[start - 2 : start] in ("C:", "Z:"):
        return True  # a checksum in Alpine's list of packages
    if run[:2] in ("RW", "RU") and end - start in _MINISIGN and _is_of_minisign(text[max(0, start - 160) : start]):
        return True
    folder, _, last = run.rstrip("/").rpartition("/")
    if folder.endswith(("/message", "/thread")) and len(last) == 32 and last.isupper():
        return True  # a message in the archive of a mailing list
    if text.startswith("?=", end) or (run[:2] == "0x" and not run.strip(_NUMBER)):
        return True
    return (
        _is_regular(run)
        or _is_boundary(text, start, end, run)
        or _is_version(run)
        or _is_labeled(text, start)
        or _is_wrapped(text, start, end)
        or _is_in_certificate(text, start)
        or _encodes_above(text, start)
    )


def _is_of_minisign(before: str) -> bool:
    return "untrusted comment: " in before or "minisign " in before or "signify " in before


_MINISIGN = (56, 99, 100)
"""Sizes of a public key and of a signature by minisign or signify, which are both in base64. A secret key is longer."""


def without_terms(run: str) -> str:
    """Return a run without `_TERMS`."""
    for term in _TERMS:
        run = run.replace(term, "")
    return run


def literal_before(text: str, start: int) -> str:
    """Return the base64 in the string literal on the line above that the one at `start` continues, or ""."""
    head = text[max(0, start - LONGEST) : start]
    head = head.rstrip("\"'").removesuffix("b")
    before = head.rstrip(" \t\r\n+\\")
    if "\n" not in head[len(before) :] or before[-1:] not in ("'", '"'):
        return ""
    before = before.rstrip("\"'").removesuffix("  ")
    return before[len(before.rstrip(BASE64)) :]


def _is_regular(run: str) -> bool:
    """Whether a run repeats few characters (`x4Ix4x4x4`), is sorted like an alphabet, or encodes zeros (`AAAAAg`)."""
    if 3 * len(set(run)) < len(run) or (run.count("AA") >= 3 and not _has_dropbox_form(run)):
        return True
    low = run.lower()
    return sum(map(str.__le__, low, low[1:])) >= 0.9 * (len(low) - 1)


def _has_dropbox_form(run: str) -> bool:
    """Whether a run has ten A in the place where a Dropbox access token has them."""
    return len(run) == 64 and run.find("A" * 10) == 11


def _is_boundary(text: str, start: int, end: int, run: str) -> bool:
    """Whether a run is the boundary line between two parts of a MIME message."""
    is_line = text[start - 1 : start] in ("", "\n") and text[end : end + 1] in ("", "\n", "\r")
    return is_line and run.startswith("--")


def _is_version(run: str) -> bool:
    """Whether a run begins with a version number of three parts: `v22.0.0-nightly20240424ddd0a9e494`."""
    parts = run.lstrip(_LOWER + "-_").split(".", 3)
    return len(parts) >= 3 and parts[0].isdigit() and parts[1].isdigit() and parts[2][:1].isdigit() and run.islower()


def _is_labeled(text: str, start: int) -> bool:
    """Whether the name before a run says that it is public: `"CodeSha256": "…"`, `--detector-id …`, `arn:…:flow:…`."""
    before = text[max(0, start - LONGEST) : start]
    if before[-1:].strip() and "arn:" in before.split()[-1]:
        return True
    head = before.rstrip(_JOINS)
    if len(head) == len(before):
        return False
    name = head[len(head.rstrip(_NAME)) :]
    low = name.lower()
    flat = low.replace("_", "").replace("-", "").rstrip("s0123456789")
    if flat.endswith(_LABELS):
        return "pass" not in low and "pw" not in low
    return (low in ("id", "ids") or name.endswith(_IDS)) and not any(word in low for word in _DOUBTFUL)


def _is_wrapped(text: str, start: int, end: int) -> bool:
    """Whether a run is a line of wrapped base64: the lines around it are as long, or it is the last, shorter one."""
    after = text[end : end + 1]
    before = text[max(0, start - 32) : start].rpartition("\n")[2]
    if before.strip(" \t\"'") not in ("", "b") or not (
        after in ("", "\n", "\r", '"', "'", "\\") or text[end : end + 2] == "</"
    ):
        return False
    size, begin = end - start, start - len(before)
    line = text[max(0, begin - 128) : max(0, begin - 1)].rpartition("\n")[2]
    line_above = _bare(line)
    goes_on = line[-1:] in ("'", '"') and len(line_above) + size > _SHORTEST_WRAP  # adjacent literals are concatenated
    if len(line_above) >= size and (goes_on or len(line_above) >= _SHORTEST_WRAP) and not line_above.strip(BASE64):
        return True
    line_below = _bare(text[end : end + 192].partition("\n")[2].partition("\n")[0])
    return size >= _SHORTEST_WRAP and len(line_below) >= 16 and not line_below.strip(BASE64)


def _bare(line: str) -> str:
    """Return a line without the punctuation of a string literal or an element around it."""
    return line.rpartition(">")[2].strip(" \t\r\"'\\+").removeprefix("b'").removeprefix('b"')


def _is_in_certificate(text: str, start: int) -> bool:
    """Whether an offset is in the block of a public key or certificate, even one in a single line with `\\n`."""
    begin = text.rfind("-----BEGIN ", max(0, start - _LONGEST_BLOCK), start)
    if begin < 0:
        return False
    title, _, body = text[begin + 11 : start].partition("-----")
    return "PRIVATE" not in title and not body.strip(BASE64 + " \t\r\n\\\"',")


def _encodes_above(text: str, start: int) -> bool:
    """Whether a run encodes a string of escapes (`"\\u4ed6\\u4eec",`): it begins the line below it."""
    above, newline, indent = text[max(0, start - LONGEST) : start].rpartition("\n")
    line = above.rpartition("\n")[2].rstrip("\r")
    return bool(newline) and not indent.strip(" \tb\"'") and line.endswith(('",', "',")) and "\\u" in line


def is_path(run: str) -> bool:
    """Whether a run with slashes is a path, so that only a part of it is random."""
    if "/" not in run or "+" in run or run.startswith(PUBLIC):
        return False
    return run[0] == "/" or any(len(part) >= 3 and part.isalpha() and part.islower() for part in run.split("/"))
