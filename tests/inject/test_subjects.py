"""Subjects that are hard to tell: called like what mdmem keeps, or named in a question of another language."""

from __future__ import annotations

from pathlib import Path

import pytest

from mdmem import config
from mdmem.privacy import Rules
from mdmem.search import answering, index
from mdmem.vault import note, people
from tests.helpers.injected import ask, entries, new_session
from tests.helpers.talk import Talk


def record(talk: Talk, turns: list[tuple[str, str]]) -> None:
    """Record a session for each prompt and its answer, in which a file is changed."""
    for number, (asked, said) in enumerate(turns):
        work = new_session(talk, number)
        work.says(asked)
        work.edits(f"app/{number}.c")
        work.answers(said)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("what did we decide about sessions?", "after 12 hours"),
        ("why were sessions so short?", "after 12 hours"),
        ("how long does a session currently last?", "after 12 hours"),
        ("how did we do notes?", "drafts"),
        ("what did we change in search?", "reversed"),
    ],
)
def test_a_subject_that_is_called_like_what_mdmem_keeps_is_found(
    tmp_path: Path, vault: Path, prompt: str, answer: str
) -> None:
    talk = Talk(vault, tmp_path / "clinic")
    record(
        talk,
        [
            ("Users are logged out all the time", "Sessions are short on the kiosk only, others end after 12 hours."),
            ("What vets type gets lost", "Notes are stored as drafts each 2 seconds."),
            ("Chip numbers are slow", "Search looks for the reversed number."),
            ("Show the calendar", "The calendar shows weeks."),
        ],
    )

    text = ask(new_session(talk, 9), prompt)
    (given,) = entries(text)

    assert answer in given


def test_one_name_is_enough_where_a_question_and_the_notes_share_no_language(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "tides")
    told = {
        0: (
            "The chart is just grey in Safari",
            "The header was sent twice, which Chrome forgives and Safari does not.",
        ),
        1: ("Make the tests of the proofs faster", "The proofs of Safari 15 are skipped in the tests."),
    }
    for number in range(40):
        work = new_session(talk, number, tmp_path / ("proofs" if number == 1 else "tides"))
        asked, said = told.get(number, (f"Work on part {number}", f"Part {number} is done."))
        work.says(asked)
        work.edits(f"app/{number}.go")
        work.answers(said)
    prompts = (
        "qué pasó con safari",
        "warum war safari grau",
        "pourquoi safari était gris",
        "safariで地図がグレーになった原因は？",
        "safari 的问题是怎么解决的",
    )
    for number, prompt in enumerate(prompts, 50):
        assert "sent twice" in ask(new_session(talk, number), prompt), prompt

    assert ask(new_session(talk, 60), "añade un test para safari") == ""


def test_a_name_of_a_letter_and_a_digit_is_known_by_the_whole(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "clinic")
    told = [
        ("The S3 bill is three times as high", "Old versions filled the bucket; they are deleted after 7 days."),
        ("Show the calendar", "The calendar shows weeks."),
        ("Chip numbers are slow", "Search looks for the reversed number."),
    ]
    record(talk, told)

    (given,) = entries(ask(new_session(talk, 9), "why was the s3 invoice so expensive, versions or traffic?"))

    assert "deleted after 7 days" in given


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("was haben wir mit den Ausreißern gemacht", "im Diagramm markiert"),
        ("haben wir die Isotope eingebaut", "nur in den Ausblick"),
        ("Isotope im Ausblick, hatten wir das nicht schon", "nur in den Ausblick"),
        ("was hatten wir bei Trübung und Drift gemacht", "Der Wischer läuft"),
        ("was haben wir bei der Schwebstofffracht gemacht", "in Tonnen"),
    ],
)
def test_a_german_question_finds_other_forms_and_compounds_of_its_words(
    tmp_path: Path, vault: Path, prompt: str, answer: str
) -> None:
    talk = Talk(vault, tmp_path / "fluss")
    told = [
        ("Soll jeder Ausreißer weg?", "Ausreißer bleiben und sind im Diagramm markiert."),
        ("Die Isotope von 2019 fehlen", "Die Isotope kommen nur in den Ausblick."),
        ("Die Trübungssonde am Wehr driftet", "Der Wischer läuft alle 10 Minuten."),
        ("Schwebstoff am Pegel: welche Einheit", "Schwebstoff und Fracht stehen jetzt in Tonnen, jede Fracht."),
        ("Kürze den Anhang", "Der Anhang ist eine Seite kürzer."),
        ("Prüfe die Legende", "Die Legende stimmt."),
    ]
    record(talk, told)

    assert answer in entries(ask(new_session(talk, 9), prompt) or "\n- ")[0]


