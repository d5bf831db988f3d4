"""What a vault is on disk: files, notes, front matter, layout, and people's own notes. Standard library only."""
