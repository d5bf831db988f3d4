"""How many secrets of made-up sets are found, and how little is masked in real code."""

from __future__ import annotations

import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from mdmem.privacy import clean
from tests.helpers import credential_places, credentials

LEAST_FOUND = {
    "settings": 0.99,
    "json": 0.99,
    "code": 0.98,
    "command": 0.97,
    "document": 0.97,
    "vendor settings": 0.98,
    "vendor json": 0.97,
    "vendor bare": 0.88,
}
"""The share of made-up secrets that is found at least, by the set of places they are written in."""

LEAST_OF_RANDOM = {
    "{14:low}": 0.5,
    "{15:low}": 0.6,
    "{15:an}": 0.6,
    "{16:an}": 0.79,
    "{20:an}": 0.88,
    "{32:an}": 0.96,
    "{40:b64}": 0.95,
    "{40:an}": 0.96,
    "{20:low}": 0.88,
    "{32:low}": 0.96,
    "{17:low}": 0.6,
    "{20:up}": 0.88,
    "{32:b32}": 0.94,
    "{32:signed}": 0.7,
    "{37:hex}": 0.9,
    "{11:low}AAAAAAAAAA{43:low}": 0.95,
}

CORPORA = ("json", "http", "email", "asyncio", "unittest", "importlib")
"""Packages of the standard library, as real code and prose: some 1.6 MB, which many a test would mask to bits."""


def test_nine_tenths_of_the_credentials_that_vendors_document_are_found() -> None:
    missed: Counter[str] = Counter()
    made = list(credentials.samples(4, seed=20))
    for sample in made:
        if sample.survives(clean(sample.text, origin="tool").value):
            missed[sample.name] += 1

    recall = 1 - missed.total() / len(made)
    assert recall >= 0.9, f"recall {recall:.3f}, missed: {dict(missed)}"
    assert len(credentials.FORMATS) >= 150


def test_secrets_are_found_where_settings_code_commands_and_documents_hold_them() -> None:
    made, missed = Counter[str](), Counter[str]()
    for group, sample in [*credential_places.placed(1, seed=7), *credential_places.vendors(1, seed=8)]:
        made[group] += 1
        missed[group] += sample.survives(clean(sample.text, origin="tool").value)

    found = {group: 1 - missed[group] / made[group] for group in made}
    assert found.keys() == LEAST_FOUND.keys()
    assert {group: share for group, share in found.items() if share < LEAST_FOUND[group]} == {}


@pytest.mark.slow
def test_hardly_anything_is_masked_in_real_code() -> None:
    library = Path(sysconfig.get_paths()["stdlib"])
    files = [path for name in CORPORA for path in (library / name).rglob("*.py")]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]

    masked = sum(clean(text, origin="tool").redacted for text in texts)

    megabytes = sum(map(len, texts)) / 1e6
    assert megabytes > 0.5
    assert masked / megabytes <= 5


@pytest.mark.slow
def test_most_random_words_are_found_with_nothing_beside_them() -> None:
    for pattern, least in LEAST_OF_RANDOM.items():
        made = list(credentials.made(pattern, 200, seed=6))
        found = sum(not sample.survives(clean(sample.text, origin="tool").value) for sample in made)
        assert found >= least * len(made), pattern
