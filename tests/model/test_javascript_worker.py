"""What passes the page's service worker: only a worker that leaves requests as they are."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from sottovoce.audit.run import laid_out

from tests.page_files import page_files

OWN = page_files()["sw.js"].body.decode()
DRIVER = """
import { readFileSync } from "node:fs";
import { isServiceable } from "./javascript_worker.mjs";
const found = [];
for (const text of JSON.parse(readFileSync(0, "utf-8"))) found.push(await isServiceable(text));
console.log(JSON.stringify(found));
"""
GET = 'if (event.request.method === "GET") event.respondWith(serve(event.request));'
FETCH = "await fetch(request).catch(() => null)"
DISHONEST = {
    "sends reports itself": (GET, "event.respondWith(fetch(event.request));"),
    "asks for more": (GET, f"{GET} fetch('/more');"),
    "asks with more": (FETCH, 'await fetch(request, { headers: { "X-Name": "1" } }).catch(() => null)'),
    "asks for something else": (FETCH, "await fetch(`${request.url}?1`).catch(() => null)"),
    "asks twice": (FETCH, f"{FETCH} ?? {FETCH}"),
    "keeps what passes": (FETCH, '(await (await caches.open("x")).put(request, 1), await fetch(request))'),
    "listens to more": (GET, f'{GET} }});\naddEventListener("sync", () => {{'),
    "asks as soon as it begins": ('addEventListener("install"', 'fetch("/begun");\naddEventListener("install"'),
    "draws": (GET, f"crypto.randomUUID(); {GET}"),
}


@pytest.fixture(scope="module")
def found() -> dict[str, bool]:
    """Of each script whether it is let through."""
    node = shutil.which("node")
    assert node is not None
    for right, _ in DISHONEST.values():
        assert OWN.count(right) == 1
    scripts = {"own": OWN, **{name: OWN.replace(*change) for name, change in DISHONEST.items()}}
    worker = Path(__file__).with_name("javascript_worker.mjs").read_text(encoding="utf-8")
    with laid_out(node, {"driver.mjs": DRIVER, "javascript_worker.mjs": worker}, "driver.mjs") as command:
        ran = subprocess.run(
            command, input=json.dumps([*scripts.values()]), capture_output=True, text=True, timeout=60, check=True
        )
    return dict(zip(scripts, json.loads(ran.stdout), strict=True))


def test_own_service_worker_is_let_through(found: dict[str, bool]) -> None:
    assert found["own"] is True


@pytest.mark.parametrize("name", DISHONEST)
def test_other_service_worker_is_not(found: dict[str, bool], name: str) -> None:
    """One that does a single thing more."""
    assert found[name] is False
