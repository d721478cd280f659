"""Control access, available as ``storage.access``: one implementation in the SQL that both back ends share.

The database stores only hashes of secrets in keys, links and cookies. Times are days, except those of sessions.
"""

from dataclasses import astuple

from sottovoce.aggregator.storage.accounts.keys import (
    DAY,
    account_of,
    forget_doors,
    insert_account,
    insert_grant,
    insert_key,
)
from sottovoce.aggregator.storage.accounts.models import (
    EVERY_SURVEY,
    SCOPES,
    AccessKey,
    Account,
    AccountInvitation,
    BoardView,
)
from sottovoce.aggregator.storage.accounts.passkeys import PasskeyTables
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.sql_statements import Handle, insert

RESEARCHER_DAYS = 366
"""Lifetime of a researcher's key, in days."""

_OF_NAME = "SELECT account, name, admin, subject, disabled_on FROM accounts WHERE name = ? ORDER BY account LIMIT 1"
_INVITATIONS = "SELECT hash, survey, role, account, expires_on FROM invitations"
_INVITATION = f"{_INVITATIONS} WHERE hash = ? AND expires_on >= ?"
_ALL_INVITATIONS = f"{_INVITATIONS} ORDER BY expires_on, hash"
_SPEND = """
    DELETE FROM invitations WHERE hash = ? AND expires_on >= ? AND (account IS NULL) = {}
    RETURNING hash, survey, role, account, expires_on
"""
_SPEND_INVITATION, _SPEND_LINK = _SPEND.format("true"), _SPEND.format("false")
_VIEWS = "SELECT hash, survey, digest, results, expires_on FROM views"
_VIEW = f"{_VIEWS} WHERE hash = ? AND expires_on >= ?"
_VIEWS_OF = f"{_VIEWS} WHERE survey = ? ORDER BY expires_on, hash"


