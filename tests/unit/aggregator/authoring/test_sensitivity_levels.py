"""A scale is made from its two ends and their labels, and is read back from its options."""

from dataclasses import replace

import pytest
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures
from sottovoce.aggregator.authoring.draft import DraftItem, empty_draft
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.sensitivity_levels import NEW, Scale, posted_scale, scale_of, typed_ends
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.studio.design.page import posted_draft
from sottovoce.shared.errors import SpecError

TAGS = ("en", "de")
MOOD = Scale(1, 5, {"en": "bad", "de": "schlecht"}, {"en": "good", "de": ""})


def test_scale_is_its_options_and_they_are_the_scale() -> None:
    """Named as their numbers, so that SPSS and Stata have these codes; only the ends have words."""
    found = MOOD.choices(TAGS)
    assert [each["name"] for each in found] == ["1", "2", "3", "4", "5"]
    assert found[0]["label"] == {"en": "1 = bad", "de": "1 = schlecht"}
    assert (found[2]["label"], found[4]["label"]) == ({"en": "3", "de": "3"}, {"en": "5 = good", "de": "5"})
    assert scale_of(found, TAGS) == MOOD
    assert scale_of([{**each, "name": f"o{each['name']}"} for each in found], TAGS) is None
    assert scale_of(found[:1], TAGS) is None
    assert scale_of([*found[:2], *found[3:]], TAGS) is None


@pytest.mark.parametrize(
    "ends", [("", "5"), ("5", "5"), ("5", "1"), ("0", "21"), ("a", "5"), ("-1", "5"), ("0", "9999")]
)
def test_half_typed_ends_leave_the_former_ones_and_keep_the_labels(ends: tuple[str, str]) -> None:
    """What was typed is known, to be told of; a card without a scale has none."""
    form = {"q0.first": ends[0], "q0.last": ends[1], "q0.low.en": "awful", "q0.high.de": "gut"}
    kept = Scale(1, 5, {"en": "awful", "de": ""}, {"en": "", "de": "gut"}, ends)
    assert posted_scale(form, "q0", TAGS, MOOD) == kept
    assert posted_scale(form, "q0", TAGS, None) is None
    assert posted_scale({}, "q0", TAGS, MOOD) is None


def test_scale_is_added_and_typed_on_the_page() -> None:
    """By one button and four fields; then each option may be written by itself."""
    draft = change(empty_draft("Life", "en"), "add:scale")
    assert scale_of(draft.cards[0].treated["choices"], ("en",)) == Scale(0, 10, {"en": ""}, {"en": ""})
    # Models take a rating as a number, and Results have its mean.
    assert draft.cards[0].type == "rating"
    form = {"q0.label.en": "How well?", "q0.first": "1", "q0.last": "4", "q0.low.en": "badly", "q0.high.en": "well"}
    typed = posted_draft(form, draft)
    labels = [each["label"]["en"] for each in typed.cards[0].treated["choices"]]
    assert labels == ["1 = badly", "2", "3", "4 = well"]
    assert survey_of_draft(typed, "life").questions[0].options[:4] == ("1", "2", "3", "4")
    off = change(typed, "scale:0:off")
    assert [each["name"] for each in off.cards[0].treated["choices"]] == ["o1", "o2", "o3", "o4"]
    assert [each["label"]["en"] for each in off.cards[0].treated["choices"]] == labels
    assert change(off, "scale:0").cards[0].treated["choices"] == NEW.choices(("en",))
    assert change(change(empty_draft("Life", "en"), "add:select_one"), "scale:0").cards[0].type == "rating"


@pytest.mark.parametrize("ends", [("4", "1"), ("", "4"), ("0", "21"), ("1.5", "4"), ("a", "b")])
def test_impossible_ends_are_told_of_and_shown_again(ends: tuple[str, str]) -> None:
    """Until they are mended nothing is published; the former scale holds meanwhile, and each button keeps it."""
    draft = change(empty_draft("Life", "en"), "add:scale")
    form = {"q0.label.en": "How well?", "q0.first": "1", "q0.last": "4", "q0.low.en": "badly", "q0.high.en": "well"}
    typed = posted_draft({**form, "q0.first": ends[0], "q0.last": ends[1]}, posted_draft(form, draft))
    problem = next(each for each in problems_of(typed, "life") if each.grave and each.place.card == 0)

    assert (problem.key, problem.place.field, problem.values) == ("bad_scale", "q0.first", {"most": 21})
    assert typed.cards[0].treated["ends"].split("\n") == [*ends]
    assert scale_of(typed.cards[0].treated["choices"], ("en",)) == Scale(1, 4, {"en": "badly"}, {"en": "well"})
    with pytest.raises(SpecError):
        survey_of_draft(typed, "life")
    for mended in (posted_draft(form, typed), change(typed, "scale:0:off"), change(typed, "scale:0")):
        assert not any(each.key == "bad_scale" for each in problems_of(mended, "life"))
    assert posted_draft({**form, "q0.type": "boolean"}, typed).cards[0].treated.get("ends") is None


def test_saving_adds_nothing_to_a_scale_whose_ends_are_right() -> None:
    """Also in a matrix: else a save without a change would be a new version, and a correction would name it."""
    assert [*map(typed_ends, ({"ends": 5}, {"ends": ["1", "5"]}, {"ends": "5"}, {"ends": "5\n1"}))][:3] == [()] * 3
    scale = {"type": "rating", "choices": NEW.choices(("en",))}
    rows = [{"name": name, "label": {"en": name}} for name in "ab"]
    for asked in (scale, {"type": "matrix", "rows": rows, "of": scale}):
        begun = replace(empty_draft("Life", "en"), cards=(DraftItem({"name": "q", "label": {"en": "How?"}, **asked}),))
        saved = posted_draft({"q0.type": "rating", "q0.first": "0", "q0.last": "10"}, begun)
        wrong = posted_draft({"q0.type": "rating", "q0.first": "10", "q0.last": "0"}, begun)
        assert {**saved.cards[0].treated} == {**begun.cards[0].treated}
        assert {*wrong.cards[0].treated} - {*saved.cards[0].treated} == {"ends"}
        assert DraftFigures(wrong).totals == DraftFigures(saved).totals
        assert "ends" not in change(wrong, "scale:0").cards[0].treated
