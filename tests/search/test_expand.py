"""A model's help with searching: only on request, never with private text, and harmless when it fails.

The providers are stand-ins: a program called `claude` on PATH, and a server that speaks the vendors' protocols
to their own client libraries.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mdmem import config
from mdmem.search.expansion import calls, hyde, ledger, providers
from tests.conftest import own_settings
from tests.helpers.model_server import PROTOCOLS, ModelServer
from tests.helpers.talk import Talk

NOTE = "The date parser in dates.py failed on 2026-02-29 because parse_date took every February for 28 days."
QUERY = "Why did the date parser fail? <private>my boss is S3CRET</private> password=hunter2hunter2"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    found = ModelServer()
    yield found
    found.close()


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is all of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, bin_folder: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC", "OPENAI", "OPENROUTER"))]:
        monkeypatch.delenv(name)


def settings(vault: Path, **values: Any) -> config.Config:
    found = config.load(str(vault))
    values = {"deadline_seconds": 60.0, **values}  # a busy machine is no failure
    found.settings.values |= {f"expand.{name}": value for name, value in values.items()}
    return found


def stand_in(folder: Path, code: str) -> None:
    """Put a program called `claude` on PATH that keeps its words, stdin and environment, then runs `code`."""
    path = folder / "claude"
    head = f"""\
        #!{sys.executable} -I
        import json, os, sys, time
        said = sys.stdin.read()
        with open({str(folder / "seen.json")!r}, "w") as file:
            json.dump({{"words": sys.argv[1:], "stdin": said, "env": dict(os.environ), "cwd": os.getcwd()}}, file)
        """
    path.write_text(textwrap.dedent(head) + code)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def seen(folder: Path) -> Any:
    return json.loads((folder / "seen.json").read_text())


ANSWER = f"print(json.dumps({{'type': 'result', 'is_error': False, 'result': {NOTE!r}}}))"


def outcomes(found: config.Config) -> list[tuple[str, str]]:
    return [(row["provider"], row["outcome"]) for row in ledger.read(found)]


# -- Claude's program ------------------------------------------------------------------------------


def test_claude_is_asked_first_without_tools_hooks_key_or_private_text(
    vault: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(bin_folder, ANSWER)
    for name in ("ANTHROPIC_API_KEY", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "MDMEM_NOW"):
        monkeypatch.setenv(name, "x")
    found = settings(vault)

    assert hyde.guess(found, QUERY, caller="search") == NOTE

    got = seen(bin_folder)
    assert "date parser" in got["stdin"]
    assert "S3CRET" not in got["stdin"]
    assert "hunter2" not in got["stdin"]
    assert got["words"][:3] == ["-p", "--output-format", "json"]
    assert '{"disableAllHooks": true}' in got["words"]
    assert got["env"]["MDMEM_CHILD"] == "1"
    assert not {"ANTHROPIC_API_KEY", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "MDMEM_NOW"} & set(got["env"])
    assert got["cwd"].startswith(found.state_dir)


def test_every_call_is_a_line_in_the_ledger_with_sizes_and_no_content(vault: Path, bin_folder: Path) -> None:
    stand_in(bin_folder, ANSWER)
    found = settings(vault)

    hyde.guess(found, QUERY, caller="search")

    (row,) = ledger.read(found)
    assert (row["provider"], row["model"], row["caller"], row["outcome"]) == ("claude-cli", "haiku", "search", "ok")
    assert row["received_chars"] == len(NOTE)
    assert row["sent_chars"] > len("Why did the date parser fail?")
    assert row["seconds"] > 0
    assert "parser" not in (Path(found.state_dir) / ledger.FILE).read_text()


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("print('not json')", "rubbish"),
        ("print(json.dumps(['result']))", "rubbish"),
        ("print(json.dumps({'result': 'Too short'}))", "rubbish"),
        ("print(json.dumps({'result': '<html><body>502 Bad Gateway, try again later</body></html>'}))", "rubbish"),
        ("print(json.dumps({'result': 7}))", "rubbish"),
        ("print('[' * 100000)", "rubbish"),
        ("os.write(1, os.urandom(2000))", "rubbish"),
        (f"{ANSWER}; sys.exit(1)", "rubbish"),
        ("print(json.dumps({'is_error': True, 'result': 'Invalid API key. Please run /login to go on.'}))", "rubbish"),
        ("print(json.dumps({'result': \"I'm sorry, but I can't help with that request at all.\"}))", "refused"),
        ("print(json.dumps({'stop_reason': 'refusal', 'result': ''}))", "refused"),
        ("time.sleep(60)", "timeout"),
        ("os.close(1); time.sleep(60)", "timeout"),
    ],
    ids=[
        "text",
        "list",
        "short",
        "html",
        "number",
        "deep",
        "binary",
        "status",
        "error",
        "sorry",
        "refusal",
        "slow",
        "shut",
    ],
)
def test_a_claude_that_refuses_dawdles_or_raves_changes_nothing(
    vault: Path, bin_folder: Path, code: str, outcome: str
) -> None:
    stand_in(bin_folder, code)
    found = settings(vault, deadline_seconds=0.1 if outcome == "timeout" else 60.0)

    assert hyde.guess(found, "the date parser", caller="search") == ""
    assert outcomes(found) == [("claude-cli", outcome)]
    log = (Path(found.state_dir) / "log").read_text()
    assert f"claude-cli gave nothing ({outcome})" in log


def test_what_claude_has_started_is_ended_with_it(vault: Path, bin_folder: Path) -> None:
    child = "[sys.executable, '-c', 'import time; time.sleep(60)'], stdout=subprocess.DEVNULL"
    stand_in(bin_folder, f"import subprocess\nopen({str(bin_folder / 'child')!r}, 'w').write("
                         f"str(subprocess.Popen({child}).pid))\n{ANSWER}")  # fmt: skip

    assert hyde.guess(settings(vault, deadline_seconds=60.0), "the date parser", caller="search") == NOTE

    pid = int((bin_folder / "child").read_text())
    until = time.monotonic() + 240
    while time.monotonic() < until and _is_alive(pid):
        time.sleep(0.02)
    assert not _is_alive(pid)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def test_claude_is_passed_over_when_the_user_says_so_or_when_it_is_not_there(vault: Path, bin_folder: Path) -> None:
    assert hyde.guess(settings(vault), "the date parser", caller="search") == ""
    stand_in(bin_folder, ANSWER)
    assert hyde.guess(settings(vault, without_claude_cli=True), "the date parser", caller="search") == ""
    assert not (bin_folder / "seen.json").exists()


def test_the_environment_says_who_is_asked(vault: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(bin_folder, ANSWER)
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def chosen(**env: str) -> list[str]:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in env.items():
                patch.setenv(name, value)
            return calls.chosen(config.load(str(vault)), os.environ)

    assert chosen() == ["claude-cli", "openai"]
    assert chosen(MDMEM_DISABLE_CLAUDE_CLI="1") == ["openai"]
    assert chosen(MDMEM_PROVIDER="openai") == ["openai"]
    assert chosen(MDMEM_PROVIDER="claude_cli") == ["claude-cli"]
    assert chosen(MDMEM_PROVIDER="anthropic") == ["anthropic"]
    assert chosen(MDMEM_PROVIDER="nobody") == []
    monkeypatch.setenv("MDMEM_HYDE_MODEL", "opus")
    hyde.guess(config.load(str(vault)), "the date parser", caller="search")
    assert "opus" in seen(bin_folder)["words"]


def test_a_vault_can_neither_switch_it_on_nor_say_where_text_goes(vault: Path) -> None:
    (vault / "mdmem.toml").write_text(
        '[expand]\nenabled = true\nprovider = "compatible"\naddress = "http://evil.example/v1"\nmodel = "m"\n'
    )

    found = config.load(str(vault))

    assert found.settings.expand.enabled is False
    assert found.settings.expand.address == ""
    assert len(found.warnings) == 4


def test_a_wholly_private_query_is_not_sent(vault: Path, bin_folder: Path) -> None:
    stand_in(bin_folder, ANSWER)

    assert hyde.guess(settings(vault), "<private>the date parser</private>", caller="search") == ""
    assert not (bin_folder / "seen.json").exists()


def test_a_program_that_mdmem_started_asks_no_model(
    vault: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(bin_folder, ANSWER)
    monkeypatch.setenv("MDMEM_CHILD", "1")

    assert hyde.guess(settings(vault), "the date parser", caller="search") == ""


# -- providers with a key --------------------------------------------------------------------------


def use(name: str, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Make one provider the only one, at the stand-in server; return the settings for it."""
    if name == "compatible":
        return {"address": f"{server.address}/v1"}
    monkeypatch.setenv(f"{name.upper()}_API_KEY", "the-key")
    monkeypatch.setenv(f"{name.upper()}_BASE_URL", server.address if name == "anthropic" else f"{server.address}/v1")
    return {}


