"""Routes a command line: `hook` and `inject` before anything heavy loads, the rest to the people's commands."""

from __future__ import annotations

import sys


def _print_version() -> bool:
    """Print the version without loading the commands; return False where only they can say what failed."""
    from mdmem import __version__

    try:
        print(f"mdmem, version {__version__}", flush=True)
    except OSError:
        return False
    return True


def main() -> None:
    """Run the command line of this process and exit."""
    try:
        _route(sys.argv[1:])
    except KeyboardInterrupt:  # so early that the commands are not there yet to meet it
        print("mdmem: stopped.", file=sys.stderr)
        sys.exit(130)


def _route(words: list[str]) -> None:
    vault: str | None = None
    if words[:1] == ["--vault"] and len(words) > 2:
        vault, words = words[1], words[2:]
    if words[:1] == ["hook"] and "--help" not in words:
        from mdmem.recall import hook

        hook.main(words[1:], vault)
    elif words[:1] == ["inject"] and "--help" not in words and "--explain" not in words:
        from mdmem.inject import process

        process.main(words[1:], vault)
    elif words != ["--version"] or not _print_version():
        import gc

        gc.set_threshold(100_000, 20, 20)  # what a command makes, it mostly keeps until it ends
        if sys.getfilesystemencoding() == "ascii":  # what a person typed would be stored as question marks
            from mdmem import launch

            launch.use_utf8()
        from mdmem.cli import main as run

        run()


if __name__ == "__main__":
    main()
