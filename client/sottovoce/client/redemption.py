"""Redeem an invitation: the aggregator signs the ids of this device's coming reports, one for each wave, unseen.

All of it happens once, at the first visit, for all waves. The drawn ids are on disk before they are sent, so that after
a crash the next process sends the same blinded ids and gets the same signatures. Ids are never drawn again for an
invitation: if a signature is invalid, the prepared ids are discarded, and the person gets an error.

The device also keeps the signing keys that it has used, for the whole survey. An aggregator that shows versions with
different keys for one wave could tell people apart by the key of their reports; the device then requests and draws
nothing more, with either version.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from sottovoce.client.draws import Draws
from sottovoce.client.ledger import REDEMPTION, SIGNERS, Entry, Key, Ledger
from sottovoce.shared import canonical
from sottovoce.shared.blind_signatures import SALT, Blinded, blind, draw_factor, finalize
from sottovoce.shared.errors import BudgetExhausted, TransportError
from sottovoce.shared.redemption import RedeemRequest, dump_request, message, parse_reply, read_number, spell
from sottovoce.shared.spec import Survey

_BURNT = "burnt"
_DAMAGED = "the ledger cannot be read; nothing was drawn and nothing was sent"
_REFUSALS = {
    "already_redeemed": "this invitation was used before, on another device or before this one forgot it. Nothing was "
    "sent. Ask the people who invited you for another one",
    "token_invalid": "this invitation is unknown, or no longer valid. Nothing was sent",
}


class Signed(NamedTuple):
    """The id of a report, and the signature of it as it is sent."""

    report_id: str
    signature: str


NOT_SIGNED = Signed("", "")
"""Stands for a survey that asks for no signature: the report draws an id of its own."""


class Prepared(NamedTuple):
    """The id of a report, and how it goes to be signed."""

    report_id: str
    blinded: Blinded


class Redeemer(Protocol):
    """A transport that redemption needs."""

    def redeem(self, survey: str, body: bytes) -> bytes:
        """Return the reply to a request; every try sends the same bytes."""


def redeem(ledger: Ledger, key: Key, survey: Survey, transport: Redeemer, draws: Draws) -> None:
    """Have the ids of all waves signed, unless that was done before.

    The ledger keeps what was drawn, then the signatures; ``key`` has its invitation, in any wave; the survey names the
    keys.

    Raises:
        BudgetExhausted: nothing may be asked for any more: the keys are others than before, a signature was none, the
            device has forgotten them; or the ledger cannot be written or read.
        TransportError: no answer, or refused.
    """
    _check_signers(ledger, key, survey)
    own = key._replace(wave=REDEMPTION)
    entry = ledger.get(own)
    if entry is None:
        # Drawn, then offered: of two visits at once the ledger keeps the ids of one, and both send those.
        drawn = _dump([_signing_request(each) for each in prepare(survey.moduli, draws)])
        # ``sent=True`` keeps these entries out of the lists of reports that wait.
        entry = ledger.record(own, Entry("", 0.0, drawn, sent=True))
    # Only what was never signed: a restart after the reply must not ask again.
    prepared = [_parse_prepared(each) for each in _read(entry) if each is not None and "blinded" in each]
    if prepared:
        signed = _ask(survey, own, prepared, transport)
        _request_signatures(ledger, own, entry.body, prepared, signed, survey.moduli[: len(prepared)])


def prepare(moduli: Sequence[int], draws: Draws) -> list[Prepared]:
    """Draw an id for each wave, and prepare how it goes to be signed. Bytes: for each wave 16 of the id, 48 of the
    salt, and those of ``draw_factor``.
    """
    return [_prepare(modulus, draws) for modulus in moduli]


def signed_id(ledger: Ledger, key: Key) -> Signed | None:
    """Return the id that a report must have, with its signature; None if a report of this wave has taken it.

    Raises BudgetExhausted if the invitation does not cover this wave, was never redeemed, or is not good any more.
    """
    entry = ledger.get(key._replace(wave=REDEMPTION))
    waves = [] if entry is None else _read(entry)
    if key.wave >= len(waves):
        raise BudgetExhausted("your invitation is for other waves of this survey; nothing was drawn")
    stored = waves[key.wave]
    return None if stored is None else Signed(_text(stored, "id"), _text(stored, "signature"))


def check_signed(ledger: Ledger, key: Key, survey: Survey) -> None:
    """Refuse a survey without signatures where this device has asked for those of a survey of that name. Raises
    TransportError: an invitation for blind signatures would be sent along with a report.
    """
    if not survey.is_blind and ledger.get(Key(key.origin, key.survey, SIGNERS)) is not None:
        raise TransportError(
            "the aggregator shows versions of this survey that contradict each other; nothing was sent"
        )


def forget_signature(ledger: Ledger, key: Key) -> None:
    """Wipe id and signature of a wave whose report is in the ledger, with a copy of them that goes with its receipt."""
    own = key._replace(wave=REDEMPTION)
    entry = ledger.get(own) if key.token else None
    if entry is None or entry.ended or entry.body == _BURNT:
        return
    waves = _read(entry)
    if key.wave < len(waves) and waves[key.wave] is not None:
        # Where another program has just changed it, the next visit does this.
        ledger.revise(
            own, entry.body, _dump([None if wave == key.wave else stored for wave, stored in enumerate(waves)])
        )


def _check_signers(ledger: Ledger, key: Key, survey: Survey) -> None:
    own = Key(key.origin, key.survey, SIGNERS)
    # Hashes suffice to compare keys, and keep the ledger small.
    named = [hashlib.sha256(each.to_bytes(each.bit_length() // 8)).hexdigest() for each in survey.moduli]
    entry = ledger.record(own, Entry("", 0.0, canonical.dump({"keys": named}).decode(), sent=True))
    known = _document(entry.body).get("keys") if entry.body else []
    if not isinstance(known, list) or not known or known[: len(named)] != named[: len(known)]:
        if not entry.ended:
            ledger.end(own, "contradicted")
        raise BudgetExhausted(
            "the aggregator has shown this device versions of the survey with different keys, by which it could tell "
            "people apart; nothing was drawn and nothing was sent"
        )
    if len(known) < len(named):
        ledger.revise(own, entry.body, canonical.dump({"keys": named}).decode())


def _prepare(modulus: int, draws: Draws) -> Prepared:
    report_id = draws.identity()
    # Order of bytes is part of the protocol shared with the browser: id, salt, blinding factor.
    salt = draws.exactly(SALT)
    factor = draw_factor(modulus, draws.exactly)
    return Prepared(report_id, blind(message(modulus, bytes.fromhex(report_id)), modulus, salt, factor))


def _ask(survey: Survey, own: Key, prepared: Sequence[Prepared], transport: Redeemer) -> Sequence[bytes]:
    if len(prepared) > len(survey.moduli):
        raise BudgetExhausted("your invitation was prepared for more waves than this version of the survey has")
    request = RedeemRequest(survey.digest, own.token, tuple(each.blinded.sent for each in prepared))
    try:
        reply = parse_reply(transport.redeem(survey.name, dump_request(request)))
    except TransportError as error:
        # Known refusals are translated for the person; others keep the aggregator's own words.
        raise TransportError(_REFUSALS.get(error.reason or "", str(error)), error.status, error.reason) from None
    except ValueError:
        raise TransportError("the aggregator's signatures cannot be read") from None
    if reply.survey != survey.name or len(reply.signed) != len(prepared):
        raise TransportError("the aggregator's signatures are for something else")
    return reply.signed


def _request_signatures(
    ledger: Ledger, own: Key, body: str, prepared: Sequence[Prepared], signed: Sequence[bytes], moduli: Sequence[int]
) -> None:
    try:
        done = [
            Signed(each.report_id, spell(finalize(each.blinded, answer, modulus)))
            for each, answer, modulus in zip(prepared, signed, moduli, strict=True)
        ]
    except ValueError:
        # Another program may have had an honest answer meanwhile: only what was prepared is burnt.
        if ledger.revise(own, body, _BURNT):
            raise _redeemed_error() from None
        return
    ledger.revise(own, body, _dump([{"id": each.report_id, "signature": each.signature} for each in done]))


def _signing_request(prepared: Prepared) -> dict[str, str]:
    sent, inverse, encoded = prepared.blinded.sent, prepared.blinded.inverse, prepared.blinded.encoded
    return {"id": prepared.report_id, "blinded": spell(sent), "inverse": f"{inverse:x}", "encoded": f"{encoded:x}"}


def _parse_prepared(stored: dict[str, Any]) -> Prepared:
    try:
        blinded = Blinded(read_number(stored["blinded"]), int(stored["inverse"], 16), int(stored["encoded"], 16))
    except (KeyError, TypeError, ValueError):
        raise BudgetExhausted(_DAMAGED) from None
    return Prepared(_text(stored, "id"), blinded)


def _dump(waves: Sequence[dict[str, str] | None]) -> str:
    return canonical.dump({"waves": list(waves)}).decode()


def _read(entry: Entry) -> list[dict[str, Any] | None]:
    """Parse the kept signatures: an entry per wave, None once a report has used it."""
    if entry.ended:
        raise BudgetExhausted("this device has forgotten what your invitation was redeemed for; no other is drawn")
    if entry.body == _BURNT:
        raise _redeemed_error()
    waves = _document(entry.body).get("waves")
    if not isinstance(waves, list) or not all(each is None or isinstance(each, dict) for each in waves):
        raise BudgetExhausted(_DAMAGED)
    return waves


def _document(body: str) -> dict[str, Any]:
    try:
        return canonical.load(body.encode())
    except ValueError:
        raise BudgetExhausted(_DAMAGED) from None


def _text(stored: dict[str, Any], name: str) -> str:
    text = stored.get(name)
    if not isinstance(text, str) or not text:
        raise BudgetExhausted(_DAMAGED)
    return text


def _redeemed_error() -> BudgetExhausted:
    return BudgetExhausted(
        "the aggregator's signatures are not what this survey promises, and could mark you; this device does not use "
        "your invitation any more, and nothing was drawn. Tell the people who invited you"
    )
