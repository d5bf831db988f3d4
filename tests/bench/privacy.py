"""Measures cost, recall and false positives of the privacy gate: `python -m tests.bench privacy [--quick]`.

Prints, from this one run: how the cost grows with the length of hostile texts, the cost of ordinary text and of an
ordinary hook payload, the recall on made-up credentials, and how much of real code and documentation is masked.
`--quick` uses a tenth of the sizes.
"""

from __future__ import annotations

import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
if not __package__:
    sys.path[0] = str(ROOT)

from mdmem.privacy import clean  # noqa: E402 - when run as a file, the path comes first
from tests.bench import echo, intent, measure  # noqa: E402
from tests.helpers import credential_places, credentials  # noqa: E402
from tests.privacy.test_properties import HOSTILE, ORDINARY  # noqa: E402

TARGETS = (
    "growth <= 12, hostile < 6 s for 10 MB, ordinary <= 0.3 s a MB, intent 0 damaged and 0 leaked, recall >= 0.98,"
    " masks <= 15 a MB"
)


SLOWEST = 8
"""Number of hostile texts that are also measured at full size. All of them would take a quarter of an hour."""

MOST_CHARS = 8_000_000
"""Maximum number of characters to read from a corpus."""


class Corpus(NamedTuple):
    """Real text: a name, its folder, and the endings of its file names."""

    name: str
    root: Path
    endings: tuple[str, ...]


def corpora() -> list[Corpus]:
    """List the corpora of real text on this machine."""
    paths = sysconfig.get_paths()
    packages = Path(paths["purelib"])
    return [
        Corpus("standard library", Path(paths["stdlib"]), (".py",)),
        Corpus("packages' documentation", packages, (".md", ".rst", ".txt", ".html", "METADATA")),
        Corpus("packages' settings and data", packages, (".json", ".toml", ".yaml", ".yml", ".cfg", ".ini", ".js")),
        Corpus("packages' code", packages, (".py", ".pyi")),
        Corpus("lock files", packages, (".lock", "package-lock.json", "go.sum", "RECORD")),
        Corpus("system documentation", Path("/usr/share/doc"), ("copyright", ".txt", "README", ".md", ".html")),
        Corpus("system programs", Path("/usr/share"), (".pl", ".pm", ".sh", ".conf", ".yaml", ".vim", ".tcl")),
    ]


def texts(corpus: Corpus) -> Iterator[str]:
    """Yield a corpus's texts, without packages in the standard library's folder and mdmem, whose pages show secrets."""
    room = MOST_CHARS
    for path in sorted(corpus.root.rglob("*")):
        parts = path.relative_to(corpus.root).parts
        left_out = "site-packages" in parts or parts[0].startswith("mdmem")
        if room > 0 and path.name.endswith(corpus.endings) and path.is_file() and not left_out:
            text = path.read_text(encoding="utf-8", errors="replace")
            room -= len(text)
            yield text


def seconds(text: str, origin: str) -> float:
    """Return the CPU time of cleaning a text once."""
    begun = time.process_time()
    clean(text, origin=origin)
    return time.process_time() - begun


