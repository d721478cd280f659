"""Vectors of blocks: surveys, answers, bytes and reports; laws to be enumerated; and texts that are no survey."""

from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.client.question_sample import draw_asked
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import dump_report, report_length
from sottovoce.shared.spec import Survey

from tests.documents import Document, names, question, survey
from tests.property.test_blocks import BLOCKS
from tests.vectors.tape import Tape

COIN = {"name": "coin_flip"}


def asks(name: str, kind: str = "boolean", **more: Any) -> Document:
    """A question without a mechanism."""
    return {"type": kind, "name": name, "label": {"en": name}, **more}


def block(name: str, odds: str, radius: int, *items: Document) -> Document:
    """A block of these questions."""
    return {"block": name, "mechanism": {"name": "joint_rr", "odds": odds, "radius": radius}, "items": list(items)}


def pair() -> Document:
    """A yes/no question, and one that may be hidden, have no answer, or hang on the first."""
    hidden = asks("b", "select_one", choices=names(3), absent_category=True, visible_if={"a": "yes"})
    return block("two", "9", 0, asks("a"), hidden)


def surveys() -> list[Document]:
    """A block alone, among others with a matrix in it, two of them, as one of what is drawn, and drawn from."""
    coin = {**question(COIN), "name": "coin"}
    rows = {**asks("m", "matrix", rows=names(2, "r")), "of": {"type": "rating", "choices": names(4)}}
    after = {**question(COIN), "name": "after", "when_absent": "no", "visible_if": {"a": "yes"}}
    public = asks("z", public=True)
    many = block("many", "20", 1, *(asks(f"q{index}", when_absent="no") for index in range(5)))
    whole = block("rows", "5/2", 1, asks("first"), rows)
    return [survey(pair()), survey(coin, pair(), after, public, report_labels="neutral"), survey(many, whole),
            survey(coin, many, public, whole, ask=2),
            survey({**many, "ask": 3}, public),
            survey(coin, {**block("few", "9", 0, asks("first"), asks("second"), asks("third")), "ask": 2}, public,
                   {**many, "ask": 4})]  # fmt: skip


def block_vectors() -> dict[str, Any]:
    """Reports, laws, and what must be refused."""
    return {
        "reports": [_reports(parse_survey(each)) for each in surveys()],
        "laws": _laws(),
        "bad_changes": BAD_CHANGES,
    }


def _laws() -> list[dict[str, Any]]:
    made = [JointRR(*given) for given in BLOCKS]
    return [{**each.dump(), "sizes": each.sizes, "ask": each.ask, "weights": each.weights, "counts": each.counts,
             "epsilon": each.epsilon, "marginal": [str(chance) for chance in each.marginal(0)]}
            for each in made]  # fmt: skip


def _reports(asked: Survey) -> dict[str, Any]:
    drawn = []
    for index in range(6):
        before, tape = Tape(f"asked {asked.digest} {index}"), Tape(f"blocks {asked.digest} {index}")
        places = draw_asked(asked, Draws(before))
        answers = {each.name: each.options[(index * 5 + at * 3) % (len(each.options) - each.domain.absent)]
                   for at, each in enumerate(asked.questions)}  # fmt: skip
        values = encode(asked, answers, places)
        body = dump_report(randomize(asked, values, Draws(tape)), asked).decode()
        drawn.append({"answers": answers, "asked": list(places), "bytes_before": before.taken.hex(), "values": values,
                      "bytes": tape.taken.hex(), "body": body})  # fmt: skip
    head = {"survey": asked.canonical.decode(), "digest": asked.digest, "epsilon": asked.epsilon}
    return {**head, "wave_epsilon": asked.epsilon_of_wave, "length": report_length(asked, 0), "drawn": drawn}


BAD_CHANGES: list[tuple[str, str]] = [
    ('"block":"two"', '"ask":1,"block":"two"'),
    ('"block":"two"', '"ask":2,"block":"two"'),
    ('"block":"two"', '"ask":null,"block":"two"'),
    ('"odds":"9"', '"odds":"1"'),
    ('"odds":"9"', '"odds":"18/2"'),
    ('"odds":"9"', '"odds":9'),
    ('"odds":"9"', '"odds":"4294967295"'),
    ('"odds":"9","radius":0', '"epsilon":"2.2"'),
    ('"radius":0', '"radius":2'),
    ('"radius":0', '"radius":-1'),
    ('"radius":0', '"radius":"0"'),
    ('"radius":0', '"radius":0,"size":2'),
    ('"name":"joint_rr"', '"name":"kary_rr"'),
    ('"block":"two"', '"block":"a"'),
    ('"block":"two"', '"block":"coin"'),
    ('"block":"two"', '"block":"Two"'),
    ('"block":"two"', '"block":"two","label":{"en":"T"}'),
    ('{"label":{"en":"a"},"name":"a","type":"boolean"},', ""),
    ('"name":"a","type":"boolean"', '"name":"a","public":true,"type":"boolean"'),
    ('"name":"a","type":"boolean"', '"mechanism":{"a":"3/4","b":"1/4","name":"binary_rr"},"name":"a","type":"boolean"'),
    ('"name":"a","type":"boolean"', '"max":"1","min":"0","name":"a","step":"1","type":"integer"'),
    ('"name":"a","type":"boolean"', '"name":"a","type":"note"'),
    ('"name":"a","type":"boolean"', '"name":"b","type":"boolean"'),
    ('"label":{"en":"a"},"name":"a"', '"anchor":true,"known_share":"1/10","label":{"en":"a"},"name":"a"'),
    ('"name":"a","type":"boolean"', '"block":"c","name":"a","type":"boolean"'),
    ('"visible_if":{"a":["yes"]}}],', '"visible_if":{"z":["yes"]}}],'),
    ('"visible_if":{"a":["yes"]}}],', '"visible_if":{"b":["c0"]}}],'),
    ('"procedure":"device"', '"procedure":"own_coin"'),
    ('"public":true', '"public":true,"visible_if":{"a":["yes"]},"when_absent":"no"'),
]
"""In the second survey, the first of each pair once replaced by the second makes what must be refused."""
