"""Merge two machines' versions of a vault: trees by path and id, notes by key, texts by line."""
