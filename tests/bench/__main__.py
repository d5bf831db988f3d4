"""`python -m tests.bench`: measures the cost of hooks, injection and the index, as ratios from one run.

`python -m tests.bench --readme` also writes the tables into the help page `cost`. To run another bench:
`python -m tests.bench NAME`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

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
    files = sorted(Path(__file__).parent.glob("[a-z]*.py"))
    names = [path.stem for path in files if "__main__" in path.read_text("utf-8")]
    parser.add_argument("name", nargs="?", choices=names, help="run this bench only; it takes the remaining words")
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in names:
        del sys.argv[1]  # the bench reads the remaining words, such as --help
        sys.modules.pop(f"tests.bench.{name}", None)
        runpy.run_module(f"tests.bench.{name}", run_name="__main__")
        return
    words = parser.parse_args()
    page = readme.HELP / "cost.md"
    for name, run in (("hooks", hooks.main), ("inject", inject.main), ("recall", recall.main)):
        found = printed(run)
        print(f"## {name}\n\n{found}\n", flush=True)
        if words.readme:
            readme.write(page, f"bench:{name}", found)


if __name__ == "__main__":
    main()
