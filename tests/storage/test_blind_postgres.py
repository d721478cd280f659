"""Ten thousand invitations, each asked for five times at once: one signature each."""

import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sottovoce.aggregator.blind.keys_file import KeysFile
from sottovoce.aggregator.blind.redeeming import Redeeming
from sottovoce.aggregator.collect.tokens import create_tokens
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.web.problems import Refusal
from sottovoce.shared.blind_signatures import EXPONENT
from sottovoce.shared.redemption import RedeemRequest, dump_request, parse_reply

from tests.conftest import FakeClock
from tests.invited import blind_survey, key
from tests.storage.test_contract import store  # noqa: F401 - a fixture

AT_ONCE = 5


@pytest.mark.slow
def test_each_of_ten_thousand_invitations_has_one_signature(store: Storage, tmp_path: Path) -> None:  # noqa: F811
    """For one of five numbers, which each of five devices chooses for itself; the other four are refused."""
    asked, modulus = blind_survey(), key(0).modulus
    KeysFile(str(tmp_path / "keys"))._write({"exam": (key(0),)})
    store.publish(asked)
    redeeming = Redeeming(store, FakeClock(), KeysFile(str(tmp_path / "keys")))
    invitations = create_tokens(store, "exam", 10_000)

    refusals = set()

    def ask(invitation: str, together: threading.Barrier) -> bool:
        number = (1 + secrets.randbelow(modulus - 1)).to_bytes(256)
        body = dump_request(RedeemRequest(asked.digest, invitation[:16], (number,)))
        together.wait()
        while True:
            try:
                (signed,) = parse_reply(redeeming.redeem("exam", body)).signed
            except Refusal as refusal:
                if refusal.code == "busy":
                    continue
                refusals.add(refusal.code)
                return False
            assert pow(int.from_bytes(signed), EXPONENT, modulus) == int.from_bytes(number)
            return True

    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for invitation in invitations:
            together = threading.Barrier(AT_ONCE)
            tries = [pool.submit(ask, invitation, together) for _ in range(AT_ONCE)]
            assert sum(each.result() for each in tries) == 1
    print(f"{len(invitations):,} invitations, {AT_ONCE} requests each, in {time.monotonic() - began:.0f} s")
    assert refusals == {"already_redeemed"}
    assert store.token_counts(store.revisions("exam")[0].key) == (10_000, 10_000, 0, 0)
