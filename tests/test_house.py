"""The house stays one that a stranger finds the way in: names, sizes, no circles. `tests.bench.house` prints more."""

from __future__ import annotations

from mdmem.server.tools import TOOLS
from tests.helpers import house

TWO_HALVES = {"HeldFolder"}
"""The POSIX and the Windows half of `mdmem.system` have the same names on purpose."""


def test_each_public_name_of_a_type_means_one_thing() -> None:
    twice = {name: where for name, where in house.public_types().items() if len(where) > 1}
    assert twice.keys() == TWO_HALVES, twice


def test_no_folder_has_more_than_25_modules() -> None:
    assert {name: count for name, count in house.folders().items() if count > 25} == {}


def test_no_modules_import_each_other_in_a_circle_not_even_for_their_types() -> None:
    assert "mdmem.config" in house.imports()["mdmem.capture.pending"]  # for a type only
    assert house.circles(house.imports()) == []


def test_no_function_is_longer_than_55_lines_and_no_module_than_450() -> None:
    assert [one for one in house.functions() if one.lines > 55] == []
    assert [name for name, module in house.modules().items() if module.lines > 450] == []


def test_no_function_has_more_than_8_parameters_unless_it_is_a_tool_or_a_command() -> None:
    """What an agent or a person can say to mdmem is an interface, and has as many parameters as it takes."""
    tools = {f"{row.function.__module__}.{row.function.__name__}" for row in TOOLS}
    assert [
        one for one in house.functions() if one.parameters > 8 and not one.is_command and one.where not in tools
    ] == []


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"d"}, "e": {"a"}}
    assert house.circles(graph) == [["a", "b", "c"]]
