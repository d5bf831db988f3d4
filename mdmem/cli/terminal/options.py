"""Options that several commands share: the query language's filters, `--limit`, `--json`."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

import click

from mdmem import config, timestamps
from mdmem.cli.terminal import completions
from mdmem.cli.terminal.completions import Function
from mdmem.cli.terminal.startup import query as query
from mdmem.cli.terminal.startup import vault_config as vault_config
from mdmem.config import Config
from mdmem.errors import AmbiguousError, MdmemError, UsageError, VaultError
from mdmem.search.query import STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import SupportsIndex, SupportsInt, TypeVar

    from mdmem.search.index.view import View

    Answer = TypeVar("Answer")


def in_vault(command: Function) -> Function:
    """Pass a command the configuration of the vault, which must exist, as its first argument."""
    return _with_first_argument(vault_config, command)


def with_config(command: Function) -> Function:
    """Pass a command the configuration as its first argument, whether or not there is a vault."""
    return _with_first_argument(config.load, command)


def _with_first_argument(load: Callable[[str | None], Config], command: Function) -> Function:
    @click.pass_obj
    @functools.wraps(command)
    def run(vault: str | None, /, *arguments: Any, **named: Any) -> Any:
        loaded = load(vault)
        try:
            return command(loaded, *arguments, **named)
        except VaultError as error:
            from mdmem import moved

            if os.path.isdir(loaded.vault) or not moved.was_there(loaded.state_dir):  # noqa: PTH112 - as in startup
                raise
            raise moved.missing(loaded.state_dir, loaded.vault) from error
        finally:
            freshness = sys.modules.get("mdmem.search.freshness")  # loaded only by commands that use the index
            for notice in freshness.untold(loaded) if freshness else ():
                click.echo(f"mdmem: {notice}", err=True)

    return run


def filters(command: Function) -> Function:
    """Add the filters to a command; it gets them as keyword arguments, for `query`."""
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def window(command: Function) -> Function:
    """Add `--since`, `--until` and `--on`; the command gets them as keyword arguments, for `span` or `query`."""
    return since(until(on(command)))


def span(values: Mapping[str, Any]) -> tuple[str, str]:
    """Return the bounds that `--since`, `--until` and `--on` set, as notes write times; "" for no bound.

    Raises UsageError when one cannot be read.
    """
    query_of_span = query({key: values.get(key) for key in ("since", "until", "on")})
    first, last = (
        timestamps.iso_time(bound) if bound is not None else "" for bound in (query_of_span.since, query_of_span.until)
    )
    return first, last


def fits(created: str, first: str, last: str) -> bool:
    """Whether a time, as notes write it, is within the bounds that `span` returned."""
    return created >= first and (not last or created < last)


NOTE_KEYS = "id, path, kind, title, created, project, session, agent, tool, prompt, sequence, success, pinned, files"
SESSION_KEYS = (
    "session, project, agent, branch, title, folder, day, started, ended, asks, outcome, files, notes, commit,"
    " commits, seconds, answers, answer"
)
"""What `--json` prints of a note and of a session in a list."""


def as_json(printed: str) -> Callable[[Function], Function]:
    """Add `--json`; `printed` says what is printed."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {printed}.")


def refuse_to_ask(*, as_json: bool, yes: bool) -> None:
    """Raise UsageError if a question would be asked while a program reads the output."""
    if as_json and not yes:
        raise UsageError("--json cannot ask: add --yes.")


def typed_text() -> TextIO:
    """Return stdin, to be read to its end; on a terminal, print how to end it."""
    if sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
        click.echo(f"Type or paste the text; {end} on a new line ends it.", err=True)
    return sys.stdin


def hidden_text(question: str) -> str:
    """Return what is typed on the terminal, which does not show it; in a pipe, stdin without its last line break."""
    if sys.stdin.isatty():
        return str(click.prompt(question, hide_input=True, err=True))
    return sys.stdin.read().removesuffix("\n").removesuffix("\r")


