"""One answer from the person to the estimate: the code of ``docs/path_of_an_answer.md``, as it stands there.

``python -m tests.journey.one_answer`` runs it and prints each step.
"""

import json
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask
from sottovoce.client.page import opened
from sottovoce.shared.spec import Survey
from werkzeug.serving import WSGIRequestHandler, make_server

PAGE = Path(__file__).parents[2] / "docs" / "path_of_an_answer.md"

BROWSER = """
import { readFileSync } from "node:fs";
const { folder, scripts, survey, digest, answers, tape } = JSON.parse(readFileSync(0, "utf-8"));
const product = Object.assign({}, ...(await Promise.all(scripts.map((script) => import(`${folder}/${script}`)))));
let rest = Buffer.from(tape, "hex");
const read = (count) => {
  const taken = rest.subarray(0, count);
  rest = rest.subarray(count);
  return taken;
};
await product.bringReaders(JSON.parse(survey));
const parsed = product.parseSurvey(JSON.parse(survey), digest);
await product.bringRandomizers(parsed);
const report = product.randomize(parsed, parsed.encode(answers), new product.Draws(read), 0, null);
process.stdout.write(product.dumpReport(report, parsed));
"""


def steps() -> list[tuple[str, str]]:
    """The page's headings, each with the code below it, the preparation first."""
    parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    blocks = ["\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL)) for part in parts]
    return list(zip(["0. Publish", *(part.partition("\n")[0] for part in parts[1:])], blocks, strict=True))


def run(folder: Path, tell: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Run the page in an empty folder; tells each step's heading once it has run, returns what the code has named."""
    names: dict[str, Any] = {**globals(), "folder": folder}
    for heading, code in steps():
        exec(compile(code, f"{PAGE.name}, {heading}", "exec"), names)  # noqa: S102 - our own page, that is the point
        tell(heading)
    return names


def reading(tape: bytes) -> Callable[[int], bytes]:
    """A source of chance that gives these bytes, and fails where more are read."""
    rest = iter(tape)
    return lambda count: bytes(next(rest) for _ in range(count))


def in_javascript(survey: Survey, answers: dict[str, str], tape: bytes) -> bytes:
    """The report that the served page's own scripts draw from these bytes, under node."""
    node = shutil.which("node")
    assert node, "node 20 or newer is needed"
    with tempfile.TemporaryDirectory() as folder:
        # Only this file tells node that .js means module; browsers need no telling.
        Path(folder, "package.json").write_text('{"type": "module"}', encoding="utf-8")
        scripts = opened()
        for name, script in scripts.items():
            Path(folder, name).write_text(script, encoding="utf-8")
        given = {
            "folder": Path(folder).as_uri(), "scripts": list(scripts),
            "survey": survey.canonical.decode(), "digest": survey.digest, "answers": answers, "tape": tape.hex(),
        }  # fmt: skip
        done = subprocess.run(
            [node, "--input-type=module", "-e", BROWSER],
            input=json.dumps(given), capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.encode()


class _Silent(WSGIRequestHandler):
    """Keeps no access log, like the real server."""

    def log_request(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """The application behind a real socket of this machine, until the end of the block; gives its origin."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Silent)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        run(Path(temporary), print)
