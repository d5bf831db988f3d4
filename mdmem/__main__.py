"""Route the command line: `hook` and `inject` before anything slow is imported, the rest to the commands."""

from __future__ import annotations

import sys


def _print_version() -> bool:
    """Print the version without loading the commands; False when printing failed: the commands report why."""
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
    except KeyboardInterrupt:  # before the commands could handle it
        print("mdmem: Stopped.", file=sys.stderr)
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

        gc.set_threshold(100_000, 20, 20)  # most objects live until the command ends
        if sys.getfilesystemencoding() == "ascii":  # typed text would be stored as question marks
            from mdmem import launch

            launch.use_utf8()
        from mdmem.cli import main as run

        run()


if __name__ == "__main__":
    main()
