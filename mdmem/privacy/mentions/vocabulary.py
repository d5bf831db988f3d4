"""Vocabulary: the words around a private tag by which a mention is recognized; `intent` has the rules."""

from __future__ import annotations

TAG_NOUNS = frozenset(["attribute", "attributes", "element", "elements", "section", "sections", "tag", "tags"])
"""Nouns after a tag that somebody mentions: `the <private> tag`."""

TAG_NOUNS_IN_PROSE = TAG_NOUNS | frozenset(
    """
    annotation block blocks bracket brackets directive generic header heading keyword label labels marker markers
    notation placeholder syntax
    """.split()
)
"""The same for a tag that does not begin its line. At the start of a line, these words could begin a private text."""

BEFORE_NAME = frozenset(
    """
    a about an and as between by called chapter element in labeled like marked marker named of or tag tagged
    tags than the to use using via vs with without
    """.split()
)
"""Words before a tag that a sentence mentions: `marked with <private>, and …`."""

QUESTION_WORDS = frozenset(
    """
    are can did do does how is should what when where which why
    """.split()
)
"""Words that begin a question."""

AFTER_TAG = frozenset(
    """
    actually affect after and anyway are at be because before break can change do does end exactly exist for from
    get gets hide hides if in instead is isn't keep keeps like mean means not on or stops support supported to use
    used when with without work works
    """.split()
)
"""Words that follow a tag in a sentence about it: `why does <private> not work here?`."""

BEFORE_TAG = QUESTION_WORDS | frozenset(
    """
    a an about add adding another any called close closing each every forgot left like lone missing my new no of old
    opening our put remove single some stray that the their these this those typed unclosed use using via without
    write wrote your
    """.split()
)
"""Words before a tag that is mentioned, or before a word in brackets: `the [private] channel`."""

AFTER_TAG_IN_SENTENCE = AFTER_TAG | frozenset(
    """
    about above across against allowed along among around as behind being below between but by can't cannot
    correctly did doesn't don't during either even everywhere except had has have here inside into isn't may might
    must near needs nested never next off once only onto out outside over rather shall should silently since so
    somewhere than then there through toward towards twice more under unless until up upon versus vs was wasn't were
    where whether which while will within won't would yet
    """.split()
)
"""Function words that continue a sentence about the tag before them. Private text hardly begins with one."""

SENTENCE_BEGINNINGS = (
    frozenset(["i", "it", "please", "they", "this", "that", "the", "we", "you"])
    | AFTER_TAG_IN_SENTENCE
    | QUESTION_WORDS
)
"""Words that may have a capital letter only because they begin the next sentence."""

BEFORE_SUBJECT = frozenset(["how", "if", "often", "only", "when", "where", "whether", "why"])
"""Words before a tag that is the subject of a clause: `how <private> works`."""

VERB_STEMS = frozenset(
    """
    accept allow appear append autocomplete become behave break catch choke close conflict contain convert count
    cover detect differ disappear display document drop emit encrypt escape exclude expect filter find flag forget
    get handle hide highlight hit ignore interact interfere include insert keep leave list look make mark match
    mention miss move need nest occur open output parse pass print produce read recognize reject rename render
    replace return sanitize saw search see show skip split store strip support swallow take test tokenize treat
    unescape want wants wrap write
    """.split()
)
"""Stems of verbs for what programs and their authors do with a tag: `it emits <private> for …`."""

MODALS = frozenset(["are", "can", "could", "did", "do", "does", "has", "is", "may", "must", "should", "will", "would"])
"""Words that begin a question about the tag after them: `can <private> have attributes`."""

BEFORE_TAG_IN_SENTENCE = (
    BEFORE_NAME
    | BEFORE_TAG
    | BEFORE_SUBJECT
    | frozenset(["after", "at", "before", "for", "from", "header", "inside", "into", "on", "section", "where"])
) - MODALS
"""Words before a tag in a sentence about it."""

PROGRAM_PARTS = frozenset(
    """
    annotation attribute badge branch button cell channel child class column component constructor directory element
    endpoint entry field flag folder function group icon item keyword label line link list macro marker member
    method mode modifier module namespace network node option package parameter prefix property register repo
    repository row scope string subnet suffix symbol tab tooltip type value variable view word
    """.split()
)
"""Nouns for things in programs and on screens, in the singular: `the <private> column`."""

PRIVATE_TOPICS = frozenset(
    """
    address boss card client code codename confidential credentials customer divorce fired key layoffs merger name
    nobody number passcode passphrase password patient phone pin remember salary secret token
    """.split()
)
"""Words that announce something private in a sentence."""

FOREIGN_TAG_NOUNS = frozenset(
    "balise balises etiket etikett etiqueta etiquetas tag tagg tags znacznik тег тега теги тегом тэг".split()
)
"""Words for a tag in other languages, before it: `la etiqueta <private>`."""

TAG_NOUNS_BEHIND = ("タグ", "标签", "標籤", "태그")
"""Words for a tag after it, in scripts without blanks."""

FOREIGN_QUESTION_WORDS = frozenset(
    """
    was warum wie wieso weshalb wo wofür wozu wann que qu'est-ce pourquoi comment où quand qué cómo como cuándo dónde
    para por porque che cosa perché quando dove o что почему как где зачем wat waarom hoe co dlaczego jak
    """.split()
)
"""Words that begin a question in other languages."""

FOREIGN_BEFORE_TAG = FOREIGN_TAG_NOUNS | frozenset(
    """
    das der den dem die ein einen wird ist kann macht darf muss soll le la les un une el los las est fait peut es hace
    puede il lo è fa può os as um uma é faz pode het de een wordt kan doet делает работает
    """.split()
)
"""Words before a tag that is mentioned in another language."""

FOREIGN_AFTER_TAG = frozenset(
    """
    nicht im in aus bei und oder ist wird werden auch als vor nach wenn genau eigentlich richtig hier
    dans ne n'est et ou sans pas sur est quand si en no es y sin se cuando del hace non è e o
    nel nella na não é sem em quando do da dos в не и или без при на из niet en of w nie i jest
    """.split()
)
"""Words that follow a mentioned tag in other languages."""

FOREIGN_NOUNS = frozenset(
    """
    ausgabe browser code datei editor html json markdown prompt readme text titel vault xml
    """.split()
)
"""Nouns that may have a capital in a question in another language. Any other capitalized word may be a name."""

BETWEEN_TAGS = frozenset(["", "and", "or", "vs", "versus", "to", "not", "into", "with", "instead of", "rather than"])
"""What may be between two tags that are mentioned together: `<private> and <public>`."""
