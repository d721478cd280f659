"""The respondent's page in its three forms and the page of a single question: what is in them, and what they weigh."""

import gzip
import json
import re
import subprocess
from base64 import b64encode
from fractions import Fraction
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

import brotli
import pytest
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, estimate_share
from sottovoce.client import bundle
from sottovoce.client.bundle import sentences
from sottovoce.client.page import assemble, catalogues, preview, saved_page, static_page
from sottovoce.client.question_page import former_elements, question_page, question_scripts, try_page
from sottovoce.demo.run import demo_survey
from sottovoce.shared.errors import TransportError
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.page_files import page_files
from tests.surveys import every_type, survey

READ = bundle.read

BUDGET = 36 * 1000

"""Bytes of the bodies until the first question can be answered, with ten questions and one language."""

HEAVIEST_BUDGET = 50_500

"""Bytes of all that the page has in one language."""


def ten_coins() -> Survey:
    """The demonstration's questions, twice."""
    asked = json.loads(demo_survey().canonical)
    del asked["privacy"]["max_epsilon_total"]
    again = [
        {**question, "name": f"{question['name']}_2"} for question in asked["questions"] if "public" not in question
    ]
    asked["questions"] = [*asked["questions"], *again, again[0] | {"name": "tenth"}]
    return parse_survey(asked)


ROOT = Path(__file__).parents[3]


def test_assemble_gives_the_files_that_are_served_the_same_each_time() -> None:
    types = {name: asset.content_type for name, asset in page_files().items()}

    assert types == {
        **{f"catalogues/{tag}.json": "application/json" for tag in LANGUAGES},
        **{f"{part}.js": "text/javascript; charset=utf-8" for part in bundle.PARTS},
        "respondent.html": "text/html; charset=utf-8",
        "saved.json": "application/json",
        "sw.js": "text/javascript; charset=utf-8",
    }

    assert list(assemble().items()) == list(page_files().items())


def test_no_respondent_is_given_the_pretended_aggregator() -> None:
    given = [asset.body for asset in page_files().values()]
    given += [*static_page("https://survey.example").values(), saved_page("https://survey.example")]

    assert [body for body in given if b"PretendedStorage" in body] == []
    assert "PretendedStorage" in "".join(preview().pieces)


def weight(asked: Survey, language: str, *parts: str) -> int:
    """Page, style, spec, and these parts of the page and the sentences, together."""
    names = ["respondent.html", *(f"{part}.js" for part in parts), f"catalogues/{language}.json"]
    return len(asked.canonical) + sum(compressed_sizes()[name] for name in names)


@cache
def compressed_sizes() -> dict[str, int]:
    return {name: len(brotli.compress(file.body, quality=11)) for name, file in page_files().items()}


def test_page_keeps_its_byte_budget() -> None:
    """Ten questions and the page's own sentences in any of its languages, up to the first question."""
    weights = {language: weight(ten_coins(), language, "respondent", "answering") for language in LANGUAGES}
    assert {language: found for language, found in weights.items() if found > BUDGET} == {}


def test_heaviest_page_keeps_its_byte_budget() -> None:
    """Ten questions of ten types with ten mechanisms, all opened that can be; asked once, of all, alone, no exit."""
    heaviest, parts = survey(questions=every_type()[:10]), bundle.PARTS.keys() - {*bundle.RARE[1:]}
    weights = {language: weight(heaviest, language, *parts) for language in LANGUAGES}
    assert {language: found for language, found in weights.items() if found > HEAVIEST_BUDGET} == {}


AGGREGATOR = "https://a.example/base"


def inline(html: str, tag: str) -> str:
    """The text of the last element that opens so."""
    return html.rpartition(tag)[2].partition("</")[0]


def digest(text: str) -> str:
    """How a policy or an integrity attribute names a text."""
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def test_served_page_names_its_style() -> None:
    """The policy that lets the style in is that of the very bytes between the tags."""
    page = page_files()["respondent.html"]
    assert page.style == f"'{digest(inline(page.body.decode(), '<style>'))}'"


def test_static_page_checks_its_parts() -> None:
    files = static_page(AGGREGATOR + "/")
    page = files["index.html"].decode()
    setup = json.loads(inline(page, 'id="setup">'))

    assert f'integrity="{digest(files["respondent.js"].decode())}"' in page
    assert setup["aggregator"] == AGGREGATOR
    assert setup["catalogues"] == {
        path.removeprefix("catalogues/").removesuffix(".json"): digest(files[path].decode()) for path in catalogues()
    }
    assert f"connect-src 'self' {AGGREGATOR}/;" in page
    assert digest(inline(page, "<style>")) in page


def test_saved_page_is_one_file() -> None:
    asked = survey(title={"en": "</script><script>alert(1)</script>"})
    page = saved_page(AGGREGATOR, asked).decode()
    setup = json.loads(inline(page, 'id="setup">'))

    script = inline(page, '<script type="module">')
    assert f"script-src '{digest(script)}';" in page
    assert setup["survey"] == {"name": asked.name, "digest": asked.digest[:32], "text": asked.canonical.decode()}
    assert setup["catalogues"] == {
        path.removeprefix("catalogues/").removesuffix(".json"): json.loads(text) for path, text in catalogues().items()
    }
    assert page.count("</script>") == 2
    assert re.findall(r'(?:src|href)="(?!data:,)', page) == []


