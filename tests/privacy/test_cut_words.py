"""A private word or a secret of which a tool shows only a part is masked as far as it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem import config
from mdmem.config import Config
from mdmem.privacy import clean, memory

WORD = "Zanzibarion-Quellwerk"
TOKEN = "Kwortle4-Vimsy7-Brax"


@pytest.fixture
def settings(vault: Path) -> Config:
    vault.mkdir(parents=True, exist_ok=True)
    return config.load()


def masked(settings: Config, text: str) -> str:
    memory.learn(settings, "session", [WORD], [TOKEN])
    value: str = clean(text, origin="tool", echo=memory.load(settings, "session")).value
    return value


@pytest.mark.parametrize("whole", [WORD, TOKEN])
@pytest.mark.parametrize(
    "shown",
    [
        "the customer is {}",
        "the customer is {}\n",
        "customer {}… and",
        "customer {}... and",
        "customer {}\n[truncated 4096 characters]",
        "customer {} [truncated]",
        "one customer is {}\nthe next line",
    ],
)
def test_a_word_that_is_cut_off_behind_its_half_is_masked(settings: Config, shown: str, whole: str) -> None:
    for size in (len(whole) // 2 + 1, len(whole) - 4, len(whole) - 1):
        piece = whole[:size]
        mark = "[PRIVATE]" if whole == WORD else "[REDACTED]"

        assert masked(settings, shown.format(piece)) == shown.format(mark)


@pytest.mark.parametrize("shown", ["{} is the customer", "and …{} is it", "and ...{} is it"])
def test_a_word_that_is_cut_off_before_its_half_is_masked(settings: Config, shown: str) -> None:
    assert masked(settings, shown.format(WORD[3:])) == shown.format("[PRIVATE]")
    assert masked(settings, shown.format(TOKEN[3:])) == shown.format("[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "to zanz…",
        "Zanz",
        "a quell in the text",
        f"{TOKEN[:13]} and more on its line",
        f"{TOKEN[:6]}",
        f"x{TOKEN[:13]}",
    ],
)
def test_another_word_that_begins_alike_stays(settings: Config, text: str) -> None:
    assert masked(settings, text) == text


def test_an_everyday_half_of_a_private_word_stays(settings: Config) -> None:
    memory.learn(settings, "other", ["staging-kwortle"])

    stored = clean("we deploy to staging\n", origin="tool", echo=memory.load(settings, "other")).value

    assert stored == "we deploy to staging\n"
