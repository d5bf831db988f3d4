"""The real agents, with mdmem installed as a user would, against a model that is played (`pytest -m agents`).

They are looked for in `$MDMEM_AGENTS/AGENT/node_modules/.bin` and on PATH; an agent that is not there is skipped.
With `MDMEM_RECORD=DIR`, what hooks are given is kept in `DIR/AGENT`, a file a payload, and what the agent saves itself.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frontmatter
import pytest

from mdmem.agents.install import catalog, entries, plugin_file
from mdmem.transcripts import sources
from tests.helpers import model

pytestmark = pytest.mark.agents

INSTALLED = Path(os.environ.get("MDMEM_AGENTS", "/nowhere"))  # read here: every test's environment is cleared of it
RECORD = os.environ.get("MDMEM_RECORD", "")
PROMPT = "Run the two commands."


class Place:
    """A home, a project and the environment that an agent runs in."""

    def __init__(self, folder: Path, program: str, address: str) -> None:
        self.home, self.project, self.address = folder / "home", folder / "notes-app", address
        self.env = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(Path(program).parent), os.environ["PATH"]]),
            "TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1", "SHELL": "/bin/bash",
        }  # fmt: skip
        self.home.mkdir()
        self.project.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)

    def write(self, path: str, value: Any) -> None:
        """Write a file of the home: a text as it is, anything else as JSON."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")

    def run(self, *words: str, seconds: int = 600) -> subprocess.CompletedProcess[str]:
        """Run a program in the project."""
        return subprocess.run(
            words,
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )


def claude(place: Place) -> list[str]:
    """Set Claude Code up; return its command line."""
    key = "sk-ant-not-a-key"
    place.env |= {"ANTHROPIC_BASE_URL": place.address, "ANTHROPIC_API_KEY": key, "DISABLE_AUTOUPDATER": "1"}
    place.env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
    trusted = {str(place.project): {"hasTrustDialogAccepted": True}}
    answers = {"approved": [key], "rejected": []}
    place.write(".claude.json", {"hasCompletedOnboarding": True, "customApiKeyResponses": answers, "projects": trusted})
    return ["claude", "-p", "--allowedTools", "Bash", "--", PROMPT]


def codex(place: Place) -> list[str]:
    """Set Codex up; return its command line."""
    place.env["PLAYED_KEY"] = "none"
    place.write(
        ".codex/config.toml",
        'model = "gpt-5.2-codex"\nmodel_provider = "played"\napproval_policy = "never"\n'
        'sandbox_mode = "danger-full-access"\n\n'
        f'[model_providers.played]\nname = "played"\nbase_url = "{place.address}/v1"\nenv_key = "PLAYED_KEY"\n'
        f'wire_api = "responses"\n\n[projects."{place.project}"]\ntrust_level = "trusted"\n',
    )
    return ["codex", "exec", "--dangerously-bypass-hook-trust", PROMPT]


def gemini(place: Place) -> list[str]:
    """Set Gemini CLI up; return its command line."""
    place.env |= {"GOOGLE_GEMINI_BASE_URL": place.address, "GEMINI_API_KEY": "none", "GEMINI_CLI_NO_RELAUNCH": "true"}
    security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    place.write(".gemini/settings.json", {"security": security, "general": {"enableAutoUpdate": False}})
    return ["gemini", "-m", "gemini-2.5-pro", "--skip-trust", "-y", "-p", PROMPT]


