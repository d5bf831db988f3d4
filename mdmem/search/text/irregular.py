"""Irregular English forms, which no rule of endings finds: `broke` -> `break`, `indices` -> `index`.

Left out are forms that are as often another word: `left`, `bit`, `bound`, `ground`, `shot`, `led`.
"""

from __future__ import annotations

_FORMS = """
begin began begun | break broke broken | bring brought | build built | buy bought | catch caught | choose chose chosen
come came | deal dealt | dig dug | draw drew drawn | drive drove driven | fall fell fallen | feed fed | feel felt
fight fought | find found | fly flew flown | forget forgot forgotten | freeze froze frozen | get got gotten
give gave given | go went gone | grow grew grown | hang hung | hide hid hidden | hold held | keep kept
know knew known | lend lent | lose lost | make made | mean meant | overwrite overwrote overwritten | pay paid
override overrode overridden | rewrite rewrote rewritten | rise rose risen | run ran | say said | see saw seen
seek sought | sell sold | send sent | shake shook shaken | shrink shrank shrunk | sink sank sunk | sleep slept
speak spoke spoken | speed sped | spend spent | spin spun | stand stood | steal stole stolen | stick stuck
strike struck | sweep swept | swing swung | take took taken | teach taught | tear tore torn | tell told | think thought
throw threw thrown | undergo underwent undergone | understand understood | wake woke woken | wear wore worn
win won | withdraw withdrew withdrawn | write wrote written
axis axes | child children | criterion criteria | foot feet | half halves | index indices | leaf leaves
matrix matrices | mouse mice | phenomenon phenomena | schema schemata | shelf shelves | tooth teeth | vertex vertices
"""


def _table() -> dict[str, str]:
    groups = (group.split() for group in _FORMS.replace("\n", "|").split("|"))
    return {form: base for base, *forms in filter(None, groups) for form in forms}


BASES = _table()
"""Form -> the word that it is a form of."""
