"""The DDI document against the published schema, codebook.xsd of DDI-Codebook 2.5.1.

The schema itself is no part of this project. ``CHILDREN`` was read off it by hand, for the elements used here: which
may stand in which, and in what order; ``REQUIRED`` what each must have. On 2026-11-29 libxml2 found the document of
``folder`` valid against the schema of 2012-01-17, version 2.5. That archives' own checks pass is not shown.
"""

from pathlib import Path
from xml.etree import ElementTree as ET

from sottovoce.aggregator.export.catalogue import SINGLE, Source

from tests.exported import TODAY, published, source
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
    "varFormat": {"type"},
}


def misplaced(element: ET.Element) -> list[str]:
    """What may not stand where it does, is not in its order, or is missing."""
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
    """Every element in its place and order."""
    assert misplaced(ET.parse(folder / "ddi.xml").getroot()) == []  # noqa: S314


def test_misplaced_element_would_be_noticed() -> None:
    """Another order, an element of nowhere, a variable's label after its text, a missing title."""
    wrong = '<codeBook xmlns="ddi:codebook:2_5"><dataDscr><var name="a" x=""><txt/><labl/></var></dataDscr></codeBook>'
    assert misplaced(ET.fromstring(wrong)) == ["codeBook needs stdyDscr", "var @x"]  # noqa: S314
    late = '<var xmlns="ddi:codebook:2_5" name="a"><txt/><labl/></var>'
    assert misplaced(ET.fromstring(late)) == ["var: order"]  # noqa: S314


def test_document_tells_every_column_of_the_reports(every: Source, folder: Path) -> None:
    """Question, range, labels and channel; references lead somewhere, and languages are named."""
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


def test_letters_that_xml_does_not_have_are_replaced(tmp_path: Path) -> None:
    """U+FFFE and U+FFFF, which a survey may hold, would make a file that no program opens."""
    asked = survey(questions=[{**document()["questions"][1], "label": {"en": "Why\ufffe \uffff?"}}])
    storage = published(tmp_path, asked)
    storage.close_survey("exam", TODAY)
    SINGLE["ddi.xml"](source(storage, asked), tmp_path / "ddi.xml")
    storage.close()

    root = ET.parse(tmp_path / "ddi.xml").getroot()  # noqa: S314
    assert root.find(f".//{DDI}qstnLit").text == "Why\ufffd \ufffd?"  # type: ignore[union-attr]
