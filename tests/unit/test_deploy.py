"""The samples in ``deploy/``: that they say what the README promises, and that the tools that are here accept them."""

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from sottovoce.aggregator.intake.request_limits import LARGER, MAX_BODY, UPLOAD, UPLOAD_PATH
from sottovoce.aggregator.settings import PREFIX, Settings, describe
from sottovoce.cli import server

from tests.unit.test_locks import needed, pins

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = {"k": 2**10, "m": 2**20}

Block = list[tuple[list[str], "Block"]]
"""What stands between two braces of nginx's: directives with their words, and what stands in the braces after them."""


def text(name: str) -> str:
    """A sample's text without its comments."""
    lines = (DEPLOY / name).read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def read_block(words: Iterator[str]) -> Block:
    """Up to the closing brace, or the end."""
    block: Block = []
    directive: list[str] = []
    for word in words:
        if word in {";", "{"}:
            assert directive, "a directive without a name"
            block.append((directive, read_block(words) if word == "{" else []))
            directive = []
        elif word == "}":
            break
        else:
            directive.append(word)
    assert not directive, f"no semicolon after {directive}"
    return block


@pytest.fixture
def nginx() -> Block:
    """Nginx's sample."""
    return read_block(iter(re.findall(r'"[^"]*"|[{};](?=\s|$)|[^\s;{}]+', text("nginx.conf"))))


@pytest.fixture
def compose() -> dict[str, Any]:
    """The compose file."""
    found: dict[str, Any] = yaml.safe_load(text("compose.yaml"))
    return found


def directives(block: Block, name: str) -> list[list[str]]:
    """What follows this name, anywhere."""
    found = []
    for words, inner in block:
        found += [words[1:]] if words[0] == name else []
        found += directives(inner, name)
    return found


def size(words: list[str]) -> int:
    """A size as nginx writes it, in bytes."""
    return int(words[0][:-1]) * UNITS[words[0][-1]]


def test_proxy_writes_nothing_of_a_request(nginx: Block) -> None:
    """No access log, no error log, and no body or reply in a file, however large it may be."""
    largest, of_uploads = directives(nginx, "client_max_body_size")
    (buffer,) = directives(nginx, "client_body_buffer_size")

    assert directives(nginx, "access_log") == [["off"]]
    assert directives(nginx, "error_log") == [["/dev/null", "emerg"]]
    usual = {end: most for end, most in LARGER.items() if end != UPLOAD_PATH}
    assert size(buffer) >= size(largest) >= max(MAX_BODY, *usual.values())
    # A data file is larger than the buffer, and is passed on as it arrives.
    assert size(of_uploads) >= UPLOAD
    assert directives(nginx, "proxy_request_buffering") == [["on"], ["off"]]
    assert directives(nginx, "client_body_in_file_only") == [["off"]]
    assert directives(nginx, "proxy_max_temp_file_size") == [["0"]]


def test_proxy_repeats_only_what_may_be_repeated(nginx: Block) -> None:
    """What devices post is; making tokens, publishing and deleting are not, at any address."""
    (http,) = [inner for words, inner in nginx if words == ["http"]]
    repeated = [(words[-1], again) for server in http for words, inner in server[1]
                if words[0] == "location" for again in directives(inner, "proxy_next_upstream")]  # fmt: skip
    named = [words for words in directives(nginx, "proxy_next_upstream") if "non_idempotent" in words]
    patterns = [place for place, again in repeated if "non_idempotent" in again]
    sent = ["reports", "reports/batch", "withdraw", "token", "redeem"]
    ends = [*sent, "tokens", "tokens/revoke", "publish", "close", "reopen"]

    assert len(named) == len(patterns)
    assert [place for place, again in repeated if "http_404" in again] == ["/assets/"]
    assert [end for end in ends if any(re.match(each, f"/api/v1/surveys/exam/{end}") for each in patterns)] == sent


def test_proxy_passes_on_one_address_for_the_one_hop_that_is_believed(nginx: Block, compose: dict[str, Any]) -> None:
    """What the sender wrote there is replaced; and every node that the proxy knows is there."""
    nodes = {words[0].split(":")[0] for words in directives(nginx, "server") if words}

    assert ["X-Forwarded-For", "$remote_addr"] in directives(nginx, "proxy_set_header")
    for node in nodes:
        assert compose["services"][node]["environment"][f"{PREFIX}PROXY_HOPS"] == "1"
    assert len(nodes) == 2