@contextlib.contextmanager
def answered(otherwise: str) -> Iterator[None]:
    """Raise UsageError if stdin ends at a question. otherwise: what to do instead, for its message."""
    try:
        yield
    except click.Abort as error:
        if sys.stdin.isatty() or not isinstance(error.__context__, EOFError):
            raise
        click.echo(err=True)
        raise UsageError(f"There is no terminal to ask on. {otherwise}") from None


def confirm(question: str, *, default: bool = False, err: bool = False) -> None:
    """Ask a question that `--yes` answers; after a no, end the command with status 1.

    Raises UsageError when there is no terminal to ask on.
    """
    with answered("Add --yes to continue without being asked."):
        agreed = click.confirm(question, default=default, err=err)
    if not agreed:
        click.echo("Nothing was changed.", err=True)
        raise click.exceptions.Exit(1)


def choose(choices: Mapping[str, tuple[str, str]], default: str) -> str:
    """Ask for one of the choices, each a key with its name and meaning; return its name. `?` lists them first."""
    prompt = " ".join(f"{click.style(key, bold=True)}={name}" for key, (name, _) in choices.items())
    while True:
        name = choices[click.prompt(prompt, type=click.Choice(list(choices)), show_choices=False, default=default)][0]
        if name != "help":
            return name
        for key, (choice, meaning) in choices.items():
            click.echo(f"  {key}  {choice}: {meaning}")


def now() -> float:
    """Return the time, in seconds since the epoch; MDMEM_NOW sets it."""
    return timestamps.now(os.environ)


def limit(default: int, noun: str = "results") -> Callable[[Function], Function]:
    """Add `--limit`; 0 means no limit."""
    return number("--limit", "-n", default=default, help_text=f"Maximum number of {noun} (0: no limit).")


MOST_OF_ALL = 1_000_000_000
"""The largest number that an option accepts."""


