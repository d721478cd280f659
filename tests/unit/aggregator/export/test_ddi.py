"""The DDI document against the published schema, codebook.xsd of DDI-Codebook 2.5.1.

The schema itself is no part of this project. ``CHILDREN`` was read off it by hand, for the elements used here: which
may stand in which, and in what order; ``REQUIRED`` what each must have. On 2026-11-29 libxml2 found the document of
``folder`` valid against the schema of 2012-01-17, version 2.5. That archives' own checks pass is not shown.
"""

from pathlib import Path
from xml.etree import ElementTree as ET

from sottovoce.aggregator.export.catalogue import Source
from sottovoce.shared.spec import Survey

from tests.exported import files_of
from tests.surveys import document, survey

DDI = "{ddi:codebook:2_5}"
CHILDREN = {
    "codeBook": ["docDscr", "stdyDscr", "fileDscr", "dataDscr", "otherMat"],
    "stdyDscr": ["citation", "studyAuthorization", "stdyInfo", "studyDevelopment", "method", "dataAccs", "notes"],
    "citation": ["titlStmt", "rspStmt", "prodStmt", "distStmt", "serStmt", "verStmt", "biblCit", "holdings", "notes"],
    "titlStmt": ["titl", "subTitl", "altTitl", "parTitl", "IDNo"],
    "verStmt": ["version", "verResp", "notes"],
    "stdyInfo": ["studyBudget", "subject", "abstract", "sumDscr", "qualityStatement", "notes"],
    "sumDscr": ["timePrd", "collDate", "nation", "geogCover", "universe", "dataKind"],
    "fileDscr": ["fileTxt", "locMap", "notes"],
    "fileTxt": ["fileName", "fileCitation", "fileCont", "fileStrc", "dimensns", "fileType", "format", "verStmt"],
    "dimensns": ["caseQnty", "varQnty", "logRecL", "recPrCas", "recNumTot"],
    "dataDscr": ["varGrp", "nCubeGrp", "var", "nCube", "notes"],
    "var": [
        "location", "labl", "imputation", "security", "embargo", "respUnit", "anlysUnit", "qstn", "valrng", "invalrng",
        "undocCod", "universe", "TotlResp", "sumStat", "txt", "stdCatgry", "catgryGrp", "catgry", "codInstr", "verStmt",
        "concept", "derivation", "varFormat", "geoMap", "catLevel", "notes",
    ],
    "qstn": ["preQTxt", "qstnLit", "postQTxt", "forward", "backward", "ivuInstr"],
    "valrng": ["item", "range", "key", "notes"],
    "catgry": ["catValu", "labl", "txt", "catStat", "mrow"],
}  # fmt: skip
REQUIRED = {"codeBook": ["stdyDscr"], "stdyDscr": ["citation"], "citation": ["titlStmt"], "titlStmt": ["titl"]}
ATTRIBUTES = {
    "var": {"ID", "name", "files", "nature"},
    "codeBook": {"version"},
    "fileDscr": {"ID"},
    "collDate": {"date", "event"},
    "range": {"min", "max"},
    "varFormat": {"type", "schema", "category"},
}


def misplaced(element: ET.Element) -> list[str]:
    name, parts = _plain(element), [_plain(child) for child in element]
    allowed = CHILDREN.get(name, [])
    attributes = {key for key in element.attrib if not key.endswith("}lang")} - ATTRIBUTES.get(name, set())
    found = [f"{name} {part}" for part in parts if part not in allowed] + [f"{name} @{key}" for key in attributes]
    if not found and [allowed.index(part) for part in parts] != sorted(allowed.index(part) for part in parts):
        found.append(f"{name}: order")
    found += [f"{name} needs {part}" for part in REQUIRED.get(name, []) if part not in parts]
    return found + [problem for child in element for problem in misplaced(child)]


def _plain(element: ET.Element) -> str:
    return element.tag.removeprefix(DDI)


def test_document_is_as_the_schema_has_it(folder: Path) -> None:
    assert misplaced(ET.parse(folder / "ddi.xml").getroot()) == []  # noqa: S314


def test_misplaced_element_would_be_noticed() -> None:
    wrong = '<codeBook xmlns="ddi:codebook:2_5"><dataDscr><var name="a" x=""><txt/><labl/></var></dataDscr></codeBook>'
    assert misplaced(ET.fromstring(wrong)) == ["codeBook needs stdyDscr", "var @x"]  # noqa: S314
    late = '<var xmlns="ddi:codebook:2_5" name="a"><txt/><labl/></var>'
    assert misplaced(ET.fromstring(late)) == ["var: order"]  # noqa: S314


def test_document_tells_every_column_of_the_reports(every: Source, folder: Path) -> None:
    root = ET.parse(folder / "ddi.xml").getroot()  # noqa: S314
    variables = {each.get("name"): each for each in root.iter(f"{DDI}var")}
    questions = every.about.survey.questions

    assert list(variables) == [*every.reports.columns, "_wave", "_revision"]
    assert int(root.find(f".//{DDI}varQnty").text) == len(variables) < len(questions) + 2  # type: ignore[union-attr]
    assert {each.get("files") for each in variables.values()} == {root.find(f"{DDI}fileDscr").get("ID")}  # type: ignore[union-attr]
    where = variables["where"]
    assert [each.text for each in where.iter(f"{DDI}catValu")] == ["0", "1", "2", "3"]
    assert where.find(f"{DDI}notes").text == "Revisions 1: kary_rr, a 0.333333, b 0.222222; epsilon 0.41"  # type: ignore[union-attr]
    assert root.find(f".//{DDI}IDNo").text == every.about.survey.digest  # type: ignore[union-attr]
    assert root.find(f".//{DDI}caseQnty").text == str(len(every.reports))  # type: ignore[union-attr]
    assert root.find(f".//{DDI}titl").text == "=1+1 & <b>"  # type: ignore[union-attr]


