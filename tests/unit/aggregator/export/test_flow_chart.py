import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sottovoce.aggregator.authoring.invitation_texts import ethics
from sottovoce.aggregator.export.flow_chart import THICK, direct_sentences, flow_chart
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import Document, question, survey
from tests.exported import files_of
from tests.vectors.arms import COIN, asks, drawn_arms, three_arms, two_arms

SVG = "{http://www.w3.org/2000/svg}"


def drawn(document: Document, language: str = "en") -> str:
    return flow_chart(parse_survey(document), Words(language), "en")


def picture(html: str, narrow: bool = False) -> ElementTree.Element:
    found = html.partition(' class="flow narrow"')[2] if narrow else html.partition(' class="flow"')[2]
    return ElementTree.fromstring(f"<svg{found.partition('</svg>')[0]}</svg>")  # noqa: S314 - ours


def text(html: str) -> str:
    return unescape(re.sub("<[^>]+>", " ", html)).replace("\n", " ")


def test_board_sees_that_half_of_the_people_admit_in_clear() -> None:
    html = drawn(two_arms())
    _, direct, protected = html[html.index("<details") :].split("<ul>")

    assert "50% of the people, the group “direct”, are asked directly" in text(html)
    assert "questions 2" in text(html)
    assert "2. cheated_direct. Sent as given, without protection" in direct
    assert "cheated_direct" not in protected
    assert "3. cheated. Randomized on the device before it is sent" in protected
    for drawing in (picture(html), picture(html, narrow=True)):
        clear = [each for each in drawing.iter(f"{SVG}rect") if each.get("stroke-width") == str(THICK)]
        assert len(clear) == 1
    # Half as wide again as a phone's page would hide what the other half is asked.
    assert int(picture(html, narrow=True).get("width", "")) <= 344


@pytest.mark.parametrize(("key", "told"), [
    ("visible_if", "Only after Drinks? – Wine: o1; Year?: 2–4. No answer counts as No."),
    ("any_of", "Only after one of Drinks? – Wine: o1; Year?: 2–4. No answer counts as No."),
])  # fmt: skip
def test_methods_codebook_and_ethics_text_say_who_is_asked_and_as_what_others_count(
    key: str, told: str, tmp_path: Path
) -> None:
    """Of the row of a grid and of a number, by their texts: there is no number to go by."""
    choices = [{"name": name, "label": {"en": name}} for name in ("o0", "o1")]
    rows = [{"name": name, "label": {"en": name.title()}} for name in ("beer", "wine")]
    grid = {"type": "matrix", "name": "drinks", "label": {"en": "Drinks?"}, "rows": rows,
            "of": {"type": "select_one", "choices": choices, "public": True}}  # fmt: skip
    year = {"type": "integer", "name": "year", "label": {"en": "Year?"}, "min": "1", "max": "4", "public": True}
    on = {key: {"drinks_wine": "o1", "year": {"min": "2", "max": "4"}}, "when_absent": "no"}
    asked = parse_survey(survey(grid, year, question(COIN, **on)))
    files_of(tmp_path, (asked, [(0, 1, 2, 1)]), names=["methods.md", "codebook.html"])

    for file in ("methods.md", "codebook.html"):
        assert told in " ".join(text((tmp_path / file).read_text(encoding="utf-8")).split())
    assert told in ethics(asked, "en")


@pytest.mark.parametrize("document", [two_arms(), three_arms(), drawn_arms()], ids=["two", "three", "drawn"])
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("language", LANGUAGES)
def test_boxes_hold_their_lines_and_never_overlap(document: Document, language: str, narrow: bool) -> None:
    """Each box is within the picture, and below the boxes that stand above it in its columns; so is each line."""
    drawing = picture(drawn(document, language), narrow)
    width, height = (int(drawing.get(key, "")) for key in ("width", "height"))
    boxes = [tuple(int(each.get(key, "")) for key in ("x", "y", "width", "height"))
             for each in drawing.iter(f"{SVG}rect") if not each.get("stroke-dasharray")]  # fmt: skip
    for place, (x, y, wide, high) in enumerate(boxes):
        assert 0 <= x < x + wide <= width
        assert 0 <= y < y + high <= height
        for other in boxes[:place]:
            beside = x >= other[0] + other[2] or other[0] >= x + wide
            assert beside or y >= other[1] + other[3] or other[1] >= y + high
    for line in drawing.iter(f"{SVG}text"):
        assert 0 < int(line.get("x", "")) < width
        assert 0 < int(line.get("y", "")) < height


def test_conditions_and_blocks_are_said() -> None:
    html = text(drawn(three_arms()))
    assert re.search(r"Only after \d: 10–1000000", html)
    assert "Answers that are randomized together" in html
    either = survey(
        question(COIN, name="a"), question(COIN, name="b"),
        {**asks("c", mechanism=COIN, when_absent="no"), "any_of": {"a": "yes", "b": ["yes", "no"]}},
    )  # fmt: skip
    assert "Only after one of 1: Yes; 2: No / Yes" in text(drawn(either))


def test_condition_on_a_row_of_a_grid_names_the_row() -> None:
    """The number of the grid alone would leave open which of its rows decides."""
    rows = [{"name": name, "label": {"en": label}} for name, label in (("a", "Sat exams"), ("b", "Wrote"))]
    clear = {"type": "boolean", "public": True}
    grid = {"type": "matrix", "name": "grid", "label": {"en": "This year?"}, "rows": rows, "of": clear}
    asked = question(COIN, when_absent="no", visible_if={"grid_b": ["yes"]})

    assert "Only after 1, Wrote: Yes" in text(drawn(survey(grid, asked)))


def test_right_to_left_puts_the_first_group_at_the_right() -> None:
    boxes = {language: [int(each.get("x", "")) for each in picture(drawn(two_arms(), language)).iter(f"{SVG}rect")]
             for language in ("en", "ar")}  # fmt: skip
    assert boxes["en"][1] < boxes["en"][2]
    assert boxes["ar"][1] > boxes["ar"][2]


def test_text_of_an_application_names_what_is_sent_in_clear() -> None:
    """In words, since it has no picture."""
    survey_of_arms = parse_survey(two_arms())
    told = direct_sentences(survey_of_arms, Words("en"), "en")
    assert told == ["50% of the people, the group “direct”, are asked directly: what they admit is sent in clear "
                    "(questions “cheated_direct”)."]  # fmt: skip
    assert told[0] in ethics(survey_of_arms, "en")


def test_survey_that_all_pass_alike_has_no_picture() -> None:
    """A list of its questions says as much."""
    assert drawn(survey(question(COIN, name="a"))) == ""


def test_texts_of_a_survey_are_no_markup() -> None:
    evil = two_arms()
    evil["questions"][0]["label"] = {"en": "<script>alert(1)</script>"}
    assert "<script" not in drawn(evil)


def test_long_texts_are_wrapped_and_shortened() -> None:
    for label in ("very " * 200, "很" * 400):
        long = two_arms()
        long["questions"][1]["label"] = {"en": label}
        lines = [each.text or "" for each in picture(drawn(long)).iter(f"{SVG}text")]
        assert max(map(len, lines)) <= 70
        assert not any("很" * 21 in line for line in lines)
