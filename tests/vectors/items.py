"""Vectors of what is shown but not simply asked: absence, conditions, matrices, coins of one's own."""

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.by_hand.own_coin import procedure
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Survey

from tests.absences import COIN, FULL, absences, asks, either
from tests.documents import names, survey
from tests.vectors.cases import bad_changes
from tests.vectors.tape import taped

CHANGES: list[dict[str, Any]] = [
    {}, {"smokes": "no"}, {"smokes": None}, {"brand": "c1"}, {"brand": None}, {"age": "1"}, {"age": "4"},
    {"age": None}, {"adult": "no"}, {"which": []}, {"which": None, "place": None}, {"often_r1": None},
]  # fmt: skip


def own_coin_survey() -> Survey:
    warner = {"type": "boolean", "mechanism": {"name": "warner", "truth": "2/3"}}
    return parse_survey(
        survey(
            asks("boolean", "q", mechanism=COIN),
            asks("matrix", "m", rows=names(2, "r"), of=warner),
            privacy={"procedure": "own_coin"},
            report_labels="neutral",
        )
    )


def screened() -> Survey:
    """A survey with another end for people whom it is not for."""
    when = {"student": "no", "terms": {"max": "3"}, "which": ["c0", "c2"]}
    terms = asks("integer", "terms", public=True, min=0, max=9)
    which = asks("select_one", "which", public=True, choices=names(3))
    link = "https://h.example/out"
    return parse_survey(
        survey(
            asks("boolean", "student", public=True), terms, which, asks("boolean", "smokes", mechanism=COIN),
            after={"text": {"en": "Thank you."}, "screen_out": {"when": when, "link": link, "links": {"a": link}}},
        )
    )  # fmt: skip


def item_vectors() -> dict[str, Any]:
    """Surveys with answers, true values, bytes and reports; and texts that both clients must refuse."""
    answers = [{**FULL, **changed} for changed in CHANGES]
    coins = [{"q": q, "m_r0": m, "m_r1": "no"} for q in ("yes", "no") for m in ("yes", "no")]
    reports = [
        _reports(absences(), [*answers, {"adult": "yes"}]),
        _reports(own_coin_survey(), coins),
        _reports(either(), [*any_answers()]),
        _reports(screened(), [{"student": "no", "terms": "2", "which": "c2", "smokes": "yes"}]),
    ]
    return {
        "reports": reports,
        "bad_answers": _bad_answers(),
        "bad_changes": bad_changes("items.json", absences().canonical.decode()),
        "bad_surveys": list(_bad_surveys()),
    }


def any_answers() -> Iterator[dict[str, Any]]:
    """Every way to answer what the others hang on; the others with yes wherever they are shown."""
    for adult, smokes, drinks in product(("no", "yes"), ("no", "yes", None), ("no", "yes", None)):
        yield {"adult": adult, "smokes": smokes, "drinks": drinks, "help": "yes", "paid": "yes"}


def procedure_vectors() -> list[dict[str, Any]]:
    """Every channel with a denominator up to 12, and its procedure; null where there is none."""
    channels = sorted(
        {(Fraction(a, d), Fraction(b, d)) for d in range(2, 13) for a in range(2, d) for b in range(1, a)}
    )
    vectors = []
    for a, b in channels:
        made = procedure(BinaryRR(a, b))
        told = None if made is None else {"flips": made.flips, "parts": [[p.action, [*p.outcomes]] for p in made.parts]}
        vectors.append({"a": str(a), "b": str(b), "procedure": told})
    return vectors


def _reports(asked: Survey, answers: list[dict[str, Any]]) -> dict[str, Any]:
    drawn = []
    for index, given in enumerate(answers):
        tape, draws = taped(f"items {asked.digest} {index}")
        values = encode(asked, given)
        body = dump_report(randomize(asked, values, draws), asked).decode()
        true = [list(value) if isinstance(value, tuple) else value for value in values]
        drawn.append({"answers": given, "values": true, "bytes": tape.taken.hex(), "body": body})
    head = {"survey": asked.canonical.decode(), "digest": asked.digest, "epsilon": asked.epsilon}
    return {**head, "labels": [question.label for question in asked.questions], "drawn": drawn}


def _bad_answers() -> list[dict[str, Any]]:
    wrong = [{"adult": None}, {"smokes": "absent"}, {"welcome": True}, {"often": "c0"}, {"spent_home": ""}]
    return [{}, *({**FULL, **each} for each in wrong)]


def _bad_ends() -> Iterator[str]:
    """Surveys that lead people elsewhere in a way that they must not."""
    good = screened().canonical.decode()
    when = '"when":{"student":["no"],"terms":{"max":"3","min":"0"},"which":["c0","c2"]}'
    assert when in good
    for other in (
        "{}", '{"smokes":["yes"]}', '{"smokes":["yes"],"student":["no"]}', '{"student":[]}', '{"else":["no"]}',
        '{"student":"no"}', '{"terms":{"max":"3"}}', '["student"]',
    ):  # fmt: skip
        yield good.replace(when, f'"when":{other}')
    yield good.replace(f",{when}", "")
    yield good.replace(when, f'{when},"wrong":"x"')
    yield good.replace('"screen_out":{"link":"https', '"screen_out":{"link":"http')


def _bad_surveys() -> Iterator[str]:
    """Canonical surveys of a few questions with one thing changed."""
    public = survey(asks("boolean", "p", mechanism=COIN), asks("boolean", "q", public=True, when_absent="no"))
    text = parse_survey(public).canonical.decode()
    yield text.replace('"when_absent":"no"', '"visible_if":{"p":["yes"]},"when_absent":"no"')
    yield text.replace('"label":{"en":"Q"}', '"any_of":{"p":["yes"]},"label":{"en":"Q"}')
    some = either().canonical.decode()
    yield some.replace('"any_of":{"drinks":["yes"],"smokes":["yes"]}', '"any_of":{}')
    link = '"link":"https://help.example.org/talk?from=survey#now"'
    for other in ("http://h.example/", "https://h.example/{id}", "https://a@b.example/", "javascript:alert(1)", ""):
        yield some.replace(link, f'"link":"{other}"')
    yield some.replace(link, f'{link},"lost":"x"')
    for links in ("{}", '{"A":"https://h.example/"}', '{"a":"http://h.example/"}', "[]", "null", '"a"', "true"):
        yield some.replace(link, f'{link},"links":{links}')
    six = ",".join(f'"l{number}":"https://h.example/"' for number in range(6))
    yield some.replace(link, f'{link},"links":{{{six}}}')
    yield some.replace('"after":{' + link + ',"text":{"de":"Reden?","en":"Need to talk?"}}', '"after":{}')
    yield some.replace('"text":{"de":"Reden?","en":"Need to talk?"}', '"text":{"de":"Reden?"}')
    yield some.replace('"any_of":{"drinks":["yes"],"smokes":["yes"]}', '"any_of":[{"smokes":["yes"]}]')
    yield some.replace('"any_of":{"drinks":["yes"],"smokes":["yes"]}', '"any_of":{"help":["yes"]}')
    yield from _bad_ends()

    absent = parse_survey(survey(asks("boolean", "q", mechanism={"epsilon": "1"}, absent_category=True)))
    coin = json.dumps(absent.document["questions"][0]["mechanism"], sort_keys=True, separators=(",", ":"))
    yield absent.canonical.decode().replace(coin, '{"a":"3/4","b":"1/4","name":"binary_rr"}')
    own = own_coin_survey().canonical.decode()
    yield own.replace('"3/4"', '"3/5"')
    yield own.replace('"type":"boolean"}', '"type":"boolean","when_absent":"no"}', 1)
