"""Settings: where they come from, what a vault may not say, and that a slip in a file stops nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest

from mdmem import config, privacy
from mdmem.cli.terminal import render
from mdmem.settings import BY_KEY, SETTINGS, Setting, all_of, common, neither
from tests.conftest import REPO, own_settings


@pytest.fixture(autouse=True)
def as_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take back the patience that every other test has."""
    monkeypatch.delenv("MDMEM_INJECT_DEADLINE_SECONDS")


def load(vault: Path) -> config.Config:
    return config.load(str(vault))


def test_the_vault_is_found_in_order(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.load().vault == str(home / "mdmem")
    file = Path(config.user_file(os.environ))
    file.parent.mkdir(parents=True)
    file.write_text(f'vault = "{tmp_path}/from-file"\n')
    assert config.load().vault == f"{tmp_path}/from-file"
    monkeypatch.setenv("MDMEM_VAULT", f"{tmp_path}/from-env")
    assert config.load().vault == f"{tmp_path}/from-env"
    assert config.load(f"{tmp_path}/from-option").vault == f"{tmp_path}/from-option"


def test_a_relative_vault_in_the_users_file_is_in_the_home_folder_wherever_an_agent_works(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_settings('vault = "memories"\n')
    monkeypatch.chdir(tmp_path)
    assert config.load().vault == str(home / "memories")
    monkeypatch.setenv("MDMEM_VAULT", "here")
    assert config.load().vault == f"{tmp_path}/here"


def test_a_vault_in_the_users_file_that_is_no_text_is_a_warning(home: Path) -> None:
    own_settings("vault = 5\n")
    found = config.load()
    assert found.vault == str(home / "mdmem")
    assert [warning.partition(": ")[2] for warning in found.warnings] == ["vault must be a quoted string, not 5."]


def test_a_value_of_the_wrong_type_is_shown_as_files_write_it(home: Path) -> None:
    own_settings("[inject]\nchars = true\non = [1, false]\n")
    said = " ".join(config.load().warnings)
    assert "inject.chars must be a whole number, 0 or more, not true." in said
    assert ", not [1, false]." in said


def test_a_vault_says_what_is_stored_and_the_users_file_wins(vault: Path) -> None:
    (vault / "mdmem.toml").write_text("[capture]\nmax_lines = 7\nmax_chars = 8\n")
    own_settings("[capture]\nmax_chars = 9\n")
    settings = load(vault).settings
    assert (settings.capture.max_lines, settings.capture.max_chars) == (7, 9)


def test_an_environment_variable_wins_and_a_bad_one_is_a_warning(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_INJECT_AFTER_TURNS", "5")
    monkeypatch.setenv("MDMEM_INJECT_AFTER_CHARS", "many")
    found = load(vault)
    assert (found.settings.inject.after_turns, found.settings.inject.after_chars) == (5, 333)
    assert any("MDMEM_INJECT_AFTER_CHARS" in warning for warning in found.warnings)


def test_a_bad_variable_leaves_what_the_files_say_and_the_warning_names_no_other_value(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_settings("[inject]\nafter_turns = 40\n")
    monkeypatch.setenv("MDMEM_INJECT_AFTER_TURNS", "many")
    found = load(vault)
    assert found.settings.inject.after_turns == 40
    assert found.warnings == ("MDMEM_INJECT_AFTER_TURNS is not a whole number, 0 or more, and is ignored.",)


@pytest.mark.parametrize(
    ("variable", "key", "bad"),
    [
        ("MDMEM_INJECT_DEADLINE_SECONDS", "inject.deadline_seconds", ("nan", "inf", "-1", "soon", "")),
        ("MDMEM_INJECT_DISABLED", "inject.on", ("perhaps", "2")),
        ("MDMEM_DISABLE_CLAUDE_CLI", "expand.without_claude_cli", ("perhaps",)),
    ],
)
def test_a_variable_that_says_nothing_sensible_leaves_the_default_and_is_a_warning(
    vault: Path, monkeypatch: pytest.MonkeyPatch, variable: str, key: str, bad: tuple[str, ...]
) -> None:
    for text in bad:
        monkeypatch.setenv(variable, text)
        found = load(vault)
        assert found.settings.values[key] == BY_KEY[key].default
        assert any(variable in warning for warning in found.warnings)


@pytest.mark.parametrize(("text", "off"), [("1", True), ("Yes", True), ("0", False), ("off", False), ("", False)])
def test_one_variable_switches_the_injection_by_turns_off_and_no_other(
    vault: Path, monkeypatch: pytest.MonkeyPatch, text: str, off: bool
) -> None:
    monkeypatch.setenv("MDMEM_INJECT_DISABLED", text)
    found = load(vault)
    assert found.settings.inject.enabled is True
    assert ("turns" not in found.settings.inject.on) is off
    assert "ask" in found.settings.inject.on
    assert found.warnings == ()
    (vault / "mdmem.toml").write_text('[inject]\non = ["start", "turns"]\n')
    assert load(vault).settings.inject.on == (["start"] if off else ["start", "turns"])


def test_variables_have_aliases_which_count_less(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUEMEMORY_INJECT_AFTER_TURNS", "4")
    monkeypatch.setenv("TRUEMEMORY_INJECT_DISABLED", "1")
    monkeypatch.setenv("TRUEMEMORY_HYDE_MODEL", "opus")
    monkeypatch.setenv("TRUEMEMORY_INJECT_AFTER_CHARS", "many")
    found = load(vault)
    assert (found.settings.inject.after_turns, found.settings.expand.model) == (4, "opus")
    assert "turns" not in found.settings.inject.on
    assert any("TRUEMEMORY_INJECT_AFTER_CHARS is not" in warning for warning in found.warnings)
    monkeypatch.setenv("MDMEM_INJECT_AFTER_TURNS", "9")
    assert load(vault).settings.inject.after_turns == 9


@pytest.mark.parametrize(
    "line",
    ['max_lines = "7"', "max_lines = -1", "max_lines = true", "durability = 'fast'", "nonsense = 1", "tools = [1]"],
)
def test_a_setting_that_cannot_be_is_a_warning_and_the_default_stays(vault: Path, line: str) -> None:
    (vault / "mdmem.toml").write_text(f"[capture]\n{line}\n")
    found = load(vault)
    defaults = {setting.key: setting.default for setting in SETTINGS}
    assert found.settings.values == defaults
    assert len(found.warnings) == 1
    assert line.split(" ")[0] in found.warnings[0]


def test_a_broken_file_keeps_the_last_good_settings(vault: Path) -> None:
    file = vault / "mdmem.toml"
    file.write_text('[capture]\nexclude_projects = ["secret-*"]\n')
    assert load(vault).settings.capture.exclude_projects == ["secret-*"]
    file.write_text('[capture\nexclude_projects = ["secret-*"]\n')
    found = load(vault)
    assert found.settings.capture.exclude_projects == ["secret-*"]
    assert any("line 1" in warning for warning in found.warnings)


def test_a_slip_does_not_bring_back_what_was_taken_out_before(vault: Path) -> None:
    file = vault / "mdmem.toml"
    file.write_text('[capture]\nbranches = "stage"\n')
    assert load(vault).settings.capture.branches == "stage"
    file.write_text('[capture]\n#branches = "stage"\n')
    load(vault)
    file.write_text("[capture\n")
    loaded = load(vault)
    assert loaded.settings.capture.branches == "all"
    assert "line 1" in loaded.warnings[0]


def test_a_changed_file_is_read_again(vault: Path) -> None:
    file = vault / "mdmem.toml"
    for lines in (3, 4, 3):
        file.write_text(f"[capture]\nmax_lines = {lines}\n")
        assert load(vault).settings.capture.max_lines == lines


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xfe", b"a" * 400_000, b"\xef\xbb\xbf[capture]\n", b"[" * 5000])
def test_no_file_makes_loading_fail(vault: Path, data: bytes) -> None:
    (vault / "mdmem.toml").write_bytes(data)
    assert load(vault).settings.capture.max_lines == 100


def test_two_vaults_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    one, two = config.load(f"{tmp_path}/a/memory"), config.load(f"{tmp_path}/b/memory")
    assert one.state_dir != two.state_dir
    assert one.index_dir != two.index_dir
    assert not one.state_dir.startswith(one.vault)


def test_a_fresh_settings_file_costs_no_toml_parser(vault: Path) -> None:
    (vault / "mdmem.toml").write_text("# comment\n[capture]\n#max_lines = 100\n")
    code = "import sys; from mdmem import config; config.load(); print('tomllib' in sys.modules, 're' in sys.modules)"
    words = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(REPO)!r}); {code}"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout == "False False\n", done.stderr


def test_without_a_home_there_is_still_a_place(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    assert os.path.isabs(load(vault).state_dir)


LOOSER = {
    "sync.max_file_mb": 30,
    "sync.obsidian": True,
    "capture.exclude_tools": [],
    "capture.subagents": True,
    "capture.durability": "process",
    "privacy.unclosed": "keep",
    "privacy.name_kinds": True,
    "privacy.keep_lines": True,
    "privacy.literal_code": True,
    "privacy.feedback": False,
    "inject.chars": 9_000,
    "inject.after_turns": 1,
    "inject.after_chars": 1,
    "inject.query_turns": 100,
    "inject.query_turn_chars": 100_000,
    "inject.recall_limit": 100,
    "inject.bullet_chars": 9_000,
    "inject.deadline_seconds": 999_999.0,
    "inject.other_projects": True,
    "learn.accept": True,
    "learn.protocol": True,
    "inject.on": ["ask", "turns", "start", "failure", "edit", "read"],
    "privacy.marker": "ACME-",
    "privacy.redacted": "#",
}
STRICTER = {
    "sync.max_file_mb": 5,
    "capture.tools": ["Bash"],
    "capture.exclude_tools": ["TodoRead", "mcp__mdmem__*", "mcp__plugin_mdmem_*", "Bash"],
    "capture.exclude_projects": ["secret"],
    "capture.exclude_paths": ["/etc"],
    "capture.branches": "stage",
    "capture.host_memory": False,
    "privacy.anonymize": True,
    "privacy.patterns": ["acme"],
    "privacy.tags": ["private", "ephemeral"],
    "inject.enabled": False,
    "inject.chars": 100,
    "inject.after_turns": 100,
    "inject.deadline_seconds": 0.5,
    "internal.trust": ["agent * 0.1"],
}


def test_every_setting_that_a_vault_may_hold_knows_which_direction_is_stricter() -> None:
    free = {row.key for row in SETTINGS if row.stricter is neither}
    assert set(LOOSER) | set(STRICTER) | free == {row.key for row in SETTINGS if not row.user_only}
    assert not free & (set(LOOSER) | set(STRICTER))


@pytest.mark.parametrize("key", LOOSER)
def test_a_vault_cannot_loosen_a_setting_and_its_owner_is_warned(vault: Path, key: str) -> None:
    line = f"{key} = {render.toml(LOOSER[key])}\n"
    (vault / "mdmem.toml").write_text(line)
    found = load(vault)
    assert found.settings.values[key] == BY_KEY[key].default
    assert [key in text for text in found.warnings] == [True]
    own_settings(line)
    found = load(vault)
    assert found.settings.values[key] == LOOSER[key]
    assert found.warnings == ()


@pytest.mark.parametrize("key", STRICTER)
def test_a_vault_can_make_a_setting_stricter_than_the_users_own(vault: Path, key: str) -> None:
    (vault / "mdmem.toml").write_text(f"{key} = {render.toml(STRICTER[key])}\n")
    own_settings(f"{key} = {render.toml(BY_KEY[key].default)}\n")
    found = load(vault)
    assert found.settings.values[key] == STRICTER[key]
    assert found.warnings == ()


@pytest.mark.parametrize("key", ["privacy.marker", "privacy.redacted"])
def test_a_mark_of_a_vault_counts_only_if_no_secret_begins_or_ends_like_it(vault: Path, key: str) -> None:
    for mark in ("[kept out]", "–– kept out ––", "<#>", "*" * 5):
        (vault / "mdmem.toml").write_text(f"{key} = {render.toml(mark)}\n")
        assert load(vault).settings.values[key] == mark
    for mark in ("A", "ghp_", "#", "[", "[A", "A]", "[a\nb]", "[a\u200bb]", "[]"):
        (vault / "mdmem.toml").write_text(f"{key} = {render.toml(mark)}\n")
        assert load(vault).settings.values[key] == BY_KEY[key].default, mark
    own_settings(f"{key} = 'mine'\n")
    (vault / "mdmem.toml").write_text(f"{key} = '[theirs]'\n")
    assert (load(vault).settings.values[key], load(vault).warnings) == ("mine", ())


@pytest.mark.parametrize("mark", ["A", "ACME-", "[A]", "[ACME-]"])
@pytest.mark.parametrize("key", ["marker", "redacted"])
def test_no_mark_of_a_vault_lets_through_what_the_users_pattern_masks(vault: Path, key: str, mark: str) -> None:
    own_settings("privacy.patterns = ['ACME-[0-9]{6}']\n")
    (vault / "mdmem.toml").write_text(f"privacy.{key} = {render.toml(mark)}\n")

    cleaned = privacy.clean("see ACME-123456 and [ACME-123456]", rules=privacy.Rules.of(load(vault).settings))

    assert "123456" not in cleaned.value
    again = privacy.clean(cleaned.value, rules=privacy.Rules.of(load(vault).settings))
    assert again.value == cleaned.value


@hypothesis.given(
    st.sampled_from([row for row in SETTINGS if row.stricter in (all_of, common)]),
    *[st.lists(st.sampled_from(["*", "a", "b", "c"]), max_size=3, unique=True)] * 2,
)
def test_what_a_vault_says_twice_changes_nothing_more(
    row: Setting[list[str]], own: list[str], given: list[str]
) -> None:
    if row.key == "internal.trust":
        return
    once = config.stricter(row, {row.key: own}, given)
    assert set(config.stricter(row, {row.key: once}, given)) == set(once)


def test_exclusions_of_user_and_vault_count_together(vault: Path) -> None:
    own_settings('[capture]\nexclude_paths = ["/a"]\ntools = ["Bash", "Edit"]\n')
    (vault / "mdmem.toml").write_text('[capture]\nexclude_paths = ["/b"]\ntools = ["Edit", "Read"]\n')
    found = load(vault)
    assert found.settings.capture.exclude_paths == ["/a", "/b"]
    assert found.settings.capture.tools == ["Edit"]
    assert len(found.warnings) == 1
    assert "counts only together with yours, which is ['Bash', 'Edit']; ['Edit'] is used" in found.warnings[0]


def test_a_vault_that_only_adds_to_a_list_of_defaults_is_no_warning(vault: Path) -> None:
    (vault / "mdmem.toml").write_text('privacy.tags = ["secret"]\ncapture.exclude_tools = ["WebSearch"]\n')
    found = load(vault)
    assert found.settings.privacy.tags == ["private", "secret"]
    assert "WebSearch" in found.settings.capture.exclude_tools
    assert found.warnings == ()


def test_a_text_where_a_list_is_expected_is_a_list_of_one(vault: Path) -> None:
    own_settings('[capture]\nexclude_paths = ".env"\n[inject]\non = "ask"\n')
    (vault / "mdmem.toml").write_text('[capture]\nexclude_projects = "billing"\n')
    found = load(vault)
    assert (found.settings.capture.exclude_paths, found.settings.inject.on) == ([".env"], ["ask"])
    assert found.settings.capture.exclude_projects == ["billing"]
    assert found.warnings == ()
