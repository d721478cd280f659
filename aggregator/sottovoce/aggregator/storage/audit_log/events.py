"""Closed list of the events in the audit log, with the form of each event's subject.

An entry holds only what its form allows: names of surveys, ids of accounts, words of closed lists, numbers. So no
report, report id, token, answer, address, path or time of day can enter the audit log by mistake.
"""

import re
from typing import NamedTuple

MACHINE = "machine"
"""Actor of a command at the terminal: the administrator of the machine, without an account."""

NO_ACTOR = ""
"""Actor of the program itself, as when a survey closes by its date, or an unknown actor."""

WHO = re.compile(rf"[0-9a-f]{{32}}|{MACHINE}|{NO_ACTOR}")

_NAME = "[a-z0-9][a-z0-9_-]{0,63}"
_WHERE = rf"(\*|{_NAME})"
_ACCOUNT = "[0-9a-f]{32}"
_ROLE = "(owner|analyst|fieldwork|viewer)"
_DOOR = "(link|key|oidc|passkey)"
_NUMBER = r"(0|[1-9]\d{0,9})"
_DATE = r"\d{4}-\d\d-\d\d"
_HASH = "[0-9a-f]{64}"
_FILE = "[A-Za-z][A-Za-z0-9._-]{0,39}"
_SETTING = "[a-z][a-z_]{0,39}"


class Form(NamedTuple):
    """Form of the entries of one kind.

    Attributes:
        meaning: the action, in words.
        about: parts of the entry's subject, in words; empty if it has none.
        pattern: regular expression that the whole subject matches.
        of_survey: True if the subject begins with a survey's name, or with ``*`` for all surveys.
    """

    meaning: str
    about: str
    pattern: re.Pattern[str]
    of_survey: bool


def _form(meaning: str, about: str = "", pattern: str = "", of_survey: bool = False) -> Form:
    return Form(meaning, about, re.compile(pattern), of_survey)


def _of_survey(meaning: str, about: str = "survey", pattern: str = _NAME) -> Form:
    return _form(meaning, about, pattern, of_survey=True)


LOGIN, LOGOUT, REFUSED = "login", "logout", "logins refused"
ACCOUNT_ADDED, ACCOUNT_CHANGED = "account added", "account changed"
ACCOUNT_DISABLED, ACCOUNT_ENABLED = "account disabled", "account enabled"
ACCOUNT_DELETED = "account deleted"
GRANTED, GRANT_REVOKED = "role granted", "role revoked"
KEY_MADE, KEY_REVOKED = "key made", "key revoked"
PASSKEY_ADDED, PASSKEY_REMOVED = "passkey added", "passkey removed"
INVITED, INVITATION_USED = "invitation made", "invitation used"
VIEW_MADE, VIEW_REVOKED = "ethics link made", "ethics link revoked"
SESSIONS_ENDED, SIGN_IN_LINK = "sessions ended", "sign-in link made"
PUBLISHED, RETIRED = "survey published", "revision retired"
LINK_PUBLISHED, LINK_WITHDRAWN = "question published", "question withdrawn"
CLOSED, REOPENED, DELETED, PURGED = "survey closed", "survey reopened", "survey deleted", "report ids forgotten"
TOKENS_MADE, TOKENS_REVOKED = "tokens made", "tokens revoked"
REISSUED = "invitations reissued"
RESULTS_READ, EXPORTED, BUDGET_OPENED = "results read", "file exported", "budget opened"
BACKED_UP, RESTORED, COPIED, MIGRATED = "backup made", "backup restored", "database copied", "database migrated"
SETTING_CHANGED = "setting changed"
CUT = "journal cut"

_INVITATION = ("survey or *, role; nothing without a role", rf"({_WHERE} {_ROLE})?")
_REVISION = rf"{_NAME} {_NUMBER} {_HASH}"