def test_up_down_and_over_are_no_subject(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "pump")
    record(
        talk,
        [
            ("Where do the profiles go, into the flash?", "Into the FRAM: the flash wears."),
            ("The flash is full, the linker complains", "The log prints no floats any more: 11 KB are free."),
            ("They want a precision over .5", "With 2,200 calls the threshold is 0.46."),
            ("Is the pump slow?", "After a reboot it catches up."),
            ("Show the calendar", "The calendar shows weeks."),
        ],
    )

    assert "no floats" in ask(new_session(talk, 9), "how did we get the flash usage down last time")
    assert "wears" in ask(new_session(talk, 10), "what did we end up with for the flash")
    assert ask(new_session(talk, 11), "why is the model over confident above .5") == ""


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("which release was 2.3.1", "Weidmann"),
        ("why 2.3", "Weidmann"),
        ("which release was v2.3.1", "Weidmann"),
        ("which release was 2.5.0rc1", "Ferrara"),
        ("which release was v2.5.0-rc.1", "Ferrara"),
        ("which release was 2.5.0-RC1", "Ferrara"),
        ("which release was 2.5.0-RC2", ""),
        ("which release was 2.5.0-rc2", ""),
        ("why 0.46", "2,200 calls"),
        ("who asked for 11,1", "Kessler"),
        ("which release was 3.2.1", ""),
        ("why 3.1", ""),
        ("why 0.41", ""),
        ("who asked for 2.41", ""),
        ("what broke in 46.0", ""),
    ],
)
def test_a_number_or_version_with_points_is_one_word(tmp_path: Path, vault: Path, prompt: str, answer: str) -> None:
    talk = Talk(vault, tmp_path / "pump")
    record(
        talk,
        [
            ("Tag the fix", "Tagged as v2.3.1, which Weidmann needs by 1 October."),
            ("Tag the next one", "Tagged as 2.5.0rc1, for Ferrara."),
            ("They can call less", "With 2,200 calls the threshold is 0.46; with 41 more it is lower."),
            ("Kessler wants the error in the text", "It is 11,1 % in chapter 4."),
            ("Show the calendar", "The calendar shows 3 weeks."),
        ],
    )

    given = ask(new_session(talk, 9), prompt)

    assert answer in given if answer else given == ""


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("why not 20000?", "attachments"),
        ("why not 20,000?", "attachments"),
        ("why not 20_000?", "attachments"),
        ("warum nicht 20.000?", "attachments"),
        ("pourquoi pas 20 000 ?", "attachments"),
        ("pourquoi pas 20 000", "attachments"),
        ("who asked for 3925", "Leclerc"),
        ("who asked for 3'925", "Leclerc"),
        ("why 1284000", "archive"),
        ("why 1,284,000", "archive"),
        ("why 20001", ""),
        ("why 2000", ""),
        ("who asked for 284000", ""),
        ("why 1284", ""),
        ("why 30000000", "rows of the log"),
        ("why 30000", ""),
        ("why 502 503 504?", "proxy"),
    ],
)
def test_a_whole_number_is_found_however_its_thousands_are_marked(
    tmp_path: Path, vault: Path, prompt: str, answer: str
) -> None:
    talk = Talk(vault, tmp_path / "crm")
    record(
        talk,
        [
            ("Out of memory", "No batches of 20,000: they carry attachments of 9 GB."),
            ("The ceiling is wrong", "It is 3 925 € now, as Leclerc says."),
            ("Count the rows", "There are 1284000 with the archive."),
            ("Show the calendar", "The calendar shows 20 weeks, 000 to 019."),
            ("Trim the table", "It has 30,000,000 rows of the log."),
            ("Requests fail", "We try again on 502, 503 and 504: the proxy restarts."),
        ],
    )

    given = ask(new_session(talk, 9), prompt)

    assert answer in given if answer else given == ""


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("what did we move to 2 am?", "sluice"),
        ("what did we move to 2am?", "sluice"),
        ("what did we move to 02:00?", "sluice"),
        ("was haben wir auf 2 Uhr verlegt?", "sluice"),
        ("qu'avions-nous déplacé à 2h00 ?", "sluice"),
        ("午前2時に移したのは何だったっけ？", "sluice"),
        ("what did we move to 14:30?", "ferry"),
        ("what did we move to 2:30 pm?", "ferry"),
        ("what did we move to 2:30?", "ferry"),
        ("what did we move to 02:30?", ""),
        ("what did we move to 2:00?", "sluice"),
        ("qu'avions-nous déplacé à 2 am ?", "sluice"),
        ("¿qué movimos a las 2 am en el puerto?", "sluice"),
        ("what did we move to 11:15?", "market"),
        ("what did we move to 23:15?", "market"),
        ("what did we move to 2 pm?", ""),
        ("what did we move to 3:20 pm?", ""),
        ("which crane took 3:20 min?", "crane"),
        ("what did we move to 3 am?", ""),
    ],
)
def test_a_time_of_day_is_found_in_each_way_to_write_it(tmp_path: Path, vault: Path, prompt: str, answer: str) -> None:
    talk = Talk(vault, tmp_path / "harbor")
    record(
        talk,
        [
            ("The turbine is loud", "Its sluice opens at 02:00 now."),
            ("The pier is full", "The last ferry leaves at 2:30 p.m. now."),
            ("The market is empty", "It closes at 11:15 now, says the market's office."),
            ("The crane is slow", "The crane took 3:20 min a box."),
            ("Print the list", "The list has 2 pages and 14 rows."),
            ("Show the calendar", "The calendar shows 3 weeks."),
        ],
    )

    given = ask(new_session(talk, 9), prompt)

    assert answer in given if answer else given == ""