class AccessTables(PasskeyTables):
    """Tables of accounts, grants, keys, sessions, staff invitations and links for ethics boards."""

    def by(self, who: str) -> "AccessTables":
        """Return these tables with another actor for the audit log: an account's id or ``events.MACHINE``."""
        return AccessTables(self._back_end, who)

    # Invitations

    def add_invitation(self, invitation: AccountInvitation) -> None:
        """Store a link that can be used once.

        Raises AccessRefused if it signs in to an account that does not exist, or is disabled.
        """
        with self._back_end.write() as db:
            if invitation.account is not None:
                self._hold_account(db, invitation.account)
            insert(db, "invitations", astuple(invitation))
            if invitation.account is None:
                self._note(db, words.INVITED, _role(invitation))
            else:
                self._note(db, words.SIGN_IN_LINK, invitation.account.hex())

    def invitation(self, link_hash: bytes, day: int) -> AccountInvitation | None:
        """Return the invitation of a link, or None if it is unknown or expired on this day."""
        return self._back_end.one_of(AccountInvitation, _INVITATION, [link_hash, day])

    def invitations(self) -> list[AccountInvitation]:
        """Return all unused invitations, expired ones included."""
        return [AccountInvitation(*row) for row in self._back_end.rows_of(_ALL_INVITATIONS)]

    def accept_invitation(self, link_hash: bytes, account: Account, day: int) -> bool:
        """Use an invitation and create its account and grant in one transaction; return False if it is not valid.

        Raises AccessRefused if another account has this subject; the invitation stays valid.
        """
        with self._alone(deletes=True) as db:
            spent = _spend(db, _SPEND_INVITATION, link_hash, day)
            if spent is not None:
                insert_account(db, account)
                if spent.role:
                    insert_grant(db, account.id, spent.survey, spent.role)
                self._note(db, words.INVITATION_USED, _role(spent), account.id)
                self._note(db, words.ACCOUNT_ADDED, account.id.hex(), account.id)
                if spent.role:
                    self._note(db, words.GRANTED, f"{_role(spent)} {account.id.hex()}", account.id)
        return spent is not None

    def start_session_by_link(self, session_hash: bytes, link_hash: bytes, now: int) -> Account | None:
        """Use a sign-in link and start a session in one transaction; return None if link or account is not valid.

        ``now`` is in seconds since 1970.
        """
        with self._back_end.write() as db:
            row = db.execute("SELECT account FROM invitations WHERE hash = ?", [link_hash]).fetchone()
            # Lock the account before the link, in the order that ``disable`` uses: else the two could deadlock.
            account = None if row is None or row[0] is None else self._lock_account(db, bytes(row[0]))
            if _spend(db, _SPEND_LINK, link_hash, now // DAY) is None:
                return None
            signed_in = self._begin(db, session_hash, account, "link", now)
        self._back_end.after_deletion()
        return signed_in

    # Links for ethics boards

    def add_view(self, view: BoardView) -> None:
        """Store a link for an ethics board."""
        with self._back_end.write() as db:
            insert(db, "views", [view.hash, view.survey, view.digest, view.results + view.public, view.expires_on])
            self._note(db, words.VIEW_MADE, view.survey)

    def view(self, link_hash: bytes, day: int) -> BoardView | None:
        """Return the view of a link, or None if it is unknown or expired on this day."""
        return self._back_end.one_of(_view, _VIEW, [link_hash, day])

    def views(self, survey: str) -> list[BoardView]:
        """Return the links to a survey that were not revoked, expired ones included."""
        return [_view(*row) for row in self._back_end.rows_of(_VIEWS_OF, [survey])]

    def end_view(self, link_hash: bytes) -> None:
        """Revoke a link for an ethics board."""
        with self._back_end.deleting() as db:
            row = db.execute("DELETE FROM views WHERE hash = ? RETURNING survey", [link_hash]).fetchone()
            if row is not None:
                self._note(db, words.VIEW_REVOKED, str(row[0]))

    # Researchers: the accounts that `staff add` makes

    def add_owner(self, name: str) -> Account:
        """Add an account that is an admin and owns every survey."""
        with self._alone() as db:
            account = self._add_owner(db, name)
            self._note_owner(db, account)
        return account

    def add_researcher(self, name: str, key_hash: bytes, day: int) -> Account:
        """Add a key with all scopes for an account of this name; create the account as admin and owner if needed."""
        with self._alone() as db:
            row = db.execute(_OF_NAME, [name]).fetchone()
            account = self._add_owner(db, name) if row is None else account_of(*row)
            scopes = frozenset(SCOPES)
            insert_key(db, AccessKey(key_hash, account.id, "researcher", scopes, EVERY_SURVEY, day + RESEARCHER_DAYS))
            if row is None:
                self._note_owner(db, account)
            self._note(db, words.KEY_MADE, f"{EVERY_SURVEY} {account.id.hex()}")
        return account

    def revoke_researcher(self, name: str) -> int:
        """Delete all keys of the accounts of this name and end their sessions; return the number of keys.

        A session that another transaction is starting ends as well.
        """
        with self._alone(deletes=True) as db:
            # Locks the rows as ``disable`` does, against transactions that start a session.
            db.execute("UPDATE accounts SET name = name WHERE name = ?", [name])
            revoked: list[tuple[str, bytes]] = []
            for (account_id,) in db.execute("SELECT account FROM accounts WHERE name = ?", [name]).fetchall():
                forget_doors(db, account_id)
                revoked += db.execute("DELETE FROM keys WHERE account = ? RETURNING survey, account", [account_id])
            for survey, owner in revoked:
                self._note(db, words.KEY_REVOKED, f"{survey} {bytes(owner).hex()}")
        return len(revoked)

    def _add_owner(self, db: Handle, name: str) -> Account:
        account = Account(self._back_end.new_id(db), name, admin=True)
        insert_account(db, account)
        insert_grant(db, account.id, EVERY_SURVEY, "owner")
        return account

    def _note_owner(self, db: Handle, account: Account) -> None:
        self._note(db, words.ACCOUNT_ADDED, account.id.hex())
        self._note(db, words.GRANTED, f"{EVERY_SURVEY} owner {account.id.hex()}")


def _role(invitation: AccountInvitation) -> str:
    """Return survey and role of an invitation in the form of the audit log."""
    return f"{invitation.survey} {invitation.role}" if invitation.role else ""


def _spend(db: Handle, statement: str, link_hash: bytes, day: int) -> AccountInvitation | None:
    """Delete a link and return its invitation; of two concurrent calls only one finds the row."""
    row = db.execute(statement, [link_hash, day]).fetchone()
    return None if row is None else AccountInvitation(*row)


def _view(link_hash: bytes, survey: str, digest: str, results: int, expires_on: int) -> BoardView:
    return BoardView(bytes(link_hash), survey, digest, bool(results), expires_on, public=results > 1)
