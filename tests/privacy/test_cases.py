"""What is stored of what comes in: one row a case, whatever the code looks like."""

from __future__ import annotations

import pytest

from mdmem.privacy import Rules, as_typed, clean

PROMPT, TOOL = "prompt", "tool"
SAME, NOTHING = "(same)", ""

AWS_KEY = "AKIA" + "Q7X2" * 4
AWS_SECRET = "wJalrXUtnFEMI" + "xK7MDENGxbPxRfiCY"
GITHUB_TOKEN = "ghp_" + "aB3x" * 9

OPENVPN = "OpenVPN Static key V1"
CASES = (
    (1, PROMPT, "a <private>S</private> b", "a [PRIVATE] b"),
    (2, PROMPT, "<private>\nS\n</private>", NOTHING),
    (3, PROMPT, "<private>S1</private> b <private>S2</private>", "[PRIVATE] b [PRIVATE]"),
    (4, PROMPT, "x<private></private>y", "xy"),
    (5, PROMPT, "x<private>  \n</private>y", "xy"),
    (6, PROMPT, "<tag>not private</tag>", SAME),
    (7, PROMPT, "l1\n<private>S</private>\nl2", "l1\n[PRIVATE]\nl2"),
    (8, PROMPT, "<private>S1</private> \n <private>S2</private>", NOTHING),
    (9, PROMPT, "a <private>S1</private>\n<private>S2</private> b", "a [PRIVATE] b"),
    (10, PROMPT, "I want a <private>tag</private> feature", "I want a [PRIVATE] feature"),
    (11, PROMPT, "<private>S1 <private>S2</private> S3</private> ok", "[PRIVATE] ok"),
    (12, PROMPT, "<private>S1 <private>S2</private> S3", NOTHING),
    (13, PROMPT, "<private>S1 [private] S2</private> ok", "[PRIVATE] ok"),
    (14, PROMPT, "<private>S1[private]S2</private>S3[/private] ok", "[PRIVATE] ok"),
    (15, PROMPT, "<private>S1</private> S2</private> ok", "[PRIVATE] ok"),
    (16, PROMPT, "fix x <private>S", "fix x [PRIVATE]"),
    (17, PROMPT, "S</private> ok", "[PRIVATE] ok"),
    (18, PROMPT, "a `<private>` tag", SAME),
    (19, PROMPT, "close it with `</private>`", SAME),
    (20, PROMPT, "use `<private>` and `</private>` ok", "use `[PRIVATE]` ok"),
    (21, PROMPT, "[private] S", NOTHING),
    (22, PROMPT, "see [private](https://x)", SAME),
    (23, TOOL, "[private]\npath=/x", SAME),
    (24, TOOL, "log <private>S …cut", "log [PRIVATE]"),
    (25, PROMPT, "<PRIVATE>S</Private> ok", "[PRIVATE] ok"),
    (26, PROMPT, "<private >S</private > ok", "[PRIVATE] ok"),
    (27, PROMPT, "<private\n>S</private> ok", "[PRIVATE] ok"),
    (28, PROMPT, '<private why="x">S</private> ok', "[PRIVATE] ok"),
    (29, PROMPT, "<private/>S</private> ok", "[PRIVATE] ok"),
    (30, PROMPT, "a <private/> b", "a  b"),
    (31, PROMPT, "<pri vate>S</private> ok", "[PRIVATE] ok"),
    (32, PROMPT, "<privateer>x</privateer>", SAME),
    (33, PROMPT, "＜private＞S＜/private＞ ok", "[PRIVATE] ok"),
    (34, PROMPT, "&lt;private&gt;x&lt;/private&gt;", SAME),
    (35, PROMPT, "[private]S[/private] ok", "[PRIVATE] ok"),
    (36, PROMPT, "<!-- private -->S<!-- /private --> ok", "[PRIVATE] ok"),
    (37, PROMPT, "<!--private-->S<!--/PRIVATE--> ok", "[PRIVATE] ok"),
    (38, PROMPT, "```\n<private>S</private>\n```", "```\n[PRIVATE]\n```"),
    (39, PROMPT, "<private>```S</private> and ``` ok", "[PRIVATE] and ``` ok"),
    (40, PROMPT, "<private>S`S</private> then `ok`", "[PRIVATE] then `ok`"),
    (41, PROMPT, "__CODE_BLOCK_0__ <private>S</private>", "__CODE_BLOCK_0__ [PRIVATE]"),
    (42, TOOL, r'{"c":"\u003cprivate\u003eS\u003c/private\u003e ok"}', '{"c":"[PRIVATE] ok"}'),
    (43, TOOL, r'{"c":"<private>S<\/private> ok"}', '{"c":"[PRIVATE] ok"}'),
    (44, PROMPT, "a <private>S\x00S</private> b", "a [PRIVATE] b"),
    (45, PROMPT, "<mdmem-context id=9f2>old</mdmem-context id=9f2>new", "new"),
    (46, PROMPT, "<claude-mem-context>old</claude-mem-context>new", "new"),
    (47, PROMPT, "new <mdmem-context>old (cut at 10,000)", "new "),
    (48, PROMPT, "<private>S<mdmem-context></private> ok", "[PRIVATE] ok"),
    (49, PROMPT, "<pri<mdmem-context></mdmem-context>vate>S</private> ok", "[PRIVATE] ok"),
    (50, TOOL, "password=hunter2", "password=[REDACTED]"),
    (51, TOOL, '{"password":"hunter2"}', '{"password":"[REDACTED]"}'),
    (52, TOOL, r'{\"password\": \"hunter2\"}', r'{\"password\": \"[REDACTED]\"}'),
    (53, TOOL, 'password: "correct horse"', 'password: "[REDACTED]"'),
    (54, PROMPT, "my password is hunter2", "my password is [REDACTED]"),
    (55, TOOL, "mysql -u root -phunter2 db", "mysql -u root -p[REDACTED] db"),
    (56, TOOL, "curl -u bob:hunter2 http://x", "curl -u bob:[REDACTED] http://x"),
    (57, TOOL, "deploy --api-key hunter2x", "deploy --api-key [REDACTED]"),
    (58, TOOL, "postgres://u:p@ss@h/db", "postgres://u:[REDACTED]@h/db"),
    (59, TOOL, "Authorization: Bearer abc.DEF123.ghi456", "Authorization: Bearer [REDACTED]"),
    (60, TOOL, "Authorization: Basic Ym9iOmh1bnRlcjI=", "Authorization: Basic [REDACTED]"),
    (61, TOOL, f"export AWS_SECRET_ACCESS_KEY={AWS_SECRET}", "export AWS_SECRET_ACCESS_KEY=[REDACTED]"),
    (62, TOOL, f"id {AWS_KEY} used", "id [REDACTED] used"),
    (63, TOOL, f"pushed with {GITHUB_TOKEN}", "pushed with [REDACTED]"),
    (64, TOOL, "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- ok", "[REDACTED] ok"),
    (65, TOOL, "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNza", "[REDACTED]"),
    (66, TOOL, "GET /a?token=Zx81kQ0p&b=1", "GET /a?token=[REDACTED]&b=1"),
    (67, TOOL, "<password>hunter2</password>", "<password>[REDACTED]</password>"),
    (68, TOOL, "비밀번호: hunter2", "비밀번호: [REDACTED]"),
    (69, TOOL, "machine h login bob password hunter2", "machine h login bob password [REDACTED]"),
    (70, TOOL, "token: usage 500", SAME),
    (71, TOOL, "max_tokens=500, tokens: 1234", SAME),
    (72, TOOL, "getAccessToken: () => x", SAME),
    (73, TOOL, "api_key: process.env.KEY", SAME),
    (74, TOOL, "token = json.dumps(x)", SAME),
    (75, PROMPT, "the password is wrong", SAME),
    (76, TOOL, "password: string;", SAME),
    (77, TOOL, "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", SAME),
    (78, TOOL, 'curl -H "Authorization: Bearer $TOKEN"', SAME),
    (79, TOOL, "password=[REDACTED]", SAME),
    (80, PROMPT, "the password is velvet-ocean7", "the password is [REDACTED]"),
    (81, PROMPT, "Das Passwort ist velvet-ocean7, ok?", "Das Passwort ist [REDACTED], ok?"),
    (82, PROMPT, "the password is base64-encoded and sha256-hashed", SAME),
    (83, PROMPT, "the password is stored in vault-2", SAME),
    (84, TOOL, f"-----BEGIN {OPENVPN}-----\n6acef0\n423cea\n-----END {OPENVPN}-----\nok", "[REDACTED]\nok"),
    (85, TOOL, "run -e API_KEY=\\\n  hunter2hunter2 \\\n img", "run -e API_KEY=\\\n  [REDACTED] \\\n img"),
    (86, TOOL, "docker login --password-stdin \\\n  registry.example", SAME),
)  # fmt: skip
"""number, origin, what comes in (every S must go), what is stored."""


