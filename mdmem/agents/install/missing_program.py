"""Missing program: what the launcher does when mdmem or its Python is gone, in the shell or in Python on Windows.

If the folder of the missing file has just changed, an installer may be replacing mdmem, and a hook waits for it. In
the shell, a background process then keeps the event in memory and waits longer: nothing may be written to disk before
private text is removed. Memories are not looked up there, because nobody reads the answer.
A hook does not wait if an event was lost shortly before: then something else keeps changing the folder.
The user is told at the start of a session; `doctor` and `status` report the lost events.
"""

from __future__ import annotations

import json
import shlex

from mdmem import launch

# Called with the file's name in JSON, the file, and the launcher's own words. In a field's text, the quotes of an
# event's name would be escaped. A variable of the environment would be passed on to every program. The launcher's
# `is_there` tests both files at once, so that waits for one and then for the other do not add up.
_GONE = """gone() {{
unset event
said=$1 folder=$2
shift 2
is_there && exec /bin/sh "$0" "$@"
[ "$1" = hook ] || exit 0
exec 2>/dev/null
now=$(date +%s) tries=0 changed=
until [ -z "$folder" ] || changed=$(find "$folder/" -prune -mmin -1); do folder=${{folder%/*}}; done
[ "$(find "$0{lost}" -mmin -{lost_minutes})" ] && changed=
while [ "$changed" ] && [ $tries -lt {tries} ] && sleep .1; do
tries=$((tries + 1))
is_there $tries && exec /bin/sh "$0" "$@"
done
event=$(cat)
(
trap "" HUP
while [ "$changed" ] && ! is_there && [ $tries -lt {last_try} ] && sleep 1; do tries=$((tries + 1)); done
if is_there; then printf %s "$event" | MDMEM_INJECT_ENABLED=0 MDMEM_NOW=${{MDMEM_NOW:-$now}} /bin/sh "$0" "$@"
else umask 077; printf {loss} "$now" "$2" >"$0{lost}"; fi
) </dev/null >/dev/null &
case $event in {events}) case $2 in
{cases}esac ;;
esac
exit 0
}}
"""
_TRIES = 30
"""How often a hook looks for the missing file, every tenth of a second."""
_LATER_TRIES = 60
"""How often the background process then looks for it, every second."""
_LOST_MINUTES = 10
"""For this long after a lost event, hooks do not wait."""
LOST = ".lost"
"""Suffix of the file beside the launcher that records the last event that it lost."""
GONE = "mdmem-gone"
"""The reason in that file."""
_LOSS = f"%s\tunknown\t%s\t{GONE}\n"
_TOLD_AT = [f'"hook_event_name":{gap}"{event}"' for event in ("SessionStart", "sessionStart") for gap in ("", " ")]
_GONE_WORDS = (
    "mdmem stores nothing: its hooks start {}, which is gone. Install mdmem again and run `mdmem install`, or delete"
    " {} and mdmem's lines in {}."
)

_PYTHON_GONE = """import time
if sys.argv[1]!="hook":os._exit(0)
try:
 d={file}
 while not os.path.isdir(d)and d!=os.path.dirname(d):d=os.path.dirname(d)
 l=sys.argv[0]+"{lost}"
 n={tries} if os.path.isdir(d)and time.time()-os.stat(d).st_mtime<60 else 0
 if os.path.isfile(l)and time.time()-os.stat(l).st_mtime<{lost_seconds}:n=0
 while n and not os.path.isfile({file}):n-=1;time.sleep(.1)
 if not os.path.isfile({file}):
  event=sys.stdin.buffer.read().decode("latin-1") if sys.stdin else ""
  open(l,"w").write({loss}%(int(time.time()),sys.argv[2]))
  if any(e in event for e in {events}):os.write(1,{said}.get(sys.argv[2],"").encode())
  os._exit(0)
except BaseException:os._exit(0)
"""


def in_shell(users: list[str], folder: str) -> str:
    """Return the shell function that a launcher calls where a file is missing.

    users, folder: the launcher's settings files, and its folder.
    """
    events = "|".join(f"*{shlex.quote(name)}*" for name in _TOLD_AT)
    before, _, after = in_json(_words("\n", users, folder)).partition(r"\n")
    cases = ""
    for form in dict.fromkeys(launch.FORMS.values()):
        agents = "|".join(agent for agent, agent_form in launch.FORMS.items() if agent_form == form)
        start, end = form.strip().split("%s")
        cases += f"{agents}) printf '%s%s%s\\n' {shlex.quote(start + before)} \"$said\" {shlex.quote(after + end)} ;;\n"
    return _GONE.format(
        events=events,
        cases=cases,
        tries=_TRIES,
        last_try=_TRIES + _LATER_TRIES,
        loss=shlex.quote(_LOSS.replace("\t", "\\t").replace("\n", "\\n")),
        lost=LOST,
        lost_minutes=_LOST_MINUTES,
    )


def _words(file: str, users: list[str], folder: str) -> str:
    settings = ", ".join(user for user in users if "\n" not in user) or "your agents' settings"
    return _GONE_WORDS.format(file, folder, settings)


def in_python(file: str, users: list[str], folder: str) -> str:
    """Return the Python code that a launcher runs where this file is missing; it returns when the file is there."""
    words = in_json(_words(file, users, folder))
    said = {agent: form % words for agent, form in launch.FORMS.items()}
    return _PYTHON_GONE.format(
        file=json.dumps(file),
        tries=_TRIES,
        events=json.dumps(_TOLD_AT),
        said=json.dumps(said),
        loss=json.dumps(_LOSS),
        lost=LOST,
        lost_seconds=_LOST_MINUTES * 60,
    )


def in_json(value: str) -> str:
    """Return a text as it is written inside a JSON string."""
    return json.dumps(value)[1:-1]
