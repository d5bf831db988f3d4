"""Values: classes that only hold named fields, as dataclasses do, which are too slow to import on the hook path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, dataclass_transform
else:

    def dataclass_transform() -> Any:
        """Return a decorator that changes nothing: it is for type checkers."""
        return lambda decorated: decorated


@dataclass_transform()
class Value:
    """A base of values: a subclass lists its fields with their types, and defaults where they have one.

    Those of its base come first. They are given in this order or by name. A default that is a dict is copied for
    each value.

    Raises TypeError when a value is given a field that it does not have. What is missing, only type checkers see.
    """

    _fields: tuple[str, ...] = ()
    _dicts: list[tuple[str, dict[str, Any]]] = []  # noqa: RUF012 - each class has its own

    def __init_subclass__(cls) -> None:
        """Take note of the fields of a class."""
        fields = tuple(cls.__annotations__)
        own = vars(cls)
        cls._fields += fields
        cls._dicts = cls._dicts + [(name, own[name]) for name in fields if name in own and type(own[name]) is dict]

    def __init__(self, *given: Any, **named: Any) -> None:
        fields = self._fields
        if len(given) > len(fields) or not named.keys() <= set(fields):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(fields)}.")
        own = self.__dict__
        for name, default in self._dicts:
            own[name] = default.copy()
        own.update(zip(fields, given, strict=False), **named)
