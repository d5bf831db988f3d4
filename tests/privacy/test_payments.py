"""Card numbers and IBANs: their check digits give them away, and numbers that only look like them stay."""

from __future__ import annotations

import pytest

from mdmem.privacy import clean

CARD, AMEX = ("4539", "5787", "6362", "1486"), ("3714", "496353", "98431")
IBAN = ("DE44", "5001", "0517", "5407", "3249", "31")


@pytest.mark.parametrize("origin", ["prompt", "tool"])
@pytest.mark.parametrize(
    "text",
    [
        f"pay with {' '.join(CARD)} please",
        f"{'-'.join(CARD)} 123",
        f"{''.join(CARD)} 12/27",
        f"{''.join(CARD)}|09|2027|Ana",
        f"ana,{''.join(CARD)},01/2028\n",
        f"card number: {''.join(CARD)}",
        f'{{"cardNumber": "{"".join(CARD)}", "exp": "12/27"}}',
        f"Meine Kreditkarte ist {''.join(CARD)}",
        f"card_number,exp\n{''.join(CARD)},12/27",
        f"tarjeta {''.join(CARD)} exp 12/27",
        f"card {' '.join(CARD)} 1227",
        f'{{"pan": "{"".join(CARD)}"}}',
        "3782 822463 10013",
    ],
)
def test_a_card_number_is_masked_in_groups_or_behind_its_label(text: str, origin: str) -> None:
    cleaned = clean(text, origin=origin)

    assert cleaned.redacted == 1
    assert "6362" not in cleaned.value
    assert "822463" not in cleaned.value


@pytest.mark.parametrize(
    "text",
    ["card {} cvv {} exp 01/29", "{}, CVC: {}", '{{"cardNumber": "{}", "cvc2": "{}"}}', "visa {}\nsecurity code {}"],
)
def test_the_security_code_beside_a_card_number_is_masked_with_it(text: str) -> None:
    masked = text.format("[REDACTED]", "[REDACTED]")

    assert clean(text.format(" ".join(CARD), "923")).value == masked.replace("{{", "{").replace("}}", "}")
    assert clean(f"{' '.join(CARD)}, limit 300, cvc results").value == "[REDACTED], limit 300, cvc results"
    assert clean("cvc 923 of the log").value == "cvc 923 of the log"


@pytest.mark.parametrize("origin", ["prompt", "tool"])
@pytest.mark.parametrize(
    "text",
    [
        f"IBAN: {' '.join(IBAN)}",
        f"überweise auf {''.join(IBAN)}, bitte",
        f'{{"iban":"{"".join(IBAN)}"}}',
        "FR76 3000 6000 0112 3456 7890 189",
        "NL20INGB0001234567",
    ],
)
def test_an_iban_is_masked_wherever_it_is(text: str, origin: str) -> None:
    cleaned = clean(text, origin=origin)

    assert cleaned.redacted == 1
    assert not any(group in cleaned.value for group in ("5407", "54073249", "3456", "1234567"))


@pytest.mark.parametrize(
    "text",
    [
        "4242 4242 4242 4242 and 4111-1111-1111-1111 and 5555 5555 5555 4444 are for tests",
        "card 4000056655665556, amex 378282246310005",
        "card 4012888888881881",
        f"span: {''.join(CARD)}",
        f"order {''.join(CARD)}",  # one in ten ids has such a check digit
        f"order {''.join(CARD)} 2026-09-14, {''.join(CARD)} 09/14/2026, {''.join(CARD)},13/27, {''.join(CARD)} 12/275",
        "card 4539578763621487",  # the check digit is wrong
        "5434 5435 5436 5437 5438 5439",
        "00000000: 4539 5787 6362 1486 0a0b",
        "1700000000000000 is a time of a card in microseconds",
        f"sha256 ab{''.join(CARD)}",
        "DE89 3704 0044 0532 0130 00 and GB82WEST12345698765432 are examples",
        "DE44500105175407324932",  # the check digits are wrong
        "X" + "".join(IBAN),
        "".join(IBAN) + "0",
        "2026-09-14 08:00:01 - 2026-10-01 09:00:00",
        "AT00000000000000000000",
        "session: 493e4429-0000-4000-8000-000000000002",
        "session: 0a298503-4260-7896-9217-6733b49068aa",
    ],
)
def test_a_number_for_tests_or_of_another_kind_stays(text: str) -> None:
    assert clean(text, origin="tool").value == text


@pytest.mark.parametrize("key", ["card_number", "cardNumber", "creditCard"])
def test_a_card_number_is_masked_behind_its_key(key: str) -> None:
    given = {"input": {key: "".join(CARD), "order": "".join(CARD)}}

    assert clean(given, origin="tool").value == {"input": {key: "[REDACTED]", "order": "".join(CARD)}}
