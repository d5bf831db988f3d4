"""Analysis: what counts as a word, and which words are the same."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.search.text import abbreviations, analysis
from mdmem.search.text.stem import stem
from mdmem.search.text.stopwords import STOPWORDS


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserID2", ["getuserid2", "get", "user", "id", "2"]),
        ("user_id", ["user_id", "user", "id"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("utf8", ["utf8", "utf", "8"]),
        ("src/api/dates.py", ["src", "api", "date", "py"]),
        ("os.path.join", ["os", "path", "join"]),
        ("running, RUNS, ran", ["run", "run", "run"]),
        ("broke broken breaks; indices", ["break", "break", "break", "index"]),
        ("URLs CVEs", ["url", "cve"]),
        ("Caroline's", ["carolin"]),
        ("don’t", ["don't"]),
        ("Café naïve", ["cafe", "naiv"]),
        ("Prüfe_DateiName", ["prufe_dateinam", "prufe", "datei", "name"]),
        ("Straße, STRASSE", ["strass", "strass"]),
        ("d’Orsay, l'eau", ["d", "orsay", "l", "eau"]),
        ("İstanbul'da", ["istanbul", "da"]),
        ("ＡＢＣ１２", ["abc12", "abc", "12"]),
    ],
)
def test_words_give_their_stems_and_identifiers_their_parts(text: str, terms: list[str]) -> None:
    assert analysis.terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("2018年に東京", ["2018", "年", "に", "東", "京", "年に", "に東", "東京"]),
        ("안녕하세요", ["안", "녕", "하", "세", "요", "안녕", "녕하", "하세", "세요"]),
        ("東", ["東"]),
        ("Python은", ["python", "은"]),
    ],
)
def test_scripts_without_spaces_give_pairs_and_single_characters(text: str, terms: list[str]) -> None:
    assert analysis.terms(text) == terms


def test_words_of_scripts_with_vowel_signs_stay_whole() -> None:
    assert analysis.words("हिन्दी में") == ["हिन्दी", "में"]
    assert analysis.words("สวัสดี hello") == ["สวัสดี", "hello"]


def test_a_question_is_searched_without_function_words_unless_it_has_no_others() -> None:
    assert analysis.query_terms("What did we decide about the date parser?") == ["decid", "date", "parser"]
    assert analysis.query_terms("to be or not to be") == ["to", "be", "or", "not"]


@pytest.mark.parametrize(
    "forms",
    [
        "программа программу программами Программы", "θάλασσα θάλασσας ΘΑΛΑΣΣΏΝ", "книга книги Книгу", "база базы",
        "الكتاب كتاب والكتاب بالكتاب كتابها", "مدرسة المدرسه المدرسة", "ספרים הספרים", "लड़का लड़के लड़कों",
    ],
)  # fmt: skip
def test_forms_of_a_word_in_other_alphabets_are_one_word(forms: str) -> None:
    assert len(set(analysis.terms(forms))) == 1


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("Wie heißt die Hauptstadt von Frankreich?", True),
        ("¿Cuál es la capital de Francia?", True),
        ("Türkiye'nin başkenti neresidir", True),
        ("Why does the café's de facto parser fail?", False),
        ("os path join", False),
        ("du disk usage", False),
        ("der pem certificate", False),
        ("naïve bayes", False),
        ("dự án này dùng cơ sở dữ liệu nào", False),
        ("什么是 parser", False),
        ("Почему падает парсер дат?", False),
    ],
)
def test_a_question_in_another_language_is_known_by_its_function_words(question: str, foreign: bool) -> None:
    assert analysis.is_foreign(question) == foreign


def test_a_question_in_another_language_is_searched_without_its_function_words() -> None:
    assert analysis.query_terms("Wie ist die Hauptstadt von Frankreich?") == ["die", "hauptstadt", "frankreich"]
    assert analysis.query_terms("az login fails") == ["az", "login", "fail"]


def test_a_question_in_ideographs_is_searched_by_pairs_alone() -> None:
    assert analysis.query_terms("東京都") == ["東京", "京都"]
    assert analysis.query_terms("京") == ["京"]


def test_very_long_words_are_cut_and_not_taken_apart() -> None:
    assert analysis.terms("aB3" * 1000) == [("ab3" * 1000)[: analysis.MAX_WORD_CHARS]]


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("connections", "connect"), ("connecting", "connect"), ("hopping", "hop"), ("hoping", "hope"), ("skies", "sky"),
        ("dying", "die"), ("generate", "generat"), ("general", "general"), ("relational", "relat"), ("happy", "happi"),
        ("say", "say"), ("sensational", "sensat"), ("controllable", "control"), ("caresses", "caress"), ("gas", "gas"),
        ("agreed", "agre"), ("succeeds", "succeed"), ("news", "news"), ("ability", "abil"), ("y", "y"),
    ],
)  # fmt: skip
def test_stems_are_those_of_the_porter2_rules(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


@pytest.mark.parametrize(("plural", "name"), [("pdfs", "pdf"), ("svgs", "svg"), ("prs", "pr"), ("vms", "vm")])
def test_the_plural_of_an_abbreviation_is_its_name_in_any_letter_case(plural: str, name: str) -> None:
    upper = f"{name.upper()}s"

    assert analysis.terms(f"{plural} {upper} {name} {name.upper()}") == [name] * 4
    places = analysis.WordFinder([name]).places(f"{plural} {upper}")
    assert [start for start, _, _ in places] == [0, len(plural) + 1]


@pytest.mark.parametrize("name", ["dns", "tls", "https", "css"])
def test_a_name_that_ends_in_an_s_is_no_plural(name: str) -> None:
    assert analysis.terms(name) == analysis.terms(name.upper()) == [name]


def test_stems_agree_with_another_implementation_of_the_same_rules() -> None:
    snowball = pytest.importorskip("whoosh.lang.snowball.english").EnglishStemmer()
    endings = "s es ed ing ly ness ful ation ational ousness iveness ability ize ment ence ical er y ies ied 's"
    roots = "comput connect rel argu hop hopp fl sk happ gener univers control form act creat trad nat vis org plan"
    words = [root + ending for root in roots.split() for ending in endings.split()]
    assert [word for word in words if stem(word) != snowball.stem(word)] == []


def test_an_abbreviation_and_its_word_find_each_other() -> None:
    (directory,) = analysis.terms("directories")
    assert "dir" in abbreviations.SHORT.others(directory)
    assert directory in abbreviations.SHORT.others("dir")
    assert abbreviations.SHORT.others("zebra") == ()


def test_function_words_are_written_as_words_are_folded() -> None:
    assert {analysis.words(word)[0] for word in STOPWORDS} == STOPWORDS


@given(st.text(max_size=200))
def test_a_word_is_the_same_with_and_without_an_apostrophe_elsewhere_in_the_text(text: str) -> None:
    alone = text.replace("'", " ")

    assert analysis.words(f"{alone} can't") == [*analysis.words(alone), "can't"]


@given(st.text(max_size=200))
def test_any_text_gives_terms_and_the_index_counts_what_a_question_asks(text: str) -> None:
    counts = analysis.counts(text)
    assert sum(counts.values()) == len(analysis.terms(text))
    assert set(analysis.query_terms(text)) <= set(counts)


@given(st.text(max_size=200))
def test_words_are_found_where_they_stand(text: str) -> None:
    wanted = set(analysis.terms(text))
    for start, end, terms in analysis.WordFinder(wanted).places(text):
        assert 0 <= start < end <= len(text)
        assert set(analysis.terms(text[start:end])) >= set(terms)


WORDS = ("skies", "running", "getUserID", "user_id", "dying", "Café", "東京都", "안녕", "don't", "flies", "HTTP2")


@given(st.lists(st.sampled_from(WORDS)))
def test_every_wanted_word_is_found(words: list[str]) -> None:
    text = ", ".join(words)
    for word in words:
        wanted = set(analysis.query_terms(word)) or set(analysis.terms(word))
        assert any(not wanted.isdisjoint(terms) for _, _, terms in analysis.WordFinder(wanted).places(text))


def test_ids_that_no_other_note_has_are_not_kept_in_memory() -> None:
    tracemalloc.start()
    try:
        for number in range(20_000):
            analysis.counts(f"x{number}y{number * 7919}z")
        assert tracemalloc.get_traced_memory()[0] < 3_000_000
    finally:
        tracemalloc.stop()