@pytest.mark.parametrize(
    "address", ["a.example", "http://a.example", "https://a.example;script-src *", 'https://a.example">', "file:///etc"]
)
def test_only_a_safe_address_is_written_into_a_page(address: str) -> None:
    """No plain HTTP, and nothing that would change the policy."""
    with pytest.raises(TransportError, match="must look like"):
        saved_page(address)


def test_worker_changes_with_what_it_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser notices a new page by the worker's first line, and the folder it keeps is another."""
    before = page_files()
    read = bundle.read
    changed = {"respondent.css": "body {\n  margin: 1px;\n}\n"}
    monkeypatch.setattr("sottovoce.client.page.read", lambda path: changed.get(path) or read(path))

    after = assemble()
    old, new = (files["respondent.js"].folder for files in (before, after))
    assert before["respondent.js"].body == after["respondent.js"].body
    assert before["sw.js"].body.startswith(f'const VERSION = "{old}";\n'.encode())
    assert after["sw.js"].body == before["sw.js"].body.replace(old.encode(), new.encode()) != before["sw.js"].body


@pytest.mark.parametrize("source", ["respondent.html", "catalogues/hi.json", "form/steps/withdraw.js"])
def test_folder_changes_with_whatever_is_in_it(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """Its files are kept for ever under its name, and only the page and the worker say it."""
    before = page_files()["respondent.html"].folder
    for module in ("page", "bundle"):
        monkeypatch.setattr(f"sottovoce.client.{module}.read", partial(changed_at_its_end, source))
    monkeypatch.setattr("sottovoce.client.page.sentences", bundle.sentences.__wrapped__)
    after = assemble()
    folder = after["respondent.html"].folder

    assert re.fullmatch("[0-9a-f]{16}", before)
    assert before != folder
    assert {name for name, file in after.items() if not file.folder} == {"sw.js", "saved.json"}
    assert {file.folder for file in after.values() if file.folder} == {folder}
    assert {name for name, file in after.items() if folder.encode() in file.body} == {"respondent.html", "sw.js"}


def changed_at_its_end(changed: str, path: str) -> str:
    """A source, one of which says something else than it does."""
    source = READ(path)
    if path != changed:
        return source
    return {"html": source.replace("</html>", "<p></html>"), "json": source.replace("{", '{"a":"a",', 1)}.get(
        path.rpartition(".")[2], source + "function another() {}\n"
    )


def test_element_and_window_are_small() -> None:
    """2.6 kB before the button, 34 kB to the question."""
    element, page = question_scripts()["element.js"].encode(), question_page().body
    assert len(gzip.compress(element, mtime=0)) <= 2_600
    assert len(gzip.compress(page, mtime=0)) <= 34_000


def test_element_of_a_release_is_kept_for_five_releases() -> None:
    """From 0.5.0 on, the first whose lines name it by its hash; a release adds its own, ``VERSION.txt``."""
    heads = re.findall(r"^## (\d+)\.(\d+)\.(\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heads
    kept = [".".join(each) for each in heads if tuple(map(int, each)) >= (0, 5, 0)][:5]
    folder = ROOT / "client" / "sottovoce" / "client" / "web" / "question" / "former"
    assert sorted(path.stem for path in folder.glob("*.txt")) == sorted(kept)
    assert len(former_elements()) == len(kept)


ESTIMATE = ROOT / "client/sottovoce/client/web/try/estimate.js"

COUNTS = [0, 1, 20, 100, 200, 249, 250, 251, 260, 300, 333, 400, 500, 600, 700, 740, 749, 750, 751, 1000]


def test_file_is_the_page_that_is_built() -> None:
    """``python -c "from sottovoce.client.question_page import try_page as t; print(t().body.decode(), end='')"``."""
    assert (ROOT / "docs/try.html").read_bytes() == try_page().body
    assert len(try_page().body) <= 65_536
    assert {tag: len(sentences(tag)["try"]) for tag in LANGUAGES if len(sentences(tag)["try"]) > 25} == {}


def test_page_may_ask_no_server() -> None:
    assert "default-src 'none'" in str(try_page().policy)
    assert "connect-src 'none'" in str(try_page().policy)
    assert b"http://" not in try_page().body
    assert b"https://" not in try_page().body


def test_estimates_are_those_of_the_program() -> None:
    """Share and limits of 20 counts among 1,000, and of the counts of small groups."""
    counted = [[count, 1000] for count in COUNTS] + [[7, 20], [0, 20], [20, 20], [31, 80]]
    run = f"const {{ estimateShare }} = await import({json.dumps(ESTIMATE.as_uri())});"
    run += f"console.log(JSON.stringify({json.dumps(counted)}.map(([yes, n]) => estimateShare(yes, n))));"
    told = subprocess.run(["node", "--input-type=module", "-e", run], capture_output=True, text=True, check=True).stdout
    for (yes, n), shown in zip(counted, json.loads(told), strict=True):
        known = estimate_share("yes", yes, n, Fraction(3, 4), Fraction(1, 4), DEFAULT_RULE)
        assert [shown["share"], shown["low"], shown["high"]] == pytest.approx([known.clipped, known.low, known.high])
