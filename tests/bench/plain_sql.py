"""Groups of 16 and of 64 reports stored on PostgreSQL, beside the least SQL that stores and counts them: one table, one
insert that skips known ids, and a trigger that counts. It has no tokens, withdrawals, corrections or settling. In
turns.

``python -m tests.bench.plain_sql URL SECONDS GROUP`` is a node of the plain one; it begins at a line on its input.
"""

import json
import secrets
import sys
import uuid
from itertools import product
from statistics import median

import psycopg

from tests.bench.nodes import DELAYS, at_storage, fresh, repeated

ROUNDS = 4
GROUPS = (16, 64)
TABLES = """
    CREATE TABLE plain (id uuid PRIMARY KEY, survey integer NOT NULL, wave integer NOT NULL, answers bytea NOT NULL);
    CREATE TABLE plain_counts (
        survey integer, wave integer, answers bytea, slot integer, n bigint NOT NULL,
        PRIMARY KEY (survey, wave, answers, slot)
    );
    CREATE FUNCTION count_plain() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO plain_counts
        SELECT survey, wave, answers, pg_backend_pid() % 32, count(*) FROM added GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (survey, wave, answers, slot) DO UPDATE SET n = plain_counts.n + excluded.n;
        RETURN NULL;
    END $$;
    CREATE TRIGGER counted AFTER INSERT ON plain REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_plain()
"""
INSERT = """
    INSERT INTO plain SELECT id, 1, 0, answers FROM unnest(%b::uuid[], %b::bytea[]) AS u (id, answers)
    ON CONFLICT DO NOTHING RETURNING id
"""


def figures() -> None:
    """Reports a second of both, and the median of the rounds' ratios, at one and four nodes."""
    for delay, group, nodes in product(DELAYS, GROUPS, (1, 4)):
        rounds = [(at_storage(nodes, fresh(delay), group).rate, plain(nodes, group, delay)) for _ in range(ROUNDS)]
        ours, theirs = (median(column) for column in zip(*rounds, strict=True))
        ratio = median(one / other for one, other in rounds)
        print(
            f"groups of {group}  sync + {delay} ms  {nodes} nodes  aggregator {ours:8,.0f}/s  plain {theirs:8,.0f}/s"
            f"  x{ratio:.2f}",
            flush=True,
        )


def plain(nodes: int, group: int, delay: int) -> float:
    url = fresh(delay)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLES.encode())
    return at_storage(nodes, url, group, "tests.bench.plain_sql").rate


def node(url: str, seconds: float, group: int) -> dict[str, float]:
    answers = [number.to_bytes(2) for number in range(1024)]
    with psycopg.connect(url, autocommit=True) as connection:

        def store() -> None:
            rows = sorted((uuid.UUID(bytes=secrets.token_bytes(16)), secrets.choice(answers)) for _ in range(group))
            columns = [list(column) for column in zip(*rows, strict=True)]
            assert len(connection.execute(INSERT, columns, prepare=True).fetchall()) == group

        return repeated(store, seconds, group)


if __name__ == "__main__":
    print(json.dumps(node(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))), flush=True)
