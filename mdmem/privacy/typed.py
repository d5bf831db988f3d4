"""Tags in a typed prompt: those that are unknown, and the prompt without its tags."""

from __future__ import annotations

from mdmem.privacy import sections, tags, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.privacy import Rules


def unknown_tags(prompt: str, rules: Rules) -> list[str]:
    """Return the names of elements that look like private tags and are none, such as `private-note`."""
    if not text.may_hold_private(prompt, rules):
        return []
    return list(dict.fromkeys(tags.unknown(text.lower(prompt), rules.tags)))


def without_tags(prompt: str, rules: Rules) -> str:
    """Return a prompt with what its private tags hide, and without these tags; on the owner's request only."""
    for _ in range(text.MAX_ROUNDS):
        before = prompt
        prompt = sections.without_tags(prompt, text.lower(prompt), rules.tags)
        if prompt == before:
            break
    return prompt
