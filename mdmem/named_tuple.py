"""Classes of tuples with named fields like `typing.NamedTuple`, for modules that hooks load.

Importing `typing` and creating thirty such classes takes as long as starting Python.
"""

from __future__ import annotations

from _collections import _tuplegetter  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class NamedTuple(tuple):
        """The base of such a class, whose annotations are the fields; it can have defaults and methods."""

        __slots__ = ()
        _fields = ()

        def __init_subclass__(cls) -> None:
            if cls.__base__ is not NamedTuple:
                return  # a class with the same fields
            cls._fields = cls.__match_args__ = fields = tuple(cls.__annotations__)
            cls._field_defaults = {field: cls.__dict__[field] for field in fields if field in cls.__dict__}
            for place, field in enumerate(fields):
                setattr(cls, field, _tuplegetter(place, None))

        def __new__(cls, *values: object, **by_name: object) -> NamedTuple:
            """Make the first tuple of a class, and its constructor, which many classes in a hook never need."""
            fields = ", ".join(cls._fields)
            make = eval(f"lambda _cls, {fields}: _new(_cls, ({fields},))", {"_new": tuple.__new__})  # noqa: S307
            make.__defaults__ = tuple(cls._field_defaults.values())
            cls.__new__ = staticmethod(make)
            return cls(*values, **by_name)

        def __getnewargs__(self) -> tuple[object, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        def _asdict(self) -> dict[str, object]:
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **by_name: object) -> NamedTuple:
            return type(self)(**(self._asdict() | by_name))
