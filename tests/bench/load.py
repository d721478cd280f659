"""A load generator: raw HTTP in a process of its own, so that it does not share the server's interpreter. It does as
little as it can for a request, since what it takes itself of the machine and of the time counts as the server's.

``python -m tests.bench.load PORT PATH CONNECTIONS SECONDS FILE`` sends the bodies of FILE (each preceded by its length
in four bytes) once each, and prints one JSON object: counts by status, refusals that do not say when to
come back, seconds, latencies in milliseconds.
"""

import json
import selectors
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path


def bodies(path: Path) -> Iterator[bytes]:
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
        self.address = ("127.0.0.1", port)
        self.head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ".encode()
        self._seconds = seconds
        self._supply = supply
        self.statuses: Counter[int] = Counter()
        self.abrupt = 0
        self.latencies: list[tuple[int, float]] = []

    def run(self, connections: int) -> float:
        """Seconds that it took."""
        started = time.perf_counter()
        self._end = started + self._seconds
        with selectors.DefaultSelector() as self.ready:
            for _ in range(connections):
                Connection(self).send()
            while self.ready.get_map():
                for key, _ in self.ready.select():
                    key.data()
        return time.perf_counter() - started

    def next_body(self) -> bytes | None:
        """What to send next; None if it is time to stop."""
        return next(self._supply, None) if time.perf_counter() < self._end else None

    def replied(self, head: bytes, seconds: float) -> None:
        """Count a reply by its head, in lower case; an empty one if the connection broke off."""
        status = int(head[9:12] or b"0")
        self.statuses[status] += 1
        self.abrupt += status in {429, 503} and b"\r\nretry-after: " not in head
        self.latencies.append((status, 1000 * seconds))


class Connection:
    """One connection, which sends a body as soon as the last one is replied to."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.create_connection(self._load.address)
        self._socket.setblocking(False)
        self._load.ready.register(self._socket, selectors.EVENT_READ, self._read)

    def _close(self) -> None:
        self._load.ready.unregister(self._socket)
        self._socket.close()

    def send(self) -> None:
        body = self._load.next_body()
        if body is None:
            self._close()
            return
        self._received = b""
        self._left = memoryview(self._load.head + b"%d\r\n\r\n" % len(body) + body)
        self._sent = time.perf_counter()
        self._write()

    def _write(self) -> None:
        try:
            self._left = self._left[self._socket.send(self._left) :]
        except BlockingIOError:
            pass
        except OSError:
            self._left = self._left[:0]  # What the server had to say before it hung up can still be read.
        if self._left:
            self._load.ready.modify(self._socket, selectors.EVENT_WRITE, self._write_on)

    def _write_on(self) -> None:
        self._load.ready.modify(self._socket, selectors.EVENT_READ, self._read)
        self._write()

    def _read(self) -> None:
        try:
            chunk = self._socket.recv(2**20)
        except OSError:
            chunk = b""
        self._received += chunk
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not chunk:
            self._over(b"")
        elif end:
            head = head.lower()
            if len(body) >= int(head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]):
                self._over(head)

    def _over(self, head: bytes) -> None:
        self._load.replied(head, time.perf_counter() - self._sent)
        if not head or b"connection: close" in head:
            self._close()
            self._connect()
        self.send()


def main() -> None:
    port, path, connections, seconds, file = sys.argv[1:]
    load = Load(int(port), path, float(seconds), bodies(Path(file)))
    took = load.run(int(connections))
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
