"""Corrections: which prompts take back what the turn before did, and which texts replace something named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.search.asking import corrections


@pytest.mark.parametrize(
    "prompt",
    [
        "no, use time based splits instead. Random folds leak the future.",
        "nope, no prefix. Just the ticket number",
        "No I meant the other table",
        "stop, 5173 collides with the other project. Take 5190.",
        "hmm, that's not what I meant: the cache must survive a restart",
        "actually let's use Keycloak on our own server",
        "undo that please, it needs too much memory",
        "put it back as it was",
        "We changed our mind about the ingress: Cilium is coming.",
        "it still fails with the same message",
        "use tabs instead",
        "still flaky on CI, 1 of 20 runs",
        "Nein, lieber LinguiJS, die Texte sollen im Code stehen",
        "das klappt immer noch nicht",
        "non, plutôt en anglais",
        "No, mejor con guiones",
        "too expensive, drop it",
        "vergiss es, das ist zu teuer",
    ],
)
def test_an_objection_corrects_the_turn_before(prompt: str) -> None:
    assert corrections.corrects(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "no thanks to tests for now. Next: log each failed reminder",
        "no problem. Now the exporter",
        "stop the server when the tests are done",
        "great. and add elevation too",
        "ok implement it",
        "revert commits older than a week in the report",
        "I prefer tabs in GDScript",
        "add a flag to print JSON instead of text",
        "Actually quite nice. What does the report look like?",
        "Now the report: it lists all orders of the last month by customer, and drafts are still not part of it",
        "Nun zum Exporter: er soll CSV schreiben",
    ],
)
def test_the_next_request_corrects_nothing(prompt: str) -> None:
    assert not corrections.corrects(prompt)


@given(st.text(max_size=200))
def test_any_prompt_can_be_judged(prompt: str) -> None:
    assert corrections.corrects(prompt) in (True, False)
    assert "" not in corrections.replaced(prompt)


@pytest.mark.parametrize(
    "text",
    [
        "replace winston with pino",
        "winston blocks the event loop under load; replace it with pino",
        "get rid of the old winston",
        "we switched from winston to pino",
        "pino instead of winston",
        "winston is gone: the API logs through pino",
        "winston is being shut down in December",
        "bitte winston durch pino ersetzen",
        "use pino au lieu de winston",
        "Reverted to winston. pino dropped lines under load",
        "we went back to the old winston",
        "Wir sind von winston auf pino umgestiegen",
        "Cambiamos de winston a pino",
        "On a décidé de passer de winston à pino",
    ],
)
def test_what_is_replaced_is_named_in_the_first_words(text: str) -> None:
    assert "winston" in corrections.replaced(text)


@pytest.mark.parametrize(
    "text",
    [
        "replace pino by winston",
        "bunyan is replaced by winston",
        "back to winston: add a transport for errors",
        "it writes back to winston",
        "winston logs each request",
        "remove the report that winston writes",
        "remove the winston debug logs",
        "drop winston metrics from the dashboard",
        "remove the winston banner from the page",
        "Hubo que cambiar los usuarios de winston",
        "Wir sind von pino auf winston umgestiegen",
        " ".join(["so"] * corrections.MAX_WORDS + ["replace winston"]),
    ],
)
def test_what_replaces_it_or_is_only_mentioned_is_not_replaced(text: str) -> None:
    assert "winston" not in corrections.replaced(text)


@pytest.mark.parametrize(
    ("text", "is_replaced"),
    [
        ("从达达换到顺丰同城", True),
        ("达达换成了顺丰", True),
        ("弃用达达，以后都走顺丰", True),
        ("从顺丰换到达达", False),
        ("达达的接口加了重试", False),
        ("把结果发给达达，再换一个格式", False),
        ("先给达达加重试，再把达达换成顺丰", True),
        ("从达达同城换到顺丰", True),
        ("达达已经替换成顺丰", True),
        ("把达达的超时改成 30 秒", False),
        ("达达超时改成 30 秒", False),
        ("从达达读取状态，接口改成异步", False),
        ("把达达升级并转到新端口", False),
        ("暂不弃用达达", False),
    ],
)
def test_what_is_replaced_is_named_in_a_text_without_spaces(text: str, *, is_replaced: bool) -> None:
    assert ("达达" in corrections.replaced(text)) is is_replaced


def test_what_is_replaced_is_named_in_japanese() -> None:
    assert "adyen" in corrections.replaced("決済をAdyenからStripeに切り替えた")
    assert "adyen" in corrections.replaced("決済はAdyenをやめる")
    assert "adyen" in corrections.replaced("決済を Adyen から Stripe に切り替え")
    assert "adyen" not in corrections.replaced("Adyenからの応答形式を変更した")
    assert "stripe" not in corrections.replaced("決済をAdyenからStripeに切り替えた")
    assert "adyen" not in corrections.replaced("Adyenから届く通知を保存した")


def test_a_name_in_latin_letters_is_a_whole_word_of_a_text_without_spaces() -> None:
    assert "redi" in corrections.replaced("把 Redis 换成 Valkey")
    assert "redi" not in corrections.replaced("把 Redirect 换成 302")
    assert "redi" not in corrections.replaced("把 Predis 换成 Valkey")
