"""The samples in ``deploy/`` and their sum for Kubernetes: they say what the README promises, and tools accept them."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from ipaddress import ip_address, ip_network
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from sottovoce.aggregator.intake.request_limits import LARGER, MAX_BODY, UPLOAD, UPLOAD_PATH
from sottovoce.aggregator.settings import PREFIX, Settings, describe
from sottovoce.cli import server
from sottovoce.cli.server import KILL_SECONDS

from tests.conftest import Running
from tests.exported import published
from tests.surveys import survey
from tests.unit.test_packages import needed, pins

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = {"k": 2**10, "m": 2**20}

Block = list[tuple[list[str], "Block"]]
"""What stands between two braces of nginx's: directives with their words, and what stands in the braces after them."""


def text(name: str) -> str:
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
    return read_block(iter(re.findall(r'"[^"]*"|[{};](?=\s|$)|[^\s;{}]+', text("nginx.conf"))))


@pytest.fixture
def compose() -> dict[str, Any]:
    return yaml.safe_load(text("compose.yaml"))


def directives(block: Block, name: str) -> list[list[str]]:
    found = []
    for words, inner in block:
        found += [words[1:]] if words[0] == name else []
        found += directives(inner, name)
    return found


def size(words: list[str]) -> int:
    """A size as nginx writes it, in bytes."""
    return int(words[0][:-1]) * UNITS[words[0][-1]]


def test_proxy_writes_nothing_of_a_request(nginx: Block) -> None:
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

    # A file that takes longer than other replies is made once, not by each node in turn.
    (files,) = [place for place, again in repeated if "timeout" not in again]
    assert all(re.match(files, f"/dashboard/surveys/exam/files{end}") for end in ("", "/everything.zip"))
    assert directives(nginx, "proxy_read_timeout") == [["60s"], ["600s"]]
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
    # But for what is downloaded, which is made in the volume that the image makes.
    assert {"    TMPDIR=/data \\", "VOLUME /data"} <= set(text("Dockerfile").splitlines())
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
    # An analysis without memory ends alone, and files are made on the disk: /tmp is memory in many systems.
    assert {"OOMPolicy=continue", "PrivateTmp=yes", "Environment=TMPDIR=/var/tmp"} <= lines
    stop = re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
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


RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(text("alerts.yml"))["groups"] for rule in group["rules"]
]

PANELS: list[dict[str, Any]] = json.loads(text("grafana.json"))["panels"]

EXPRESSIONS = {
    **{rule["alert"]: rule["expr"] for rule in RULES},
    **{f"{panel['title']} {target['refId']}": target["expr"] for panel in PANELS for target in panel["targets"]},
}
"""Expressions of PromQL by the name of their alert or panel."""

OF_PROMETHEUS = {"up"}
"""What it knows by itself of everything that it asks."""

SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? [^ ]+$", re.MULTILINE)


def selectors(expression: str) -> list[Any]:
    """Every series that an alert or a panel asks for, as Prometheus' own parser reads it."""
    import promql_parser

    found: list[Any] = []

    def note(node: object) -> None:
        if isinstance(node, promql_parser.MatrixSelector):
            found.append(node.vector_selector)
        elif isinstance(node, promql_parser.VectorSelector):
            found.append(node)

    promql_parser.walk(promql_parser.parse(expression), note)
    assert found
    return found


def values(selector: Any) -> list[tuple[str, str]]:
    """(label, value) of all that a series is asked to have, but for the job, which is Prometheus' own."""
    return [
        (one.name, value) for one in selector.matchers.matchers if one.name != "job" for value in one.value.split("|")
    ]


