"""Measures indexing and search: `python -m tests.bench.recall [--large]` prints a table.

All figures are CPU time on this machine in one run. Work in this process is compared with raw Whoosh or a bare walk
over the same files, whole processes with a bare interpreter in the same round. The notes are made from the standard
library's documentation; nothing is fetched. `--large` adds 50,000 notes. `--sets FOLDER` (or `MDMEM_BENCH_SETS`) first
prints how well questions are answered; see `ranking`.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import resource
import shutil
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from mdmem import config
from mdmem.config import Config
from mdmem.search import answering, engine, index, ranking
from mdmem.search.units import units_of
from mdmem.vault import front_matter, note
from tests.bench import block_recall, measure
from tests.bench import ranking as ranking_bench

ROUNDS = 15
ASKED_SET = "agent-sessions"
"""The set with questions as people ask an agent. For it, the injected blocks are examined too."""
PROMPT_WORDS = 60


def paragraphs() -> list[str]:
    """Return the paragraphs of the standard library's docstrings."""
    found: set[str] = set()
    for file in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("**/*.py")):
        if "site-packages" in file.parts or "test" in file.parts:
            continue
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                found.update(text for text in (ast.get_docstring(node) or "").split("\n\n") if len(text) > 30)
    return sorted(found)


def make_vault(folder: Path, count: int) -> int:
    """Write `count` notes of 200 to 3,000 characters, 20 per session, as hooks would; return their bytes of text."""
    chance = random.Random(count)
    known = paragraphs()
    folder.mkdir(exist_ok=True)
    (folder / "mdmem.toml").touch()
    size = 0
    for number in range(count):
        day, session = divmod(number // 20, 6)
        body = _body(chance, known)
        size += len(body.encode())
        date = f"2026-{day // 28 % 12 + 1:02d}-{day % 28 + 1:02d}"
        place = folder / "journal" / f"acme-app-{day % 5}" / date / f"{session + 8:02d}00-a-session-{number // 20:08x}"
        place.mkdir(parents=True, exist_ok=True)
        kind = ("prompt", "observation", "observation", "response")[number % 4]
        meta = {
            "id": f"x{number:09d}", "kind": kind, "title": body.split("\n")[0][:80], "created": f"{date}T08:00:01Z",
            "project": f"acme-app-{day % 5}", "session": f"{number // 20:08x}-19fa-41d2", "prompt": number % 20,
            "agent": "claude-code", "branch": "main", "tags": [kind],
        }  # fmt: skip
        meta |= {"tool": "Bash", "success": True, "files": ["src/dates.py"]} if kind == "observation" else {}
        meta["digest"] = note.fingerprint(str(meta["title"]), body)
        name = f"{number % 20:03d}-000-{kind}-x{number:09d}.md"
        (place / name).write_text(f"{front_matter.render(meta)}\n{body}\n", encoding="utf-8")
    return size


def _body(chance: random.Random, known: list[str]) -> str:
    wanted = min(3000, max(200, chance.lognormvariate(6.6, 0.6)))
    body = ""
    while len(body) < wanted:
        body += chance.choice(known) + "\n\n"
    return (
        f"{body}See src/{chance.choice('abcdefgh')}/module_{chance.randrange(300)}.py, {chance.randrange(10**6):x}.\n"
    )


def cpu_ms(run: Callable[[], object]) -> float:
    """Call a function; return its CPU time in this process and its children, in milliseconds."""
    before = _spent()
    run()
    return (_spent() - before) * 1000


def _spent() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def raw_whoosh(vault: Path, folder: Path) -> None:
    """Index the same texts as in Whoosh's documentation: one stemmed field, one commit."""
    from whoosh import analysis, fields
    from whoosh import index as whoosh_index

    schema = fields.Schema(
        path=fields.ID(stored=True, unique=True), text=fields.TEXT(analyzer=analysis.StemmingAnalyzer())
    )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    writer = whoosh_index.create_in(folder, schema).writer()
    for file in vault.rglob("*.md"):
        writer.add_document(path=str(file), text=file.read_text(encoding="utf-8").partition("\n---\n")[2])
    writer.commit()


def bare_walk(folder: str) -> int:
    """Check every file once, which is the minimum cost of an update."""
    count = 0
    folders = [folder]
    while folders:
        with os.scandir(folders.pop()) as items:
            for item in items:
                if item.is_dir(follow_symlinks=False):
                    folders.append(item.path)
                else:
                    item.stat(follow_symlinks=False)
                    count += 1
    return count


def prompts(vault: Path, count: int) -> list[str]:
    """Return beginnings of notes as prompts of `PROMPT_WORDS` words, without punctuation."""
    files = random.Random(3).sample(sorted(vault.rglob("*.md")), count)
    texts = (file.read_text(encoding="utf-8").partition("\n---\n")[2] for file in files)
    return [" ".join(re.findall(r"\w+", text)[:PROMPT_WORDS]) for text in texts]


Row = tuple[str, str, str]


def bulk(settings: Config, vault: Path, texts: int, scratch: Path) -> Iterator[Row]:
    """Measure a rebuild relative to raw Whoosh, and the size of the index relative to the texts."""
    count = sum(1 for _ in vault.rglob("*.md"))
    ours = cpu_ms(lambda: index.rebuild(settings))
    theirs = cpu_ms(lambda: raw_whoosh(vault, scratch / "raw"))
    size = sum(file.stat().st_size for file in Path(settings.index_dir).iterdir())
    their_size = sum(file.stat().st_size for file in (scratch / "raw").iterdir())
    yield (
        f"{count:,} notes: rebuild",
        f"{ours / 1000:.1f} s, {ours / count:.2f} ms a note",
        f"{ours / theirs:.2f} × raw Whoosh",
    )
    yield (
        "size of the index",
        f"{size / 1e6:.1f} MB",
        f"{size / texts:.2f} × the texts (raw Whoosh {their_size / texts:.2f})",
    )


def singles(vaults: Mapping[int, tuple[Config, Path]]) -> Iterator[Row]:
    """Measure adding and changing one note, in all vaults in turn, so that the ratios are from the same time."""
    times: dict[int, tuple[list[float], list[float]]] = {count: ([], []) for count in vaults}
    chance = random.Random(5)
    files = {count: chance.sample(sorted(vault.rglob("*.md")), 2 * ROUNDS) for count, (_, vault) in vaults.items()}
    for turn in range(2 * ROUNDS):
        for count, (settings, vault) in vaults.items():
            new = files[count][turn].with_name(f"9{turn:02d}-new.md")
            path = new.relative_to(vault).as_posix()
            text = files[count][turn].read_text(encoding="utf-8").replace("id: x", "id: y")
            for kept, words in zip(times[count], ("", "And one more line.\n"), strict=True):
                new.write_text(text + words, encoding="utf-8")
                kept.append(cpu_ms(partial(index.update, settings, paths=[path])))
    base = statistics.median(times[min(times)][0])
    for count, (added, changed) in times.items():
        add, change = statistics.median(added), statistics.median(changed)
        yield f"{count:,} notes: add one; change one", f"{add:.1f}; {change:.1f} ms", f"{add / base:.2f} × add to 1,000"


def catching_up(settings: Config) -> Row:
    """Measure an update without changes, relative to a check of every file."""
    index.update(settings)
    pairs = [(cpu_ms(lambda: index.update(settings)), cpu_ms(lambda: bare_walk(settings.vault))) for _ in range(ROUNDS)]
    quick = statistics.median(cpu_ms(lambda: index.update(settings, quick=True)) for _ in range(ROUNDS))
    ours = statistics.median(pair[0] for pair in pairs)
    ratio = statistics.median(pair[0] / pair[1] for pair in pairs)
    return "catch up, nothing changed", f"{ours:.0f} ms (quick look {quick:.1f})", f"{ratio:.2f} × scandir and lstat"


def warm(settings: Config, vault: Path) -> Iterator[Row]:
    """Measure searches in a process with an open index."""
    asked = prompts(vault, 40)
    view = index.current(settings)
    assert view is not None

    def remind(text: str) -> object:
        return answering.answers(settings, text, answering.Asker())

    def find(text: str) -> object:
        return [hit.snippet for hit in engine.search(settings, text, engine.SearchOptions(update=False)).hits]

    def find_by_all(text: str) -> object:
        return ranking.scores(view, ranking.affordable(view, units_of(view, text), 10**9))

    runs = {"answers to a prompt": remind, "search, 10 snippets": find, "every word, whatever it costs": find_by_all}
    for name, run in runs.items():
        run(asked[0])
        times = sorted(cpu_ms(partial(run, text)) for text in asked)
        yield (
            f"warm, {PROMPT_WORDS} words: {name}",
            f"{statistics.median(times):.1f} ms",
            f"90 % under {times[35]:.1f} ms",
        )


def cold(settings: Config, vault: Path) -> list[measure.Row]:
    """Measure whole processes that search once, relative to a bare interpreter."""
    package = Path(config.__file__).parent.parent
    site = Path(sysconfig.get_paths()["purelib"])
    start = f"import sys; sys.path[:0] = [{str(package)!r}, {str(site)!r}]; from mdmem import config; "
    start += f"from mdmem.search import engine as search; settings = config.load({str(vault)!r}); "
    (text,) = prompts(vault, 1)
    answers = f"from mdmem.search import answering; assert answering.answers(settings, {text!r}, answering.Asker())"
    codes = {
        "import search": start,
        "answers to a prompt, nothing new": f"{start} {answers}",
        "search, every file looked at": f"{start} assert search.search(settings, {text!r}).hits[0].snippet",
    }
    runs = {name: _process(code) for name, code in codes.items()}
    folder = next(vault.rglob("019-*.md")).parent

    def with_a_new_note(turn: int) -> float:
        (folder / f"02{turn}-new.md").write_text(f"A new note, {turn}.\n")
        return _process(codes["answers to a prompt, nothing new"])(turn)

    return measure.interleaved(runs | {"answers to a prompt, one new note": with_a_new_note}, ROUNDS)


def _process(code: str) -> Callable[[int], float]:
    return lambda turn: measure.cpu([measure.BARE[0], "-I", "-S", "-c", code])


def main() -> None:
    """Make the vaults, measure, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--large", action="store_true", help="also 50,000 notes")
    options.add_argument("--sets", default=os.environ.get(ranking_bench.VARIABLE), help="a folder of question sets")
    options.add_argument("--sets-only", action="store_true", help="print only how well questions are answered")
    given = options.parse_args()
    counts = [1_000, 10_000, *([50_000] if given.large else [])]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
        for row in ranking_bench.rows(Path(given.sets)) if given.sets else ():
            print(row, flush=True)
        asked = Path(given.sets or "", ASKED_SET)
        for row in block_recall.table(asked) if given.sets and asked.is_dir() else ():
            print(row, flush=True)
        if not given.sets_only:
            print(table(_rows(scratch, counts)))


def _rows(scratch: Path, counts: list[int]) -> Iterator[Row]:
    vaults = {}
    for count in counts:
        vault = scratch / f"vault-{count}"
        texts = make_vault(vault, count)
        settings = config.load(str(vault))
        vaults[count] = (settings, vault)
        yield from bulk(settings, vault, texts, scratch)
        yield catching_up(settings)
    yield from singles(vaults)
    for count, (settings, vault) in vaults.items():
        index.update(settings)
        if count >= 10_000:
            yield from ((f"{count:,} notes, {what}", cost, ratio) for what, cost, ratio in warm(settings, vault))
            for row in cold(settings, vault):
                yield (
                    f"{count:,} notes, process: {row.name}",
                    f"{row.milliseconds:.1f} ms",
                    f"{row.ratio:.2f} × bare Python",
                )


def table(rows: Iterable[Row]) -> str:
    """Return rows as a Markdown table."""
    return measure.markdown(["what", "CPU, median", "ratio"], rows)


if __name__ == "__main__":
    main()
