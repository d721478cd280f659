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
from tests.property.test_channels import BLOCKS
from tests.vectors.cases import bad_changes
from tests.vectors.tape import Tape

COIN = {"name": "coin_flip"}


def asks(name: str, kind: str = "boolean", **more: Any) -> Document:
    return {"type": kind, "name": name, "label": {"en": name}, **more}


def block(name: str, odds: str, radius: int, *items: Document) -> Document:
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
    """Reports, laws, and the changes of the second survey that must be refused."""
    made = [parse_survey(each) for each in surveys()]
    return {
        "reports": [_reports(each) for each in made],
        "laws": _laws(),
        "bad_changes": bad_changes("blocks.json", made[1].canonical.decode()),
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
