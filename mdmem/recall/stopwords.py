"""Words that say nothing about what a question is after.

Short on purpose: on code and on conversations alike, words such as "type", "name", "all", "first" or "between"
carry more than they cost, because common words weigh little anyway.
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
s t re ve ll m d don didn doesn isn wasn
"""
_JOINING = """
about above again against and around as at because behind below beside but by during else ever for from further
here how however if in into just like many much nor not now of on once only or other others per since so still than
then there though through thus to too toward towards under until upon very via when whenever where wherever whether
while with yet also
"""
_QUESTIONS = "what which who whom whose why when where how kind kinds please tell"

STOPWORDS = frozenset(" ".join([_PRONOUNS_AND_ARTICLES, _VERBS, _NEGATED_AND_SHORTENED, _JOINING, _QUESTIONS]).split())
"""English function words and the words that questions begin with, folded as `analysis` folds them."""
