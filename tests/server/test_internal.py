"""Internal memories: whose they are comes from the connection alone, and nothing reaches across."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem import config
from mdmem.cli.setup import init
from mdmem.errors import UsageError
from mdmem.server import access, remembering
from mdmem.server.internal import context, finding
from mdmem.server.internal.context import Context
from mdmem.server.internal.memories import Memory
from mdmem.server.tools import TOOLS
from mdmem.vault import layout, note
from tests.helpers import tree
from tests.helpers.few import few
from tests.helpers.server_calls import Answer, Server, create, found

FIVE = [tool.name for tool in TOOLS if tool.name.startswith("remember_")]
ALICE = {"X-Internal-Type": "ghost", "X-Ghost-Type": "user", "X-Ghost-Owner": "alice"}
LEAST: dict[str, dict[str, Any]] = {
    "remember_create_internal_memory": {"content": "x"},
    "remember_update_internal_memory": {"memory_id": "x", "title": "y"},
    "remember_search_internal_memory": {"query": "x"},
    "remember_query_internal_memory": {"query": "x"},
    "remember_search_internal_memory_by": {"mode": "byTime"},
    "remember_publish": {"memory_id": "x", "to": "space:music"},
}


@pytest.fixture
def alice(server: Server) -> Callable[..., Answer]:
    return server.with_headers(ALICE)


# -- the context -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", FIVE)
def test_without_a_context_each_tool_says_so(server: Server, tool: str) -> None:
    answer = server.call(tool, LEAST[tool])

    assert answer.error
    assert answer.said == "Internal context required. X-Internal-Type header must be set."


@pytest.mark.parametrize(
    ("headers", "named"),
    [
        ({"X-Internal-Type": "robot"}, "X-Internal-Type must be ghost or agent, not 'robot'"),
        ({"X-Internal-Type": "ghost"}, "X-Ghost-Type must be user, space or group for a ghost"),
        ({"X-Internal-Type": "ghost", "X-Ghost-Owner": "alice"}, "X-Ghost-Type must be user, space or group"),
        ({"X-Internal-Type": "ghost", "X-Ghost-Type": "team"}, "X-Ghost-Type must be .* not 'team'"),
        ({"X-Internal-Type": "ghost", "X-Ghost-Type": "user"}, "X-Ghost-Owner must be set for the ghost of a user"),
        ({"X-Internal-Type": "ghost", "X-Ghost-Type": "space", "X-Ghost-Owner": "a"}, "X-Ghost-Space must be set"),
        ({"X-Internal-Type": "ghost", "X-Ghost-Type": "group"}, "X-Ghost-Group must be set"),
        ({**ALICE, "X-Ghost-Owner": "alice, carol"}, "X-Ghost-Owner must be letters"),
        ({**ALICE, "X-Ghost-Owner": "../carol"}, "X-Ghost-Owner must be letters"),
        ({**ALICE, "X-Ghost-Owner": "a" * 65}, "X-Ghost-Owner must be letters"),
        ({**ALICE, "X-User-Id": "b/c"}, "X-User-Id must be letters"),
        ({"X-Internal-Type": "agent", "X-Conversation-Id": "a b"}, "X-Conversation-Id must be letters"),
    ],
)
def test_a_bad_context_is_named(server: Server, headers: dict[str, str], named: str) -> None:
    answer = server.with_headers(headers)("remember_search_internal_memory", {"query": "x"})

    assert answer.error
    assert re.search(named, answer.said), answer.said


def test_a_header_given_twice_is_refused() -> None:
    from starlette.datastructures import Headers

    raw = [(b"x-internal-type", b"agent"), (b"x-internal-type", b"ghost")]
    with pytest.raises(UsageError, match="X-Internal-Type is given 2 times"):
        context.from_headers(Headers(raw=raw))


def test_the_environment_makes_a_context_on_stdio() -> None:
    env = {"MDMEM_INTERNAL_TYPE": "ghost", "MDMEM_GHOST_TYPE": "space", "MDMEM_GHOST_SPACE": "music-lovers"}

    assert context.from_env(env) == Context("ghost", "space", "music-lovers")
    with pytest.raises(UsageError, match="MDMEM_GHOST_GROUP must be set"):
        context.from_env({**env, "MDMEM_GHOST_TYPE": "group"})
    with pytest.raises(
        UsageError, match=r"^Internal context required\. .* On stdio, set MDMEM_INTERNAL_TYPE instead\.$"
    ):
        context.from_env({})
    with pytest.raises(UsageError, match=r"MDMEM_INTERNAL_TYPE instead\. It is needed beside MDMEM_GHOST_TYPE\.$"):
        context.from_env({"MDMEM_GHOST_TYPE": "user"})


def test_python_gives_a_context_in_either_form() -> None:
    flat = {"internal_type": "ghost", "ghost_type": "user", "ghost_owner": "alice", "user_id": "bob"}
    made = Context("ghost", "user", "alice", "bob")

    assert context.read(flat) == context.read({"internal_context": flat}) == made
    assert context.read({"internal_context": made}) is made


def test_python_calls_the_tools_functions_in_a_context(vault: Path) -> None:
    flat = access.in_python(internal_type="ghost", ghost_type="user", ghost_owner="alice")
    structured = access.in_python(str(vault), internal_context=Context("ghost", "user", "carol"))

    made = remembering.remember_create_internal_memory(flat, "tea", feelings={"feel_joy": 0.5})

    assert made["tags"] == ["ghost", "ghost_type:user", "ghost_owner:user:alice"]
    (kept,) = remembering.remember_search_internal_memory(flat, "tea")["memories"]
    assert kept["feelings"] == {"feel_joy": 0.5}
    assert remembering.remember_search_internal_memory(structured, "")["total"] == 0
    with pytest.raises(UsageError, match="Internal context required"):
        remembering.remember_search_internal_memory(access.in_python(), "tea")


def test_a_name_is_the_same_over_http_and_on_stdio(server: Server) -> None:
    from starlette.datastructures import Headers

    given = {"X-Internal-Type": "ghost", "X-Ghost-Type": "user", "X-Ghost-Owner": "zoë"}
    raw = [(name.lower().encode(), value.encode()) for name, value in given.items()]
    env = {"MDMEM_INTERNAL_TYPE": "ghost", "MDMEM_GHOST_TYPE": "user", "MDMEM_GHOST_OWNER": "zoë"}

    assert context.from_headers(Headers(raw=raw)) == context.from_env(env) == Context("ghost", "user", "zoë")


def test_over_http_the_environment_gives_no_context(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_INTERNAL_TYPE", "agent")

    assert server.call("remember_search_internal_memory", {"query": "x"}).error


# -- what is written -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "folder", "tags"),
    [
        (ALICE, "internal/ghost/user/alice", ["ghost", "ghost_type:user", "ghost_owner:user:alice"]),
        (
            {"X-Internal-Type": "ghost", "X-Ghost-Type": "space", "X-Ghost-Space": "music-lovers"},
            "internal/ghost/space/music-lovers",
            ["ghost", "ghost_type:space", "ghost_owner:space:music-lovers"],
        ),
        (
            {"X-Internal-Type": "ghost", "X-Ghost-Type": "group", "X-Ghost-Group": "band"},
            "internal/ghost/group/band",
            ["ghost", "ghost_type:group", "ghost_owner:group:band"],
        ),
        ({"X-Internal-Type": "agent"}, "internal/agent", ["agent"]),
        (
            {"X-Internal-Type": "agent", "X-Conversation-Id": "c1"},
            "internal/agent",
            ["agent", "agent:conversation:c1"],
        ),
        ({**ALICE, "X-User-Id": "bob"}, "internal/ghost/user/alice/by-bob", ["ghost", "ghost_type:user"]),
    ],
)
def test_a_memory_is_stored_in_the_folder_and_with_the_tags_of_its_scope(
    server: Server, vault: Path, headers: dict[str, str], folder: str, tags: list[str]
) -> None:
    call = server.with_headers(headers)

    name = create(call, "I like tea", tags=["taste"], weight=0.5, trust=0.25, feel_joy=1, feel_long_ing=0.5)

    (path,) = (vault / folder).glob("*.md")
    meta = note.parse(path.read_bytes()).meta
    assert meta["id"] == name
    assert meta["kind"] == headers["X-Internal-Type"]
    assert meta["tags"][: len(tags)] == tags
    assert meta["tags"][-1] == "taste"
    assert (meta["version"], meta["weight"], meta["trust"]) == (1, 0.5, 0.25)
    assert (meta["feel_joy"], meta["feel_long_ing"]) == (1.0, 0.5)
    assert found(call("remember_search_internal_memory", {"query": "tea"})) == ["I like tea"]


@pytest.mark.parametrize(
    "tag",
    [
        "ghost", "agent", "ghost_owner:user:carol", "ghost_type:space", "agent:conversation:c2", "#Ghost", " AGENT ",
        "ghost_owner", "ｇｈｏｓｔ", "ghost:x", "gho<private>x</private>st",
    ],
)  # fmt: skip
def test_a_tag_that_would_forge_a_scope_is_refused(server: Server, vault: Path, tag: str) -> None:
    (vault / "mdmem.toml").write_text('[privacy]\nmarker = ""\n')
    alice = server.with_headers(ALICE)
    name = create(alice, "mine")

    for tool, arguments in (
        ("remember_create_internal_memory", {"content": "x", "tags": ["fine", tag]}),
        ("remember_update_internal_memory", {"memory_id": name, "tags": [tag]}),
        ("add_note", {"text": "x", "tags": [tag]}),
    ):
        answer = alice(tool, arguments)
        assert answer.error, tool
        assert "only the connection" in answer.said

    assert len(list(vault.rglob("*.md"))) == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"weight": 1.5}, "weight"),
        ({"trust": -0.1}, "trust"),
        ({"feel_joy": 2}, "feel_joy must be a number from 0 to 1"),
        ({"feel_joy": "much"}, "feel_joy must be a number"),
        ({"feel_joy": True}, "feel_joy must be a number"),
        ({"mood": 0.5}, "no argument 'mood'"),
        ({"ghost_owner": "carol"}, "no argument 'ghost_owner'"),
        ({"feelings": {"feel_joy": 0.5}}, "no argument 'feelings'"),
        ({"feel_../x": 0.5}, "no argument"),
        ({"content": "<private>all</private>"}, "nothing to store"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    alice: Callable[..., Answer], vault: Path, arguments: dict[str, Any], named: str
) -> None:
    answer = alice("remember_create_internal_memory", {"content": "x", **arguments})

    assert answer.error
    assert named in answer.said
    assert not (vault / "internal").exists()


def test_an_update_changes_what_is_given_and_counts_up(alice: Callable[..., Answer], vault: Path) -> None:
    name = create(alice, "first", title="One", tags=["a"], weight=0.1)
    (path,) = vault.rglob("*.md")
    path.write_text(path.read_text().replace("weight: 0.1", "weight: 0.1  # by hand\nmine: yes indeed"))

    second = alice("remember_update_internal_memory", {"memory_id": f"[mem:{name}]", "content": "second\n\ntext"})
    third = alice("remember_update_internal_memory", {"memory_id": name, "tags": ["b"], "weight": 0.9, "title": "Two"})

    assert (second.value["version"], third.value["version"]) == (2, 3)
    read = note.parse(path.read_bytes())
    assert read.body == "second\n\ntext\n"
    assert read.meta["tags"] == ["ghost", "ghost_type:user", "ghost_owner:user:alice", "b"]
    assert (read.meta["title"], read.meta["weight"], read.meta["mine"]) == ("Two", 0.9, "yes indeed")
    assert "# by hand" in path.read_text()
    assert alice("remember_update_internal_memory", {"memory_id": name}).said.startswith("There is nothing to change")


def test_a_memory_is_found_by_the_beginning_of_its_id_and_by_its_path(
    alice: Callable[..., Answer], vault: Path
) -> None:
    name = create(alice, "tea")
    (path,) = vault.rglob("*.md")

    for reference in (name[:4], name.upper(), path.relative_to(vault).as_posix(), str(path)[:-3]):
        assert not alice("remember_update_internal_memory", {"memory_id": reference, "weight": 0.5}).error, reference
    twin = path.with_name("twin.md")
    twin.write_text(path.read_text().replace(name, f"{name[:9]}_"))
    answer = alice("remember_update_internal_memory", {"memory_id": name[:4], "weight": 1})
    assert answer.error
    assert "2 memories have ids that begin with" in answer.said


@pytest.mark.slow
def test_memories_are_written_by_month_once_there_are_many_and_all_are_found(
    alice: Callable[..., Answer], vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "MANY", 2)
    made = [create(alice, f"Heron number {number} nests here.") for number in range(4)]

    def contents() -> set[str]:
        return set(found(alice("remember_search_internal_memory", {"query": "heron", "limit": 10})))

    held = [path for path in (vault / "internal").rglob("*.md") if "heron" in path.name]
    by_month = [path for path in held if re.search(r"/20\d\d/[01]\d/[^/]+$", path.as_posix())]
    assert (len(held), len(by_month)) == (4, 2)
    assert contents() == {f"Heron number {number} nests here." for number in range(4)}
    for name in made:
        assert not alice("remember_update_internal_memory", {"memory_id": name, "weight": 0.5}).error
    deeper = by_month[0].parent / "by-somebody"
    deeper.mkdir()
    by_month[0].rename(deeper / by_month[0].name)
    assert len(contents()) == 3, "what lies deeper is no memory of the scope"


def test_an_update_by_an_agent_at_large_leaves_a_memory_to_its_conversation(server: Server) -> None:
    at_large = server.with_headers({"X-Internal-Type": "agent"})
    talk = server.with_headers({"X-Internal-Type": "agent", "X-Conversation-Id": "c1"})
    name = create(talk, "tea", tags=["a"])

    changed = at_large("remember_update_internal_memory", {"memory_id": name, "tags": ["b"]})

    assert changed.value["tags"] == ["agent", "agent:conversation:c1", "b"]
    assert found(talk("remember_search_internal_memory", {"query": "tea"})) == ["tea"]


def test_tags_are_returned_as_they_are_stored(alice: Callable[..., Answer]) -> None:
    given = {"content": "x", "tags": ["#green tea", "a<private>canary</private>"]}

    made = alice("remember_create_internal_memory", given)

    assert made.value["tags"][3:] == ["green-tea", "a[PRIVATE]"]


@pytest.mark.slow
def test_the_text_before_an_update_is_in_git(vault: Path, server: Server) -> None:
    init.make_vault(config.load(str(vault)))
    alice = server.with_headers(ALICE)
    name = create(alice, "the first text")
    for text in ("the second text", "the third text"):
        alice("remember_update_internal_memory", {"memory_id": name, "content": text})

    (path,) = (vault / "internal").rglob("*.md")
    log = subprocess.run(
        ["git", "-C", str(vault), "log", "-p", "--", str(path.relative_to(vault))], capture_output=True, text=True
    ).stdout
    assert "the first text" in log
    assert "the second text" in log


def test_an_update_of_an_ordinary_note_names_both_types(alice: Callable[..., Answer], vault: Path) -> None:
    (vault / "notes").mkdir()
    (vault / "notes" / "a.md").write_text("---\nid: 7gk2q9m4x1\nkind: prompt\n---\n\ntext\n")

    answer = alice("remember_update_internal_memory", {"memory_id": "7gk2q9m4x1", "content": "mine now"})

    assert answer.error
    assert "is a prompt" in answer.said
    assert "of the kind ghost" in answer.said
    assert "mine now" not in (vault / "notes" / "a.md").read_text()


def test_no_private_byte_reaches_a_file(server: Server, vault: Path, tmp_path: Path, home: Path) -> None:
    owner = "ghp_" + "a1B2c3D4e5F6" * 3
    alice = server.with_headers({**ALICE, "X-Ghost-Owner": owner})
    hidden = "<private>canary</private>"
    name = create(alice, f"I {hidden} like", title=hidden, tags=[f"a{hidden}"])
    alice(
        "remember_update_internal_memory",
        {"memory_id": name, "content": f"{hidden} x", "title": f"y {hidden}"},
    )

    assert found(alice("remember_search_internal_memory", {"query": ""})) == ["[PRIVATE] x"]
    for path in tree.entries(tmp_path, home):
        assert "canary" not in str(path)
        assert owner not in str(path)
    for path, data in tree.contents(tmp_path, home):
        assert b"canary" not in data, path
        assert owner.encode() not in data, path


# -- trust and deletion ----------------------------------------------------------------------------


def test_an_accessor_is_shown_what_they_are_trusted_with(server: Server, vault: Path) -> None:
    bob = server.with_headers({**ALICE, "X-User-Id": "bob"})
    for trust in (0.0, 0.5, 0.9):
        create(bob, f"asks {trust}", trust=trust)
    name = create(bob, "asks much", trust=0.8)
    (vault / "mdmem.toml").write_text('[internal]\ntrust = ["user:alice bob 0.5", "user:alice * 0.1"]\n')

    assert set(found(bob("remember_search_internal_memory", {"query": ""}))) == {"asks 0.0", "asks 0.5"}
    assert found(bob("remember_query_internal_memory", {"query": "much"})) == []
    assert bob("remember_update_internal_memory", {"memory_id": name, "title": "x"}).error
    (mine,) = [one for one in bob("remember_query_internal_memory", {"query": "0.5"}).value["memories"] if one["trust"]]
    beyond = bob("remember_update_internal_memory", {"memory_id": mine["memory_id"], "trust": 0.9})
    assert (beyond.error, beyond.value["version"]) == (False, 2)
    assert found(bob("remember_search_internal_memory", {"query": ""})) == ["asks 0.0"]


@pytest.mark.parametrize(
    ("row", "share"),
    [("user:alice bob 0.25", 0.25), ("user:alice bob much", 0), ("user:alice", 0), ("user:carol bob 0.5", 1), ("", 1)],
)
def test_a_row_of_trust_that_cannot_be_read_shows_nothing_more(vault: Path, row: str, share: float) -> None:
    settings = config.load(str(vault))
    settings.settings.values["internal.trust"] = [row]

    assert context.trust(settings, Context("ghost", "user", "alice", "bob")) == share


def test_a_vault_can_lower_the_trust_that_the_user_gives_and_never_raise_it(vault: Path, home: Path) -> None:
    own = home / ".config" / "mdmem" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('internal.trust = ["user:alice bob 0.5", "user:alice * 0.2"]\n')
    (vault / "mdmem.toml").write_text('internal.trust = ["user:alice bob 0.3", "user:alice carol 1"]\n')
    found = config.load(str(vault))

    assert context.trust(found, Context("ghost", "user", "alice", "bob")) == 0.3
    assert context.trust(found, Context("ghost", "user", "alice", "carol")) == 0.2
    assert context.trust(found, Context("ghost", "user", "alice", "dave")) == 0.2


def test_deleted_memories_are_shown_when_they_are_asked_for(alice: Callable[..., Answer], vault: Path) -> None:
    create(alice, "kept")
    create(alice, "gone")
    (path,) = (vault / "internal").rglob("*gone*.md")
    path.write_text(path.read_text().replace("version: 1", "version: 1\ndeleted: true"))

    def search(deleted: str) -> set[str]:
        return set(found(alice("remember_search_internal_memory", {"query": "", "deleted_filter": deleted})))

    assert (search("exclude"), search("only")) == ({"kept"}, {"gone"})
    assert search("include") == {"kept", "gone"}
    by_time = alice("remember_search_internal_memory_by", {"mode": "byTime", "deleted_filter": "include"})
    assert by_time.said.count("version 1, deleted") == 1
    assert alice("remember_search_internal_memory", {"query": "", "deleted_filter": "all"}).error


# -- searching -------------------------------------------------------------------------------------


def test_search_ranks_pages_and_filters_by_tags(alice: Callable[..., Answer]) -> None:
    create(alice, "tea and more tea", tags=["drink"])
    create(alice, "a long text that names tea once among very many other words that say nothing of it")
    create(alice, "coffee", tags=["drink"])

    first = alice("remember_search_internal_memory", {"query": "tea", "limit": 1})
    more = {"limit": 1, "offset": first.value["next_offset"]}
    second = alice("remember_search_internal_memory", {"query": "tea", **more})

    assert (first.value["total"], second.value["next_offset"]) == (2, None)
    assert found(first) == ["tea and more tea"]
    assert found(first) != found(second)
    assert len(found(alice("remember_search_internal_memory", {"query": "", "tags": ["drink"]}))) == 2
    assert found(alice("remember_query_internal_memory", {"query": "tea", "min_relevance": 0.99})) == []
    asked = alice("remember_query_internal_memory", {"query": "tea"})
    relevance = [one["relevance"] for one in asked.value["memories"]]
    assert relevance == sorted(relevance, reverse=True)
    assert 0 < relevance[0] <= 1


def test_alpha_finds_other_spellings(alice: Callable[..., Answer]) -> None:
    create(alice, "the kubernetes cluster")

    assert found(alice("remember_search_internal_memory", {"query": "kubernettes"})) == []
    assert len(found(alice("remember_search_internal_memory", {"query": "kubernettes", "alpha": 0.5}))) == 1


def memory(name: str, **meta: Any) -> Memory:
    content = str(meta.pop("content", name))
    created = str(meta.pop("created", "2026-09-14T08:00:00Z"))
    return Memory(name, f"{name}.md", name, content, (), created, created, 1, 0.0, False, meta, {name: 1})


def test_every_mode_lays_memories_out() -> None:
    late, middle, early = (f"2026-09-14T08:00:0{second}Z" for second in (3, 2, 1))
    held = [
        memory("aaaaaaaaaa", created=late, rating=2, weight=0.4, content="see mem:bbbbbbbbbb"),
        memory("bbbbbbbbbb", created=middle, feel_joy=1.0, weight=0.2, content="[x](y) [[z]]"),
        memory("cccccccccc", created=early, rating=5, zeal=3),
        memory("dddddddddd", created="2026-09-14T08:00:00Z", weight=0.3),
    ]

    def order(mode: str, **more: str) -> str:
        return "".join(one.id[0] for one in finding.arrange(held, mode, **more))

    assert order("byTime") == "abcd"
    assert order("byTime", sort_order="asc") == "dcba"
    assert order("byDensity") == "bacd"
    assert order("byRating") == "cabd"
    assert order("byRating", sort_order="asc") == "acbd"
    assert order("byDiscovery") == "bdac"
    assert order("byProperty", sort_field="weight") == "adbc"
    assert order("byProperty", sort_field="zeal")[0] == "c"
    assert order("bySignificance") == "bacd"
    assert sorted(order("byRandom")) == ["a", "b", "c", "d"]
    assert set(finding.MODES) == {
        "byTime", "byDensity", "byRating", "byDiscovery", "byProperty", "bySignificance", "byBroad", "byRandom",
    }  # fmt: skip
    for bad, named in (
        ({"mode": "byMood"}, "no mode 'byMood'"),
        ({"mode": "byTime", "sort_order": "up"}, "not 'up'"),
        ({"mode": "byProperty"}, "needs sort_field"),
        ({"mode": "byProperty", "sort_field": "wieght"}, "not 'wieght'"),
    ):
        with pytest.raises(UsageError, match=named):
            finding.arrange(held, **bad)


def test_what_was_made_within_a_second_is_in_its_order(alice: Callable[..., Answer]) -> None:
    contents = [f"memory {number}" for number in range(6)]
    for content in contents:
        create(alice, content)

    assert found(alice("remember_search_internal_memory", {"query": ""})) == contents[::-1]
    by_time = {"mode": "byTime", "sort_order": "asc"}
    assert found(alice("remember_search_internal_memory_by", by_time)) == contents


def test_broad_view_shows_head_middle_and_tail(alice: Callable[..., Answer]) -> None:
    create(alice, "begin " + "x " * 500 + "middle " + "y " * 500 + "end")

    (outline,) = found(alice("remember_search_internal_memory_by", {"mode": "byBroad"}))

    assert outline.startswith("begin")
    assert "middle" in outline
    assert outline.endswith("end")
    assert len(outline) < 330


@given(query=st.text(max_size=50), alpha=st.floats(0, 1))
def test_relevance_is_a_share_for_any_question(query: str, alpha: float) -> None:
    held = [memory("aaaaaaaaaa", content=query), memory("bbbbbbbbbb")]

    assert all(0 < share <= 1 for share in finding.relevance(held, query, alpha).values())


@given(name=st.text(max_size=80))
def test_any_owner_is_refused_or_has_a_folder_of_its_own(name: str) -> None:
    values = {"internal_type": "ghost", "ghost_type": "user", "ghost_owner": name}
    try:
        made = context.scope(config.load("/nowhere"), context.read(values))
    except UsageError:
        return
    other = context.scope(config.load("/nowhere"), Context("ghost", "user", name.swapcase()))
    assert len(made.folder) == 4
    assert all(part not in ("", ".", "..") and "/" not in part and part == part.lower() for part in made.folder)
    assert (made.folder == other.folder) == (made.tags == other.tags)


# -- isolation -------------------------------------------------------------------------------------

CONTEXTS: dict[str, dict[str, str]] = {
    "alice": ALICE,
    "carol": {**ALICE, "X-Ghost-Owner": "carol"},
    "capital": {**ALICE, "X-Ghost-Owner": "Alice"},
    "bob": {**ALICE, "X-User-Id": "bob"},
    "space": {"X-Internal-Type": "ghost", "X-Ghost-Type": "space", "X-Ghost-Space": "alice"},
    "group": {"X-Internal-Type": "ghost", "X-Ghost-Type": "group", "X-Ghost-Group": "alice"},
    "agent": {"X-Internal-Type": "agent", "X-Conversation-Id": "c1"},
    "talk": {"X-Internal-Type": "agent", "X-Conversation-Id": "c2"},
}
"""Eight contexts, some of them called the same."""

CREATED = {"remember_create_internal_memory", "add_note"}


@pytest.fixture
def secrets(server: Server, vault: Path) -> dict[str, dict[str, str]]:
    """Return each context a memory with a word of its own in text, title and tags; name it in every way."""
    made = {}
    for name, headers in CONTEXTS.items():
        word = f"canary{name}word"
        call = server.with_headers(headers)
        memory_id = create(call, f"{word} says zebra", title=f"title {word}", tags=[f"tag{word}"], weight=0.5)
        (path,) = (vault / "internal").rglob(f"*{memory_id}.md")
        made[name] = {"word": word, "id": memory_id, "path": path.relative_to(vault).as_posix()}
    return made


def hostile(at: dict[str, str], vault: Path) -> Iterator[str]:
    """Ask for somebody else's memory in every way."""
    memory_id, path = at["id"], at["path"]
    yield from (memory_id, memory_id[:4], memory_id.upper(), f"mem:{memory_id}", f"[mem:{memory_id}]", path, path[:-3])
    yield from (f"./{path}", f"{vault}/{path}", f"notes/../{path}", path.replace("internal", "INTERNAL"))


