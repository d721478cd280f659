"""The one-time tokens of a survey: hashes while they are good, and counters; each step within a transaction."""

from collections.abc import Sequence

from sottovoce.aggregator.storage import record
from sottovoce.aggregator.storage.base import TokenBatch, TokenCounts
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
    known = record.token_request(db, about)
    if known is not None:
        return known
    add(db, batch.survey, batch.hashes)
    record.append(db, day, record.TOKENS, f"{about} {batch.body}")
    return batch.body


def is_good(db: Handle, survey: int, token: bytes) -> bool:
    """
    Whether a token lets a report in.

    Args:
        db: within a transaction.
        survey: key of the first revision.
        token: its hash.
    """
    query = "SELECT 1 FROM tokens WHERE survey = ? AND token_hash = ?"
    return db.execute(query, [survey, token]).fetchone() is not None


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
