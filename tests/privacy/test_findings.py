"""Findings: what `mdmem privacy check` shows says where and by which rule, and never what."""

from __future__ import annotations

from mdmem.privacy import explain


def test_findings_say_where_and_by_which_rule_but_not_what() -> None:
    text = "one\ntwo <private>S</private> three\npassword=hunter2 and ghp_" + "aB3x" * 9

    found = explain(text)

    assert [(item.rule, item.line, item.column) for item in found] == [
        ("private-tag", 2, 5),
        ("password", 3, 10),
        ("github-token", 3, 22),
    ]
    assert [text[item.start : item.end] for item in found][:2] == ["<private>S</private>", "hunter2"]
    assert not any("hunter2" in str(vars(item)[name]) for item in found for name in vars(item))


def test_findings_behind_much_that_was_taken_out_are_at_their_place() -> None:
    text = "\n".join(f"<private>{'S' * number}</private> x{number}" for number in range(50)) + "\npassword=hunter2"

    last = explain(text)[-1]

    assert (last.rule, last.line, last.column) == ("password", 51, 10)
    assert text[last.start : last.end] == "hunter2"
