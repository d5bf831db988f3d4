"""Launcher: the short program that agents start for mdmem.

If the mdmem that it starts is gone and its Python has another one, as after an upgrade of Python, it starts that from
then on. If there is none, or the Python is gone, it tells the user at the start of each session, and exits with 0.

It is in the user's data folder, so its path stays the same when mdmem is upgraded, moved or uninstalled. On POSIX it
is a shell script, on Windows a Python file. It lists the settings files that use it, and is removed with the last one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import sys
import tempfile
from contextlib import suppress

from mdmem import config, files, launch
from mdmem.agents.install import missing_program
from mdmem.agents.install import settings_file as settings
from mdmem.system import windows

NAME = launch.LAUNCHER
"""mdmem's commands are recognized by this name in them."""
LOSS_LOGS = (missing_program.LOST, launch.LOSSES)
"""What the launcher's name ends with in the names of the logs of lost events beside it."""

MODULES = {"hook": "mdmem.recall.hook", "inject": "mdmem.inject.process", "status": "mdmem.capture.status_line"}
"""Verb -> the module whose `main` it runs. The remaining verb `commit` continues in the background."""

_NEEDS = (
    "yaml", "frontmatter", "whoosh", "cached_property", "git", "gitdb", "smmap", "click", "rich", "pygments",
    "markdown_it",
)  # fmt: skip
"""Imported packages outside the standard library; without `site`, only the launcher's path makes them available.

A hook needs them only to read unusual front matter written by a person, or to look up memories."""

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""mdmem's own folder."""

_USER = "#: "
"""Prefix of the lines that name the settings files using the launcher."""

# Reads all of stdin before a commit: an agent may take writing to a closed pipe for a failure.
_COMMIT = """import sys
sys.stdin and sys.stdin.buffer.read()
sys.path+={paths}
sys.argv[1:]=sys.argv[3:]+["commit","--quiet"]
from mdmem.system import to_background
to_background(sys.argv[1:])
from mdmem.cli import main
main()
"""

# Each line is compiled at every hook. The standard library logs to stderr what it cannot load.
_OTHER = """import sys
sys.stderr=None
{own_name}sys.path+={paths}
w,v=sys.argv[2:3],(sys.argv[4:]or[None])[0]
sys.excepthook=lambda*_:exec({rescue})
{preload}from {module} import main
main(w,v)
"""

# If mdmem cannot be imported, `launch` repairs it or reports it; if that cannot be read either, this text says so.
# An installer that replaces mdmem's files may have deleted that one: then the launcher waits for it, and without one,
# the hook. Nothing was read from stdin before the module was imported.
_RESCUE = """import os,time
try:
 for n in range({tries}):
  try:exec(open({file}).read(),{{"failed":("{module}",w,v),"__file__":{file}}})
  except Exception as e:
   {again}d=os.path.dirname({file})
   while not os.path.isdir(d)and d!=os.path.dirname(d):d=os.path.dirname(d)
   if abs(time.time()-os.stat(d).st_mtime)>{recent}:break
  time.sleep(.1)
finally:
 try:os.write(1,{lost_message}.get("".join(w),"").encode())
 finally:os._exit(0)
"""

_AGAIN = """if(isinstance(e,FileNotFoundError)and e.filename=={file}and"{module}"not in sys.modules
    and os.access(sys.argv[0],4)):
    os.execv("/bin/sh",["sh",*sys.argv])
   """

_PRELOAD = """try:
 from _frozen_importlib_external import SourceFileLoader as L
 exec(L("p",{preload}).get_code("p"),{{"preloads":{package}}})
except Exception:pass
"""

# Hands the hook over to the watcher if it serves hooks; if that fails, the hook runs here. The interpreter's
# loader uses cached bytecode: compiling the text at each hook would cost a tenth of an interpreter start.
_HANDED_OVER = """from posix import stat
try:
 stat({socket})
 from _frozen_importlib_external import SourceFileLoader as L
 exec(L("h",{hand_over}).get_code("h"),{{"served_at":({socket},{rescue})}})
except Exception:pass
exec({otherwise})
"""

