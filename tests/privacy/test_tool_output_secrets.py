"""Secrets in what everyday programs print, labelled in any language, in dumps, and what only resembles them."""

from __future__ import annotations

import pytest

from mdmem.privacy import clean
from tests.helpers.cleaned_runs import ran

SECRET = "Tobimenka4712"


def shown(command: str, output: str) -> dict[str, str]:
    stored = ran(command, output)
    return {"command": stored["input"]["command"], "output": stored["response"]["stdout"]}


@pytest.mark.parametrize(
    "label",
    [
        "Lozinka", "Zaporka", "Geslo", "Wagwoord", "Contrasenya", "Contrasinal", "Parol", "Nenosiri", "Лозинка",
        "Құпия сөз", "Нууц үг", "Slaptažodis", "Lykilorð", "Fjalëkalimi", "گذرواژه", "পাসওয়ার্ড", "கடவுச்சொல்",
        "პაროლი", "Գաղտնաբառ", "စကားဝှက်", "ពាក្យសម្ងាត់", "ລະຫັດຜ່ານ", "የይለፍ ቃል", "暗証番号", "Zugangscode",
        "Токен", "Секретный ключ", "Ключ доступа", "トークン", "秘密鍵", "Clé secrète", "API-Schlüssel", "Kod dostępu",
        "Schlüsselinhalt", "Contenu de la clé", "Содержимое ключа", "关键内容", "主要なコンテンツ",
    ],
)  # fmt: skip
def test_a_secret_is_masked_below_a_label_in_any_language(label: str) -> None:
    assert clean(f"ana\n{label}: {SECRET}\n", origin="tool").value == f"ana\n{label}: [REDACTED]\n"


@pytest.mark.parametrize(
    "text",
    [
        "токен просрочен, запросите новый", "Токен: строка, которую выдаёт сервер", "トークン: 文字列",
        "lozinka je prekratka i nalazi se u config.toml",
        "Uporabniško ime ali geslo za protokol SOCKSv5 je predolgo.",
        "Clé secrète : obligatoire",
        "parole board: none", "Korisničko ime ili lozinka su predugi za SOCKSv5 protokol.",
        "Proszę wprowadzić hasło do odbezpieczenia obiektu PKCS#12.",
    ],
)  # fmt: skip
def test_a_sentence_about_a_password_or_a_token_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "text",
    [
        "       --password=HESLO            nastaví heslo pro FTP i pro HTTP\n",
        "       --password=ПАРОЛЬ           задать пароль\n",
        "  -w, --no-password         niemals nach Passwort fragen\n",
        "  --password     forzar petición de contraseña\n",
        "passwd: heslo bylo úspěšně změněno\n",
        "passwd: パスワードは正しく更新されました\n",
    ],
)
def test_a_translated_help_or_message_of_a_program_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "command",
    [
        f"tool --password  {SECRET} extra",
        "tool --password  lagunotul extra",
        f"  --password  {SECRET} extra",
        "curl --token  abcd1234efgh5678 https://x.example",
    ],
)
def test_an_argument_two_blanks_behind_its_option_is_masked(command: str) -> None:
    assert "[REDACTED]" in shown(command, "")["command"]


@pytest.mark.parametrize("value", ["mojeheslo", "LustigesKennwort", "мойпарольсобака"])
def test_a_password_that_contains_a_foreign_word_for_one_is_masked(value: str) -> None:
    assert clean(f"Passwort: {value}\n", origin="tool").value == "Passwort: [REDACTED]\n"


