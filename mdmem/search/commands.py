"""Commands: finds the command that does something in a project: in a person's note, or else in the runs that succeeded.

`which command runs the tests here`: of several, that which was run as a whole, most often and most recently.
"""

from __future__ import annotations

from itertools import chain, islice

from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple
from mdmem.search import overturned, replaced, runs
from mdmem.search.asking.facts import TOPICS
from mdmem.search.asking.orders import word_set
from mdmem.search.hits import hit_of
from mdmem.search.text import analysis, stem, steps
from mdmem.vault import note as note_format
from mdmem.vault import people

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from mdmem.config import Config
    from mdmem.search.asking.facts import WantedCommand
    from mdmem.search.hits import SearchHit
    from mdmem.search.index.view import View

KEPT = ("note", "decision", "preference", "lesson")
"""Kinds of notes in which a person says which command it is."""
MAX_NOTES, MAX_RUNS = 30, 500
"""Maximum number of a person's notes that are read, and of runs that are looked at; the newest count."""
MAX_CHARS = 20_000
HALF_DAYS = 30.0
"""A run counts half as much as one that is so many days newer."""
_DAY = 86_400
_MAX_PASSED = 3
"""Number of successful runs of a command that are tried for one that nobody took back."""


class _Row(NamedTuple):
    """Commands for a topic. words: in the name of a script, a task or a subcommand. programs: beginnings of commands.

    tasks: further names of a task runner's tasks. is_part: may be run for a part, by naming files.
    """

    words: frozenset[str]
    programs: tuple[str, ...]
    tasks: frozenset[str] = frozenset()
    is_part: bool = False


