"""Facts: recognizes questions for a single fact, or for a command, as opposed to those for an explanation."""

from __future__ import annotations

from itertools import pairwise

from mdmem.named_tuple import NamedTuple
from mdmem.search.asking import english, frames, general, prose
from mdmem.search.asking.orders import word_set

_FACTS = word_set(
    "which who whom whose when wer wen wem wann welche welcher welches welchen wieviel wieviele qui quand quel quelle "
    "quels quelles combien quien cuando cual cuales cuanto cuanta cuantos cuantas quem quando qual quanto quantos chi "
    "quale quali quanti"
)
"""In several languages, without words that mean something else in another one."""
DEGREES = word_set(
    "big large small long short high low often fast far old young wide narrow deep thick thin tall heavy light hot "
    "cold warm loud bright strong dense slow hard expensive costly cheap"
)
"""Words after `how` that are what is asked for, not the subject."""
_HOW = word_set("how hows wie")
_MUCH = DEGREES | word_set("many much viel viele hoch gross lange oft schnell weit")


def asks_a_fact(words: list[str]) -> bool:
    """Whether a question asks for a single fact: `which`, `who`, `when`, `how big`, `name of the server?`."""
    if not _FACTS.isdisjoint(words[:2]) or words[1:2] == ["of"]:
        return True
    return any(words[at] in _HOW and words[at + 1] in _MUCH for at in range(min(2, len(words) - 1)))


def asks_what_held(words: list[str]) -> bool:
    """Whether a question asks for what was so for some time: `what limit did it have in May?`, `how fast was it?`.

    What was done, how often something happened, and several things that people had are of the days that it names.
    """
    if words[:1] == ["how"] and not _MUCH.isdisjoint(words[1:2]):
        return (words[1] in DEGREES and words[2:3] in (["was"], ["were"])) or not _KEPT.isdisjoint(words)
    at = next((at for at, word in enumerate(words) if word in _DID), 0)
    if words[:1] not in (["what"], ["which"]) or at < 2:
        return False
    noun = words[at - 1]
    is_used = words[at] == "was" and words[at + 1 : at + 2] in (["used"], ["kept"])
    if noun.endswith("s") and not noun.endswith("ss") and english.SUBJECTS.intersection(words[at + 1 : at + 2]):
        return False
    held = _HELD | _RUN if noun in _VERSIONS else _HELD
    return is_used or any(word in held and after != "to" for word, after in pairwise([*words[at + 1 :], ""]))


_DID = word_set("did do does was were is are have has had ran")
_KEPT, _HELD = word_set("keep kept"), word_set("have use keep")
_RUN, _VERSIONS = word_set("run"), word_set("version release")


# -- commands --------------------------------------------------------------------------------------


class WantedCommand(NamedTuple):
    """What a sentence asks the command for.

    language, sentence: of the question. topics: the keys of `TOPICS` that it names. names: the other words that the
    command must have, folded, such as a script's name. words: all of these as typed.
    """

    language: str
    sentence: str
    topics: tuple[str, ...]
    names: tuple[str, ...]
    words: tuple[str, ...]


MAX_CHARS = 160
"""A longer prompt asks for more than a command."""
MAX_NAMES = 3
"""A question with more words of its own asks for something else."""
TOPICS = {
    topic: word_set(words)
    for topic, words in {
        "test": "test tests testing tested specs testsuite suite testen testet teste tester prueba pruebas probar "
        "testar testes testare",
        "build": "build builds building built compile compiles compiling compiled compilation bauen baue baut gebaut "
        "kompilieren kompiliere compiler construire construir construyo compilar compilo compilare bouw bouwen",
        "lint": "lint lints linter linters linting linten",
        "format": "format formats formatter formatting formatieren formatiere formater formatear formateo formatar",
        "server": "server serve serves serving app application serveur servidor anwendung aplicacion",
        "deploy": "deploy deploys deployed deploying deployment deployen deploye deployer desplegar despliego "
        "desplegamos ausrollen",
        "release": "release releases released releasing publish publishes published publishing veroffentlichen publier "
        "publicar publico pubblicare",
        "migrate": "migrate migrates migrated migrating migration migrations migrationen migrieren migriere migrar "
        "migraciones migracoes migrazioni migraties",
        "docs": "docs doc documentation doku dokumentation documentacion documentacao documentazione documentatie",
    }.items()
}
"""What commands are for -> the words that name it, in several languages, folded."""


class _Words(NamedTuple):
    """Words of one language that ask for a command, folded.

    how, which: they begin a question. commands: what is asked for, after `which`. runs: verbs of running. here: words
    that point at this project. articles: they point at what it has. others: more words that name nothing.
    """

    how: frozenset[str]
    which: frozenset[str]
    commands: frozenset[str]
    runs: frozenset[str]
    here: frozenset[str]
    articles: frozenset[str]
    others: frozenset[str]