def words(at: dict[str, str]) -> Iterator[str]:
    """Ask for somebody else's memory in every way."""
    word, path = at["word"], at["path"]
    yield from (f'"{word}"', f"+{word}", f"{word[:9]}*", f"tag:tag{word}", f"id:{at['id']}", f"file:{path} {word}")
    yield from ("is:internal zebra", "kind:ghost,agent zebra", "tag:ghost_owner:user:carol zebra", f"path:{path}")


def calls(at: dict[str, str], vault: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls of every tool that try to reach a memory."""
    for query in words(at):
        yield "search", {"query": query, "queries": ["zebra"], "limit": 50}
        yield "search_user_prompts", {"query": query}
        yield "timeline", {"query": query}
        yield "remember_search_internal_memory", {"query": query, "deleted_filter": "include", "alpha": 0.5}
        yield "remember_query_internal_memory", {"query": query}
    for reference in hostile(at, vault):
        yield "get_notes", {"ids": [reference, reference]}
        yield "timeline", {"note": reference, "all_projects": True}
        yield "related", {"note": reference}
        yield "get_session", {"session": reference}
        yield "append_note", {"note": reference, "text": "overwritten"}
        yield "pin", {"note": reference}
        yield "supersede", {"note": reference, "text": "overwritten"}
        yield "supersede", {"note": "notes/mine.md", "by": reference}
        yield "remember_update_internal_memory", {"memory_id": reference, "content": "overwritten"}
        yield "file_history", {"path": reference}
        yield "remember_publish", {"memory_id": reference, "to": "space:alice"}
        yield "edit_note", {"note": reference, "checksum": "0" * 8, "find": "zebra", "text": "overwritten"}
        yield "move_note", {"note": reference, "to": "notes/taken.md", "checksum": "0" * 8}
        yield "delete_note", {"note": reference, "checksum": "0" * 8}
        yield "undo_change", {"undo": reference}
    yield "search", {"tags": [f"tag{at['word']}"], "kind": "ghost,agent,note"}
    yield "remember_search_internal_memory", {"query": "zebra", "tags": [f"tag{at['word']}"]}
    yield "remember_search_internal_memory_by", {"mode": "byTime", "query": at["word"]}


def wide() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls that ask for all there is."""
    for tag in ("ghost", "agent", "ghost_owner:user:carol", "ghost_owner:user:alice", "agent:conversation:c2"):
        yield "search", {"query": "zebra", "tags": [tag], "kind": "ghost,agent"}
        yield "remember_search_internal_memory", {"query": "zebra", "tags": [tag]}
        yield "remember_create_internal_memory", {"content": "x", "tags": [tag]}
    for mode in finding.MODES:
        arguments = {"mode": mode, "deleted_filter": "include", "limit": 100, "sort_field": "title"}
        yield "remember_search_internal_memory_by", arguments
        yield "remember_search_internal_memory_by", {**arguments, "query": "zebra says title"}
    for kind in ("ghost", "agent", "ghost,agent,note", ""):
        yield "recent", {"kind": kind, "limit": 50}
        yield "timeline", {"note": "notes/mine.md", "kind": kind, "before": 50, "after": 50, "all_projects": True}
    for project in ("internal", "../internal", "", "ghost"):
        yield "project_context", {"project": project}
        yield "recent", {"project": project}
    yield "stats", {}
    yield "get_session", {}
    yield "open_work", {}
    yield "fixes", {"error": "zebra"}
    yield "add_note", {"text": "another note"}


def test_the_matrix_leaves_out_no_tool() -> None:
    at = {"word": "w", "id": "0123456789", "path": "internal/agent/x.md"}

    tried = {tool for tool, _ in [*calls(at, Path("/vault")), *wide()]}
    assert tried == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("name", few([*CONTEXTS, "nobody"], always=["alice"]))
def test_no_tool_shows_another_context_its_memories_or_the_journal(
    server: Server, vault: Path, secrets: dict[str, dict[str, str]], name: str
) -> None:
    (vault / "notes").mkdir()
    (vault / "notes" / "mine.md").write_text("zebra in a note of the user's")
    headers = CONTEXTS.get(name, {})
    call = server.with_headers(headers)
    own = secrets.get(name, {"word": "-"})["word"]
    others = [whose for other, whose in secrets.items() if other != name]
    before = {path: path.read_bytes() for path in (vault / "internal").rglob("*.md")}

    asked = [one for at in others for one in calls(at, vault)]
    # A third of the calls by default, and another third for the next context, so that all of them are tried.
    step = 1 if os.environ.get("MDMEM_SOAK") else 3
    asked = [*asked[[*CONTEXTS, "nobody"].index(name) % step :: step], *wide()]
    for (tool, arguments), answer in zip(asked, server.many(headers, asked), strict=True):
        sent = json.dumps(arguments)
        for whose in others:
            # What was asked for may be repeated; nothing else may be told.
            assert whose["word"] in sent or whose["word"] not in answer.text, (tool, arguments, answer.text)
            assert f"{whose['word']} says" not in answer.text, (tool, arguments)
            assert f"title {whose['word']}" not in answer.text, (tool, arguments)
    for at in others:
        for address in (f"mdmem://note/{at['id']}", f"mdmem://session/{at['id']}", "mdmem://project/internal"):
            assert "says zebra" not in server.read(address, headers)
        assert f"{at['word']} says" not in server.prompt("recall", {"topic": at["word"]}, headers)
    for prompt in ("standup", "handoff"):
        assert "says zebra" not in server.prompt(prompt, {}, headers)

    mine = secrets.get(name, {}).get("path", "-")
    for path, data in before.items():
        if path.relative_to(vault).as_posix() != mine:
            assert path.read_bytes() == data, path
    assert len(asked) > 400
    if name != "nobody":
        assert f"{own} says zebra" in found(call("remember_search_internal_memory", {"query": own}))


def test_a_refusal_does_not_tell_whether_a_memory_is_anothers(
    server: Server, secrets: dict[str, dict[str, str]]
) -> None:
    alice = server.with_headers(ALICE)
    others, none = secrets["carol"]["id"], "zzzzzzzzzz"

    for tool, key in (
        ("remember_update_internal_memory", "memory_id"),
        ("pin", "note"),
        ("related", "note"),
        ("append_note", "note"),
    ):
        more = {"content": "x"} if key == "memory_id" else {"text": "x"} if tool == "append_note" else {}
        of_others = alice(tool, {key: others, **more}).said.replace(others, "ID")
        assert of_others == alice(tool, {key: none, **more}).said.replace(none, "ID")


def test_a_file_placed_in_a_scope_without_its_marks_does_not_belong_to_it(
    server: Server, vault: Path, secrets: dict[str, dict[str, str]]
) -> None:
    carols = vault / secrets["carol"]["path"]
    os.link(carols, vault / "internal" / "ghost" / "user" / "alice" / "2026-01-01-moved.md")

    text = server.with_headers(ALICE)("remember_search_internal_memory", {"query": ""}).text

    assert secrets["alice"]["word"] in text
    assert secrets["carol"]["word"] not in text


def test_relevance_does_not_tell_what_others_remember(server: Server) -> None:
    alice, carol = server.with_headers(ALICE), server.with_headers(CONTEXTS["carol"])
    create(alice, "zebra and lion")
    before = alice("remember_query_internal_memory", {"query": "zebra lion tiger"}).value["memories"][0]["relevance"]
    for number in range(5):
        create(carol, f"tiger zebra {number}")

    after = alice("remember_query_internal_memory", {"query": "zebra lion tiger"}).value["memories"][0]["relevance"]
    assert before == after
