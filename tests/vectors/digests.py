"""Surveys whose digests are recorded: a key added later must change none of them."""

from collections.abc import Iterator
from importlib.resources import files

from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.parse_survey import parse_survey

from tests import surveys
from tests.absences import absences
from tests.documents import survey
from tests.vectors.cases import ANSWERS, GOOD


def digest_vectors() -> dict[str, str]:
    """The first half of each digest, as a link carries it, by where the survey stands."""
    return {where: parse_survey(document).digest[:32] for where, document in _documents()}


def _documents() -> Iterator[tuple[str, object]]:
    """Those of ``surveys.json`` and ``items.json`` are recorded beside their reports."""
    for name, cases in GOOD.items():
        for index, (asked, _) in enumerate(cases):
            yield f"cases.GOOD {name} {index}", survey(asked)
    for index, (asked, _, _) in enumerate(ANSWERS):
        yield f"cases.ANSWERS {index}", survey(asked)
    for file in ("survey.yaml", "sample.yaml"):
        yield f"demo {file}", parse_yaml(files("sottovoce.demo").joinpath(file).read_bytes())
    yield "tests.surveys", surveys.document()
    for asked in surveys.every_type():
        waves = {"waves": surveys.months(2)} if asked["name"] == "again" else {}
        yield f"tests.surveys {asked['name']}", survey(asked, **waves)
    yield "tests.absences", absences(report_labels="neutral").document
