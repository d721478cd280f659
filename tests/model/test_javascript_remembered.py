"""What the browser's lives remember of a survey is what was read from the same bytes, and nothing can change it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from sottovoce.client import page

from tests.model.javascript_events import remembering_scripts

SCRIPT = """
import {{ remembering }} from {module};
class Made {{ inner = {{ list: [1] }}; }}
let reads = 0;
const read = remembering(async () => ((reads += 1), {value}));
const [one, again] = [await read(new Uint8Array([1, 2])), await read(new Uint8Array([1, 2]).buffer)];
await read(new Uint8Array([2, 1]));
const isKept = (work) => {{
  try {{
    work();
  }} catch (error) {{
    return error instanceof TypeError;
  }}
  return false;
}};
const kept = [() => (one.more = 1), () => one.inner.list.push(2), () => (one.inner.list = [])].every(isKept);
console.log(JSON.stringify([reads, one === again, kept]));
"""


@pytest.mark.parametrize("value", ["{ inner: { list: [1] } }", "new Made()", "{ inner: { list: [1, null, 'a'] } }"])
def test_data_is_read_once_and_never_changes(value: str) -> None:
    """The same bytes, in whichever array, give the very same object; other bytes another one."""
    assert remembered(value) == [2, True, True]


@pytest.mark.parametrize(
    "inner",
    ["new Map()", "() => 1", "new Uint8Array(1)", "new Date(0)", "new Proxy({}, {})", "{ get now() { return 1; } }"],
)
def test_what_could_change_is_read_each_time(inner: str) -> None:
    """A life could leave something in it for the next one; it stays as it was given."""
    assert remembered(f"{{ inner: {{ list: [{inner}] }} }}") == [3, False, False]


def remembered(value: str) -> list[object]:
    """How often was read; whether the same bytes gave the same object; whether nothing in it could be changed."""
    module = Path(__file__).with_name("javascript_remembered.mjs")
    script = SCRIPT.format(module=json.dumps(f"file://{module}"), value=value)
    command = [shutil.which("node") or "node", "--input-type=module", "--eval", script]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(run.stdout)


def test_only_the_reading_of_surveys_is_changed() -> None:
    """Of all scripts one line is another, in the script that has the way from a link to a survey."""
    honest = page.opened()
    given = remembering_scripts(honest)
    changed = [name for name in honest if honest[name] != given[name]]

    assert changed == ["respondent.js"]
    assert len(set(honest["respondent.js"].split("\n")) - set(given["respondent.js"].split("\n"))) == 1
