"""The paragraph for the paper, with the mathematics of each mechanism."""

from pathlib import Path

from sottovoce.aggregator.authoring.templates import template_file
from sottovoce.aggregator.export.catalogue import Source, estimated_in_words, protection_in_words
from sottovoce.aggregator.surveys.survey_file import read_survey_file

from tests.surveys import survey


def test_methods_tell_figures_channels_and_sources(every: Source, folder: Path) -> None:
    """The numbers of this survey, and each mechanism's page of mathematics once."""
    text = (folder / "methods.md").read_text(encoding="utf-8")

    assert "300 reports were counted and 0 were withdrawn" in " ".join(text.split())
    assert "binary_rr (yes 2/3, no 1/3), epsilon 0.70." in text
    for question in every.about.survey.questions:
        assert f"## {question.name}: " in text
        if question.mechanism is not None:
            assert text.count(f"\n## {question.mechanism.name}\n") == 1
    assert "Warner 1965 (the opposite question)" in text


def test_methods_of_a_direct_arm_claim_no_protection_for_it(tmp_path: Path) -> None:
    """What was sent as given is named, and so is the arm in which nothing is randomized."""
    file = tmp_path / "protection.yaml"
    file.write_bytes(template_file("protection"))
    text = protection_in_words(read_survey_file(file))

    assert "Answers to copied were randomized" in text
    assert "Answers to year, copied_direct, moon were sent as given, without protection" in text
    assert "Nothing is randomized in the reports of direct." in text
    assert "locally differentially private (delta = 0), whatever else is known." in text
    public = [{"type": "boolean", "name": "q", "label": {"en": "Q?"}, "public": True}]
    assert protection_in_words(survey(questions=public)) == "Every answer was sent as given; nothing was randomized."


def test_methods_claim_protection_by_a_fact_from_those_who_do_not_know_it() -> None:
    """Whoever knows the fact knows more than epsilon says."""
    example = Path(__file__).parents[4] / "shared/sottovoce/examples/mechanisms/cheater_detection.yaml"
    text = protection_in_words(read_survey_file(example))
    assert "private (delta = 0), as long as no one who sees it knows the person's facts." in text
    assert "whatever" not in text


def test_methods_correct_no_public_answers_for_noise(tmp_path: Path) -> None:
    """Of public answers only, of some, and of none."""
    file = tmp_path / "protection.yaml"
    file.write_bytes(template_file("protection"))
    label = {"label": {"en": "Q?"}}
    public = [{"type": "boolean", "name": "q", "public": True, **label}]
    private = [{"type": "boolean", "name": "q", "mechanism": {"name": "coin_flip"}, **label}]
    some = estimated_in_words(read_survey_file(file))

    assert estimated_in_words(survey(questions=public)) == (
        "Shares and means are those of the reports; 95% intervals are score intervals with continuity correction."
    )
    assert some.startswith("Shares and means of randomized answers were estimated without bias from the counts")
    assert some.endswith("Those of answers sent as given are shares and means of the reports.")
    assert estimated_in_words(survey(questions=private)).endswith("carried over to the true share.")