@pytest.mark.parametrize(
    "prompt",
    ["Was haben wir in Version 2 am Turbinendeckel geändert?", "Wie haben wir alle 3 am Turbinendeckel geändert?",
     "涡轮那3点建议的原因是什么？",
     "3時間止まったのは何だったっけ？"],
)  # fmt: skip
def test_a_number_before_another_word_is_no_time_of_day(tmp_path: Path, vault: Path, prompt: str) -> None:
    talk = Talk(vault, tmp_path / "harbor")
    talk.says("Turbinendeckel / タービン / 涡轮")
    talk.edits("app/turbine.c")
    talk.answers("Der Turbinendeckel ist nun aus Stahl. タービンが3時間止まった。涡轮有3点建议。")
    work = new_session(talk, 1)
    work.says("Show the calendar")
    work.edits("app/calendar.c")
    work.answers("The calendar opens at 03:00 now.")

    given = ask(new_session(talk, 9), prompt)

    assert "Stahl" in given
    assert "calendar" not in given


def test_a_question_with_many_versions_reads_few_notes(
    tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(vault, tmp_path / "pump")
    versions = [f"{number % 7}.{number}.{number % 5}" for number in range(40)]
    for number in range(2 * len(versions)):
        work = new_session(talk, number)
        work.says(f"Freeze part {number}")
        if number % 4 == 0:
            work.runs("pip freeze", "\n".join(f"part=={version}" for version in versions))
        work.answers("Frozen.")
    reads: list[str] = []
    read = people.load_clean

    def counted_read(root: str, path: str, *rules: Rules) -> note.Parsed:
        reads.append(path)
        return read(root, path, *rules)

    monkeypatch.setattr(people, "load_clean", counted_read)

    assert "pip freeze" in ask(new_session(talk, 99), f"do you remember the freeze with {' '.join(versions)}?")
    assert 0 < len(reads) < 4 * answering.MAX_CHECKED


def test_a_line_of_a_long_prompt_is_given_where_it_says_more_than_the_answer(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "game")
    notes = "- jonas: died four times\n- mei: gave up, the armored ones just walk through\n- both: the cannon fails"
    log = f"ERROR armored enemies of wave 12 decide {'about the path ' * 20}"
    talk.says(f"Wave 12 is impossible for new players. The notes of the playtest by jonas and mei:\n\n{notes}\n\n{log}")
    talk.edits("waves.json")
    talk.answers("Wave 12 has 14 armored enemies instead of 24. The cannon pierces two targets.")

    given = ask(new_session(talk, 1), "do you remember what mei said about the armored ones?")

    assert "mei: gave up, the armored ones just walk through" in given
    assert "14 armored enemies" in given
    assert "walk through" not in ask(new_session(talk, 2), "what did we decide about the armored enemies of wave 12?")


def test_the_name_of_a_file_gets_the_turns_that_changed_it(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "trails")
    for number, (name, said) in enumerate(
        [("track/Gain.kt", "The barometer's noise is filtered."), ("push/Ask.kt", "Asks when a trail is saved.")]
    ):
        work = new_session(talk, number)
        work.says("It does not work on the phone")
        work.edits(name)
        work.answers(said)

    (given,) = entries(ask(new_session(talk, 9), "Gain.kt"))

    assert "noise is filtered" in given
    assert "noise is filtered" in ask(new_session(talk, 10), "track/Gain.kt")
    assert ask(new_session(talk, 11), "Loss.kt") == ""
    assert ask(new_session(talk, 12), "example.com") == ""


def test_the_name_of_a_file_that_was_moved_gets_the_turn_that_moved_it(tmp_path: Path, vault: Path) -> None:
    talk = Talk(vault, tmp_path / "trails")
    work = new_session(talk, 0)
    work.says("Filter the barometer")
    work.edits("track/Gain.kt")
    work.answers("The barometer's noise is filtered in Gain.kt.")
    later = new_session(talk, 3)
    later.says("Call things by what they are")
    later.runs("cd app && git mv track/Gain.kt track/Climb.kt && git mv track/Loss.kt track/Descent.kt")
    later.answers("Done, the build passes.")
    looked = new_session(talk, 4)
    looked.says("Is Gain.kt mentioned anywhere?")
    looked.runs("grep -rn Gain.kt docs")
    looked.answers("No file mentions it.")

    newer, older = entries(ask(new_session(talk, 9), "where did Gain.kt go?"))

    assert "track/Climb.kt" in newer
    assert "noise is filtered" in older


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("why did we go back to smaller batches?", "attachments"),
        ("why did we choose a longer timeout?", "proxy"),
        ("why did we choose a longer kiosk?", ""),
        ("wie oft haben wir den Timeout geändert?", "proxy"),
        ("¿cuándo cambiamos el timeout?", "proxy"),
    ],
)
def test_which_way_something_was_changed_need_not_be_said(
    tmp_path: Path, vault: Path, prompt: str, answer: str
) -> None:
    talk = Talk(vault, tmp_path / "crm")
    record(
        talk,
        [
            ("Out of memory", "The batches have 5,000 rows: they carry attachments."),
            ("The import takes 14 hours", "With batches of 20,000 it takes 3."),
            ("Requests end early", "The timeout is 90 s, as the proxy waits that long."),
            ("Show the calendar", "The calendar shows weeks."),
            ("Show the moon", "The moon has phases."),
        ],
    )

    given = ask(new_session(talk, 9), prompt)

    assert answer in given if answer else given == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "was fehlt noch vom audit?",
        "was ist vom audit noch offen?",
        "que reste-t-il de l'audit ?",
        "qu'est-ce qui reste de l'audit ?",
        "qué falta del audit?",
        "o que falta do audit?",
        "wat moet er nog gebeuren na de audit?",
        "co zostało do zrobienia po audit?",
        "audit'ten ne kaldı?",
        "что осталось после audit?",
        "audit で残っているのは何？",
        "audit 还有哪些没做",
    ],
)
def test_what_is_left_of_something_is_told_in_each_language(tmp_path: Path, vault: Path, prompt: str) -> None:
    talk = Talk(vault, tmp_path / "portal")
    record(
        talk,
        [
            ("The audit is here", "The audit found 23 issues. Left to do: the captcha."),
            ("Reduce the motion", "Carousels stop. The audit will check it."),
            ("Show the calendar", "The calendar shows weeks."),
            ("Show the moon", "The moon has phases."),
        ],
    )

    assert "the captcha" in ask(new_session(talk, 9), prompt)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("现在用的是哪款打印机？", "芯烨 XP-58"),
        ("100 积分抵多少钱？", "100 分抵 3 元"),
        ("菜单缓存现在放在哪里？", "Redis"),
        ("现在用的是哪款咖啡机？", ""),
        ("500 毫升装多少钱？", ""),
    ],
)
def test_function_words_are_no_part_of_a_chinese_subject(tmp_path: Path, vault: Path, prompt: str, answer: str) -> None:
    talk = Talk(vault, tmp_path / "tea")
    record(
        talk,
        [
            ("新打印机中文乱码", "打印机换成芯烨 XP-58，只认 GB18030 编码。"),
            ("会员积分规则", "每消费 1 元积 1 分，100 分抵 3 元，积分一年后过期。"),
            ("改了价格，门店十分钟后才看到", "菜单缓存改放 Redis，改价时发布消息立即失效。"),
            ("给列表加分页", "列表每页 20 条。"),
            ("库存变成负数", "并发扣减导致超卖，改成带条件的更新。"),
            ("服务器内存不够了", "迁到 4 GB 的服务器，停机 12 分钟。"),
        ],
    )

    given = ask(new_session(talk, 9), prompt)

    assert answer in given
    assert bool(given) == bool(answer)


