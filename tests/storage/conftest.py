"""What the tests of both back ends begin with."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.accounts import AccessTables

from tests import postgres
from tests.storage.test_contract import BACK_ENDS


@pytest.fixture(params=BACK_ENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    database = BACK_ENDS[request.param](tmp_path)
    yield database
    database.close()


@pytest.fixture
def access(store: Storage) -> AccessTables:
    """What storage holds of accounts, keys and sessions."""
    return store.access


@pytest.fixture
def url() -> str:
    return postgres.with_tables()
