"""Triggers: which prompts ask to recall."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.search.asking import at_hand, facts, failures, languages, phrases, prose, shape
from mdmem.search.asking.english import LIKELY, NOT, POSSIBLE, SURE

ASKING = [
    ("en", "Do you remember how we fixed the date parser?"),
    ("en", "Don't you remember the port?"),
    ("en", "What did we decide about retries?"),
    ("en", "Which library did we pick for dates?"),
    ("en", "Why did we choose SQLite?"),
    ("en", "Last time this broke the build. How was it solved?"),
    ("en", "the last time we deployed, what failed?"),
    ("en", "Remind me: which port does the staging server use?"),
    ("en", "remind me when we dropped Python 3.10"),
    ("en", "Have we seen this error before?"),
    ("en", "I forgot how the cache is invalidated"),
    ("en", "As we discussed, the parser is strict."),
    ("en", "what's our convention for test names?"),
    ("en", "Where did we leave off?"),
    ("en", "Please look at a.py.\n\nAlso, what did we say about the cache?"),
    ("en", "/home/dev/parser.py fails again. Do you remember why?"),
    ("en", "What was decided about the database?"),
    ("en", "Do you know what we did on Monday?"),
    ("en", "What was the reason we switched to uv?"),
    ("en", "We discussed this before."),
    ("en", "give me a recap of yesterday's session"),
    ("en", "it's the segfault from monday"),
    ("en", "find the discussion about soft deletes"),
    ("de", "Woran haben wir zuletzt gearbeitet?"),
    ("de", "Weißt du noch, wie wir den Parser repariert haben?"),
    ("de", "Was haben wir über den Parser beschlossen?"),
    ("de", "WARUM HABEN WIR UNS FÜR SQLITE ENTSCHIEDEN?"),
    ("de", "Beim letzten Mal ging es doch."),
    ("fr", "Tu te souviens du parseur ?"),
    ("fr", "Qu’est-ce qu’on a décidé pour le cache ?"),
    ("fr", "Qu'avons-nous décidé ?"),
    ("fr", "La dernière fois, ça marchait."),
    ("es", "¿Te acuerdas del error de fechas?"),
    ("es", "¿Qué decidimos sobre el analizador?"),
    ("pt", "Você lembra o que combinamos da última vez?"),
    ("it", "Ti ricordi cosa abbiamo deciso?"),
    ("nl", "Weet je nog waarom we dit deden?"),
    ("sv", "Minns du varför vi gjorde så?"),
    ("da", "Husker du hvorfor?"),
    ("fi", "Muistatko miksi?"),
    ("pl", "Pamiętasz, co ustaliliśmy?"),
    ("cs", "Pamatuješ si to?"),
    ("ru", "Помнишь, что мы решили?"),
    ("uk", "Памʼятаєш?".replace("ʼ", "'")),
    ("tr", "Bunu hatırlıyor musun?"),
    ("id", "Apakah kamu ingat?"),
    ("vi", "Bạn còn nhớ không?"),
    ("vi", "Chúng ta đã quyết định gì?"),
    ("sk", "Pamätáš si, čo sme rozhodli?"),
    ("hr", "Sjećaš li se parsera?"),
    ("hu", "Emlékszel, mit döntöttünk?"),
    ("ro", "Îți amintești ce am decis?"),
    ("ca", "Recordes què vam decidir?"),
    ("el", "θυμάσαι τι αποφασίσαμε;"),
    ("bg", "Помниш ли какво решихме?"),
    ("fa", "یادت هست چه تصمیمی گرفتیم؟"),
    ("ar", "هل تتذكر ماذا قررنا؟"),
    ("he", "אתה זוכר מה החלטנו?"),
    ("ja", "日付パーサーのこと、覚えていますか？"),
    ("ja", "前回はどう直した？"),
    ("zh", "你还记得我们怎么修的吗？"),
    ("zh", "上次是怎麼解決的？"),
    ("ko", "지난번에 어떻게 고쳤지?"),
    ("ko", "우리가 뭘 결정했는지 기억해?"),
    ("th", "จำได้ไหมว่าเราแก้ยังไง"),
    ("hi", "क्या आपको याद है?"),
    ("de", "haben wir die Isotope eingebaut"),
]

NOT_ASKING = [
    "what if we had a queue for labels",
    "and what if we moved it to redis?",
    "Wenn der Test rot ist, haben wir das nicht gemerkt",
    "haben wir gestern erledigt",
    "Haben wir noch nicht getestet, mach das",
    "",
    "hi",
    "continue",
    "fix the bug in parser.py",
    "/recall what did we decide",
    "<bash-input>git log # last time</bash-input>",
    "<command-name>/review</command-name><command-args>last time</command-args>",
    "Why does the date parser fail on 2026-02-29?",
    "why did I get a 500 error?",
    "did we break anything",
    "remember to run the tests",
    "remind me to run the tests",
    "The app should remind me daily.",
    "for the last time, stop",
    "fix the error from the last build",
    "show the discussion page of the forum",
    "write a summary of yesterday's sales",
    "The last time zone in the list is wrong.",
    "store the last timestamp",
    "recall@10 drops when the index is rebuilt",
    "rename last_time to previous_time",
    "def last_time():\n    return 1",
    "can you recall the API from memory",
    "what is our next step?",
    'add a button labelled "remind me"',
    "Implement the `do you remember` prompt",
    "```\n# what did we decide here?\n```\nrefactor this",
    "```python\nprint('do you remember')",
    "    # do you remember\n    x = 1\nrename x",
    "<pasted_content id=1>\nlast time we met\n</pasted_content>\nsummarise",
    "// last time this was null\nif (x == null) {",
    "> do you remember?\nHe asked me that. What is a polite answer?",
    "Erinnere mich daran, die Tests zu starten.",
    "Rappelle-moi de lancer les tests.",
    "この値を覚えておいて",
    "显示上次登录时间",
    "이 값을 기억해 줘",
]


@pytest.mark.parametrize(("language", "prompt"), ASKING)
def test_a_prompt_that_asks_to_recall_is_known_in_its_language(language: str, prompt: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.language == language
    assert found.grade == SURE or "convention" in prompt


@pytest.mark.parametrize("prompt", NOT_ASKING)
def test_other_prompts_code_quotations_and_commands_do_not_ask(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is None or found.grade < SURE


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("Do you remember parse_date() in dates.py?", "parse_date() in dates.py?"),
        ("Was haben wir über den DateParser beschlossen?", "über den DateParser ?"),
        ("What did we decide about getUserID2?", "What    about getUserID2?"),
        ("前回の DateParser", "の DateParser"),
    ],
)
def test_what_is_asked_about_is_the_prompt_without_the_phrase(prompt: str, topic: str) -> None:
    found = prose.recall_phrase(prompt)

    assert found is not None
    assert found.topic == topic


def test_accents_case_and_apostrophes_do_not_matter() -> None:
    for prompt in ("WEISST DU NOCH?", "weißt du noch?", "weisst du noch"):
        assert prose.recall_phrase(prompt)
    for prompt in ("quest ce quon a decide ?", "Qu'est-ce qu'on a décidé ?", "qu’est-ce qu’on a de\u0301cide\u0301"):
        assert prose.recall_phrase(prompt)


def test_a_prompt_whose_accents_are_characters_of_their_own_is_about_the_same() -> None:
    prompt = "Qu’est-ce qu’on a décidé pour le délai ?"

    composed, apart = shape.of(prompt), shape.of(normalize("NFD", prompt))

    assert composed is not None and apart is not None
    assert "délai" in composed.topic == apart.topic


def test_to_go_on_where_work_stopped_names_no_subject_in_spanish_and_french() -> None:
    for prompt in ("seguimos donde lo dejamos", "¿Continuamos donde lo dejamos?", "on reprend où on en était ?"):
        found = shape.of(prompt)
        assert found is not None, prompt
        assert (found.topic, found.resumes) == ("", True), prompt


def test_every_phrase_of_the_table_is_found_as_it_stands() -> None:
    for language, rows in phrases.ASKING.items():
        for row in rows:
            words = [part.split("/")[0] for part in row.split(" ") if part != "*"]
            found = prose.recall_phrase(f"so {' '.join(words)} x")
            assert found is not None, (language, row)
    for rows in phrases.UNSPACED.values():
        for part in "/".join(rows).split("/"):
            assert prose.recall_phrase(part), part


@pytest.mark.parametrize("language", [name for name in phrases.ASKING if name != "en"])
def test_a_sentence_in_its_language_has_each_phrase_and_asks(language: str) -> None:
    rows = (Path(__file__).parent / "asking.tsv").read_text(encoding="utf-8").splitlines()[1:]
    sentences = [sentence for name, sentence in (row.split("\t") for row in rows) if name == language]
    for sentence in sentences:
        found = shape.of(sentence)
        assert found is not None and (found.language, found.grade) == (language, SURE), sentence
    typed = [prose.words(prose.fold(sentence)) for sentence in sentences]
    for phrase in phrases.ASKING[language]:
        assert any(prose._match(phrase, words, at) for words in typed for at in range(len(words))), phrase


def test_a_question_at_either_end_of_a_long_prompt_is_seen_and_one_deep_inside_a_paste_is_not() -> None:
    paste = "The quick brown fox jumps over it.\n" * 3_000
    question = "What did we decide about foxes?"

    assert prose.recall_phrase(f"{question}\n{paste}")
    assert prose.recall_phrase(f"{paste}\n{question}")
    assert not prose.recall_phrase(f"{paste}{question}\n{paste}")


@given(st.text())
def test_words_are_compared_alike_one_by_one_and_together(text: str) -> None:
    words = prose.words(text)

    assert prose.folds(words) == [prose.fold(word) for word in words]


@given(st.text())
def test_no_prompt_makes_the_scan_fail(prompt: str) -> None:
    prose.recall_phrase(prompt)
    prose.recall_phrase(f"do you remember {prompt}")


@pytest.mark.parametrize(
    "unit", ["last ", "`", '"', "> ", "what did we ", "\n", "do you ", "前", "é", "was haben wir "]
)
def test_of_a_huge_prompt_no_more_than_its_ends_are_looked_at(unit: str) -> None:
    prompt = unit * (1_000_000 // len(unit))

    assert len(prose.prose(prompt)) <= prose.HEAD_CHARS + prose.TAIL_CHARS + 1
    prose.recall_phrase(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Where did I leave off?",
        "continue where we stopped yesterday",
        "what were we doing before the weekend?",
        "remind me what's going on with this project",
        "catch me up on this repo",
        "Woran haben wir zuletzt gearbeitet?",
        "reprends là où on s'était arrêté",
        "¿por dónde íbamos?",
        "dove eravamo rimasti?",
        "我们上次做到哪里了?",
        "на чём мы остановились?",
        "what is left to do?",
        "is there anything half done?",
        "is anything unfinished?",
    ],
)
def test_who_only_wants_to_go_on_asks_for_nothing_else(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert (found.grade, found.topic, found.resumes) == (SURE, "", True)


def test_what_is_left_before_something_is_open_work() -> None:
    found, of_code = shape.of("what's left before the festival?"), shape.of("what is missing before the closing brace?")

    assert found is not None and of_code is not None
    assert (found.grade, found.resumes, of_code.resumes) == (SURE, True, False)


def test_what_was_picked_is_not_picked_up() -> None:
    picked, resumed = shape.of("which analytics tool did we pick?"), shape.of("pick up the redis work from yesterday")

    assert picked is not None
    assert not picked.resumes
    assert resumed is not None
    assert resumed.resumes


def test_a_prompt_that_resumes_work_asks_for_that_work() -> None:
    found = shape.of("where did we leave off with the CSV export?")

    assert found is not None
    assert found.topic == "with the CSV export?"


def test_quotations_and_a_pasted_error_are_part_of_what_is_asked_about() -> None:
    quoted = shape.of('how did we fix the "maximum recursion depth" thing in `walk`?')
    pasted = shape.of("Have we seen this before?\n```\nTypeError: cannot pickle 'dict_keys' object\n```")

    assert quoted is not None
    assert quoted.topic.endswith("maximum recursion depth walk")
    assert pasted is not None
    assert pasted.topic.endswith("TypeError: cannot pickle 'dict_keys' object")


@pytest.mark.parametrize(
    ("prompt", "grade"),
    [
        ("the sitemap raised a ValueError, what came of it", LIKELY),
        ("where do we stand with the auth migration?", LIKELY),
        ("the proxy resets the connection, same as back then?", LIKELY),
        ("we had an idea about that once", LIKELY),
    ],
)
def test_a_past_that_is_only_hinted_at_is_likely_asked_for(prompt: str, grade: int) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == grade


@pytest.mark.parametrize(
    ("prompt", "grade"),
    [
        ("Haben wir den Cache umgestellt?", SURE),
        ("Was haben wir beim Cache verschoben?", SURE),
        ("Konnten wir den Absturz nachstellen?", SURE),
        ("Wo haben wir den Schlüssel hinterlegt?", SURE),
        ("Wie haben wir den Absturz umgangen?", SURE),
        ("Wann haben wir den Cache released?", SURE),
        ("Haben wir bewiesen, dass der Cache leer sein sollte?", SURE),
        ("Wie habe ich den Absturz umgangen?", LIKELY),
        ("Wie habe ich den Cache deployt?", POSSIBLE),
        ("Haben wir den Cache committet?", SURE),
        ("Wer hat den Cache deployed?", LIKELY),
        ("Was ist mit dem Cache passiert?", LIKELY),
        ("Wie sind wir auf den Cache gekommen?", SURE),
        ("Was passiert, wenn der Cache voll ist?", POSSIBLE),
        ("Ist der Cache implementiert?", POSSIBLE),
        ("Haben wir zwei Umgebungen für den Cache?", POSSIBLE),
        ("Haben wir einen Test für den Cache?", POSSIBLE),
        ("Sollten wir den Cache leeren?", POSSIBLE),
        ("Könnten wir den Cache leeren?", POSSIBLE),
    ],
)
def test_in_german_the_present_and_a_proposal_are_not_the_past(prompt: str, grade: int) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == grade


@pytest.mark.parametrize(
    "prompt",
    ["Quelle police utiliser, j'aimerais un truc sobre", "Comment faire, j'aimerais ajouter un bouton",
     "Quel que soit le format, j'aimerais que ce soit rapide"],
)  # fmt: skip
def test_what_someone_would_like_now_does_not_surely_ask_for_the_past(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is None or found.grade <= POSSIBLE


def test_a_chinese_question_with_a_korean_name_is_chinese() -> None:
    found = shape.of("我们为什么放弃了 카카오 登录？")

    assert found is not None
    assert (found.language, found.grade) == ("zh", SURE)


def test_what_somebody_said_that_would_be_was_said_in_the_past() -> None:
    found = shape.of("who said it would break if we renamed the column?")

    assert found is not None
    assert found.grade == SURE


@pytest.mark.parametrize(
    "prompt",
    [
        "¿qué falta para que el test pase?",
        "残りは何バイト？",
        "残っているのは何個？",
        "还有哪些没用到的导入？",
        "what happens if the license file is missing?",
        "what does the parser do when a bracket is missing?",
    ],
)
def test_what_is_missing_or_left_here_is_hardly_asked_of_the_past(prompt: str) -> None:
    found = shape.of(prompt) or shape.look_up(prompt)

    assert found is None or found.grade < LIKELY


@pytest.mark.parametrize(
    "prompt", ["when we stopped, what was left to do?", "once more: what is left to do?", "What is left to do?"]
)
def test_what_is_left_is_asked_of_the_past_also_behind_another_clause(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == SURE


@pytest.mark.parametrize("prompt", ["why would a pod be evicted?", "how could a leap second be skipped"])
def test_what_would_be_done_in_general_is_hardly_asked_of_the_past(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == POSSIBLE


def test_the_state_of_something_in_german_is_no_past_verb() -> None:
    found = shape.of("Was ist der Stand der Migration?")

    assert found is not None
    assert (found.grade, found.topic) == (POSSIBLE, "Stand Migration?")


def test_why_something_is_so_is_no_general_question_in_chinese() -> None:
    found = shape.of("为什么是用户编号而不是时间戳，这个缓存键？")

    assert found is not None
    assert found.grade == POSSIBLE


def test_a_japanese_subject_is_without_the_end_of_its_question() -> None:
    found = shape.of("光のちらつきの原因は何だった？")

    assert found is not None
    assert found.topic == "光のちらつき"


def test_a_relative_clause_at_the_end_does_not_ask() -> None:
    assert shape.of("Clean up the packages in the file system, which have already been imported") is None


def test_a_last_clause_that_is_an_order_does_not_ask() -> None:
    assert shape.of("Refactor the parser, then run the tests") is None


def test_a_question_that_names_an_error_number_does_not_ask_twice() -> None:
    found = shape.of("have I ever dealt with ECONNRESET in this project?")

    assert found is not None
    assert found.topic.count("ECONNRESET") == 1


@pytest.mark.parametrize(
    "prompt",
    [
        "hm didnt we already fix the time zone of the csv import",
        "this looks like the crash from last week",
        "same problem as with the exporter, the last row is gone",
        "use the same threshold logic as for the sluice",
        "should the volume be on longhorn? we discussed that",
        "format it with the profile we agreed on",
        "write the tests the way I like them",
        "how do I like my tests?",
    ],
)
def test_what_is_like_something_from_before_asks_for_it(prompt: str) -> None:
    assert shape.of(prompt) is not None


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("did we discuss memory limits before?", "memory limits before?"),
        ("how did we fix the session cookie bug?", "how the session cookie bug?"),
        ("why do we run out of memory in CI?", "why do run out of memory in CI?"),
        ("why was memory leaking", "why was memory leaking"),
        ("do you have any memory of the deadline?", "do you have any of the deadline?"),
        ("what did the previous session change in the parser?", "what did the change in the parser?"),
        ("search memory for the relay", "search for the relay"),
    ],
)
def test_memory_and_session_belong_to_the_topic_where_they_are_part_of_a_program(prompt: str, topic: str) -> None:
    found = shape.of(prompt)
    assert found is not None
    assert found.topic == topic


@pytest.mark.parametrize(
    "prompt",
    [
        "what does your memory say about auth",
        "what's in your notes about retries",
        "do your notes mention Kafka?",
        "according to your journal, which port is it?",
        "what do my notes say about conflicts when syncing?",
        "do my notes mention the staging port?",
        "according to my notes, which port is it?",
        "look in my notes: how are conflicts merged?",
        "ask mdmem how we deploy",
        "what does mdmem know about the parser?",
    ],
)
def test_the_notes_of_the_user_or_the_agent_are_asked(prompt: str) -> None:
    found = shape.of(prompt)
    assert found is not None
    assert found.grade == SURE


@pytest.mark.parametrize(
    "prompt",
    [
        "put the token in your notes",
        "does our journal table need an index?",
        "why do my notes disappear after sync?",
        "look into my notes component",
        "what do the release notes say about 2.0?",
    ],
)
def test_an_order_about_notes_and_a_journal_of_a_program_do_not_ask_surely(prompt: str) -> None:
    found = shape.of(prompt)
    assert found is None or found.grade < SURE


def test_an_order_whose_relative_clause_speaks_of_the_past_does_not_ask() -> None:
    assert shape.of("Fix the parser, which was broken by the last change") is None


def test_an_error_is_seen_behind_a_sentence_and_a_colon() -> None:
    assert failures.error_line("it is there today: KeyError: 'tenant_id' in export.py") != ""
    assert failures.error_line("one: two: three") == ""


@pytest.mark.parametrize(
    "prompt", ["where do we parse the dates", "where is the relay configured?", "how is the cookie signed?"]
)
def test_what_the_code_itself_answers_is_not_looked_up(prompt: str) -> None:
    assert shape.of(prompt) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "still the same error",
        "that didn't work, still the same error",
        "the tests still fail with the same error",
        "it failed again",
        "same problem again",
        "I get it again",
        "I get an error again",
        "encore cette erreur",
        "why do the tests fail?",
        "why does the test still fail",
        "der Test schlägt wieder fehl",
        "warum schlägt der Test fehl?",
        "pourquoi le test échoue ?",
        "sigue el mismo error",
        "почему тест падает?",
        "为什么测试失败？",
        "なぜテストが失敗する？",
        "なぜ動かない？",
    ],
)
def test_a_failure_of_the_work_at_hand_that_names_nothing_does_not_ask(prompt: str) -> None:
    assert shape.of(prompt) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "the payment worker crashed again",
        "still getting 500 errors",
        "why did the build break",
        "is the build broken again?",
        "why do our tests fail on arm64?",
        "still the same error:\n\nKeyError: 'tenant_id'",
        "same error as last week",
        "der Zahlungstest schlägt wieder fehl",
        "schon wieder dieser Fehler: APK signed with a different certificate",
        "encore cette erreur : APK signed with a different certificate to the previous version",
        "I get CFSR 0x00008200 again in HardFault_Handler",
        "we have the SIGBUS in the parser again",
        "Der Bug von gestern ist wieder da",
        "¿por qué falla el test de pagos?",
        "为什么登录测试失败？",
        "called `Option::unwrap()` on a `None` value: src/load.rs:14",
    ],
)
def test_a_failure_that_is_named_or_of_the_past_asks(prompt: str) -> None:
    assert shape.of(prompt) is not None


@pytest.mark.parametrize("prompt", ["keep going please", "carry on with it"])
def test_going_on_with_what_is_at_hand_is_about_nothing(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is None or found.topic == ""


@pytest.mark.parametrize(
    ("prompt", "grade", "topic"),
    [
        ("how'd we get the exporter to stop dropping rows", SURE, "exporter"),
        ("Why’d we pin protobuf?", SURE, "protobuf"),
        ("you fixed something like this on tuesday", LIKELY, ""),
        ("we ran into a full disk on Thursday", LIKELY, "disk"),
        ("do we have any decision on the date format", LIKELY, "date format"),
        ("i keep forgetting how the release works", SURE, "release"),
        ("I can never remember which port the relay uses", SURE, "relay"),
        ("le port du relay, c'était lequel déjà", SURE, "relay"),
        ("on en était où avec la migration oauth ?", SURE, "migration oauth"),
        ("the export test is flaky again", POSSIBLE, "export test"),
        ("give me the history of the relay", LIKELY, "relay"),
        ("where are we with the relay", LIKELY, "relay"),
        ("how is the work on the relay going?", LIKELY, "relay"),
        ("how're we doing the backups these days", LIKELY, "backups"),
        ("These days, how're we doing the backups?", LIKELY, "backups?"),
        ("do we have a plan for the relay", LIKELY, "relay"),
        ("Какой план был по relay?", LIKELY, "relay"),
        ("what is the ballast for?", LIKELY, "ballast"),
        ("how far are we with the ballast?", SURE, "ballast"),
        ("what is decision 3?", LIKELY, "decision 3"),
        ("P3009 again", POSSIBLE, "P3009"),
        ("the nightly backup takes hours again", POSSIBLE, "nightly backup"),
        ("prometheus disk is full again", POSSIBLE, "prometheus disk"),
        ("are we going to use the relay?", LIKELY, "relay"),
        ("the relay is being killed again", POSSIBLE, "relay"),
        ("prod is down again", POSSIBLE, "prod"),
        ("how do we back up the relay?", LIKELY, "back up the relay"),
        ("what still remains to be done for the relay", SURE, "relay"),
        ("is anything still open for the relay?", SURE, "relay"),
        ("what is still open on the relay", SURE, "relay"),
        ("what's still open in the relay", SURE, "relay"),
        ("what still has to happen for the relay?", SURE, "relay"),
        ("what's left of the string after the split?", LIKELY, "string"),
        ("do we refund the shipping?", POSSIBLE, "refund the shipping"),
        ("cargo release says uncommitted changes detected", POSSIBLE, "uncommitted changes detected"),
        ("tell me about the retention policy", POSSIBLE, "retention policy"),
        ("what was our reasoning on algolia?", SURE, " algolia"),
        ("how were whiteouts handled?", LIKELY, "how were whiteouts"),
        ("the relay drops the last row again since monday", POSSIBLE, "relay drops"),
        ("what's missing on the relay", SURE, "relay"),
        ("what was the last thing on the relay", SURE, "relay"),
        ("cmd for the relay?", LIKELY, "relay"),
        ("what's the command to start the relay", LIKELY, "start the relay"),
        ("how long is an idle relay kept?", POSSIBLE, "how is an idle relay kept?"),
        ("the relay was super slow, what was the cause", SURE, "relay was slow,"),
        ("a 413 on upload, had that already?", SURE, "413 on upload"),
        ("which option was missing?", LIKELY, "option was missing"),
        ("whats the state of the relay", LIKELY, "the relay"),
        ("when did we last flash it and what was the trouble?", SURE, "when did flash it and what was the"),
        ("any gotchas with the relay?", LIKELY, "any with the relay"),
        ("any luck with the relay?", LIKELY, "any with the relay"),
        ("is the relay still broken?", LIKELY, "relay"),
        ("is the relay gone", LIKELY, "relay"),
        ("what doesn't work with the relay yet", LIKELY, "relay"),
        ("how far along is the relay?", LIKELY, "relay"),
        ("how do we start the relay again?", SURE, "start the relay"),
        ("what was the port of the relay again", SURE, "port of the relay"),
        ("why does the relay stop again?", LIKELY, "relay"),
        ("what is the left to right order of columns", LIKELY, "order of columns"),
        ("why did we pin https://example.org/1403", SURE, "pin example.org/1403"),
        ("two payouts for one sale, wasn't that solved already", SURE, "two payouts for one sale, wasn't that"),
        ("payouts - didn't we limit those at some point", LIKELY, "payouts - didn't limit those at some"),
        ("the relay drops rows - we had that", LIKELY, "the relay drops rows - had that"),
        ("the limit is 32 - who set that and why", LIKELY, "the limit is 32 - who set that and why"),
        ("am I allowed to restart the relay by hand", POSSIBLE, "am I to restart the relay by hand"),
        ("hot relay, we set the limit where", SURE, "hot relay, set the limit where"),
        ("the relay dropped rows, we solved that how", SURE, "the relay dropped rows, that how"),
        ("relay too big, which flags made it fit", LIKELY, "relay too big, which flags made it fit"),
        ("the month view was slow, what was it", LIKELY, "the month view was slow, what was it"),
        ("how did the relay get fast?", LIKELY, "how did the relay fast?"),
        ("why did we throw out the relay?", SURE, "why did out the relay?"),
    ],
)
def test_a_question_in_passing_is_known_and_what_it_is_about(prompt: str, grade: int, topic: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == grade
    assert topic in found.topic


@pytest.mark.parametrize(
    "prompt",
    [
        "how many lines of code are in src",
        "which python versions do we support according to pyproject",
        "you should fix this on tuesday",
        "do we need a decision on this?",
        "i forgot to add the file, add it",
        "schedule the backup on friday",
        "what'd be good here?",
        "what does bulk_create return?",
        "do the same for what we do next",
        "make sure the index is rebuilt again",
        "check if the tests are green again",
        "run the tests again",
        "what is this option for?",
        "what does rate_limit do in rails?",
    ],
)
def test_what_the_files_tell_and_what_is_planned_is_not_asked_of_the_past(prompt: str) -> None:
    assert shape.of(prompt) is None


def test_what_is_counted_in_the_files_is_hardly_asked_of_the_past() -> None:
    counted, agreed = shape.of("Wie viele Zeilen hat Raptor.kt?"), shape.of("Wie viele Kopien behalten wir?")
    assert counted is not None and agreed is not None
    assert (counted.grade, agreed.grade) == (POSSIBLE, LIKELY)


def test_an_idea_of_something_is_searched_by_what_it_is_about() -> None:
    found = shape.of("what happened to the idea of caching the templates")

    assert found is not None
    assert "idea" not in found.topic
    assert "caching the templates" in found.topic


def test_what_was_agreed_is_not_where_work_stopped() -> None:
    agreed, stopped = shape.of("¿en qué quedamos con lo de los permisos?"), shape.of("¿dónde nos quedamos?")

    assert agreed is not None
    assert stopped is not None
    assert (agreed.resumes, stopped.resumes) == (False, True)


@pytest.mark.parametrize(
    "message",
    [
        "make: *** No rule to make target 'gen', needed by 'all'.  Stop.",
        "bash: pnpm: command not found",
        "Permission denied (publickey).",
        "I get this:\n\n```\nld: cannot find -lssl: No such file or directory\n```",
        "runner.launch: Executable doesn't exist at /root/.cache/browsers/chrome-1134",
        "undefined reference to `pthread_create'",
        'pq: duplicate key value violates unique constraint "users_email_key"',
        "Execution failed for task ':app:compileDebugKotlin'.",
        "Host key verification failed. from the playbook on web5",
        "Failed to connect to the host via ssh",
        "Refusing to seed: DATABASE_URL does not end in _dev",
        "make fails: ld: section `.bss' overflowed by 64 bytes",
    ],
)
def test_a_pasted_message_of_a_program_may_ask_without_the_name_of_an_error(message: str) -> None:
    asked = shape.of(message)

    assert asked is not None
    assert (asked.language, asked.grade) == ("error", POSSIBLE)


@pytest.mark.parametrize(
    "prompt",
    [
        "Make the message nicer when the file cannot be found in `api.py`",
        "feat(api): return 404 when the order does not exist",
        "utils.parse: cannot handle empty strings yet, please add that",
        "add missing imports in api.py",
        "fix the failing test in test_api.py",
        "The build failed",
        "The build of the two new parts failed. Look into it.",
        "Restart it if one failed.",
    ],
)
def test_an_order_about_failures_is_no_message_of_a_program(prompt: str) -> None:
    assert shape.of(prompt) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "mcuboot revert after the update",
        "session timeout policy - 15 or 30 min",
        "DOG resets",
        "mac os notarization",
        "arduino uno bootloader",
        "lambda cold starts",
        "shadow render passes",
        "run-time error 1004 refresh.bas",
        "auto-save interval",
        "pre-commit hook",
        "Gain.kt",
        "src/report-table.tsx",
    ],
)
def test_a_prompt_that_only_names_something_may_ask_for_it(prompt: str) -> None:
    found = shape.look_up(prompt)

    assert shape.of(prompt) is None
    assert found is not None
    assert found.grade == POSSIBLE


@pytest.mark.parametrize(
    "prompt",
    [
        "reduce flash usage",
        "blink the led on boot",
        "the second one",
        "looks good",
        "tests for this parser please",
        "clean-up the parser",
        "README",
        "v1.2",
        "build is red",
        "I'd like voice messages to be transcribed",
        "src/app.ts:14:7 - unused label",
        "you forgot the tests",
        "agrega una columna con el mes",
        "un test dbt sur les doublons",
        "parser\n\nformatter",
        "yes",
        "/plan migrate from sqlalchemy 1.4 to 2.0",
        "word " * 13,
    ],
)
def test_an_order_and_what_is_at_hand_only_name_nothing(prompt: str) -> None:
    assert shape.look_up(prompt) is None


@pytest.mark.parametrize("prompt", ["use the parser, which fixed it", "call the parser, which returns a list"])
def test_which_tells_more_of_something_where_a_verb_follows(prompt: str) -> None:
    assert shape.of(prompt) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "the DATEV import chokes on umlauts, use the same trick as with the bank importer",
        "test_reminder is flaky too, do it the way you did for the webhook one",
        "do customers next, like you did invoices and payments",
        "chinese names are boxes in the delivery note, we had that with the japanese ones",
        "the MT940 parser needs the encoding fallback we built for sparkasse",
        "I need another index, same as the one for open invoices",
        "apply the FakeClock approach from the webhook test to the reminders test",
        "I think we once measured why gmx puts us in spam. dig that up",
        "datev revenue accounts, which ones were it",
        "debounce the settings, do it like the notifier",
        "solve it as for the reactions, by operation id",
        "remember the redirect bug",
        "remember the acme 429",
        "finish the VAT report",
        "complete the VAT report we began",
        "CHUNK_BYTES why that value again",
        "do the same concurrency limit for the videos as for the images",
        "apply the redis lock idea to the invoice mails as well",
        "make the reverb fix for the delay too",
        "before I touch the importer, anything I should know about its locks",
        "has anyone tried gurobi here?",
        "so um i remember there was something with the swiss invoices, can you look that up",
        "ship 1.7 the way we shipped 1.6",
        "send the heart rate from the watch the way we send the distance",
        "convert the weather files with the same settings as the AIS files",
        "backfill 2024 as well, with the settings that worked for 2025",
        "the ice cave has reflections too, use what we did in the flooded mine",
        "the Bremerhaven feed is 2 hours off, fix it like Rotterdam",
        "handle the fees like we do",
        "there was a rule about the names of branches",
        "wasn't there an agreement on tabs",
        "split the change the way i like",
        "commit it, you know my preferences",
        "follow my preferences for the notes",
        "take the same offset as always",
        "do it like in the flooded mine",
    ],
)
def test_an_order_that_points_to_earlier_work_likely_asks_for_it(prompt: str) -> None:
    asked = shape.of(prompt)

    assert asked is not None
    assert asked.grade == LIKELY


@pytest.mark.parametrize(
    "prompt",
    [
        "use the same approach as the other tests",
        "use the fix from the docs",
        "follow the pattern from the other modules",
        "do it like the other tests",
        "keep the same name as before",
        "do the same for the footer",
        "as you did above, but for the footer",
        "apply the patch from upstream",
        "set it up the way the docs describe",
        "do it like in the mockup",
        "solve it as for the general case",
        "remember the scroll position",
        "remember the error code is 404",
        "finish the upload before closing the window",
        "complete the list below",
        "tell me why it is slow",
        "apply the fix to the footer",
        "use the same color for links",
        "the last thing I want is a lock",
        "make the header fix for phones",
        "make the button look like the one in the header",
        "style the list like the one in the footer",
        "change the way we round prices",
        "simplify how we load the tracks",
        "add logging to the function we changed",
        "delete everything that we added in this commit",
        "put the field where we show the coupon",
        "I would like the lamp to be brighter",
        "make the enemy as fast as the player",
        "make the footer the same height as the header",
        "write a function like map but for trees",
        "move the form below the header like on mobile",
        "reflect the lamp in the water like in real life",
        "as for the cache, purge it daily",
        "as far as I can tell the cache is never purged",
        "rename the module as you like",
        "copy the settings from staging.tf to prod.tf",
        "write it like we talk",
    ],
)
def test_an_order_that_points_to_what_is_here_does_not_ask(prompt: str) -> None:
    assert shape.of(prompt) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "migrate the profile screen to Compose like the settings screen",
        "give the bats the same separation as the moths",
        "write the lever script in our GDScript style",
    ],
)
def test_an_order_that_only_compares_possibly_asks_for_earlier_work(prompt: str) -> None:
    asked = shape.of(prompt)

    assert asked is not None
    assert asked.grade == POSSIBLE


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("add a message queue, and stick to our buffer rule", "buffer rule"),
        ("when did we change our cache policy for images?", "when our cache policy for images?"),
    ],
)
def test_an_order_is_about_the_rule_that_it_names_and_a_question_about_all_of_it(prompt: str, topic: str) -> None:
    asked = shape.of(prompt)

    assert asked is not None
    assert asked.topic == topic


def test_an_error_is_looked_up_without_the_modules_that_others_share() -> None:
    asked = shape.of('sqlalchemy.exc.OperationalError: (psycopg.OperationalError) connection to server at "db" failed')

    assert asked is not None
    assert asked.topic == 'OperationalError: (OperationalError) connection to server at "db" failed'


@pytest.mark.parametrize("prompt", ["invoice footer: center the page numbers", "sidebar: make the links blue"])
def test_an_order_behind_a_label_names_nothing_that_is_looked_for(prompt: str) -> None:
    assert shape.look_up(prompt) is None
    assert shape.look_up("invoice footer: page numbers") is not None


@pytest.mark.parametrize(
    ("line", "is_error"),
    [
        ('psycopg.errors.ObjectInUse: database "test_ledger" is being accessed by other users', True),
        ("sqlalchemy.exc.NoResultFound: No row was found when one was required", True),
        ("requests.exceptions.ReadTimeout: timed out", True),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", True),
        ("com.acme.Service: started in 3 s", False),
        ("src.errors.handler: rename it", False),
        ("use console.error: the pipeline hides stdout", False),
        ("window.onerror: report it", False),
    ],
)
def test_an_error_is_known_by_the_module_of_its_name(line: str, is_error: bool) -> None:
    assert (failures.error_line(line) == line) is is_error


@pytest.mark.parametrize("language", sorted({"", "en", "error", *phrases.ASKING, *languages.unspaced()}))
def test_only_languages_with_substrings_are_taken_for_unspaced(language: str) -> None:
    assert languages.is_unspaced(language) is (language in languages.unspaced())


def test_the_first_line_of_npm_tells_its_error() -> None:
    pasted = "npm ERR! code EBADENGINE\nnpm ERR! engine Unsupported engine\nnpm ERR! A complete log can be found in /x"

    assert failures.error_line(pasted) == "npm ERR! code EBADENGINE"


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("devnonce bug", "devnonce"),
        ("you suggested backoff, what were the numbers?", "you backoff, what were the numbers?"),
        ("why do we need the supercap?", "why do the supercap?"),
    ],
)
def test_what_was_told_and_needed_is_searched_by_what_it_is_about(prompt: str, topic: str) -> None:
    found = shape.of(prompt) or shape.look_up(prompt)

    assert found is not None
    assert found.topic == topic


@pytest.mark.parametrize(
    ("prompt", "grade"),
    [
        ("could you please tell me at which value we put the threshold", SURE),
        ("I wonder why we ended up on LightGBM", SURE),
        ("not sure we ever settled Karpenter vs. the autoscaler", SURE),
        ("do you happen to know what values node calibration took", LIKELY),
        ("can I ask you what happened with the lock of the pipeline?", SURE),
        ("I had the impression that we fixed the jitter", LIKELY),
        ("may I ask why CatBoost lost against LightGBM?", LIKELY),
        ("no clue anymore why we set prevent_destroy", SURE),
        ("would you kindly tell me how the dry point is written to a node?", POSSIBLE),
    ],
)
def test_a_question_in_a_polite_or_doubtful_frame_asks_like_the_bare_one(prompt: str, grade: int) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == grade


@pytest.mark.parametrize(
    "prompt",
    [
        "there was something about save migration for old versions",
        "someone mentioned that nodes couldn't join in the field",
        "I heard that an RDS instance nearly got destroyed",
        "I seem to remember that rocks were the problem in the canyon",
        "are we sure that no feature looks past the cutoff?",
        "haven't we seen this with the feature notebook?",
        "next step for the moisture calibration?",
        "what speaks against FreeRTOS",
        "down to how many draw calls did the canyon get",
        "storage_encrypted - any gotchas we know of?",
    ],
)
def test_vague_knowledge_and_a_wish_for_certainty_likely_ask(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == LIKELY


@pytest.mark.parametrize(
    "prompt",
    [
        "I wonder whether numpy 2 breaks this, try it",
        "not sure if this import is needed, check it",
        "there was a typo in the last commit message, amend it",
        "I heard zephyr 4 is out, upgrade",
        "not sure why the plot is empty, take a look",
        "please tell me which resources will be replaced by this plan",
        "could you tell me how signals work?",
        "tell me how shaders get compiled in godot",
        "I'm not sure what isotonic calibration does, explain",
        "there was some whitespace in the file, remove it",
        "I heard spot got cheaper, calculate the price for our node group",
        "haven't we got an output for the id in this module?",
        "it turned out that the sensor pin is 5, not 4",
    ],
)
def test_doubt_about_what_is_at_hand_hardly_asks(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is None or found.grade <= POSSIBLE


@pytest.mark.parametrize(
    "prompt",
    [
        "we moved it, no idea where",
        "the build is red, we know why",
        "he left, we don't know why",
        "the build is red, we found out why",
        "the limit is gone, we realized why",
        "the cache is warm, we figured out how",
    ],
)
def test_telling_whether_one_knows_asks_nothing(prompt: str) -> None:
    assert shape.of(prompt) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "I wish we had that",
        "would be nice if we had this",
        "users should know our preferences page",
        "make the daemon respect my preferences file",
        "the settings page does not respect my preferences",
        "check the logs, who restarts the pod and why",
    ],
)
def test_wishes_and_what_is_at_hand_ask_nothing(prompt: str) -> None:
    assert shape.of(prompt) is None


@pytest.mark.parametrize(
    ("prompt", "grade"),
    [
        ("¿a cuántos ms pusimos el buffer de interpolación?", SURE),
        ("a quanto abbiamo messo il boost", SURE),
        ("qué pasaba con el DevNonce de los nodos", LIKELY),
        ("como a gente resolveu a perda dos save files", SURE),
        ("из-за чего watchdog сбрасывал плату?", LIKELY),
        ("on avait pas écarté FreeRTOS ?", SURE),
        ("combien de mémoire prend le notebook depuis Polars", POSSIBLE),
        ("interpolation buffer 몇 ms로 했지", LIKELY),
        ("Zephyr oder FreeRTOS, was war da jetzt der Plan", LIKELY),
        ("threshold 最后定的是多少", LIKELY),
        ("relay de prueba, qué habíamos cambiado", SURE),
        ("in welcher Währung speichern wir Preise", LIKELY),
    ],
)
def test_a_question_word_behind_a_preposition_or_a_comma_asks_in_any_language(prompt: str, grade: int) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.language != "en"
    assert found.grade == grade


_STORY = (
    "The new contractor starts on Monday and will work on the update path. I have to prepare slides for the head of "
    "analytics too, and the office moves. "
)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Why did we keep the watchdog at two seconds?", "Why did keep the watchdog at two seconds?"),
        (
            "He wants it short, so: how many milliseconds of buffer did remote karts have?",
            "how many milliseconds of buffer did remote karts have?",
        ),
    ],
)
def test_a_question_at_the_end_of_a_story_is_about_its_own_words(question: str, topic: str) -> None:
    found = shape.of(_STORY + question)

    assert found is not None
    assert found.topic == topic


def test_a_question_that_names_nothing_is_about_the_sentence_before_it() -> None:
    found = shape.of(f"{_STORY}He asked for a longer watchdog timeout. We decided against it last week, why?")

    assert found is not None
    assert "watchdog" in found.topic
    assert "slides" not in found.topic


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("did karpenter ever get merged?", "did karpenter"),
        ("how much faster did the notebook get?", "how much did the notebook get?"),
        ("speed of the notebook before and after?", "speed of the notebook and"),
        ("how slow is the notebook now vs before", "how is the notebook now"),
        ("what happened to the memory of the notebook?", "what to the memory of the notebook?"),
    ],
)
def test_words_of_what_came_of_it_are_not_the_subject(prompt: str, topic: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.topic.split() == topic.split()


@pytest.mark.parametrize(
    ("prompt", "grade", "topic"),
    [
        ("do i prefer tabs or spaces?", LIKELY, "do i tabs or spaces?"),
        ("what's my preference on commit messages", LIKELY, "my on commit messages"),
        ("what is our preferred date format?", LIKELY, "what is our preferred date format?"),
        ("tabs or spaces, what was my preference?", LIKELY, "tabs or spaces, what was my"),
    ],
)
def test_ones_own_preference_is_asked_of_the_past(prompt: str, grade: int, topic: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert (found.grade, found.topic) == (grade, topic)


@pytest.mark.parametrize("prompt", ["my preference is tabs, use them", "I'd prefer tabs", "do you prefer tabs?"])
def test_a_preference_that_is_told_asks_nothing(prompt: str) -> None:
    assert shape.of(prompt) is None and shape.look_up(prompt) is None


@pytest.mark.parametrize(
    ("prompt", "language", "topic"),
    [
        ("wieviel coyote time haben wir", "de", "coyote time"),
        ("behind wich feature flag is llvm", "en", "behind which feature flag is llvm"),
        ("what is still open from the bigquery cost thing", "en", "what is from the bigquery cost"),
        ("gönderme aralığını neden değiştirdik", "tr", "gönderme aralığını değiştirdik"),
        ("dizini kim taşıdı", "tr", "dizini taşıdı"),
        ("谁加的硬件联锁", "zh", "加的硬件联锁"),
        ("почему нельзя трогать M3", "ru", "трогать M3"),
        ("pourquoi il ne faut pas toucher à l'index", "fr", "ne toucher index"),
        ("cosa abbiamo cambiato nell'importazione", "it", "cambiato importazione"),
        ("wat deden we met de importer", "nl", "importer"),
        ("was gilt jetzt als Frist", "de", "Frist"),
        ("welche Farbe haben die Knöpfe, da hatte ich doch was gesagt", "de", "Farbe Knöpfe, ich"),
    ],
)
def test_other_spellings_and_prepositions_ask_as_well(prompt: str, language: str, topic: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert (found.language, found.topic) == (language, topic)


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("did we ever find out why ERESOLVE happened?", "why ERESOLVE"),
        ("how did we get test_publish stable", "how did test_publish stable"),
        ("what did we do when it ran out of memory?", "what when it ran out of memory?"),
    ],
)
def test_finding_out_and_getting_are_not_the_subject(prompt: str, topic: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert " ".join(found.topic.split()) == topic


@pytest.mark.parametrize("prompt", ["npm run build", "cargo clippy --fix", "kubectl get pods -n monitoring"])
def test_a_command_names_nothing_that_is_looked_for(prompt: str) -> None:
    assert shape.look_up(prompt) is None


@pytest.mark.parametrize(
    "prompt", ["docker build fails", "terraform state lock", "npm install ERESOLVE", "helm push 403"]
)
def test_what_is_looked_for_of_a_command_may_ask(prompt: str) -> None:
    found = shape.look_up(prompt)

    assert found is not None and found.grade == POSSIBLE


def test_a_german_order_to_make_something_resumes_nothing() -> None:
    assert shape.of("mach die Startseite schöner") is None
    found = shape.of("Mach beim Parser weiter")
    assert found is not None and found.resumes


@pytest.mark.parametrize(
    "prompt",
    [
        "how do materialized views work?",
        "how to read a core dump",
        "how do i set up a foreground service in kotlin",
        "how can I subset a font?",
        "what are dynamic properties in php",
        "what happens if a leap second is inserted?",
        "what would happen if two runners apply at once",
        "why are leap seconds needed",
        "who invented kahan summation?",
        "how does kahan summation differ from pairwise summation",
        "when was kahan summation first published",
        "what changed in this file?",
        "where should i put this file",
        "wie schreibt man einen Parser in Swift?",
        "wie viele Zeilen hat diese Datei",
        "¿cuántas líneas tiene este archivo?",
        "wie funktioniert ein Foreground Service",
        "was ist der Unterschied zwischen ETS und ARIMA",
        "quelle est la différence entre pgf et tikz ?",
        "¿cuál es la diferencia entre drift e isar?",
        "comment fonctionne la récursion terminale ?",
        "¿cómo funciona un mutex?",
        "come funziona un mutex?",
        "zeig mir die funktion in import.pl",
        "Was macht diese Funktion?",
        "did the tests pass?",
        "is the build green?",
        "did CI pass",
        "that error in the console comes from the extension",
    ],
)
def test_a_question_about_things_in_general_is_not_about_earlier_work(prompt: str) -> None:
    found = shape.look_up(prompt)

    assert shape.of(prompt) is None
    assert found is None or found.grade == NOT


@pytest.mark.parametrize(
    ("prompt", "grade", "topic"),
    [
        ("how do we run the soak test?", LIKELY, "run the soak test"),
        ("how do I flash the rev C board?", POSSIBLE, "flash the rev C board"),
        ("how do i run the soak test again", POSSIBLE, "run the soak test"),
        ("what are the open questions on the relay?", POSSIBLE, "open questions on the relay"),
        ("why are these relays needed by us?", LIKELY, "relays"),
        ("wie funktioniert unser Import?", LIKELY, "Import"),
        ("warum funktioniert der Import nicht?", LIKELY, "Import"),
        ("ab welcher Kundennummer waren Namen kaputt", LIKELY, "Kundennummer Namen kaputt"),
        ("wie viele Rechnungen waren davon betroffen", LIKELY, "Rechnungen"),
        ("wie viele Rechnungen liegen noch", POSSIBLE, "Rechnungen liegen noch"),
        ("bis wann mussten wir die Rechnungen schicken", SURE, "Rechnungen schicken"),
        ("cuántas facturas había en la cola", LIKELY, "facturas cola"),
        ("cuánta memoria usaba el checkpoint antes", SURE, "memoria usaba checkpoint"),
        ("worauf warten wir bei Figure 3", LIKELY, "warten Figure 3"),
        ("what are we waiting for in the paper", SURE, "waiting for in the paper"),
        ("what's still to do for the relay", SURE, "relay"),
        ("the relay was replaced because of what", LIKELY, "relay was replaced because"),
        ("the thing with the font getting too big", LIKELY, "font getting too big"),
        ("the nat thing, how many TB", LIKELY, "the nat how many TB"),
        ("how much slower is the relay", POSSIBLE, "relay"),
        ("where do the alerts go now", LIKELY, "alerts"),
        ("why not embassy anymore", LIKELY, "why not embassy"),
        ("how many times did we change our mind about the relay", SURE, "the relay"),
        ("relay, was war da falsch", LIKELY, "relay,"),
        ("bad device token - had that", LIKELY, "bad device token"),
        ("what came of the relay idea", LIKELY, "what of the relay"),
        ("how expensive was the relay", LIKELY, "how was the relay"),
        ("did the tests pass last week?", SURE, "did the tests pass"),
        ("did the payment tests pass?", LIKELY, "did the payment tests pass"),
        ("is jonas bringing the board this week?", POSSIBLE, "jonas bringing the board"),
    ],
)
def test_a_question_that_points_to_something_known_asks(prompt: str, grade: int, topic: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == grade
    assert topic in found.topic


@pytest.mark.parametrize(
    ("prompt", "grade"),
    [("the phone pairing crash", POSSIBLE), ("that error in the relay", POSSIBLE), ("the first crash dump", None)],
)
def test_what_is_pointed_at_as_a_problem_is_named(prompt: str, grade: int | None) -> None:
    found = shape.look_up(prompt)

    assert (found.grade if found else None) == grade


@pytest.mark.parametrize("prompt", ["the thing is done", "the button needs another thing", "add the thing with tabs"])
def test_a_thing_at_hand_asks_nothing(prompt: str) -> None:
    assert shape.of(prompt) is None


@pytest.mark.parametrize(
    ("question", "is_fact"),
    [
        ("who has the rev c board", True),
        ("name of the new server?", True),
        ("wer prüft den vertrag", True),
        ("wie lange dauert der import", True),
        ("quién guarda la clave", True),
        ("wie funktioniert der import", False),
        ("why is the server new", False),
        ("pourquoi le serveur est lent", False),
    ],
)
def test_a_question_for_a_single_fact_is_told_from_one_for_an_explanation(question: str, is_fact: bool) -> None:
    assert facts.asks_a_fact([prose.fold(word) for word in question.split()]) is is_fact


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("what did we decide about sessions?", "what about sessions?"),
        ("how long do sessions last now for staff", "how do sessions now for staff"),
        ("how did we sync notes between tablets?", "how did sync notes between tablets?"),
        ("did we fix sessions?", "sessions?"),
        ("why are the sessions logged out", "why are the sessions logged out"),
        ("what did we do in the last sessions", ""),
        ("any notes on the kiosk?", "any on the kiosk?"),
        ("what do my notes say about redis", "about redis"),
        ("search your notes for redis", "for redis"),
        ("what was decided in earlier sessions about redis", "in about redis"),
    ],
)
def test_sessions_and_notes_of_a_program_are_a_subject_and_those_of_the_journal_are_not(
    prompt: str, topic: str
) -> None:
    asked = shape.of(prompt)

    assert asked is not None
    assert asked.topic == topic


@pytest.mark.parametrize(
    ("prompt", "grade"),
    [
        ("sync.Poolを入れた理由", LIKELY),
        ("PCENでNaNになる原因は？", LIKELY),
        ("limitcheck のエラーの対処", LIKELY),
        ("stripe webhook 重复的问题怎么解决的", LIKELY),
        ("CUDA_HOME 是怎么设置的？", LIKELY),
        ("选 Solid Queue 的原因", LIKELY),
        ("ulimit을 올린 이유", LIKELY),
        ("原因を調べて直して", None),
        ("理由をコメントに書いて", None),
        ("把原因写进 README", None),
    ],
)
def test_a_noun_or_an_ending_asks_in_a_language_without_question_marks(prompt: str, grade: int | None) -> None:
    asked = shape.of(prompt)

    assert (asked.grade if asked else None) == grade


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("what is the hourly rate currently?", "what is the hourly rate"),
        ("what is the hourly rate these days?", "what is the hourly rate"),
        ("wie hoch ist der Stundensatz derzeit?", "Stundensatz"),
        ("quel est actuellement le tarif horaire ?", "tarif horaire ?"),
        ("¿cuál es actualmente la tarifa?", "tarifa?"),
        ("qual è attualmente la tariffa?", "tariffa?"),
        ("现在用哪家配送？", "用 家配送"),
    ],
)
def test_what_is_in_force_now_is_likely_asked_of_earlier_work(prompt: str, topic: str) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert (found.grade, " ".join(found.topic.split())) == (LIKELY, topic)


@pytest.mark.parametrize(
    "prompt",
    [
        "what does the search currently return for an empty field?",
        "現在このファイルは何をしていますか？",
        "现在这个文件做什么？",
        "현재 이거 뭐 해?",
        "was macht diese Datei derzeit?",
    ],
)
def test_what_the_code_at_hand_does_now_is_not_likely_asked_of_earlier_work(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is None or found.grade < LIKELY


@pytest.mark.parametrize(
    ("prompt", "grade"),
    [("wegen wem wurden die Logs verkürzt?", LIKELY), ("最开始配送费是多少？", SURE), ("当初为什么没选顺丰？", SURE)],
)
def test_whom_it_concerned_and_how_it_began_is_asked_of_the_past(prompt: str, grade: int) -> None:
    found = shape.of(prompt)

    assert found is not None
    assert found.grade == grade


def test_what_something_costs_is_not_counted_in_the_files_in_chinese() -> None:
    cost, lines = shape.of("100 积分抵多少钱？"), shape.of("cache.go 有多少行？")

    assert cost is not None
    assert lines is not None
    assert not at_hand.counts(cost)
    assert at_hand.counts(lines)


@pytest.mark.parametrize("prompt", ["ok: …", "fix it, …", "We changed it, …", "ja, …", "danke: -"])
def test_a_prompt_that_ends_without_words_behind_a_comma_asks_for_nothing(prompt: str) -> None:
    found = shape.of(prompt)

    assert found is None or found.grade < LIKELY


def test_what_if_anything_asks_for_the_past_unlike_what_if() -> None:
    assert shape.of("what if anything was changed in the mailer")
    assert shape.of("what if it had changed in the mailer") is None
