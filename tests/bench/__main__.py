"""`python -m tests.bench`: what hooks, injection and the index cost, as ratios measured in one run.

`python -m tests.bench --readme` also puts the tables into README.md. Other benches, one by one:
`python -m tests.bench.block_recall`, `.commands`, `.history`, `.imports`, `.mcp`, `.privacy`, `.watcher`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable

from tests import readme
from tests.bench import hooks, inject, recall


def printed(run: Callable[[], None]) -> str:
    """Run a bench and give what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run()
    return out.getvalue().strip()


def main() -> None:
    """Print the tables, one after another, as they are measured."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readme", action="store_true", help="put the tables into README.md")
    to_readme = parser.parse_args().readme
    sys.argv[1:] = []  # the benches read what is left
    text = readme.README.read_text(encoding="utf-8")
    for name, run in (("hooks", hooks.main), ("inject", inject.main), ("recall", recall.main)):
        found = printed(run)
        print(f"## {name}\n\n{found}\n", flush=True)
        if to_readme and f"<!-- bench:{name} -->" in text:
            text = readme.put(text, f"bench:{name}", found)
    if to_readme:
        readme.README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
