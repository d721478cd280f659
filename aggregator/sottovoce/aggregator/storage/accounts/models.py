"""Data of access control: accounts, keys, sessions, invitations, links for ethics boards."""

from dataclasses import dataclass

from sottovoce.shared.errors import SurveyError

EVERY_SURVEY = "*"
"""Name in grants and keys that means all surveys."""

ROLES = ("owner", "analyst", "fieldwork", "viewer")
"""Roles that a grant can give an account, for one survey or for all."""

SCOPES = ("results:read", "surveys:write", "tokens:issue", "metrics:read", "journal:read")
"""Scopes of a key; a person can sign in with a key that has all of them."""


class AccessRefused(SurveyError):
    """Refusal of a change of accounts or rights; the message says why and names no person.

    Args:
        message: English text for the command line.
        reason: key of the translated text for web pages; "" if only the command line can raise it.
        values: placeholders of the translated text.
    """

    code = "access_refused"

    def __init__(self, message: str, reason: str = "", **values: object) -> None:
        super().__init__(message)
        self.reason = reason
        self.values = values


@dataclass(frozen=True)
class Account:
    """Account of a member of staff; it has no password.

    Attributes:
        id: 16 random bytes.
        name: for people to read; not unique.
        admin: may manage accounts, settings and the audit log, but sees results only with a grant.
        subject: id at the institution's identity provider; None without one.
        disabled_on: day from which the account is disabled, counted from 1970-01-01; None if it is enabled.
    """

    id: bytes
    name: str
    admin: bool = False
    subject: str | None = None
    disabled_on: int | None = None

    @property
    def number(self) -> str:
        """Public id that tells accounts of the same name apart: 32 bits of the id, in hexadecimal."""
        return self.id.hex()[:8]


@dataclass(frozen=True)
class Hashed:
    """Secret that the database has as a hash alone."""

    hash: bytes

    @property
    def number(self) -> str:
        """Public id for lists and forms: 64 bits of the hash, from which the secret cannot be derived."""
        return self.hash.hex()[:16]


@dataclass(frozen=True)
class AccessKey(Hashed):
    """API key of an account; the database holds only the hash of its secret.

    Attributes:
        account: id of its account, whose rights limit those of the key.
        label: name that its owner chose.
        scopes: subset of ``SCOPES``.
        survey: the one survey that it is valid for, or ``EVERY_SURVEY``.
        expires_on: last day on which it is valid.
        used_on: day of its last use, or None.
    """

    account: bytes
    label: str
    scopes: frozenset[str]
    survey: str
    expires_on: int
    used_on: int | None = None

    @property
    def signs_in(self) -> bool:
        """Return True if a person can sign in with the key: it has all scopes and is valid for every survey."""
        return self.scopes >= set(SCOPES) and self.survey == EVERY_SURVEY


@dataclass(frozen=True)
class StaffSession(Hashed):
    """Session of a signed-in browser.

    Attributes:
        hash: of the cookie's secret.
        door: method of the sign-in: ``key``, ``link``, ``oidc`` or ``passkey``.
        started: seconds since 1970.
        used: time of last use, to the minute, in seconds since 1970.
    """

    account: Account
    door: str
    started: int
    used: int


@dataclass(frozen=True)
class AccountInvitation(Hashed):
    """Link that can be used once: to create an account, or to sign in to an existing one.

    Attributes:
        hash: of the link's secret.
        survey: survey that the new account gets a role on, ``EVERY_SURVEY``, or empty for none.
        role: one of ``ROLES``, or empty for none.
        account: id of the account that it signs in; None if it creates one.
        expires_on: last day on which it is valid.
    """

    survey: str
    role: str
    account: bytes | None
    expires_on: int


@dataclass(frozen=True)
class BoardView(Hashed):
    """Link to view a survey without an account, for an ethics board or for the public.

    Attributes:
        hash: of the link's secret.
        digest: of the revision that it shows, even if later ones are published.
        results: it shows the results too.
        expires_on: last day on which it is valid.
        public: it shows the results only, on the public page.
    """

    survey: str
    digest: str
    results: bool
    expires_on: int
    public: bool = False