@pytest.mark.parametrize("value", [SECRET, "Modra7Kocka", "99balonu"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", ".\r\n"])
def test_a_password_in_a_foreign_sentence_is_masked_whatever_it_is_made_of(value: str, end: str) -> None:
    for sentence in ("heslo je {}", "das Kennwort dort lautet {}", "пароль от сервера {}"):
        stored = clean(sentence.format(value) + end, origin="tool").value
        assert stored == sentence.format("[REDACTED]") + end


def test_aligned_options_of_a_command_are_still_read() -> None:
    command = f"tool --user      ana \\\n  --password  {SECRET} \\\n  --all"

    assert SECRET not in shown(command, "")["command"]


@pytest.mark.parametrize(
    "text",
    [
        "open https://host/device and enter the code {}",
        "Enter code: {}",
        "https://host/device?user_code={}",
        '{"user_code": "{}", "interval": 5}',
    ],
)
def test_a_code_that_lets_a_device_in_is_masked(text: str) -> None:
    assert clean(text.replace("{}", "WDJB-MJHT"), origin="tool").value == text.replace("{}", "[REDACTED]")


@pytest.mark.parametrize(
    "text", ["user_code = models.CharField()", '{"user_code": "ana"}', "Enter the code below:", "key: XXXX-XXXX"]
)
def test_what_only_resembles_such_a_code_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "dump",
    [
        (
            "00000000: 4442 5f50 4153 5357 4f52 443d 546f 6269  DB_PASSWORD=Tobi\n"
            "00000010: 6d65 6e6b 6134 3731 320a                 menka4712.\n"
        ),
        (
            "00000000  44 42 5f 50 41 53 53 57  4f 52 44 3d 54 6f 62 69  |DB_PASSWORD=Tobi|\n"
            "00000010  6d 65 6e 6b 61 34 37 31  32 0a                    |menka4712.|\n"
        ),
        (
            "0000000   D   B   _   P   A   S   S   W   O   R   D   =   T   o   b   i\n"
            "0000020   m   e   n   k   a   4   7   1   2  \\n\n"
        ),
    ],
)
def test_a_password_in_a_dump_of_a_settings_file_is_masked(dump: str) -> None:
    stored = clean(dump, origin="tool").value

    assert "[REDACTED]" in stored
    assert not [part for part in ("menka", "6d65 6e6b", "6d 65 6e", "m   e   n") if part in stored]


def test_a_dump_without_a_password_stays() -> None:
    dump = "00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............\n00000010: 0300 3e00 0100  ..>...\n"

    assert clean(dump, origin="tool").value == dump


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("aws secretsmanager get-random-password --output text", "{}"),
        ("kwallet-query -r shop kdewallet", "{}"),
        ("nmcli -s -g 802-11-wireless-security.psk connection show Home", "{}"),
        ("nmcli -s -g wifi-sec.psk connection show Home", "{}"),
        ("mix phx.gen.secret", "{}"),
        ("conan user -p {} -r remote ana", ""),
        ("choco source add -n=x -u=ana -p={}", ""),
        ("mcrcon -H h -p {} list", ""),
        ("samba-tool user create ana {}", ""),
        (
            "az webapp config appsettings list",
            "Name         Slot   Value\n-----------  -----  -----\nDB_PASSWORD  False  {}\nPORT         False  80",
        ),
        ("git diff --word-diff", "password: [-{}-]{+Ansolevik3395+}"),
        ("git diff --word-diff", "DB_PASSWORD=[-{}-]{+required+}"),
        ("git diff --word-diff", "[-DB_PASSWORD={}-]{+DB_PASSWORD=Ansolevik3395+}"),
        ("git diff --word-diff", 'password: [-"{}",-]'),
        ("elasticsearch-reset-password.bat -u elastic", "Password for the [elastic] user reset.\r\nNew value: {}\r\n"),
        ("elasticsearch-reset-password", "Password for the [elastic] user successfully reset\nNew value: {}"),
        ("docker logs x", "Please use the following password to go on:\r\n\r\n{}\r\n\r\nIt is also in a file.\r\n"),
        ("docker logs x", "Please use the following password to go on:\n\n{}\n\nIt is also in a file."),
        ("bin/elasticsearch", "Password for the elastic user (reset with `reset-password`):\n  {}\n"),
        ("irb", 'irb> ENV["DB_PASSWORD"]\n=> "{}"'),
        ("git diff --word-diff", "password: [-old-]{+{}+}"),
        ("nxc smb hosts", "SMB  10.0.0.1  445  DC  [+] corp.local\\ana:{} (admin)"),
        ("nxc smb hosts", "SMB  10.0.0.1  445  DC  [-] corp.local\\ana:{} STATUS_LOGON_FAILURE"),
        ("kerbrute", "2026/01/01 [+] VALID LOGIN:  ana@corp.local:{}"),
        ("cat a.feature", 'And I fill in "Password" with "{}"'),
        ("cat Login.java", 'new UsernamePasswordAuthenticationToken("ana", "{}")'),
        ("cat mail.html", "<p>Your password is <b>{}</b></p>"),
        ("aws ec2 get-password-data", '{"InstanceId": "i-1", "PasswordData": "{}"}'),
    ],
)  # fmt: skip
def test_a_password_is_masked_where_a_program_takes_or_prints_it(command: str, output: str) -> None:
    stored = shown(command.replace("{}", SECRET), output.replace("{}", SECRET))

    assert SECRET not in str(stored)
    assert "[REDACTED]" in str(stored)