# Ctrl-C and a terminal that closes reach hooks too, and would cost their events; hooks have a deadline of their own.
_SHELL = """#!/bin/sh
# Coding agents start this for their hooks: `mdmem install` writes it, and `mdmem uninstall` removes it.
{users}[ "$1" = hook ] && trap "" INT HUP
is_there() {{
[ -x {python} ] || return 1
[ -f {rescue} ] && return
[ $((${{1:-0}} % 10)) = 0 ] && {python} -E -P -B -c {renew} "$0" </dev/null >/dev/null 2>&1
}}
{gone}[ -x {python} ] || gone {python_text} {python} "$@"
[ -f {rescue} ] || gone {rescue_text} {rescue} "$@"
{first}case $1 in
{cases}esac
"""

_RENEW = "import sys; from mdmem.agents.install import launcher; sys.exit(not launcher.renew(sys.argv[1]))"
# Perl's environment variables must not change the script's behavior or make it print warnings.
_WITH_PERL = """if [ "$1" = hook ] && [ -S {socket} ] && [ -x {perl} ] && [ -f {hand_over} ]; then
export LC_ALL=C PERL5OPT= PERL5LIB=
trap "" PIPE
exec {perl} -C0 -e {run} {hand_over} {sendmsg} {socket} {rescue} {python} -I -S -B -c {otherwise} "$@"
fi
"""

_PERL = "/usr/bin/perl"
_RUN = "do shift; exec {$ARGV[3]} @ARGV[3 .. $#ARGV]"
"""Perl that runs the hand-over; if its file has just gone, the hook does its work itself."""
_SENDMSG = {"x86_64": 46, "aarch64": 211, "riscv64": 211}
"""Machine -> the number of Linux's system call `sendmsg`, which Perl can only call by number."""

_PYTHON = """# Coding agents start this for their hooks: `mdmem install` writes it, and `mdmem uninstall` removes it.
{users}import os, sys
if not os.path.isfile({rescue}):
    exec({gone})
exec({codes}[sys.argv[1]])
"""


def path() -> str:
    """Return the launcher's path, whether or not the file exists."""
    if is_windows():
        return os.path.join(config.places(os.environ)["config"], f"{NAME}.py")
    data = os.environ.get("XDG_DATA_HOME") or ""
    top = data if os.path.isabs(data) else os.path.join(config.home(), ".local", "share")
    return os.path.join(top, "mdmem", NAME)


def words() -> list[str]:
    """Return the program and arguments that start the launcher without a shell."""
    if not is_windows():
        return ["/bin/sh", path()] if _forbids_programs(path()) else [path()]
    return [windows.windowless(sys.executable), "-I", "-S", "-B", path()]


def _forbids_programs(place: str) -> bool:
    """Whether the file's disk is mounted `noexec`, as home folders are on hardened machines; a shell may read it."""
    while not os.path.exists(place):
        place = os.path.dirname(place)
    return bool(os.statvfs(place).f_flag & getattr(os, "ST_NOEXEC", 0))


def interpreter(registered: str) -> str:
    """Return the path of this interpreter; if `registered` is another name of it, such as `python3`, that one.

    In a virtual environment, `python` replaces `python3.11`, which is gone when it is rebuilt with another Python.
    Interpreters of two virtual environments are not the same, though both may be links to the same file.
    """
    folder, own_name = os.path.split(sys.executable)
    has_version = own_name[-1:].isdigit() and "." in own_name
    is_virtual = has_version and os.path.exists(os.path.join(os.path.dirname(folder), "pyvenv.cfg"))
    for name in (registered, os.path.join(folder, "python") if is_virtual else ""):
        try:
            is_this = os.path.isabs(name) and os.path.samefile(name, sys.executable)
        except OSError:
            continue
        if is_this and os.path.realpath(os.path.dirname(name)) == os.path.realpath(folder):
            return name
    return sys.executable


