"""
A load generator: raw HTTP over asyncio, in a process of its own, so that it does not share the server's interpreter.

``python -m tests.bench.load PORT PATH CONNECTIONS SECONDS FILE`` sends the bodies of FILE (each preceded by its length
in four bytes) once each, and prints one JSON object: counts by status, refusals that do not say when to
come back, seconds, latencies in milliseconds.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path


def bodies(path: Path) -> Iterator[bytes]:
    """The bodies of a file, one after the other."""
    content = path.read_bytes()
    position = 0
    while position < len(content):
        length = int.from_bytes(content[position : position + 4])
        yield content[position + 4 : position + 4 + length]
        position += 4 + length


def write_bodies(path: Path, many: list[bytes]) -> None:
    """The file that ``bodies`` reads."""
    path.write_bytes(b"".join(len(body).to_bytes(4) + body for body in many))


class Load:
    """Sends bodies over many connections until time or bodies run out."""

    def __init__(self, port: int, path: str, seconds: float, supply: Iterator[bytes]) -> None:
        self._port = port
        self._head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ".encode()
        self._seconds = seconds
        self._supply = supply
        self.statuses: Counter[int] = Counter()
        self.abrupt = 0
        self.latencies: list[tuple[int, float]] = []

    async def run(self, connections: int) -> float:
        """Seconds that it took."""
        started = time.perf_counter()
        self._end = started + self._seconds
        await asyncio.gather(*(self._connection() for _ in range(connections)))
        return time.perf_counter() - started

    async def _connection(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**22)
        for body in self._supply:
            if time.perf_counter() > self._end:
                break
            sent = time.perf_counter()
            head = await self._exchange(reader, writer, body)
            status = int(head[9:12] or b"0")
            self.statuses[status] += 1
            self.abrupt += status in {429, 503} and b"\r\nretry-after: " not in head
            self.latencies.append((status, 1000 * (time.perf_counter() - sent)))
            if not head or b"connection: close" in head:
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**22)
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> bytes:
        """The head of the reply in lower case; empty if the connection broke off."""
        try:
            writer.write(self._head + b"%d\r\n\r\n" % len(body) + body)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]))
        except (OSError, asyncio.IncompleteReadError):
            return b""
        return head


def main() -> None:
    """Run as the module's docstring says."""
    port, path, connections, seconds, file = sys.argv[1:]
    load = Load(int(port), path, float(seconds), bodies(Path(file)))
    took = asyncio.run(load.run(int(connections)))
    accepted = sorted(latency for status, latency in load.latencies if status == 200) or [0.0]
    print(json.dumps({
        "statuses": {str(status): count for status, count in sorted(load.statuses.items())},
        "abrupt": load.abrupt,
        "seconds": took,
        "p50": accepted[len(accepted) // 2],
        "p99": accepted[len(accepted) * 99 // 100],
    }))  # fmt: skip


if __name__ == "__main__":
    main()
