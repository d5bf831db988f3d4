"""What a vault is on disk: files, notes, front matter, layout, and people's own notes. Standard library only."""

JOURNAL = "journal"
"""The folder with everything that was captured; `layout` knows what is below it."""
NOTES = "notes"
"""The folder with notes that people and agents write themselves."""
DAYS = "days"
"""The folder of the pages of days, which cover all projects."""
START_PAGE = "README.md"
"""The page that a person sees first in a file browser or at a git host."""

MAX_PATH_CHARS = 159
"""Maximum length of a note's path relative to the vault: Windows allows 260 including the vault's own path.

It does not depend on where the vault is, so that an event's note has the same name on every machine."""


def is_in_journal(path: str) -> bool:
    """Whether a vault-relative path is below the folder of the journal, so that mdmem captured or generated it."""
    return path.startswith(f"{JOURNAL}/")
