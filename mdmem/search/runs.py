"""Runs: recognizes commands that are checks, and runs that repeat an earlier one."""

from __future__ import annotations

from mdmem.agents import aliases
from mdmem.lazy_pattern import lazy
from mdmem.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_OUTCOME = lazy(r" \((?:exit -?\d+|failed|interrupted)\)$")
_STEPS = lazy(r"\s*(?:&&|\|\||;|\||\n)\s*")
_REDIRECTION = lazy(r"\d?>|<|&>")
_QUOTES = frozenset("'\"\\#")
_ASSIGNED = lazy(r"[A-Za-z_]\w*=")
_WRAPPERS = frozenset("sudo time nice env exec command xvfb-run npx bunx pipx uvx".split())
_RUNNERS = frozenset("uv poetry pdm hatch pipenv rye pnpm yarn npm bun mise bundle".split())
_PYTHON = lazy(r"(?:python|pypy)[0-9.]*$|py$")
TESTS = frozenset(
    """pytest py.test tox nox unittest jest vitest mocha ava karma playwright cypress rspec minitest phpunit pest ctest
    busted bats prove""".split()
)
"""Programs that run tests."""
BUILDS = frozenset(
    """make gmake just task ninja cmake cargo go mvn mvnw gradle gradlew ant sbt bazel dotnet swift xcodebuild zig mix
    stack cabal rake composer npm pnpm yarn bun deno tsc webpack vite rollup esbuild next nuxt ruff mypy pyright flake8
    pylint black isort eslint prettier stylelint golangci-lint clippy shellcheck hadolint pre-commit lint-imports gcc
    g++ clang clang++ javac rustc docker docker-compose podman terraform tofu kubectl helm ansible-playbook pulumi
    alembic flyway prisma sqlx dbt twine pip pip3 uv poetry git brew apt apt-get apk dnf yum pacman conda mamba gem
    west pio platformio idf.py arduino-cli probe-rs nrfjprog openocd esptool esptool.py avrdude st-flash bitbake meson
    scons msbuild conan vcpkg protoc buf latexmk pdflatex xelatex lualatex biber bibtex tectonic typst quarto papermill
    jupyter snakemake nextflow dvc sbatch srun spark-submit Rscript blender godot steamcmd butler fastlane pod flutter
    dart swiftlint ktlint detekt ansible ansible-lint ansible-galaxy packer vagrant terragrunt nix nix-build
    nixos-rebuild certbot restic flyctl rails mkdocs hugo jekyll sphinx-build""".split()
)
"""Programs that check, build or publish."""
SUBCOMMANDS = frozenset(
    """cargo go npm pnpm yarn bun deno dotnet docker podman kubectl helm terraform tofu git mvn gradle mix swift make
    just task uv poetry pip pip3 prisma alembic composer bazel next brew apt apt-get apk dnf yum conda mamba gem
    docker-compose west pio platformio arduino-cli probe-rs conan buf quarto jupyter dvc fastlane pod flutter dart
    ansible-galaxy packer vagrant terragrunt nix nixos-rebuild certbot flyctl rails mkdocs""".split()
)
_NESTED = frozenset(
    ["prisma migrate", "prisma db", "docker compose", "docker volume", "docker network", "docker image",
     "docker container", "docker system", "podman compose", "podman volume", "terraform state", "terraform workspace",
     "tofu state", "tofu workspace", "kubectl rollout", "kubectl config", "go mod", "go clean", "npm cache",
     "pnpm store", "yarn cache", "uv pip", "uv cache", "poetry env"]
)  # fmt: skip
"""Subcommands with subcommands of their own, which do different things: `prisma migrate deploy`, `… resolve`."""
_COMPOSE = frozenset(
    "-f --file -p --project-name --profile --env-file --project-directory --context -c -H --host".split()
)
_KUBECTL = frozenset("-n --namespace --context --cluster --kubeconfig".split())
_VALUED = {"docker": _COMPOSE, "docker-compose": _COMPOSE, "podman": _COMPOSE, "kubectl": _KUBECTL}
"""Options that may stand before a subcommand, with a value after them: `docker compose -f prod.yml up`."""
_GIT_WORK = frozenset("push pull merge rebase cherry-pick commit apply am revert".split())
_GIT_MERGES = frozenset(["git pull", "git merge", "git rebase", "git cherry-pick", "git revert", "git am"])
_GIT_AFTER_MERGES = _GIT_MERGES | {"git commit", "git push"}
"""What succeeds only after the conflict of a failed merge is resolved."""
_SCRIPTS = lazy(r".+\.(?:sh|bash|py|js|mjs|ts|rb|pl|php|ps1)$")
_INTERPRETERS = frozenset("bash sh zsh node ruby perl php tsx ts-node pwsh".split())

