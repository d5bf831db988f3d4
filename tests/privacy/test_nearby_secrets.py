"""Secrets that only a word on the same line gives away: a service's name, or a sentence that speaks of a key."""

from __future__ import annotations

import pytest

from mdmem.privacy import clean

HEX_32, HEX_40, HEX_64 = (
    "9f1c04be7a63d25f08e1b7c4a2d93f60",
    "5b0e7d21c9f3a84460de1b72fa935c08e4d7b216",
    "1d6f0ab49c27e5380b7fd1e64a95c83270fe9d15b6a4c82e03d759f1b8ce6a47",
)
UUID = "4e1d09b7-52c8-4af3-9b60-d17e8c25f3a4"
PASSWORD = "q7Rk2mX9vT4bLw8z"
LOWER = "k3v9x0q7zt2m8w5hj4rp"

VALUES = (HEX_32, HEX_40, HEX_64, UUID, LOWER)

SENTENCES = (
    "You can find an acme secret {} within",
    "the acme key {} was in the report",
    "please call acme with key {} and show me the result",
    "log in to acme with token {}",
    "For acme we use the API key {} in staging.",
    "I set the acme key to {} yesterday",
    "replace the old acme key with {}",
    "the acme credentials are {}",
    "use {} as the acme api key",
    "{} is the acme access token",
    "acmeToken,{},",
    "[DEBUG] Using acme Key={}",
    "Here is my key:\n{}",
    "here is the acme api key\n\n{}\n\nplease set it up",
    "the key you need:\n\n```\n{}\n```",
    "{} <- my acme token",
    "https://api.weather.example/2.5/weather?q=x&appid={}",
)

ASSIGNED = (
    'cloudflare: "{}"',
    "TOMTOM={}",
    "HUBSPOT_CLIENT_ID={}",
    "XYZZYHUB_ACCESS_ID={}",
    "STORMGLASS_API={}",
    "zendesk = '{}'",
    'const coinlayerLogin = "{}"',
)

KEPT = (
    f"fix the token refresh ({HEX_40})",
    f"Merge commit {HEX_40} into the token branch",
    f"the token of commit {HEX_40}",
    f"the key has the fingerprint {HEX_64}",
    f"gpg: using RSA key {HEX_40.upper()}",
    f"the cache key {HEX_64} was found",
    f"a public key {HEX_64}",
    f"the secret store has revision {HEX_40}",
    f"request id {UUID}, token missing",
    f"We lost the token. {HEX_40} is where it began.",
    f'image: "{HEX_64}"',
    f'"revision": "{HEX_40}"',
    f"{HEX_40}  dist/cloudflare.tar.gz",
    f"cloudflare@sha256:{HEX_64}",
    f"commit {HEX_40}",
    f"Add the access token\n{HEX_40}",
    f"Take out tags, secrets and echoes\n{HEX_40}",
    f"The commit that changed the token:\n{HEX_40}",
    "the password that they used once when they came here",
    UUID,
    f"session {UUID}",
    '"integrity": "sha512-oGNQgGoRdBXcZqNG0Ze56CHjDZ1IDYOwGYxYjO5KLSlz5HiNQ9udIXsPZ61VWaHGZ5XW/jyjmr6t2xz2jGVQ=="',
    "using Ed25519PrivateKey, ChaCha20Poly1305",
)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_that_speaks_of_a_key_hides_even_a_hash_or_a_uuid(sentence: str) -> None:
    for value in VALUES:
        assert value not in str(clean(sentence.format(value)).value)


@pytest.mark.parametrize("line", ASSIGNED)
def test_what_a_service_is_set_to_is_hidden_even_if_it_looks_like_a_hash(line: str) -> None:
    for value in VALUES:
        assert value not in str(clean(line.format(value), origin="tool").value)


@pytest.mark.parametrize("text", KEPT)
def test_hashes_and_ids_without_such_a_word_stay(text: str) -> None:
    for origin in ("prompt", "tool"):
        assert clean(text, origin=origin).value == text


@pytest.mark.parametrize(
    "text",
    [
        "isql mydsn ana {}",
        "isql -v mydsn ana {}",
        'getpass = "{}"',
        'expect "assword:"\nsend "{}\\r"',
        'expect "*?assword:*"\nsend -- "{}\\r"',
        "child.expect('Password:')\nchild.sendline('{}')",
        "restic --password-command 'echo {}' backup /home/ana",
        'restic -r /srv/repo --password-command="printf {}" snapshots',
        "password설정은{}",
        'acme_api = "{}"',
    ],
)
def test_passwords_of_programs_that_ask_for_them_are_hidden(text: str) -> None:
    assert PASSWORD not in str(clean(text.format(PASSWORD), origin="tool").value)


@pytest.mark.parametrize("groups", ["bran dloe rnxk ztmg", "qcaq-vbzn-zozy-epts"])
@pytest.mark.parametrize("text", ["my mail's app password is {}", "app password: {}", "MAIL_APP_PASSWORD={}"])
def test_a_password_in_four_groups_of_letters_is_hidden_whole(text: str, groups: str) -> None:
    assert clean(text.format(groups), origin="prompt").value == text.format("[REDACTED]")