def text(users: list[str], registered: str = "") -> str:
    """Return this mdmem's launcher for these settings files; it takes VERB AGENT [--vault VAULT].

    registered: a name to keep for this interpreter, if it is one.
    """
    rescue = os.path.join(PACKAGE, "launch.py")
    codes = {verb: code(verb) for verb in (*MODULES, "commit")}
    lines = "".join(f"{_USER}{user}\n" for user in users if "\n" not in user)
    if is_windows():
        if_gone = _literal(missing_program.in_python(rescue, users, os.path.dirname(path())))
        return _PYTHON.format(users=lines, rescue=_literal(rescue), gone=if_gone, codes=_literal(codes))
    program = interpreter(registered)
    python = shlex.quote(program)
    start = f"exec {python} -I -S -B -c"
    cases = "".join(f'{verb}) {start} {shlex.quote(code_)} "$@" ;;\n' for verb, code_ in codes.items())
    return _SHELL.format(
        users=lines,
        gone=missing_program.in_shell(users, os.path.dirname(path())),
        python=python,
        python_text=shlex.quote(missing_program.in_json(program)),
        rescue=shlex.quote(rescue),
        rescue_text=shlex.quote(missing_program.in_json(rescue)),
        renew=shlex.quote(_RENEW),
        first=_with_perl(program),
        cases=cases,
    )


def code(verb: str) -> str:
    """Return the Python code that a verb runs; its arguments are the launcher's."""
    alone = _own_process(verb)
    if verb != "hook" or is_windows():
        return alone
    rescue = _literal(os.path.join(PACKAGE, "launch.py"))
    hand_over, socket = _literal(os.path.join(PACKAGE, "hand_over.py")), _literal(socket_path())
    return _HANDED_OVER.format(hand_over=hand_over, socket=socket, rescue=rescue, otherwise=_literal(alone))


def _own_process(verb: str) -> str:
    """Return the Python code that runs a verb in its own process."""
    if verb == "commit":
        return _COMMIT.format(paths=_literal(search_path()))
    preload = _PRELOAD.format(preload=_literal(os.path.join(PACKAGE, "preload.py")), package=_literal(PACKAGE))
    lost_message = {agent: launch.lost_message(agent).decode() for agent in launch.FORMS}
    file = _literal(os.path.join(PACKAGE, "launch.py"))
    rescue = _RESCUE.format(
        file=file,
        module=MODULES[verb],
        tries=int(launch.WAIT_SECONDS * 10) if verb == "hook" else 1,
        recent=launch.RECENT_SECONDS,
        again="" if is_windows() else _AGAIN.format(file=file, module=MODULES[verb]),
        lost_message=_literal(lost_message if verb == "hook" else {}),
    )
    return _OTHER.format(
        paths=_literal(search_path()),
        rescue=_literal(rescue),
        module=MODULES[verb],
        preload=preload if verb == "hook" else "",
        own_name="" if is_windows() else f"sys.argv[0]={_literal(path())}\n",
    )


def _with_perl(python: str) -> str:
    """Return the lines that hand a hook over to the watcher without starting Python, if the system allows that."""
    sendmsg = _SENDMSG.get(os.uname().machine) if sys.platform == "linux" else None
    if sendmsg is None:
        return ""
    words = {
        "socket": socket_path(),
        "hand_over": os.path.join(PACKAGE, "hand_over.pl"),
        "rescue": os.path.join(PACKAGE, "launch.py"),
        "python": python,
        "otherwise": _own_process("hook"),
    }
    quoted = {name: shlex.quote(word) for name, word in words.items()}
    return _WITH_PERL.format(perl=_PERL, run=shlex.quote(_RUN), sendmsg=sendmsg, **quoted)


def socket_path() -> str:
    """Return the path of the socket where the watcher serves the launcher's hooks."""
    return os.path.join(os.path.dirname(path()), "hook.sock")


def is_current() -> bool:
    """Whether the launcher exists and starts this mdmem."""
    current = _read()
    is_executable = is_windows() or (os.path.exists(path()) and os.stat(path()).st_mode & 0o100 != 0)
    return is_executable and current == text(_users(current), _tested("-x", current))


