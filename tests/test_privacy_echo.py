"""The echo: what a private section held is masked later on, and is in no file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mdmem
from mdmem.privacy import Rules, clean, echo

SECRET = "hunter2!pass"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "run" / "session.echo")


def remembered(path: str, prompt: str) -> echo.Echo:
    echo.remember(path, clean(prompt).spans)
    loaded = echo.load(path)
    assert loaded is not None
    return loaded


@pytest.mark.parametrize(
    "line",
    [
        "PGPASSWD={} psql",
        "echo '{}' | login",
        '{{"text":"{}","x":1}}',
        "url?x={}&y=1",
        "it is {}.",
        "`{}`",
        "[{}]({})",
        "line\n{}\nline",
        "--pw={}",
        "x:{},y",
    ],
)
def test_what_was_private_is_masked_when_the_agent_repeats_it(path: str, line: str) -> None:
    memory = remembered(path, f"use <private>bob and {SECRET} for it</private> please")

    cleaned = clean(line.format(SECRET, SECRET), rules=Rules(secrets=False), origin="tool", echo=memory)

    assert SECRET not in cleaned.value
    assert "[PRIVATE]" in cleaned.value
    assert cleaned.private == line.count("{}")


@pytest.mark.parametrize("secret", ["a-b-c-d-e1", "p@ss:w=rd,12", "Zx81kQ0p", "한글비밀번호입니다", "x" * 3000])
def test_values_with_signs_in_them_are_known_again(path: str, secret: str) -> None:
    memory = remembered(path, f"<private>{secret}</private> ok")

    for line in ("{}", "see {} there", 'X="{}"', "X={}"):
        assert secret not in clean(line.format(secret), origin="tool", echo=memory).value


@pytest.mark.parametrize(
    "text", ["ssh bob@heron-box-42 ls", "heron-box-42.txt", "https://heron-box-42.lan/x", "bob@heron.acme.io:/srv"]
)
def test_the_name_of_a_machine_is_known_again_wherever_it_stands(path: str, text: str) -> None:
    memory = remembered(path, "<private>log in to heron-box-42 and to heron.acme.io</private> please")

    assert "heron" not in clean(text, origin="tool", echo=memory).value


def test_keys_lists_and_nested_values_are_masked_too(path: str) -> None:
    memory = remembered(path, "<private>customer Falconridge-9</private>")
    value: Any = {"Falconridge-9": ["see Falconridge-9", {"file_path": "/srv/Falconridge-9/a.txt"}]}

    assert clean(value, origin="tool", echo=memory).value == {
        "[PRIVATE]": ["see [PRIVATE]", {"file_path": "/srv/[PRIVATE]/a.txt"}]
    }


def test_short_and_common_words_and_other_texts_stay(path: str) -> None:
    memory = remembered(path, "<private>the production database of 2026-11-20 is hunter2 and Falconridge</private>")
    text = "on 2026-11-20 the production database of hunter22 and Falconridges is up"

    cleaned = clean(text, origin="tool", echo=memory)

    assert (cleaned.value, cleaned.private) == (text, 0)


def test_no_token_is_in_the_file_and_only_the_user_can_read_it(path: str) -> None:
    remembered(path, f"<private>{SECRET} Falconridge</private>")

    data = Path(path).read_bytes()
    for token in (SECRET, "Falconridge", "hunter2", SECRET.encode().hex(), b"Falconridge".hex()):
        assert token.encode() not in data
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700


def test_two_sessions_hash_the_same_token_differently(tmp_path: Path) -> None:
    for name in ("a", "b"):
        echo.remember(str(tmp_path / name), ["Falconridge"])

    first, second = ((tmp_path / name).read_bytes().split() for name in ("a", "b"))
    assert len(first) == 2
    assert set(first).isdisjoint(second)


def test_later_private_sections_are_added(path: str) -> None:
    remembered(path, "<private>Falconridge</private>")
    memory = remembered(path, "<private>Owlbottom and Falconridge</private>")

    assert clean("Falconridge, Owlbottom", echo=memory).value == "[PRIVATE], [PRIVATE]"
    assert len(Path(path).read_bytes().split()) == 3


def test_any_number_of_processes_can_remember_at_once(path: str) -> None:
    words = [f"Falconridge{number}" for number in range(16)]
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from mdmem.privacy import echo; echo.remember(sys.argv[2], sys.argv[3:])"
    )
    root = str(Path(mdmem.__file__).parent.parent)

    started = [subprocess.Popen([sys.executable, "-I", "-S", "-c", code, root, path, word]) for word in words]
    assert [process.wait(60) for process in started] == [0] * len(words)

    memory = echo.load(path)
    assert memory is not None
    assert clean(" ".join(words), origin="tool", echo=memory).private == len(words)


def test_a_file_that_is_broken_or_not_there_does_no_harm(path: str, tmp_path: Path) -> None:
    assert echo.load(path) is None
    for data in (b"", b"\n", b"no key\nno digest\n", b"\xff" * 100, b"00" * 32):
        broken = tmp_path / "broken"
        broken.write_bytes(data)
        assert echo.load(str(broken)) is None
        echo.remember(str(broken), ["Falconridge"])
        memory = echo.load(str(broken))
        assert memory is not None
        assert clean("Falconridge", echo=memory).value == "[PRIVATE]"
        broken.unlink()


def test_a_line_cut_off_by_a_kill_spoils_no_other(path: str) -> None:
    remembered(path, "<private>Falconridge</private>")
    with open(path, "ab") as file:
        file.write(b"00ff")

    memory = remembered(path, "<private>Owlbottom1</private>")

    assert clean("Falconridge Owlbottom1", echo=memory).value == "[PRIVATE] [PRIVATE]"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    link = tmp_path / "link.echo"
    link.symlink_to(target)

    with pytest.raises(OSError, match="symbolic"):
        echo.remember(str(link), ["Falconridge"])
    assert echo.load(str(link)) is None
    assert not target.exists()


def test_a_mark_is_never_an_echo(path: str) -> None:
    memory = remembered(path, "<private>REDACTED:password LEFT-OUT-HERE</private>")
    rules = Rules(marker="LEFT-OUT-HERE", name_kinds=True)

    once = clean("a LEFT-OUT-HERE b password=hunter2", rules=rules, echo=memory)

    assert once.value == "a LEFT-OUT-HERE b password=[REDACTED:password]"
    assert once.private == 0


@given(st.text(min_size=8, max_size=40).filter(lambda word: not any(map(str.isspace, word))), st.text(), st.text())
def test_any_long_token_between_blanks_is_masked(token: str, before: str, after: str) -> None:
    token = clean(token, rules=Rules(secrets=False)).value
    memory = _memory(token)
    if memory is None or len(token) < 8:
        return
    text = clean(f"{before} {token} {after}", rules=Rules(secrets=False)).value

    cleaned = clean(text, rules=Rules(secrets=False, marker=""), origin="tool", echo=memory)

    assert token not in cleaned.value.split()


def _memory(token: str) -> echo.Echo | None:
    key = bytes(32)
    tokens = echo._worth_remembering([token])
    return echo.Echo(key, frozenset(echo._digest(key, token) for token in tokens)) if tokens else None
