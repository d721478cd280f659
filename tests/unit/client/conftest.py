"""What tests of the device share."""

import pytest
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MemoryLedger


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    """Both kinds keep one contract."""
    return MemoryLedger() if request.param == "memory" else FileLedger(tmp_path / "deep" / "ledger")
