"""mdmem's MCP server in the settings of clients: put in, found again, taken out to the byte."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.agents.install import launcher, mcp_registration, registration, toml_text
from mdmem.errors import ConfigError, UsageError

FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
}
JSON = '{\n    "theme": "dark", "mcpServers": {\n        "other": {"command": "x", "args": []}\n    }\n}\n'
TOML = 'model = "o5" # mine\n\n# my tools\n[mcp_servers.other]\ncommand = "x"\n\n# people\n[[profiles]]\nname = "a"\n'

every_client = pytest.mark.parametrize("client", FILES)


def servers(client: str, file: Path) -> dict[str, dict[str, object]]:
    if client == "codex":
        found: dict[str, dict[str, object]] = tomllib.loads(file.read_text())["mcp_servers"]
    else:
        found = json.loads(file.read_text())["mcpServers"]
    return found


@every_client
def test_a_client_without_settings_gets_a_file_that_goes_again(client: str, home: Path) -> None:
    file = home / FILES[client]

    made = mcp_registration.register(client)

    assert (made.action, Path(made.path)) == ("created", file)
    entry = servers(client, file)["mdmem"]
    assert (entry["command"], entry["args"]) == (launcher.interpreter(""), ["-P", "-m", "mdmem", "mcp"])
    assert mcp_registration.register(client).action == "unchanged"
    assert mcp_registration.status(client).state == "registered"
    mcp_registration.unregister(client)
    assert mcp_registration.status(client).state == "absent"
    assert not file.exists() or json.loads(file.read_text() or "{}") == {}


@every_client
def test_settings_come_back_to_the_byte(client: str, home: Path) -> None:
    file = home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    before = TOML if client == "codex" else JSON
    file.write_text(before)

    made = mcp_registration.register(client, vault="/my vault")

    assert made.action == "updated"
    assert servers(client, file)["other"] == ({"command": "x"} if client == "codex" else {"command": "x", "args": []})
    assert mcp_registration.status(client).vault == "/my vault"
    assert mcp_registration.unregister(client).action == "removed"
    assert file.read_text() == before
    assert not list(file.parent.glob("*backup*"))


@pytest.mark.parametrize("client", ["cursor", "copilot", "gemini"])
@pytest.mark.parametrize("text", ['{"mcpServers":{}}', "{}", " {\n}\n"])
def test_settings_without_anything_in_them_are_the_users_all_the_same(client: str, text: str, home: Path) -> None:
    file = Path(mcp_registration.status(client).path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    mcp_registration.register(client)
    mcp_registration.register(client, vault=str(home / "other"))
    mcp_registration.unregister(client)

    assert file.read_text() == text
    assert list(file.parent.iterdir()) == [file]


@every_client
def test_another_server_of_that_name_is_left_alone(client: str, home: Path) -> None:
    file = home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    text = '{"mcpServers": {"mdmem": {"command": "theirs", "args": ["serve"]}}}'
    if client == "codex":
        text = '[mcp_servers.mdmem]\ncommand = "theirs"\nargs = ["serve"]\n'
    file.write_text(text)

    for call in (mcp_registration.register, mcp_registration.unregister):
        with pytest.raises(ConfigError, match="another server"):
            call(client)

    assert file.read_text() == text
    assert mcp_registration.status(client).state == "unreadable"


@every_client
@pytest.mark.parametrize("text", ["{ // a comment\n", f"a = {'[' * 100_000}{']' * 100_000}\n"])
def test_broken_settings_are_left_alone(client: str, text: str, home: Path) -> None:
    file = home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

    with pytest.raises(ConfigError, match="not changed"):
        mcp_registration.register(client)

    assert file.read_text() == text


@pytest.mark.parametrize(
    ("client", "text", "why"),
    [
        ("cursor", '{"mcpServers": null}', "mcpServers is not an object"),
        ("claude-desktop", '{"mcpServers": []}', "mcpServers is not an object"),
        ("codex", 'mcp_servers = { other = { command = "x" } }\n', "Cannot declare"),
    ],
)
def test_servers_of_another_shape_are_left_alone(client: str, text: str, why: str, home: Path) -> None:
    file = home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

    with pytest.raises(ConfigError, match=f"cannot be changed in place: {why}"):
        mcp_registration.register(client)

    assert file.read_text() == text


def test_a_list_that_was_laid_out_over_lines_is_replaced_whole(home: Path) -> None:
    file = home / FILES["codex"]
    file.parent.mkdir()
    head, tail = "[mcp_servers.mdmem]\n", "startup_timeout_sec = 20\n# end\n[z]\n"
    file.write_text(f'{head}command = "/old"\nargs = [\n  "-m", # mine\n  "mdmem",\n  "mcp",\n]\n{tail}')

    mcp_registration.register("codex")

    assert file.read_text().endswith(f'args = ["-P", "-m", "mdmem", "mcp"]\n{tail}')


@every_client
def test_what_a_person_added_to_the_server_stays(client: str, home: Path) -> None:
    file = home / FILES[client]
    mcp_registration.register(client, vault="/old")
    text = file.read_text()
    if client == "codex":
        text += "startup_timeout_sec = 30\n"
    else:
        text = text.replace('"args"', '"env": {"A": "b"}, "args"')
    file.write_text(text)

    mcp_registration.register(client, vault="/new")

    entry = servers(client, file)["mdmem"]
    assert entry["args"] == ["-P", "-m", "mdmem", "--vault", "/new", "mcp"]
    assert entry.get("startup_timeout_sec") == 30 or entry["env"] == {"A": "b"}


def test_an_older_registration_is_told(home: Path, ask: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    file = home / FILES["cursor"]
    mcp_registration.register("cursor")
    file.write_text(file.read_text().replace(launcher.interpreter(""), "/old/python"))

    assert mcp_registration.status("cursor").state == "outdated"
    for words in (["status"], ["doctor", "--only", "agents"]):
        assert "It cannot start: /old/python is gone." in ask(*words).stdout


def test_scopes_lead_to_their_own_files(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = str(tmp_path)

    assert mcp_registration.register("claude-code", "project").path == f"{root}/.mcp.json"
    mcp_registration.register("claude-code", "local")
    assert json.loads((home / ".claude.json").read_text())["projects"][root]["mcpServers"]["mdmem"]
    mcp_registration.unregister("claude-code", "local")
    assert not (home / ".claude.json").exists()
    with pytest.raises(UsageError, match="no MCP settings"):
        mcp_registration.register("claude-desktop", "project")


def test_hooks_and_server_in_one_file_leave_nothing_behind(home: Path) -> None:
    registration.register("gemini")
    mcp_registration.register("gemini")
    assert registration.status("gemini").state == mcp_registration.status("gemini").state == "registered"
    mcp_registration.unregister("gemini")
    registration.unregister("gemini")

    assert not (home / ".gemini").exists()


def test_an_agent_that_was_the_first_to_use_the_folder_of_settings_leaves_none_behind(home: Path) -> None:
    registration.register("opencode")
    assert (home / ".config/opencode").is_dir()
    registration.unregister("opencode")

    assert not (home / ".config").exists()


@pytest.mark.slow
def test_the_commands_register_hooks_and_server(
    home: Path, mdmem: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (home / ".config" / "Claude").mkdir(parents=True)
    (home / ".claude").mkdir()

    done = mdmem("install", "--all", "--mcp", "--json", check=True)

    titles = [row["title"] for row in json.loads(done.stdout)]
    assert {"Claude Code", "Claude Code (MCP)", "Claude Desktop (MCP)"} <= set(titles)
    desktop = home / FILES["claude-desktop"]
    desktop.write_text(desktop.read_text().replace(launcher.interpreter(""), "/old/python"))
    told = mdmem("status", check=True).stdout
    assert re.search(r"^Claude Code \(MCP\) +registered$", told, re.MULTILINE)
    assert "`mdmem install claude-desktop --mcp` updates it." in told
    mdmem("uninstall", "claude-code", "--mcp", check=True)
    assert registration.status("claude-code").state == "registered"
    assert mcp_registration.status("claude-code").state == "absent"
    mdmem("uninstall", "--all", check=True)
    assert registration.status("claude-code").state == mcp_registration.status("claude-desktop").state == "absent"


LINES = st.lists(
    st.sampled_from(
        ["[a]", "[a.b]", "[[c]]", "[mcp_servers.other]", "# comment", "", "key = 1", 'text = """', '"""', "x = [", "]"]
    ),
    max_size=8,
)


@given(lines=LINES, crlf=st.booleans(), end=st.booleans())
def test_every_toml_file_keeps_what_is_not_ours(lines: list[str], crlf: bool, end: bool) -> None:
    newline = "\r\n" if crlf else "\n"
    text = newline.join(lines) + (newline if end and lines else "")
    try:
        before = toml_text.loads(text)
    except ValueError:
        return
    path = ("mcp_servers", "mdmem")

    changed = toml_text.with_table(text, path, {"command": "x", "args": ["a", "b"]})

    assert changed.startswith(text)
    assert toml_text.loads(changed)["mcp_servers"].pop("mdmem") == {"command": "x", "args": ["a", "b"]}
    again = toml_text.with_table(changed, path, {"command": "y", "args": []})
    assert toml_text.loads(again)["mcp_servers"]["mdmem"] == {"command": "y", "args": []}
    assert toml_text.loads(toml_text.without_table(again, path)) == before


TRAILING = """{
  "theme": "dark, }",
  "mcp": {
    "other": {"type": "local", "command": ["own",],}, // keep
  },
}
"""


@pytest.mark.parametrize("text", [TRAILING, '{"theme": "dark",}', '{"mcp": {"other": {},},}\n'])
def test_trailing_commas_of_an_agent_that_takes_them_stay_where_they_are(home: Path, text: str) -> None:
    path = home / ".config" / "opencode" / "opencode.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")

    mcp_registration.register("opencode")
    made = path.read_text("utf-8")
    assert mcp_registration.status("opencode").state == "registered"
    assert mcp_registration.register("opencode").action == "unchanged"

    path.write_text(f"{made}// written since\n", "utf-8")  # so that the file is not just put back
    mcp_registration.unregister("opencode")
    assert path.read_text("utf-8") == f"{text}// written since\n"


@pytest.mark.parametrize("client", ["claude-code", "gemini"])
@pytest.mark.parametrize("text", ['{"a": [1, 2,]}', '{"a": 1, /* b */}', '{"a": 1\n,\n}'])
def test_trailing_commas_of_an_agent_that_refuses_them_are_named(home: Path, client: str, text: str) -> None:
    for register in (registration.register, mcp_registration.register):
        status = registration.status if register is registration.register else mcp_registration.status
        path = Path(status(client).path)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        with pytest.raises(ConfigError, match="a trailing comma"):
            register(client)
        assert path.read_text("utf-8") == text


@pytest.mark.parametrize("text", ["[,]", "{,}", "[1,,]", '{"a":,}', '{"a",}', '["a" "b",]'])
def test_a_comma_after_nothing_is_no_trailing_comma(home: Path, text: str) -> None:
    path = home / ".config" / "opencode" / "opencode.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")

    with pytest.raises(ConfigError, match="is not valid JSON"):
        mcp_registration.register("opencode")

    assert path.read_text("utf-8") == text