@pytest.mark.slow
@pytest.mark.external
def test_every_metric_that_an_alert_or_a_panel_names_is_exported(own_server: Running) -> None:
    """With every value of a label: an alert on a misspelt one would never come."""
    for _ in range(2):  # a request is in the metrics of the next one
        told = requests.get(f"{own_server.url}/metrics", headers=own_server.researcher, timeout=15).text
    samples = [(name, set(re.findall(r'(\w+)="([^"]*)"', labels))) for name, labels in SAMPLE.findall(told)]
    assert samples

    for named, expression in EXPRESSIONS.items():
        for selector in selectors(expression):
            if selector.name in OF_PROMETHEUS:
                assert values(selector) == []
                continue
            of_name = [labels for name, labels in samples if name == selector.name]
            assert of_name, f"{named}: {selector.name} is not exported"
            assert set(values(selector)) <= set().union(*of_name), named


def test_panels_have_places_of_their_own_and_words() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in PANELS]

    assert len({*places}) == len(PANELS) == len({panel["id"] for panel in PANELS})
    assert all(panel["title"] and panel["description"] for panel in PANELS)
    assert {panel["datasource"]["uid"] for panel in PANELS} == {"${datasource}"}


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_alert_says_what_is_the_matter_and_what_to_do(rule: dict[str, Any]) -> None:
    """In words, of the job that the documentation sets up; a heading of the runbook that it names is there."""
    assert {*rule} <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert {*rule["annotations"]} == {"summary", "what_to_do"}
    for selector in selectors(rule["expr"]):
        assert ("job", "sottovoce") in [(one.name, one.value) for one in selector.matchers.matchers]
    for heading in re.findall(r'"([^"]+)"', rule["annotations"]["what_to_do"]):
        assert f"**{heading}" in text("runbook.md")


KEPT_DAYS = 7


def from_systemd(folder: Path) -> list[str]:
    """What the unit runs, with systemd's words replaced as it does."""
    lines = [line.partition("=") for line in text("sottovoce-backup.service").splitlines()]
    commands = [value for name, _, value in lines if name in {"ExecStartPre", "ExecStart"}]
    return [
        each.replace("%S/sottovoce/backups", str(folder)).replace("%%", "%").replace("$$", "$") for each in commands
    ]


def from_compose(folder: Path) -> list[str]:
    (command,) = yaml.safe_load(text("compose.yaml"))["services"]["backup"]["command"]
    return [command.replace("$$", "$").replace("/backups", str(folder))]


def from_kubernetes(folder: Path) -> list[str]:
    """What the two containers run, one after the other."""
    (job,) = [each for each in yaml.safe_load_all(text("kubernetes/backup.yaml")) if each["kind"] == "CronJob"]
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    commands = (shlex.join(pod[part][0]["command"]) for part in ("initContainers", "containers"))
    return [command.replace("/backups", str(folder)) for command in commands]


@pytest.mark.parametrize("commands", [from_systemd, from_compose, from_kubernetes])
def test_new_backup_replaces_the_last(tmp_path: Path, commands: Callable[[Path], list[str]]) -> None:
    published(tmp_path, survey()).close()
    folder, programs = tmp_path / "backups", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    (programs / "sottovoce").write_text(f'#!/bin/sh\nexec {sys.executable} -m sottovoce.cli "$@"\n')
    (programs / "sottovoce").chmod(0o755)
    for name, days in (("sixth.sqlite", 6.02), ("seventh.sqlite", 6.98), ("other", 30.0)):
        (folder / name).touch()
        os.utime(folder / name, (time.time() - days * 86400,) * 2)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "SOTTOVOCE_DATA": str(tmp_path)}
    made = []
    for command in commands(folder) * 2:
        here = command.replace("/opt/sottovoce/bin", str(programs))
        subprocess.run(["sh", "-c", here], env=environment, check=True, capture_output=True, timeout=60)
        made += [path.stat().st_ino for path in folder.glob("last.sqlite")]

    assert {path.name for path in folder.iterdir()} == {"sixth.sqlite", "other", "last.sqlite"}
    assert len(set(made)) == 2
    assert (folder / "last.sqlite").stat().st_size > 0