def opencode(place: Place) -> list[str]:
    """Set OpenCode up; return its command line."""
    place.env |= {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    options = {"baseURL": f"{place.address}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {"name": "m"}}}
    settings = {"model": "played/m", "small_model": "played/m", "permission": {"*": "allow"}, "autoupdate": False}
    place.write(".config/opencode/opencode.json", {**settings, "provider": {"played": provider}})
    return ["opencode", "run", PROMPT]


def copilot(place: Place) -> list[str]:
    """Set Copilot CLI up; return its command line."""
    place.env |= {
        "COPILOT_PROVIDER_BASE_URL": f"{place.address}/v1", "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_PROVIDER_WIRE_API": "completions", "COPILOT_MODEL": "claude-sonnet-4.5", "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }  # fmt: skip
    return ["copilot", "--allow-all-tools", "--allow-all-paths", "--no-auto-update", "--trust-folder", "-p", PROMPT]


AGENTS: dict[str, Callable[[Place], list[str]]] = {
    "claude-code": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
    "copilot": copilot,
}


def found(program: str) -> str:
    """Return the path of an agent's program, or skip the test."""
    folder = INSTALLED / program / "node_modules" / ".bin"
    path = shutil.which(program, path=os.pathsep.join([str(folder), os.environ["PATH"]]))
    if path is None or shutil.which("node") is None:
        pytest.skip(f"{program} is not on this machine")
    return path


def record(place: Place, agent: str, folder: Path) -> None:
    """Make the registered commands keep what they are given before they read it."""
    folder.mkdir(parents=True, exist_ok=True)
    found = catalog.AGENTS[agent]
    file = place.home / Path(found.settings("user", "", {})).relative_to(Path.home())
    text = file.read_text(encoding="utf-8")
    own = (plugin_file.lines if found.plugin else entries.lines)(text, str(file))
    for line in dict.fromkeys(own):
        kept = f'f=$(mktemp {shlex.quote(str(folder))}/payload-XXXXXXXX); cat > "$f"; ( {line} ) < "$f"'
        text = text.replace(json.dumps(line, ensure_ascii=False), json.dumps(kept, ensure_ascii=False))
    file.write_text(text, encoding="utf-8")


def keep_transcripts(place: Place, agent: str, folder: Path) -> None:
    """Copy what the agent has saved of its sessions, where mdmem knows where that lies."""
    source = next((one for one in sources.SOURCES if one.agent == agent), None)
    found = Path(source.place[0]({}), source.place[1]) if source and source.place else None
    saved = place.home / found.relative_to(Path.home()) if found else None
    if saved and saved.is_dir():
        shutil.copytree(saved, folder, dirs_exist_ok=True)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agents_turn_is_stored_as_it_was(tmp_path: Path, agent: str) -> None:
    program = found({"claude-code": "claude"}.get(agent, agent))
    with model.served() as address:
        place = Place(tmp_path, program, address)
        words = installed_for(place, agent)
        if RECORD:
            record(place, agent, Path(RECORD).resolve() / agent)
        played = place.run(*words)
    if RECORD:
        keep_transcripts(place, agent, Path(RECORD).resolve() / agent / "transcripts")
    assert model.ANSWER in played.stdout, played.stdout + played.stderr

    stored = _notes(place, 4)
    assert [(one["kind"], one.get("success"), one.get("exit_code")) for one in stored] == [
        ("prompt", None, None),
        ("observation", True, stored[1].get("exit_code")),
        ("observation", False, 2),
        ("response", None, None),
    ]
    assert stored[0].content.strip() == PROMPT
    assert [one["command"] for one in stored[1:3]] == list(model.COMMANDS)
    assert stored[3].content.strip() == model.ANSWER
    assert stored[1].get("exit_code") in (0, None)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_whose_launcher_was_deleted_answers_all_the_same(tmp_path: Path, agent: str) -> None:
    program = found({"claude-code": "claude"}.get(agent, agent))
    with model.served() as address:
        place = Place(tmp_path, program, address)
        words = installed_for(place, agent)
        (place.home / ".local/share/mdmem/mdmem-run").unlink()
        played = place.run(*words)
    assert model.ANSWER in played.stdout, played.stdout + played.stderr
    told = place.run(sys.executable, "-P", "-m", "mdmem", "doctor").stdout
    assert "mdmem-run, which is gone" in " ".join(told.split())


def installed_for(place: Place, agent: str) -> list[str]:
    """Set an agent up with mdmem in it; return its command line."""
    words = AGENTS[agent](place)
    for command in (["init"], ["install", agent, "--yes"]):
        done = place.run(sys.executable, "-P", "-m", "mdmem", *command)
        assert done.returncode == 0, done.stderr
    return words


def _notes(place: Place, count: int) -> list[frontmatter.Post]:
    """Return the notes of the one session, once the background has had its time."""
    end = time.monotonic() + 20
    while True:
        paths = sorted((place.home / "mdmem").glob("journal/*/*/*/[0-9][0-9][0-9]-*.md"))
        if len(paths) >= count or time.monotonic() > end:
            return [frontmatter.load(str(path)) for path in paths]
        time.sleep(0.5)
