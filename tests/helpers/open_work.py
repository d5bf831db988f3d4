"""A project on which sessions work, as the hooks' own code stores them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mdmem.agents import Event
from mdmem.learn import work
from tests.helpers.cli_day import MORNING, Day
from tests.helpers.indexed import indexed

HOUR = 3600.0
FAILED = "Exit code 1\nFAILED tests/test_a.py::test_leap - assert 28 == 29"


class Work:
    """A project on which sessions work; each step takes a minute."""

    def __init__(self, day: Day, root: Path) -> None:
        self.day, self.cwd, self.now, self.count = day, str(root / "app"), MORNING, 0
        Path(self.cwd).mkdir(exist_ok=True)
        day.env["MDMEM_NOW"] = str(MORNING + 7 * 24 * HOUR)

    def session(self, number: int) -> Session:
        self.now += HOUR
        return Session(self, f"{number:08d}-aaaa-4bbb-8ccc-dddddddddddd")

    def open(self, **more: Any) -> list[tuple[str, str]]:
        found = work.open_work(indexed(self.day.config()), now=self.now + HOUR, **more)
        return [(item.kind, item.text) for item in found]


class Session:
    def __init__(self, at: Work, name: str) -> None:
        self.at, self.name = at, name
        self.send("SessionStart", source="startup")

    def send(self, event: str, **fields: Any) -> None:
        self.at.now += 60
        self.at.count += 1
        made = Event(agent="claude-code", name=event, session=self.name, cwd=self.at.cwd, **fields)
        self.at.day.store(made, self.at.now)

    def ask(self, text: str) -> None:
        self.send("UserPromptSubmit", prompt=text, prompt_id=f"p{self.at.count}")

    def answer(self, text: str = "Done as asked.") -> None:
        self.send("Stop", message=text)

    def break_off(self) -> None:
        self.send("StopFailure", error="rate_limit", message="")

    def run(self, command: str, error: str | None = None) -> None:
        self.tool("Bash", {"command": command}, {"stdout": "ok"} if error is None else None, error)

    def edit(self, path: str, old: str = "a = 1", new: str = "a = 2") -> None:
        given = {"file_path": f"{self.at.cwd}/{path}", "old_string": old, "new_string": new}
        self.tool("Edit", given, {"filePath": given["file_path"]})

    def tool(self, tool: str, given: Any, got: Any = None, error: str | None = None) -> None:
        name = "PostToolUse" if error is None else "PostToolUseFailure"
        self.send(name, tool=tool, tool_input=given, tool_response=got, tool_use_id=f"t{self.at.count}", error=error)

    def todo(self, **items: str) -> None:
        todos = [{"content": text.replace("_", " "), "status": status} for text, status in items.items()]
        self.tool("TodoWrite", {"todos": todos}, {})
