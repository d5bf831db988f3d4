"""Passwords that a sentence in any language names, secrets that are spelled, and keys of which a part is shown."""

from __future__ import annotations

import pytest

from mdmem.privacy import clean

SENTENCES = (
    "das Passwort ist {}", "Das Kennwort für den Server lautet {}", "пароль от сервера {}", "мой пароль — {}",
    "логин bob, пароль {}", "пароль такий: {}", "паролата е {}", "с паролем {} не пускает", "密码是{}",
    "服务器密码为 {}", "パスワードは {}", "비밀번호는 {} 입니다",
    "le mot de passe est {}", "Mon mdp : {}", "la contraseña es {}",
    "la clave es {}", "la password è {}", "a senha é {}", "het wachtwoord is {}", "hasło to {}", "lösenordet är {}",
    "adgangskoden er {}", "passordet er {}", "salasana on {}", "heslo je {}", "parolam {}", "parola este {}",
    "a jelszó: {}", "ο κωδικός είναι {}", "كلمة المرور هي {}", "كلمة السر: {}", "סיסמה: {}", "הסיסמה היא {}",
    "Κωδικός πρόσβασης: {}",
    "पासवर्ड है {}", "mật khẩu là {}", "kata sandi: {}", "รหัสผ่านคือ {}", "رمز عبور: {}", "use the password {} for it",
    "the login is bob with password {}", "creds: bob / {}",
)  # fmt: skip

SPEECH = (
    "das Passwort ist zu kurz und steht in config.toml", "пароль слишком короткий", "mot de passe oublié ?",
    "la clave primaria de la tabla es id", "密码是必填项", "パスワードは8文字以上です",
    "the enclave, and the password field",
    "κωδικοποίηση ISO-8859-1", "Κωδικοποίηση: UTF-8", "κωδικοσελίδα CP-1253",
    "Passwort vergessen: siehe Kapitel 12", "heslo je povinné", "use the password reset form",
)  # fmt: skip


@pytest.mark.parametrize("value", ["marble4712", "Falcon9381", "xK9vQ2mB"])
@pytest.mark.parametrize("line", SENTENCES)
def test_a_password_is_masked_whatever_language_names_it(line: str, value: str) -> None:
    for origin in ("prompt", "tool"):
        assert clean(line.format(value), origin=origin).value == line.format("[REDACTED]")


@pytest.mark.parametrize("line", SPEECH)
def test_a_sentence_about_passwords_stays_in_any_language(line: str) -> None:
    assert clean(line).value == line


@pytest.mark.parametrize(
    "token", ["ghp_Zx81kQ0pZx81kQ0pZx81kQ0pZx81kQ0pZx81", "sk-proj-Tz4kQ0pLx81vRw9mBn37Yd2HgQ5", "AKIAZX81KQ0PLM42VRT7"]
)
def test_a_token_is_masked_although_its_signs_stand_apart(token: str) -> None:
    assert clean(" ".join(token)).value == "[REDACTED]"
    assert clean(f"the token: {' '.join(token)} and more", origin="tool").value == "the token: [REDACTED] and more"


@pytest.mark.parametrize(
    "text",
    [
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        "0 1 0 0 1 1 0 1 0 1 0 1 1 1 0 0 1",
        "C O N T E N T S   O F   I T",
    ],
)
def test_signs_that_stand_apart_and_are_no_token_stay(text: str) -> None:
    assert clean(f"{text}\n{text}").value == f"{text}\n{text}"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("connect as scott/{}@//db.example:1521/ORCL", "tiger77x"),
        ("rman target sys/{}@//10.2.3.4:1521/prod", "ember8040"),
        ("app_owner/{}@dbhost:1521/XEPDB1 failed with ORA-12541", "Cactus27!"),
        ("kubectl create secret generic db --from-literal=pgadmin={}", "falcon2606"),
        ("10.0.0.9:6432:shop:bob:{}", "Zephyr5090"),
        ("127.0.0.1:6379> AUTH {}", "Falcon9940"),
        ("ACL SETUSER bob on >{} ~* +@all", "Ember2600"),
        ("(ConvertTo-SecureString -AsPlainText {} -Force)", "Marble8431"),
        ("rar a -hp{} out.rar dir", "Tundra461"),
        ("qpdf --encrypt {} {} 256 -- a.pdf b.pdf", "Harbor871"),
        ('echo -n "{}" | cryptsetup luksOpen /dev/sdb1 d -', "Saddle7239"),
        ("evil-winrm -i 10.0.0.5 -u bob -p {}", "Quartz7177"),
        ('["password"]=>\n  string(10) "{}"', "Ember36437"),
    ],
)
def test_a_password_is_masked_where_only_its_place_tells(line: str, value: str) -> None:
    assert clean(line.replace("{}", value), origin="tool").value == line.replace("{}", "[REDACTED]")


@pytest.mark.parametrize("line", ["npm i types/node@18.1521", "see team/app1@//", "user/repo at host:1521"])
def test_an_at_sign_behind_a_path_is_no_password(line: str) -> None:
    assert clean(line, origin="tool").value == line


def test_the_end_of_a_private_key_is_masked_although_its_beginning_is_not_shown() -> None:
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4ZHL"
    shown = clean(f"$ tail -3 key.pem\n{body}\n-----END PRIVATE KEY-----\nok", origin="tool").value

    assert shown == "$ tail -3 key.pem\n[REDACTED]-----END PRIVATE KEY-----\nok"
    ssh2 = f'---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "x"\n{body}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----'
    assert "MzEfYyjiWA4R4ZHL" not in clean(ssh2, origin="tool").value


@pytest.mark.parametrize("between", ["  ", "   ", "\n", ", ", "\t", "', '"])
@pytest.mark.parametrize("token", ["ghp" + "_X4k9Zq2LmN8vB3tR7yU1wP5sD0fG6hJ2kLaQ", "AKI" + "AZ7Q2M4N8X1C5V9B3"])
def test_a_token_is_masked_however_its_signs_are_kept_apart(token: str, between: str) -> None:
    cleaned = clean(f"see ['{between.join(token)}'] there", origin="tool")

    assert cleaned.value == "see ['[REDACTED]'] there"


@pytest.mark.parametrize("text", ["['q', 'w', 'e', 'r', 't', 'y', 'u', 'i', 'o', 'p', '1', '2', '3', '4', '5']"])
def test_a_list_of_signs_that_spell_no_token_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text
