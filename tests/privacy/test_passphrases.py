"""Passwords of several plain words are masked; sentences about passwords stay."""

from __future__ import annotations

import pytest

from mdmem.privacy import clean

PHRASE = "orbit velvet canyon maple"


@pytest.mark.parametrize("origin", ["prompt", "tool"])
@pytest.mark.parametrize(
    "text",
    [
        "password: {}",
        "my password is {}",
        "pw is {}.",
        "Passwort: {}",
        "Das Passwort lautet {}",
        "le mot de passe est {}",
        "password = {}\nport = 1",
        "DB_PASSWORD={}\nPORT=1",
        "export BORG_PASSPHRASE='{}'",
        "Enter passphrase: {}",
        "| wifi password | {} |",
        'use "{}" as the password',
        "`{}` is the password",
    ],
)
def test_a_password_of_several_plain_words_is_masked_whole(text: str, origin: str) -> None:
    for phrase in (PHRASE, PHRASE.title(), "correct horse battery staple"):
        assert clean(text.format(phrase), origin=origin).value == text.format("[REDACTED]")


def test_three_words_are_enough_after_a_sign() -> None:
    assert clean("password: walnut ember gravel", origin="tool").value == "password: [REDACTED]"
    assert clean("the password is walnut ember gravel", origin="tool").redacted == 0


@pytest.mark.parametrize("end", ["", "\nand more follows."])
@pytest.mark.parametrize(
    "text",
    [
        "the password is wrong every time",
        "my password is not working anymore",
        "password is stored plain text somewhere",
        "the password is never checked here",
        "password is fine now thanks",
        "password is hashed before saving",
        "the password is still visible there",
        "password is always empty after reload",
        "the passphrase is asked again later",
        "password: minimum eight characters long",
        "password: use upper and lower letters",
        "Password: Enter Your New Password",
        "Password: Forgot Your Password",
        "password = user input from form",
        "password = hash of the string",
        "Passwort: bitte neu eingeben",
        "das Passwort ist leider falsch gesetzt",
        "das Passwort ist noch immer leer",
        "das Passwort wird nicht mehr geprüft",
        "le mot de passe est toujours vide",
        "le mot de passe est mal haché",
        "la contraseña es incorrecta otra vez",
        "contraseña: campo vacío por defecto",
        "a senha está sempre vazia aqui",
        "password is case sensitive right",
        "the password is then sent back",
        "password: field type text input",
        "Password: Show / hide toggle",
        "password field is too narrow on mobile",
        "the password is probably cached somewhere",
        "password = read line from stdin",
        "the admin password is random each time",
        "password reset mail never comes back",
        "passwords are stored salted",
        "Pass: all tests run green",
        "pass = run first then second",
        "pw: please write docs",
        "the password is longer than allowed",
        "password is only used once",
        "the password is kept secret elsewhere",
        "password: see the vault entry",
        "password is same as before",
        "password is same like username",
        "the password is optional right now",
    ],
)
def test_a_sentence_about_a_password_stays(text: str, end: str) -> None:
    assert clean(text + end, origin="prompt").value == text + end


def test_a_command_behind_the_password_that_it_needs_stays() -> None:
    line = "PGPASSWORD=lantern psql users orders items"

    assert clean(line, origin="tool").value == "PGPASSWORD=[REDACTED] psql users orders items"


@pytest.mark.parametrize("origin", ["prompt", "tool"])
@pytest.mark.parametrize("text", [" as password>", "x\n is the password", '" as password', "`` as the password"])
def test_a_password_that_nothing_precedes_is_read_like_any_other_text(text: str, origin: str) -> None:
    assert clean(text, origin=origin).value == text