_ROWS = {
    "test": _Row(
        word_set("test tests spec specs e2e runtests unittest"),
        (*sorted(runs.TESTS), "k6 run"), word_set("check"), is_part=True,
    ),
    "build": _Row(
        word_set("build compile bundle assemble"),
        ("make all", "ninja", "webpack", "rollup", "esbuild", "mvn package", "latexmk"),
    ),
    "lint": _Row(
        word_set("lint linter clippy"),
        ("ruff check", "eslint", "flake8", "pylint", "golangci-lint", "shellcheck", "hadolint", "stylelint",
         "pre-commit"),
        word_set("check"), is_part=True,
    ),
    "format": _Row(
        word_set("format fmt"), ("prettier", "ruff format", "black", "rustfmt", "gofmt", "isort", "clang-format"),
        is_part=True,
    ),
    "server": _Row(
        word_set("serve server runserver bootrun"),
        ("uvicorn", "gunicorn", "flask run", "rails s", "nodemon", "streamlit run", "http.server",
         "docker compose up", "docker-compose up", "puma"),
        word_set("start dev up run preview app"),
    ),
    "deploy": _Row(
        word_set("deploy rollout"),
        ("kubectl apply", "helm upgrade", "terraform apply", "tofu apply", "vercel deploy", "ansible-playbook",
         "git push heroku", "git push dokku"),
        word_set("ship"),
    ),
    "release": _Row(word_set("release publish"), ("twine upload", "goreleaser", "semantic-release")),
    "migrate": _Row(
        word_set("migrate migration migrations"), ("alembic upgrade", "prisma db push", "diesel migration")
    ),
    "docs": _Row(
        word_set("docs doc documentation"), ("mkdocs", "sphinx-build", "typedoc", "doxygen", "jekyll", "pdoc")
    ),
}  # fmt: skip
_ALSO = ("build", "server")
"""Topics that also name what another one is about: `build the docs`, `deploy the server`."""
_TASK_RUNNERS = word_set(
    "make gmake just task ninja npm pnpm yarn bun deno composer rake mix mise invoke nox tox hatch"
)
_NO_WORK = word_set(
    "install i add ci remove uninstall list ls show view info search outdated help init new create why ps images logs "
    "config version which status diff"
)
"""Subcommands with which a program does no work of the project."""
_UNDOES = word_set(
    "delete destroy stop down kill undo rollback revert reset drop downgrade teardown undeploy unpublish disable abort "
    "cancel dry dryrun status history describe plan list"
)
"""Words in the name of a task, or of an option, that undoes or only shows what the others in it name."""
_UNDOES_AS_TASK = _UNDOES | word_set("remove rm rmi uninstall logs log get show diff clean")
_OF_THINGS = word_set("docker podman kubectl helm")
"""Programs whose subcommand is followed by what it works on: `docker rm server`."""
_NESTED = word_set("compose rollout")
"""Subcommands of these that have subcommands."""
_IN_FULL = {"make": "make all", "gmake": "make all", "vercel": "vercel deploy"}
"""Program -> what it does without a task."""
_LOOKS = word_set("-h --help --version -V --collect-only --list")
_BROAD = word_set(". ./... ... tests test spec src all")
"""Arguments by which all is meant."""
_SELECTS = word_set("-k -m -t -run --run --grep --filter --only --testNamePattern -g --test --lib --bin -p")
"""Options by which a part is selected."""
_PROGRAMS = (
    runs.TESTS | runs.BUILDS | runs.SUBCOMMANDS | _TASK_RUNNERS
    | frozenset(program.partition(" ")[0] for row in _ROWS.values() for program in row.programs)
    | word_set("fly flyctl heroku gcloud aws az firebase wrangler netlify serverless sls cdk sam kamal dokku cap fab "
               "celery django-admin rails flask hugo hexo redocly")
)  # fmt: skip
_SPLIT = lazy(r"[\W_]+")
_CODE = lazy(r"`+([^`\n]{2,200})`+")
_SENTENCE = lazy(r"(?<=[.!?])\s+|\n")
_PREPARES = word_set("cd source . export set conda pushd nvm set-location push-location")
"""Programs without which the next step may not work, in lower case."""
_ENDING = lazy(r"\.(?:exe|cmd|bat)$")
_BACKSLASH = lazy(r"\\(?=[\w.])")
_ENDS = lazy(r"[,;)]")
_FENCE = lazy(r"(?ms)^(`{3,})(?:sh|powershell)\n(.*?)^\1$")
_WITH = word_set("with via using use run by is are call mit per nutze avec con com met")
"""Words before a command in a sentence."""


class KnownCommand(NamedTuple):
    """The command for something.

    note: the note with it. command: as it was run, or "" if the note is a person's. times: how often it succeeded.
    whole: whether it was run for all, not for some files or names. or_more: whether earlier runs were not counted.
    """

    note: SearchHit
    command: str = ""
    times: int = 0
    whole: bool = True
    or_more: bool = False


def find(
    config: Config, view: View, wanted: WantedCommand, among: Set[int] | None, days: tuple[float, float] | None
) -> KnownCommand | None:
    """Return the command for what is wanted, or None.

    among: the notes that may be shown (None: all). days: only runs between these times, in epoch seconds.
    """
    finder = _Finder(config, view, wanted, among)
    note = finder.kept() if days is None else None
    if note is not None:
        return KnownCommand(hit_of(view, config, note))
    return finder.run(days)


class _Step(NamedTuple):
    """The part of a command that does what is wanted.

    typed: without where its output goes. program: what it runs. command: with the steps that prepare it. whole: not
    for a part.
    """

    typed: str
    program: str
    command: str
    whole: bool


class _Run(NamedTuple):
    """One run of a step. created: in epoch seconds."""

    note: int
    step: _Step
    created: int
    failed: bool