SHELLS = tuple(name for name, (tool, _) in aliases.ALIASES.items() if tool in ("Bash", "PowerShell"))
"""Tools that run commands, by every agent's name for them, in lower case."""


class CommandRun(NamedTuple):
    """What a command runs: the program with its subcommand, and its arguments without options."""

    family: str
    arguments: frozenset[str]


def line(title: str) -> str:
    """Return the command in an observation's title, without its outcome."""
    return _OUTCOME.sub("", title)


def steps(command: str) -> list[str]:
    """Return the steps of a command, which `&&`, `;` or a pipe join, as typed."""
    return _STEPS.split(command.replace("\\\n", " ")[:2000])


def words(step: str) -> list[str]:
    """Return the words of a step without redirections and what only says how it is run: `sudo`, `uv run`."""
    return unwrapped([word for word in _words(step) if not _REDIRECTION.match(word)])


def check(command: str) -> CommandRun | None:
    """Return what a command checks, builds or publishes; None if it only looks, moves files or tries something."""
    return next((run for step in steps(command) if (run := _step(_words(step))) is not None), None)


def is_interpreter(program: str) -> bool:
    """Whether a program runs a script or a module that its arguments name."""
    return program in _INTERPRETERS or bool(_PYTHON.match(program))


def is_script(word: str) -> bool:
    """Whether a word names a script."""
    return bool(_SCRIPTS.match(word)) or word.startswith("./")


def sets(command: str) -> bool:
    """Whether a command sets something for later ones: a variable, a version, a limit, a right, a service."""
    return any(_sets(_words(step)) for step in steps(command))


def _sets(words: list[str]) -> bool:
    words = [word for word in words if word != "sudo"]
    if not words:
        return False
    program, behind = words[0].rpartition("/")[2], words[1:]
    named = [word for word in behind if not word.startswith("-")]
    if program == "git":
        reads = not _READS_SETTINGS.isdisjoint(behind)
        is_set = len(named) > 2 or not _SETS_GIT.isdisjoint(behind)
        return named[:1] == ["config"] and is_set and not reads
    if program in ("export", "sysctl", "setx"):
        return any("=" in word for word in named) or (program == "setx" and len(named) > 1)
    if program in _SWITCHES:
        return not _SWITCHED.isdisjoint(named[:2]) and _READS_SETTINGS.isdisjoint(named)
    return bool(named) and program in _SETTERS


_SETTERS = frozenset("unset ulimit source . chmod chown modprobe ssh-add setcap update-alternatives udevadm".split())
"""Programs that set something if they are given a name or a value."""
_SWITCHES = frozenset(
    "nvm fnm n volta pyenv rbenv asdf mise sdk jenv rustup conda mamba goenv tfenv systemctl service launchctl "
    "timedatectl localectl npm pnpm yarn pip pip3 go docker gcloud aws az kubectl".split()
)
_SWITCHED = frozenset(
    "use global local shell default override pin activate start restart enable reload set config set-timezone "
    "set-locale context".split()
)
"""What these do if they set something."""
_READS_SETTINGS = frozenset("--get --get-all --get-regexp --list -l get list".split())
_SETS_GIT = frozenset("--unset --unset-all unset".split())


def checks(command: str) -> list[CommandRun]:
    """Return all that a command checks, builds or publishes if it succeeds: its parts that are joined by `&&`."""
    return [run for part in command.split("&&") if (run := check(part)) is not None]


def verbatim(command: str) -> CommandRun | None:
    """Return a command of any program as one that only the same line repeats; None if it only looks or moves files."""
    programs = [words[0].rpartition("/")[2] for step in steps(command) if (words := unwrapped(_words(step)))]
    return None if _LOOKING.issuperset(programs) else CommandRun(command, frozenset())


_LOOKING = frozenset(
    "[ ag awk basename bat cat cd chmod chown cmp cp cut date df diff dirname du echo export false fd file find git "
    "grep head jq kill less ln ls mkdir more mv pgrep printf ps pwd readlink rg rm rmdir sed sleep sort source stat "
    "tail tee test touch tr tree true type uniq wc whereis which xargs".split()
)
"""Programs whose failure is not an error of the project being worked on."""


def closes(later: CommandRun, failed: CommandRun) -> bool:
    """Whether the success of `later` shows that what `failed` now works: the same run, or one that covers it."""
    if failed.family in _GIT_MERGES and later.family in _GIT_AFTER_MERGES:
        return True
    failed_settings, failed_targets = _settings(failed.arguments)
    later_settings, later_targets = _settings(later.arguments)
    if later.family != failed.family:
        return False
    if any(failed_settings.get(name, value) != value for name, value in later_settings.items()):
        return False
    if later.family.startswith("git ") or (failed_targets and failed_targets <= later_targets):
        return True
    return all(any(_covers(wider, narrower) for narrower in failed_targets) for wider in later_targets)