@pytest.mark.parametrize("commands", [from_systemd, from_compose, from_kubernetes])
def test_file_is_deleted_on_the_day_until_which_it_may_be_kept(commands: Callable[[Path], list[str]]) -> None:
    """Half a day before at most, so that a run that is a little early does not leave it for another day."""
    told = "\n".join(commands(Path("/folder")))

    assert f"--keep-days {KEPT_DAYS} " in told
    assert f"+{(2 * KEPT_DAYS - 1) * 720}" in told


def test_timers_run_each_hour() -> None:
    """At the same minute, a little after midnight in UTC, by when the aggregator has forgotten what fell due."""
    (job,) = [each for each in yaml.safe_load_all(text("kubernetes/backup.yaml")) if each["kind"] == "CronJob"]

    assert "OnCalendar=*-*-* *:15:00 UTC" in text("sottovoce-backup.timer").splitlines()
    assert (job["spec"]["schedule"], job["spec"]["timeZone"]) == ("15 * * * *", "Etc/UTC")


def test_systemd_accepts_the_timer_and_its_unit(tmp_path: Path) -> None:
    """Where systemd is; everywhere, the unit has the aggregator's user, database and bounds."""
    served, saved = (set(text(f"{name}.service").splitlines()) for name in ("sottovoce", "sottovoce-backup"))
    own = {"[Install]", "WantedBy=multi-user.target", "Wants=network-online.target", "After=network-online.target"}
    for_serving = ("Description", "ExecStart", "Restart", "KillMode", "Timeout", "Limit", "Memory", "StateDirectory=")
    for_serving += ("OOMPolicy", "Environment=TMPDIR")
    # Keys of blind links are for who signs.
    for_serving += ("Environment=SOTTOVOCE_BLIND_KEYS_FILE", "Environment=SOTTOVOCE_ANALYSIS_MEMORY")
    bounds = {line for line in served - own if not line.startswith(for_serving)} | {"MemoryDenyWriteExecute=yes"}
    assert bounds - saved == set()
    assert "User=sottovoce" in saved
    analyze = shutil.which("systemd-analyze")
    if analyze:
        for path in DEPLOY.glob("sottovoce*.*"):
            (tmp_path / path.name).write_text(path.read_text().replace("/opt/sottovoce/bin/sottovoce", "/bin/true"))
        units = sorted(tmp_path.glob("*backup*"))
        command = [analyze, "verify", "--man=no", *units]
        tried = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (tried.returncode, tried.stderr) == (0, "")


__all__ = ["nginx"]
FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
MANIFESTS: list[dict[str, Any]] = list(
    chain.from_iterable(yaml.safe_load_all((FOLDER / name).read_text()) for name in KUSTOMIZATION["resources"])
)
BLIND: dict[str, Any] = yaml.safe_load((FOLDER / "blind" / "kustomization.yaml").read_text())
OLDEST = "1.30"
"""The oldest release of Kubernetes for which the manifests are meant."""


def name_of(manifest: dict[str, Any]) -> str:
    """How a manifest is told from the others."""
    return f"{manifest['kind']}-{manifest['metadata']['name']}"


def found(kind: str, name: str) -> dict[str, Any]:
    (one,) = [each for each in MANIFESTS if name_of(each) == f"{kind}-{name}"]
    return one["spec"]


def pods() -> dict[str, dict[str, Any]]:
    templates = [found("StatefulSet", "node")["template"], found("Deployment", "proxy")["template"],
                 found("CronJob", "backup")["jobTemplate"]["spec"]["template"]]  # fmt: skip
    return {template["metadata"]["labels"]["part"]: template["spec"] for template in templates}


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def variables(pod: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one.get("value", "") for each in containers(pod) for one in each.get("env", [])}


def test_every_file_is_applied() -> None:
    """None lies beside the list, but for what is taken into use where somebody needs it."""
    assert {path.name for path in FOLDER.iterdir()} == {*KUSTOMIZATION["resources"], "kustomization.yaml", "blind"}
    named = [*BLIND["resources"], *(patch["path"] for patch in BLIND["patches"])]
    assert {path.name for path in (FOLDER / "blind").iterdir()} == {*named, "kustomization.yaml"}


