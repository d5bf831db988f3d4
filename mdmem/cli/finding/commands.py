"""`search`, `prompts` and `related`: find notes by words, or by another note."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mdmem.cli.finding import hits
from mdmem.cli.terminal import completions, extent, options, render, startup
from mdmem.errors import UsageError
from mdmem.search import staged
from mdmem.vault import journal
from mdmem.views import wording
from mdmem.watcher.warm_search import WarmAnswer, WarmHit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mdmem.config import Config
    from mdmem.search.engine import SearchResult
    from mdmem.search.index.view import View
    from mdmem.views.prompts import FoundPrompt, MatchedPrompts


class _Question(click.Command):
    """A command whose words may begin with a dash: `-pytest` and `-kind:prompt` exclude."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        unwanted = [word for word in args[:end] if _UNWANTED.match(word)]
        names = {name for option in self.params for name in option.opts}
        for word in unwanted:
            if f"-{word}" in names and not ctx.resilient_parsing:
                raise UsageError(f"No such option: {word}. Use -{word}; after `--`, {word} is a word to exclude.")
        other_words = [word for word in args[:end] if not _UNWANTED.match(word)]
        return super().parse_args(ctx, [*other_words, "--", *unwanted, *args[end + 1 :]])


_UNWANTED = re.compile(r'-(?!n\d+$)[^\W\d_]\S|-"')