def test_proxy_starts_while_a_node_is_off(nginx: Block, compose: dict[str, Any]) -> None:
    """Nginx ends where a name has no address: both have one that stays, and none has to be well first."""
    services, nodes = compose["services"], {words[0].split(":")[0] for words in directives(nginx, "server") if words}
    addresses = {name: services[name]["networks"]["inside"]["ipv4_address"] for name in nodes}
    (subnet,) = compose["networks"]["inside"]["ipam"]["config"]

    assert sorted(services["proxy"]["extra_hosts"]) == sorted(f"{name}:{at}" for name, at in addresses.items())
    assert len({*addresses.values()}) == len(nodes)
    assert all(ip_address(at) in ip_network(subnet["subnet"]) for at in addresses.values())
    assert {*services["proxy"]["depends_on"]} == nodes
    assert isinstance(services["proxy"]["depends_on"], list)


def test_proxy_passes_on_only_to_nodes_that_it_names(nginx: Block) -> None:
    """The sample is read to its end, each block where nginx takes it; tests/journey/test_proxy.py runs it."""
    (http,) = [inner for words, inner in nginx if words == ["http"]]
    upstreams = [words[1] for words, _ in http if words[0] == "upstream"]

    assert [words[0] for words, inner in nginx if inner] == ["events", "http"]
    assert {words[0] for words, inner in http if inner} == {"upstream", "server"}
    assert {words[0] for _, inner in http for words, within in inner if within} == {"location"}
    assert {words[0] for words in directives(nginx, "proxy_pass")} == {f"http://{name}" for name in upstreams}


def test_nodes_may_write_nowhere_and_get_secrets_as_files(compose: dict[str, Any]) -> None:
    """And every secret, network and variable that a service names is there."""
    known = {name for name, _, _ in describe()}
    for name in ("one", "two"):
        node = compose["services"][name]
        assert (node["read_only"], node["user"], node["cap_drop"], node["mem_limit"]) == (
            True, "65532:65532", ["ALL"], "512m",
        )  # fmt: skip
        assert {variable.removesuffix("_FILE") for variable in node["environment"].keys() - known} <= known
        assert node["environment"][f"{PREFIX}DATABASE_FILE"] == "/run/secrets/database_url"
        # But for the keys of blind links, which both share.
        assert node["volumes"] == ["keys:/keys"]
        assert node["environment"][f"{PREFIX}BLIND_KEYS_FILE"].startswith("/keys/")
    assert "-o 65532 -g 65532 /data /keys\n" in text("Dockerfile")
    assert not any("keys" in volume for volume in compose["services"]["backup"]["volumes"])
    for service in compose["services"].values():
        assert set(service["secrets"]) <= compose["secrets"].keys()
        assert set(service["networks"]) <= compose["networks"].keys()
        assert set(service.get("depends_on", ())) <= compose["services"].keys()
    assert all(set(secret) == {"file"} for secret in compose["secrets"].values())
    assert "ports" not in compose["services"]["database"]


def test_image_is_built_of_what_is_in_the_checkout() -> None:
    """Two stages; whatever is copied exists and is let through; installed is the checkout, not a name of an index."""
    lines = text("Dockerfile").replace("\\\n", "").splitlines()
    copies = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    let_through = (ROOT / ".dockerignore").read_text().splitlines()

    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert {*wheel["wheel"]["shared-data"]} <= {*chain.from_iterable(copies)}
    assert sum(line.startswith("FROM ") for line in lines) == 2
    for name in chain.from_iterable(copies):
        assert (ROOT / name).exists()
        assert f"!{name}" in let_through
    assert "--require-hashes" in text("Dockerfile")
    assert {"USER 65532:65532", "STOPSIGNAL TERM"} <= set(lines)
    assert re.search(r'^HEALTHCHECK .* CMD \["sottovoce", "healthcheck"\]$', "\n".join(lines), re.MULTILINE)