@pytest.mark.parametrize("name", ["maxmemoryPolicy", "maxmemory_policy", "MaxmemoryPolicy"])
def test_an_identifier_is_known_in_the_forms_of_other_languages(vault: Path, tmp_path: Path, name: str) -> None:
    talk = Talk(vault, tmp_path / "shop")
    for number, (asked, ended) in enumerate(
        [
            ("Redis is full", "Its maxmemory-policy is volatile-lru now, as carts of bots never expired."),
            ("the refund policy is hidden", "The policy is linked in the footer."),
        ],
        1,
    ):
        talk.says(asked)
        talk.answers(ended)
        talk = new_session(talk, number)

    assert "volatile-lru" in ask(talk, f"what did we do about {name}?")
    assert not ask(new_session(talk, 9), "what did we do about refundFooter?")


@pytest.mark.parametrize("name", ["max_size", "poolMax", "userDataId", "set_users"])
def test_words_that_meet_in_a_sentence_are_no_identifier(vault: Path, tmp_path: Path, name: str) -> None:
    talk = Talk(vault, tmp_path / "shop")
    record(
        talk,
        [
            ("limits", "Set a pool. Max. Size of a page is 20."),
            ("sign-up is confusing", "Mails get user data. ID cards are not needed; resetUsers is set by users."),
            ("Show the calendar", "The calendar shows weeks."),
        ],
    )

    assert not ask(new_session(talk, 9), f"what did we decide about {name}?")


def test_an_identifier_in_another_form_is_known_behind_many_notes_with_its_parts(vault: Path, tmp_path: Path) -> None:
    talk = Talk(vault, tmp_path / "shop")
    record(talk, [(f"page {number}", "The pool in the garden is shown in its full size.") for number in range(25)])
    index.update(config.load(str(vault)))
    last = new_session(talk, 30)
    last.says("too many connections")
    last.answers("The poolSize is 40: PgBouncer has a pool of size 50.")

    assert "PgBouncer" in ask(new_session(talk, 40), "what did we decide about pool_size?")
