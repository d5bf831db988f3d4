"""Masked: tells from its output that a check failed whose exit status a pipe, `|| true` or a later command hid.

The status that an agent reports for `pytest | tail -5` is that of `tail`. Only the sums of well-known programs count:
any output may show an error that is none of the command's own.
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
_HIDING = ("|", ";")
_BEGINS = (
    "FAILED (failures=", "FAILED (errors=", "FAIL\t", "test result: FAILED", "error: could not compile",
    "error: aborting due to", "npm ERR! code", "npm error code", "BUILD FAILED", "FAILURE: Build failed",
    "The following tests FAILED", "ninja: build stopped", "collect2: error: ld returned", "** TEST FAILED **",
    "** BUILD FAILED **", "[INFO] BUILD FAILURE", "Test Suites: ", "Tests:  ", "Tests  ",
)  # fmt: skip
_SUMS = ("Test Suites: ", "Tests:  ", "Tests  ")
"""Behind these, a line has the number of failures, if there are any."""
_FAILED_MAKE = ("make: *** [", "gmake: *** [")
_COUNTED = (" failed", " error", " failure")
MAX_CHARS = 4_000
"""Length of the end of an output that is searched: sums come last."""


def failure(command: str, output: str) -> str:
    """Return the line of an output that says that the check in a command failed; "" if its status is its own."""
    if not any(sign in command for sign in _HIDING) or "pipefail" in command:
        return ""
    words = command.replace("|", " ").replace(";", " ").split()
    if _CHECKS.isdisjoint(word.rpartition("/")[2] for word in words):
        return ""
    lines = (line.strip(" =") for line in output[-MAX_CHARS:].split("\n"))
    return next((line for line in lines if _tells(line)), "")


def _tells(line: str) -> bool:
    """Whether a line is the sum of a check that failed."""
    if line == "FAIL" or line.startswith(_FAILED_MAKE):
        return True
    if line.startswith(_BEGINS):
        return " failed" in line if line.startswith(_SUMS) else True
    count, _, words = line.removeprefix("Found ").partition(" ")
    if not count.isdecimal() or int(count) == 0:
        return False
    return _is_sum(f" {words}", is_found=line.startswith("Found "))


def _is_sum(words: str, *, is_found: bool) -> bool:
    """Whether the words behind a number make it a sum: `1 failed, 2 passed in 3s`, `Found 3 errors in 2 files`."""
    if is_found:
        return words.startswith(" error") and "fixed" not in words
    if words.startswith(" examples, "):
        return " failure" in words and not words.startswith(" examples, 0 ")
    is_timed = words.rpartition(" in ")[2][:1].isdecimal()
    return words.startswith(_COUNTED) and (is_timed or " passed" in words or words == " failed")
