"""Prompts in several languages about the work at hand, and those that point to earlier work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.injected import after_sessions, ask
from tests.helpers.talk import Talk

SESSIONS = (
    (
        "qual gerenciador de estado vamos usar? bloc, riverpod ou provider",
        "pubspec.yaml",
        "Vamos de Riverpod. O Bloc exige três arquivos por tela, e com 31 telas isso seria muito código repetido.",
    ),
    (
        "pode começar pelo carrinho",
        "carrinho.dart",
        "O carrinho usa o Riverpod. Os testes falhavam porque faltava o ProviderScope; o login vem depois.",
    ),
    (
        "der Sensor wacht nach dem Tiefschlaf nicht auf",
        "node.overlay",
        "Der Weckpin war falsch eingetragen. Der Test des Sensors lief danach zwanzigmal durch.",
    ),
    (
        "窗帘 Zigbee 用 ZHA 还是 Zigbee2MQTT？",
        "zigbee.yaml",
        "决定用 Zigbee2MQTT。窗帘电机在 ZHA 里没有位置反馈。",
    ),
    (
        "which windows do we keep in the features?",
        "windows.py",
        "Keep 30 and 90 days. The importance of tenure is high, that of 180 days is 0.004.",
    ),
)


@pytest.fixture
def now(vault: Path, tmp_path: Path) -> Talk:
    """Return a new session of a project with some sessions in several languages."""
    return after_sessions(Talk(vault, tmp_path / "app"), SESSIONS)


@pytest.mark.parametrize(
    "prompt",
    [
        "por que o teste do carrinho está vermelho?",
        "warum zeigt der Debugger beim Sensor nichts an?",
        "为什么窗帘没有反应？",
        "quantas telas tem o carrinho?",
        "Zigbee2MQTT ZHA 버전이 몇이야?",
        "wie viele Sensoren hat der Test?",
        "deixa o carrinho maior",
        "mostra o pubspec.yaml",
        "o carrinho está desalinhado",
        "o preço do carrinho está desalinhado",
        "what would happen if we dropped tenure?",
        "mach es so wie im Beispiel",
        "mach es so wie im Test des Sensors unten",
        "Zigbee number 2 works",
        "the carrinho Riverpod test passes",
    ],
)
def test_a_prompt_about_the_work_at_hand_is_given_nothing(now: Talk, prompt: str) -> None:
    assert not ask(now, prompt)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("por que escolhemos o Riverpod?", "três arquivos"),
        ("por que o Riverpod e não o Bloc?", "três arquivos"),
        ("warum ist der Sensor nach dem Tiefschlaf nicht aufgewacht?", "Weckpin"),
        ("当时为什么没有用 ZHA？", "位置反馈"),
        ("what would have happened if we had dropped tenure?", "importance of tenure"),
    ],
)
def test_why_something_was_done_is_answered(now: Talk, prompt: str, answer: str) -> None:
    assert answer in ask(now, prompt)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("nimm denselben Ansatz wie beim Tiefschlaf", "Weckpin"),
        ("mach das genauso wie beim Weckpin", "Weckpin"),
        ("nimm dieselben Werte wie beim Weckpin", "Weckpin"),
        ("utilise la même approche que pour le Weckpin", "Weckpin"),
        ("fais comme pour le Weckpin", "Weckpin"),
        ("usa la misma solución que con el Weckpin", "Weckpin"),
        ("usa o mesmo esquema que no carrinho", "Riverpod"),
        ("usa lo stesso metodo che per il Weckpin", "Weckpin"),
        ("gebruik dezelfde aanpak als bij de Weckpin", "Weckpin"),
    ],
)
def test_an_order_that_points_to_earlier_work_is_given_it(now: Talk, prompt: str, answer: str) -> None:
    assert answer in ask(now, prompt)


def test_what_is_open_in_this_project_is_answered_by_the_last_sessions(now: Talk) -> None:
    assert "windows" in ask(now, "what's still open in this project?")
