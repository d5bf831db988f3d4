"""`search`, `related`, `show`: from words, or a name, to notes."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mdmem.cli.terminal import lines, options, pager, render, table
from mdmem.errors import MdmemError, NotFoundError, UsageError
from mdmem.search import staged
from mdmem.vault import attachments, disk, note
from mdmem.views import wording
from mdmem.watcher import warm_search

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from mdmem.cli.terminal.lines import Piece
    from mdmem.config import Config
    from mdmem.learn.relations import TypedLink
    from mdmem.search.engine import SearchHit, SearchResult
    from mdmem.search.query import Query
    from mdmem.views.rows import NoteRow
    from mdmem.watcher.warm_search import WarmAnswer
    from mdmem.watcher.warm_search import WarmHit as WarmHit


EVERYTHING = 1_000_000
"""What `--limit 0` means to a search."""


class _Question(click.Command):
    """A command whose words may begin with a dash: `-pytest` and `-kind:prompt` say what is not wanted."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        unwanted = [word for word in args[:end] if _UNWANTED.match(word)]
        names = {name for option in self.params for name in option.opts}
        for word in unwanted:
            if f"-{word}" in names and not ctx.resilient_parsing:
                raise UsageError(f"No such option: {word}. Use -{word}; after `--`, {word} is a word to exclude.")
        others = [word for word in args[:end] if not _UNWANTED.match(word)]
        return super().parse_args(ctx, [*others, "--", *unwanted, *args[end + 1 :]])


_UNWANTED = re.compile(r'-(?!n\d+$)[^\W\d_]\S|-"')


@click.command(cls=_Question)
@click.argument("words", nargs=-1)
@options.filters
@click.option("--sort", type=click.Choice(["relevance", "newest", "oldest"]), default="relevance", show_default=True)
@options.limit(10)
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Skip this many results.")
@click.option("--all", "every", is_flag=True, help="Also show notes that repeat a better one.")
@click.option("--deep", is_flag=True, help="Let a model guess the note and search by its words too (one model call).")
@click.option("--at", metavar="TIME", help="Search what the vault held then: yesterday, 3d, 2026-09-14, a commit.")
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help='Answer many questions, {"qid", "text"} a line, with {"qid", "results": [path, …]} a line.',
)
@options.as_json("an array of objects: id, path, kind, title, created, project, session, score, snippet")
@click.pass_obj
def search(
    given_vault: str | None,
    /,
    words: tuple[str, ...],
    **given: Any,
) -> None:
    """Find notes, and files by their names. Words are ranked, none is required; filters narrow down, in the words
    or as options.

    \b
    "an exact phrase"   +required   -without   begin*
    kind: project: session: tool: file: tag: agent: branch:
    is:pinned|edited|failed|private|redacted|staged   since:2w   until:2026-09-01   on:yesterday

    \b
    Example:  mdmem search date parser kind:response since:2w
              mdmem search --file dates.py --is failed --sort newest
    """
    how = _Wanted(**{name: given.pop(name) for name in _Wanted._fields})
    settings = options.settings(given_vault)
    limit = how.limit or EVERYTHING
    if how.queries:
        _answer_all(settings, how.queries, limit)
        return
    text = " ".join(words)
    if not text.strip() and not any(given.values()):
        raise click.UsageError("Give words to search for, or a filter. `mdmem list` shows the newest notes.")
    result: SearchResult | WarmAnswer
    if how.at:
        result = _search_then(settings, text, how.at, limit, given)
    else:
        asked = options.query(given, text)
        more = {"guess": _guess(settings, asked.text)} if how.deep else {}
        result = run(settings, asked, sort=how.sort, limit=limit, offset=how.offset, collapse=not how.every, **more)
    by_name = not (how.at or how.offset or any(given.values()))
    files = attachments.named(settings.vault, text, settings.settings)[:limit] if by_name else []
    if how.as_json:
        click.echo(_as_json(result, files))
    else:
        print_hits(lines.terminal(), result, first=how.offset + 1)
        lines.write(lines.terminal(), [[("file  ", "dim"), (render.safe(path), "bold")] for path in files])
    if result.total or not files:
        _print_remarks(result, how.offset)


