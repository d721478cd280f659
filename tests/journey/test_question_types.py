"""The types of the npm package: what is right compiles in the strictest reading, what is wrong names what is right."""

import re
import subprocess
from pathlib import Path

import pytest
from sottovoce.client.question_page import question_files

from tests.journey.test_described_api import TOOLS

pytestmark = pytest.mark.slow

PACKAGE = Path("node_modules/@sottovoce/question")
REACT = Path(__file__).parents[1] / "browser/node_modules/@types/react"
OPTIONS = ("--noEmit", "--strict", "--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022",
           "--lib", "es2022,dom")  # fmt: skip

RIGHT = """import { SottovoceQuestion, toColumns, type BlockQuestion, type QuestionRecord } from "@sottovoce/question";
import { describe, randomize, type Question } from "@sottovoce/question/core";
import { SottovoceQuestionPlugin, type SottovoceTrial } from "@sottovoce/question/jspsych";

const question: Question = { type: "boolean", name: "cheated", label: { en: "Have you?" },
  mechanism: { name: "binary_rr", a: "3/4", b: "1/4" } };
const block: BlockQuestion = { block: "intimate", mechanism: { name: "joint_rr", odds: "9", radius: 0 },
  items: [{ type: "boolean", name: "drank", label: { en: "Have you?" } }] };
const record: QuestionRecord = { format: "sottovoce-record/1", question: "intimate", digest: "0", report: 1,
  value: "yes", mechanism: block.mechanism, channel: "joint_rr", epsilon: "1.0000", once: "device", client: "0.4.0" };
const trial: SottovoceTrial = { src: "/q/1/", question: block, participant: "p1", mode: "frame" };
export const columns: Record<string, string> = toColumns(record);
export async function all(element: SottovoceQuestion, plugin: SottovoceQuestionPlugin): Promise<string> {
  element.question = block;
  await plugin.simulate(trial, "data-only", {}, () => {});
  return (await randomize(question, "yes")).value + (await describe(question)).digest;
}
"""
IN_JSX = """import type {} from "@sottovoce/question";
export const node = <sottovoce-question src="/q/1/" participant="p1" mode="window"
  onsottovoce-record={(event) => event.detail.value.length}
  question={{ type: "boolean", name: "x", label: {}, mechanism: { name: "y" } }} />;
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / PACKAGE).mkdir(parents=True)
    for name, held in question_files().items():
        if "/" not in name:
            (tmp_path / PACKAGE / name).write_bytes(held)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    return tmp_path


def faults(project: Path, text: str, name: str = "it.ts", *options: str) -> str:
    (project / name).write_text(text)
    command = [TOOLS / "node_modules/.bin/tsc", *OPTIONS, *options, name]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=project).stdout


def test_questions_blocks_and_their_records_compile(project: Path) -> None:
    assert faults(project, RIGHT) == ""


@pytest.mark.parametrize(
    ("right", "wrong", "names"),
    [
        ('mode: "frame"', 'mode: "popup"', ["window", "frame"]),
        ('once: "device"', 'once: "always"', ["device", "visit", "no"]),
        ('question: Question = { type: "boolean"', 'question: Question = { type: "bool"', ["boolean", "vector"]),
        ('[{ type: "boolean"', '[{ type: "date"', ["boolean", "select_one", "rating"]),
        ('"data-only"', '"fast"', ["data-only", "visual"]),
    ],
)
def test_wrong_value_names_the_right_ones(project: Path, right: str, wrong: str, names: list[str]) -> None:
    assert right in RIGHT
    said = faults(project, RIGHT.replace(right, wrong))
    assert said.count("error TS") == 1, said
    assert [name for name in names if f'"{name}"' not in said] == [], said


@pytest.mark.parametrize("library", ["none", "react"])
def test_element_has_a_type_in_jsx(project: Path, library: str) -> None:
    text, options = IN_JSX, ["--jsx", "preserve"]
    if library == "react":
        (project / "node_modules/@types").mkdir()
        (project / "node_modules/@types/react").symlink_to(REACT)
        [lines] = re.findall(r"```ts\n(.*?)```", (project / PACKAGE / "README.md").read_text(), re.DOTALL)
        text, options = lines + IN_JSX, ["--jsx", "react-jsx", "--skipLibCheck"]
    assert faults(project, text, "it.tsx", *options) == ""
    said = faults(project, text.replace('mode="window"', 'mode="popup"'), "it.tsx", *options)
    assert said.count("error TS") == 1, said
    assert '"window" | "frame"' in said
