"""The click group of all commands; a command's module is imported only when the command is run."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mdmem import __version__, progress
from mdmem.cli.terminal import startup

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Command(NamedTuple):
    """One command: its module, its line in `mdmem --help`, and the function's name where it differs."""

    module: str
    help: str
    name: str = ""


COMMANDS: dict[str, dict[str, Command]] = {
    "Start": {
        "init": Command("setup.init", "Create a vault."),
        "install": Command("setup.install", "Register the hooks with your agents."),
        "uninstall": Command("setup.install", "Remove the hooks."),
        "status": Command("setup.status", "Show which agents are registered, and when each was last heard from."),
        "import": Command("importing", "Import what agents have saved, or folders of markdown.", "import_"),
        "demo": Command("setup.demo", "Replay a recorded day into a scratch vault and show the result."),
    },
    "Find": {
        "search": Command("finding.commands", "Search the notes."),
        "prompts": Command("finding.commands", "Search what you asked, word for word."),
        "related": Command("finding.commands", "Find notes similar to one."),
        "fixes": Command("learned", "Show what solved an error before."),
        "about": Command("learned", "Show what is known about a file, a symbol, #123, a package."),
        "show": Command("reading", "Show one note."),
        "index": Command("indexing", "Update the index."),
    },
    "Read": {
        "list": Command("listing", "List notes, newest first.", "list_notes"),
        "sessions": Command("listing", "List sessions, newest first."),
        "history": Command("reading", "Read a session as a conversation."),
        "timeline": Command("reading", "Show what happened before and after a note."),
        "decisions": Command("learned", "List the decisions in force."),
        "todo": Command("learned", "List what was left open."),
        "proposals": Command("proposals", "List what waits for your decision."),
        "digest": Command("digest", "Summarize a day or a week as Markdown."),
        "stats": Command("stats", "Count what is in the vault and what it costs."),
        "tree": Command("listing", "Show the vault's folders as a tree."),
        "web": Command("serve", "Show the vault in your browser."),
        "open": Command("terminal.editor", "Open the vault in Obsidian, VS Code or your editor.", "open_vault"),
    },
    "Write": {
        "note": Command("notes", "Write a note.", "add"),
        "append": Command("notes", "Add text to a note that somebody wrote."),
        "edit": Command("notes", "Open a note in your editor."),
        "tag": Command("notes", "Add tags to a note, or remove them."),
        "pin": Command("notes", "Pin notes: they are shown at the start of every session."),
        "unpin": Command("notes", "Unpin notes."),
        "promote": Command("promote", "Put a note into AGENTS.md or CLAUDE.md, or take it out."),
    },
    "Keep": {
        "commit": Command("commits", "Commit the vault's new and changed notes."),
        "log": Command("commits", "Show the journal: sessions, what was asked, how it ended."),
        "review": Command("review", "Walk through what was captured since the last review."),
        "why": Command("commits", "Show where a note or a line of it came from."),
        "diff": Command("commits", "Show what changed in the vault."),
        "undo": Command("commits", "Undo a session or a commit."),
        "branch": Command("branch", "Release or drop notes that wait on a code branch.", "branch_group"),
        "forget": Command("remove", "Delete notes; they stay in history."),
        "purge": Command("remove", "Remove a text from every file and commit, and prove it."),
        "archive": Command("remove", "Pack the sessions of a past year into one file each."),
        "watch": Command("watch", "Keep the index current and loaded, and commit after a quiet period.", "command"),
    },
    "Share": {
        "sync": Command("transfer", "Fetch, merge and push the vault, with any git remote."),
        "clone": Command("transfer", "Set up this machine with a vault from a remote."),
        "export": Command("transfer", "Write notes as a page, a site, a database, JSON lines or an archive."),
        "backup": Command("transfer", "Write the whole history into one verified file."),
    },
    "Private": {
        "privacy": Command("private", "See what would be kept out of a text.", "privacy_group"),
        "pause": Command("private", "Pause storing."),
        "resume": Command("private", "Resume storing."),
    },
    "Care": {
        "doctor": Command("doctor", "Find problems, and fix what can be fixed."),
        "config": Command("setup.settings", "Read and change settings.", "config_group"),
        "completion": Command("terminal.help", "Print shell completion for mdmem."),
        "help": Command("terminal.help", "Show a help page, or the help of a command.", "help_command"),
    },
    "Agents": {
        "mcp": Command("serve", "Serve the vault as MCP tools, over stdio or HTTP."),
        "hook": Command("hooks", "Store one hook payload from stdin (agents run this)."),
        "inject": Command("hooks", "Answer one hook payload from stdin with memories (agents run this)."),
        "injections": Command("injections", "List what agents were given, when and why."),
    },
}


