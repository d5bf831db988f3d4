"""Measures precision and recall of open work and fixes on the labeled set."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.helpers import cli_day
from tests.learn import labelled


def main() -> None:
    """Print a line for each, and the differences."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        scores = labelled.measure(cli_day.empty(Path(folder)), Path(folder))
        seconds = time.perf_counter() - begin
    print(f"{len(labelled.lines())} pieces of work, played and asked in {seconds:.1f} s")
    for name, score in scores.items():
        shares = f"precision {score.precision:.3f}  recall {score.recall:.3f}"
        print(f"{name:10} {shares}  found {score.found}, right {score.right}, wanted {score.wanted}")
        for one in score.wrong:
            print(f"  wrong:  {' · '.join(one)}")
        for one in score.missed:
            print(f"  missed: {' · '.join(one)}")


if __name__ == "__main__":
    main()
