from dataclasses import replace
from typing import Any

import pytest
from sottovoce.aggregator.accounts import passkeys
from sottovoce.aggregator.accounts.passkeys import (
    CHALLENGE_SECONDS,
    Site,
    check_challenge,
    new_challenge,
    new_challenge_key,
    parse_answer,
    site_of,
    verify_registration,
    verify_sign_in,
)
from sottovoce.aggregator.accounts.sign_in_errors import SignInRefused
from sottovoce.aggregator.storage.accounts.passkeys import Passkey

from tests.software_authenticator import PRESENT, VERIFIED, SoftwareAuthenticator

SITE = Site("https://surveys.example:8443", "surveys.example")
NOW = 1_800_000_000
KEY = new_challenge_key()
ADA = b"the account Ada."
DEVICE = SoftwareAuthenticator(SITE.origin, SITE.host)
OTHER = SoftwareAuthenticator(SITE.origin, SITE.host)


def known(device: SoftwareAuthenticator = DEVICE) -> Passkey:
    made = verify_registration(SITE, parse_answer(device.made(new_challenge(KEY, NOW))))
    return Passkey(*made[:1], ADA, *made[1:], "phone", 20_000)


def refused(device: SoftwareAuthenticator, passkey: Passkey | None = None) -> str:
    answer = parse_answer(device.signed(new_challenge(KEY, NOW)))
    with pytest.raises(SignInRefused) as caught:
        verify_sign_in(SITE, passkey or known(), answer)
    return str(caught.value)


def test_passkey_that_was_made_here_signs_in() -> None:
    assert site_of("https://surveys.example:8443/behind") == SITE

    answer = parse_answer(DEVICE.but(holder=ADA, sign_count=7).signed(new_challenge(KEY, NOW)))

    assert answer.credential_id == DEVICE.credential_id
    assert verify_sign_in(SITE, known(), answer) == 7


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param({"origin": "https://other.example"}, id="another origin"),
        pytest.param({"origin": "https://surveys.example"}, id="another port"),
        pytest.param({"origin": "http://surveys.example:8443"}, id="without TLS"),
        pytest.param({"host": "example"}, id="another host"),
        pytest.param({"flags": PRESENT}, id="present, not verified"),
        pytest.param({"flags": VERIFIED}, id="verified, not present"),
        pytest.param({"holder": b"another account."}, id="another holder"),
        pytest.param({"key": OTHER.key}, id="another key"),
    ],
)
def test_passkey_of_another_place_or_person_signs_nobody_in(lie: dict[str, Any]) -> None:
    assert refused(DEVICE.but(**lie)) == passkeys.NOT_TRUE


@pytest.mark.parametrize("sign_count", [0, 6, 7])
def test_passkey_that_does_not_count_on_was_copied(sign_count: int) -> None:
    """A device that has counted to seven says eight at least."""
    assert refused(DEVICE.but(sign_count=sign_count), replace(known(), sign_count=7)) == passkeys.NOT_TRUE


@pytest.mark.parametrize("lie", [{"origin": "https://other.example"}, {"host": "example"}, {"flags": PRESENT}], ids=str)
def test_passkey_made_elsewhere_or_for_nobody_is_not_added(lie: dict[str, Any]) -> None:
    answer = parse_answer(DEVICE.but(**lie).made(new_challenge(KEY, NOW)))

    with pytest.raises(SignInRefused, match="was not added"):
        verify_registration(SITE, answer)


def test_answer_to_one_question_is_none_to_the_other() -> None:
    challenge = new_challenge(KEY, NOW)
    with pytest.raises(SignInRefused):
        verify_registration(SITE, parse_answer(DEVICE.signed(challenge)))
    with pytest.raises(SignInRefused):
        verify_sign_in(SITE, known(), parse_answer(DEVICE.made(challenge)))


def test_challenge_is_good_for_five_minutes_and_to_its_aggregator_only() -> None:
    """Nobody makes one, changes its moment, or keeps it for later; no two are alike within one second either."""
    challenge = new_challenge(KEY, NOW)
    assert challenge != new_challenge(KEY, NOW)
    check_challenge(KEY, challenge, NOW)
    check_challenge(KEY, challenge, NOW + CHALLENGE_SECONDS)
    later = (NOW + 60).to_bytes(8) + challenge[8:]

    for key, given, moment in [
        (KEY, challenge, NOW + CHALLENGE_SECONDS + 1),
        (KEY, challenge, NOW - 1),
        (KEY, later, NOW + 60),
        (new_challenge_key(), challenge, NOW),
        (KEY, b"", NOW),
        (KEY, challenge[1:], NOW),
    ]:
        with pytest.raises(SignInRefused, match="too long"):
            check_challenge(key, given, moment)


def test_what_is_no_answer_is_refused_in_a_sentence() -> None:
    responses = ('{"clientDataJSON": "e30"}', '{"clientDataJSON": 7}', "[]")
    answers = [f'{{"rawId": "aa", "response": {response}}}' for response in responses]
    answers += ['{"rawId": 1, "response": {"clientDataJSON": ""}}']
    answers += ['{"rawId": "\ud800", "response": {"clientDataJSON": "e30"}}']
    for text in ("", "null", "[]", "{}", "[" * 10_000, " " * 20_000, *answers):
        with pytest.raises(SignInRefused) as caught:
            parse_answer(text)
        assert str(caught.value) == passkeys.NOT_TRUE, text[:60]


def test_half_an_answer_is_refused_in_a_sentence() -> None:
    """The library's own errors, of whatever kind, let nobody in and reach nobody."""
    answer = parse_answer(DEVICE.signed(new_challenge(KEY, NOW)))
    for text in (answer.text.replace("authenticatorData", "other"), answer.text.replace("public-key", "private-key")):
        with pytest.raises(SignInRefused):
            verify_sign_in(SITE, known(), replace(answer, text=text))
        with pytest.raises(SignInRefused):
            verify_registration(SITE, replace(answer, text=text))
