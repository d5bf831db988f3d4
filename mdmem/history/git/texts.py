"""File contents by path, read from git one at a time, so that any number of files fits."""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterator, Mapping

from mdmem.history.git import objects
from mdmem.history.git.repository import Repository


class Texts(Mapping[str, bytes]):
    """File contents: bytes in memory, or the id of a blob in git.

    files: owned by this object from now on. A copy would cost memory for each file of the vault.
    """

    def __init__(self, repo: Repository, files: Mapping[str, str | bytes]) -> None:
        self._repo = repo
        self._files = files if isinstance(files, dict) else dict(files)

    def __getitem__(self, path: str) -> bytes:
        source = self._files[path]
        return source if isinstance(source, bytes) else objects.contents(self._repo, [source])[source]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def items(self) -> ItemsView[str, bytes]:
        """Return paths and contents; each content is read during iteration."""
        return _Items(self)

    def update(self, texts: Mapping[str, bytes]) -> None:
        """Add files, or replace their contents."""
        self._files.update(texts)

    def is_as(self, path: str, data: bytes | None) -> bool:
        """Whether the file at a path has this content, without reading it; None: there is no file."""
        source = self._files.get(path)
        if source is None or data is None:
            return source is None and data is None
        return source == data if isinstance(source, bytes) else objects.blob_id(data, source) == source

    def without(self, paths: Collection[str]) -> Texts:
        """Return a mapping without these paths."""
        if not paths:
            return self
        return Texts(self._repo, {path: source for path, source in self._files.items() if path not in paths})

    def read(self) -> Iterator[tuple[str, bytes]]:
        """Yield paths and contents. Raises KeyError when git lacks a blob."""
        texts = objects.read(self._repo, (source for source in self._files.values() if isinstance(source, str)))
        for path, source in self._files.items():
            oid, data = next(texts, ("", b"")) if isinstance(source, str) else (source, source)
            if oid != source:
                raise KeyError(path)
            yield path, data


class _Items(ItemsView[str, bytes]):
    def __init__(self, texts: Texts) -> None:
        super().__init__(texts)
        self._texts = texts

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        return self._texts.read()
