"""Stop words: words that say nothing about the subject of a question.

The list is short on purpose. In code and conversations, words such as "type", "name", "all", "first" or "between" help
more than they cost, because common words weigh little anyway.
"""

from __future__ import annotations

_PRONOUNS_AND_ARTICLES = """
a an the this that these those i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves one ones
someone anyone everyone something anything everything either neither any some such no
"""
_VERBS = """
am is are was were be been being do does did doing done have has had having can could will would shall should may
might must ought go goes going
"""
_NEGATED_AND_SHORTENED = """
isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't won't wouldn't
shouldn't mustn't ain't i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd
it'll we're we've we'd we'll they're they've they'd they'll that's there's here's what's who's where's let's
isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt couldnt wouldnt shouldnt mustnt ive youve weve theyve
whats thats theres wheres whos hows whys
s t re ve ll m d don didn doesn isn wasn
"""
_JOINING = """
about above again against and around as at because behind below beside but by down during else ever for from further
here how however if in into just like many much nor not now of on once only or other others over per since so still
than then there though through thus to too toward towards under until up upon very via when whenever where wherever
whether while with yet also
"""
_QUESTIONS = "what which who whom whose why when where how kind kinds please tell"

STOPWORDS = frozenset(" ".join([_PRONOUNS_AND_ARTICLES, _VERBS, _NEGATED_AND_SHORTENED, _JOINING, _QUESTIONS]).split())
"""English function words and question words, folded as in `analysis`."""

# Folded: `й` is written `и`. The list has no common word of English or of code (`mit`, `os`, `jest`, `come`, `hat`),
# but some names (`du`, `der`, `az`), so a question must have two of its words.
_OTHER_LANGUAGES = """
der das und ist von sind ein eine einen einem einer eines dem wie wann warum welche welcher welches welchen wurde wurden
waren auf nicht sich zum zur nach wir ich sie haben hatte kann wird werden auch oder uber durch aus gibt
el la los las del de en un una por para su sus lo que como cual cuales cuando donde quien quienes cuanto cuantos fue
eran al este esta estos estas fueron tiene
le les du et une qui quel quelle quels quelles dans avec ce cette ces aux pourquoi quand ete combien pas il elle
nous vous leur etait ont l d j qu
gli della dello dei degli delle di da nel nella che chi perche quanto quanti quale quali sono stato stata alla abbiamo
dell nell sull dall un
dos das um uma nas qual quais quem onde quando quantos foram nao seu sua ao pelo pela
het een van hoe waarom wanneer welke waar werd zijn voor niet aan naar bij hebben
och att det som ett med inte vad vem hur varfor vilken vilket vilka blev hade fran vi jeg
og af ikke hvad hvem hvordan hvorfor hvornar hvor hvilken hvilket hvilke hva
ei etta mika kuka miten miksi milloin missa ovat oli kuin mutta
nie jak dlaczego kiedy gdzie jaki jaka jakie ktory ktora ktore byl byla bylo byly czy przez
jsou kdy jaky ktery ktera ktere byli podle aby ako preco kedy
unde cand cati cate este sunt fost din pentru nu lui
az egy nem hogy mikor hol miert melyik hany voltak milyen
и в на с у к о по за из для от до не ни же ли бы что как так там тут это мы нас нам я ты он она они мои наш был была
было были какои какая какое какие где когда почему зачем кто и в на з у до та не що як так там це ми нас був була
яки яка яке коли чому хто
ve bir bu nasil neden nicin hangi nerede icin ile olarak olan gibi nin nun
"""

FOREIGN = frozenset(_OTHER_LANGUAGES.split()) - STOPWORDS
"""Function words of other languages, folded."""

FUNCTION_SIGNS = frozenset(
    "的地得了着著过過吗嗎呢吧啊们們我你您他她它这這那此其谁誰哪几幾多少么麼什怎何在从從到向往把被给給跟和与與及或于於为為由以让讓"
    "是有不没沒也都还還就才又再很最更已曾将將刚剛个個张張款次份每"
)
"""Chinese function words of one sign: particles, pronouns, prepositions, adverbs, and what counts things."""
