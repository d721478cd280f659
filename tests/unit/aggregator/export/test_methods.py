"""The paragraph for the paper, with the mathematics of each mechanism."""

from pathlib import Path

from sottovoce.aggregator.export.catalogue import Source


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