PROTOCOL = {"anthropic": "anthropic", "openai": "openai", "openrouter": "openai", "compatible": "openai"}


@pytest.mark.parametrize("name", PROTOCOL)
def test_every_provider_is_asked_in_its_own_protocol(
    name: str, vault: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.speaks(PROTOCOL[name], NOTE)
    found = settings(vault, deadline_seconds=60.0, model="a-model", **use(name, server, monkeypatch))

    assert hyde.guess(found, QUERY, caller="search") == NOTE

    ((path, headers, body),) = server.requests
    assert path == ("/v1/messages" if name == "anthropic" else "/v1/chat/completions")
    assert body["model"] == "a-model"
    assert body.get("max_tokens") or body.get("max_completion_tokens")
    said = json.dumps(body)
    assert "date parser" in said
    assert "S3CRET" not in said
    assert "hunter2" not in said
    if name != "compatible":
        assert "the-key" in (headers.get("x-api-key") or headers["authorization"])
    assert outcomes(found) == [(name, "ok")]


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_server_that_fails_raves_or_refuses_changes_nothing(
    name: str, vault: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = settings(vault, deadline_seconds=60.0, **use(name, server, monkeypatch))
    known = [
        (500, b"{}", "error: HTTP 500"),
        (401, b'{"error": {"message": "bad key"}}', "error: HTTP 401"),
        (429, b"{}", "error: HTTP 429"),
        (307, b"{}", "error: HTTP 307"),
        (200, _refusal(name), "refused"),
    ]
    rubbish = (b"<html>", b"{}", b"", bytes(range(256)) * 2, b"[" * 50_000)

    for server.status, server.body, _ in known:
        assert hyde.guess(found, "the date parser", caller="search") == ""
    assert outcomes(found) == [(name, outcome) for _, _, outcome in known]
    assert "bad key" in ledger.read(found)[1]["error"]
    for server.status, server.body in ((200, body) for body in rubbish):
        assert hyde.guess(found, "the date parser", caller="search") == ""
    assert all(outcome != "ok" for _, outcome in outcomes(found))
    assert len(server.requests) == len(known) + len(rubbish)


def _refusal(name: str) -> bytes:
    if name == "anthropic":
        return json.dumps(PROTOCOLS["anthropic"](NOTE) | {"stop_reason": "refusal"}).encode()
    answer = PROTOCOLS["openai"](None)
    answer["choices"][0]["message"]["refusal"] = "I will not."
    return json.dumps(answer).encode()


@pytest.mark.slow
@pytest.mark.parametrize("drip", [False, True])
def test_a_slow_server_is_waited_for_no_longer_than_the_deadline(
    drip: bool, vault: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.speaks("openai", NOTE)
    server.delay, server.drip = (0.0, True) if drip else (30.0, False)
    found = settings(vault, deadline_seconds=0.2, **use("openai", server, monkeypatch))

    assert hyde.guess(found, "the date parser", caller="search") == ""
    assert outcomes(found) == [("openai", "timeout")]


def test_one_that_fails_is_followed_by_the_next(
    vault: Path, bin_folder: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(bin_folder, "sys.exit(1)")
    server.speaks("openai", NOTE)
    use("openai", server, monkeypatch)
    found = settings(vault, deadline_seconds=60.0, **use("compatible", server, monkeypatch))

    assert hyde.guess(found, "the date parser", caller="search") == NOTE
    assert outcomes(found) == [("claude-cli", "rubbish"), ("openai", "ok")]


@pytest.mark.slow
def test_all_together_take_no_longer_than_the_caller_allows(vault: Path, bin_folder: Path) -> None:
    stand_in(bin_folder, "time.sleep(60)")
    found = settings(vault, deadline_seconds=60.0)

    assert hyde.guess(found, "the date parser", caller="turn", seconds=1.5) == ""
    assert hyde.guess(found, "the date parser", caller="turn", seconds=0.0) == ""
    assert outcomes(found) == [("claude-cli", "timeout")]


# -- the ledger ------------------------------------------------------------------------------------


def test_calls_are_summed_by_day_or_hour_and_caller(vault: Path) -> None:
    found = settings(vault)
    for time_, caller, outcome in (("14T08", "search", "ok"), ("14T09", "search", "timeout"), ("15T08", "turn", "ok")):
        ledger.write(found, {"time": f"2026-09-{time_}:00:00Z", "caller": caller, "outcome": outcome,
                             "sent_chars": 10, "received_chars": 5, "seconds": 0.5})  # fmt: skip
    with (Path(found.state_dir) / ledger.FILE).open("a") as file:
        file.write("not json\n7\n")

    sums = ledger.summed(ledger.read(found))
    hours = ledger.summed(ledger.read(found), hours=True)

    assert [(one.when, one.caller, one.calls, one.answered, one.sent, one.seconds) for one in sums] == [
        ("2026-09-15", "turn", 1, 1, 10, 0.5),
        ("2026-09-14", "search", 2, 1, 20, 1.0),
    ]
    assert [(one.when, one.calls) for one in hours] == [
        ("2026-09-15 08", 1),
        ("2026-09-14 09", 1),
        ("2026-09-14 08", 1),
    ]


def test_the_ledger_says_how_a_program_ended(vault: Path, bin_folder: Path) -> None:
    stand_in(bin_folder, "sys.stderr.write('Invalid API key'); sys.exit(3)")
    found = settings(vault)

    hyde.guess(found, "the date parser", caller="search")

    (row,) = ledger.read(found)
    assert (row["exit_code"], row["error"]) == (3, "Invalid API key")
    assert row["pid"] > 1


def test_what_a_provider_repeats_of_the_query_is_not_in_the_ledger(vault: Path, bin_folder: Path) -> None:
    stand_in(bin_folder, "sys.stderr.write('cannot answer: ' + said); sys.exit(1)")
    found = settings(vault)

    hyde.guess(found, QUERY, caller="search")

    assert ledger.read(found)[0]["error"] == "(it repeats the query)"
    assert "parser" not in (Path(found.state_dir) / ledger.FILE).read_text()


def test_a_provider_that_could_not_start_is_in_the_ledger(vault: Path, bin_folder: Path) -> None:
    (bin_folder / "claude").write_text("#!/nonexistent/interpreter\n")
    (bin_folder / "claude").chmod(0o755)
    for provider, said in (
        ("claude-cli", "could not be started"),
        ("anthropic", "ANTHROPIC_API_KEY is not set"),
        ("compatible", "expand.address is not set"),
    ):
        found = settings(vault, provider=provider)
        assert hyde.guess(found, "the date parser", caller="search") == ""
        row = ledger.read(found)[-1]
        assert (row["provider"], row["outcome"]) == (provider, "not started")
        assert said in row["error"]


def test_a_server_that_is_not_there_is_in_the_ledger(vault: Path, server: ModelServer) -> None:
    address = f"{server.address}/v1"
    server.close()
    found = settings(vault, provider="compatible", address=address)

    assert hyde.guess(found, "the date parser", caller="search") == ""
    assert outcomes(found) == [("compatible", "not started")]


def test_each_provider_has_its_own_model_and_its_share_of_the_deadline(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, float] = {}

    def late(request: providers.Request) -> str:
        given["first"] = request.seconds
        raise TimeoutError

    def answers(request: providers.Request) -> str:
        given["second"] = request.seconds
        return NOTE

    for name, ask in (("claude-cli", late), ("openai", answers)):
        there = providers.PROVIDERS[name]._replace(is_there=lambda *_: True, ask=ask)
        monkeypatch.setitem(providers.PROVIDERS, name, there)
    found = settings(vault, deadline_seconds=10_000.0, model="opus", models=["openai gpt-x"])

    assert hyde.guess(found, "the date parser", caller="turn", seconds=8_000.0) == NOTE

    first, second = ledger.read(found)
    assert (first["provider"], first["model"], first["outcome"]) == ("claude-cli", "opus", "timeout")
    assert (second["provider"], second["model"], second["outcome"]) == ("openai", "gpt-x", "ok")
    assert 3_800 < given["first"] <= 4_000, "half of what there is"
    assert 7_600 < given["second"] <= 8_000, "all that is left"


@pytest.mark.slow
def test_a_key_may_stand_in_the_users_file_and_is_never_printed(
    vault: Path, home: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch,
    mdmem: Callable[..., subprocess.CompletedProcess[str]],
) -> None:  # fmt: skip
    own = home / ".config" / "mdmem" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[expand]\nprovider = "openai"\nkeys = ["openai tea-pot-key"]\n')
    (vault / "mdmem.toml").write_text('[expand]\nkeys = ["openai of-the-vault"]\n')
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.address}/v1")
    server.speaks("openai", NOTE)

    assert hyde.guess(config.load(str(vault)), "the date parser", caller="search") == NOTE

    ((_, headers, _),) = server.requests
    assert headers["authorization"] == "Bearer tea-pot-key"
    for words in (("config", "list"), ("config", "get", "expand.keys"), ("config", "list", "--json"), ("doctor",)):
        done = mdmem(*words)
        assert "tea-pot-key" not in done.stdout + done.stderr, words


# -- in a search -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_search_calls_a_model_only_on_request(
    vault: Path, bin_folder: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    stand_in(bin_folder, "print(json.dumps({'result': 'The xylophone keeps its tuning tables in tables.py, lazily.'}))")
    (vault / "a.md").write_text("The xylophone is tuned on Mondays.")

    assert mdmem("search", "musical", "instrument").stdout == ""
    assert not (bin_folder / "seen.json").exists()
    done = mdmem("search", "--deep", "musical", "instrument")

    assert "a.md" in done.stdout
    assert [row["caller"] for row in ledger.read(config.load(str(vault)))] == ["search"]


def test_a_search_that_no_model_helps_is_the_plain_search_and_says_so(
    vault: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (vault / "a.md").write_text("The xylophone is tuned on Mondays.")

    done = mdmem("search", "--deep", "xylophone")

    assert "a.md" in done.stdout
    assert "No model helped" in done.stderr
    assert "None is set up: `mdmem help cost` says how." in done.stderr

    own_settings('[expand]\nprovider = "compatible"\n')
    assert "None answered: `mdmem stats --model` lists the calls." in mdmem("search", "--deep", "xylophone").stderr
    assert [row["outcome"] for row in ledger.read(config.load(str(vault)))] == ["not started"]


# -- in an injection -------------------------------------------------------------------------------


def test_an_injection_asks_no_model_unless_the_user_says_so(vault: Path, tmp_path: Path, bin_folder: Path) -> None:
    stand_in(bin_folder, ANSWER)
    talk = Talk(vault, tmp_path / "notes-app")
    talk.says("Why does the date parser fail?")
    talk.answers("The date parser took every February for 28 days.")
    later = Talk(vault, tmp_path / "notes-app", "1" * 8 + "-0000-4000-8000-000000000000")

    assert later.asks("Do you remember the date parser?")
    assert not (bin_folder / "seen.json").exists()


def test_an_injection_is_helped_by_a_model_where_the_user_says_so(
    vault: Path, tmp_path: Path, home: Path, bin_folder: Path
) -> None:
    guess = "The xylophone module keeps its tuning tables in tables.py and reads them lazily."
    stand_in(bin_folder, f"print(json.dumps({{'result': {guess!r}}}))")
    own = home / ".config" / "mdmem" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[expand]\nenabled = true\ndeadline_seconds = 60.0\n")
    talk = Talk(vault, tmp_path / "notes-app")
    talk.says("Rewrite the xylophone tuning")
    talk.answers("Done.")
    later = Talk(vault, tmp_path / "notes-app", "1" * 8 + "-0000-4000-8000-000000000000")

    assert "xylophone" in later.asks("Do you remember that musical instrument?")

    (row,) = ledger.read(config.load(str(vault)))
    assert (row["caller"], row["outcome"]) == ("explicit", "ok")


@pytest.mark.slow
def test_a_model_that_dawdles_costs_an_injection_its_help_and_nothing_else(
    vault: Path, tmp_path: Path, home: Path, bin_folder: Path
) -> None:
    stand_in(bin_folder, "time.sleep(60)")
    own = home / ".config" / "mdmem" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[expand]\nenabled = true\ndeadline_seconds = 0.2\n[inject]\ndeadline_seconds = 60.0\n")
    talk = Talk(vault, tmp_path / "notes-app")
    talk.says("Why does the date parser fail?")
    talk.answers("The date parser took every February for 28 days.")
    later = Talk(vault, tmp_path / "notes-app", "1" * 8 + "-0000-4000-8000-000000000000")

    assert "date parser" in later.asks("Do you remember the date parser?")