_LANGUAGES = {
    "en": (
        "how hows", "which what whats", "command commands cmd script",
        "up run runs ran running start starts started launch launches launched execute executes executed invoke type",
        "here we our us ours again project repo repository codebase workspace script", "the",
        ("i you one people a an my this that these those it is are was were in on for of to do does did can get gets "
        "all use used uses there last time exactly actually just now usually normally right correct exact full whole "
        "entire unit locally local dev development be code everything"),
    ),
    "de": (
        "wie", "welcher welchem welchen was mit", "befehl kommando",
        "starte starten startet lasse lassen fuhre fuhren ausfuhren gestartet ausgefuhrt",
        "hier wir uns unser unsere unseren projekt", "der die das den dem",
        "welchem laufen ich du man aus nochmal wieder eigentlich ist fur um zu zum kann werden wird diesem in im alle",
    ),
    "fr": (
        "comment", "quelle quel avec", "commande",
        "lance lancer lancez lances lancons demarre demarrer execute executer", "ici on nous notre nos projet",
        "le la les", "quelle je tu l dans ce est pour des de du qui faire peut puis",
    ),
    "es": (
        "como", "que cual con", "comando",
        "ejecuto ejecutar ejecutamos corro correr corremos inicio iniciar arranco arrancar lanzo lanzar se",
        "aqui nuestro nuestra nuestros nuestras nosotros proyecto", "el la los las",
        "es para de del en este que yo puedo",
    ),
    "pt": (
        "como", "que qual com", "comando", "rodo rodar rodamos roda executo executar executamos inicio iniciar",
        "aqui nosso nossa gente projeto", "o a os as", "e se eu neste nesse para de do da no na posso",
    ),
    "it": (
        "come", "quale che con", "comando", "lancio lanciare lanciamo eseguo eseguire eseguiamo avvio avviare avviamo",
        "qui nostro nostra nostri noi progetto", "il lo la i gli le l", "e si io questo in per di del dei posso",
    ),
    "nl": (
        "hoe", "welk welke wat met", "commando opdracht", "draai draaien start starten",
        "hier we wij onze ons project", "de het", "welk draait ik je jij dit in is voor om te kan alle",
    ),
}  # fmt: skip
_SUBJECTS = word_set("i we you one")
_ASKS_IT = word_set("do does did can")
_IS = word_set("is are was were")
_THINGS = word_set(
    "server app application applications serveur servidor anwendung aplicacion docs doc documentation doku "
    "dokumentation documentacion documentacao documentazione documentatie"
)
"""Words of topics that are not verbs: `how do we use our app` asks for no command."""
_MOST_BEFORE = 5
"""The word for a command is among this many words after `which`."""


def command(prompt: str) -> WantedCommand | None:
    """Return what a prompt asks the command for that does it in this project; None if it asks for something else.

    `which command runs the tests here`, `how do we deploy`, `wie starte ich den Server hier`. Without a word that
    points at the project, it asks for what people know: `how do I run tests in pytest`.
    """
    if len(prompt) > MAX_CHARS:
        return None
    wanted = (_in_sentence(sentence) for sentence, _ in prose.sentences(prose.prose(prompt)))
    return next(filter(None, wanted), None)


def _in_sentence(sentence: str) -> WantedCommand | None:
    typed = prose.words(sentence)
    folded = prose.folds(typed)
    words = english.without_leading(frames.clause(folded) or folded)
    if len(words) < 3:
        return None
    for language, classes in _LANGUAGES.items():
        first = words[0]
        if any(first in part.split() for part in classes[:2]):
            spoken = _Words(*map(word_set, classes))
            if _asks(language, spoken, words):
                wanted = _named(language, spoken, words, typed[-len(words) :])
                if wanted is not None:
                    return wanted._replace(sentence=" ".join(sentence.split()))
    return None


def _asks(language: str, spoken: _Words, words: list[str]) -> bool:
    """Whether a sentence has the form of a question for a command. words: from the question word on."""
    first, second, third = words[:3]
    if first in spoken.which and second != "does" and not spoken.commands.isdisjoint(words[1 : 1 + _MOST_BEFORE]):
        return True
    does = spoken.runs.union(*TOPICS.values()) - _THINGS
    if language != "en":
        return first in spoken.how and not does.isdisjoint(words[1:3])
    if first == "what":  # `what do I run for the tests`
        return second in _ASKS_IT and third in _SUBJECTS and not spoken.runs.isdisjoint(words[3:4])
    if first not in spoken.how:
        return False
    if second in _IS:
        return any(word in ("run", "built") or (word in does and word.endswith("ed")) for word in words[3:])
    is_of_somebody = second == "to" or second in _SUBJECTS or (second in _ASKS_IT and third in _SUBJECTS)
    return is_of_somebody and not does.isdisjoint(words[2:6])


def _named(language: str, spoken: _Words, words: list[str], typed: list[str]) -> WantedCommand | None:
    """Return what a question names; None if that is nothing, or may be of any project."""
    topics = tuple(topic for topic, names in TOPICS.items() if not names.isdisjoint(words))
    of_topics = frozenset[str]().union(*TOPICS.values())
    fillers = frozenset[str]().union(*spoken)
    names = [word for word in words if word not in fillers and word not in of_topics]
    is_here = not spoken.here.isdisjoint(words) or general.after(words, {"last"}, {"time"})
    is_here = is_here or not (names or spoken.articles.isdisjoint(words[:-1]))  # `the docs`, not `wie baue ich das`
    if not is_here or not (topics or names) or len(names) > MAX_NAMES:
        return None
    if names and words[:2] == ["how", "did"] and spoken.runs.isdisjoint(words):
        return None  # `how did we build the parser`: what was done
    subject = (as_typed for word, as_typed in zip(words, typed, strict=True) if word in of_topics or word in names)
    return WantedCommand(language, "", topics, tuple(names), tuple(subject))
