"""`python -m tests.bench`: measures the cost of hooks, injection and the index, as ratios from one run.

`python -m tests.bench --readme` also writes the tables into the help page `cost`. To run another bench:
`python -m tests.bench NAME` with `block_recall`, `commands`, `echo`, `history`, `imports`, `intent`, `learn`, `mcp`,
`privacy`, `ranking`, `scale`, `segments`, `turn`, `watcher`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import runpy
import sys
from collections.abc import Callable

from tests.bench import hooks, inject, recall
from tests.helpers import readme


def printed(run: Callable[[], None]) -> str:
    """Run a bench; return its output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run()
    return out.getvalue().strip()


def main() -> None:
    """Print each table as soon as it is measured."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readme", action="store_true", help="write the tables into the help page")
    parser.add_argument("name", nargs="?", help="run this bench only; it takes the remaining words")
    words, sys.argv[1:] = parser.parse_known_args()  # the benches read the remaining arguments
    if words.name:
        runpy.run_module(f"tests.bench.{words.name}", run_name="__main__")
        return
    page = readme.HELP / "cost.md"
    for name, run in (("hooks", hooks.main), ("inject", inject.main), ("recall", recall.main)):
        found = printed(run)
        print(f"## {name}\n\n{found}\n", flush=True)
        if words.readme:
            readme.write(page, f"bench:{name}", found)


if __name__ == "__main__":
    main()