def missing(place: str) -> str:
    """Return the file that a launcher at `place` needs and that no longer exists: itself, its Python or its mdmem.

    "" if all exist, or if this mdmem takes the place of the one that is gone (`renew`).
    """
    text_there = _read(place)
    python = _tested("-x", text_there)
    started = (place, python, "" if interpreter(python) == python else _tested("-f", text_there))
    return next((file for file in started if file and not os.path.exists(file)), "")


def use(settings_file: str) -> None:
    """Write or update the launcher, if needed, for a settings file whose commands name it.

    Raises OSError when it cannot be written.
    """
    current = _read()
    users = _users(current)
    if settings_file in users and is_current():
        return
    _write(text(list(dict.fromkeys([*users, settings_file]))))


def renew(place: str) -> bool:
    """Let the launcher at `place` start this mdmem if the one that it starts is gone; False if it is not the user's.

    Raises OSError when it cannot be written.
    """
    current = _read(place)
    if not os.path.exists(_tested("-f", current)):  # else another hook was first
        if not os.path.samefile(place, path()):
            return False
        _write(text(_users(current), _tested("-x", current)))
    return True


def leave(settings_file: str, place: str = "") -> None:
    """Drop settings files that no longer name the launcher; remove the launcher with the last one.

    Then `pip uninstall` removes all that is left of mdmem. place: of a launcher elsewhere, which stays as it is while
    others use it.
    """
    if settings.is_rehearsed():
        return
    place = place or path()
    users = _users(_read(place))
    remaining = [user for user in users if NAME.encode() in files.try_read_any(user, sys.maxsize)]
    if remaining == users or (settings_file not in users and remaining):
        return
    with suppress(OSError):  # already gone, or harmless if it stays; the folder may hold other files
        if remaining and place == path():
            _write(text(remaining))
        elif not remaining:
            os.unlink(place)
            for log in LOSS_LOGS:
                files.remove(f"{place}{log}")
            if not os.path.exists(path()):
                launch.forget_compiled()  # nothing starts mdmem's hooks anymore
            os.rmdir(os.path.dirname(place))
            os.rmdir(os.path.dirname(os.path.dirname(place)))  # ~/.local/share, where mdmem was the first to use it


def _tested(condition: str, launcher: str) -> str:
    """Return the file for which a launcher's text tests a condition first; "" if it tests none.

    The launcher tests with `-x` the interpreter that it starts, and with `-f` a file of its mdmem.
    """
    line = next((line for line in launcher.splitlines() if line.startswith(f"[ {condition} ")), "")
    try:
        return shlex.split(line)[2]
    except (ValueError, IndexError):
        return ""


def _users(launcher: str) -> list[str]:
    return [line.removeprefix(_USER) for line in launcher.splitlines() if line.startswith(_USER)]


def _read(place: str = "") -> str:
    """Return the text of the launcher; "" if it cannot be read. place: where another one is."""
    try:
        with open(place or path(), encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def _write(data: str) -> None:
    place = path()
    files.make_folders(os.path.dirname(place))
    descriptor, temp = tempfile.mkstemp(prefix=f"{NAME}.", suffix=".tmp", dir=os.path.dirname(place))
    with open(descriptor, "wb") as file:
        file.write(data.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())
    os.chmod(temp, 0o700)
    os.replace(temp, place)


def search_path() -> list[str]:
    """Return the folders that a command's imports need besides the standard library."""
    folders = [os.path.dirname(PACKAGE)]
    for name in _NEEDS:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            file = os.path.dirname(spec.origin) if spec.submodule_search_locations else spec.origin
            folders.append(os.path.dirname(file))
    return list(dict.fromkeys(folders))


def _literal(value: str | list[str] | dict[str, str]) -> str:
    """Return a value as a Python literal with double quotes, which are safe inside the shell's single quotes."""
    return json.dumps(value, ensure_ascii=False)


def is_windows() -> bool:
    """Whether commands are for Windows' shells."""
    return os.name == "nt"