OTHER_WORDS = {
    "about": "entity",
    "archive": "pack",
    "config": "settings options",
    "diff": "changes",
    "digest": "summary today recap",
    "doctor": "check verify repair",
    "edit": "update change",
    "export": "dump",
    "forget": "delete remove rm del drop",
    "history": "conversation conversations transcript chat replay",
    "index": "rebuild",
    "install": "setup register enable",
    "list": "ls notes memory memories recent",
    "log": "journal",
    "mcp": "server",
    "note": "add new remember create write store save",
    "pause": "stop",
    "pin": "star",
    "privacy": "mask redact",
    "resume": "start",
    "search": "find grep query recall ask lookup",
    "show": "cat get read view",
    "stats": "projects usage cost tokens",
    "status": "health information",
    "sync": "push pull fetch merge remote",
    "todo": "tasks",
    "undo": "revert restore rollback",
    "uninstall": "disable unregister",
    "web": "serve ui browse dashboard",
    "why": "blame",
}
"""The words by which other programs call a command, for those who type them."""
_MEANT = {word: name for name, words in OTHER_WORDS.items() for word in words.split()}
_INSTEAD = {
    "version": "`mdmem --version` prints it.",
    **dict.fromkeys(("path", "where"), "`mdmem config path` prints where everything is."),
    **dict.fromkeys(("move", "mv", "rename"), "Move or rename the file or folder itself (`mdmem help vault`)."),
}
"""What no command does -> how it is done."""


_FIND_A_NOTE = "`mdmem search WORDS` and `mdmem list` show the ids of notes."
_FOUND_BY = {
    "NOTE": _FIND_A_NOTE,
    "PATH[:LINE]|ID[:LINE]": _FIND_A_NOTE,
    "SESSION|COMMIT": "`mdmem sessions` and `mdmem log --stat` show them.",
    "ENTITY": "Examples: src/dates.py, DateError, '#123', requests.",
    "KEY": "`mdmem config list` shows the names of settings.",
    "FILE|site DIR": "Examples: week.html, notes.zip, vault.db, site ~/memory-site.",
}
"""What an argument is called -> where to find a value for it."""


class LazyGroup(click.Group):
    """A group that imports a command's module when that command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands, in the order of `COMMANDS`."""
        return [name for group in COMMANDS.values() for name in group]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one command."""
        for group in COMMANDS.values():
            if name in group:
                row = group[name]
                module = importlib.import_module(f"mdmem.cli.{row.module}")
                command: click.Command = getattr(module, row.name or name.replace("-", "_"))
                return command
        return None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; after a misplaced or unknown argument, tell what was probably meant."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            before, hint = self._hint(ctx, error)
            if not hint:
                raise
            raise click.UsageError(f"{before}{hint}", error.ctx) from None

    def _hint(self, ctx: click.Context, error: click.UsageError) -> tuple[str, str]:
        """Return what to say before a hint at what was meant, and the hint; "" for none."""
        from mdmem.cli.terminal import guesses

        if isinstance(error, click.MissingParameter):
            return f"{error.format_message()} ", _FOUND_BY.get(_placeholder(error.param), "")
        if not isinstance(error, click.NoSuchOption):
            return f"{error.message}. ", guesses.instead(error)
        name = error.option_name
        options = (parameter for parameter in self.params if isinstance(parameter, click.Option))
        option = next((option for option in options if name in option.opts), None)
        if option is None:
            return f"{error.format_message()} ", guesses.limit_instead(error)
        value = f" {option.metavar}" if option.metavar else ""
        return "", f"{name} goes before the command: mdmem {name}{value} {ctx.invoked_subcommand} …"

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command that was typed, or suggest the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            hint = _INSTEAD.get(args[0]) or _nearest(args[0], self.list_commands(ctx))
            if not hint:
                raise
            raise click.UsageError(f"{error.message} {hint}", error.ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, without importing any."""
        from click.shell_completion import CompletionItem

        rows = [item for group in COMMANDS.values() for item in group.items() if item[0].startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=row.help) for name, row in rows), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands in groups, without importing them."""
        for title, group in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, command.help) for name, command in group.items()])


def _placeholder(parameter: click.Parameter | None) -> str:
    """Return the word that stands for an argument in a command's usage line."""
    return (parameter.metavar or (parameter.name or "").upper()).removesuffix("...") if parameter else ""