def test_how_a_wireless_network_is_secured_is_no_secret() -> None:
    command = "nmcli -g 802-11-wireless-security.key-mgmt connection show Home"

    assert shown(command, "wpa-psk2") == {"command": command, "output": "wpa-psk2"}


def test_a_word_is_masked_in_an_item_of_yaml_on_one_line() -> None:
    assert clean("- {name: ana, password: lagunotul}\n", origin="tool").redacted == 1


@pytest.mark.parametrize(
    "text",
    [
        "Password requirements are as follows:\n\nminimum12",
        "The auth token is sent to:\nlocalhost8080",
        "Passwords are hashed with:\nargon2id",
        "[+] git@github.com:org/repo.git",
        "[+] ana@db.example.org:5432 reachable",
        "[-] C:\\Users\\ana:file not found",
        "[-] src\\main.c:42: error here",
        "[-] tests\\test_a.py:12 FAILED",
        "[+] HKLM\\SOFTWARE\\Lumen:Version",
        "[+] BUILTIN\\Administrators:Full",
        "[+] App\\Models\\User:find called",
        'replace "token" with "apiKey2" everywhere',
        "password: [-required-]{+optional+}",
        "Name      Type    Value\n--------- ------- --------\npassword  string  required\nport      int     80",
        "- {field: password, message: required}",
        "irb> user.password\n=> nil",
    ],
)
def test_what_only_resembles_such_output_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    "output",
    [
        "\t * Username : ana\n\t * NTLM     : {}\n",
        "Hash NTLM: {}\n",
        "Hash NTLM: {} (ana)\n",
        f"[SMB] NTLMv2-SSP Hash     : ana::CORP:{{}}:{'8f3a' * 8}:0101{'7c' * 60}\n",
        f"[HTTP] NTLMv1 Hash : ana::CORP:{'8f3a' * 12}:{{}}:1122334455667788\n",
    ],
)
def test_a_hash_with_which_windows_signs_in_is_masked(output: str) -> None:
    code = "5835048ce94ad0564e29a924a03510ef"

    cleaned = clean(output.format(code), origin="tool").value

    assert code not in cleaned
    assert "8f3a" not in cleaned
    assert cleaned.startswith(output[:10])


@pytest.mark.parametrize(
    "output",
    [
        "NTLM : (null)\n", "NTLM: see RFC 4559\n", "NTLM sample: 5835048ce94ad0564e29a924a03510ef\n",
        "NTLM : 5835048ce94ad056 4e29a924a03510ef\n",
    ],
)  # fmt: skip
def test_a_line_about_ntlm_without_a_hash_stays(output: str) -> None:
    assert clean(output, origin="tool").value == output


@pytest.mark.parametrize("line", ["ana\t*\t{}\t*\t\n", "ana * {} *\t\n", '"ana" * "{}" *\n'])
def test_the_secret_in_a_line_of_chap_secrets_is_masked_alone(line: str) -> None:
    assert clean(line.format("hunter2x9"), origin="tool").value == line.format("[REDACTED]")
