"""The one-time tokens of a survey: hashes while they are good, and counters; each step within a transaction."""

from collections.abc import Sequence

from sottovoce.aggregator.storage.base import TokenCounts
from sottovoce.aggregator.storage.statements import Handle, add_token_counts, delete_tokens


def add(db: Handle, survey: int, hashes: Sequence[bytes]) -> None:
    """
    Make these tokens good for one report each.

    Args:
        db: within a transaction.
        survey: key of the first revision, under which tokens lie.
        hashes: of the tokens.
    """
    # In the order of the hashes, which is not that of the list that people were given.
    db.executemany("INSERT INTO tokens VALUES (?, ?)", [(survey, token) for token in sorted(hashes)])
    add_token_counts(db, survey, created=len(hashes))


def revoke(db: Handle, survey: int, hashes: Sequence[bytes]) -> int:
    """
    Take tokens back; returns how many were still good.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        hashes: of the tokens; those that are not good are passed over.
    """
    revoked = delete_tokens(db, [(survey, token) for token in sorted(set(hashes))])
    add_token_counts(db, survey, revoked=revoked)
    return revoked


def counts(db: Handle, survey: int) -> TokenCounts:
    """How many tokens there are of each kind."""
    query = "SELECT created, spent, revoked FROM token_counts WHERE survey = ?"
    created, spent, revoked = db.execute(query, [survey]).fetchone() or (0, 0, 0)
    unspent = db.execute("SELECT count(*) FROM tokens WHERE survey = ?", [survey]).fetchone()[0]
    return TokenCounts(created, spent, revoked, unspent)
