"""The one-time tokens of a survey: hashes while they are good, and counters; each step within a transaction."""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import ClassVar

from sottovoce.aggregator.storage import survey_log
from sottovoce.aggregator.storage.audit_log import table
from sottovoce.aggregator.storage.audit_log.audit_log import JournalStorage
from sottovoce.aggregator.storage.audit_log.events import NOBODY, REISSUED, RESTORED, TOKENS_MADE, TOKENS_REVOKED
from sottovoce.aggregator.storage.invitations import blind_invitations
from sottovoce.aggregator.storage.invitations.token_models import Held, TokenBatch, TokenCounts
from sottovoce.aggregator.storage.models import Outcome
from sottovoce.aggregator.storage.sql_statements import Handle, add_token_counts, delete_tokens
from sottovoce.shared.errors import StorageError

_COUNTS = "SELECT created, revoked, held, held_since, dropped FROM token_counts WHERE survey = ?"
_OF_NAME = "survey IN (SELECT key FROM surveys WHERE name = ?)"
_FORGET = (
    # First, though they are: whoever adds tokens has the row of one of them.
    "UPDATE surveys SET purged = 1 WHERE name = ?",
    f"""
    UPDATE token_counts SET held = 0, held_since = NULL, dropped = dropped + held
    + (SELECT count(*) FROM tokens WHERE survey = token_counts.survey)
    + (SELECT count(*) - count(blinded_hash) FROM blind_invitations WHERE survey = token_counts.survey)
    WHERE {_OF_NAME}
    """,  # noqa: S608 - a constant
    # As the release before reads it; and of invitations that were redeemed nothing else is left.
    f"UPDATE token_counts SET spent = created - revoked - dropped WHERE {_OF_NAME}",  # noqa: S608
    f"DELETE FROM tokens WHERE {_OF_NAME}",  # noqa: S608
    f"DELETE FROM blind_invitations WHERE {_OF_NAME}",  # noqa: S608
)

# Invitations lie under the first revision, which a close and a correction after it have left closed.
_ANY_OPEN = "SELECT 1 FROM surveys WHERE closed_on IS NULL AND name = (SELECT name FROM surveys WHERE key = ?)"


def add(db: Handle, survey: int, hashes: Sequence[bytes], blind: bool = False) -> None:
    """
    Make these tokens good for one report each, or, as invitations, for one redemption.

    Args:
        db: within a transaction.
        survey: key of the first revision, under which tokens lie.
        hashes: of the tokens.
        blind: they are invitations.
    """
    # In the order of the hashes, which is not that of the list that people were given.
    if blind:
        blind_invitations.invite(db, survey, hashes)
    else:
        db.executemany("INSERT INTO tokens VALUES (?, ?)", [(survey, token) for token in sorted(hashes)])
    add_token_counts(db, survey, created=len(hashes))


def add_once(db: Handle, batch: TokenBatch, day: int) -> str:
    """
    The same, unless the record says that the request was answered; returns what the first one asked for.

    That cannot be told from the tokens themselves: those that were spent or taken back are gone, and must not become
    good again.

    Args:
        db: within a transaction that no other one adds a line to the record beside.
        batch: the tokens, and the request that they are made for.
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
    Whether a token lets a report in, or an invitation can be redeemed.

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
    Take tokens back; returns how many were still good.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        hashes: of the tokens; those that are not good are passed over.
    """
    known = sorted(set(hashes))
    revoked = delete_tokens(db, [(survey, token) for token in known]) + blind_invitations.revoke(db, survey, known)
    add_token_counts(db, survey, revoked=revoked)
    return revoked


def counts(db: Handle, survey: int) -> TokenCounts:
    """How many tokens there are of each kind."""
    created, revoked, held, since, dropped = db.execute(_COUNTS, [survey]).fetchone() or (0, 0, 0, None, 0)
    unspent = db.execute("SELECT count(*) FROM tokens WHERE survey = ?", [survey]).fetchone()[0]
    invitations, used = blind_invitations.count(db, survey)
    unspent += invitations - used
    spent = created - revoked - held - dropped - unspent
    return TokenCounts(created, spent, revoked, unspent, held, since)


def forget(db: Handle, name: str) -> None:
    """
    Drop tokens and invitations, and note how many were good or held.

    Args:
        db: within a transaction.
        name: of a survey whose reports' ids are all forgotten.
    """
    for statement in _FORGET:
        db.execute(statement, [name])


