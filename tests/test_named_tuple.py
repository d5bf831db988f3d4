"""Named tuples behave like those of `typing`."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import named_tuple


class Own(named_tuple.NamedTuple):
    """A class as modules that hooks load define it; `new` and `cls` could be names inside its constructor."""

    new: object
    cls: object
    size: object = 0
    names: object = ()

    @property
    def both(self) -> tuple[object, object]:
        return self.new, self.cls


class Usual(typing.NamedTuple):
    new: object
    cls: object
    size: object = 0
    names: object = ()


VALUES = st.lists(st.integers() | st.text(), min_size=2, max_size=4)


@given(VALUES, st.dictionaries(st.sampled_from(Usual._fields), st.integers()))
def test_it_is_the_tuple_that_typing_makes(values: list[object], changes: dict[str, object]) -> None:
    own, usual = Own(*values), Usual(*values)
    expected = tuple(usual)
    assert own == expected
    assert hash(own) == hash(usual)
    assert Own(**usual._asdict()) == expected
    assert own._replace(**changes) == tuple(usual._replace(**changes))
    assert repr(own) == repr(usual).replace("Usual", "Own")
    assert (own.new, own.cls, own.size, own.names) == expected
    assert own.both == expected[:2]
    assert copy.deepcopy(own) == pickle.loads(pickle.dumps(own)) == own
    assert type(copy.copy(own)) is Own


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3, 4, 5)])
def test_it_takes_its_fields_and_no_others(values: tuple[int, ...]) -> None:
    with pytest.raises(TypeError):
        Own(*values)
    with pytest.raises(TypeError):
        Own(1, 2, other=3)  # type: ignore[call-arg]


def test_a_class_made_of_it_has_its_fields() -> None:
    class Wider(Own):
        @property
        def width(self) -> int:
            return len(self)

    assert Wider(1, 2)._replace(size=3) == (1, 2, 3, ())
    assert Wider(1, cls=2).width == 4


def test_it_matches_by_position() -> None:
    match Own(1, 2, 3):
        case Own(first, _, third):
            assert (first, third) == (1, 3)
