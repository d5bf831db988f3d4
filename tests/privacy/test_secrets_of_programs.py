"""Passwords that are plain words are masked where a program reads, prints or asks for them."""

from __future__ import annotations

import time

import pytest

from mdmem.privacy import clean
from tests.helpers.cleaned_runs import ran, read

WORD = "lagunotul"
"""A password that looks like a word, but is none."""


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
        ("exim4/passwd.client", "*.mail.example.org:ana@example.org:{}\n"),
        ("davfs2/secrets", "https://dav.example.org/ana ana {}\n"),
        ("fetchmailrc", "poll mail.example.org user ana pass {}\n"),
        ("secrets.tfvars", 'stripe = "{}"\n'),
        ("prod.tfvars", 'region = "eu"\nsecrets = {\n  stripe = "{}"\n}\n'),
        ("prod.tfvars", 'mail_credentials = { "user" = "ana", "smtp" = "{}" }\n'),
        ("prod.tfvars", 'mail_passwords = {\n  test = { user = "ana" }\n  prod = { smtp = "{}" }\n}\n'),
        ("prod.tfvars", 'secrets = {\n  user = "ana"\n  stripe = "{}"\n'),
        ("prod.tfvars", 'secrets = {\n  user = "ana"\n  stripe = "{}'),
    ],
)
def test_the_password_in_a_file_of_accounts_is_masked_however_it_is_read(name: str, content: str) -> None:
    path, text = f"/home/ana/{name}", content.replace("{}", WORD)

    assert WORD not in str(read(path, text))
    assert WORD not in str(ran(f"cat {path}", text))
    assert WORD not in str(ran(f"cat > ~/{name} <<'EOF'\n{text}EOF", ""))
    assert "ana" in str(read(path, f"# of ana\n{text}"))


@pytest.mark.parametrize("piece", ["-u ", "user= ", "password=' ", '"a" '])
def test_a_line_of_a_file_of_accounts_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(size: int) -> float:
        began = time.process_time()
        ran("cat ~/.curlrc", piece * (size // len(piece)))
        return time.process_time() - began

    seconds(1000)

    assert seconds(80_000) < 8 * seconds(20_000) + 0.1


def test_lines_of_a_private_key_are_masked_without_its_first_and_last() -> None:
    lines = "ZWQyNTUxOQAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZWQyNTUxOQAA\n" * 2

    assert lines[:20] not in str(read("/home/ana/.ssh/id_ed25519", lines))
    assert lines[:20] not in str(ran("sed -n 2,3p ~/.ssh/id_rsa", lines))
    assert lines[:20] in str(read("/home/ana/.ssh/id_ed25519.pub", lines))


def test_each_code_in_a_file_of_recovery_codes_is_masked() -> None:
    codes = "cec40-d51f3\nacdc9-ad58c\n55788-b5d30\n"

    for stored in (read("/home/ana/github-recovery-codes.txt", codes), ran("cat github-recovery-codes.txt", codes)):
        assert not [code for code in codes.split() if code in str(stored)]


@pytest.mark.parametrize(
    "command",
    [
        "ssh -i ~/.ssh/id_ed25519 ana@10.0.0.4 'cat app/auth.py'",
        "scp -i ~/.ssh/id_rsa auth.py host: && cat auth.py",
        "rm ~/.my.cnf; cat auth.py",
        "git hash-object id_rsa",
        "cat auth.py\nssh-add ~/.ssh/id_rsa",
    ],
)
def test_what_is_printed_by_a_command_that_only_names_a_file_of_accounts_stays(command: str) -> None:
    output = "password = getpass()\npass = next_pass\n3f786850e387550fdab836ed7e6dc881de23001b\n"

    assert ran(command, output)["response"]["stdout"] == output


@pytest.mark.parametrize(
    "command",
    [
        "ssh -i ~/.ssh/id_rsa host cat ~/.pgpass",
        "docker exec db bash -c 'cat /root/.pgpass'",
        "cd; sudo /bin/cat ~/.pgpass | sort",
        "sort <~/.pgpass",
        "cat \\\n  ~/.pgpass",
    ],
)
def test_what_is_printed_of_a_file_of_accounts_is_masked_wherever_it_is_read(command: str) -> None:
    assert WORD not in str(ran(command, f"*:*:*:ana:{WORD}\n"))


@pytest.mark.parametrize("name", ["openvpn/auth.txt", "client-auth-user-pass.txt", "credentials.txt", "vpn/userpass"])
@pytest.mark.parametrize("content", ["ana\n{}\n", "ana\r\n{}\r\n", "     1\tana\n     2\t{}\n"])
def test_the_password_in_a_file_of_a_user_and_a_password_is_masked(name: str, content: str) -> None:
    text = content.replace("{}", WORD)

    assert WORD not in str(read(f"/etc/{name}", text))
    assert WORD not in str(ran(f"cat /etc/{name}", text))
    assert "ana" in str(read(f"/etc/{name}", text))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("auth.txt", "How to sign in\nAsk Ana first\n"),
        ("auth.txt", "lagunotul miravento\n"),
        ("auth.txt", "one\ntwo\nlagunotul\n"),
        ("prod.tfvars", 'regions = {\n  main = "lagunotul"\n}\n'),
        ("prod.tfvars", "secrets = {\n  mail = var.lagunotul\n}\n"),
        ("prod.tfvars", 'secrets = { a = {}, b = {} }\nmain = "lagunotul"\n'),
        ("src/secrets", "https://example.org/ana ana lagunotul\n"),
    ],
)
def test_what_only_resembles_a_file_of_accounts_stays(name: str, content: str) -> None:
    assert "[REDACTED]" not in str(read(f"/home/ana/{name}", content))
    assert "[REDACTED]" not in str(ran(f"cat {name}", content))


