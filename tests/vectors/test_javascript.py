"""The browser's client against the same vectors as Python's: on its sources, and on the script as it is served."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.client import bundle, page, words
from sottovoce.client.question_page import question_scripts
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import survey
from tests.random_surveys import random_survey
from tests.unit.client.test_web_sources import apart

pytestmark = pytest.mark.external
HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "shared" / "sottovoce" / "examples"
VECTORS = HERE.parents[1] / "shared" / "sottovoce" / "shared" / "vectors"
Write = Callable[[Path], list[str]]
"""Writes modules into a folder and returns their paths."""


def write_sources(folder: Path) -> list[str]:
    """The modules as they are in the repository; returns their paths."""
    sources = {**bundle.modules(), **apart()}
    for path, source in sources.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(source, encoding="utf-8")
    return list(sources)


def write_assembled(folder: Path) -> list[str]:
    """The page's scripts, with last lines that let tests reach what the modules export."""
    scripts = page.opened()
    for file, script in scripts.items():
        (folder / file).write_text(script, encoding="utf-8")
    # What a preview pretends is in no script that respondents get.
    alone = {path: source for path, source in apart().items() if not path.startswith(("preview/", "question/", "try/"))}
    for path in ("question/code.js", "question/style.js"):
        alone[path] = bundle.read(path)
    core = question_scripts()["core.js"].splitlines()[:-1]
    names = "bringEveryMechanism, describeQuestion, randomizeQuestion, readAskedAlone, toColumns"
    alone["question/core.js"] = "\n".join([*core, f"export {{ {names} }};\n"])
    for path, source in {**alone, "survey/rational.js": bundle.modules()["survey/rational.js"]}.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(source, encoding="utf-8")
    return [*scripts, *alone]


def write_sentences(file: Path) -> None:
    """Write what Python says of every question of the vectors, without epsilon; the catalogue; and many surveys."""
    said = []
    for path in sorted(VECTORS.glob("*/randomize.json")):
        for vector in json.loads(path.read_text(encoding="utf-8")):
            asked = parse_survey(survey(vector["question"])).questions[0]
            sentence = words.odds_in_words(asked).rpartition(" Epsilon ")[0]
            said.append({"question": vector["question"], "sentence": sentence})
    parsed = [parse_survey(parse_yaml(path.read_bytes())) for path in sorted(EXAMPLES.glob("[mq]*/*.yaml"))]
    parsed += [parse_survey(each.document) for each in all_templates()] + [random_survey(seed) for seed in range(60)]
    surveys = [[each.canonical.decode(), each.digest, each.epsilon] for each in parsed]
    sentences = {"catalogue": words.catalogue(), "catalogues": sorted(LANGUAGES), "said": said, "surveys": surveys}
    file.write_text(json.dumps(sentences), encoding="utf-8")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Write], dict[str, str]]:
    """The modules, packed once in each of two ways, and where the tests find them."""

    @cache
    def packed(write: Write) -> dict[str, str]:
        folder = tmp_path_factory.mktemp("web")
        # Only this file tells node that .js means module; browsers need no telling.
        (folder / "package.json").write_text('{"type": "module"}')
        modules = json.dumps(write(folder))
        write_sentences(folder / "sentences.json")
        return {
            **os.environ,
            "SOTTOVOCE_WEB": str(folder),
            "SOTTOVOCE_MODULES": modules,
            "SOTTOVOCE_VECTORS": str(VECTORS),
            "SOTTOVOCE_SENTENCES": str(folder / "sentences.json"),
        }

    return packed


FILES = sorted((HERE / "javascript").glob("*.test.mjs"))
APART = [path for path in FILES if re.search("globalThis|^(before|after)Each", path.read_text("utf-8"), re.MULTILINE)]
"""Those that change what others would find; these share a node, whose start took longer than their tests."""
OTHERS = [path for path in FILES if path not in APART]
RUNS = [
    pytest.param(write, paths, id=f"{kind}-{paths[0].name if paths[0] in APART else 'others'}")
    for kind, write in (("sources", write_sources), ("assembled", write_assembled))
    for paths in (*([path] for path in APART), OTHERS)
]


@pytest.mark.parametrize(("write", "paths"), RUNS)
def test_javascript_does_as_its_tests_say(
    environment: Callable[[Write], dict[str, str]], write: Write, paths: list[Path]
) -> None:
    node = shutil.which("node")
    assert node, "node 20 or newer is needed"
    # Without --test, which would start another node for each file, and with it the same tests and the same exit code.
    program = "".join(f"await import({json.dumps(path.as_uri())});" for path in paths)
    command = [node, "--input-type=module", "--eval", program]
    run = subprocess.run(command, env=environment(write), capture_output=True, text=True, timeout=120, check=False)

    assert run.returncode == 0, run.stdout + run.stderr
