"""`mcp`: memory as tools, for any client of the Model Context Protocol."""

from __future__ import annotations

import sys

import click

from mdmem import config
from mdmem.errors import ConfigError


@click.command()
@click.option("--http", "over_http", is_flag=True, help="Serve over HTTP instead of stdin and stdout.")
@click.option(
    "--port", type=click.IntRange(1, 65_535), metavar="PORT", help="With --http: the port (default: any free port)."
)
@click.option(
    "--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="With --http: the address to serve on."
)
@click.pass_obj
def mcp(vault: str | None, over_http: bool, port: int | None, host: str) -> None:
    """Serve the vault as MCP tools. Clients start this themselves: `mdmem install claude-code --mcp`.

    Over HTTP every request needs the token, and `POST /hooks/AGENT` takes what `mdmem hook AGENT` does.

    \b
    Example:  mdmem mcp
              mdmem mcp --http --port 8765
    """
    if not over_http and (port or host != "127.0.0.1"):
        raise click.UsageError("--port and --host go with --http.")
    try:
        if over_http:
            _serve_http(vault, host, port)
        else:
            from mdmem.server import stdio

            if sys.stdin.isatty():
                click.echo("This talks to MCP clients, not to people: `mdmem install --mcp` registers it.", err=True)
            stdio.serve(vault)
    except ModuleNotFoundError as error:
        raise ConfigError(f"MCP needs the extra: pip install 'mdmem[mcp]' ({error.name} is missing).") from error


def _serve_http(vault: str | None, host: str, port: int | None) -> None:
    from mdmem.server import http, token
    from mdmem.server import port as ports

    settings = config.load(vault)
    token.load(settings)
    opened = ports.listen(host, port or ports.default_port(settings.vault), exact=port is not None)
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"Serving {settings.vault} at http://{shown}:{opened.getsockname()[1]}/mcp", err=True)
    click.echo(f"Clients send `Authorization: Bearer TOKEN`, with the token in {token.path(settings)}", err=True)
    if not ports.is_loopback(host):
        click.echo(
            "Other machines can reach this. Traffic is not encrypted; the token is the only protection.",
            err=True,
        )
    http.serve(vault, opened, host)
