"""Bodies have their time, by one timer for all, and whoever is slow holds up no one else."""

import asyncio
from typing import Any

import pytest
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.intake.body_reader import BodyReader

from tests.unit.aggregator.intake.test_asgi_gate import run


class Slow:
    """A body that comes when it is let."""

    def __init__(self) -> None:
        self.whole = asyncio.Event()

    async def __call__(self) -> bytes:
        """The body."""
        await self.whole.wait()
        return b"body"

    def response_bytes(self, *_: Any) -> None:
        """No reply is sent here."""


def test_each_body_has_its_own_time_and_the_others_go_on() -> None:
    """Two that never come are given up, one after the other; those that come in between are read."""

    async def bodies() -> tuple[list[Any], list[bytes]]:
        reader = BodyReader(0.2)
        first = asyncio.create_task(reader.read(Slow(), 4))
        await asyncio.sleep(0.1)
        quick, second = Slow(), asyncio.create_task(reader.read(Slow(), 4))
        quick.whole.set()
        read = [await reader.read(quick, 4)]
        await asyncio.wait([first])
        assert not second.done()
        read.append(await reader.read(quick, 4))
        late = await asyncio.gather(first, second, return_exceptions=True)
        assert first.cancelling() == second.cancelling() == 0
        return late, [*read, await reader.read(quick, 4)]

    late, read = run(bodies())
    assert [error.code for error in late] == ["timeout", "timeout"]
    assert read == [b"body"] * 3


def test_end_gives_up_what_is_read_and_what_begins_later() -> None:
    """All at once, however long they had; also where no body was being read."""

    async def ended(begun: int) -> list[Any]:
        reader = BodyReader(1000)
        tasks = [asyncio.create_task(reader.read(Slow(), 4)) for _ in range(begun)]
        await asyncio.sleep(0.01)
        reader.end()
        tasks.append(asyncio.create_task(reader.read(Slow(), 4)))
        return await asyncio.gather(*tasks, return_exceptions=True)

    for begun in (0, 3):
        assert [error.code for error in run(ended(begun))] == ["busy"] * (begun + 1)


def test_request_that_is_cancelled_from_elsewhere_is_no_late_one() -> None:
    """It ends as it was told."""

    async def cancelled() -> list[Any]:
        reader = BodyReader(1000)
        task = asyncio.create_task(reader.read(Slow(), 4))
        await asyncio.sleep(0)
        task.cancel()
        return await asyncio.gather(task, return_exceptions=True)

    assert [type(error) for error in run(cancelled())] == [asyncio.CancelledError]


@pytest.mark.parametrize("declared", [3, 5])
def test_body_that_is_not_as_long_as_declared_is_malformed(declared: int) -> None:
    """Also one that breaks off: whoever sent it may still read the reply."""

    class Broken(Slow):
        async def __call__(self) -> bytes:
            if declared == 3:
                raise RuntimeError("closed")
            return b"body"

    with pytest.raises(Refusal) as refused:
        run(BodyReader(1000).read(Broken(), declared))
    assert refused.value.code == "malformed"
