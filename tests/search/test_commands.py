"""Commands: which questions ask for the command that does something here, and which command did it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem import config
from mdmem.search import commands, freshness, index, runs, turn_groups
from mdmem.search.asking import facts, shape
from mdmem.search.asking.english import NOT
from mdmem.search.index.view import View
from mdmem.slug import slug
from tests.helpers.injected import new_session
from tests.helpers.talk import Talk


@pytest.mark.parametrize(
    ("question", "topics", "names"),
    [
        ("Which command runs the tests here?", ("test",), ()),
        ("How do I run the tests of the parser here?", ("test",), ("parser",)),
        ("hey, what is the command for the linter?", ("lint",), ()),
        ("what's the command to build the docs", ("build", "docs"), ()),
        ("what do we run for the migrations", ("migrate",), ()),
        ("How is the server started here? It must be up for this.", ("server",), ()),
        ("wie starte ich den Server hier?", ("server",), ()),
        ("welcher Befehl baut die Doku?", ("build", "docs"), ()),
        ("quelle commande lance les tests ici ?", ("test",), ()),
        ("which npm script imports the lockers?", (), ("npm", "imports", "lockers")),
        ("how do we run seed_db.py?", (), ("seed_db.py",)),
    ],
)
def test_a_question_names_what_the_command_does(question: str, topics: tuple[str, ...], names: tuple[str, ...]) -> None:
    wanted = facts.command(question)

    assert wanted is not None
    assert (wanted.topics, wanted.names) == (topics, names)


@pytest.mark.parametrize(
    "prompt",
    [
        "run the tests",
        "please build it",
        "how do I run tests in pytest?",
        "which command lists files in git?",
        "how do I build a docker image?",
        "how are the tests?",
        "how do we use our app?",
        "how can I get to the docs?",
        "wie laufen die Tests hier?",
        "wie teste ich das?",
        "hoe draait de server hier?",
        "how is the lint",
        "how is the build going here",
        "how did we build the parser",
        "what does the command to run the tests do?",
        "come run the tests here",
        "comment the build here",
        "wie ist der Server hier?",
        "which command failed",
        "how do I run the tests here? " * 10,
    ],
)
def test_other_prompts_ask_for_no_command(prompt: str) -> None:
    assert facts.command(prompt) is None


def test_a_question_for_a_command_that_asks_about_no_past_is_looked_up() -> None:
    question = "Which command runs the tests here?"

    assert shape.of(question) is None
    looked_up = shape.look_up(question)
    assert looked_up is not None
    assert (looked_up.grade, looked_up.topic) == (NOT, "tests")


def found(past: Talk, question: str, days: tuple[float, float] | None = None) -> commands.KnownCommand | None:
    """Return what answers a question, of all notes."""
    settings = config.load(str(past.vault))
    index.update(settings)
    wanted = facts.command(question)
    assert wanted is not None

    def look_up(view: View) -> commands.KnownCommand | None:
        return commands.find(settings, view, wanted, None, days)

    return freshness.answered(settings, look_up)


def command(past: Talk, question: str) -> str:
    """Return the command that answers a question, or ""."""
    answer = found(past, question)
    return answer.command if answer is not None else ""


@pytest.fixture
def past(vault: Path, tmp_path: Path) -> Talk:
    """Return a session in a project."""
    talk = Talk(vault, tmp_path / "harbor")
    talk.start()
    talk.says("Go on")
    return talk


@pytest.mark.parametrize(
    ("ran", "question", "answer"),
    [
        (
            "docker compose exec web pytest -x",
            "which command runs the tests here?",
            "docker compose exec web pytest -x",
        ),
        ("uv run ruff check . && uv run pytest -q", "which command runs the tests here?", "uv run pytest -q"),
        ("source .env && ./gradlew test", "which command runs the tests here?", "source .env && ./gradlew test"),
        ("npm run test:e2e", "how do we run the e2e tests?", "npm run test:e2e"),
        ("python -m unittest discover", "how do I run the tests here?", "python -m unittest discover"),
        ("make -C docs html", "how do we build the docs?", "make -C docs html"),
        ("make", "how do we build this project?", "make"),
        ("python manage.py runserver", "how do I start the server here?", "python manage.py runserver"),
        ("npx prettier --write .", "how do we format the code?", "npx prettier --write ."),
        ("vercel --prod", "how do we deploy to production?", "vercel --prod"),
        ("git push heroku main", "how did we deploy last time", "git push heroku main"),
        ("alembic upgrade head", "how do we run the migrations?", "alembic upgrade head"),
        ("npm run storybook", "which command starts storybook here?", "npm run storybook"),
        ("pytest -q > out.txt 2>&1", "which command runs the tests here?", "pytest -q"),
        ("pytest -q&>out.txt", "which command runs the tests here?", "pytest -q"),
        ("pytest -k 'tide > moon; sun' -q", "which command runs the tests here?", "pytest -k 'tide > moon; sun' -q"),
        ("kubectl -n tide apply -f - < tide.yaml", "how do we deploy?", "kubectl -n tide apply -f - < tide.yaml"),
        ("cat tide.yaml | kubectl apply -f - | tail -3", "how do we deploy?", "cat tide.yaml | kubectl apply -f -"),
        ("(cd web && npm run dev) && ls", "how do we start the server?", "cd web && npm run dev"),
        ("(cd web && npm ci) && make test", "how do we run the tests?", "make test"),
        ("./server.sh & sleep 2", "how do we start the server?", "./server.sh"),
        ("docker compose -f tide.yml up -d", "how do we start the server?", "docker compose -f tide.yml up -d"),
        ("./server.sh stop", "which command stops the server here?", "./server.sh stop"),
        ("npm run deploy:undo", "how do we undo the deployment?", "npm run deploy:undo"),
        ("mvn clean package", "how do we build?", "mvn clean package"),
        ("pytest -q\nmake deploy", "how do we run the tests?", "pytest -q"),
        (".venv\\Scripts\\python.exe -m pytest", "how do we run the tests?", ".venv\\Scripts\\python.exe -m pytest"),
        ("Set-Location web; npm.cmd test", "how do we run the tests?", "Set-Location web; npm.cmd test"),
        ("& .\\scripts\\test.ps1", "how do we run the tests?", "& .\\scripts\\test.ps1"),
    ],
)
def test_a_run_answers_by_what_it_does(past: Talk, ran: str, question: str, answer: str) -> None:
    past.runs(ran, "ok")

    assert command(past, question) == answer


@pytest.mark.parametrize(
    "ran",
    [
        "cat tests/test_a.py",
        "grep -rn pytest .",
        "pip install pytest",
        "npm install --save-dev jest",
        "git log --oneline -- tests",
        "pytest --version",
        "python -c 'import pytest'",
        "echo make test",
        "ls tests && cd tests",
    ],
)
def test_a_command_that_only_names_it_does_not_answer(past: Talk, ran: str) -> None:
    past.runs(ran, "ok")

    assert command(past, "which command runs the tests here?") == ""


@pytest.mark.parametrize(
    ("ran", "question"),
    [
        ("kubectl delete deploy web", "how do we deploy?"),
        ("kubectl get deploy", "how do we deploy?"),
        ("kubectl rollout undo deploy web", "how do we deploy?"),
        ("terraform apply -destroy", "how do we deploy?"),
        ("./deploy.sh --rollback", "how do we deploy?"),
        ("./deploy.sh --dry-run", "how do we deploy?"),
        ("ansible-playbook teardown.yml", "how do we deploy?"),
        ("vercel rm harbor", "how do we deploy?"),
        ("docker rm -f server", "how do we start the server?"),
        ("docker build -t server .", "how do we start the server?"),
        ("./server.sh stop", "how do we start the server?"),
        ("npx prisma migrate reset --force", "how do we run the migrations?"),
        ("flyway clean", "how do we run the migrations?"),
        ("make -C docs clean", "how do we build the docs?"),
    ],
)
def test_a_command_that_undoes_or_only_shows_it_does_not_answer(past: Talk, ran: str, question: str) -> None:
    past.runs(ran, "ok")

    assert command(past, question) == ""


@pytest.mark.parametrize(
    "ran",
    [
        "cat > run.sh <<'EOF'\n./deploy.sh\nEOF",
        "cat <<EOF > run.sh; chmod +x run.sh\nset -e; make deploy\nEOF",
        "kubectl apply -f - <<EOF\nkind: Tide\nEOF",
        "git commit -m 'Say how; make deploy; and more'",
        "ssh tide 'cd harbor && ./deploy.sh'",
        "test -d tide || make deploy",
        "./deploy.sh 'tide\nmoon'",
        "ls # && make deploy",
    ],
)
def test_what_is_only_written_in_a_command_does_not_answer(past: Talk, ran: str) -> None:
    past.runs(ran, "ok")

    assert command(past, "how do we deploy?") == ""


@pytest.mark.parametrize(
    "ran", ["python -m pytest -q", ".venv/bin/python3 -m pytest -n 4", "python -m unittest discover"]
)
def test_a_module_that_is_run_without_names_is_run_for_all(past: Talk, ran: str) -> None:
    past.runs(ran, "ok")

    answer = found(past, "how do we run the tests?")

    assert answer is not None
    assert answer.whole


def test_a_run_that_failed_does_not_answer(past: Talk) -> None:
    past.runs("make test", error="Exit code 2\nmake: *** No rule to make target 'test'.  Stop.")

    assert command(past, "which command runs the tests here?") == ""


def test_the_whole_comes_before_parts_that_were_run_more_often(past: Talk) -> None:
    past.runs("go test ./...", "ok")
    for name in ("tide", "tide", "moon"):
        past.runs(f"go test ./internal/{name}", "ok")
    past.runs("go test ./... -run TestLeap", "ok")

    assert command(past, "which command runs the tests here?") == "go test ./..."
    assert command(past, "how do I run the moon tests here?") == "go test ./internal/moon"


def test_what_is_run_more_often_and_lately_comes_first(past: Talk) -> None:
    for _ in range(3):
        past.runs("nosetests2 && make test", "ok")
    later = new_session(past, 200)
    later.says("Go on")
    later.runs("just test", "ok")
    later.runs("just test", "ok")

    answer = found(past, "which command runs the tests here?")

    assert answer is not None
    assert (answer.command, answer.times) == ("just test", 2)


def test_only_runs_of_the_days_that_are_asked_for_count(past: Talk) -> None:
    past.runs("make deploy", "ok")
    later = new_session(past, 3)
    later.says("Go on")
    later.runs("fly deploy", "ok")

    first_day = found(past, "how did we deploy?", (past.now - 3600, past.now + 3600))

    assert command(past, "how did we deploy?") == "fly deploy"
    assert first_day is not None
    assert first_day.command == "make deploy"


def test_runs_are_recognized_by_their_file_names_whatever_the_agent_calls_its_shell() -> None:
    names = [f"001-002-{slug(tool)}-pytest-q-x81kd0a3bz.md" for tool in runs.SHELLS]
    assert [name for name in names if not turn_groups.is_shell(name)] == []
    assert {turn_groups.source(name) for name in names} == turn_groups.SHELLS
