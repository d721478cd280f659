"""Vectors of random arms: surveys, the arm that bytes draw, answers and reports; and texts that are no survey."""

from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.client.question_sample import draw_arm, draw_asked
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import dump_report, report_length
from sottovoce.shared.spec import Survey

from tests.documents import Document, names, question, survey
from tests.vectors.cases import bad_changes
from tests.vectors.tape import Tape

COIN = {"name": "coin_flip"}


def arms(*weights: int) -> list[Document]:
    """Arms with these weights: direct, protected, third, ..."""
    named = ("direct", "protected", "third", "fourth")
    return [{"name": name, "weight": weight} for name, weight in zip(named, weights, strict=False)]


def asks(name: str, arm: object = None, kind: str = "boolean", **more: Any) -> Document:
    """An item of these arms; None for all."""
    return {"type": kind, "name": name, "label": {"en": name}, **({} if arm is None else {"arm": arm}), **more}


def two_arms(**more: Any) -> Document:
    """The experiment of most papers: asked directly, or with protection; one question is for both."""
    return survey(
        asks("year", kind="select_one", choices=names(3), public=True),
        asks("cheated_direct", "direct", public=True),
        asks("cheated", "protected", mechanism=COIN),
        arms=arms(1, 1),
        **more,
    )


def three_arms() -> Document:
    """Unequal weights, a note, a matrix, a block for all, a condition, values of other lengths, texts by arm, waves."""
    coins = {"type": "boolean", "mechanism": {"name": "kary_rr", "odds": "3"}, "absent_category": True}
    pair = {
        "block": "two",
        "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
        "items": [asks("a"), asks("b")],
    }
    months = [{"opens": f"2026-0{month}-01T00:00:00Z", "closes": f"2026-0{month + 1}-01T00:00:00Z"} for month in (1, 2)]
    return survey(
        asks("story", ["direct", "third"], "note"),
        asks("income", "third", "integer", min=0, max=1_000_000, public=True),
        {**asks("rows", ["direct", "protected"], "matrix"), "rows": names(2, "r"), "of": coins},
        pair,
        {**question(COIN), "name": "more", "arm": "third", "when_absent": "no", "visible_if": {"income": {"min": 10}}},
        arms=arms(1, 4, 2),
        waves=months,
        arms_per_wave=True,
        after={"text": {"en": "Thanks"}, "by_arm": {"third": {"en": "Thanks, third"}}},
    )


def drawn_arms() -> Document:
    """Of one arm a drawn set: two of a block, a longer and two other questions; the others are asked all they have."""
    pair = {
        "block": "two",
        "arm": ["protected"],
        "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
        "items": [asks("a"), asks("b", kind="select_one", choices=names(3))],
    }
    return survey(
        asks("year", kind="select_one", choices=names(3), public=True),
        asks("openly", "direct", public=True),
        asks("first", ["protected", "third"], mechanism=COIN),
        pair,
        asks("hours", "protected", "integer", min=0, max=20, mechanism={"epsilon": "1"}),
        asks("last", "protected", mechanism=COIN),
        arms=arms(1, 4, 2),
        ask=2,
    )


def fact_arms() -> Document:
    """One statement in two arms, as the designs of two samples have it, another in all, and conditions of a coin."""
    book = {"label": {"en": "Book?"}, "share": "1/2", "se": "3/20", "source": {"en": "S"}, "fact": "book"}
    month = {"label": {"en": "May?"}, "share": "1/12", "source": {"en": "S"}}
    return survey(
        asks("year", kind="select_one", choices=names(3), public=True),
        asks("seldom", "direct", procedure="unrelated_question", innocuous={**book, "truth": "1/3"}),
        asks("mostly", "protected", procedure="unrelated_question", innocuous={**book, "truth": "2/3"}),
        asks("born", procedure="crosswise", innocuous=month),
        asks(
            "more", "third", mechanism=COIN, when_absent="no", visible_if={"year": "c1"}, any_of={"year": ["c0", "c1"]}
        ),
        arms=arms(2, 1, 1),
    )


def arm_vectors() -> dict[str, Any]:
    """Reports, and the changes of the second survey that must be refused."""
    made = [parse_survey(each) for each in (two_arms(), three_arms(), drawn_arms(), fact_arms())]
    return {
        "reports": [_reports(each) for each in made],
        "bad_changes": bad_changes("arms.json", made[1].canonical.decode()),
    }


def _reports(asked: Survey) -> dict[str, Any]:
    drawn = []
    for index in range(8):
        before, tape = Tape(f"arm {asked.digest} {index}"), Tape(f"arms {asked.digest} {index}")
        arm = draw_arm(asked, Draws(before))
        answers = {each.name: _answer(each, index * 5 + at * 3) for at, each in enumerate(asked.questions)}
        answers[ARM] = asked.arms[arm].name
        places = draw_asked(asked, Draws(before), arm)
        values = encode(asked, answers, places)
        body = dump_report(randomize(asked, values, Draws(tape)), asked).decode()
        drawn.append({"answers": answers, "asked": list(places), "bytes_before": before.taken.hex(), "values": values,
                      "bytes": tape.taken.hex(), "body": body})  # fmt: skip
    head = {"survey": asked.canonical.decode(), "digest": asked.digest, "epsilon": asked.epsilon}
    return {**head, "length": report_length(asked, 0), "drawn": drawn}


def _answer(asked: Any, turn: int) -> str:
    if asked.domain.grid is not None:
        return str(turn % 20)
    return str(asked.options[turn % (len(asked.options) - asked.domain.absent)])