def _of(folder: Path, asked: Survey, reports: list[tuple[int | None, ...]]) -> dict[str, ET.Element]:
    files_of(folder, (asked, reports), names=("ddi.xml",))
    root = ET.parse(folder / "ddi.xml").getroot()  # noqa: S314
    assert misplaced(root) == []
    return {str(each.get("name")): each for each in root.iter(f"{DDI}var")}


def _texts(element: ET.Element, path: str) -> list[str | None]:
    return [each.text for each in element.findall("/".join(f"{DDI}{part}" for part in path.split("/")))]


def test_default_language_comes_first_and_yes_is_said_in_each(tmp_path: Path) -> None:
    """DDIwR and dartfx-ddi read the first label only: it is in the language of the survey, whatever others it has."""
    label = {"ar": "\u063a\u0634\u0634\u062a\u061f", "de": "Gemogelt?", "en": "Cheated?"}
    kinds = [{**document()["questions"][0], "label": label}, {**document()["questions"][1], "label": label}]
    kinds[1]["choices"] = [{"name": name, "label": {"ar": "\u0623", "en": name}} for name in ("time", "fear")]
    texts = {"title": label, "description": label}
    variables = _of(tmp_path, survey(questions=kinds, **texts), [])

    assert _texts(variables["cheated"], "labl") == _texts(variables["cheated"], "qstn/qstnLit")
    assert _texts(variables["cheated"], "labl") == ["Cheated?", label["ar"], "Gemogelt?"]
    assert _texts(variables["cheated"], "catgry/labl") == [
        "No",
        "\u0644\u0627",
        "Nein",
        "Yes",
        "\u0646\u0639\u0645",
        "Ja",
    ]
    assert _texts(variables["reason"], "catgry/labl")[0] == "time"
    abstract = ET.parse(tmp_path / "ddi.xml").getroot().find(f".//{DDI}abstract")  # noqa: S314
    assert abstract.text == "Cheated?"


def test_columns_say_what_they_hold_and_of_whom(tmp_path: Path) -> None:
    """A day is a day, few is a category where the file has it, two ends are no interval, and a limit is a universe."""
    public = {"label": {"en": "Q"}, "public": True, "in_files": True}
    works = {"type": "boolean", "name": "works", **public}
    days = {"type": "integer", "name": "days", "label": {"en": "Q"}, "min": 0, "max": 30}
    kinds = [
        works,
        {"type": "date", "name": "moved", "min": "2026-01-01", "max": "2026-01-04", **public},
        {**works, "name": "likes", "absent_category": True, "visible_if": {"works": ["yes"]}},
        {**days, "name": "away", "mechanism": {"name": "rounding_rr", "a": "3/5", "b": "2/5"}, "when_absent": 0},
        {**document()["questions"][0], "arm": "protected"},
        {**works, "name": "openly", "arm": "direct"},
    ]
    arms = [{"name": "direct"}, {"name": "protected"}]
    reports = [(1, 0, 1, 0, None, 1, 0), (1, 1, 1, 0, None, 1, 0)]
    variables = _of(tmp_path, survey(questions=kinds, arms=arms), [*[reports[0]] * 20, *[reports[1]] * 3])

    limits = {name: _texts(each, "universe") for name, each in variables.items()}
    assert {name: limit[0] for name, limit in limits.items() if limit} == {
        "likes": "Asked only where works is yes.",
        "cheated": "Asked only where arm is protected.",
        "openly": "Asked only where arm is direct.",
    }
    assert "No answer counts as 0." in _texts(variables["away"], "notes")
    assert "category of no answer; shares among those who answered" in str(_texts(variables["likes"], "notes"))
    formats = {
        name: (found := each.find(f"{DDI}varFormat")) is not None and found.attrib for name, each in variables.items()
    }
    assert formats["moved"] == {"type": "character", "schema": "ISO", "category": "date"}
    assert formats["works"] == {"type": "numeric"}
    assert [name for name, each in variables.items() if "few" in _texts(each, "catgry/labl")] == ["moved"]
    assert variables["away"].get("nature") == "ordinal"
    assert variables["moved"].get("nature") == "interval"


def test_letters_that_xml_does_not_have_are_replaced(tmp_path: Path) -> None:
    """U+FFFE and U+FFFF, which a survey may hold, would make a file that no program opens."""
    asked = survey(questions=[{**document()["questions"][1], "label": {"en": "Why\ufffe \uffff?"}}])
    files_of(tmp_path, (asked, []), names=("ddi.xml",))

    root = ET.parse(tmp_path / "ddi.xml").getroot()  # noqa: S314
    assert root.find(f".//{DDI}qstnLit").text == "Why\ufffd \ufffd?"  # type: ignore[union-attr]
