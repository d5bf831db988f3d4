"""Questions about the present: what is in force was decided earlier, what runs or fails is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.injected import after_sessions, ask, entries, new_session
from tests.helpers.talk import Talk

SESSIONS = (
    ("where does the cart live?", "cart.ts", "The cart lives in Redis with a lifetime of 30 days."),
    ("the checkout test is flaky", "checkout.ts", "The pay button of the checkout test was clicked before hydration."),
    ("prod is down", "edge.hcl", "Traefik sent requests to allocations whose health check was TCP."),
    ("OPS-52 cut the log costs", "loki.yml", "Loki keeps 14 days of logs instead of 30."),
    ("das Ventil klappert", "control.c", "Die Hysterese ist 0,8 Grad statt 0,2, der Timer blieb gleich."),
    ("wie oft misst der Sensor?", "sensor.c", "Der Sensor misst alle 60 Sekunden, die Batterie dankt es."),
    ("le moteur des agrégats", "agg.py", "Les agrégats annuels tournent avec DuckDB, car Spark demandait 24 Go."),
    ("los enlaces rotos", "book.toml", "Los enlaces externos se comprueban los lunes, la tabla quedó igual."),
    ("o PDF demora demais", "pdf.sh", "O PDF agora é gerado com Typst em 4 segundos."),
    ("告警太吵", "rules.yml", "告警要持续 10 分钟才发。"),
)


@pytest.fixture
def now(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session of a project with some sessions in several languages."""
    return after_sessions(Talk(vault, tmp_path / "shop"), SESSIONS)


@pytest.mark.parametrize(
    "prompt",
    [
        "is the checkout test green now?",
        "is Redis running now?",
        "does the health check currently follow redirects?",
        "which allocations are failing right now?",
        "why does the checkout now fail on lint?",
        "what happened?",
        "was macht der Timer jetzt?",
        "wo wird die Hysterese derzeit berechnet?",
        "où sont calculés les agrégats maintenant ?",
        "¿cómo se ve ahora la tabla?",
        "¿qué ha pasado aquí?",
        "por que demora tanto agora?",
        "e agora?",
        "o PDF é gerado agora sem erros?",
        "o que mudou neste PDF?",
        "告警现在还响吗？",
    ],
)
def test_what_runs_or_shows_now_is_asked_of_the_work_at_hand(now: Talk, prompt: str) -> None:
    assert not ask(now, prompt)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("where does the cart live now?", "Redis"),
        ("how long does Loki currently keep logs?", "14 days"),
        ("wie groß ist die Hysterese jetzt?", "0,8 Grad"),
        ("wie oft misst der Sensor derzeit?", "60 Sekunden"),
        ("qu'utilisons-nous maintenant pour les agrégats ?", "DuckDB"),
        ("¿cuándo comprobamos ahora los enlaces externos?", "lunes"),
        ("o que usamos agora para o PDF?", "Typst"),
        ("告警现在要持续多久才发？", "10 分钟"),
    ],
)
def test_what_is_in_force_now_is_answered_by_what_was_decided(now: Talk, prompt: str, answer: str) -> None:
    assert answer in ask(now, prompt)


def test_a_question_that_joins_its_subject_to_the_verb_has_no_other_subject(now: Talk) -> None:
    assert not ask(now, "avons-nous jamais utilisé Snowflake ?")
    assert "24 Go" in ask(now, "a-t-on essayé Spark ?")


def test_what_is_in_force_is_shown_beside_an_older_answer_in_the_words_of_the_question(
    vault: Path, tmp_path: Path
) -> None:
    talk = Talk(vault, tmp_path / "manual")
    for number, (asked, ended) in enumerate(
        [
            ("¿en qué idiomas publicamos?", "Publicamos en español, inglés e italiano."),
            ("quitamos el italiano", "Desde septiembre publicamos en español, inglés y portugués."),
            ("la portada está torcida", "La portada queda centrada."),
        ],
        1,
    ):
        talk.says(asked)
        talk.answers(ended)
        talk = new_session(talk, number)

    assert any("portugués" in given for given in entries(ask(talk, "¿en qué idiomas publicamos actualmente?")))


def test_what_an_agent_repeated_from_a_note_is_not_shown_as_newer(vault: Path, tmp_path: Path) -> None:
    note = "---\ncreated: 2026-09-01T08:00:00Z\n---\n# Cart\n\nThe cart is kept in Redis, its lifetime is 30 days.\n"
    (vault / "notes").mkdir()
    (vault / "notes" / "cart.md").write_text(note)
    talk = Talk(vault, tmp_path / "shop")
    asked = "is the cart kept in Redis?"
    assert ask(talk, asked)
    talk.prompts -= 1  # the prompt that is stored below
    talk.says(asked)
    talk.answers("The cart is kept in Redis, as decided, its lifetime is 30 days.")

    (given,) = entries(ask(new_session(talk, 1), "what lifetime does the cart in Redis have now?"))
    assert "as decided" not in given
