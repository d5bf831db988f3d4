"""Regular expressions that are compiled when they are first used.

A command uses few of the patterns of the modules that it loads; compiling one takes as long as loading a small module.
"""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    lazy = re.compile
else:

    class lazy:  # noqa: N801 - in place of `re.compile`
        """A pattern with the methods of `re.Pattern`; functions such as `re.sub` do not accept it."""

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self._made_of = pattern, flags

        def __getattr__(self, name: str) -> object:
            """Return an attribute of the compiled pattern, and keep it, so that this is called once for each."""
            value = getattr(re.compile(*self._made_of), name)
            setattr(self, name, value)
            return value
