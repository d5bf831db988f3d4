"""What each command that reads a vault is given in `python -m tests.bench scale --only commands`.

`{word}` is a word of many notes, `{id}` an old prompt, `{session}` its session, `{out}` a folder of its own.
"""

from __future__ import annotations

COMMANDS = """
status
search {word}
search {word} --sort newest
search {word} --at 1d
prompts {word}
prompts --limit 0 --json
related {id}
fixes ImportError
about pytest
show {id}
index
index --verify
list
list --limit 0
list --limit 0 --json
sessions
sessions --limit 0 --json
history
history {session}
timeline {id}
decisions
todo
todo --limit 0 --json
proposals
digest --since 1w
digest --since 2000
stats
stats --since 1w
tree
tree --files --limit 0 --depth 9
log
log --limit 0
log --stat --limit 0
review --list
review --json
why {id}
diff
branch list
archive 2000 --dry-run
purge {word}
export {out}/all.zip
export {out}/all.jsonl
export {out}/all.html
export {out}/all.db
export site {out}/site
backup {out}/all.bundle
inject --explain {word}
injections
commit
commit --quiet
doctor
"""


def rows(**known: str) -> dict[str, list[str]]:
    """Return the commands by how they are listed, each as its words. known: what stands for the names in braces."""
    return {line: line.format(**known).split() for line in COMMANDS.strip().splitlines()}
