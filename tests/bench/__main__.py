"""`python -m tests.bench`: what hooks, injection and the index cost, as ratios measured in one run.

`python -m tests.bench --readme` also writes the tables into the help page `cost`. Other benches, one by one:
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
    """Run a bench and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run()
    return out.getvalue().strip()


def main() -> None:
    """Print the tables, one after another, as they are measured."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readme", action="store_true", help="write the tables into the help page")
    parser.add_argument("name", nargs="?", help="run this bench only; it takes the remaining words")
    words, sys.argv[1:] = parser.parse_known_args()  # the benches read what is left
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