@pytest.mark.parametrize("name", ["recovery-codes.tsx", "backup_codes.py", "test_backup-codes.md"])
def test_a_program_about_recovery_codes_stays(name: str) -> None:
    code = "export const label = 'Codes';\nconst owner: string = props.owner;\n"

    assert ran(f"cat src/{name}", code)["response"]["stdout"] == code
    assert ran(f"cat README.md; git log -- {name}", code)["response"]["stdout"] == code


@pytest.mark.parametrize(
    "command",
    [
        "ansible-vault encrypt_string '{}' --name db",
        "ansible-vault encrypt_string --vault-id dev@file '{}' --name db",
        "qpdf --encrypt {} {} 256 -- in.pdf out.pdf",
        "cargo login {}",
        "$ snyk auth {}",
        "wandb login {}",
        "mkpasswd -m sha-512 {}",
        "swaks --to a@b.example -tls -au ana -ap {}",
        "infisical secrets set DOOR={} --env=prod",
        "echo {} | keyring set mail ana",
        "echo -n {} | secret-tool store --label=Mail service mail",
        "cache_peer proxy.example.org parent 3128 0 login=ana:{}",
        "cachemgr_passwd {} all",
        "curl https://example.org/reset?token={}",
        "then I ran it with token={} and it worked",
        'git commit -m "Set the db password to {}"',
        "git commit -am 'Use the staging host, the password is {}'",
        'gh pr create --title "Fix" --body "The wifi key is {}"',
        "iwctl --passphrase {} station wlan0 connect Home",
        "helm upgrade x ./c --set-string 'postgresql.auth.password={}'",
        'bash -c "export DB_PASSWORD={} && ./run"',
        "echo 'password: {}' > x.yml",
        "docker login -u ana --password-stdin <<EOF\n{}\nEOF",
        "cat <<'EOF' | sudo -S ls\n{}\nEOF",
        "passwd ana <<EOF\n{}\n{}\nEOF",
        'curl -H "Authorization: Basic $(echo -n ana:{} | base64)" https://host',
        "echo {} | firebase functions:secrets:set DOOR",
        "printf '%s\\n%s\\n' {} {} | passwd ana",
        "borg init -e repokey /srv/backup <<< {}",
        "python manage.py changepassword ana <<< {}",
        "glab variable set DOOR {}",
        "openssl passwd -6 {}",
        "pulumi config set --secret door {}",
        "dotenvx set DOOR {}; ls",
        "mc alias set shop https://host ana {}",
    ],
)
def test_a_word_is_masked_where_a_command_takes_a_password(command: str) -> None:
    assert WORD not in str(ran(command.replace("{}", WORD), ""))