@pytest.mark.parametrize(("number", "origin", "text", "stored"), CASES, ids=[str(case[0]) for case in CASES])
def test_a_text_is_stored_as_the_table_says(number: int, origin: str, text: str, stored: str) -> None:
    expected = text if stored == SAME else stored

    assert clean(text, origin=origin).value == expected


@pytest.mark.parametrize(("number", "origin", "text", "stored"), CASES, ids=[str(case[0]) for case in CASES])
def test_what_is_stored_is_not_changed_by_cleaning_it_again(number: int, origin: str, text: str, stored: str) -> None:
    once = clean(text, origin=origin).value

    assert clean(once, origin=origin).value == once
    assert clean(once, origin="tool").value == once


def test_a_tag_without_a_partner_is_reported() -> None:
    lone = {number for number, origin, text, _ in CASES if clean(text, origin=origin).unclosed}

    assert lone == {12, 15, 16, 17, 21, 24, 49}


def test_a_pair_inside_a_closed_code_fence_is_text_for_those_who_write_about_tags() -> None:
    rules = Rules(literal_code=True)
    fenced = "```\n<private>S</private>\n```"

    assert clean(fenced, rules=rules).value == fenced
    assert clean("~~~\n[private]S[/private]\n~~~", rules=rules).value == "~~~\n[private]S[/private]\n~~~"
    assert clean("```\n<private>S</private>", rules=rules).value == "```\n[PRIVATE]", "the fence is not closed"
    assert clean("<private>S\n```\nS</private>\n```", rules=rules).value == "[PRIVATE]\n```"
    assert clean("`<private>S</private>`", rules=rules).value == "`[PRIVATE]`", "a span is no fence"


