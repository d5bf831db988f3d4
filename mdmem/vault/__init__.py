"""What a vault is on disk: files, notes, front matter, layout, and people's own notes. Standard library only."""

JOURNAL = "journal"
"""The folder with everything that was captured; `layout` knows what is below it."""


def is_in_journal(path: str) -> bool:
    """Whether a vault-relative path is below the folder of the journal, so that mdmem captured or generated it."""
    return path.startswith(f"{JOURNAL}/")
