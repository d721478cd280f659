"""The manifests in ``deploy/kubernetes/``: as Kubernetes' own schemas want them, and as the README promises."""

from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from sottovoce.aggregator.settings import PREFIX, Settings, describe
from sottovoce.cli.server import KILL_SECONDS

from tests.unit.test_deploy import Block, directives, nginx

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
    """All that run in it, first or later."""
    return [*pod.get("initContainers", []), *pod["containers"]]


def variables(pod: dict[str, Any]) -> dict[str, str]:
    """What the environment of its containers is set to."""
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
