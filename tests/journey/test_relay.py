"""The sample of a relay: the aggregator sees one address, and the relay no content."""

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sottovoce.cli.process import free_port

from tests.nginx import make_certificate, placed, program

SAMPLE = Path(__file__).parents[2] / "deploy" / "relay" / "nginx.conf"
SECRET = b"an answer that nobody in between may read"


@contextmanager
def relay(folder: Path, target: int) -> Iterator[int]:
    """The sample in front of this port, with nothing changed but places; its own port."""
    port = free_port()
    here = {
        "survey.example.org:443": f"127.0.0.1:{target}",
        "/run/nginx.pid": f"{folder}/pid",
        "listen 443;": f"listen {port};",
    }
    (folder / "relay.conf").write_text(placed(SAMPLE, here))
    command = [str(program()), "-p", str(folder), "-c", str(folder / "relay.conf"), "-g", "daemon off;"]
    with (folder / "relay.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait(port)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


def serve(listener: socket.socket, context: ssl.SSLContext, seen: list[tuple[str, bytes]], wanted: int) -> None:
    """An aggregator as far as its connections go: who they are from, and what comes on them."""
    while len(seen) < wanted:
        connection, (address, _) = listener.accept()
        try:
            with context.wrap_socket(connection, server_side=True) as opened:
                seen.append((address, opened.recv(1024)))
                opened.sendall(b"received")
        except OSError:
            continue  # a connection that only asked whether the relay is there


def send(port: int, address: str, certificate: Path) -> bytes:
    """From this address, to whoever holds the certificate's key."""
    context = ssl.create_default_context(cafile=str(certificate))
    with (
        socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(address, 0)) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as opened,
    ):
        opened.sendall(SECRET)
        return opened.recv(1024)


def test_aggregator_sees_one_address_and_relay_no_content(tmp_path: Path) -> None:
    """Three people from three addresses; their TLS ends at the aggregator, whose key the relay has not."""
    own, other = tmp_path / "aggregator", tmp_path / "relay"
    own.mkdir(), other.mkdir()
    certificate = make_certificate(own)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, own / "certificate_key")
    people = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    seen: list[tuple[str, bytes]] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as listener, relay(other, listener.getsockname()[1]) as port:
        server = threading.Thread(target=serve, args=(listener, context, seen, len(people)), daemon=True)
        server.start()
        replies = [send(port, address, certificate) for address in people]
        server.join(20)

    assert replies == [b"received"] * 3
    assert seen == [("127.0.0.1", SECRET)] * 3
    assert "ssl" not in SAMPLE.read_text(encoding="utf-8").replace("TLS", "")
    kept = b"".join(path.read_bytes() for path in other.rglob("*") if path.is_file())
    assert SECRET not in kept
    assert not any(address.encode() in kept for address in people)


def _wait(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except ConnectionError:
            time.sleep(0.05)
    raise AssertionError("the relay did not start")
