"""One-time tokens of a survey: hashes of the unused ones, and counters; functions work within a transaction."""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import ClassVar

from sottovoce.aggregator.storage import survey_log
from sottovoce.aggregator.storage.audit_log import table
from sottovoce.aggregator.storage.audit_log.audit_log import JournalStorage
from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR, REISSUED, RESTORED, TOKENS_MADE, TOKENS_REVOKED
from sottovoce.aggregator.storage.invitations import blind_invitations
from sottovoce.aggregator.storage.invitations.token_models import Held, TokenBatch, TokenCounts
from sottovoce.aggregator.storage.models import Outcome
from sottovoce.aggregator.storage.sql_statements import Handle, add_token_counts, delete_tokens
from sottovoce.shared.errors import StorageError

_COUNTS = "SELECT created, revoked, held, held_since, dropped FROM token_counts WHERE survey = ?"
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

# Any revision, since invitations refer to the first one, which stays closed if a correction follows a close.
_ANY_OPEN = "SELECT 1 FROM surveys WHERE closed_on IS NULL AND name = (SELECT name FROM surveys WHERE key = ?)"


def add(db: Handle, survey: int, hashes: Sequence[bytes], blind: bool = False) -> None:
    """
    Add tokens for one report each, or invitations for one redemption each.

    Args:
        db: within a transaction.
        survey: key of the first revision, which all tokens of a survey refer to.
        hashes: of the tokens.
        blind: they are invitations.
    """
    # Privacy: in the order of the hashes, since the list may be sorted by people's names.
    if blind:
        blind_invitations.invite(db, survey, hashes)
    else:
        db.executemany("INSERT INTO tokens VALUES (?, ?)", [(survey, token) for token in sorted(hashes)])
    add_token_counts(db, survey, created=len(hashes))


def add_once(db: Handle, batch: TokenBatch, day: int) -> str:
    """
    Add tokens unless the survey log shows that the request was answered; return the body of the first such request.

    The tokens themselves cannot show it: spent and revoked ones are deleted, and must not become valid again.

    Args:
        db: within a transaction that holds the lock of the survey log.
        batch: the tokens and their request.
        day: today.
    """
    about = f"{batch.name} {batch.request}"
    known = survey_log.token_request(db, about)
    if known is not None:
        return known
    add(db, batch.survey, batch.hashes, batch.blind)
    survey_log.append(db, day, survey_log.TOKENS, f"{about} {batch.body}")
    table.append(db, day, TOKENS_MADE, batch.who, f"{batch.name} {len(batch.hashes)}")
    return batch.body


def is_good(db: Handle, survey: int, token: bytes) -> bool:
    """
    Return True if a token is valid for a report, or an invitation can be redeemed.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        token: its hash.
    """
    query = "SELECT 1 FROM tokens WHERE survey = ? AND token_hash = ?"
    is_token = db.execute(query, [survey, token]).fetchone() is not None
    return is_token or blind_invitations.is_unredeemed(db, survey, token)


def revoke(db: Handle, survey: int, hashes: Sequence[bytes]) -> int:
    """
    Revoke tokens; return how many were still valid.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        hashes: of the tokens; others than valid ones are ignored.
    """
    known = sorted(set(hashes))
    revoked = delete_tokens(db, [(survey, token) for token in known]) + blind_invitations.revoke(db, survey, known)
    add_token_counts(db, survey, revoked=revoked)
    return revoked


def counts(db: Handle, survey: int) -> TokenCounts:
    """Return the numbers of tokens by state, for the key of a first revision."""
    created, revoked, held, since, dropped = db.execute(_COUNTS, [survey]).fetchone() or (0, 0, 0, None, 0)
    unspent = db.execute("SELECT count(*) FROM tokens WHERE survey = ?", [survey]).fetchone()[0]
    invitations, used = blind_invitations.count(db, survey)
    unspent += invitations - used
    spent = created - revoked - held - dropped - unspent
    return TokenCounts(created, spent, revoked, unspent, held, since)


def forget(db: Handle, name: str) -> None:
    """
    Delete all tokens and invitations of a survey, and store how many were valid or held.

    Args:
        db: within a transaction.
        name: of a survey whose revisions are all purged.
    """
    for statement in _FORGET:
        db.execute(statement, [name])