@click.command(cls=_Question)
@click.argument("words", nargs=-1, shell_complete=completions.filter_words)
@options.filters
@options.by_relevance
@options.limit(10)
@options.offset
@click.option("--all", "every", is_flag=True, help="Also show notes that repeat a better one.")
@click.option(
    "--deep",
    is_flag=True,
    help="Have a model draft the note you are looking for, and search by its words too (one model call).",
)
@click.option("--at", metavar="TIME", help="Search the vault as it was then: yesterday, 3d, 2026-09-14, a commit.")
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help='Answer many questions: {"qid", "text"} per line in, {"qid", "results": [path, …]} per line out.',
)
@options.as_json("an array of objects: id, path, kind, title, created, project, session, score, snippet, superseded_by")
@options.in_vault
def search(
    config: Config,
    /,
    words: tuple[str, ...],
    sort: str,
    limit: int,
    offset: int,
    every: bool,
    deep: bool,
    at: str | None,
    queries: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Find notes, and files by their names. Words are ranked, and none is required. Filters narrow the results;
    write them among the words or as options.

    \b
    "an exact phrase"   +required   -without   begin*
    kind: project: session: tool: file: tag: agent: branch:
    is:pinned|edited|failed|private|redacted|staged
    is:candidate|proposed|dismissed|archived|retired
    since:2w   until:2026-09-01   on:yesterday

    \b
    Example:  mdmem search date parser kind:response since:2w
              mdmem search --file dates.py --is failed --sort newest
    """
    limit = limit or hits.EVERYTHING
    text = " ".join(words)
    if queries:
        unread = {"sort": sort != "relevance", "offset": offset, "all": every, "deep": deep, "at": at}
        _refuse_beside_queries(text, {**given, **unread})
        _answer_all(config, queries, limit)
        return
    if not text.strip() and not any(given.values()):
        raise click.UsageError("Give words to search for, or a filter. `mdmem list` shows the newest notes.")
    result: SearchResult | WarmAnswer
    if at:
        unread = {"sort": sort != "relevance", "offset": offset, "all": every, "deep": deep}
        result = _search_then(config, text, at, limit, {**given, **unread})
    else:
        query = options.query(given, text)
        guess = {"guess": _guess(config, query.text)} if deep else {}
        result = hits.run(config, query, sort=sort, limit=limit, offset=offset, collapse=not every, **guess)
    by_name = not (at or offset or any(given.values()))
    files = hits.files_with_words(config, text, limit) if by_name else []
    hits.show(config, result, files, offset=offset, limit=limit, as_json=as_json, words=text)


def _guess(config: Config, text: str) -> str:
    """Have a model draft the note; without an answer, print that and return ""."""
    from mdmem.search.expansion import calls, hyde

    guess = hyde.guess(config, text, caller="search") if text else ""
    if text and not guess:
        click.echo(f"No model helped with this search: only your words were used. {calls.why_none(config)}", err=True)
    return guess


def _refuse_beside_queries(text: str, given: Mapping[str, Any]) -> None:
    options_given = [f"--{key.rstrip('_')}" for key, value in given.items() if value]
    if text or options_given:
        raise UsageError(
            f"--queries works only with --limit, not with {options_given[0] if options_given else 'words'}."
        )


def _answer_all(config: Config, file: str, limit: int) -> None:
    from mdmem.search import engine

    data = options.typed_text().buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        questions = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"The questions are not UTF-8 ({error.reason} at byte {error.start}). Fix them.") from error
    for name, paths in engine.batch(config, list(_questions(questions)), limit=limit):
        render.print_json({"qid": name, "results": paths})


def _questions(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            question = json.loads(line)
            yield question["qid"], str(question["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"Line {number} of the questions is not an object with qid and text. Fix it.") from error


def _search_then(config: Config, text: str, at: str, limit: int, given: Mapping[str, Any]) -> WarmAnswer:
    """Search a past state of the vault. Without an index, only words, kind and project can be asked for."""
    from mdmem.history import past

    unfit = [key.rstrip("_") for key, value in given.items() if value and key not in ("kind", "project")]
    if unfit:
        raise UsageError(f"--at works only with --kind, --project and --limit, not with --{unfit[0]}.")
    if any(len(given[key]) > 1 for key in ("kind", "project")):
        raise UsageError("--at takes one --kind and one --project.")
    kind, project = (given[key][0] if given[key] else "" for key in ("kind", "project"))
    past_hits = past.search(config, text, at, limit=limit, kind=kind, project=project)
    hits_then = [WarmHit(**hit._asdict(), spans=[], similar=0) for hit in past_hits]
    return WarmAnswer(hits_then, len(hits_then), [f"These notes are as they were at {at}."], None)


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=completions.notes)
@options.limit(10)
@options.as_json("an array of objects: id, path, kind, title, created, project, session, score, snippet, superseded_by")
@options.in_vault
def related(config: Config, reference: str, limit: int, as_json: bool) -> None:
    """Find notes like NOTE (an id or a path), by its most characteristic words.

    \b
    Example:  mdmem related mem:7m2x4kd9qp
    """
    from mdmem.search import engine

    here = staged.place(config, startup.here())
    result = engine.related(config, reference, limit=limit or hits.EVERYTHING, here=here)
    if as_json:
        hits.print_json(result)
    else:
        hits.print_hits(result)
    hits.print_remarks(result, "No other note shares its characteristic words.")


@click.command()
@click.argument("words", nargs=-1)
@options.project
@options.one_session
@options.window
@options.by_relevance
@click.option("--full", is_flag=True, help="Print the whole text of each prompt.")
@options.offset
@options.limit(20)
@options.as_json("an array of objects: id, path, session, prompt, project, created, title, score, text")
@options.in_vault
def prompts(
    config: Config,
    /,
    words: tuple[str, ...],
    sort: str,
    full: bool,
    offset: int,
    limit: int,
    as_json: bool,
    **given: str,
) -> None:
    """Search your prompts across sessions, with the query language of SQLite's FTS5. Without words, list the latest.

    \b
    a AND b   a OR b   a NOT b   ( )   "a phrase"   begin*   NEAR(a b, 5)
    prompt_text:a   prompt:3   project:   session:   since:2w

    \b
    Example:  mdmem prompts 'validation NOT third'
              mdmem prompts 'NEAR(date parser, 5) since:2w' --full
    """
    from mdmem.views import prompts as view_of
    from mdmem.views import rows

    options.span(given)  # refuses a time that ends before it begins
    parsed, narrowed = view_of.read(" ".join(words), {key: value for key, value in given.items() if value})
    here = staged.place(config, startup.here())

    def choose(view: View) -> tuple[list[int], MatchedPrompts]:
        part = view_of.PromptSlice(sort, limit, offset)
        matched = view_of.match(view, config.vault, parsed, narrowed, part, here=here)
        return matched.shown, matched

    def make(view: View, number: int) -> FoundPrompt:
        return view_of.read_prompt(view, config.vault, number, matched.scores[number])

    found_prompts, matched = rows.each(config, choose, make)
    if as_json:
        render.print_array(found_prompts)
    else:
        _print_prompts(found_prompts, full=full)
    for hint in matched.hints:
        click.echo(f"hint: {hint}", err=True)
    if not matched.total and not matched.hints:
        is_narrowed = any((*words, *given.values()))
        click.echo("No prompt matches." if is_narrowed else "No prompts yet.", err=True)
    extent.print_extent("prompt", len(matched.shown), matched.total, offset=offset)


def _print_prompts(found_prompts: Iterable[FoundPrompt], *, full: bool) -> None:
    for prompt in found_prompts:
        project = f"  {render.safe(prompt.project)}" if prompt.project else ""
        head = f"{wording.day(prompt.created)}  {journal.session_tag(prompt.session)} prompt {prompt.prompt}{project}  "
        render.write([[(head, "dim"), (f"[mem:{render.safe(prompt.id)}]", "yellow")]])
        text = prompt.text.splitlines() if full else [prompt.title]
        render.write([[(f"    {render.safe(line)}", "")] for line in text])
