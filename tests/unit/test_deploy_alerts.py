"""Prometheus' rules and Grafana's panels in ``deploy/``: each can be read, and asks for what a node really tells."""

import json
import re
from typing import Any

import pytest
import requests
import yaml

from tests.conftest import Running
from tests.unit.test_deploy import text

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
    """And ask the one source of data that the reader chooses."""
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