class TokenStorage(JournalStorage):
    """The part of ``Storage`` that handles tokens and invitations."""

    THERE: ClassVar[str] = "SELECT name FROM surveys WHERE key = ?"
    """Query for the name of a survey, which locks its row against deletion until the transaction ends."""

    OPEN: ClassVar[str] = "SELECT 1 FROM surveys WHERE key = ? AND closed_on IS NULL"
    """Query that returns a row if a survey is open, and locks it so that it stays open until the transaction ends."""

    UNTIL_END: ClassVar[str] = ""
    """Suffix of a query that locks its rows until the transaction ends; empty if the back end has one writer."""

    @abstractmethod
    def _alone(self) -> AbstractContextManager[Handle]:
        """Begin a transaction that changes a survey's state, one at a time across all nodes."""

    @abstractmethod
    def _read_reports(self) -> AbstractContextManager[Handle]:
        """Begin a transaction that reads reports, tokens or invitations, which are rewritten, as of one moment."""

    @abstractmethod
    def _after_deletion(self) -> None:
        """Remove traces of deleted rows from the files as far as that is fast."""

    def add_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NO_ACTOR, blind: bool = False) -> None:
        """
        Add tokens for one report each, or invitations for one redemption each.

        Args:
            survey: key of the first revision.
            hashes: of the tokens.
            who: account that creates them, for the audit log.
            blind: they are invitations.
        """
        with self._write() as db:
            name = self._lock_survey(db, survey)
            add(db, survey, hashes, blind)
            table.append(db, self._today(db), TOKENS_MADE, who, f"{name} {len(hashes)}")

    def add_tokens_once(self, batch: TokenBatch) -> str:
        """Add tokens unless the request was answered before; return the body of the first such request."""
        with self._alone() as db:
            self._lock_survey(db, batch.survey)
            return add_once(db, batch, self._today(db))

    def revoke_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NO_ACTOR) -> int:
        """
        Revoke tokens; return how many were still valid.

        Args:
            survey: key of the first revision.
            hashes: of the tokens.
            who: account that revokes them, for the audit log.
        """
        with self._write() as db:
            name = self._lock_survey(db, survey)
            revoked = revoke(db, survey, hashes)
            # Privacy: without the number, which would say how many of these people have not answered.
            table.append(db, self._today(db), TOKENS_REVOKED, who, name)
        self._after_deletion()
        return revoked

    def redeem_invitation(self, survey: int, invitation: bytes, blinded: bytes) -> Outcome:
        """
        Redeem an invitation, see ``Storage.redeem_invitation``.

        Args:
            survey: key of the first revision.
            invitation: hash of the invitation.
            blinded: fingerprint of the blinded message to be signed.
        """
        with self._write() as db:
            if db.execute(_ANY_OPEN + self.UNTIL_END, [survey]).fetchone() is None:
                return Outcome.CLOSED
            outcome = blind_invitations.redeem(db, survey, invitation, blinded)
        if outcome is Outcome.NEW:
            self._note_redeemed()
        return outcome

    def _note_redeemed(self) -> None:
        """Note that an invitation was redeemed, so that its place in the files settles."""

    def hold_invitations(self, now: int = 0) -> None:
        """
        Hold all unredeemed invitations after a restore, until ``reissue_invitations``.

        Args:
            now: new mark, in seconds since 1970, so that nodes with an older mark do not hold them again.
        """
        with self._write() as db:
            blind_invitations.raise_mark(db, now)
            blind_invitations.hold(db, self._today(db))

    def mark(self) -> int:
        """Return the age mark of the database, see ``note_mark``."""
        with self._read() as db:
            return blind_invitations.mark(db)

    def note_mark(self, now: int, known: int) -> tuple[int, bool]:
        """
        Raise the age mark, and hold invitations if the mark shows that an older copy of the database was restored.

        Args:
            now: seconds since 1970.
            known: the last mark that this node saw; 0 for none.

        Returns:
            The new mark, and True if the stored mark was below ``known``.
        """
        with self._write() as db:
            mark = blind_invitations.take_mark(db)
            if known > mark:
                blind_invitations.hold(db, self._today(db))
                table.append(db, self._today(db), RESTORED, NO_ACTOR)
            # By one at least, so that the mark grows even if it was once raised by a clock that was ahead.
            new = max(mark + 1, now, known)
            blind_invitations.raise_mark(db, new)
        return new, known > mark

    def held_invitations(self) -> dict[str, Held]:
        """Return the invitations held after a restore, by the name of each open survey."""
        with self._read() as db:
            return blind_invitations.held_of_open(db)

    def reissue_invitations(self, survey: int, who: str = NO_ACTOR) -> int:
        """
        Make held invitations valid again; return their number.

        Each of them may have been redeemed after the backup, and can then be redeemed a second time.

        Args:
            survey: key of the first revision.
            who: account that decides it, for the audit log.
        """
        with self._write() as db:
            name = self._lock_survey(db, survey)
            held = blind_invitations.release(db, survey)
            if held:
                table.append(db, self._today(db), REISSUED, who, f"{name} {held}")
        return held

    def _lock_survey(self, db: Handle, survey: int) -> str:
        """Return the survey's name and lock its row, since a concurrent deletion would miss tokens added here."""
        row = db.execute(self.THERE, [survey]).fetchone()
        if row is None:
            raise StorageError("there is no survey of this name")
        return str(row[0])

    def has_token(self, survey: int, token: bytes) -> bool:
        """Return True if a token is valid, or an invitation not redeemed yet."""
        with self._read_reports() as db:
            return is_good(db, survey, token)

    def token_counts(self, survey: int) -> TokenCounts:
        """Return the numbers of tokens by state."""
        with self._read_reports() as db:
            return counts(db, survey)
