"""Binary: recognizes pictures, archives and their base64 by their looks, so that they are never stored."""

from __future__ import annotations

_SAMPLE_CHARS = 2048
_RUN_CHARS = 256  # base64 of this length is a file rather than a name or a hash
_RUN = rf"[A-Za-z0-9+/_-]{{{_RUN_CHARS},}}={{0,2}}"
_RUN_LINES = 5
_LINE_CHARS = 60
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-="
_CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160), 0xFFFD])


def name(text: str) -> str:
    """Return "base64" or "binary" if samples of both ends and the middle are not text, else ""."""
    middle = len(text) // 2
    samples = [text[:_SAMPLE_CHARS], text[middle : middle + _SAMPLE_CHARS], text[-_SAMPLE_CHARS:]]
    sample = "".join(samples)
    odd = len(sample) - len(sample.translate(_CONTROLS))
    if odd > 24 and odd * 10 > len(sample):
        return "binary"
    return "base64" if _is_one_run(text, samples) or _is_wrapped(samples) else ""


def without_base64(text: str) -> str:
    """Return a text with a placeholder for each long run of base64, on one line or wrapped."""
    lines = text.split("\n")
    shown: list[str] = []
    start = 0
    while start < len(lines):
        end = _end_of_wrapped(lines, start)
        if end - start >= _RUN_LINES:
            shown.append(_mark(sum(map(len, lines[start:end]))))
            start = end
        else:
            shown.append(_without_runs(lines[start]))
            start += 1
    return "\n".join(shown)


def is_encoded(run: str) -> bool:
    """Whether `run` consists of base64 characters, mixed enough not to be a name or a hash."""
    if run.strip(_ALPHABET):
        return False
    return run != run.lower() and run != run.upper() and not run.isalpha()


def _is_one_run(text: str, samples: list[str]) -> bool:
    return len(text) >= _RUN_CHARS and all(is_encoded(sample.strip()) for sample in samples)


def _is_wrapped(samples: list[str]) -> bool:
    """Whether both ends consist of base64 lines of equal width."""
    lines = samples[0].split("\n")[:-1] + samples[-1].rstrip("\n").split("\n")[1:-1]
    return len(lines) >= _RUN_LINES and _end_of_wrapped(lines, 0) == len(lines)


def _end_of_wrapped(lines: list[str], start: int) -> int:
    """Return the end of the wrapped base64 that begins at line `start`: lines of equal width and a shorter last one."""
    width = len(lines[start])
    end = start
    if width < _LINE_CHARS:
        return start
    while end < len(lines) and len(lines[end]) == width and is_encoded(lines[end]):
        end += 1
    if start < end < len(lines) and 0 < len(lines[end]) < width and not lines[end].strip(_ALPHABET):
        end += 1
    return end


def _without_runs(line: str) -> str:
    if len(line) < _RUN_CHARS or max(map(len, line.split()), default=0) < _RUN_CHARS:
        return line
    import re  # slow to load, and such lines are rare

    return re.sub(_RUN, lambda run: _mark(len(run[0])) if is_encoded(run[0]) else run[0], line)


def _mark(chars: int) -> str:
    return f"[base64, {chars:,} characters left out]"
