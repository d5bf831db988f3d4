"""Unfinished: what an answer says is left to do, and how much of it is shown."""

from __future__ import annotations

import pytest

from mdmem.inject.rendering import excerpts, unfinished


@pytest.mark.parametrize(
    "line",
    [
        "What is left", "**Still open**", "TODO", "### ⚠️ Still open", "Next steps:", "Left to do", "Not done yet",
        "Still to do before this can go live", "Remaining work", "What's next?", "Nächste Schritte", "Pendiente:",
        "Nächster Schritt:", "Es fehlt noch:", "Es fehlen:", "Siguiente paso:", "Queda pendiente:", "Falta por hacer:",
        "Prochaine étape :",
    ],
)  # fmt: skip
def test_a_heading_over_what_is_left_is_known(line: str) -> None:
    assert unfinished.is_heading(line)


@pytest.mark.parametrize(
    "line",
    [
        "Next.js config",
        "Left join",
        "Missing index",
        "Open files limit",
        "Pending migrations",
        "Not a bug",
        "Siguiente:",
        "Es fehlen Tests",
        "to",
        "",
        "✅",
    ],
)
def test_a_heading_that_only_begins_like_one_is_not_taken_for_it(line: str) -> None:
    assert not unfinished.is_heading(line)


LEFT = """The queue is SQS now, because Postgres could not keep up.

{heading}
- [ ] Terraform for the production queue (only staging has it)
- [x] Dead letter queue
- [ ] Drain the old tables before dropping them; they have 48,000 rows
- [ ] Alarms
"""


@pytest.mark.parametrize("heading", ["## Remaining", "**Remaining**", "Remaining:"])
def test_what_is_left_is_told_in_order_and_shortened_before_any_of_it_is_dropped(heading: str) -> None:
    assert excerpts.outcome(LEFT.format(heading=heading), (), 400).endswith(
        "Remaining: [ ] Terraform for the production queue (only staging has it). [ ] Drain the old tables before"
        " dropping them; they have 48,000 rows. [ ] Alarms"
    )
    assert excerpts.outcome(LEFT.format(heading=heading), (), 210).endswith(
        "Remaining: [ ] Terraform for the production queue… [ ] Drain the old tables before dropping them… [ ] Alarms"
    )


def test_a_long_first_sentence_is_cut_and_not_what_is_left() -> None:
    told = excerpts.outcome(f"The queue moved{', then moved' * 20}.\n\n**Open**\n- Alarms", (), 120)

    assert told.startswith("The queue moved, then moved")
    assert told.endswith("… Open: Alarms")
    assert len(told) <= 122


def test_what_is_left_may_use_what_the_rest_of_the_answer_leaves_of_the_room() -> None:
    said = "The draft is done. Open: the table has the old factor, the Swedish summary (sammanfattning) is missing too."

    assert excerpts.outcome(said, (), 150) == said
    assert excerpts.outcome(said, (), 100).endswith("Open: the table has the old factor, the Swedish summary…")


def test_a_mere_offer_is_not_told_as_left() -> None:
    assert excerpts.outcome("It works.\n\n## Next steps\n- Let me know if I shall go on\n- Docs", (), 300) == (
        "It works. Next steps: Docs"
    )


def test_a_sentence_that_points_at_one_that_is_not_shown_is_left_out() -> None:
    said = f"The cache is in memory again. Someone has to delete the old one{', by hand' * 9}. Until then it costs."

    assert excerpts.outcome(said, (), 70) == "The cache is in memory again."
    assert excerpts.outcome(said, (), 300) == said


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("What's left is the migration of old rows.", "the migration of old rows."),
        ("Still missing are the docs and a changelog.", "the docs and a changelog."),
        ("Offen ist noch die Schweiz: Zollpapiere und Kosten.", "die Schweiz: Zollpapiere und Kosten."),
        ("Es fehlt noch: der Export.", "der Export."),
    ],
)
def test_what_is_left_is_also_told_by_a_whole_sentence(sentence: str, left: str) -> None:
    assert unfinished.at_end([("", "It works."), ("", sentence)]) == [left]
    assert excerpts.outcome(f"{sentence} The tests pass{', all of them' * 9}.", (), 130).endswith(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Open is better than closed here.",
        "Next is a keyword in Lua.",
        "Open issues are now closed.",
        "Open items are in the tracker.",
        "What's next is up to you.",
        "What's missing is intentional here.",
        "Left is 4 px, right is 8 px.",
        "Missing values are zero now.",
        "Remaining work is tracked in #12.",
        "Nothing is left open.",
    ],
)
def test_a_sentence_with_such_a_word_leaves_nothing(sentence: str) -> None:
    assert unfinished.at_end([("", "It works."), ("", sentence)]) == []


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("The id isn't checked against VIES yet, only its format.", "The id isn't checked against VIES yet"),
        ("It runs in 9 ms. I'll tune it later, at night.", "I'll tune it later"),
        ("`--theme` works, but the README is not updated yet.", "the README is not updated yet."),
        ("The unsubscribe link is still missing.", "The unsubscribe link is still missing."),
        ("Refunds for `Cart.total` are not covered yet.", "Refunds for `Cart.total` are not covered yet."),
        ("Stornos fehlen noch, weil das Konto nicht feststeht.", "Stornos fehlen noch"),
        ("Der Export ist noch nicht dokumentiert.", "Der Export ist noch nicht dokumentiert."),
        ("It waits when it is full, but a full disk is not handled yet.", "a full disk is not handled yet."),
        ("Errors when a disk is full aren't handled yet.", "Errors when a disk is full aren't handled yet."),
        ("When the disk is full, uploads aren't retried yet.", "When the disk is full, uploads aren't retried yet."),
        (
            "The `if` branch and If-None-Match are not covered yet.",
            "The `if` branch and If-None-Match are not covered yet.",
        ),
        ("Pages are not cached yet, so let me know how long.", "Pages are not cached yet"),
        ("If you run it twice it fails; the lock is not there yet.", "the lock is not there yet."),
        ("Falta describir el despliegue, porque no está decidido.", "Falta describir el despliegue"),
        ("I'll index `a.b` in a follow-up, it is no part of this.", "I'll index `a.b` in a follow-up"),
    ],
)
def test_what_is_not_done_yet_or_promised_is_left_by_a_turn_that_worked(sentence: str, left: str) -> None:
    told = [("", "It works."), ("", sentence)]
    assert unfinished.at_end(told, worked=True) == [left]
    assert unfinished.at_end(told) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The server has not failed once since, and yet it is slow to start.",
        "I'll keep the matrices sparse.",
        "I'll add it later if you want it.",
        "If you like, I'll add it next.",
        "Let me know and I'll add it later.",
        "Wenn du magst, werde ich das später testen.",
        "Once it is approved, I'll deploy it tomorrow.",
        "While the index is not built yet, the notes are read.",
        "It is written only if the file does not exist yet.",
        "The index is not there yet if you start it for the first time.",
        "It waits, while the disk is not there yet.",
        "Is it not deployed yet?",
        "Two tests are skipped because the library does not support it yet.",
        "The next run will not take long.",
        "It still works.",
    ],
)
def test_a_sentence_that_only_sounds_like_it_leaves_nothing_after_work(sentence: str) -> None:
    assert unfinished.at_end([("", "It works."), ("", sentence)], worked=True) == []
