"""Settings: where they come from, what a vault may not say, and that a slip in a file stops nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mdmem import config
from tests.conftest import REPO


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


def test_a_vault_says_what_is_stored_and_the_users_file_wins(vault: Path) -> None:
    (vault / "mdmem.toml").write_text("[capture]\nmax_lines = 7\nmax_chars = 8\n")
    file = Path(config.user_file(os.environ))
    file.parent.mkdir(parents=True)
    file.write_text("[capture]\nmax_chars = 9\n")
    settings = load(vault).settings
    assert (settings["capture.max_lines"], settings["capture.max_chars"]) == (7, 9)


def test_an_environment_variable_wins_and_a_bad_one_is_a_warning(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MDMEM_INJECT_AFTER_TURNS", "5")
    monkeypatch.setenv("MDMEM_INJECT_AFTER_CHARS", "many")
    found = load(vault)
    assert (found.settings["inject.after_turns"], found.settings["inject.after_chars"]) == (5, 333)
    assert any("MDMEM_INJECT_AFTER_CHARS" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("variable", "key", "bad"),
    [
        ("MDMEM_INJECT_DEADLINE_SECONDS", "inject.deadline_seconds", ("nan", "inf", "-1", "soon", "")),
        ("MDMEM_INJECT_DISABLED", "inject.enabled", ("perhaps", "2")),
        ("MDMEM_DISABLE_CLAUDE_CLI", "expand.without_claude_cli", ("perhaps",)),
    ],
)
def test_a_variable_that_says_nothing_sensible_leaves_the_default_and_is_a_warning(
    vault: Path, monkeypatch: pytest.MonkeyPatch, variable: str, key: str, bad: tuple[str, ...]
) -> None:
    for text in bad:
        monkeypatch.setenv(variable, text)
        found = load(vault)
        assert found.settings[key] == config.BY_KEY[key].default
        assert any(variable in warning for warning in found.warnings)


@pytest.mark.parametrize(("text", "enabled"), [("1", False), ("Yes", False), ("0", True), ("off", True), ("", True)])
def test_one_variable_switches_injection_off(
    vault: Path, monkeypatch: pytest.MonkeyPatch, text: str, enabled: bool
) -> None:
    monkeypatch.setenv("MDMEM_INJECT_DISABLED", text)
    assert load(vault).settings["inject.enabled"] is enabled
    assert load(vault).warnings == ()
    (vault / "mdmem.toml").write_text("[inject]\nenabled = false\n")
    assert load(vault).settings["inject.enabled"] is False


@pytest.mark.parametrize(
    "line",
    ['max_lines = "7"', "max_lines = -1", "max_lines = true", "durability = 'fast'", "nonsense = 1", "tools = [1]"],
)
def test_a_setting_that_cannot_be_is_a_warning_and_the_default_stays(vault: Path, line: str) -> None:
    (vault / "mdmem.toml").write_text(f"[capture]\n{line}\n")
    found = load(vault)
    defaults = {setting.key: setting.default for setting in config.SETTINGS}
    assert found.settings == defaults
    assert len(found.warnings) == 1
    assert line.split(" ")[0] in found.warnings[0]


def test_a_broken_file_keeps_the_last_good_settings(vault: Path) -> None:
    file = vault / "mdmem.toml"
    file.write_text('[capture]\nexclude_projects = ["secret-*"]\n')
    assert load(vault).settings["capture.exclude_projects"] == ["secret-*"]
    file.write_text('[capture\nexclude_projects = ["secret-*"]\n')
    found = load(vault)
    assert found.settings["capture.exclude_projects"] == ["secret-*"]
    assert any("line 1" in warning for warning in found.warnings)


def test_a_slip_does_not_bring_back_what_was_taken_out_before(vault: Path) -> None:
    file = vault / "mdmem.toml"
    file.write_text("[capture]\nsubagents = true\n")
    assert config.load().settings["capture.subagents"] is True
    file.write_text("[capture]\n#subagents = true\n")
    config.load()
    file.write_text("[capture\n")
    loaded = config.load()
    assert loaded.settings["capture.subagents"] is False
    assert "line 1" in loaded.warnings[0]


def test_a_changed_file_is_read_again(vault: Path) -> None:
    file = vault / "mdmem.toml"
    for lines in (3, 4, 3):
        file.write_text(f"[capture]\nmax_lines = {lines}\n")
        assert load(vault).settings["capture.max_lines"] == lines


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xfe", b"a" * 400_000, b"\xef\xbb\xbf[capture]\n", b"[" * 5000])
def test_no_file_makes_loading_fail(vault: Path, data: bytes) -> None:
    (vault / "mdmem.toml").write_bytes(data)
    assert load(vault).settings["capture.max_lines"] == 100


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
