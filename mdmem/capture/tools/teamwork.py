"""Teamwork: what is stored of questions, plans, tasks and sub-agents; rows of `table.TOOLS`."""

from __future__ import annotations

from mdmem.capture.tools.body import Part, inline
from mdmem.capture.tools.run import RunFacts, answer, items, mapping, number, path, short, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mdmem.capture.tools.run import Run

_MAX_QUESTIONS = 20
LATER = {
    "async_launched": "Started in the background: its answer comes later.",
    "remote_launched": "Started on another machine: its answer comes later.",
}
"""Status of a sub-agent's run that has not answered yet -> the sentence its note has instead."""


def agent(run: Run) -> RunFacts:
    """Describe a sub-agent's run: its task, and its answer if there is one already."""
    kind = short(text(run.input, "subagent_type") or text(run.result, "agentType"), 40)
    what = short(text(run.input, "description") or text(run.input, "prompt"), 80)
    status = short(text(run.result, "status"), 40)
    calls, tokens = number(run.result, "totalToolUseCount"), number(run.result, "totalTokens")
    spent = [f"{calls:,} tool call{'s' * (calls != 1)}" if calls else "", f"{tokens:,} tokens" if tokens else ""]
    spent = list(filter(None, spent))
    remarks = [LATER.get(status, ""), f"It took {' and '.join(spent)}." if spent else ""]
    result = "" if status in LATER else answer(run.result.get("content")) or answer(run.response)
    parts = [
        Part(lines=list(filter(None, remarks))),
        Part("Task", text(run.input, "prompt"), "markdown"),
        Part("Answer", result, "markdown"),
    ]
    about = ": ".join(filter(None, [kind, what]))
    return RunFacts(f"Agent {about}", about, {"status": status}, parts)


def task_create(run: Run) -> RunFacts:
    """Describe a task that the agent created."""
    subject = short(text(run.input, "subject"), 100)
    parts = [Part(text=text(run.input, "description"), language="markdown")]
    return RunFacts(f"{_task(mapping(run.result.get('task')), 'id')}: {subject}", subject, {}, parts)


def _task(source: dict[str, Any], key: str) -> str:
    """Return a task's name with its number, which may be a string, an integer or missing."""
    count = number(source, key)
    return f"Task {short(text(source, key), 20) or ('' if count is None else count)}".rstrip()


def task_update(run: Run) -> RunFacts:
    """Describe an update of a task: done, begun, reworded."""
    name = _task(run.input if "taskId" in run.input else run.result, "taskId")
    status = short(text(run.input, "status") or text(mapping(run.result.get("statusChange")), "to"), 40)
    fields = [short(field, 40) for field in items(run.result.get("updatedFields")) if isinstance(field, str)]
    news = status.replace("_", " ") or f"updated {', '.join(fields[:5])}".strip()
    subject = short(text(run.input, "subject"), 80)
    title = f"{name} {news}" + (f": {subject}" if subject else "")
    waits = [_listed_numbers(run.input.get(key), words) for key, words in _BLOCKERS.items()]
    parts = [Part(lines=list(filter(None, waits))), Part(text=text(run.input, "description"), language="markdown")]
    return RunFacts(title, title, {"status": status}, parts)


_BLOCKERS = {"addBlockedBy": "Blocked by task", "addBlocks": "Blocks task"}
"""Key of a task update -> the words before the numbers of the other tasks."""


def _listed_numbers(names: Any, words: str) -> str:
    numbers = [short(str(name), 20) for name in items(names)[:20] if isinstance(name, (str, int))]
    return f"{words} {', '.join(numbers)}" if numbers else ""


def todo_write(run: Run) -> RunFacts:
    """Describe the agent's to-do list, with what is done."""
    todo_list = run.input.get("todos")
    todos = _checklist(todo_list) if isinstance(todo_list, str) else [mapping(todo) for todo in items(todo_list)]
    finished = sum([todo.get("status") in _OVER for todo in todos])
    lines = [
        _tick(todo.get("status") in _OVER, inline(text(todo, "content", "description", "step", "title")))
        for todo in todos
    ]
    return RunFacts(
        f"Todo {finished} of {len(todos)} done", f"{finished} of {len(todos)} done", {}, [Part(lines=lines)]
    )


