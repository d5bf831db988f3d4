"""`mcp`: the vault as tools for MCP clients; `web`: the vault in a browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import click

from mdmem import config
from mdmem.cli.terminal import options
from mdmem.config import Config
from mdmem.errors import ConfigError

_PORT = options.WholeNumber(1, 65_535)


@click.command()
@click.option("--http", "over_http", is_flag=True, help="Serve over HTTP instead of stdin and stdout.")
@options.value("--port", "PORT", "With --http: the port (default: any free port).", type=_PORT)
@options.value("--host", "ADDRESS", "With --http: the address to serve on.", default="127.0.0.1", show_default=True)
@click.pass_obj
def mcp(vault: str | None, over_http: bool, port: int | None, host: str) -> None:
    """Serve the vault as MCP tools. Clients start this themselves: `mdmem install claude-code --mcp`.

    Over HTTP every request needs the token, and `POST /hooks/AGENT` takes what `mdmem hook AGENT` does.

    \b
    Example:  mdmem mcp
              mdmem mcp --http --port 8765
    """
    if not over_http and (port or host != "127.0.0.1"):
        raise click.UsageError("--port and --host need --http.")
    try:
        if over_http:
            _serve_http(vault, host, port)
        else:
            from mdmem.server import stdio

            if sys.stdin.isatty():
                click.echo(
                    "This command is for MCP clients, which start it themselves: `mdmem install --mcp` registers it.",
                    err=True,
                )
            stdio.serve(vault)
    except ModuleNotFoundError as error:
        raise _missing("MCP needs", "mcp", error) from error


def _missing(what: str, name: str, error: ModuleNotFoundError) -> ConfigError:
    """Return the error that an extra's package is missing, with the command that installs the extra."""
    from mdmem.agents.install import installation

    return ConfigError(f"{what} the package {error.name}, which is missing. Run: {installation.install_command(name)}")


def _serve_http(vault: str | None, host: str, port: int | None) -> None:
    from mdmem.server import http
    from mdmem.server import port as ports

    loaded = config.load(vault)
    http.load_token(loaded)
    opened = ports.listen(host, port or ports.default_port(loaded.vault), exact=port is not None)
    shown_host = f"[{host}]" if ":" in host else host
    click.echo(f"Serving {loaded.vault} at http://{shown_host}:{opened.getsockname()[1]}/mcp", err=True)
    click.echo(f"Clients send `Authorization: Bearer TOKEN`, with the token in {http.token_path(loaded)}", err=True)
    if not ports.is_loopback(host):
        click.echo(
            "Other machines can reach this. Traffic is not encrypted; the token is the only protection.", err=True
        )
    with suppress(KeyboardInterrupt):
        http.serve(vault, opened, host)


@click.command()
@click.option("--demo", is_flag=True, help="Show a recorded day in a throwaway vault; yours is not touched.")
@options.value("--port", "PORT", "Use this port only (default: the vault's own, or any free one).", type=_PORT)
@click.option("--no-open", is_flag=True, help="Only print the link.")
@click.pass_obj
def web(vault: str | None, demo: bool, port: int | None, no_open: bool) -> None:
    """Show the vault in your browser: today live, sessions, search, review, what was injected, health.

    Only this machine can reach it, and only a browser that opened the printed link, which works once.
    It needs the extra: pip install 'mdmem[web]'. `mdmem help web` has the details.

    \b
    Example:  mdmem web
              mdmem web --demo
    """
    try:
        from mdmem.web import serve
    except ModuleNotFoundError as error:
        raise _missing("The pages need", "web", error) from error

    if not demo:
        _serve_pages(options.vault_config(vault), port, opens=not no_open)
        return
    with _recorded_day() as loaded:
        click.echo("Press Ctrl-C to stop.", err=True)
        with suppress(KeyboardInterrupt):
            serve.run(loaded, serve.listen(loaded, port), partial(_report, opens=not no_open), demo=True)


def _serve_pages(config: Config, port: int | None, *, opens: bool) -> None:
    """Serve the vault's pages until Ctrl-C, or report the link of the process that does. port: None for any."""
    from mdmem.web import serve

    if not Path(config.index_dir).is_dir():
        click.echo("Indexing the vault for the first time…", err=True)
    link = serve.link(config)
    if link and port in (None, urlsplit(link).port):
        click.echo("Another `mdmem web` already serves this vault. Press Ctrl-C in its terminal to stop it.", err=True)
        _report(link, opens=opens, waits=True)
        return
    click.echo("Press Ctrl-C to stop.", err=True)
    with suppress(KeyboardInterrupt):  # the usual end, as of `mdmem watch`
        serve.run(config, serve.listen(config, port), partial(_report, opens=opens), beside=bool(link))


def _report(link: str, *, opens: bool, waits: bool = False) -> None:
    """Print a link and open it, or print how to reach it on a remote machine. waits: until the browser is closed."""
    click.echo(f"Open {link}")
    click.echo("The link works once.", err=True)
    if _is_remote(os.environ):
        port = urlsplit(link).port
        click.echo(
            f"This machine is remote: on yours, run `ssh -N -L {port}:127.0.0.1:{port} HOST`, then open the link.",
            err=True,
        )
    elif opens:
        _open(link, waits=waits)


def _is_remote(env: Mapping[str, str]) -> bool:
    """Whether the terminal is one of another machine, and no browser can be opened there from here."""
    has_browser = any(env.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    return bool(env.get("SSH_CONNECTION")) and not has_browser


def _open(link: str, *, waits: bool) -> None:
    """Open a link in the browser. waits: until it is closed, if it is one that runs in the terminal."""
    import threading
    import webbrowser

    if waits:
        webbrowser.open(link)
    else:
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


@contextmanager
def _recorded_day() -> Iterator[Config]:
    """Play the recorded day of `mdmem demo` into a vault that is deleted afterwards; yield its settings."""
    import shutil
    import tempfile

    from mdmem.cli.setup import demo
    from mdmem.cli.terminal import render
    from mdmem.history import commit

    root = Path(tempfile.mkdtemp(prefix="mdmem-web-"))
    try:
        scratch = demo.prepare(root)
        demo.replay(scratch, render.console())
        os.environ |= scratch.env  # programs started from here, such as git, must stay in the throwaway home
        loaded = config.load(str(scratch.vault), scratch.env)
        commit.commit(loaded)
        yield loaded
    finally:
        shutil.rmtree(root, ignore_errors=True)