def _settings(arguments: frozenset[str]) -> tuple[dict[str, str], frozenset[str]]:
    """Split arguments into variables that configure the run (`make flash RIG=2`) and what to work on."""
    assigned = frozenset(argument for argument in arguments if _ASSIGNED.match(argument))
    pairs = (argument.split("=", 1) for argument in assigned)
    return dict(pairs), arguments - assigned


def _covers(wider: str, narrower: str) -> bool:
    """Whether a path or test name equals or contains the other."""
    return narrower == wider or narrower.startswith((f"{wider.rstrip('/')}/", f"{wider}::", f"{wider}["))


def _words(step: str) -> list[str]:
    if _QUOTES.isdisjoint(step):
        return step.split()  # a twentieth of the time
    import shlex

    try:
        return shlex.split(step, comments=True)
    except ValueError:
        return step.split()


def _step(words: list[str]) -> CommandRun | None:
    words = unwrapped([word for word in words if not _REDIRECTION.match(word)])
    if not words or "<<" in " ".join(words):
        return None
    program, arguments = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe"), words[1:]
    if is_interpreter(program):
        return _interpreted(arguments)
    if program not in TESTS | BUILDS:
        return CommandRun(words[0].removeprefix("./"), _arguments(arguments)) if is_script(words[0]) else None
    if program == "git" and not _GIT_WORK.intersection(arguments[:1]):
        return None
    arguments = subcommands_first(program, arguments)
    positional = [word for word in arguments if not word.startswith("-")]
    if program in SUBCOMMANDS and positional:
        if positional[0] == "run" and positional[1:]:  # a package script; the options of one that runs no tests matter
            words = arguments if "test" in positional[1] else list(_with_values(arguments))
            positional = [word for word in words if not word.startswith("-")][1:]
        depth = 2 if f"{program} {positional[0]}" in _NESTED else 1
        return CommandRun(" ".join([program, *positional[:depth]]), _arguments(positional[depth:]))
    return CommandRun(program, _arguments(arguments))


def subcommands_first(program: str, words: list[str]) -> list[str]:
    """Return a program's arguments with the values of options after all others."""
    valued = _VALUED.get(program, frozenset())
    values = {at for at, word in enumerate(words[1:], 1) if words[at - 1] in valued}
    return [word for at, word in enumerate(words) if at not in values] + [words[at] for at in sorted(values)]


def _with_values(words: list[str]) -> Iterator[str]:
    """Yield words; after `--`, where a package script's own options are, write `--name value` as `name=value`."""
    after_separator = False
    name = ""
    for word in words:
        is_option = word.startswith("--")
        yield f"{name}={word}" if name and not is_option else word
        name = word.lstrip("-").replace("-", "_") if after_separator and is_option and "=" not in word else ""
        after_separator = after_separator or word == "--"


def unwrapped(words: list[str]) -> list[str]:
    """Remove what only says how a program is run: variables, `sudo`, `timeout 60`, `uv run`."""
    while words:
        program = words[0].rpartition("/")[2]
        if _ASSIGNED.match(words[0]) or program in _WRAPPERS:
            words = words[1:]
        elif program == "timeout":
            words = [word for word in words[1:] if not word.startswith("-")][1:]
        elif program in _RUNNERS and words[1:2] in (["run"], ["exec"]) and _is_program(words[2:]):
            words = words[2:]
        else:
            return words
        while words and words[0].startswith("-"):
            words = words[1:]
    return words


def _is_program(words: list[str]) -> bool:
    name = words[0] if words else ""
    return name in TESTS | BUILDS | _INTERPRETERS or bool(_PYTHON.match(name))


def _interpreted(words: list[str]) -> CommandRun | None:
    """Return what an interpreter runs: a module or a script; None for code on the command line."""
    for position, word in enumerate(words):
        if word == "-m":
            module, behind = words[position + 1 : position + 2], words[position + 2 :]
            return _step([*module, *behind]) or CommandRun(" ".join(module), _arguments(behind))
        if word in ("-c", "-e", "-", "--eval", "-p"):
            return None
        if word.rpartition("/")[2] in TESTS | BUILDS:
            return _step(words[position:])
        if not word.startswith("-"):
            return (
                CommandRun(word.removeprefix("./"), _arguments(words[position + 1 :])) if _SCRIPTS.match(word) else None
            )
    return None


def _arguments(words: list[str]) -> frozenset[str]:
    positional = (word for word in words if not word.startswith("-") and not word.isdecimal())
    return frozenset(word.removeprefix("./").rstrip("/") for word in positional) - {"", "."}