_OVER = ("completed", "cancelled", "done")


def _checklist(markdown: str) -> list[dict[str, Any]]:
    """Parse a markdown list: `- [x] done`."""
    lines = [line.strip().lstrip("-*+ ") for line in markdown[:20_000].split("\n")]
    marked = [line for line in lines if line[:1] == "[" and line[2:3] == "]"]
    return [{"content": line[3:].strip(), "status": "completed" if line[1] in "xX" else ""} for line in marked]


def ask_user_question(run: Run) -> RunFacts:
    """Describe the user's decisions: questions with their options, chosen ones ticked, and the user's own words."""
    questions = [mapping(item) for item in items(run.input.get("questions") or run.result.get("questions"))]
    questions = questions[:_MAX_QUESTIONS] or [run.input]
    answers = mapping(run.result.get("answers"))
    notes = mapping(run.result.get("annotations"))
    lines: list[str] = []
    decided: list[str] = []
    for place, item in enumerate(questions):
        question = text(item, "question")
        chosen = _chosen(answers.get(question, answers.get(text(item, "header"), answers.get(str(place)))))
        lines += [
            *([""] if lines else []),
            *_question(item, question, chosen, text(mapping(notes.get(question)), "notes")),
        ]
        decided.append(f"{short(question, 70)} → {short(', '.join(chosen), 40)}" if chosen else short(question, 100))
    free = text(run.result, "response") or ("" if answers or isinstance(run.response, dict) else answer(run.response))
    about = decided[0] + (f" (and {len(decided) - 1} more)" if len(decided) > 1 else "")
    parts = [Part(lines=lines), Part("In the user's words", free)]
    return RunFacts(about or "Question", about, {}, parts)


def _chosen(answer_value: Any) -> list[str]:
    values = answer_value if isinstance(answer_value, list) else [answer_value]
    return [value for value in values[:_MAX_QUESTIONS] if isinstance(value, str) and value.strip()]


def _question(item: dict[str, Any], question: str, chosen: list[str], notes: str) -> list[str]:
    options = [mapping(option) for option in items(item.get("options"))[:_MAX_QUESTIONS]]
    labels = {text(option, "label") for option in options}
    # Several choices come as one string, joined by commas; a label may contain a comma too.
    picked = {label for words in chosen for label in (words, *words.split(", ")) if label in labels}
    own_words = [words for words in chosen if words not in labels and not set(words.split(", ")) <= labels]
    lines = [f"**{inline(question)}**", ""] if question else []
    lines += [_tick(text(option, "label") in picked, _option(option)) for option in options]
    lines += [_tick(True, inline(words)) for words in own_words]
    return [*lines, f"- {inline(notes)}"] if notes else lines


def _option(option: dict[str, Any]) -> str:
    return ": ".join(filter(None, [inline(text(option, "label"), 200), inline(text(option, "description"))]))


def _tick(is_done: bool, words: str) -> str:
    return f"- [{'x' if is_done else ' '}] {words}"


def exit_plan_mode(run: Run) -> RunFacts:
    """Describe a plan that the user was asked to approve."""
    plan = text(run.result, "plan") or text(run.input, "plan") or ("" if run.result else answer(run.response))
    first = next(filter(None, [line.strip("#*- \t") for line in plan[:4000].split("\n")]), "")
    about = short(first, 100)
    file = text(run.result, "filePath") or text(run.input, "planFilePath")
    meta = {"files": [path(run, file)] if file else []}
    return RunFacts(f"Plan: {about}" if about else "Plan", about, meta, [Part(text=plan, language="markdown")])


def skill(run: Run) -> RunFacts:
    """Describe the use of a skill."""
    name, args = short(text(run.input, "skill", "command"), 60), text(run.input, "args", "arguments")
    about = f"{name} {short(args, 40)}".strip()
    parts = [Part("Arguments", args), Part("Result", answer(run.response), "markdown")]
    return RunFacts(f"Skill {about}", about, {}, parts)
