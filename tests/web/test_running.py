"""Who may connect besides the browser with the link, and what a second `mdmem web` of the same vault does."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from mdmem import config
from mdmem.vault import user_notes
from mdmem.web import gate, serve
from tests.helpers import cli_day, waiting
from tests.helpers.pages import serving
from tests.web.conftest import Web

LINUX = sys.platform == "linux"


@pytest.mark.slow
def test_a_second_command_leads_to_the_pages_that_run(web: Web) -> None:
    done = web.day.run("web", "--no-open")

    assert "already" in done.stderr
    link = done.stdout.split()[1]
    assert link.startswith(f"{web.served.url}/enter?key=")
    assert web.served.ask(link.removeprefix(web.served.url))[0] == 303
    assert web.served.ask(link.removeprefix(web.served.url))[0] == 401


BROWSER = """
import http.client, sys
from urllib.parse import urlsplit
link = urlsplit(sys.argv[2])
connection = http.client.HTTPConnection(link.netloc, timeout=240)
connection.request("GET", f"{link.path}?{link.query}")
open(sys.argv[1], "w").write(str(connection.getresponse().status))
"""
"""A browser that runs until it is closed, such as w3m."""


@pytest.mark.slow
def test_a_browser_that_is_waited_for_gets_the_page(tmp_path: Path) -> None:
    day = cli_day.make(tmp_path / "day")
    script, got = tmp_path / "browser.py", tmp_path / "status"
    script.write_text(BROWSER, encoding="utf-8")
    env = {**os.environ, **day.env, "BROWSER": f"{sys.executable} {script} {got} %s"}
    process = subprocess.Popen([sys.executable, "-m", "mdmem", "web"], env=env, stdout=subprocess.PIPE)
    try:
        waiting.until(lambda: got.exists() and got.read_text("utf-8"), "the browser's request is answered")
        assert got.read_text("utf-8") == "303"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_on_a_remote_machine_the_command_tells_how_to_reach_the_pages_and_keeps_the_link(web: Web) -> None:
    env = dict.fromkeys(("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"), "")
    done = web.day.run("web", env={**env, "SSH_CONNECTION": "192.0.2.7 50000 192.0.2.1 22"})

    port = web.served.port
    assert f"ssh -N -L {port}:127.0.0.1:{port} HOST" in done.stderr
    link = done.stdout.split()[1]
    assert web.served.ask(link.removeprefix(web.served.url))[0] == 303


@pytest.mark.slow
def test_pages_on_another_port_stand_beside_those_that_run(web: Web) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    first = web.served.enter()

    with serving(web.vault, web.day.env, "--port", port) as beside:
        process = beside.process
        second = beside.enter()
        both = {"Cookie": f"{first}; {second}"}
        assert beside.ask("/help", headers=both)[0] == 200
        assert web.served.ask("/help", headers=both)[0] == 200
        assert beside.ask("/help", headers={"Cookie": first})[0] == 401

    assert process.returncode == 0, "Ctrl-C is how it ends"
    assert serve.link(web.day.config()).startswith(web.served.url)


@pytest.mark.slow
def test_a_server_that_ended_or_was_killed_leaves_nothing_in_the_way(web: Web, tmp_path: Path) -> None:
    env = {**web.day.env, "XDG_RUNTIME_DIR": str(tmp_path)}
    with serving(web.vault, env) as killed:
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait(timeout=240)
    with serving(web.vault, env) as served:
        assert served.ask("/help", headers={"Cookie": served.enter()})[0] == 200
        assert list(tmp_path.rglob("web.*"))

    assert not list(tmp_path.rglob("web.*"))


def test_today_shows_what_was_written_today_without_a_session_and_counts_the_rest(tmp_path: Path) -> None:
    day = cli_day.make(tmp_path)
    settings = day.config()
    for number in range(11):
        user_notes.add(settings, f"Thought {number}", "A thought.", now=time.time())

    with serving(day.vault, day.env) as served:
        page = served.ask("/", headers={"Cookie": served.enter()})[2]

    assert "<h1>Today</h1>" in page
    assert page.count(">Thought ") == 8
    assert "3 earlier notes" in page


@pytest.mark.skipif(not LINUX, reason="only Linux lists who holds the other end of a connection")
@pytest.mark.parametrize("address", ["/timeline", "/search?q=parser"])
def test_the_pages_build_the_index_again_that_their_owner_has_deleted(web: Web, address: str) -> None:
    folder = Path(config.load(str(web.vault), web.served.env).index_dir)
    cookie = web.served.enter()
    _, _, before = web.served.ask(address, headers={"Cookie": cookie})
    shutil.rmtree(
        folder.rename(folder.with_name(f"deleted{address[:3].strip('/')}"))
    )  # the server may be writing in it

    status, _, page = web.served.ask(address, headers={"Cookie": cookie})

    assert (status, page.count("/session/")) == (200, before.count("/session/"))
    assert "/session/" in page
    assert any(folder.iterdir())


NO_FOLDER_IS_SYNCED = """
import errno, os, stat
sync = os.fsync
def fsync(fd):
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    sync(fd)
os.fsync = fsync
from mdmem.cli import main
main()
"""


def test_a_note_that_is_stored_but_not_synced_is_not_offered_again_for_saving(tmp_path: Path) -> None:
    day = cli_day.make(tmp_path)
    with serving(day.vault, day.env, program=(sys.executable, "-c", NO_FOLDER_IS_SYNCED)) as served:
        sent = {"Cookie": served.enter(), "Origin": served.url, "Content-Type": "application/x-www-form-urlencoded"}
        token = re.search(r'name="csrf" value="([^"]+)"', served.ask("/new", headers=sent)[2])
        assert token
        body = urlencode({"csrf": token[1], "title": "Zebras", "text": "They have stripes.", "kind": "note"})

        status, headers, _ = served.ask("/do/add", method="POST", body=body, headers=sent)
        page = served.ask(headers["location"], headers=sent)[2]
        second = int(time.time())
        waiting.until(lambda: int(time.time()) > second, "the next second")  # in the same one it is one note anyway
        _, again, _ = served.ask("/do/add", method="POST", body=body, headers=sent)

    assert status == 303
    assert again["location"] == headers["location"]
    assert "Saved, but a power cut may undo it" in page
    assert "They have stripes." in page
    assert len(list(day.vault.glob("notes/**/*zebras*.md"))) == 1


def test_the_user_at_the_other_end_of_a_connection_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert gate.user_of(client.getsockname()[1], port) == os.getuid()
            assert not gate.is_another_user(client.getsockname(), port)
        assert gate.user_of(port, port) is None


@pytest.mark.slow
@pytest.mark.skipif(not LINUX or os.getuid() != 0, reason="only root may start a process of another user")
def test_a_process_of_another_user_gets_nothing_with_the_link_or_the_cookie(web: Web) -> None:
    cookie = web.served.enter()
    link = serve.link(web.day.config())
    code = (
        "import sys, urllib.request, urllib.error\n"
        "for url, cookie in ((sys.argv[1], ''), (sys.argv[2], sys.argv[3])):\n"
        "    try: print(urllib.request.urlopen(urllib.request.Request(url, headers={'Cookie': cookie})).status)\n"
        "    except urllib.error.HTTPError as error: print(error.code)\n"
    )
    python = next(
        (path for path in ("/usr/bin/python3", "/usr/local/bin/python3") if Path(path).exists()), sys.executable
    )
    words = [python, "-I", "-S", "-c", code, link, web.served.url, cookie]
    try:
        done = subprocess.run(words, user=65_534, cwd="/", capture_output=True, text=True, timeout=240)
    except PermissionError:
        pytest.skip("the other user cannot start this Python")

    assert done.stdout.split() == ["403", "403"], done.stderr
    assert web.served.ask(link.removeprefix(web.served.url))[0] == 303
