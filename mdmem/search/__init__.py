"""The read half: turns a query into ranked notes.

Two ways lead in: `engine.search` takes a query in the query language from people and tools, `answering.answers` a
question in plain words from an agent's prompt. On both ways:

- `freshness` updates the `index` first, and asks it again if it was damaged. All others are given a `View` of it.
- `query` and `asking` say what is wanted; `text` turns words into terms, and `units` adds the terms that mean the same.
- `select`, `staged` and `withheld` leave out notes that are not wanted, or not for the one who asks.
- `matches` scores the notes that have a word, `ranking` combines words and a note's surroundings.
- `turn_groups`, `duplicates` and `replaced` fold what says the same, and move what no longer holds.
- `hits` are what is returned, each with a `snippet` of its text.

Beside them, `solved`, `commands` and `overturned` answer particular questions from the runs and turns that are stored.
"""
