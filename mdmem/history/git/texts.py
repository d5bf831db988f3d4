"""Texts of files that git has, by path: read one at a time, when they are asked for, however many there are."""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterator, Mapping, MutableMapping

from mdmem.history.git import objects
from mdmem.history.git.repository import Repository


class Texts(MutableMapping[str, bytes]):
    """The texts of files: bytes where they are held, the id of a blob where git has them.

    files: theirs from now on, since a copy for each of a vault's files would show.
    """

    def __init__(self, repo: Repository, files: Mapping[str, str | bytes]) -> None:
        self._repo = repo
        self._files = files if isinstance(files, dict) else dict(files)

    def __getitem__(self, path: str) -> bytes:
        held = self._files[path]
        return held if isinstance(held, bytes) else dict(objects.read(self._repo, [held]))[held]

    def __setitem__(self, path: str, data: bytes) -> None:
        self._files[path] = data

    def __delitem__(self, path: str) -> None:
        del self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def items(self) -> ItemsView[str, bytes]:
        """Return the paths with their texts, which are read as they are asked for."""
        return _Items(self)

    def is_as(self, path: str, data: bytes | None) -> bool:
        """Whether the text at a path is this one, without reading it; None: there is none."""
        held = self._files.get(path)
        if held is None or data is None:
            return held is None and data is None
        return held == data if isinstance(held, bytes) else objects.blob_id(data, held) == held

    def without(self, paths: Collection[str]) -> Texts:
        """Return the same texts but for those at these paths."""
        if not paths:
            return self
        return Texts(self._repo, {path: held for path, held in self._files.items() if path not in paths})

    def read(self) -> Iterator[tuple[str, bytes]]:
        """Yield the paths with their texts. Raises KeyError when git lacks a text."""
        texts = objects.read(self._repo, (held for held in self._files.values() if isinstance(held, str)))
        for path, held in self._files.items():
            oid, data = next(texts, ("", b"")) if isinstance(held, str) else (held, held)
            if oid != held:
                raise KeyError(path)
            yield path, data


class _Items(ItemsView[str, bytes]):
    def __init__(self, texts: Texts) -> None:
        super().__init__(texts)
        self._texts = texts

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        return self._texts.read()
