"""The errors that a hook may meet, without those of the commands: creating each class costs a hook time."""


class MdmemError(Exception):
    """A failure whose message says what, where, and what to do next. Exit status 1.

    text, todo: the message's two parts, for callers that show them separately; `todo` is "" if `text` has both.
    """

    exit_code = 1

    def __init__(self, text: str = "", todo: str = "") -> None:
        super().__init__(f"{text} {todo}" if todo else text)
        self.text, self.todo = text, todo


class ConfigError(MdmemError):
    """A settings file cannot be read or has an invalid value. Exit status 3."""

    exit_code = 3


class VaultError(MdmemError):
    """The vault does not exist or cannot be written. Exit status 4."""

    exit_code = 4


def no_vault(root: object) -> VaultError:
    """Return the error for a missing vault."""
    return VaultError(f"No vault at {root}.", "Run `mdmem init`, or point MDMEM_VAULT at an existing one.")


class PatternError(ConfigError):
    """One of the user's own patterns takes too long, so the text it should check is not stored. Exit status 3."""


class DeadlineError(BaseException):
    """The process has run out of time. Not an `Exception`, so that no handler on the way catches it.

    has_passed: whether this process has run out of time, so that only quick work is left to do.
    """

    has_passed = False
