"""Measures recall and false positives of the echo: private values in other forms, and harmless words that it masks.

`python -m tests.bench.echo` prints the share of forms of made-up values that are masked, the number of words masked in
unrelated real text, and the cost of the search.
"""

from __future__ import annotations

import random
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mdmem.privacy import echo
from tests.privacy.test_echo import ASCII_ONLY, FORMS

VALUES = (
    "hunter2!pass", "Zx81kQ0p", "p@ss:w=rd,12", "correct-horse-battery", "heron-box-42", "heron.acme.io",
    "Falconridge", "Okonkwo", "ACME-2291", "+49 151 2345678", "jane.roe@heron-acme.io", "DE89370400440532013000",
    "4711-8822", "https://heron.acme.io/x?y=1", "correct horse battery staple", "銀河計画二号", "호랑이굴열쇠",
    "張偉明的代號", "Müllerström", "Café-Zürich-91",
)  # fmt: skip
TEMPLATES = (
    "{}",
    "log in with {} as bob",
    "The customer asked us to keep this to ourselves until the announcement: {}. We refactored the middleware for it.",
)
SECTIONS = (
    "The password of the production database is hunter2!pass, and the server is heron-box-42 in rack 7.",
    "We will announce the acquisition of Falconridge on Monday, so please refactor the billing middleware before that.",
    "Customer: Ngozi Okonkwo, phone +49 151 2345678. She is unhappy with the response time of the search endpoint.",
    "salary of the new manager: 84,500 a year, starting in October, and nobody in the team knows about it yet",
    "def connect(host='heron.acme.io', port=5432):\n    return psycopg.connect(host=host, password='Zx81kQ0p')",
)
"""Typical private sections: one or two private words among everyday ones."""

TEXTS_BYTES = 4_000_000


def forms() -> tuple[int, int, Counter[str]]:
    """Return the number of masked forms, the number of all forms, and the forms that are missed."""
    masked = count = 0
    missed: Counter[str] = Counter()
    for value in VALUES:
        for name, form in FORMS.items():
            if name in ASCII_ONLY and not value.isascii():
                continue
            written = form(value)
            for template in TEMPLATES:
                count += 1
                text = f"see {written} there"
                found = echo.of([template.format(value)]).find(text)
                hidden = sum(end - start for start, end in found)
                if hidden >= min(len(value), len(written.strip())) and written not in _rest(text, found):
                    masked += 1
                else:
                    missed[f"{name} of {value}"] += 1
    return masked, count, missed


def _rest(text: str, found: list[tuple[int, int]]) -> str:
    for start, end in reversed(found):
        text = f"{text[:start]}…{text[end:]}"
    return text


def texts() -> Iterator[str]:
    """Yield real text: the documentation and code of the installed packages."""
    packages = Path(sysconfig.get_paths()["purelib"])
    files = [path for path in packages.rglob("*") if path.name.endswith((".md", ".rst", "METADATA", ".py"))]
    random.Random(7).shuffle(files)
    room = TEXTS_BYTES
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")[:50_000]
        room -= len(text)
        if room < 0:
            return
        yield text


def paragraphs(found: list[str], count: int) -> list[str]:
    """Pick paragraphs of real text to use as unrelated private sections."""
    every = [part for text in found for part in text.split("\n\n") if 30 <= len(part.split()) <= 80]
    return random.Random(11).sample(every, min(count, len(every)))


def harmless(sections: list[str] | tuple[str, ...], found: list[str]) -> float:
    """Return the mean number of words that a section masks, in 10,000 words of real text."""
    hidden = 0
    memories = [echo.of([section]) for section in sections]
    for text in found:
        for memory in memories:
            hidden += sum(len(text[start:end].split()) for start, end in memory.find(text))
    words = sum(len(text.split()) for text in found) * len(sections)
    return 10_000 * hidden / max(words, 1)


def main(quick: bool = False) -> None:
    """Print the figures."""
    masked, count, missed = forms()
    print(f"echo: {masked} of {count} forms masked ({masked / count:.1%})")
    for name, times in missed.most_common(12):
        print(f"  missed {times} of {len(TEMPLATES)}: {name}")
    found = list(texts())[:: 10 if quick else 1]
    half = len(found) // 2
    print("harmless words hidden of 10,000, by one private section:")
    print(f"  {harmless(SECTIONS, found):.2f} as people write it")
    print(f"  {harmless(paragraphs(found[:half], 10), found[half:]):.2f} of technical prose or code")
    memory = echo.of(SECTIONS)
    begun = time.process_time()
    for text in found:
        memory.find(text)
    size = sum(map(len, found)) / 1e6
    print(f"cost: {(time.process_time() - begun) / size:.3f} s a MB, only in sessions with private sections")


if __name__ == "__main__":
    main()