class _Wanted(NamedTuple):
    """What `search` takes beside words and filters."""

    sort: str
    limit: int
    offset: int
    every: bool
    deep: bool
    at: str | None
    queries: str | None
    as_json: bool


def _guess(settings: Config, text: str) -> str:
    """Have a model guess at the note that is looked for; "" when none is there, and the user is told."""
    from mdmem.search.expansion import hyde

    guess = hyde.guess(settings, text, caller="search") if text else ""
    if text and not guess:
        click.echo("No model helped with this search; `mdmem stats --model` shows what was asked.", err=True)
    return guess


def run(settings: Config, query: Query | str, **how: Any) -> SearchResult | WarmAnswer:
    """Search as the command does, asking the watcher first; `how` are fields of `SearchOptions`."""
    asked = options.query({}, query) if isinstance(query, str) else query
    here = staged.place(settings, folder())
    found = warm_search.ask(settings, asked, {**how, "here": here.parts()})
    if found is not None:
        return found
    from mdmem.search import engine

    return engine.search(settings, asked, engine.SearchOptions(here=here, **how))


def folder() -> str:
    """Return the current folder; "" where somebody has removed it."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def print_hits(console: Console | None, result: SearchResult | WarmAnswer, first: int = 1) -> None:
    """Print hits, best first: rank, date, kind, title and citation; where it is; its best part, words marked."""
    hits: Sequence[SearchHit | WarmHit] = result.hits
    for rank, hit in enumerate(hits, first):
        similar = (
            f"  (and {wording.number(hit.similar, 'note')} that say the same; --all shows them)" if hit.similar else ""
        )
        path = [(f"     {render.safe(hit.path)}{similar}", "dim")]
        lines.write(console, [list(_head(hit, rank)), path])
        if hit.snippet:
            _print_snippet(console, list(_marked(hit)))


def _as_json(result: SearchResult | WarmAnswer, files: Sequence[str] = ()) -> str:
    hits = [{key: getattr(hit, key) for key in warm_search.HIT_KEYS} for hit in result.hits]
    rows = [{**hit, "score": round(hit["score"], 4)} for hit in hits]
    like = dict.fromkeys(warm_search.HIT_KEYS, "")
    rows += [{**like, "path": path, "kind": "file", "title": path.rpartition("/")[2], "score": 0.0} for path in files]
    return render.as_json(rows)


def _head(hit: SearchHit | WarmHit, rank: int) -> Iterator[Piece]:
    yield f"{rank:>3}  ", "bold"
    yield f"{wording.day(hit.created)}  ", "dim"
    yield f"{render.safe(hit.kind)}  ", table.KIND_STYLES.get(hit.kind, "")
    yield f"{render.safe(hit.title)}  ", "bold"
    yield f"[mem:{render.safe(hit.id)}]", "yellow"


def _marked(hit: SearchHit | WarmHit) -> Iterator[Piece]:
    """Cut a snippet into what was looked for and what is around it."""
    end = 0
    for start, stop in hit.spans:
        yield render.safe(hit.snippet[end:start]), ""
        yield render.safe(hit.snippet[start:stop]), "bold yellow"
        end = stop
    yield render.safe(hit.snippet[end:]), ""


def _print_snippet(console: Console | None, pieces: list[Piece]) -> None:
    if console is None:
        lines.write(None, [[("     ", ""), *pieces]])
        return
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text.assemble(*pieces), (0, 0, 0, 5), expand=False), soft_wrap=False)


NOTHING = "Nothing found. Try other words: words are ranked, and none is required."


def _print_remarks(result: SearchResult | WarmAnswer, offset: int, nothing: str = NOTHING) -> None:
    for hint in result.hints:
        click.echo(f"hint: {hint}", err=True)
    if result.suggestion:
        click.echo(f"Did you mean: {render.safe(result.suggestion)}", err=True)
    last = offset + len(result.hits)
    if not result.total:
        click.echo(nothing, err=True)
    elif result.hits:
        click.echo(f"{offset + 1}–{last} of {wording.number(result.total, 'note')}", err=True)


def _answer_all(settings: Config, file: str, limit: int) -> None:
    from mdmem.search import engine

    lines = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    for name, paths in engine.batch(settings, list(_questions(lines)), limit=limit):
        click.echo(render.as_json({"qid": name, "results": paths}))


def _questions(lines: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines.split("\n"), 1):
        if not line.strip():
            continue
        try:
            asked = json.loads(line)
            yield asked["qid"], str(asked["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"Line {number} of the questions is not an object with qid and text. Fix it.") from error


def _search_then(settings: Config, text: str, at: str, limit: int, given: Mapping[str, Any]) -> SearchResult:
    """Search the vault as it was, which the index does not know: words, kind and project only."""
    from mdmem.history import past
    from mdmem.search.engine import SearchHit, SearchResult
    from mdmem.search.snippet import Snippet

    others = [key.rstrip("_") for key, value in given.items() if value and key not in ("kind", "project")]
    if others:
        raise UsageError(f"--at goes with --kind and --project only, not with --{others[0]}.")
    kind, project = (given[key][0] if given[key] else "" for key in ("kind", "project"))
    found = past.search(settings, text, wording.end_of(at), limit=limit, kind=kind, project=project)
    snippets = {hit.path: Snippet(hit.snippet, ()) for hit in found}
    hits = tuple(
        SearchHit(cut=snippets.__getitem__, **{key: value for key, value in hit._asdict().items() if key != "snippet"})
        for hit in found
    )
    return SearchResult(hits, len(hits), (f"These notes are as they were at {at}.",))


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=options.notes)
@options.limit(10)
@options.as_json("an array of objects, as `search` does")
@click.pass_obj
def related(given_vault: str | None, reference: str, limit: int, as_json: bool) -> None:
    """Find notes like NOTE (an id or a path), by the words that are most its own.

    \b
    Example:  mdmem related mem:7m2x4kd9qp
    """
    from mdmem.search import engine

    settings = options.settings(given_vault)
    here = staged.place(settings, folder())
    result = engine.related(settings, reference, limit=limit or EVERYTHING, here=here)
    if as_json:
        click.echo(_as_json(result))
    else:
        print_hits(lines.terminal(), result)
    _print_remarks(result, 0, "No other note shares the words that are its own.")


@click.command()
@click.argument("reference", metavar="NOTE", shell_complete=options.notes)
@click.option("--raw", is_flag=True, help="Print the file as it is, on a terminal too.")
@click.option("--path", "only_path", is_flag=True, help="Print only where the file is.")
@click.option("--open", "in_editor", is_flag=True, help="Open it in your $VISUAL or $EDITOR.")
@click.option("--at", metavar="TIME", help="As it was then: yesterday, 3d, 2026-09-14, a commit.")
@options.as_json("an object: front matter, path, body, backlinks and relations")
@click.pass_obj
@pager.paged
def show(
    given_vault: str | None,
    reference: str,
    raw: bool,
    only_path: bool,
    in_editor: bool,
    at: str | None,
    as_json: bool,
) -> None:
    """Show NOTE: an id, the beginning of one, `mem:ID`, a path or a file's name. As it is in a pipe; on a terminal
    rendered, with the notes that link to it and those that its front matter joins it to.

    \b
    Example:  mdmem show mem:7m2x4kd9qp
              mdmem show 7m2x --at yesterday
    """
    settings = options.settings(given_vault)
    path, data = _read_then(settings, reference, at) if at else _read(settings, reference)
    full = str(Path(settings.vault) / path)
    if only_path:
        click.echo(full)
    elif in_editor:
        from mdmem.cli.terminal import editor

        editor.edit(full)
    elif as_json:
        parsed = note.parse(data)
        problem = {"problem": parsed.problem} if parsed.problem else {}
        named = [{"id": row.id, "path": row.path, "title": row.title} for row in _backlinks(settings, path, parsed)]
        joined = [one._asdict() for one in _relations(settings, path, parsed)]
        rest = {"body": parsed.body, "backlinks": named, "relations": joined}
        click.echo(render.as_json({**parsed.meta, "path": path, **problem, **rest}))
    elif raw or not render.is_terminal():
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    else:
        parsed = note.parse(data)
        _print_note(path, parsed)
        _print_relations(_relations(settings, path, parsed))
        _print_backlinks(_backlinks(settings, path, parsed))


def _backlinks(settings: Config, path: str, parsed: note.Parsed) -> list[NoteRow]:
    """Return the notes that link to this one; none where the index cannot be asked."""
    from mdmem.views import links, rows

    try:
        return rows.ask(settings, lambda view: links.backlinks(view, path, str(parsed.meta.get("id", ""))))
    except (MdmemError, OSError):
        return []


def _relations(settings: Config, path: str, parsed: note.Parsed) -> list[TypedLink]:
    """Return how this note is joined to others; none where the index cannot be asked."""
    from mdmem.learn import relations
    from mdmem.views import rows

    try:
        return rows.ask(settings, lambda view: relations.of_note(settings, view, path, parsed.meta))
    except (MdmemError, OSError):
        return []


def _print_relations(found: list[TypedLink]) -> None:
    if found:
        console = lines.terminal()
        lines.write(console, [[], [("Joined to", "bold")]])
        lines.write(console, [[(f"  {one.relation} [mem:{one.id}] {render.safe(one.title)}", "")] for one in found])


def _print_backlinks(found: list[NoteRow]) -> None:
    if found:
        console = lines.terminal()
        lines.write(console, [[], [("Linked from", "bold")]])
        columns = (table.WHEN, table.KIND, table.ID, table.TITLE)
        table.show(console, columns, [(wording.day(row.created), row.kind, row.id, row.title) for row in found], "  ")


def _read(settings: Config, reference: str) -> tuple[str, bytes]:
    from mdmem.search import index

    path = index.resolve(settings, reference)
    data = disk.read_path(settings.vault, path)
    if data is None:
        raise NotFoundError(f"{path} was deleted while it was being read. `mdmem search` finds what remains.")
    return path, data


def _read_then(settings: Config, reference: str, at: str) -> tuple[str, bytes]:
    from mdmem.history import past

    then = past.show(settings, reference.strip("[]").removeprefix("mem:"), wording.end_of(at))
    return then.path, then.data


def _print_note(path: str, parsed: note.Parsed) -> None:
    from rich.markdown import Markdown
    from rich.text import Text

    console = render.console()
    meta = {key: _worded(value) for key, value in parsed.meta.items()}
    facts = [
        meta.pop("kind", "note"),
        wording.date_and_time(meta.pop("created", "")),
        meta.pop("project", ""),
        meta.pop("agent", ""),
        f"mem:{meta.pop('id')}" if "id" in meta else "",
    ]
    console.print(Text(render.safe(meta.pop("title", path)), "bold"))
    console.print(Text(render.safe(" · ".join(filter(None, facts))), "dim"))
    rest = [f"{key}: {value}" for key, value in meta.items() if key not in _UNSHOWN]
    if rest:
        console.print(Text(render.safe("\n".join(rest)), "dim"))
    if parsed.problem:
        console.print(Text(f"The front matter is broken: {parsed.problem}.", "yellow"))
    console.print()
    console.print(Markdown(render.safe(parsed.body)), soft_wrap=False)
    console.print(Text(path, "dim"))


def _worded(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


_UNSHOWN = frozenset(["session", "prompt", "sequence", "cwd", "commit", "digest"])
"""Front matter that matters to machines more than to readers: `--raw` shows it."""
