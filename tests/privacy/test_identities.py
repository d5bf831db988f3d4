"""Numbers that states give to persons are masked behind their names, in columns, and by check digits; others stay."""

from __future__ import annotations

from typing import Any

import pytest

from mdmem.privacy import clean

LABELED = (
    ("SSN: {}", "536-22-8726"),
    ("ssn={}", "536228726"),
    ("customer_ssn: {}", "536-22-8726"),
    ("His social security number is {}.", "536 22 8726"),
    ("Social Insurance Number: {}", "046 454 286"),
    ("Steuer-ID: {}", "86095742719"),
    ("Steueridentifikationsnummer {}", "86 095 742 719"),
    ("Sozialversicherungsnummer: {}", "65170839J003"),
    ("Rentenversicherungsnummer {}", "65 170839 J 003"),
    ("NIR : {}", "1 85 05 78 006 084 36"),
    ("numéro de sécurité sociale {}", "185057800608436"),
    ("NINO: {}", "JG 52 34 56 C"),
    ("National Insurance number {}", "JG523456C"),
    ("Passport number: {}", "C01X00T47"),
    ("passport no. {}", "533380006"),
    ("Reisepassnummer: {}", "C01X0006H"),
    ("numéro de passeport : {}", "82AB34567"),
    ("Personalausweisnummer: {}", "L01X00T471"),
    ("driver's license number: {}", "D8234567"),
    ("DNI: {}", "52345678Z"),
    ("NIE {}", "X8234567L"),
    ("codice fiscale: {}", "RSSMRA85T10A562S"),
    ("CPF: {}", "529.982.247-25"),
    ("PESEL: {}", "44051401359"),
    ("Aadhaar no: {}", "2341 2341 2346"),
    ("NHS number: {}", "943 476 5919"),
    ("AHV-Nr.: {}", "756.9217.0769.85"),
    ("주민등록번호: {}", "900101-1234568"),
    ("身份证号：{}", "11010519491231002X"),
    ("マイナンバーは{}です", "823456789018"),
    ("personnummer: {}", "811228-9874"),
    ("henkilötunnus: {}", "131052-308T"),
    ("RUT: {}", "17.345.628-5"),
    ("name,ssn,city\nana,{},Rome\n", "536-22-8726"),
    ("| name | DNI |\n|---|---|\n| ana | {} |\n", "52345678Z"),
)


@pytest.mark.parametrize("origin", ["prompt", "tool"])
@pytest.mark.parametrize(("text", "number"), LABELED)
def test_a_number_of_a_person_is_masked_by_its_name(text: str, number: str, origin: str) -> None:
    assert clean(text.format(number), origin=origin).value == text.format("[REDACTED]")


@pytest.mark.parametrize(
    "value",
    [{"ssn": "536-22-8726"}, {"ssn": 536228726}, {"passport_number": "C01X00T47"}, {"user": {"DNI": "52345678Z"}}],
)
def test_a_number_of_a_person_is_masked_under_its_key(value: Any) -> None:
    cleaned = clean({"response": value}, origin="tool")

    assert cleaned.redacted == 1
    assert "[REDACTED]" in str(cleaned.value)


@pytest.mark.parametrize(
    "number",
    ["1 85 05 78 006 084 91", "756.9217.0769.85", "529.982.247-25", "11010519491231002X", "RSSMRA85T10A562S"],
)
def test_a_number_with_the_right_check_digits_is_masked_without_a_name(number: str) -> None:
    assert clean(f"Customer {number} called", origin="tool").value == "Customer [REDACTED] called"


@pytest.mark.parametrize(
    "text",
    [
        "SSN: 123-45-6789",  # samples
        "ssn: 000-00-0000",
        "NINO: QQ 12 34 56 C",
        "DNI: 12345678Z",
        "CPF 111.111.111-11",
        "1 85 05 78 006 084 90",  # wrong check digits
        "756.9217.0769.84",
        "529.982.247-26",
        "110105194912310021",
        "20261129101500123",
        "1.529.982.247-25",
        "ssn: required, nine digits 20261129",  # no numbers of persons
        "passport 0.6.0, passport-local 1.0.0 from 20261129",
        "const passport = require('passport'); // 2026-11-29",
        "session 536228726 of class SSNFilter",
        "Medicare pays 12000000 a year",
        "nie 20261129 und nie wieder",
        "tax id is missing since 2026-11-29 10:15",
        "id,ssn\n1,required on 20261129\n",
        "driver license: MIT, 20261129",
        "git checkout 536228726a",
    ],
)
def test_what_is_no_number_of_a_person_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize("size", [1, 1_900, 5_000])
def test_numbers_below_a_name_are_masked_however_long_a_row_is(size: int) -> None:
    words = ("word " * size)[:size]
    for head, row in (("name,ssn,notes", "ana,{},{}"), ("notes;name;ssn", "{1};ana;{0}")):
        text = f"{head}\n{row.format('536-22-8726', 'short')}\n{row.format('536-22-8727', words)}\n"
        text += row.format("536-22-8728", "short")

        assert "536-22" not in clean(text, origin="tool").value
    assert "536-22" not in clean(f"{words},ssn\n1,536-22-8726\n", origin="tool").value


@pytest.mark.parametrize("every", [300, 10_000])
def test_all_numbers_in_a_long_table_are_masked_however_often_it_repeats_their_name(every: int) -> None:
    rows = [f"ana,536-22-{number}" if number % every else "name,ssn" for number in range(1_201, 2_400)]
    text = "\n".join(["name,ssn", *rows])

    assert "536-22" not in clean(text, origin="tool").value


def test_a_key_of_a_person_with_another_value_stays() -> None:
    value = {"ssn": "required", "passport": {"strategy": "local"}, "dni": 7, "cpf": None, "tax_id": "see above"}

    assert clean(value, origin="tool").value == value