class TokenStorage(JournalStorage):
    """The part of ``Storage`` that is about them."""

    THERE: ClassVar[str] = "SELECT name FROM surveys WHERE key = ?"
    """The name of a survey, such that it is there until the end of the transaction."""

    OPEN: ClassVar[str] = "SELECT 1 FROM surveys WHERE key = ? AND closed_on IS NULL"
    """Whether a survey is open, such that it stays so until the end of the transaction."""

    UNTIL_END: ClassVar[str] = ""
    """What makes a row that was looked up stay as it is until the end of the transaction, if it does not anyway."""

    @abstractmethod
    def _alone(self) -> AbstractContextManager[Handle]:
        """A transaction for a step in the life of a survey."""

    @abstractmethod
    def _after_deletion(self) -> None:
        """What can be done at once about deleted rows."""

    def add_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NOBODY, blind: bool = False) -> None:
        """
        Make these tokens good for one report each, or, as invitations, for one redemption.

        Args:
            survey: key of the first revision.
            hashes: of the tokens.
            who: does it, for the journal.
            blind: they are invitations.
        """
        with self._write() as db:
            name = self._check_there(db, survey)
            add(db, survey, hashes, blind)
            table.append(db, self._today(db), TOKENS_MADE, who, f"{name} {len(hashes)}")

    def add_tokens_once(self, batch: TokenBatch) -> str:
        """The same, if no such request was answered before; returns what the first one asked for."""
        with self._alone() as db:
            self._check_there(db, batch.survey)
            return add_once(db, batch, self._today(db))

    def revoke_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NOBODY) -> int:
        """
        Take tokens back; returns how many were still good.

        Args:
            survey: key of the first revision.
            hashes: of the tokens.
            who: does it, for the journal, which is not told how many were good: so many have not answered.
        """
        with self._write() as db:
            name = self._check_there(db, survey)
            revoked = revoke(db, survey, hashes)
            table.append(db, self._today(db), TOKENS_REVOKED, who, name)
        self._after_deletion()
        return revoked

    def redeem_invitation(self, survey: int, invitation: bytes, blinded: bytes) -> Outcome:
        """
        Use up an invitation.

        Args:
            survey: key of the first revision.
            invitation: its hash.
            blinded: fingerprint of what is to be signed.
        """
        with self._write() as db:
            if db.execute(_ANY_OPEN + self.UNTIL_END, [survey]).fetchone() is None:
                return Outcome.CLOSED
            return blind_invitations.redeem(db, survey, invitation, blinded)

    def hold_invitations(self, now: int = 0) -> None:
        """
        After a restore: nothing can be redeemed until ``reissue_invitations``.

        Args:
            now: seconds since 1970; nodes that saw this database before then need not hold them again.
        """
        with self._write() as db:
            blind_invitations.raise_mark(db, now)
            blind_invitations.hold(db, self._today(db))

    def mark(self) -> int:
        """How new the database is, see ``note_mark``."""
        with self._read() as db:
            return blind_invitations.mark(db)

    def note_mark(self, now: int, known: int) -> tuple[int, bool]:
        """
        Raise the database's mark; if it is below one that was seen before, an older copy was put back: hold
        invitations.

        Args:
            now: seconds since 1970.
            known: the last mark that was seen; 0 for none.

        Returns:
            The mark from now on, and whether the database was older.
        """
        with self._write() as db:
            mark = blind_invitations.take_mark(db)
            if known > mark:
                blind_invitations.hold(db, self._today(db))
                table.append(db, self._today(db), RESTORED, NOBODY)
            # By one at least: a clock that was ahead for a while stops no mark.
            new = max(mark + 1, now, known)
            blind_invitations.raise_mark(db, new)
        return new, known > mark

    def held_invitations(self) -> dict[str, Held]:
        """What is held after a restore, by the names of surveys that are open."""
        with self._read() as db:
            return blind_invitations.held_of_open(db)

    def reissue_invitations(self, survey: int, who: str = NOBODY) -> int:
        """
        Let what is held after a restore be redeemed; returns how many, of which each may have been redeemed already.

        Args:
            survey: key of the first revision.
            who: does it, for the journal.
        """
        with self._write() as db:
            name = self._check_there(db, survey)
            held = blind_invitations.release(db, survey)
            if held:
                table.append(db, self._today(db), REISSUED, who, f"{name} {held}")
        return held

    def _check_there(self, db: Handle, survey: int) -> str:
        """Its name; or a survey that is being deleted would leave tokens."""
        found = db.execute(self.THERE, [survey]).fetchone()
        if found is None:
            raise StorageError("there is no survey of this name")
        return str(found[0])

    def has_token(self, survey: int, token: bytes) -> bool:
        """Whether a token is good, or an invitation was not redeemed yet."""
        with self._read() as db:
            return is_good(db, survey, token)

    def token_counts(self, survey: int) -> TokenCounts:
        """How many tokens there are of each kind."""
        with self._read() as db:
            return counts(db, survey)
