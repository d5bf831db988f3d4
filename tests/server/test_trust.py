"""Trust: with an internal context, the ordinary journal is open as far as the accessor is trusted, and no further."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from mdmem import config
from mdmem.errors import UsageError
from mdmem.server import access
from mdmem.server.internal import context
from mdmem.server.internal.context import Context
from mdmem.server.tools import TOOLS
from tests.helpers.few import few
from tests.helpers.server_calls import Server, create, found

BOB = {"X-Internal-Type": "ghost", "X-Ghost-Type": "user", "X-Ghost-Owner": "alice", "X-User-Id": "bob"}
AGENT = {"X-Internal-Type": "agent", "X-User-Id": "bob"}
SPOILED = {"X-Internal-Type": "ghost", "X-Ghost-Owner": "alice"}
HOME = "internal/ghost/user/alice"


@pytest.fixture
def journal(vault: Path) -> Path:
    """Write a session, and a note with a word in its text that its title does not have."""
    session = vault / "journal" / "acme" / "2026-09-14" / "0800-dates-aaaa1111"
    session.mkdir(parents=True)
    common = "project: acme\nsession: aaaa1111-19fa\nagent: claude-code\n"
    for name, kind, title in (
        ("001-000-prompt", "prompt", "Why do dates fail"),
        ("001-001-response", "response", "Ok"),
    ):
        meta = f"id: {name.replace('-', '')[:10]:x<10}\nkind: {kind}\ntitle: {title}\ncreated: 2026-09-14T08:00:00Z\n"
        (session / f"{name}.md").write_text(f"---\n{meta}{common}files: [src/hush.py]\n---\n\n{title}\nquokka text\n")
    notes = vault / "notes"
    notes.mkdir()
    (notes / "utc.md").write_text(
        "---\nid: nnnnnnnnn1\nkind: note\ntitle: Times in UTC\npinned: true\ntags: [decision]\nproject: acme\n---\n\n"
        "The reason is the quokka.\n"
    )
    return notes / "utc.md"


READING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "quokka"}),
    ("search", {"query": "UTC dates"}),
    ("search", {"query": '"the quokka" +reason'}),
    ("timeline", {"note": "nnnnnnnnn1"}),
    ("timeline", {"query": "UTC"}),
    ("get_notes", {"ids": ["nnnnnnnnn1", "notes/utc.md"]}),
    ("search_user_prompts", {"query": "quokka"}),
    ("search_user_prompts", {"query": "dates", "format": "full"}),
    ("get_session", {"session": "aaaa1111"}),
    ("file_history", {"path": "src/hush.py"}),
    ("recent", {}),
    ("related", {"note": "nnnnnnnnn1"}),
    ("project_context", {"project": "acme"}),
    ("stats", {}),
)
WRITING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add_note", {"text": "written by a ghost"}),
    ("append_note", {"note": "nnnnnnnnn1", "text": "written by a ghost"}),
    ("pin", {"note": "nnnnnnnnn1", "pinned": False}),
    ("supersede", {"note": "nnnnnnnnn1", "text": "written by a ghost"}),
)
RESOURCES = ("mdmem://note/nnnnnnnnn1", "mdmem://session/aaaa1111", "mdmem://project/acme")
PROMPTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("recall", {"topic": "quokka UTC dates"}),
    ("standup", {"since": "2026-01-01"}),
    ("handoff", {}),
)


def everything(server: Server, headers: dict[str, str]) -> str:
    """Return all that a context is told by every tool that reads, every resource and every prompt."""
    call = server.with_headers(headers)
    told = [call(tool, arguments).text for tool, arguments in READING]
    told += [server.read(address, headers) for address in RESOURCES]
    told += [server.prompt(name, arguments, headers).replace("about 'quokka", "") for name, arguments in PROMPTS]
    return "\n".join(told)


def trust(vault: Path, share: float) -> None:
    (vault / "mdmem.toml").write_text(f'[internal]\ntrust = ["user:alice bob {share}", "agent bob {share}"]\n')


@pytest.mark.parametrize("headers", few([BOB, AGENT], always=[BOB]), ids=["ghost", "agent"])
def test_at_trust_0_nothing_of_the_journal_is_shown_or_written(
    server: Server, vault: Path, journal: Path, headers: dict[str, str]
) -> None:
    trust(vault, 0)
    before = journal.read_bytes()

    told = everything(server, headers)
    refused = [server.with_headers(headers)(tool, arguments) for tool, arguments in WRITING]

    for word in ("The reason", "quokka text", "Times in UTC", "Why do dates", "hush.py", "nnnnnnnnn1]", "acme 3"):
        assert word not in told, word
    assert all(answer.error and "trust is 0" in answer.said for answer in refused)
    assert journal.read_bytes() == before
    assert len(list((vault / "notes").iterdir())) == 1


@pytest.mark.parametrize("headers", few([BOB, AGENT], always=[BOB]), ids=["ghost", "agent"])
def test_below_a_half_only_titles_are_shown(
    server: Server, vault: Path, journal: Path, headers: dict[str, str]
) -> None:
    trust(vault, 0.4)
    call = server.with_headers(headers)

    told = everything(server, headers)

    assert "Times in UTC" in told
    assert "Why do dates fail" in told
    for word in ("The reason", "quokka text", "hush.py"):
        assert word not in told, word
    by_text = call("search", {"query": "quokka"})
    assert (by_text.value["entries"], by_text.value["total"]) == ([], 0)
    assert [one["title"] for one in call("search", {"query": "UTC +quokka"}).value["entries"]] == ["Times in UTC"]
    assert call("search", {"file": "hush.py"}).error
    assert "titles" in call("get_notes", {"ids": ["nnnnnnnnn1"]}).said


@pytest.mark.parametrize("headers", few([BOB, AGENT], always=[BOB]), ids=["ghost", "agent"])
def test_below_1_the_journal_is_read_and_not_written(
    server: Server, vault: Path, journal: Path, headers: dict[str, str]
) -> None:
    trust(vault, 0.9)
    before = journal.read_bytes()

    assert "The reason is the quokka" in everything(server, headers)
    for tool, arguments in WRITING:
        answer = server.with_headers(headers)(tool, arguments)
        assert answer.error and "may only read:" in answer.said, tool
    assert journal.read_bytes() == before


def test_the_owner_and_a_fully_trusted_accessor_are_not_limited(server: Server, vault: Path, journal: Path) -> None:
    (vault / "mdmem.toml").write_text('[internal]\ntrust = ["user:alice * 0", "user:carol * 1"]\n')

    for headers in ({}, {**BOB, "X-User-Id": "alice"}, {**BOB, "X-Ghost-Owner": "carol"}):
        call = server.with_headers(headers)
        assert "quokka" in call("get_notes", {"ids": ["nnnnnnnnn1"]}).text
        assert not call("append_note", {"note": "nnnnnnnnn1", "text": "more"}).error


def test_a_context_that_cannot_be_read_opens_nothing(server: Server, journal: Path) -> None:
    answer = server.with_headers(SPOILED)("search", {"query": "UTC"})

    assert answer.error
    assert "X-Ghost-Type must be" in answer.said
    assert "quokka" not in everything(server, SPOILED)


@pytest.mark.parametrize("header", ["X-Ghost-Type", "X-Ghost-Owner", "X-Ghost-Space", "X-Conversation-Id"])
def test_half_a_context_is_no_call_of_the_owners(server: Server, journal: Path, header: str) -> None:
    answer = server.with_headers({header: "user"})("search", {"query": "date"})

    assert answer.error
    assert f"X-Internal-Type header must be set. It is needed beside {header}." in answer.said


def test_every_tool_of_the_journal_asks_for_trust() -> None:
    open_to_all = {row.name for row in TOOLS if not row.needs}
    writing = {row.name for row in TOOLS if row.needs == access.FOR_WRITING}

    assert all(name.startswith("remember_") for name in open_to_all)
    assert writing == {row.name for row in TOOLS if row.writes} - open_to_all


# -- the ghost's configuration ----------------------------------------------------------------------


def configure(vault: Path, front: str, home: str = HOME) -> Path:
    folder = vault / home
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / context.CONFIG_FILE
    file.write_text(f"---\nkind: ghost-config\n{front}---\n\nDry, and short.\n")
    return file


@pytest.mark.parametrize(
    ("front", "share"),
    [
        ('trust: ["bob 0.5", "* 0.2"]\n', 0.5),
        ('trust: ["carol 0.5", "* 0.2"]\n', 0.2),
        ('trust: ["carol 0.5"]\n', 1.0),
        ("trust: 0.3\n", 0.3),
        ("trust: bob 0.7, * 0\n", 0.7),
        ('trust: ["bob much"]\n', 0.0),
        ('trust: ["bob"]\n', 0.0),
        ("trust: [\n", 0.0),
        ("", 1.0),
    ],
)
def test_trust_comes_from_the_ghosts_configuration(vault: Path, front: str, share: float) -> None:
    configure(vault, front)

    assert context.trust(config.load(str(vault)), Context("ghost", "user", "alice", "bob")) == share
    assert context.trust(config.load(str(vault)), Context("ghost", "user", "carol", "bob")) == 1.0


def test_the_setting_is_the_upper_bound_of_the_configuration(vault: Path) -> None:
    configure(vault, 'trust: ["bob 0.9", "dave 0.1"]\n')
    (vault / "mdmem.toml").write_text('[internal]\ntrust = ["user:alice * 0.4"]\n')
    settings = config.load(str(vault))

    assert context.trust(settings, Context("ghost", "user", "alice", "bob")) == 0.4
    assert context.trust(settings, Context("ghost", "user", "alice", "dave")) == 0.1


@pytest.mark.slow
def test_no_tool_shows_or_changes_the_configuration(server: Server, vault: Path, journal: Path) -> None:
    file = configure(vault, 'trust: ["* 0.9"]\n')
    before, path = file.read_bytes(), f"{HOME}/{context.CONFIG_FILE}"
    for headers in ({}, BOB, {**BOB, "X-User-Id": "alice"}):
        call = server.with_headers(headers)
        assert "Dry, and short" not in everything(server, headers)
        for tool, arguments in (
            ("get_notes", {"ids": [path]}),
            ("append_note", {"note": path, "text": "trust: 1"}),
            ("remember_update_internal_memory", {"memory_id": path, "content": "trust: 1"}),
            ("remember_search_internal_memory", {"query": ""}),
        ):
            assert "Dry, and short" not in call(tool, arguments).text
    assert file.read_bytes() == before


@pytest.mark.parametrize(("headers", "told"), [(BOB, True), ({**BOB, "X-User-Id": "mallory"}, False), ({}, False)])
def test_a_ghost_reads_its_persona_unless_nobody_trusts_its_accessor(
    server: Server, vault: Path, journal: Path, headers: dict[str, str], told: bool
) -> None:
    configure(vault, 'trust: ["mallory 0", "* 0.9"]\n')

    said = server.read("mdmem://ghost", headers)

    assert ("Dry, and short" in said) is told
    assert ("accessor: 0.9 of 1" in said) is told


# -- contexts in the seed's own shape ---------------------------------------------------------------

SEED = {"type": "ghost", "ghost_type": "user", "owner_user_id": "alice", "accessor_user_id": "bob"}
CAMEL = {"type": "ghost", "ghostType": "user", "ownerUserId": "alice", "accessorUserId": "bob"}


@pytest.mark.parametrize("given", [SEED, CAMEL])
@pytest.mark.parametrize("name", context.NESTED)
def test_a_context_may_be_one_object(vault: Path, given: dict[str, str], name: str) -> None:
    wanted = Context("ghost", "user", "alice", "bob")

    assert context.read({name: given}) == wanted
    extras: dict[str, Any] = {name: given}
    assert access.in_python(**extras).context() == wanted
    assert access.over_http(None, Headers({}), {name: given}).context() == wanted
    assert access.on_stdio(None, {}, str(vault), {name: given}).context() == wanted
    assert access.over_http(None, Headers(BOB), {name: given}).context() == wanted


def test_the_object_has_spaces_groups_and_conversations() -> None:
    assert context.read({"internalContext": {"type": "ghost", "ghost_type": "space", "space_id": "s"}}).owner == "s"
    assert context.read({"internalContext": {"type": "ghost", "ghostType": "group", "groupId": "g"}}).owner == "g"
    assert context.read({"internalContext": {"type": "agent", "conversationId": "c"}}).conversation == "c"


def test_an_object_never_widens_what_the_connection_says(vault: Path) -> None:
    at = access.over_http(None, Headers(BOB), {"internalContext": {**SEED, "accessor_user_id": "alice"}})

    with pytest.raises(UsageError, match="differs from what its connection says"):
        at.context()
    with pytest.raises(UsageError, match="differs"):
        at.require(access.FOR_TITLES)
    with pytest.raises(UsageError, match="given twice"):
        context.read({"internalContext": {**SEED, "owner": "carol"}})


# -- filters, feelings, order -----------------------------------------------------------------------


TOOLS_WITH_FILTERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("remember_search_internal_memory", {"query": "tea"}),
    ("remember_query_internal_memory", {"query": "tea"}),
    ("remember_search_internal_memory_by", {"mode": "byTime", "query": "tea"}),
)


@pytest.mark.parametrize(("tool", "arguments"), TOOLS_WITH_FILTERS)
def test_filters_narrow_every_way_of_looking(server: Server, vault: Path, tool: str, arguments: dict[str, Any]) -> None:
    call = server.with_headers(BOB)
    create(call, "green tea", tags=["drink"], weight=0.9)
    create(call, "black tea", weight=0.2)
    gone = create(call, "old tea")
    (file,) = (vault / "internal").rglob(f"*{gone}.md")
    text = file.read_text().replace("kind: ghost\n", "kind: ghost\ndeleted: true\ntype: recipe\n")
    file.write_text(text.replace(text.partition("created: ")[2][:4], "2020", 1))

    def ask(**more: Any) -> set[str]:
        return set(found(call(tool, {**arguments, **more})))

    assert ask() == {"green tea", "black tea"}
    assert ask(filters={"tags": ["drink"]}) == {"green tea"}
    assert ask(filters={"weight_min": 0.1, "types": ["ghost"]}) == {"green tea", "black tea"}
    assert ask(filters={"min_weight": 0.5, "created_from": "today"}) == {"green tea"}
    assert ask(filters={"created_to": "2021-01-01"}) == set()
    assert ask(filters={"created_to": "2021-01-01"}, deleted_filter="only") == {"old tea"}
    assert ask(filters={"types": ["recipe"]}, deleted_filter="include") == {"old tea"}
    for wrong in ({"colour": "red"}, {"tags": 3}, {"weight_min": 2}, {"created_from": "whenever"}):
        answer = call(tool, {**arguments, "filters": wrong})
        assert answer.error and next(iter(wrong)) in answer.said


def test_an_update_changes_feelings(server: Server) -> None:
    call = server.with_headers(BOB)
    name = create(call, "x", feel_joy=0.2)

    assert not call("remember_update_internal_memory", {"memory_id": name, "feel_joy": 0.9, "feel_awe": 0.1}).error
    assert call("remember_update_internal_memory", {"memory_id": name, "feel_joy": 2}).error
    (one,) = call("remember_search_internal_memory", {"query": ""}).value["memories"]
    assert one["feelings"] == {"feel_joy": 0.9, "feel_awe": 0.1}


@pytest.mark.slow
def test_memories_of_one_second_keep_their_order(server: Server) -> None:
    call = server.with_headers(BOB)
    for number in range(40):
        create(call, f"note {number}")

    listed = found(call("remember_search_internal_memory", {"query": "", "limit": 40}))

    assert listed == [f"note {number}" for number in reversed(range(40))]


# -- publishing -------------------------------------------------------------------------------------

SPACE = {"X-Internal-Type": "ghost", "X-Ghost-Type": "space", "X-Ghost-Space": "music"}
ALICE = {**BOB, "X-User-Id": ""}


def test_a_space_ghost_sees_what_was_published_and_its_accessors_own(server: Server, vault: Path) -> None:
    configure(vault, "spaces: [music]\n")
    alice, bob = server.with_headers(ALICE), server.with_headers({**SPACE, "X-User-Id": "bob"})
    carol = server.with_headers({**SPACE, "X-User-Id": "carol"})
    name = create(alice, "plays the oboe", tags=["oboe"], weight=0.7)
    create(alice, "keeps a secret")
    create(bob, "bob likes jazz")
    shared = create(bob, "bob shares a score")

    assert not alice("remember_publish", {"memory_id": name, "to": "space:music"}).error
    assert not bob("remember_publish", {"memory_id": shared, "to": "space:music"}).error

    every = {"query": ""}
    assert set(found(bob("remember_search_internal_memory", every))) == {
        "plays the oboe", "bob likes jazz", "bob shares a score",
    }  # fmt: skip
    assert set(found(carol("remember_search_internal_memory", every))) == {"plays the oboe", "bob shares a score"}
    other = server.with_headers({**SPACE, "X-Ghost-Space": "cooks"})
    assert found(other("remember_search_internal_memory", every)) == []


def test_what_is_published_again_is_refreshed_and_what_is_withdrawn_is_gone(server: Server, vault: Path) -> None:
    configure(vault, "groups: [band]\n")
    alice = server.with_headers(ALICE)
    band = server.with_headers({"X-Internal-Type": "ghost", "X-Ghost-Type": "group", "X-Ghost-Group": "band"})
    name = create(alice, "plays the oboe")
    to = {"memory_id": name, "to": "group:band"}
    first = alice("remember_publish", to).value
    alice("remember_update_internal_memory", {"memory_id": name, "content": "plays the bassoon"})

    again = alice("remember_publish", to).value
    assert (again["memory_id"], first["version"], again["version"]) == (first["memory_id"], 1, 2)
    every = {"query": "", "deleted_filter": "include"}
    assert found(band("remember_search_internal_memory", every)) == ["plays the bassoon"]
    edited = band("remember_update_internal_memory", {"memory_id": first["memory_id"], "content": "plays nothing"})
    assert edited.error and "published here" in edited.said

    assert not alice("remember_publish", {**to, "withdraw": True}).error
    assert found(band("remember_search_internal_memory", every)) == []
    alice("remember_publish", to)
    assert found(band("remember_search_internal_memory", every)) == ["plays the bassoon"]


@pytest.mark.parametrize(
    ("headers", "to"),
    [
        (ALICE, "space:cooks"),  # its configuration names another
        (ALICE, "group:music"),
        (ALICE, "user:carol"),
        (ALICE, "space:../x"),
        (ALICE, "music"),
        ({**SPACE, "X-Ghost-Space": "cooks"}, "space:music"),
        ({"X-Internal-Type": "agent"}, "space:music"),
    ],
)
def test_nobody_publishes_where_they_were_not_let(
    server: Server, vault: Path, headers: dict[str, str], to: str
) -> None:
    configure(vault, "spaces: [music]\n")
    call = server.with_headers(headers)
    name = create(call, "hello")
    before = sorted(path.name for path in (vault / "internal").rglob("*.md"))

    assert call("remember_publish", {"memory_id": name, "to": to}).error
    assert sorted(path.name for path in (vault / "internal").rglob("*.md")) == before