@pytest.mark.parametrize(
    "text",
    [
        "isql is a program for the command line",
        "restic --password-command 'pass show backup' backup /home/ana",
        'expect "name:"\nsend "ana\\r"',
        'bypass = "everything"',
        'compass = "northwest"',
    ],
)
def test_commands_that_hold_no_password_stay(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("MYSQL_API_TOKEN=ldKVhoqcmSEm", "MYSQL_API_TOKEN=[REDACTED]"),
        ("client_secret = SygIUZHYSurJXVczhymMnmsj", "client_secret = [REDACTED]"),
        ("secret = nextPageHandler", "secret = nextPageHandler"),
        ("token = currentSessionHolder", "token = currentSessionHolder"),
    ],
)
def test_letters_that_make_no_words_are_a_value_not_a_variable(text: str, stored: str) -> None:
    assert clean(text, origin="tool").value == stored


@pytest.mark.parametrize("value", ["k8sadmin", "auth0hunter"])
def test_a_password_that_begins_like_a_technology_is_masked(value: str) -> None:
    assert clean(f"log in with {value} and run it").value == "log in with [REDACTED] and run it"


@pytest.mark.parametrize("value", ["bluemoon4711", "Wombat2024", "kq7rt9"])
@pytest.mark.parametrize(
    "line",
    [
        "log in as admin with {} and run the migration",
        "log in as admin with {}; then run the migration",
        "use admin / {} to sign in at localhost:3000",
        "You can log in with **admin** / **{}**.",
        "just enter {} when it asks for a password",
        "The password, which is {}, must not be logged",
        "the sudo password has changed, now it is {} everywhere",
        "Melde dich mit admin und {} an",
        "Login geht mit {}",
        "gib {} ein, wenn er nach dem Passwort fragt",
        "{} ist das Passwort",
        "connecte-toi avec admin et {}",
        "mets {} comme mot de passe",
        "tape {} quand il demande le mot de passe",
        "entra con admin y {}",
        "pon {} como contraseña",
        "Utilise {} comme mot de passe",
        "Verwende {} für den Login",
        "Utiliza {} para entrar con la contraseña nueva",
        "la clé API est {}",
        "la clé d'API de test est {}",
        "the access code is {}",
        "{} es la contraseña de la base",
        "パスは {} だよ",
        "{}でログインして",
        "rootのパスワードを{}に変更して",
    ],
)
def test_a_password_in_a_sentence_about_signing_in_is_masked(line: str, value: str) -> None:
    assert clean(line.format(value), origin="prompt").value == line.format("[REDACTED]")
    assert clean(line.format(value), origin="assistant").value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "line",
    [
        "log in as ana with {} and run the migration",
        "Melde dich als ana mit {} an",
        "use {} as the password of the shop",
        "Utilise {} comme mot de passe",
        "enter {} when it asks for a password",
        "set the login password to {}",
        "rename the password to {}",
        "change db_password to {}",
        "DB_PASSWORD={}",
        "das Passwort lautet {}",
        "パスワードを{}に変更して",
    ],
)
def test_a_password_that_is_the_name_of_a_program_is_masked_where_no_program_is_meant(line: str) -> None:
    assert clean(line.format("jinja2")).value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "line", ["change db_password to {}4711", "change db_password to {}99", "set db_password to {}2"]
)
def test_a_new_password_that_begins_with_its_name_is_masked(line: str) -> None:
    assert clean(line.format("db_password")).value == f"{line.partition('{')[0]}[REDACTED]"


def test_several_passwords_of_one_sentence_are_masked() -> None:
    assert clean("change the password from wombat7ab to wombat8cd").value == (
        "change the password from [REDACTED] to [REDACTED]"
    )
    assert clean("the passwords are wombat7ab and wombat8cd").value == "the passwords are [REDACTED] and [REDACTED]"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("the 2FA code is {}", "483 920"),
        ("OTP {} for the login", "774213"),
        ("meine PIN lautet {}", "8841"),
        ("Die TAN ist {}", "993 184"),
        ("mon code pin c'est {}", "7719"),
        ("mi pin es {}", "6642"),
        ("暗証番号は{}です", "4492"),
    ],
)
def test_the_digits_of_a_code_for_signing_in_are_masked(line: str, code: str) -> None:
    assert clean(line.format(code)).value == line.format("[REDACTED]")


@pytest.mark.parametrize(
    "line",
    [
        "log in as admin with the default password on server12",
        "the login page fails with error500 and status403",
        "reset the password for user1234 on staging2",
        "hash the password with argon2id, not with sha256 or bcrypt12",
        "use oauth2 to log in, then python3 and node20, and es2022",
        "Verwende es2022 und oauth2 für den Login, und utilise bcrypt2 comme mot de passe haché",
        "Verwende i18next für den Login, utilise jinja2 pour la page de connexion",
        "use postgres16alpine for the login tests, and usa keycloak24 para el login",
        "the passwords are stored with blake2b, das Passwort wird mit yescrypt2 gehasht",
        "le mot de passe est haché avec blake2s, ログインにjunit5を使って",
        "the login test calls it with token=node20lts in the docs",
        "the password is VARCHAR(60) in the schema, and the token is char(36)",
        "change the password column from varchar60 to varchar255, the passcode to uint32",
        "das Passwort ist varchar255 im Schema",
        "login as admin; use shop2024; show users; run test42x with kq7rt9;",
        "open the login page; use kotest5 there",
        "connect the password form to input22, and the passwords table is users2024",
        "pin is set to 13, pin the version 2024, OTPs have 6 digits, PIN 13 is free",
        "commit deadbeef1 is the login fix, password reset is in gh-1234",
        "log in as testuser1 and testuser2; login = user2024",
        "The login and signup2 pages need a password. Use macbook15 for it",
    ],
)
def test_a_name_with_digits_in_a_sentence_about_signing_in_stays_visible(line: str) -> None:
    assert clean(line, origin="prompt").value == line