class _Finder:
    def __init__(self, config: Config, view: View, wanted: WantedCommand, among: Set[int] | None) -> None:
        self._config, self._view, self._among = config, view, among
        self._topics = [topic for topic in wanted.topics if topic not in _ALSO] or list(wanted.topics)
        self._names = wanted.names
        self._created = view.numbers("created")
        self._steps: dict[str, _Step | None] = {}
        self._is_cut = False

    def kept(self) -> int | None:
        """Return the newest note of a person that says the command; None if there is none."""
        notes = self._with_words(chain.from_iterable(TOPICS[topic] for topic in self._topics), ("body", "title"))
        own = self._view.of_kinds(KEPT) & notes
        newest = sorted(own, key=self._created.__getitem__, reverse=True)[:MAX_NOTES]
        said = filter(self._is_said_in, newest)
        return next((one for one in said if replaced.successor(self._view, self._config.vault, one) is None), None)

    def _is_said_in(self, note: int) -> bool:
        parsed = people.try_load_clean(self._config.vault, self._view.path(note))
        is_withheld = parsed.meta.get("superseded_by") or parsed.meta.get("status") in note_format.WITHHELD
        if is_withheld or people.keeps_private(parsed.meta):
            return False
        title = str(parsed.meta.get("title") or "")
        is_about = self._names_all(title)
        signs = {
            word.partition(" ")[0]
            for word in chain(
                (name[:_LEAST_PREFIX] for name in self._names), *(TOPICS[topic] for topic in self._topics)
            )
        }
        signs.update(word.partition(" ")[0] for word in self._words_of_rows())
        for line in _SENTENCE.split(f"{title}\n{parsed.body[:MAX_CHARS]}"):
            lowered = line.lower()
            if not is_about and not any(sign in lowered for sign in signs):
                continue
            said = [*_CODE.findall(line), *_in_sentence(line), line.strip().removeprefix("$ ")]
            if any(self._does(_words(step)) for one in said for step in runs.steps(one)):
                return True
            if (is_about or self._names_all(line)) and any(_named(_words(one)) for one in said):
                return True
        return False

    def _words_of_rows(self) -> Iterator[str]:
        """Yield the words and programs that commands for the topics may have."""
        rows = (_ROWS[topic] for topic in self._topics)
        return chain.from_iterable((*row.words, *row.tasks, *row.programs) for row in rows)

    def _names_all(self, text: str) -> bool:
        words = set(_SPLIT.split(text.lower()))
        return all(TOPICS[topic] & words for topic in self._topics) and all(map(words.__contains__, self._names))

    def _with_words(self, words: Iterable[str], fields: tuple[str, ...]) -> set[int]:
        terms = set(analysis.query_terms(" ".join([*words, *self._names])))
        notes = {note for term in terms for field in fields for note in self._view.each(field, term)}
        return notes if self._among is None else notes & self._among

    def run(self, days: tuple[float, float] | None) -> KnownCommand | None:
        """Return the command that was run as a whole, and most often and recently; None if there is none."""
        groups: dict[str, list[_Run]] = {}
        for one in self._runs(days):
            groups.setdefault(one.step.typed, []).append(one)
        every = [one for group in groups.values() for one in group]
        newest = max((one.created for one in every), default=0)

        def worth(group: list[_Run]) -> tuple[bool, bool, float, int]:
            last = group[0]
            passed = [one.created for one in group if not one.failed]
            is_replaced = last.failed and any(
                one.created > last.created and not one.failed and one.step.program != last.step.program for one in every
            )
            share = sum(0.5 ** ((newest - created) / (HALF_DAYS * _DAY)) for created in passed)
            return not is_replaced, last.step.whole, share, last.created

        for group in sorted(groups.values(), key=worth, reverse=True):
            passed = [one for one in group if not one.failed]
            for best in passed[:_MAX_PASSED]:
                if overturned.is_run_taken_back(self._config, self._view, best.note, self._among):
                    continue
                if (step := self._in_full(best)) is not None:
                    note = hit_of(self._view, self._config, best.note)
                    return KnownCommand(note, step.command, len(passed), step.whole, self._is_cut)
        return None

    def _in_full(self, run: _Run) -> _Step | None:
        """Return a run's step as it was typed, not as its title tells it; None if it is private, gone or another."""
        parsed = people.try_load_clean(self._config.vault, self._view.path(run.note))
        if not parsed.meta or people.keeps_private(parsed.meta):
            return None
        fence = _FENCE.search(parsed.body)
        typed = fence[2] if fence else parsed.meta.get("command")
        return self._step(str(typed)) if typed else run.step

    def _runs(self, days: tuple[float, float] | None) -> Iterator[_Run]:
        """Yield the runs of commands that do what is wanted, newest first."""
        view, created = self._view, self._created
        notes = self._with_words(self._words_of_rows(), ("title",)) & view.with_any(
            f"tool:{name}" for name in runs.SHELLS
        )
        if days is not None:
            notes = {note for note in notes if days[0] <= created[note] < days[1]}
        failed = view.notes("facet", "is:failed")
        self._is_cut = len(notes) > MAX_RUNS
        for note in sorted(notes, key=created.__getitem__, reverse=True)[:MAX_RUNS]:
            command = runs.line(str(view.facts(note)["title"]))
            if command not in self._steps:
                self._steps[command] = self._step(command)
            if (step := self._steps[command]) is not None:
                yield _Run(note, step, created[note], note in failed)

    def _step(self, command: str) -> _Step | None:
        """Return the step of a command that does what is wanted, or None."""
        prepared: list[steps.Step] = []
        for step in steps.split(command):
            words = _words(step.typed)
            if words[:1] and words[0].lower() in _PREPARES:
                prepared.append(step)
            elif self._does(words) and not step.typed.endswith("…") and "\n" not in step.in_full:
                whole = not any(_ROWS[topic].is_part for topic in self._topics) or self._is_whole(words)
                before = [one for one in prepared if step.groups[: len(one.groups)] == one.groups]
                return _Step(step.in_full, words[0], _joined([*before, step]), whole)
        return None

    def _does(self, words: list[str]) -> bool:
        """Whether a step does all that is wanted. words: of the step."""
        named = _named(words)
        if not named or not _LOOKS.isdisjoint(words) or self._undoes(named, words):
            return False
        named = [word for word in named if word != "clean"]  # `mvn clean package`
        if not all(_is_for(_ROWS[topic], named) for topic in self._topics):
            return False
        heads = {stem.stem(part) for word in named for part in _parts(word)}
        every = heads | {stem.stem(part) for word in words for part in _parts(word)}
        found = [all(_has(every, part) for part in _parts(name)) for name in self._names]
        is_named = bool(self._topics) or any(_has(heads, part) for name in self._names for part in _parts(name))
        return is_named and all(found)

    def _undoes(self, named: list[str], words: list[str]) -> bool:
        """Whether a step undoes or only shows what its other words name, and that is not what is wanted."""
        tasks = [set(_parts(word)) for word in named if word != "clean" or word == named[-1]]
        found = {part for task in tasks for part in task & _UNDOES_AS_TASK}
        for option in (set(_parts(word.partition("=")[0])) for word in words if word.startswith("-")):
            found |= option & _UNDOES if option <= _UNDOES | {"run"} else set()
        return any(not any(_has({part}, name) for name in self._names) for part in found)

    def _is_whole(self, words: list[str]) -> bool:
        """Whether a command is for all, and not for some files or names, except those that are wanted."""
        if runs.is_interpreter(_base(words[0])):
            words = words[1 + (words[1:2] == ["-m"]) :]
        if not _SELECTS.isdisjoint(words):
            return False
        named = _named(words)[:2]  # what follows a task or subcommand is a part
        behind = [word for word in words if not word.startswith("-") and word.rstrip("/") not in _BROAD]
        skipped = _SUBCOMMANDS.union(named)
        others = [word for word in behind if _base(word) not in skipped and not word.isdecimal()]
        return all(
            any(_has({stem.stem(part)}, name) for name in self._names for part in _parts(word)) for word in others
        )


