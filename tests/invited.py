"""Invited people's devices, as far as an aggregator sees them: ids blinded, redeemed, and spent."""

import secrets
from dataclasses import dataclass
from functools import cache

from sottovoce.aggregator.invitations.rsa_blind_signer import SigningKey, make_key
from sottovoce.shared.blind_signatures import SALT, Blinded, blind, draw_factor, finalize
from sottovoce.shared.redemption import RedeemRequest, dump_request, message, parse_reply, spell, spell_modulus
from sottovoce.shared.spec import Survey

from tests import surveys


def key(number: int = 0, bits: int = 2048) -> SigningKey:
    """The key of this number; making one takes a while."""
    return _made(number, bits)


@cache
def _made(number: int, bits: int) -> SigningKey:  # noqa: ARG001 - another number is another key
    return make_key(bits)


def blind_survey(waves: int = 1, **changes: object) -> Survey:
    """One for invited people, under so many keys of ours."""
    access = {"blind": [spell_modulus(key(wave).modulus) for wave in range(waves)]}
    return surveys.survey(access=access, **({"waves": surveys.months(waves)} if waves > 1 else {}), **changes)


@dataclass(frozen=True)
class Prepared:
    """What a device has written down before it asks for a wave's signature."""

    report_id: bytes
    modulus: int
    blinded: Blinded

    def signature(self, answer: bytes) -> str:
        """Of the id, as a request carries it."""
        return spell(finalize(self.blinded, answer, self.modulus))


def prepare(survey: Survey) -> list[Prepared]:
    """An id for each wave, and its blinding."""
    return [_prepare(modulus) for modulus in survey.moduli]


def request_of(survey: Survey, invitation: str, prepared: list[Prepared]) -> bytes:
    return dump_request(RedeemRequest(survey.digest, invitation, tuple(each.blinded.sent for each in prepared)))


def signatures(prepared: list[Prepared], reply: bytes) -> list[str]:
    answers = parse_reply(reply).signed
    return [each.signature(answer) for each, answer in zip(prepared, answers, strict=True)]


def _prepare(modulus: int) -> Prepared:
    report_id, salt = secrets.token_bytes(16), secrets.token_bytes(SALT)
    factor = draw_factor(modulus, secrets.token_bytes)
    return Prepared(report_id, modulus, blind(message(modulus, report_id), modulus, salt, factor))
