"""Classes with named fields, like dataclasses, which are too slow to import on the hook path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform() -> Any:
        """Return a decorator that changes nothing: it is for type checkers."""
        return lambda decorated: decorated


@dataclass_transform()
class Value:
    """A base class for values: a subclass lists its fields with types and optional defaults.

    Inherited fields come first. Arguments are given in this order or by name. A default dict is copied for each
    value.

    Raises TypeError for an unknown field. A missing one is noticed only by type checkers.
    """

    _fields: tuple[str, ...] = ()
    _dicts: list[tuple[str, dict[str, Any]]] = []  # noqa: RUF012 - each class has its own

    def __init_subclass__(cls) -> None:
        """Collect the fields of a class."""
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

    def replace(self, **changed: Any) -> Self:
        """Return a copy with some fields changed."""
        return type(self)(**{name: getattr(self, name) for name in self._fields} | changed)