_SUBCOMMANDS = word_set("run exec -m python python3 node bash sh discover start check")


def _joined(of: list[steps.Step]) -> str:
    """Return steps as one command, joined as they were."""
    first, *others = of
    return "".join(
        [first.in_full, *(f" && {one.in_full}" if one.joined == "&&" else f"; {one.in_full}" for one in others)]
    )


def _words(typed: str) -> list[str]:
    """Return the words of a step, with `/` in paths as of Windows: `& .\\test.ps1`."""
    return _inner(runs.words(_BACKSLASH.sub("/", typed.removeprefix("& "))))


def _inner(words: list[str]) -> list[str]:
    """Return what a container is told to run: `pytest` of `docker compose exec web pytest`."""
    at = next((at for at, word in enumerate(words[:6]) if word in ("exec", "run")), 0)
    if not at or _base(words[0]) not in _CONTAINERS:
        return words
    inner = words[next((at for at, word in enumerate(words[at + 1 :], at + 1) if not word.startswith("-")), at) + 1 :]
    return runs.unwrapped(inner) or words


_CONTAINERS = word_set("docker docker-compose podman podman-compose")


def _named(words: list[str]) -> list[str]:
    """Return the names by which a step says what it does: its program or script, and its task or subcommands."""
    if not words or "<<" in words:
        return []
    program, behind = _base(words[0]), words[1:]
    if runs.is_interpreter(program):
        return _named_to_interpreter(behind)
    is_script = program not in _PROGRAMS
    if is_script and not runs.is_script(words[0]):
        return []
    behind = runs.subcommands_first(program, behind)
    positional = [word for word in behind if not word.startswith("-") and "=" not in word]
    if program == "git" and positional[:1] != ["push"]:
        return []
    if positional[:1] and positional[0] in _NO_WORK and not is_script:
        return []
    most = 1 if program in _OF_THINGS and _NESTED.isdisjoint(positional[:1]) else 2
    tasks = [word for word in positional[:3] if word != "run"][: 0 if program in runs.TESTS - _TASK_RUNNERS else most]
    return [program, *(task for task in tasks if "/" not in task)]


