"""Passwords that are plain words are masked where a program reads, prints or asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from mdmem.privacy import clean

WORD = "lagunotul"
"""A password that looks like a word, but is none."""


def read(path: str, content: str) -> Any:
    run = {"tool": "Read", "input": {"file_path": path}, "response": {"file": {"filePath": path, "content": content}}}
    return clean(run, origin="tool").value


def ran(command: str, output: str) -> Any:
    run = {"tool": "Bash", "input": {"command": command}, "response": {"stdout": output, "stderr": ""}}
    return clean(run, origin="tool").value


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".pgpass", "db.example.org:5432:shop:ana:{} horse\n"),
        (".pgpass", "     1\t*:*:*:ana:{}\n"),
        (".curlrc", 'user = "ana:{}"\n'),
        (".curlrc", "proxy-user ana:{}\n"),
        (".muttrc", "set smtp_pass = {}\n"),
        (".muttrc", 'set imap_pass="{}"\n'),
        (".mbsyncrc", "IMAPAccount x\nUser ana\nPass {}\n"),
        (".fetchmailrc", 'poll host proto imap user "ana" pass "{}"\n'),
        (".hgrc", "[auth]\nx.prefix = host\nx.password = {}\n"),
        (".s3cfg", "gpg_passphrase = {}\n"),
        ("sssd.conf", "ldap_default_authtok = {}\n"),
        ("userlist.txt", '"ana" "{}"\n'),
        ("chap-secrets", "ana  *  {}  *\n"),
    ],
)
def test_the_password_in_a_file_of_accounts_is_masked_however_it_is_read(name: str, content: str) -> None:
    path, text = f"/home/ana/{name}", content.replace("{}", WORD)

    assert WORD not in str(read(path, text))
    assert WORD not in str(ran(f"cat {path}", text))
    assert WORD not in str(ran(f"cat > ~/{name} <<'EOF'\n{text}EOF", ""))
    assert "ana" in str(read(path, f"# of ana\n{text}"))


def test_lines_of_a_private_key_are_masked_without_its_first_and_last() -> None:
    lines = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gt\n" * 2

    assert lines[:20] not in str(read("/home/ana/.ssh/id_ed25519", lines))
    assert lines[:20] not in str(ran("sed -n 2,3p ~/.ssh/id_rsa", lines))
    assert lines[:20] in str(read("/home/ana/.ssh/id_ed25519.pub", lines))


def test_each_code_in_a_file_of_recovery_codes_is_masked() -> None:
    codes = "cec40-d51f3\nacdc9-ad58c\n55788-b5d30\n"

    for stored in (read("/home/ana/github-recovery-codes.txt", codes), ran("cat github-recovery-codes.txt", codes)):
        assert not [code for code in codes.split() if code in str(stored)]
