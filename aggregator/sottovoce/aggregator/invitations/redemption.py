"""Redeem invitations: a blind signature for each wave, of report ids that the server never sees.

The server stores that the invitation was redeemed, and a hash of the blinded ids, so that a device that lost the reply
gets the same one again. Reports come later with unblinded signatures, which cannot be linked to a redemption.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.storage import Outcome, Storage
from sottovoce.aggregator.surveys.lifecycle import survey_of, unknown_survey, wave_state
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.redemption import Redemption, dump_reply, fits, parse_request, token_hash

MOST_AT_ONCE = 4
"""Maximum number of redemptions at the same time: GMP holds the GIL while it signs, and reports have priority."""


class Redeeming:
    """Signer of redemption requests for invitations."""

    def __init__(self, storage: Storage, clock: Clock, keys: KeysFile) -> None:
        self._storage = storage
        self._clock = clock
        self.keys = keys
        self._turns = BoundedSemaphore(MOST_AT_ONCE)

    def redeem(self, name: str, body: bytes) -> bytes:
        """Redeem an invitation and return the signatures; a repeated request gets the same reply.

        Raises:
            ReportRejected, Refusal: the request was refused, and nothing was signed.
            StorageError: the keys are missing, or the database does not answer.
        """
        request = parse_request(body)
        revisions = self._storage.revisions(name)
        if not revisions:
            raise unknown_survey()
        asked = next((row for row in revisions if row.digest == request.digest), None)
        if asked is None:
            raise ReportRejected("digest_mismatch", "the request is for another version of this survey")
        survey = survey_of(asked.document)
        if not survey.is_blind:
            raise ReportRejected("malformed", "this survey has no invitations to be redeemed")
        as_many = len(request.blinded) == len(survey.moduli)
        if not as_many or not all(map(fits, request.blinded, survey.moduli)):
            raise ReportRejected("malformed", "the request has not one number for each wave, below its modulus")
        # Check the requested revision, not the newest: a correction after a close is open, earlier revisions are not.
        if asked.closed or all(wave_state(wave, self._clock()) == "closed" for wave in survey.waves):
            raise ReportRejected("closed", "the survey is over")
        with self._turn():
            # Load the keys before the invitation is marked: a missing key must not use up the invitation.
            keys = self.keys.of(name, survey.moduli)
            invitation, blinded = token_hash(request.invitation, name), hashlib.sha256(b"".join(request.blinded))
            outcome = self._storage.redeem_invitation(revisions[0].key, invitation, blinded.digest())
            if outcome is Outcome.TOKEN_INVALID:
                raise ReportRejected("token_invalid", "there is no such invitation, or it was taken back")
            if outcome is Outcome.CLOSED:
                raise ReportRejected("closed", "the survey is over")
            if outcome is Outcome.UNKNOWN:
                # The invitation is on hold after a restore; the device repeats the same request later.
                raise Refusal("busy")
            if outcome is Outcome.CONFLICT:
                raise Refusal("already_redeemed")
            signed = tuple(key.sign(each) for key, each in zip(keys, request.blinded, strict=True))
        return dump_reply(Redemption(name, signed))

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._turns.acquire(blocking=False):
            raise Refusal("busy")
        try:
            yield
        finally:
            self._turns.release()
