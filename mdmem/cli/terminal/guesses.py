"""Guesses which options were meant by words that a command does not take, as in `mdmem list decisions`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress

import click

from mdmem import when
from mdmem.errors import MdmemError

_UNEXPECTED = re.compile(r"Got unexpected extra arguments? \((.+)\)", re.DOTALL)  # click has no class for this error
_INSTEAD = {("todo", "add"): '`mdmem note --kind task "…"` writes one.'}
"""A command and a first word -> what does that."""
_SESSION = re.compile(r"(?=.*\d)[0-9a-f-]{4,36}")
"""Matches the name of a session or the beginning of it; without a digit, it is more probably a word."""
_FORMS = {"--limit": re.compile(r"0*(\d{1,3}|1000)"), "--for": re.compile(r"\d+[mhdw]")}
"""An option -> what its value looks like. A number larger than a thousand is probably a year, and no limit."""


def instead(error: click.UsageError) -> str:
    """Return what was probably meant by arguments that a command does not take; "" for another error, or no guess."""
    unexpected = _UNEXPECTED.fullmatch(error.message)
    if unexpected is None or error.ctx is None:
        return ""
    words, command = unexpected[1].split(), error.ctx.command_path.partition(" ")[2]
    if (command, words[0]) in _INSTEAD:
        return _INSTEAD[command, words[0]]
    with suppress(MdmemError):  # such as broken settings
        meant = list(_meant(error.ctx, words))
        if all(meant):
            return f"Did you mean `{' '.join(meant)}`?"
    if command not in ("list", "log", "sessions", "review"):
        return ""
    if len(words) == 1 and _SESSION.fullmatch(words[0]):
        return f"To read a session: mdmem history {words[0]}"
    return f"To search for words: mdmem search {' '.join(map(shlex.quote, words))}" if command != "review" else ""


def limit_instead(error: click.NoSuchOption) -> str:
    """Return which option was meant by a number with a dash, as in `git log -5`; "" for another option."""
    command = error.ctx.command if error.ctx else None
    has_limit = command is not None and any("-n" in param.opts for param in command.params)
    return "-n NUMBER is how many to list." if has_limit and error.option_name[1:].isdecimal() else ""


def _meant(ctx: click.Context, words: list[str]) -> Iterator[str]:
    """Yield each word with the option that takes it, "" where no option does."""
    options = {
        name: option for option in ctx.command.params for name in option.opts if isinstance(option, click.Option)
    }
    remaining = iter(words)
    for word in remaining:
        own = options.get(f"--{word}")
        if own:
            value = "" if own.is_flag else next(remaining, own.metavar or "")
            yield " ".join(filter(None, (f"--{word}", value and shlex.quote(value))))
        else:
            yield (_formed(options, word) or _time(options, word) or _value(ctx, options.values(), word))


def _formed(options: Iterable[str], word: str) -> str:
    return next((f"{name} {word}" for name, form in _FORMS.items() if name in options and form.fullmatch(word)), "")


def _time(options: Iterable[str], word: str) -> str:
    span = when.span(word, when.now()) if "--on" in options else None
    if span is None:
        return ""
    return f"--{'since' if span[0] == span[1] else 'on'} {shlex.quote(word)}"


def _value(ctx: click.Context, options: Iterable[click.Option], word: str) -> str:
    """Return the first option whose completion knows the word, or its singular; part of a project's name will do."""
    singular = re.sub("ies$", "y", word.lower()).removesuffix("s")
    for option in options:
        for typed in (word, singular):
            known = [item.value for item in option.shell_complete(ctx, typed)]
            is_part = option.name == "project" and len(known) == 1 and len(typed) > 2
            if typed in known or is_part:
                return f"{option.opts[0]} {shlex.quote(known[0] if is_part else typed)}"
    return ""