@pytest.mark.slow
@pytest.mark.parametrize("release", [OLDEST, "latest"])
def test_kubernetes_knows_every_field(release: str) -> None:
    """By its own schema, which names every field that there may be; a misspelt one is found."""
    import kubernetes_validate

    if release == "latest":
        release = kubernetes_validate.latest_version()
    refused = {}
    for manifest in [*MANIFESTS, *shared_keys()]:
        try:
            kubernetes_validate.validate(manifest, release, strict=True)
        except kubernetes_validate.ValidationError as error:
            refused[name_of(manifest)] = error.message
    assert refused == {}
    spoilt = {**MANIFESTS[0], "metadata": {**MANIFESTS[0]["metadata"], "lables": {}}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(spoilt, release, strict=True)


def shared_keys() -> tuple[dict[str, Any], dict[str, Any]]:
    """The set of nodes and the volume claim where the keys of blind links are taken into use."""
    (patch,) = BLIND["patches"]
    (stateful,) = [deepcopy(each) for each in MANIFESTS if name_of(each) == f"StatefulSet-{patch['target']['name']}"]
    for change in yaml.safe_load((FOLDER / "blind" / patch["path"]).read_text()):
        _add(stateful, change)
    (claim,) = [yaml.safe_load((FOLDER / "blind" / name).read_text()) for name in BLIND["resources"]]
    return stateful, claim


def test_nodes_share_the_keys_of_blind_links_where_that_is_taken_into_use() -> None:
    """One file that all of them write to, in a volume that no backup mounts, whose rights no start of a pod widens."""
    stateful, claim = shared_keys()
    pod = stateful["spec"]["template"]["spec"]
    (mounted,) = [each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "keys"]

    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert {"name": "keys", "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}} in pod["volumes"]
    assert Path(variables(pod)[f"{PREFIX}BLIND_KEYS_FILE"]).parent == Path(mounted["mountPath"])
    assert "readOnly" not in mounted
    assert pod["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"
    assert "keys" not in str(pods()["backup"])


def _add(document: dict[str, Any], change: dict[str, Any]) -> None:
    """As Kubernetes' own program does it (RFC 6902)."""
    *way, last = change["path"].removeprefix("/").split("/")
    place: Any = document
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    assert change["op"] == "add"
    if last == "-":
        place.append(change["value"])
    else:
        place[last] = change["value"]


@pytest.mark.parametrize("part", ["node", "proxy", "backup"])
def test_pods_run_as_nobody_who_may_write_nowhere(part: str) -> None:
    """Under the rules that the cluster itself calls restricted, which the namespace enforces."""
    pod = pods()[part]
    (namespace,) = [each for each in MANIFESTS if each["kind"] == "Namespace"]
    rights = pod["securityContext"]

    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert (rights["runAsNonRoot"], rights["runAsUser"], rights["seccompProfile"]) == (
        True, 65532, {"type": "RuntimeDefault"},
    )  # fmt: skip
    assert pod["automountServiceAccountToken"] is False
    for container in containers(pod):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }  # fmt: skip
        assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("part", ["node", "proxy", "backup"])
def test_secrets_are_files_that_their_pod_alone_reads(part: str) -> None:
    """Never a variable; and whatever is mounted is named once more among the volumes."""
    pod = pods()[part]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    secrets = [volume["secret"] for volume in volumes.values() if "secret" in volume]

    assert [secret["defaultMode"] for secret in secrets] == [0o440]
    assert "secretKeyRef" not in str(pod)
    assert {mount["name"] for each in containers(pod) for mount in each["volumeMounts"]} == volumes.keys()
    assert all("sizeLimit" in volume["emptyDir"] for volume in volumes.values() if "emptyDir" in volume)
    # Where the image's variables have a node make files for a download.
    assert part != "node" or {"name": "data", "mountPath": "/data"} in pod["containers"][0]["volumeMounts"]


@pytest.mark.parametrize("part", ["node", "backup"])
def test_pods_name_only_settings_that_exist(part: str) -> None:
    """And their values can be read."""
    named = {name: value for name, value in variables(pods()[part]).items() if name.startswith(PREFIX)}
    files = {name for name in named if name.endswith("_FILE")}
    settings = Settings.from_environment({name: named[name] for name in named.keys() - files})

    assert {name.removesuffix("_FILE") for name in named} <= {name for name, _, _ in describe()}
    assert files == {f"{PREFIX}DATABASE_FILE"}
    assert settings.proxy_hops == (1 if part == "node" else 0)


def test_node_that_is_told_to_end_is_red_before_it_takes_nothing_new() -> None:
    """For longer than it takes until everybody knows; and it is not killed before it has ended by itself."""
    node = pods()["node"]
    (container,) = node["containers"]
    drain = int(variables(node)[f"{PREFIX}DRAIN_SECONDS"])
    asked, alive = container["readinessProbe"], container["livenessProbe"]

    assert (asked["httpGet"]["path"], alive["httpGet"]["path"]) == ("/readyz", "/healthz")
    assert drain > 2 * asked["periodSeconds"] * asked["failureThreshold"]
    assert node["terminationGracePeriodSeconds"] > drain + KILL_SECONDS


def test_there_are_two_nodes_and_one_of_them_at_least_runs(nginx: Block) -> None:
    """Each under the name that the proxy has for it."""
    services = {each["metadata"]["name"]: each["spec"] for each in MANIFESTS if each["kind"] == "Service"}
    named = list(dict.fromkeys(words[0].partition(":")[0] for words in directives(nginx, "server") if words))

    assert found("StatefulSet", "node")["replicas"] == len(named) == 2
    assert [services[name]["selector"]["statefulset.kubernetes.io/pod-name"] for name in named] == ["node-0", "node-1"]
    for part in ("node", "proxy"):
        assert found("PodDisruptionBudget", part)["maxUnavailable"] == 1
    for service in services.values():
        assert service["selector"].keys() <= {"app", "part", "statefulset.kubernetes.io/pod-name"}


def test_proxy_finds_its_secrets_and_its_place_to_write(nginx: Block) -> None:
    """Where the sample, which is mounted as it is, looks for them."""
    mounts = {each["name"]: each["mountPath"] for each in pods()["proxy"]["containers"][0]["volumeMounts"]}
    (tls,) = [each["secret"] for each in pods()["proxy"]["volumes"] if each["name"] == "certificate"]
    wanted = directives(nginx, "ssl_certificate") + directives(nginx, "ssl_certificate_key")

    assert [[f"{mounts['certificate']}/{item['path']}"] for item in tls["items"]] == wanted
    assert directives(nginx, "pid") == [[f"{mounts['run']}/nginx.pid"]]


def test_network_lets_through_what_is_named_and_nothing_else() -> None:
    """From anywhere to the proxy, from there to nodes, from nodes and backups to the database; and names."""
    policies = [each["spec"] for each in MANIFESTS if each["kind"] == "NetworkPolicy"]
    (nothing,) = [each for each in policies if "ingress" not in each and "egress" not in each]
    anybody = [rule["ports"] for each in policies for rule in each.get("ingress", []) if "from" not in rule]

    assert (nothing["podSelector"], nothing["policyTypes"]) == ({}, ["Ingress", "Egress"])
    assert [[port["port"] for port in ports] for ports in anybody] == [[80, 443]]
    assert all("to" in rule for each in policies for rule in each.get("egress", []))
    (node,) = found("NetworkPolicy", "node")["ingress"]
    assert [port["port"] for port in node["ports"]] == [8000]
    assert len(node["from"]) == 2
