"""Languages: closed word classes, one row per language: question words, "we", past verbs, past times, resumptions.

No word here names a subject. All are written as `prose.fold` writes them: lower case, without accents or apostrophes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from mdmem.search.asking.unspaced import Unspaced


class Language:
    """One language's closed word classes, each a string of words.

    asks: words that begin questions. why: those that ask for a reason, which lies in the past. we: the user and the
    agent.
    past: words only in sentences about the past. back: past times. resumes: resuming work. again: something has come
    back.
    counts: asking for a number. was: with these, for one in the past. explains: asking how something works in general.
    here: pointing at the work at hand. notes: names for memories. other: more words that identify the language.
    now: present times, with which a question is about the state that earlier work has brought about. looks: verbs of
    what something does or shows at present, which the current files tell.
    points: pronouns for what was spoken of before, no articles.
    begins: what else asks as the first word.
    be: words that tell of the past with a participle that has one of `be_ends`, with accents: `ist passiert`.
    have: words of `past` that are in the present without a participle. may: words that look like those of `past`, with
    accents, but propose something. how: asking how to do something, before an infinitive with one of `infinitives` or,
    after one word, one of `anyone`.
    same: with these, `likens` and one of `places` point to earlier work: `denselben Weg wie beim Import`.
    anywhere: asking wherever they stand, as verbs come last.
    endings: endings of verbs that mean "we did". not_ends: words with such an ending but another meaning. past_ends:
    endings of past verbs, with accents.
    """

    def __init__(self, asks: str, we: str, past: str, back: str, resumes: str, **more: str) -> None:
        asks = f"{asks} {more.get('why', '')}"
        self._classes = {"asks": asks, "we": we, "past": past, "back": back, "resumes": resumes, **more}
        self._sets: dict[str, frozenset[str]] = {}
        self._known: frozenset[str] | None = None

    def of(self, name: str) -> frozenset[str]:
        """Return a class; built on demand, because every prompt is judged and most need none."""
        if name not in self._sets:
            self._sets[name] = frozenset(self._classes.get(name, "").split())
        return self._sets[name]

    def has(self, name: str, words: Collection[str]) -> bool:
        """Whether any of the words is in a class."""
        return not self.of(name).isdisjoint(words)

    def known(self, words: Collection[str]) -> int:
        """Return how many of the words are in any class."""
        if self._known is None:
            classes = [text for name, text in self._classes.items() if not name.endswith("ends") and name != "endings"]
            self._known = frozenset(" ".join(classes).split())
        known = self._known
        return sum([word in known for word in words])

    def speaks_of_us(self, words: Collection[str], typed: Collection[str]) -> tuple[bool, bool]:
        """Return whether the words say "we", and whether they speak of the past. typed: the words with accents."""
        spoken = self.of("past").intersection(words) - self.of("have")
        told = spoken and not self.has("may", typed)
        past = bool(told) or (self.has("have", words) and any(map(is_participle, words)))
        past = past or (self.has("be", words) and self._tells_what_happened(list(typed)))
        we = self.has("we", words)
        past_ends, endings = tuple(self.of("past_ends")), tuple(self.of("endings"))
        if past_ends and not past:
            past = any(len(word) > 3 and word.endswith(past_ends) for word in typed)
        if endings and not (we and past):
            others = self.of("not_ends")
            ends = any(len(word) > 5 and word.endswith(endings) and word not in others for word in words)
            return we or ends, past or ends
        return we, past

    def _tells_what_happened(self, typed: list[str]) -> bool:
        """Whether a word of `be` stands before a participle or right after it: `was passiert ist`."""
        ends = tuple(self.of("be_ends"))
        at = next((at for at, word in enumerate(typed) if word.endswith(ends)), 0)
        return at > 0 and self.has("be", [*typed[:at], *typed[at + 1 : at + 2]])

    def likened(self, words: list[str]) -> int:
        """Return where words name the earlier work to which they point, as in `gleich wie beim X`; 0 if they do not."""
        if not self.has("same", words):
            return 0
        likens, places = self.of("likens"), self.of("places")
        after = range(2, len(words))
        at = next((at for at in after if words[at - 2] in likens and words[at - 1] in places), 0)
        return 0 if _NO_WORK.intersection(words[at:]) else at

    def asks_how_to(self, words: list[str]) -> bool:
        """Whether words ask how to do something: `wie lese ich`, `comment signer`. words: from the question word on."""
        after, person = (*words[1:3], "", "")[:2]
        is_how = self.has("how", words[:1]) and len(words) > 3 and not self.has("here", words)
        if not is_how or after in self.of("past") - self.of("may"):
            return False
        return after.endswith(tuple(self.of("infinitives")) or "\0") or person in self.of("anyone")


_NO_WORK = frozenset(
    """beispiel bild entwurf doku anderen exemple maquette documentation doc autres ejemplo imagen otros exemplo imagem
    outros esempio immagine altri voorbeeld plaatje anderen readme mockup screenshot figma zeile oben unten
    ligne linea linha riga""".split()
)
"""What is not earlier work: `mach es so wie im Bild`."""


def is_participle(word: str) -> bool:
    """Whether a word looks like a German participle: `gemacht`, `umgestellt`, `verschoben`, `migriert`, `deployed`."""
    if not word.endswith(("t", "en", "an", "ed")) or (word.endswith("ungen") and not word.startswith("ge")):
        return False
    at = word.find("ge")
    has_ge = -1 < at < _LONGEST_PREFIX and len(word) > at + 4
    return has_ge or word.endswith(("iert", "tet", "ed")) or word.startswith(_INSEPARABLE)


_INSEPARABLE = tuple("be ver er ent zer emp miss uber unter hinter um durch voll wider wieder".split())
_LONGEST_PREFIX = 8


LANGUAGES: dict[str, Language] = {
    "de": Language(
        "was wie warum wieso weshalb wann wo woher wofur woran worauf woruber wozu womit welche welcher welches "
        "welchen welchem wer wen wem wessen wieviel wieviele",
        "wir uns unser unsere unseren unserem",
        "haben hatten hatte hat habe war waren wurde wurden gewesen musste mussten sollte sollten wollte wollten "
        "konnte konnten durfte durften brach ging kam lief fiel blieb hing schlug verlor",
        "damals gestern vorgestern neulich letztens zuletzt fruher bereits schon vorher zuvor kurzlich letzte letzten "
        "letzter letztes letztem vorige vorigen voriger voriges vorigem vergangene vergangenen vergangener seit",
        "weiter weitermachen fortsetzen fortfahren aufgehort stehengeblieben geblieben anknupfen weiterarbeiten",
        why="warum wieso weshalb weswegen",
        counts="viele viel wieviel wieviele",
        was="war waren wurde wurden",
        explains="funktioniert funktionieren bedeutet bedeuten man unterschied",
        have="haben habe hat",
        be="ist sind bin",
        be_ends="passiert geschehen gekommen gegangen geworden gewesen geblieben gelaufen gefallen gestiegen gesunken "
        "gezogen gewechselt gesprungen gestürzt gescheitert gewachsen entstanden verschwunden verloren",
        same="denselben dieselben dieselbe dasselbe demselben derselben selben gleiche gleichen gleicher gleich "
        "genauso so",
        likens="wie",
        places="bei beim in im fur mit",
        may="sollte sollten könnte könnten müsste müssten dürfte dürften",
        how="wie",
        anyone="ich man",
        again="wieder erneut nochmal nochmals",
        notes="notizen notiz erinnerungen",
        here="dieser diese dieses diesen diesem mein meine meinen hier",
        other="der die das da den dem ein eine einen und ist sind nicht mit im auf fur von beim macht gab gabs gibt "
        "vom ins hoch gross lang lange oft schnell weit vor eigentlich mehr so dass "
        "es zum zur uber in aus bei nach bis mach wird werden kann konnen darf durfen soll sollen muss mussen sich nur "
        "er ihn ihm sie ihr ihnen wegen jemals benutzen benutzt verwenden verwendet gewahlt ausprobiert als doch da "
        "gilt gelten gesagt gelost behoben entschieden beschlossen besprochen vereinbart festgelegt geklart",
        now="jetzt aktuell derzeit zurzeit momentan gegenwartig inzwischen mittlerweile",
        looks="macht zeigt sieht steht gibt berechnet definiert aufgerufen",
        points="er ihn ihm sie es daran darauf daraus davon dafur dagegen damit dabei danach dazu daruber darum",
    ),
    "fr": Language(
        "pourquoi comment quand ou quel quelle quels quelles qui quoi quest qua quavait combien lequel laquelle",
        "on quon lon nous notre nos",
        "avait avions avons a ont ai etait etaient etions ete avez aviez qua quavait",
        "hier avant avanthier derniere dernier dernieres derniers precedemment deja autrefois recemment passe passee "
        "lautre precedente precedent auparavant depuis",
        "reprend reprends reprenons reprendre reprenez continue continuons continuez poursuis poursuivons arretes",
        why="pourquoi",
        counts="combien",
        was="etait etaient",
        explains="fonctionne fonctionnent signifie difference",
        how="comment",
        infinitives="er ir re",
        again="encore",
        same="meme memes pareil fais faites",
        likens="que comme",
        places="pour dans avec",
        notes="notes souvenirs",
        here="ce cet cette ces mon ma mes ici ca",
        begins="que qu",
        be="est sest",
        be_ends="passé arrivé changé devenu",
        other="le la les un une des du de et est sont dans pour sur avec il elle que pas plus si "
        "faut peut peuvent doit doivent jamais utilise utilisons utilisait essaye choisi decide",
        now="maintenant actuellement desormais",
        looks="fait retourne renvoie affiche saffiche calcule calcules calculee calculees defini definis definie "
        "definies manque manquent",
        points="il elle ils elles lui leur ca cela",
    ),
    "es": Language(
        "que como por cuando donde cual cuales quien cuanto cuanta cuantos cuantas",
        "nosotros nuestro nuestra nuestros nuestras",
        "hemos habiamos habia habian hubo fue fueron era estaba",
        "ayer antes anteayer pasada pasado ultima ultimo anterior anteriormente ya hace recientemente desde",
        "sigue sigamos seguir seguimos continua continuemos continuar retoma retomemos retomar dejamos quedamos",
        endings="amos emos imos",
        not_ends="podemos debemos vamos tenemos queremos hacemos necesitamos estamos sabemos podriamos deberiamos "
        "tendriamos ponemos sigamos continuemos retomemos vayamos hagamos",
        why="por porque",
        counts="cuantos cuantas",
        how="como",
        infinitives="ar er ir",
        was="fue fueron era eran habia habian hubo",
        explains="funciona funcionan significa diferencia",
        same="mismo misma igual hazlo",
        likens="que como",
        places="con en para",
        notes="notas recuerdos",
        here="este estos estas mi mis aqui",
        past_ends="ó aba aban",
        other="el la los las un una de del y es son en para con se no lo esta estan puede pueden debe deben "
        "hasta durante sobre entre tiene tienen cada usamos usado elegimos elegido probado alguna vez",
        now="ahora actualmente",
        looks="hace ve muestra devuelve dice define calcula falta faltan",
        points="ella ellos ellas ello eso esto",
    ),
    "pt": Language(
        "que como por porque quando onde qual quais quem quanto quantos quantas",
        "nos nosso nossa gente",
        "tinhamos foi foram era havia haviamos",
        "ontem antes anteontem passada passado ultima ultimo anterior anteriormente ja atras recentemente desde",
        "continua continue continuar continuemos retoma retome retomar paramos",
        endings="amos emos imos",
        not_ends="podemos devemos vamos temos queremos fazemos precisamos estamos sabemos poderiamos deveriamos "
        "continuemos",
        why="por porque",
        counts="quantos quantas",
        how="como",
        infinitives="ar er ir",
        was="foi foram era eram",
        explains="funciona funcionam significa diferenca",
        same="mesmo mesma igual faca",
        likens="que como",
        places="com em no na nos nas para",
        notes="notas anotacoes",
        here="este esse essa isto isso neste nesta nesse nessa meu minha aqui",
        past_ends="ou iu eu ava avam",
        other="o a os as um uma de do da e em para com se nao no na mesmo aquele aquela esta estao "
        "pode podem deve devem usamos usado escolhemos escolhido",
        now="agora atualmente",
        looks="faz fica mostra devolve retorna diz definida definido calculado falta faltam",
        points="ele ela eles elas isso isto",
    ),
    "it": Language(
        "che cosa come perche quando dove quale quali qual chi quanto quanti quante",
        "noi nostro nostra abbiamo avevamo eravamo",
        "abbiamo avevamo eravamo era stato stata fu",
        "ieri prima scorsa scorso ultima ultimo precedente precedentemente gia fa recentemente",
        "riprendi riprendiamo riprendere continua continuiamo proseguiamo",
        endings="ammo emmo immo",
        past_ends="ava avano",
        why="perche",
        counts="quanti quante",
        how="come",
        infinitives="are ere ire",
        was="fu furono era erano",
        explains="funziona funzionano significa differenza",
        again="ancora",
        same="stesso stessa fai uguale",
        likens="che come",
        places="per con in nel nella",
        notes="appunti note",
        here="questo questa questi queste mio mia qui",
        be="e",
        be_ends="successo cambiato",
        other="il lo la i gli le un una di del e in per con non si puo possono deve devono bisogna usiamo usato scelto",
        now="adesso ora attualmente ormai",
        looks="appare mostra restituisce dice definita definito calcolato manca mancano",
        points="esso essa essi esse cio",
    ),
    "nl": Language(
        "wat hoe waarom wanneer waar welke wie waarmee",
        "we wij ons onze",
        "hebben hadden heb deed deden was waren werd werden wilde wilden moest moesten kon konden mocht mochten",
        "gisteren eergisteren vorige laatste eerder al destijds toen onlangs laatst",
        "verder doorgaan hervat gebleven vervolg",
        why="waarom",
        counts="hoeveel",
        how="hoe",
        anyone="ik je",
        was="was waren werd werden",
        explains="werkt werken betekent verschil",
        again="weer opnieuw",
        same="dezelfde hetzelfde net",
        likens="als",
        places="bij voor in met",
        notes="notities",
        here="deze dit mijn hier",
        other="de het een en is zijn van op voor met niet na aan uit over er nog mag mogen moet moeten kan kunnen",
        now="nu momenteel tegenwoordig inmiddels",
        looks="doet toont ziet geeft berekend gedefinieerd",
        points="hem ze hij zij ervan erop ermee ervoor daarvan daarop daarmee daarvoor",
    ),
    "sv": Language(
        "vad hur varfor nar vilken vilket vilka vem",
        "vi vara vart",
        "har hade blev gjorde",
        "igar sist sista forra senast tidigare redan nyligen",
        "fortsatt fortsatta vidare",
        why="varfor",
        again="igen",
        here="denna detta min har",
    ),
    "da": Language(
        "hvad hva hvordan hvorfor hvornar hvor hvilken hvilket hvilke hvem",
        "vi vores var",
        "har havde hadde blev gjorde",
        "igar sidste sist forrige tidligere allerede nylig",
        "fortsaet fortsett videre",
        why="hvorfor",
        again="igen",
        here="denne dette min her",
    ),
    "fi": Language(
        "mita miten miksi milloin missa mika",
        "me meidan",
        "oli olimme",
        "eilen viimeksi viime aiemmin aikaisemmin jo",
        "jatka jatketaan",
        endings="imme",
        why="miksi",
        here="tama taman tassa",
    ),
    "pl": Language(
        "co jak dlaczego czemu kiedy gdzie jaki jaka jakie ktory ktora ktore czy czym czego",
        "my nasz nasza",
        "byl byla bylo byly",
        "wczoraj ostatnio poprzednio wczesniej juz temu zeszlym zeszly poprzedniej ostatniej",
        "kontynuuj kontynuujmy wrocmy",
        endings="lismy lysmy",
        past_ends="łem łam",
        why="dlaczego czemu",
        again="znowu znow",
        notes="notatki",
        here="ten ta to ten tej moj moja",
        other="jest sa w na z nie i do nad po od mozna wolno trzeba",
        now="teraz obecnie aktualnie",
        looks="robi pokazuje zwraca wyglada",
        points="go jego jej je ich nim nia",
    ),
    "cs": Language(
        "co jak proc kdy kde jaky jaka ktery ktera ako preco kedy aky ktory",
        "jsme sme nas nase",
        "jsme sme bylo byl byla",
        "vcera minule naposledy drive predtim uz minuly minuleho vtedy skor",
        "pokracuj pokracujme vratme",
        why="proc preco",
        again="zase znovu opet",
        here="tento tato toto muj moje",
    ),
    "hu": Language(
        "mit miert hogyan mikor melyik hol mi",
        "mi minket",
        "volt voltak",
        "tegnap multkor legutobb korabban mult elozo mar",
        "folytassuk folytasd",
        endings="tunk tuk",
        why="miert",
    ),
    "ro": Language(
        "ce cum cand unde care cine",
        "noi nostru am",
        "am aveam era fost",
        "ieri trecuta trecut ultima anterior anterioara deja inainte",
        "continua continuam reia",
        here="acest aceasta",
    ),
    "tr": Language(
        "ne nasil neden niye nicin hangi hangisi nerede nereye nereden kim kime kimin kac neyi neydi",
        "biz bizim",
        "vardi idi",
        "dun gecen onceki once gecenlerde daha",
        "devam kaldigimiz surdur",
        endings="dik duk tik tuk",
        not_ends="otomatik istatistik kritik statik mantik semantik pratik estetik genetik analitik",
        past_ends="ıdı idi udu üdü ıldı ildi uldu üldü ındı indi undu ündü ladı ledi landı lendi yordu",
        why="neden niye nicin",
        counts="kac",
        explains="nedir",
        anywhere="ne neyi neden niye nicin nasil hangi hangisi nerede kim kime kac",
        here="bu",
        now="simdi",
        points="onu onun bunu bunun",
    ),
    "ru": Language(
        "что как почему зачем когда где какои какая какую какие какое каким каких кто чего чем сколько",
        "мы нас наш наша наше",
        "был было была были решили делали сделали случилось произошло изменилось",
        "вчера позавчера раньше прошлыи прошлои прошлом прошлую прошлого недавно уже тогда назад ранее",
        "продолжи продолжим продолжаи продолжаем вернемся вернись остановились",
        why="почему зачем чего",
        again="снова опять",
        notes="заметки заметках",
        here="этот эта это эти этого мои моя мое здесь",
        endings="али или ели яли",
        not_ends="если или",
        other="нельзя можно надо нужно не на в и с по из для о об от до после у",
        now="сеичас теперь",
        looks="делает возвращает показывает выводит выглядит задается",
        points="его ее их он она оно они это",
    ),
    "uk": Language(
        "що як чому навіщо коли де який яка яку які",
        "ми нас наш наша",
        "був було була були вирішили робили зробили",
        "вчора раніше минулии минулоі минулого минулому нещодавно вже тоді тому",
        "продовж продовжимо продовжуи зупинились зупинилися",
        why="чому навіщо",
        again="знову",
        here="цеи ця це мои моя",
        other="можна треба не",
        endings="али или іли",
        now="зараз тепер",
        points="його іі іх він вона воно вони це",
    ),
    "id": Language(
        "apa bagaimana kenapa mengapa kapan mana",
        "kita kami",
        "sudah telah pernah",
        "kemarin sebelumnya lalu dulu tadi",
        "lanjutkan teruskan",
        why="kenapa mengapa",
        here="ini",
    ),
    "ar": Language(
        "لماذا كيف ماذا متى اين ما", "نحن", "كان كنا", "امس سابقا الماضي الماضية قبل", "اكمل تابع", endings="نا"
    ),
    "he": Language(
        "למה איך מה מתי איפה איזה", "אנחנו", "היה היינו", "אתמול שעבר שעברה קודם", "המשך תמשיך", endings="נו"
    ),
}
"""Language with spaces between words -> its closed classes. English has its own rules: `english`."""
HOW_TO = {"wie": "de", "comment": "fr", "como": "es", "come": "it", "hoe": "nl"}
"""Word before what to do -> its language; Portuguese asks as Spanish does."""


def unspaced() -> dict[str, Unspaced]:
    """Return the languages without spaces between words: few prompts are in one, and every prompt is judged."""
    from mdmem.search.asking.unspaced import UNSPACED

    return UNSPACED


def is_unspaced(language: str) -> bool:
    """Whether the language of a question is one of `unspaced`."""
    return language in _UNSPACED


_UNSPACED = frozenset(["ja", "zh", "ko", "th", "hi"])
"""The languages of `unspaced`, without its substrings."""