def hostile(size: int) -> None:
    """Print the cost of texts of repeated units at a tenth of `size`, and of the slowest ones at `size`."""
    print(f"hostile units, {size / 1e7:g} MB each, read as what costs more: CPU seconds")
    small: dict[str, tuple[float, str]] = {}
    for unit in HOSTILE:
        text = unit * (size // 10 // len(unit))
        small[unit] = max((seconds(text, origin), origin) for origin in ("prompt", "tool"))
        print(f"  {unit!r:36} {small[unit][1]:7} {small[unit][0]:6.2f} s", flush=True)
    print(f"the slowest, {size / 1e6:g} MB each: CPU seconds, growth from a tenth of it")
    worst = grown = (0.0, "")
    for unit in sorted(HOSTILE, key=lambda unit: small[unit], reverse=True)[:SLOWEST]:
        before, origin = small[unit]
        text = unit * (size // len(unit))
        large = seconds(text, origin)
        if large > 11 * before:  # may be noise of a busy machine
            before = min(before, seconds(unit * (size // 10 // len(unit)), origin))
            large = min(large, seconds(text, origin))
        growth = large / max(before, 1e-4)
        worst, grown = max(worst, (large, unit)), max(grown, (growth, unit))
        print(f"  {unit!r:36} {origin:7} {large:6.2f} s  x{growth:5.1f}", flush=True)
    print(f"  slowest {worst[1]!r}: {worst[0]:.2f} s; fastest growing {grown[1]!r}: x{grown[0]:.1f}")


def ordinary(share: float) -> None:
    """Print the cost of real text, and how much of it is masked."""
    print("real text: CPU seconds a MB, masks a MB")
    for corpus in corpora():
        found: Counter[str] = Counter()
        size = spent = 0.0
        for text in _some(texts(corpus), share):
            begun = time.process_time()
            cleaned = clean(text, origin="tool", explain=True)
            spent += time.process_time() - begun
            size += len(text) / 1e6
            found.update(finding.rule for finding in cleaned.findings)
        if size:
            kinds = ", ".join(f"{kind} {count}" for kind, count in found.most_common(4))
            print(f"  {corpus.name:28} {size:6.1f} MB {spent / size:6.3f} s {found.total() / size:6.1f}   {kinds}")


def _some(all_texts: Iterable[str], share: float) -> Iterator[str]:
    every = round(1 / share)
    return (text for number, text in enumerate(all_texts) if number % every == 0)


def recall(count: int) -> None:
    """Print the recall on made-up credentials, and which are missed."""
    missed: Counter[str] = Counter()
    made = list(credentials.samples(count, seed=1))
    for sample in made:
        if sample.survives(clean(sample.text, origin="tool").value):
            missed[sample.name] += 1
    print(f"recall: {1 - missed.total() / len(made):.4f} of {len(made)} in {len(credentials.FORMATS)} formats")
    for name, times in missed.most_common():
        print(f"  missed {times} of {count}: {name}")


def recall_by_set(count: int) -> None:
    """Print the recall on made-up secrets by set of places, and the places where some are missed."""
    made: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    samples = [*credential_places.placed(count, seed=3), *credential_places.vendors(count, seed=4)]
    for group, sample in samples:
        made[group] += 1
        if sample.survives(clean(sample.text, origin="tool").value):
            missed[group] += 1
            lines[f"{group}: {sample.name}"] += 1
    print("recall by set:")
    for group, number in made.items():
        print(f"  {group:16} {1 - missed[group] / number:.3f} of {number}")
    for line, times in sorted(lines.items()):
        print(f"  missed {times}: {line}")


def unknown(count: int) -> None:
    """Print how many random strings without a known prefix or a name are found."""
    print("random strings of no known format, nothing beside them:")
    for pattern in ("{20:an}", "{32:an}", "{40:b64}", "{43:url}", "{32:low}", "acme_{24:an}", "{32:hex}"):
        made = list(credentials.made(pattern, count, seed=2))
        kept = sum(sample.survives(clean(sample.text, origin="tool").value) for sample in made)
        print(f"  {pattern:14} {1 - kept / count:.2f}")


def processes(rounds: int) -> None:
    """Print the cost that the gate adds to a process, as ratios to a bare interpreter."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); value = {ORDINARY!r}\n"
    gate = "from mdmem import privacy; privacy.clean(value, origin='tool')"
    runs = {
        "a package of nothing": "import mdmem",
        "clean an ordinary edit": gate,
        "import re instead": "import re",
    }
    rows = measure.interleaved({name: _runner(start + code) for name, code in runs.items()}, rounds)
    print("processes: median CPU, ratio to the bare interpreter")
    for row in rows:
        print(f"  {row.name:28} {row.milliseconds:6.2f} ms  {row.ratio:5.2f}")


def _runner(code: str) -> Callable[[int], float]:
    return lambda _: measure.cpu([*measure.BARE[:-1], code])


def main() -> None:
    """Print everything."""
    quick = "--quick" in sys.argv[1:]
    print(f"targets: {TARGETS}")
    processes(10 if quick else 40)
    recall(3 if quick else 20)
    recall_by_set(1 if quick else 5)
    unknown(100 if quick else 500)
    intent.main()
    echo.main(quick)
    ordinary(0.1 if quick else 1.0)
    hostile(1_000_000 if quick else 10_000_000)


if __name__ == "__main__":
    main()