class WholeNumber(click.types.IntParamType):
    """A whole number within bounds, which an error names and --help does not; `name` is what the error calls it."""

    name = "whole number"

    def __init__(self, least: int, most: int = MOST_OF_ALL) -> None:
        self.least, self.most = least, most

    def convert(
        self, value: SupportsInt | SupportsIndex, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the number. Fails when it is out of bounds."""
        number = super().convert(value, param, ctx)
        if not self.least <= number <= self.most:
            most = f"{self.most:,}" if self.most == MOST_OF_ALL else self.most
            self.fail(f"{number} is not between {self.least} and {most}.", param, ctx)
        return number


def number(*names: str, default: int, help_text: str, least: int = 0) -> Callable[[Function], Function]:
    """Add an option that takes a number, at least `least`."""
    return click.option(
        *names, type=WholeNumber(least), metavar="N", default=default, show_default=bool(default), help=help_text
    )


def value(
    names: str, metavar: str, help_text: str, complete: Function | None = None, **more: Any
) -> Callable[[Function], Function]:
    """Add an option that takes a value. names: its own and, after a space, that of the command's argument, if they
    differ. complete: completes the value. more: as for `click.option`.
    """
    return click.option(*names.split(), metavar=metavar, help=help_text, shell_complete=complete, **more)


def several(
    names: str, metavar: str, help_text: str, complete: Function | None = None
) -> Callable[[Function], Function]:
    """Add an option that may be given several times. Parameters are those of `value`."""
    return value(names, metavar, help_text, complete, multiple=True)


TIMES = "2w, yesterday, last week, 2026-09-14"


def _resolve_project(ctx: click.Context, _: click.Parameter, value: str) -> str:
    """Return the project that is meant by its name in any letter case, or by a part of the name that only it has."""
    wanted = value.lower()
    known = completions.vault_projects(ctx) if wanted else []
    matching = [name for name in known if name.lower() == wanted] or [name for name in known if wanted in name.lower()]
    if wanted and not matching:
        matching = _renamed(ctx, wanted)
    if wanted and not matching:
        _hint_at_unmatched(ctx, project=wanted)
    if value in known or not matching:
        return value
    if len(matching) > 1:
        raise AmbiguousError(f"{value!r} is a part of several projects' names: {', '.join(matching)}.")
    return matching[0]


def _renamed(ctx: click.Context, former: str) -> list[str]:
    """Return the project whose folder had this name before; [] if there is none, or no vault."""
    from mdmem.views import sessions as session_rows

    loaded = completions.config_of(ctx)
    called = _asked(loaded, lambda view: session_rows.project_called(view, loaded.vault, former)) or former
    return [called] if called != former else []


def _asked(config: Config, question: Callable[[View], Answer]) -> Answer | None:
    """Return what the index answers; None if there is no note, or that fails: the command itself reports it."""
    from mdmem.views import rows

    with contextlib.suppress(MdmemError):
        if os.path.isdir(config.vault) and not rows.is_empty(config):  # noqa: PTH112 - nothing else here needs pathlib
            return rows.ask(config, question)
    return None


def _resolve_agent(ctx: click.Context, _: click.Parameter, value: str) -> str:
    from mdmem.agents.install.catalog import name_meant

    if value:
        value = name_meant(value)
        _hint_at_unmatched(ctx, agent=value)
    return value


def _hint_at_unmatched(ctx: click.Context, **filters: str) -> None:
    """Print on stderr that no note has a name, and the nearest one: "nothing" alone would be taken for an answer.

    That is done at the end, so that it does not stand before a message about other arguments.
    """
    if not ctx.resilient_parsing:  # for a completion
        ctx.call_on_close(functools.partial(_print_unmatched, ctx, filters))


def _print_unmatched(ctx: click.Context, filters: dict[str, str]) -> None:
    from mdmem.search import select

    for sentence in _asked(completions.config_of(ctx), lambda view: select.unmatched(view, query(filters))) or ():
        click.echo(f"hint: {sentence}", err=True)


_PROJECT = "Only this project: its name or a part of it"
project = value("--project", "NAME", f"{_PROJECT}.", completions.projects, default="", callback=_resolve_project)
whole_project = value("--project", "NAME", "Only this project, by its whole name.", completions.projects, default="")
since = value("--since", "TIME", f"Since this time: {TIMES}, 2026-09.", default="")
until = value("--until", "TIME", "Until the end of this time.", default="")
on = value("--on", "TIME", "On this day, or in this week or month.", default="")
offset = number("--offset", default=0, help_text="Skip this many results.")
by_relevance = click.option(
    "--sort", type=click.Choice(["relevance", "newest", "oldest"]), default="relevance", show_default=True
)
yes = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
agent = value("--agent", "NAME", "Only from this agent.", completions.agents, default="", callback=_resolve_agent)
one_session = value("--session", "ID", "Only this session: its id or its beginning.", completions.sessions, default="")

_ANY, _ALL = "repeatable (any may match)", "repeatable (all must match)"
_FILTERS = (
    several("--kind", "KIND", f"Only this kind: prompt, response, note, …; {_ANY}.", completions.kinds),
    several("--project", "NAME", f"{_PROJECT}; {_ANY}.", completions.projects),
    several("--session", "ID", f"Only this session: its id or its beginning; {_ANY}.", completions.sessions),
    several("--tool", "NAME", f"Only runs of this tool; {_ANY}.", completions.tools),
    several("--file", "PATH", f"Only notes about this file: a part of its path, or a glob; {_ALL}."),
    several("--tag", "TAG", f"Only with this tag; {_ALL}.", completions.tags),
    several("--agent", "NAME", f"Only from this agent; {_ANY}.", completions.agents),
    several("--branch", "NAME", f"Only made on this branch of the code; {_ANY}.", completions.branches),
    window,
    click.option("--failed", is_flag=True, help="Only what failed; the same as --is failed."),
    several("--is is_", "STATE", f"Only with this state: {', '.join(STATES)}; {_ALL}.", completions.states),
)
