"""The words of access: who there is, what each may come in with, and what refuses a change of that."""

from dataclasses import dataclass

from sottovoce.shared.errors import SurveyError

EVERY_SURVEY = "*"
"""Stands for the name of a survey in grants and keys."""

ROLES = ("owner", "analyst", "fieldwork", "viewer")
"""What a grant may make of an account, for one survey or for every one."""

SCOPES = ("results:read", "surveys:write", "tokens:issue", "metrics:read", "journal:read")
"""What a key may be good for; one with every scope also signs a person in."""


class AccessRefused(SurveyError):
    """
    A change of accounts or rights that is not made; the message says why, and names nobody.

    Args:
        message: a sentence in English, for the command line.
        reason: by which the pages know the sentence in every language; "" if only the command line may meet it.
        values: of that sentence's places.
    """

    code = "access_refused"

    def __init__(self, message: str, reason: str = "", **values: object) -> None:
        super().__init__(message)
        self.reason = reason
        self.values = values


@dataclass(frozen=True)
class Account:
    """
    A member of staff; there are no passwords.

    Attributes:
        id: 16 random bytes.
        name: for people to read; two may have the same.
        admin: manages accounts, settings and the journal, and sees no results unless they are granted.
        subject: whom the institution's provider says that this is; None for somebody who does not come in by one.
        disabled_on: the day from which the account lets nobody in, counted from 1970-01-01; None if it lets in.
    """

    id: bytes
    name: str
    admin: bool = False
    subject: str | None = None
    disabled_on: int | None = None


@dataclass(frozen=True)
class AccessKey:
    """
    What a program, or a person, comes in with; of the secret itself only the hash is known.

    Attributes:
        hash: of the secret.
        account: whose it is; it is worth at most what that one may do.
        label: for its owner to know it by.
        scopes: some of ``SCOPES``.
        survey: the one survey that it is good for, or ``EVERY_SURVEY``.
        expires_on: the last day on which it lets in.
        used_on: the day of its last use, or None.
    """

    hash: bytes
    account: bytes
    label: str
    scopes: frozenset[str]
    survey: str
    expires_on: int
    used_on: int | None = None

    @property
    def number(self) -> str:
        """What the key is called where it is listed, and where it is revoked."""
        return self.hash.hex()[:16]

    @property
    def signs_in(self) -> bool:
        """Whether a person may sign in with it: only with one that is worth all that its account is."""
        return self.scopes >= set(SCOPES) and self.survey == EVERY_SURVEY


@dataclass(frozen=True)
class StaffSession:
    """
    A browser that is signed in.

    Attributes:
        hash: of the cookie's secret.
        account: who is signed in.
        door: what was come in by: ``key``, ``link``, ``oidc`` or ``passkey``.
        started: seconds since 1970.
        used: when it was used last, to the minute, in seconds since 1970.
    """

    hash: bytes
    account: Account
    door: str
    started: int
    used: int

    @property
    def number(self) -> str:
        """What the session is called where it is listed, and where it is ended."""
        return self.hash.hex()[:16]


@dataclass(frozen=True)
class AccountInvitation:
    """
    A link that is good once: to a new account, or, bound to one, to sign in.

    Attributes:
        hash: of the link's secret.
        survey: that the new account gets a role on, ``EVERY_SURVEY``, or empty for none.
        role: one of ``ROLES``, or empty for none.
        account: whom it signs in; None for an invitation of somebody new.
        expires_on: the last day on which it is good.
    """

    hash: bytes
    survey: str
    role: str
    account: bytes | None
    expires_on: int


@dataclass(frozen=True)
class BoardView:
    """
    What an ethics board is shown through a link, without an account.

    Attributes:
        hash: of the link's secret.
        survey: the survey's name.
        digest: of the revision that is shown, whatever is published later.
        results: the survey's owner lets the board see the results too.
        expires_on: the last day on which it is good.
    """

    hash: bytes
    survey: str
    digest: str
    results: bool
    expires_on: int