def test_image_pins_what_it_installs(tmp_path: Path) -> None:
    """The base by its digest; each package with its hashes, as the Dockerfile's own command cuts them out."""
    command = re.search(r"sed -n '([^']*)' requirements.lock", text("Dockerfile"))
    assert command is not None
    cut_out = subprocess.run(["sed", "-n", command[1], ROOT / "requirements.lock"], capture_output=True, text=True,
                             check=True).stdout  # fmt: skip
    (tmp_path / "postgres.lock").write_text(cut_out, encoding="utf-8")
    installed = pins(str(tmp_path / "postgres.lock")) | pins("requirements-demo.lock")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = needed(
        [*project["dependencies"], *extras["aggregator"], "psycopg-binary", "psycopg-pool", "hatchling"], set()
    )

    assert wanted <= {pin.split("==")[0] for pin in installed}
    assert all(re.search(r"^sha256:[0-9a-f]{64}", block) for block in installed.values())
    assert re.search(r"^ARG PYTHON=python:[\w.-]+@sha256:[0-9a-f]{64}$", text("Dockerfile"), re.MULTILINE)
    bases = re.findall(r"^FROM (\S+)", text("Dockerfile"), re.MULTILINE)
    assert set(bases) == {"${PYTHON}"}


@pytest.mark.parametrize("name", ["sottovoce.service", "env.example", "compose.yaml", "README.md"])
def test_samples_name_only_settings_that_exist(name: str) -> None:
    """A misspelt variable would be ignored without a word."""
    named = set(re.findall(rf"{PREFIX}[A-Z_]+[A-Z]", (DEPLOY / name).read_text(encoding="utf-8")))

    assert named
    known = {each for each, _, _ in describe()}
    # One setting is a file's name itself; of any other, a file may hold the value.
    assert {each.removesuffix("_FILE") for each in named - known} - known <= {f"{PREFIX}NAME"}


def test_example_of_the_environment_can_be_read() -> None:
    """By the aggregator itself; and it holds no secret."""
    lines = [line.split("=", 1) for line in text("env.example").splitlines() if line]
    settings = Settings.from_environment({name: value for name, value in lines})

    assert settings.proxy_hops == 1
    assert settings.rate_limit == Settings().rate_limit
    assert not settings.database


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """Where systemd is; everywhere it leaves the server the time to end, and the rights of nobody in particular."""
    unit = text("sottovoce.service")
    lines = set(unit.splitlines())
    assert {"StateDirectory=sottovoce sottovoce-keys", "Environment=SOTTOVOCE_DATA=%S/sottovoce"} <= lines
    assert f"Environment={PREFIX}BLIND_KEYS_FILE=%S/sottovoce-keys/blind" in lines
    assert "sottovoce-keys" not in text("sottovoce-backup.service")
    assert {"DynamicUser=yes", "UMask=0077", "LoadCredential=database:/etc/sottovoce/database"} <= lines
    stop = re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    assert stop is not None
    assert int(stop[1]) > server.KILL_SECONDS
    analyze = shutil.which("systemd-analyze")
    if analyze:
        # The program is not installed here, and its being there is all that is not checked.
        file = tmp_path / "sottovoce.service"
        file.write_text(unit.replace("/opt/sottovoce/bin/sottovoce serve", "/bin/true"))
        tried = subprocess.run([analyze, "verify", file], capture_output=True, text=True, check=False)
        assert (tried.returncode, tried.stderr) == (0, "")


def test_unit_lets_the_program_do_little() -> None:
    """Systemd's own figure, 0 for nothing at all, where systemd is; what of it is left is the network."""
    unit = text("sottovoce.service")
    assert {"PrivateMounts=yes", "PrivateDevices=yes", "ProtectSystem=strict", "CapabilityBoundingSet="} <= set(
        unit.splitlines()
    )
    analyze = shutil.which("systemd-analyze")
    if analyze:
        tried = subprocess.run([analyze, "security", "--offline=yes", "--threshold=12", DEPLOY / "sottovoce.service"],
                               capture_output=True, text=True, check=False)  # fmt: skip
        assert tried.returncode == 0, tried.stdout.splitlines()[-1]