def _named_to_interpreter(words: list[str]) -> list[str]:
    """Return the names by which an interpreter's arguments say what it does; [] for code on the command line."""
    at = next((at for at, word in enumerate(words) if word == "-m" or not word.startswith("-")), len(words))
    if {"-c", "-e", "--eval"} & set(words[:at]):
        return []
    return _named(words[at + (words[at : at + 1] == ["-m"]) :]) or words[at + 1 : at + 2]


def _base(word: str) -> str:
    return _ENDING.sub("", word.rpartition("/")[2])


def _is_for(row: _Row, named: list[str]) -> bool:
    """Whether a command is for a topic by what it names."""
    typed = " ".join(named) if named[1:] else _IN_FULL.get(named[0], named[0])
    if any(typed == begin or typed.startswith(f"{begin} ") for begin in row.programs):
        return True
    parts = {*_parts(" ".join(named))}
    return bool(row.words & parts) or (named[0] in _TASK_RUNNERS and bool(row.tasks & {*_parts(" ".join(named[1:]))}))


def _parts(text: str) -> list[str]:
    return [part for part in _SPLIT.split(text.lower()) if part]


_LEAST_PREFIX = 3


def _has(stems: Set[str], name: str) -> bool:
    """Whether a name is among stemmed words, or a short form of it, such as `prod`."""
    return stem.stem(name) in stems or any(len(part) >= _LEAST_PREFIX and name.startswith(part) for part in stems)


def _in_sentence(line: str) -> Iterator[str]:
    """Yield what may be a command in a sentence, after `with`, `run` or a colon."""
    words = line.strip(" -*").rstrip(".!").split()
    for before, at in islice(zip(words, range(1, len(words)), strict=False), 40):
        if before.lower().strip("*_") in _WITH or before.endswith(":"):
            yield _ENDS.split(" ".join(words[at:]))[0]