def test_what_tags_hid_is_counted_and_kept_for_the_echo() -> None:
    cleaned = clean("a <private>S1</private> b <private> </private> c [private]S2[/private]")

    assert cleaned.value == "a [PRIVATE] b  c [PRIVATE]"
    assert (cleaned.private, cleaned.spans) == (2, ("S1", "S2"))


def test_an_unclosed_tag_keeps_its_text_where_the_user_wants_it_so() -> None:
    rules = Rules(unclosed="keep")

    for text in ("fix x <private>y", "y</private> ok", "[private] y"):
        cleaned = clean(text, rules=rules)
        assert (cleaned.value, cleaned.unclosed, cleaned.private) == (text, True, 0)
    assert clean("a <private>S</private> b", rules=rules).value == "a [PRIVATE] b"


def test_the_marker_and_the_number_of_lines_are_settings() -> None:
    text = "a\n<private>S\nS</private>\nb password=hunter2"

    assert clean(text, rules=Rules(marker="")).value == "a\n\nb password=[REDACTED]"
    assert clean(text, rules=Rules(marker="(kept out)", redacted="***")).value == "a\n(kept out)\nb password=***"
    assert clean(text, rules=Rules(keep_lines=True)).value.count("\n") == text.count("\n")
    assert clean(text, rules=Rules(name_kinds=True)).value.endswith("password=[REDACTED:password]")


