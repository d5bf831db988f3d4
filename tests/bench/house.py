"""`python -m tests.bench.house`: prints the size of the product: lines by room, modules, folders, functions, cycles."""

from __future__ import annotations

import statistics

from tests.helpers import house


def main() -> None:
    """Print the figures as a table."""
    modules, functions = house.modules(), list(house.functions())
    lines, sizes = [one.lines for one in modules.values()], sorted(one.lines for one in functions)
    folders = house.folders()
    rows = {
        "lines": f"{sum(lines):,}",
        "by room": ", ".join(f"{name} {count:,}" for name, count in house.rooms().most_common()),
        "modules": f"{len(modules)}, median {statistics.median(lines):.0f} lines, largest {max(lines)}",
        "largest folders": ", ".join(
            f"{name} {count}" for name, count in sorted(folders.items(), key=lambda item: -item[1])[:5]
        ),
        "functions": f"{len(sizes):,}, median {statistics.median(sizes):.0f} lines, 95 % at most"
        f" {sizes[len(sizes) * 95 // 100]}, longest {sizes[-1]}",
        "most parameters": f"{max(one.parameters for one in functions)}",
        "names of types used twice": ", ".join(n for n, where in house.public_types().items() if len(where) > 1) or "0",
        "circles of imports": "; ".join(" ↔ ".join(group) for group in house.circles(house.imports())) or "0",
    }
    for name, text in rows.items():
        print(f"{name:<24}{text}")


if __name__ == "__main__":
    main()