WHAT: dict[str, Form] = {
    LOGIN: _form("a person signed in", "door", _DOOR),
    LOGOUT: _form("a person signed out"),
    REFUSED: _form(
        "sign-ins were refused on one day, by one node",
        "date, number, largest number in a minute",
        rf"{_DATE} {_NUMBER} {_NUMBER}",
    ),
    SESSIONS_ENDED: _form("an account's sessions were ended", "account", _ACCOUNT),
    SIGN_IN_LINK: _form("a one-time sign-in link for an account was created", "account", _ACCOUNT),
    ACCOUNT_ADDED: _form("an account was created", "account", _ACCOUNT),
    ACCOUNT_CHANGED: _form(
        "an account gained or lost the admin role, or was given to another person", "account", _ACCOUNT
    ),
    ACCOUNT_DISABLED: _form("an account was disabled", "account", _ACCOUNT),
    ACCOUNT_ENABLED: _form("an account was enabled again", "account", _ACCOUNT),
    ACCOUNT_DELETED: _form("an account was deleted; its number stays, its name does not", "account", _ACCOUNT),
    GRANTED: _of_survey("a role was granted", "survey or *, role, account", rf"{_WHERE} {_ROLE} {_ACCOUNT}"),
    GRANT_REVOKED: _of_survey("a role was revoked", "survey or *, account", rf"{_WHERE} {_ACCOUNT}"),
    KEY_MADE: _of_survey("a key was created", "survey or *, its account", rf"{_WHERE} {_ACCOUNT}"),
    KEY_REVOKED: _of_survey("a key was revoked", "survey or *, its account", rf"{_WHERE} {_ACCOUNT}"),
    PASSKEY_ADDED: _form("a passkey was added to an account", "account", _ACCOUNT),
    PASSKEY_REMOVED: _form("a passkey was removed from an account", "account", _ACCOUNT),
    INVITED: _of_survey("an invitation was created", *_INVITATION),
    INVITATION_USED: _of_survey("an invitation was used", *_INVITATION),
    VIEW_MADE: _of_survey("a link for an ethics board was created"),
    VIEW_REVOKED: _of_survey("a link for an ethics board was revoked"),
    PUBLISHED: _of_survey("a revision was published", "survey, revision, digest", _REVISION),
    RETIRED: _of_survey("a revision was retired", "survey, revision, digest", _REVISION),
    LINK_PUBLISHED: _form("a question that is asked by a link was published", "digest", _HASH),
    LINK_WITHDRAWN: _form("a question that is asked by a link was withdrawn", "digest", _HASH),
    CLOSED: _of_survey("a survey was closed"),
    REOPENED: _of_survey("a survey was reopened"),
    DELETED: _of_survey("a survey was deleted"),
    PURGED: _of_survey("the report ids of a revision were deleted", "survey, revision", rf"{_NAME} {_NUMBER}"),
    TOKENS_MADE: _of_survey("one-time tokens were created", "survey, how many", rf"{_NAME} {_NUMBER}"),
    TOKENS_REVOKED: _of_survey("one-time tokens were revoked"),
    REISSUED: _of_survey(
        "invitations on hold after a restore were released", "survey, how many", rf"{_NAME} {_NUMBER}"
    ),
    RESULTS_READ: _of_survey(
        "results were read", "survey, number of the first snapshot of the day", rf"{_NAME} ({_NUMBER}|closed)"
    ),
    EXPORTED: _of_survey("a file was written", "survey, kind of file", rf"{_NAME} {_FILE}"),
    BUDGET_OPENED: _of_survey("a budget for a survey's public answers was opened"),
    BACKED_UP: _form("a backup was started"),
    RESTORED: _form("a backup was restored"),
    COPIED: _form("a copy to another database was started"),
    MIGRATED: _form("the database was migrated", "number of its new schema", _NUMBER),
    SETTING_CHANGED: _form("a setting was changed", "its name", _SETTING),
    CUT: _form("older entries were deleted", "number and hash of the last one", rf"{_NUMBER} {_HASH}"),
}
"""Events that the audit log records, with their forms."""

OF_SURVEYS = tuple(what for what, form in WHAT.items() if form.of_survey)


def check_words(what: str, who: str, about: str) -> None:
    """Refuse an entry that does not have the form of its kind.

    Args:
        what: one of ``WHAT``.
        who: an account's id in hexadecimal digits, ``MACHINE`` or ``NO_ACTOR``.
        about: subject in the form of ``what``.

    Raises:
        ValueError: the entry has another form, which is a bug. The message does not quote it: it may hold secrets.
    """
    form = WHAT.get(what)
    if form is None or WHO.fullmatch(who) is None or form.pattern.fullmatch(about) is None:
        raise ValueError("an entry of the journal does not match the form of its event")