@pytest.mark.parametrize(
    "mark", ["<private>", "[private]", "</private>", "password=", "<mdmem-context>", "\0", "\ud800"]
)
def test_a_mark_that_would_be_cleaned_itself_is_not_taken(mark: str) -> None:
    rules = Rules(marker=mark, redacted=mark)

    assert (rules.marker, rules.redacted) == ("[PRIVATE]", "[REDACTED]")


def test_a_lone_bracket_is_text_in_a_tool_s_output_unless_brackets_are_used_as_tags_there() -> None:
    assert clean("[private]\nkey=1", origin="tool").value == "[private]\nkey=1"
    assert clean("a [private]S [private]S[/private] S", origin="tool").value == "a [PRIVATE]"
    assert clean("S[/private] ok", origin="tool").value == "[PRIVATE] ok"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("# Plan\n[private] the client is Ovendrask\nmore", "# Plan\n[PRIVATE]"),
        ("- ship\n- [private]: Ovendrask", "- ship\n- [PRIVATE]"),
        ('git commit -m "[private] drop Ovendrask" && git push', 'git commit -m "[PRIVATE]'),
        ("Look at it. [private] The client is Ovendrask.", "Look at it. [PRIVATE]"),
        ("First.\n[private]\nThe client is Ovendrask.", "First.\n[PRIVATE]"),
    ],
)
def test_a_lone_bracket_in_a_tool_s_input_counts_where_it_begins_a_line_or_a_sentence(given: str, kept: str) -> None:
    run = {"tool": "x", "input": {"text": [{"content": given}]}, "response": {"text": given}}

    cleaned = clean(run, origin="tool").value

    assert cleaned["input"] == {"text": [{"content": kept}]}
    assert "Ovendrask" not in str(cleaned)


@pytest.mark.parametrize(
    "given",
    [
        "[private]\npath = /srv\n",
        "[global]\nlog = /x\n\n[private]\n\n# ours\npath = /srv\n[public]",
        "x = m[private] + 1\ny = [private]\n/** the [private] channel */",
        "test [private] -a foo; [ private ] || exit",
        "on:\n  push:\n    branches: [private]\n    tags: [private] # ours\n- [private]\n- x",
        "[private]",
        "[private](https://example.com) is linked",
    ],
)
def test_a_heading_or_an_index_in_a_tool_s_input_is_text(given: str) -> None:
    run = {"tool": "x", "input": {"content": given}, "response": given}

    assert clean(run, origin="tool").value == run


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("[PRIVATE] Ovendrask is the boss", ""),
        ("Fix it.\n[PRIVATE] Ovendrask is the boss", "Fix it.\n[PRIVATE]"),
        ("Fix it. [PRIVATE]: Ovendrask is the boss", "Fix it. [PRIVATE]"),
        ("> [PRIVATE] Ovendrask is the boss", "> [PRIVATE]"),
        ("Deploy [PRIVATE] tonight", SAME),
        ("I log in as [PRIVATE].\n[PRIVATE].\n\n[PRIVATE]\nThen [PRIVATE] works", SAME),
    ],
)
def test_a_capital_bracket_in_a_prompt_is_a_tag_before_words_that_it_begins(typed: str, stored: str) -> None:
    assert clean(as_typed(typed), origin="prompt").value == (typed if stored == SAME else stored)


# -- structured values


