"""Values hold the fields that their class lists, and nothing else."""

from __future__ import annotations

import pytest

from mdmem.values import Value


class Named(Value):
    """A value of a test."""

    name: str
    size: int = 1
    facts: dict[str, str] = {}  # noqa: RUF012 - copied for each


def test_fields_are_given_in_their_order_or_by_name() -> None:
    made = Named("a", size=2)
    assert (made.name, made.size, made.facts) == ("a", 2, {})


def test_each_value_has_a_dict_of_its_own() -> None:
    one, other = Named("a"), Named("b")
    one.facts["x"] = "y"
    assert other.facts == {}


def test_an_unknown_field_and_one_too_many_are_errors() -> None:
    with pytest.raises(TypeError, match="name, size, facts"):
        Named("a", color="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="name, size, facts"):
        Named("a", 1, {}, "red")  # type: ignore[call-arg]


def test_a_copy_has_other_values_only_for_the_fields_that_are_given() -> None:
    first = Named("a", facts={"x": "y"})
    second = first.replace(size=3)
    assert (first.size, second.name, second.size, second.facts) == (1, "a", 3, {"x": "y"})
    with pytest.raises(TypeError, match="name, size, facts"):
        first.replace(color="red")


class Placed(Named):
    """A value that is one of another class, with a place."""

    place: str = "here"
    notes: dict[str, str] = {}  # noqa: RUF012 - copied for each


def test_a_subclass_has_the_fields_of_its_base_first() -> None:
    made = Placed("a", 2, {"x": "y"}, "there")
    assert (made.name, made.size, made.facts, made.place) == ("a", 2, {"x": "y"}, "there")
    Placed("a").facts["x"] = Placed("a").notes["x"] = "z"
    assert (Placed("b").facts, Placed("b").notes) == ({}, {})
