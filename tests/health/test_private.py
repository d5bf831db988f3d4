"""Doctor: notes that hold what a later event of their session called private or a secret."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.claude import OTHER, prompt, send, stop

Mdmem = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("later", ["the password is velvetOcean7x", "the plan of <private>velvetOcean7x</private>"])
def test_doctor_finds_the_notes_that_hold_what_a_later_prompt_calls_private(
    vault: Path, mdmem: Mdmem, later: str
) -> None:
    send(prompt("log in to the box"))
    send(stop("I typed velvetOcean7x there."))
    send(prompt("another session uses velvetOcean7x", session_id=OTHER))
    found = json.loads(mdmem("doctor", "--only", "notes", "--json").stdout)
    assert not any("later event" in one["text"] for one in found)
    send(prompt(later, 2))

    found = json.loads(mdmem("doctor", "--only", "notes", "--json").stdout)

    (told,) = [one for one in found if "later event" in one["text"]]
    assert "001-001-response-" in told["text"]
    assert "mdmem purge" in told["todo"]
