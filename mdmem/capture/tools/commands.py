"""Commands: what is stored of a tool run that starts a command; rows of `table.TOOLS`."""

from __future__ import annotations

from mdmem.agents import BACKGROUND, goes_on
from mdmem.capture.tools import hidden_failure
from mdmem.capture.tools.body import Part, inline
from mdmem.capture.tools.run import RunFacts, answer, items, mapping, number, short, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.capture.tools.run import Run

_TITLE_CHARS = 100  # maximum length of a command used as title; a longer one is titled by its description
_SCAN_CHARS = 8 * 1024  # part of each end of the output that is searched for git's commit lines
_MAX_COMMITS = 20

# How agents report the exit code, at the start of a line, in lower case.
_EXIT_WORDS = ("exit code", "process exited with code", "exited with exit code", "command exited with code")


def bash(run: Run) -> RunFacts:
    """Describe a shell command: the command, its output, and how it ended."""
    return _command(run, "sh")


def powershell(run: Run) -> RunFacts:
    """Describe a PowerShell command: the command, its output, and how it ended."""
    return _command(run, "powershell")


def _command(run: Run, language: str) -> RunFacts:
    command = _written(run.input.get("command"))
    output = text(run.result, "stdout") if "stdout" in run.result else answer(run.response).removeprefix("Output: ")
    code = _exit_code(run, output)
    title = _title(command, text(run.input, "description"))
    meta = {
        "command": short(command, 400),
        "exit_code": code,
        "error": "" if code or run.failure is not None else short(hidden_failure.line(command, output), 300),
        "status": BACKGROUND if goes_on(run.result) else "",
        "made_commit": _commits(run, command, output),
        "url": short(text(mapping(mapping(run.result.get("gitOperation")).get("pr")), "url"), 500),
    }
    picture = run.result.get("isImage") is True
    told_again = run.failure is not None and output.strip() in run.failure  # some agents repeat the output as the error
    parts = [
        Part(lines=_remarks(run, output if picture else "")),
        Part(text=command, language=language),
        Part("Output", "" if picture or told_again else output, screen=True),
        Part("Notice", text(run.result, "stderr"), screen=True),
    ]
    return RunFacts(title, title, meta, parts, f"exit {code}" if code else "")


def _written(command: Any) -> str:
    """Return a command as typed; some agents send a list of words, sometimes `bash -lc` and a script."""
    if isinstance(command, str):
        return command
    words = [word for word in items(command) if isinstance(word, str)]
    if len(words) == 3 and words[1] in ("-c", "-lc", "-Command", "/c"):
        return words[2]
    return " ".join(words)


def _title(command: str, description: str) -> str:
    """Return the command if it fits on a line, without a leading `cd`; else the agent's description."""
    step, joined, after_cd = command.partition(" && ")
    spoken = after_cd if joined and step.startswith("cd ") and "\n" not in step else command
    line = short(spoken, 120)
    if description and (len(spoken) > _TITLE_CHARS or "\n" in spoken.strip()):
        return short(description, 120)
    return line or short(description, 120)


def _remarks(run: Run, picture: str) -> list[str]:
    stopped = number(run.result, "timedOutAfterMs")
    remarks = [
        inline(text(run.input, "description")),
        _left_running(run),
        "Interrupted." if run.result.get("interrupted") is True else "",
        f"Stopped after {stopped / 1000:g} seconds." if stopped else "",
        inline(text(run.result, "returnCodeInterpretation")),
        f"Not kept: a picture, {len(picture):,} characters of base64." if picture else "",
    ]
    return list(filter(None, remarks))


def _left_running(run: Run) -> str:
    task = text(run.result, "backgroundTaskId")
    name = f" as {inline(task, 60)}" if task else ""
    return f"Left running in the background{name}." if goes_on(run.result) else ""


def _exit_code(run: Run, output: str) -> int | None:
    """Return the exit code if it can be known. Claude Code gives none, but calls only exit 0 a success."""
    if run.failure is not None:
        return _reported_code(run.failure)
    reported = [number(place, "exit_code", "exitCode", "exit") for place in (run.result, run.result.get("metadata"))]
    for code in reported:
        if code is not None:
            return code
    if "stdout" not in run.result:
        return _reported_code(output)
    unclear = ("interrupted", "backgroundTaskId", "returnCodeInterpretation", "timedOutAfterMs")
    return None if "interrupted" not in run.result or any(map(run.result.get, unclear)) else 0


def _reported_code(report: str) -> int | None:
    """Return the exit code that an agent reports near either end of its text."""
    lines = report[:400].split("\n")[:4] + report[-400:].split("\n")[-6:]
    for line in lines:
        line = line.strip().lower()
        if line[:1] == "<":  # <shellId: 0 completed with exit code 1>
            line = line[max(line.rfind(_EXIT_WORDS[0]), 0) :].strip("<>")
        for words in _EXIT_WORDS:
            digits = line[len(words) :].strip(" :.") if line.startswith(words) else ""
            if digits.removeprefix("-").isdecimal() and digits.isascii() and len(digits) < 12:
                return int(digits)
    return None


def _commits(run: Run, command: str, output: str) -> str:
    """Return the hashes of the commits that a command made, as git abbreviates them, separated by spaces."""
    reported = text(mapping(mapping(run.result.get("gitOperation")).get("commit")), "sha")
    if reported:
        return reported if _is_sha(reported) else ""
    if "git" not in command or run.failure is not None:
        return ""
    hashes: dict[str, None] = {}
    for line in f"{output[:_SCAN_CHARS]}\n{output[_SCAN_CHARS:][-_SCAN_CHARS:]}".split("\n"):
        if line[:1] == "[" and "] " in line:
            words = line[1 : line.index("] ")].split()  # [main 1a2b3c4] or [main (root-commit) 1a2b3c4]
            if len(words) > 1 and _is_sha(words[-1]):
                hashes[words[-1]] = None
    return " ".join(list(hashes)[:_MAX_COMMITS])


def _is_sha(word: str) -> bool:
    return 7 <= len(word) <= 64 and not word.strip("0123456789abcdef")