def test_a_value_under_a_sensitive_key_is_hidden_whole() -> None:
    value = {"password": 12345678, "user": {"api_key": ["zx8", 5, None, True]}, "count": 3, "max_tokens": 4096}

    cleaned = clean(value, origin="tool")

    assert cleaned.value == {
        "password": "[REDACTED]",
        "user": {"api_key": ["[REDACTED]", "[REDACTED]", None, True]},
        "count": 3,
        "max_tokens": 4096,
    }
    assert cleaned.redacted == 3


@pytest.mark.parametrize(
    "word", ["file_path", "Value", "connect", "private", "système", "a<private>y</private>", "a\0b"]
)
def test_a_key_is_cleaned_as_the_same_text_is_anywhere(word: str) -> None:
    assert clean({word: "fine"}).value == {clean(word).value: "fine"}


@pytest.mark.parametrize("word", ["pw", "PIN", "dbToken"])
def test_a_short_key_that_names_a_secret_hides_its_value(word: str) -> None:
    assert clean({word: "Zx81kd0a3bz"}).value == {word: "[REDACTED]"}


def test_a_secret_used_as_a_key_is_hidden_and_no_entry_is_lost() -> None:
    other = "ghp_" + "Zx81" * 9

    cleaned = clean({GITHUB_TOKEN: 1, other: 2, "plain": 3}, origin="tool").value

    assert sorted(cleaned.values()) == [1, 2, 3]
    assert not any("ghp_" in key for key in cleaned)


def test_a_secret_in_a_list_is_hidden_in_its_place() -> None:
    assert clean({"env": ["TOKEN=Zx81kQ0p", "PATH=/bin"]}, origin="tool").value == {
        "env": ["TOKEN=[REDACTED]", "PATH=/bin"]
    }
    assert clean(["deploy", "--password", "hunter2"], origin="tool").value == ["deploy", "--password", "[REDACTED]"]


@pytest.mark.parametrize("removed", ["-    pass", "-class Money: pass", "-    except KeyError: pass"])
def test_the_line_after_pythons_pass_in_a_diff_is_stored(removed: str) -> None:
    lines = [" def total(cart):", removed, "+    return amount(cart)"]
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": lines}
    given = {"tool_name": "Edit", "tool_response": {"structuredPatch": [hunk]}}
    assert clean(given, origin="tool").value == given


def test_a_name_in_one_field_names_the_value_in_the_next() -> None:
    assert clean({"name": "DB_PASSWORD", "value": "hunter2"}).value == {"name": "DB_PASSWORD", "value": "[REDACTED]"}
    assert clean({"name": "USER", "value": "bob"}).value == {"name": "USER", "value": "bob"}


def test_headers_are_known_in_objects_too() -> None:
    headers = {"Authorization": "Bearer abc.DEF123.ghi456", "Cookie": "sid=a81b; x=1", "Accept": "*/*"}

    assert clean(headers, origin="tool").value == {
        "Authorization": "Bearer [REDACTED]",
        "Cookie": "[REDACTED]",
        "Accept": "*/*",
    }


def test_a_tag_that_opens_in_one_field_swallows_no_other() -> None:
    value = {"a": "x <private>S", "b": "public", "c": ["S</private> y"], "<private>S</private>": 1}

    assert clean(value).value == {"a": "x [PRIVATE]", "b": "public", "c": ["[PRIVATE] y"], "": 1}


def test_what_is_nested_too_deeply_is_left_out() -> None:
    deep: object = "S"
    for _ in range(5000):
        deep = [deep]

    cleaned = clean(deep).value

    depth = 0
    while isinstance(cleaned, list):
        cleaned, depth = cleaned[0], depth + 1
    assert (cleaned, depth) == ("[TOO DEEP]", 65)


def test_what_no_file_can_hold_is_replaced() -> None:
    assert clean("a\ud800b\0c").value == "a\ufffdb\ufffdc"
    assert clean("\ud83d\ude00").value == "\U0001f600"


def test_what_is_no_json_is_not_let_through() -> None:
    assert clean({"a": b"bytes", "b": (1, "x")}).value == {"a": "[REDACTED]", "b": [1, "x"]}