@pytest.mark.parametrize(
    "command",
    [
        "cargo login first",
        "then glab variable set DOOR lagunotul again",
        "glab variable set DOOR staging",
        "glab variable set DOOR red --group lagunotul",
        "pulumi config set region production",
        "infisical secrets get lagunotul",
        "keyring set mail ana | tee lagunotul",
        "curl https://example.org/reset?token=expired",
        "f(user, token=lagunotul )",
        'git commit -m "Set the db password to be optional"',
        "git commit -m 'The password is required'",
        'rg "the password is lagunotul" src',
        "then vault login lagunotul again",
        "qpdf --encrypt --user-password=$A --owner-password=$B 256 -- in.pdf out.pdf",
        "ansible-vault encrypt_string --stdin-name lagunotul",
        "cat <<EOF | sudo tee /etc/motd\nWelcome to this host\nEOF",
        "echo -n ana:lagunotul | base64",
        "grep pass ~/.mbsyncrc",
        "sudo -s <<EOF\nreboot\nEOF",
        'grep -rnE "login|password|lagunotul" src',
        "rg 'passwd|htpasswd|lagunotul|shadow'",
        "complete -c mkpasswd -s S -l salt -x -d 'Use given string as salt'",
        "complete -c ansible-vault -n no_subcommand -a encrypt_string -d 'Encrypt string'",
    ],
)
def test_a_command_without_a_password_stays(command: str) -> None:
    assert ran(command, "")["input"]["command"] == command


@pytest.mark.parametrize(
    "text",
    [
        "config.yml:10:  password: {}",
        "config.yml-11-  password: {}\n--",
        "12:  password: {}",
        "^1a2b3c4 (Ana 2026-09-14 10:00:00 +0000 3) DB_PASSWORD={}",
        "Enter password: {}\nmysql> ",
        "Enter LDAP Password: {}\n",
        "Vault password: {}\n",
        "ana@10.0.0.4's password: {}\n",
        "Password for 'https://ana@git.example.org': {}\n",
        "Password:\n\n    {}\n",
        "| password | {} |",
        "│ password │ {} │",
        "<tr><th>Password</th><td>{}</td></tr>",
        "Password -> {}",
        '<Key>Password</Key><Value ProtectInMemory="True">{}</Value>',
        'Password: (string) (len=9) "{}",',
        'password: Some(\n    "{}",\n),',
        "v_password VARCHAR2(20) := '{}';",
        "POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:-{}}",
        "spring.datasource.password=${DB_PASSWORD:{}}",
        '@Value("${db.password:{}}")',
        "config:\n  app:dbPassword: {}\n",
        "Parameters:\n  DBPassword:\n    Type: String\n    Default: {}\n",
        '{"DBPassword": {"Type": "String", "Default": "{}"}}',
        '{"secrets": {"first": "{}"}}',
        '"DATABASE_URL":"postgres:\\/\\/ana:{}@host\\/db"',
        "next=postgres%3A%2F%2Fana%3A{}%40host%2Fdb",
        '"postgres://ana:{}\\u0040host/db"',
        'headers: { Authorization: "Basic " + btoa("ana:{}") }',
        "ana: what is the password?\nbob: {}\n",
        "remote_password {}\n",
    ],
)
def test_a_word_is_masked_where_only_a_password_can_stand(text: str) -> None:
    assert WORD not in clean(text.replace("{}", WORD), origin="tool").value


@pytest.mark.parametrize(
    "text",
    [
        "auth.py:10:    password: str",
        "auth.py:10:    password = lagunotul",
        "| password | string |",
        "| pass | quicksort |",
        "Password:\nrequired\n",
        "Enter password: must be long",
        "password: ${DB_PASSWORD:?required}",
        "DBPassword:\n  Type: String\n  NoEcho: true\n",
        '{"secrets": {"db": {"file": "./lagunotul"}}}',
        '{"secrets": {"db": "${{ secrets.DB }}"}}',
        "ana: which password?\nbob: none\n",
        "/^(?:(?:https?|ftp):\\/\\/)(?:\\S+(?::\\S*)?@)?(?:host)$/",
        'const text = btoa("width:lagunotul");',
    ],
)
def test_what_only_resembles_such_a_place_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "said",
    [
        "the db login is ana / zqxjv88",
        "Zugang: ana / zqxjv88",
        "ssh root@10.0.0.4 pw zqxjv88",
        "usa zqxjv88 como contraseña",
    ],
)
def test_a_password_in_a_sentence_is_masked(said: str) -> None:
    assert "zqxjv88" not in clean(said).value
