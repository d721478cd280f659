"""Store one-time tokens: hashes of the unused ones, and counters that do not say which tokens they count."""

import time
from collections.abc import Sequence

from sottovoce.aggregator.storage import survey_log
from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR, TOKENS_MADE, TOKENS_REVOKED
from sottovoce.aggregator.storage.invitations import blind_invitations
from sottovoce.aggregator.storage.invitations.blind_invitations import TokenBatch, TokenCounts
from sottovoce.aggregator.storage.sql_statements import Handle, delete_tokens

_COUNTS = "SELECT created, revoked, held, held_since, dropped FROM token_counts WHERE survey = ?"
_UNSPENT = """
    SELECT (SELECT count(*) FROM tokens WHERE survey = ?)
    + (SELECT count(*) - count(blinded_hash) FROM blind_invitations WHERE survey = ?)
"""
_HAS_TOKEN = """
    SELECT EXISTS (SELECT 1 FROM tokens WHERE survey = ? AND token_hash = ?) OR EXISTS (
        SELECT 1 FROM blind_invitations WHERE survey = ? AND invitation_hash = ? AND blinded_hash IS NULL
    )
"""
_ADD = "INSERT INTO tokens (survey, token_hash) VALUES (?, ?)"
_INVITE = "INSERT INTO blind_invitations (survey, invitation_hash) VALUES (?, ?)"
# Spent tokens have no counter: every transaction that stores reports would wait for its row. They are the rest.
_ADD_COUNTS = """
    INSERT INTO token_counts (survey, created, revoked) VALUES (?, ?, ?) ON CONFLICT (survey) DO UPDATE
    SET created = token_counts.created + excluded.created, revoked = token_counts.revoked + excluded.revoked
"""
_OF_NAME = "survey IN (SELECT key FROM surveys WHERE name = ?)"
_FORGET = (
    # First, although the rows are marked already: the update waits for transactions that add tokens, which lock a row.
    "UPDATE surveys SET purged = 1 WHERE name = ?",
    f"""
    UPDATE token_counts SET held = 0, held_since = NULL, dropped = dropped + held
    + (SELECT count(*) FROM tokens WHERE survey = token_counts.survey)
    + (SELECT count(*) - count(blinded_hash) FROM blind_invitations WHERE survey = token_counts.survey)
    WHERE {_OF_NAME}
    """,  # noqa: S608 - a constant
    # For redeemed invitations it is the only number that remains.
    f"UPDATE token_counts SET spent = created - revoked - dropped WHERE {_OF_NAME}",  # noqa: S608
    f"DELETE FROM tokens WHERE {_OF_NAME}",  # noqa: S608
    f"DELETE FROM blind_invitations WHERE {_OF_NAME}",  # noqa: S608
)


TOKENS_AT_ONCE = 10_000
"""Tokens a transaction: reports that arrive meanwhile, and the check of readiness, wait for one."""

PAUSE_SECONDS = 0.11
"""Pause between two transactions; longer than another process on the same file waits between two tries."""


class TokenStorage(blind_invitations.InvitationStorage):
    """Part of ``Storage`` that handles tokens; ``survey`` is the key of the first revision, which each refers to."""

    def add_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NO_ACTOR, blind: bool = False) -> None:
        """Add tokens for one report each, or, if ``blind``, invitations for one redemption each.

        Large numbers come in several transactions, of which the first notes all: of one that is cut off in between the
        audit log knows more than there are.
        """
        ordered = sorted(hashes)
        for start in range(0, len(ordered) or 1, TOKENS_AT_ONCE):
            if start:
                time.sleep(PAUSE_SECONDS)
            with self.write() as db:
                name = self._lock_survey(db, survey)
                _add(db, survey, ordered[start : start + TOKENS_AT_ONCE], blind)
                if not start:
                    self.note(db, TOKENS_MADE, who, f"{name} {len(ordered)}")

    def add_tokens_once(self, batch: TokenBatch) -> str:
        """Add tokens unless the survey log shows that the request was answered; return the body of its first request.

        The tokens themselves cannot show it: spent and revoked ones are deleted, and must not become valid again.
        """
        with self.alone() as db:
            self._lock_survey(db, batch.survey)
            about = f"{batch.name} {batch.request}"
            known = survey_log.token_request(db, about)
            if known is not None:
                return known
            _add(db, batch.survey, batch.hashes, batch.blind)
            survey_log.append(db, self.today(db), survey_log.TOKENS, f"{about} {batch.body}")
            self.note(db, TOKENS_MADE, batch.who, f"{batch.name} {len(batch.hashes)}")
            return batch.body

    def revoke_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NO_ACTOR) -> int:
        """Revoke tokens and invitations, by hash, ignoring invalid ones; return how many were still valid."""
        known = sorted(set(hashes))
        with self.deleting() as db:
            name = self._lock_survey(db, survey)
            revoked = delete_tokens(db, [(survey, token) for token in known])
            revoked += blind_invitations.revoke(db, survey, known)
            db.execute(_ADD_COUNTS, [survey, 0, revoked])
            # Privacy: without the number, which would say how many of these people have not answered.
            self.note(db, TOKENS_REVOKED, who, name)
        return revoked

    def has_token(self, survey: int, token: bytes) -> bool:
        """Return True if a token is valid for a report, or an invitation can be redeemed."""
        with self.read_reports() as db:
            return bool(db.execute(_HAS_TOKEN, [survey, token] * 2).fetchone()[0])

    def token_counts(self, survey: int) -> TokenCounts:
        """Return the numbers of tokens by state."""
        with self.read_reports() as db:
            created, revoked, held, since, dropped = db.execute(_COUNTS, [survey]).fetchone() or (0, 0, 0, None, 0)
            (unspent,) = db.execute(_UNSPENT, [survey, survey]).fetchone()
        return TokenCounts(created, created - revoked - held - dropped - unspent, revoked, unspent, held, since)


def _add(db: Handle, survey: int, hashes: Sequence[bytes], blind: bool) -> None:
    # Privacy: in the order of the hashes, since the list may be sorted by people's names.
    db.executemany(_INVITE if blind else _ADD, ((survey, each) for each in sorted(hashes)))
    db.execute(_ADD_COUNTS, [survey, len(hashes), 0])


def forget(db: Handle, name: str) -> None:
    """Delete all tokens and invitations of a survey whose revisions are purged; store how many were valid or held."""
    for statement in _FORGET:
        db.execute(statement, [name])
