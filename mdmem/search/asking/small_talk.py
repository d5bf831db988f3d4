"""Small talk: tells prompts that only agree, thank or stop, so that nobody looks for what they say."""

from __future__ import annotations

DISMISSED = frozenset(
    ["", "ok", "okay", "thanks", "thank you", "thx", "stop", "cancel", "never mind", "nevermind", "exit", "quit", "bye"]
)
GO_ON = frozenset(["go on", "continue", "yes", "y", "do it", "go ahead", "proceed", "please continue", "keep going"])


def says_little(text: str) -> bool:
    """Whether a prompt only agrees, thanks or stops."""
    return plain_text(text) in DISMISSED | GO_ON


def plain_text(text: str) -> str:
    """Return a prompt in lower case, without the marks at its end."""
    return " ".join(text.lower().split()).strip(" .!?…")
