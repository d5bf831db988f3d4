"""Attachments: pictures and other files beside people's notes, found by path or, as in Obsidian, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import Response

from mdmem.errors import NotFoundError
from mdmem.vault import attachments, disk, note
from mdmem.web import address

if TYPE_CHECKING:
    from mdmem.config import Config
    from mdmem.web.site import PageRequest


def attachment(request: PageRequest) -> Response:
    """Answer with a file of the vault: a picture to be shown, anything else to be saved.

    Raises:
        NotFoundError: when there is none, or no note may show files of its kind.
    """
    wanted = request.parts["path"]
    for path in _places(request.config, wanted, request.query.get("from", "")):
        kind = address.attachment_type(path)
        data = disk.read_path(request.config.vault, path) if kind and not _is_hidden(path) else None
        if data is not None:
            name = quote(path.rpartition("/")[2])
            shown = "inline" if kind.startswith("image/") else f"attachment; filename*=UTF-8''{name}"
            # A picture of vectors may hold scripts, for which a page of its own would be a place to run.
            headers = {"content-disposition": shown, "content-security-policy": "sandbox", "cache-control": "no-store"}
            return Response(data, media_type=kind, headers=headers)
    raise NotFoundError(f"There is no attachment {wanted!r:.80}.")


def _is_hidden(path: str) -> bool:
    return note.is_internal(path) or any(part.startswith(".") for part in path.split("/"))


def _places(config: Config, wanted: str, base: str) -> list[str]:
    """Return where a file may lie: at this path, beside the note, or anywhere under this name."""
    near = [wanted, *([f"{base}/{wanted}"] if base else [])]
    if "/" in wanted or any(disk.read_path(config.vault, path) is not None for path in near):
        return near
    named = attachments.named(config.vault, wanted, config.settings)
    return [path for path in named if path.rpartition("/")[2] == wanted]
