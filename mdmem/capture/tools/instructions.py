"""Instructions: private text in files that agents read without a hook of their own."""

from __future__ import annotations

import os

from mdmem import agents, config, files, privacy
from mdmem.agents import aliases
from mdmem.capture.tools.files_on_disk import INSTRUCTIONS
from mdmem.privacy.text import storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mdmem.agents import Event


def of_session(event: Event, rules: privacy.Rules) -> tuple[str, ...]:
    """Return the private text of the instruction files that the agent reads when a session starts."""
    home, folder = config.home(), event.cwd
    agent_folder = agents.load(event.agent).folder(os.environ)
    paths = [f"{home}/{path}" for path in _OWN_INSTRUCTIONS] + [f"{agent_folder}/{name}" for name in _IN_OWN_FOLDER]
    tops = [agent_folder]
    while os.path.isabs(folder) and len(paths) < _MOST_PATHS:
        paths += [f"{folder}/{name}" for name in INSTRUCTIONS]
        tops += [f"{folder}/{name}" for name in _WITH_RULES]
        parent = os.path.dirname(folder)
        folder = parent if parent != folder else ""
    for top in dict.fromkeys(tops):
        paths += [path for name in _RULES for path in _below(f"{top}/{name}")]
    if event.transcript:  # Claude Code keeps its own memory of the project beside its transcripts
        paths += _below(f"{os.path.dirname(event.transcript)}/memory")
    return private_in(paths, rules)


def _below(folder: str) -> list[str]:
    """Return the Markdown files, also Cursor's, in a folder of rules and below it; [] when there is none."""
    paths: list[str] = []
    for top, _, names in os.walk(folder):
        paths += [f"{top}/{name}" for name in names if name.endswith((".md", ".mdc"))]
        if len(paths) >= _MOST_RULES:
            break
    return paths[:_MOST_RULES]


def mentioned(event: Event, rules: privacy.Rules) -> tuple[str, ...]:
    """Return the private text of the files that a prompt, a skill or an agent's name makes the agent read.

    These reach no hook: `@plan.md` in a prompt, `/command`, attachments, what is open in the editor, and what `Skill`
    and `Agent` are given.
    """
    tool_input = aliases.resolve(event.tool, event.tool_input if isinstance(event.tool_input, dict) else {})[1]
    names = [name for key in _NAME_KEYS if isinstance(name := tool_input.get(key), str)]
    if event.prompt[:1] == "/":
        names.append(event.prompt[1:].split(None, 1)[0] if event.prompt[1:].strip() else "")
    attached = [path for path in event.extra.get("attached", "").split("\0") if path]
    paths = [*attached[:_MOST_MENTIONS], *_mentioned(event.prompt, event.cwd), *_in_editor(event.prompt, event.cwd)]
    tops = [f"{top}/{folder}" for top in (event.cwd, config.home()) for folder in _AGENT_FOLDERS]
    tops.append(agents.load(event.agent).folder(os.environ))
    for name in filter(None, names):
        base = name.replace(":", "/")
        paths += [f"{top}/{form.format(base)}" for top in tops for form in _NAMED]
    return private_in(paths, rules)


_NAME_KEYS = ("skill", "command", "subagent_type")
_AGENT_FOLDERS = (".claude", ".codex", ".gemini", ".opencode", ".cursor", ".github", ".agents")
_NAMED = (
    "commands/{}.md", "command/{}.md", "commands/{}.toml", "prompts/{}.md", "skills/{}/SKILL.md", "skill/{}/SKILL.md",
    "agents/{}.md", "agent/{}.md", "agents/{}.agent.md",
)  # fmt: skip
"""Paths of commands, skills and agents below the agents' folders."""


def _mentioned(text: str, folder: str) -> list[str]:
    """Return the files that a text mentions with an `@`, as prompts and instructions do."""
    paths = []
    for part in storable(text).split("@", _MOST_MENTIONS)[1:]:
        name = part[1:].partition('"')[0] if part[:1] == '"' else (part.split(None, 1) or [""])[0]
        name = name.partition("#")[0].rstrip(".,;:!?)`'\"")
        if 0 < len(name) <= _LONGEST_NAME and "\0" not in name:
            paths.append(os.path.join(folder, os.path.expanduser(name)))
    return paths


def _in_editor(prompt: str, folder: str) -> list[str]:
    """List the files that an editor says are open, or have lines selected: `… lines 3 to 5 from /srv/plan.md:`."""
    paths = []
    for block in storable(prompt).split(_EDITOR, _MOST_MENTIONS)[1:]:
        for before, after in (("the file ", " in the IDE"), (" from ", ":\n")):
            name, end, _ = block.partition(before)[2].partition(after)
            if end and len(name) <= _LONGEST_NAME and "\0" not in name:
                paths.append(os.path.join(folder, name))
    return paths


_EDITOR = "<ide_"
"""Start of the elements in which an editor says what is open."""


def private_in(paths: list[str], rules: privacy.Rules) -> tuple[str, ...]:
    """Return the private text of files, and of those they mention with an `@`, up to `_HOPS` hops away."""
    spans: tuple[str, ...] = ()
    looked_into = set(paths)
    waiting = [(path, _HOPS) for path in paths]
    for path, hops in waiting:  # grows during the loop
        text = files.try_read_any(path, _MAX_INSTRUCTIONS_BYTES).decode("utf-8", "replace")
        if privacy.may_hold_private(text, rules):
            spans += privacy.clean(text, rules=rules, origin="tool").spans
        further = _mentioned(text, os.path.dirname(path)) if "@" in text and hops else ()
        waiting += [(name, hops - 1) for name in further if name not in looked_into][
            : max(_MOST_MENTIONS - len(waiting), 0)
        ]
        looked_into.update(further)
    return spans


_OWN_INSTRUCTIONS = (".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md")
"""The user's own instruction files, below the home folder; some agents load those of another."""
_IN_OWN_FOLDER = ("CLAUDE.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "copilot-instructions.md")
"""The same in the agent's own folder, wherever that is."""
_WITH_RULES = (".claude", ".cursor", ".github")
_RULES, _MOST_RULES = ("rules", "output-styles", "instructions"), 200
"""Folders with folders of further instructions, those, and the maximum number of files read in each."""
_MOST_PATHS = 68
"""Maximum number of paths; each costs a system call at session start. Enough for eight folders up."""
_MAX_INSTRUCTIONS_BYTES = 1 << 20
_LONGEST_NAME = 400
_HOPS, _MOST_MENTIONS = 3, 300
"""Limits for following `@` mentions, which decorators in code look like."""
