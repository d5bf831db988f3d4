"""Hidden failure: detects in its output that a check failed whose exit status a pipe or a later command has hidden.

The status that an agent reports for `pytest | tail -5` is that of `tail`; `|| true` hides one, too. Only the summary
lines of well-known programs count: any output may show an error that is not the command's own.
"""

from __future__ import annotations

_CHECKS = frozenset(
    """
    ant bazel bun cargo clang clang++ cmake cpack ctest deno dotnet eslint flake8 flutter g++ gcc go gradle gradlew jest
    just make gmake meson mix mocha mvn mvnw mypy ninja nox npm npx phpunit playwright pnpm pylint pyright pytest rake
    rspec ruff rustc sbt swift task tox tsc unittest vitest west xcodebuild yarn
    """.split()
)
"""Programs that run tests, check or build."""
_HIDING = ("|", ";", "\n")
_BETWEEN = str.maketrans("|;()", "    ")
_BEGINS = (
    "FAILED (failures=", "FAILED (errors=", "FAIL\t", "test result: FAILED", "error: could not compile",
    "error: aborting due to", "npm ERR! code", "npm error code", "BUILD FAILED", "FAILURE: Build failed",
    "The following tests FAILED", "ninja: build stopped", "collect2: error: ld returned", "** TEST FAILED **",
    "** BUILD FAILED **", "[INFO] BUILD FAILURE", "make: *** ", "gmake: *** ", "FAILED | ", "Failed!  - Failed:",
)  # fmt: skip
_WHOLE = frozenset(["FAIL", "FAILURES!", "ERRORS!", "Build FAILED."])
_COUNTING = ("Test Suites: ", "Tests:  ", "Tests  ")
"""Beginnings of summary lines that count; they name the failures only if there are any."""
_FAILURES = frozenset("failed failing fail failure failures error errors".split())
MAX_CHARS = 4_000
"""Length of the end of an output that is searched: summaries come last."""


def line(command: str, output: str) -> str:
    """Return the line of an output that says that the check in a command failed; "" if its status is its own."""
    command = command.strip()
    if not any(sign in command for sign in _HIDING) or "pipefail" in command:
        return ""
    if _CHECKS.isdisjoint(word.rpartition("/")[2] for word in command.translate(_BETWEEN).split()):
        return ""
    end = output[-MAX_CHARS:]
    if "\x1b" in end:
        from mdmem.capture.tools import terminal

        end = terminal.without_escapes(end)
    lines = (row.strip(" =\r") for row in end.split("\n"))
    return next((row for row in lines if _is_failure(row)), "")


def _is_failure(line: str) -> bool:
    """Whether a line is the summary of a check that failed."""
    if line in _WHOLE or line.startswith(_BEGINS):
        return True
    if line.startswith(_COUNTING):
        return " failed" in line and " 0 failed" not in line
    is_found = line.startswith("Found ")
    count, _, words = line.removeprefix("Found ").partition(" ")
    if not count.isdecimal():
        return False
    if is_found:
        return int(count) > 0 and words.startswith("error") and " 0 remaining" not in words
    return _counts_failures(line)


def _counts_failures(line: str) -> bool:
    """Whether a line only counts and counts a failure: `1 failed`, `2 passed, 1 error in 3s`; not `1 xfailed in 3s`."""
    counts, _, seconds = line.rpartition(" in ")
    is_timed = seconds.partition(" ")[0][-1:] == "s" and seconds[:1].isdecimal()
    pairs = [part.split(" ") for part in (counts if is_timed else line).split(", ")]
    if not all(len(pair) in (2, 3) and pair[0].isdecimal() for pair in pairs):  # `2 subtests passed`
        return False
    is_summary = is_timed or len(pairs) > 1 or pairs[0][-1] in ("failed", "failing", "fail")
    return is_summary and any(int(pair[0]) and pair[-1] in _FAILURES for pair in pairs)