def _nearest(typed: str, commands: list[str]) -> str:
    """Return a question with the command that was most probably meant; "" if none is near."""
    import difflib

    # Another program's word must fit better than a command's name, because what it leads to is less expected, and a
    # short one exactly: `mask` is not `ask`. Of a command, the first letter is seldom wrong: `entity` is not `init`.
    words = [word for word in difflib.get_close_matches(typed, _MEANT, 3, 0.8) if len(word) > 4 or word == typed]
    first = [name for name in commands if name[0] == typed[:1]]
    similar = (
        [name for name in commands if sorted(name) == sorted(typed)]  # swapped letters: `stauts` is not `stats`
        or difflib.get_close_matches(typed, [*commands, *words], 1, 0.75)
        or difflib.get_close_matches(typed, first, 1, 0.65)
    )
    return f"Did you mean '{_MEANT.get(similar[0], similar[0])}'?" if similar else ""


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mdmem")
@click.option("--vault", metavar="DIR", help="The vault to use (default: MDMEM_VAULT, your config.toml, ~/mdmem).")
@click.option("--debug", is_flag=True, help="Show a traceback when something goes wrong.")
@click.pass_context
def cli(ctx: click.Context, vault: str | None, debug: bool) -> None:  # noqa: ARG001 - main looks for --debug
    """Memory for coding agents, as markdown files that you can read, edit and share with git.

    Without a command, `mdmem` shows what is stored and what is open.

    \b
    Start with:  mdmem demo                 see what it does, in a scratch vault
                 mdmem init                 create your vault in ~/mdmem
                 mdmem install claude-code  register the hooks

    Exit status: 0 success, 1 failed or you answered no, 2 wrong usage, 3 settings, 4 vault, 5 not found, 6 busy, 7 git,
    8 ambiguous name, 130 stopped by Ctrl-C, 141 output closed early (as by `| head`).
    """
    ctx.obj = vault
    ctx.color = False if startup.is_plain() else None
    progress.listeners[:] = [_print_told]
    end = startup.begin_fence(ctx.invoked_subcommand)
    if end:
        ctx.call_on_close(lambda: click.echo(end))
    if ctx.invoked_subcommand is None:
        _without_command(ctx)


def _print_told(text: str, _done: int, total: int) -> None:
    """Print what is waited for; counts are only for a bar."""
    if not total:
        click.echo(f"mdmem: {text}", err=True)


def _without_command(ctx: click.Context) -> None:
    """Show the home screen, or the help if there is no vault yet."""
    from mdmem import config, moved

    loaded = config.load(ctx.obj)
    if os.path.isdir(loaded.vault):  # noqa: PTH112 - nothing else here needs pathlib
        from mdmem.cli import home

        home.show(ctx.obj)
    elif moved.was_there(loaded.state_dir):
        raise moved.missing(loaded.state_dir, loaded.vault)
    else:
        click.echo(f"{ctx.get_help()}\n\nThere is no vault yet: `mdmem init` creates one.")
