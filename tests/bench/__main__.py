"""`python -m tests.bench`: what hooks, injection and the index cost, as ratios measured in one run.

`python -m tests.bench --readme` also puts the hooks' and the injection's tables into README.md. Single benches:
`python -m tests.bench.recall`, `.commands`, `.history`, `.imports`, `.mcp`, `.privacy`, `.watcher`.
"""

from __future__ import annotations

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
    words, sys.argv[1:] = sys.argv[1:], []
    text = readme.README.read_text(encoding="utf-8")
    for name, run in (("hooks", hooks.main), ("inject", inject.main), ("recall", recall.main)):
        found = printed(run)
        print(f"## {name}\n\n{found}\n", flush=True)
        if "--readme" in words and f"<!-- bench:{name} -->" in text:
            text = readme.put(text, f"bench:{name}", found)
    if "--readme" in words:
        readme.README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
