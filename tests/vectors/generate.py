"""Writes the test vectors under ``shared/sottovoce/shared/vectors``, and what of the survey's JSON Schema follows from
the registries: ``python -m tests.vectors.generate``.

Only ``bad.json`` of a mechanism and each list ``bad_changes`` are written by hand; all else is generated, and a change
is a visible, argued diff. Random bytes are SHA-256(seed || counter), so anyone can make them again. Expected estimates
are computed here from the closed formulas with 50-digit decimals, not by the product.
"""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.client.memo import draw_memo
from sottovoce.client.question_sample import draw_asked
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared import canonical
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE, NEARLY_SURE, report_epsilon, waves_epsilon
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.rational import dump_decimal
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Question

from tests.documents import names, number, one_of, question, some_of, survey, vector as vector_of
from tests.vectors.arms import arm_vectors, fact_arms
from tests.vectors.blind_signatures import blind_vectors
from tests.vectors.blocks import block_vectors
from tests.vectors.cases import ANSWERS, FOLDER, GOOD, Case, bad_questions, named
from tests.vectors.closed_forms import ESTIMATE_VECTORS
from tests.vectors.codes import code_vectors
from tests.vectors.digests import digest_vectors
from tests.vectors.items import item_vectors, procedure_vectors
from tests.vectors.order import order_vectors
from tests.vectors.records import record_vectors
from tests.vectors.schemas import export_schema, survey_schema
from tests.vectors.tape import Tape
from tests.vectors.tokens import token_vectors

WIDTH = 120


def randomize_vectors(name: str, cases: list[Case], draws_each: int) -> Iterator[dict[str, Any]]:
    """For each question and answer: the bytes read and the value reported."""
    for document, answers in cases:
        parsed = parse_survey(survey(document))
        asked = parsed.questions[0]
        mechanism = asked.mechanism
        assert mechanism is not None
        options = asked.options if len(asked.options) < 10 else asked.options[:: len(asked.options) - 1]
        for answer in answers or options:
            for index in range(draws_each):
                tape = Tape(f"{name} {mechanism.dump()} {asked.options} {answer} {index}")
                value = RANDOMIZERS[name](mechanism, asked.encode(answer), Draws(tape))
                yield {
                    "question": {**parsed.document["questions"][0]},
                    "epsilon": mechanism.epsilon,
                    "answer": answer,
                    "bytes": tape.taken.hex(),
                    "report": value,
                }


def answer_vectors() -> Iterator[dict[str, Any]]:
    for document, good, bad in ANSWERS:
        parsed = parse_survey(survey(document))
        values = [[answer, parsed.questions[0].encode(answer)] for answer in good]
        yield {"question": parsed.document["questions"][0], "values": values, "bad": bad}


def grouped(vectors: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Vectors of one question together, so that the question is written once."""
    groups: dict[str, dict[str, Any]] = {}
    for vector in vectors:
        key = json.dumps(vector["question"])
        group = groups.setdefault(key, {"question": vector["question"], "epsilon": vector["epsilon"], "draws": []})
        group["draws"].append([vector["answer"], vector["bytes"], vector["report"]])
    return list(groups.values())


def draw_vectors() -> list[dict[str, Any]]:
    """``below`` at its boundaries: rejection, single values, whole powers of two, the largest bound."""
    vectors = []
    for bound in (1, 2, 3, 4, 6, 12, 255, 256, 257, 511, 65535, 65536, 65537, 2**31, 2**31 + 1, 2**32 - 1, 2**32):
        for index in range(3):
            tape = Tape(f"below {bound} {index}")
            vectors.append({"bound": bound, "value": Draws(tape).below(bound), "bytes": tape.taken.hex()})
    for bound, data in ((3, "ff03fd"), (3, "03030302"), (257, "ffff01010100"), (4294967295, "fffffffffffffffe")):
        source = iter(bytes.fromhex(data))
        value = Draws(lambda count, source=source: bytes(next(source) for _ in range(count))).below(bound)
        vectors.append({"bound": bound, "value": value, "bytes": data})
    return vectors


def survey_vectors() -> dict[str, Any]:
    """Whole surveys and reports: canonical text, digest, epsilon, answers, bytes, body."""
    choices = [{"name": n, "label": {"en": n, "ar": "نص", "de": f'"{n}"\\\n€ 😀'}} for n in ("a", "b", "c")]
    kary = {"name": "kary_rr", "odds": "3"}
    documents = [
        survey(question({"name": "coin_flip"})),
        survey(
            question({"name": "warner", "truth": "2/3"}),
            {"type": "select_one", "name": "r", "label": {"en": "R"}, "choices": choices, "mechanism": kary},
            {"type": "select_one", "name": "s", "label": {"en": "S"}, "hint": {"en": "H"}, "choices": choices,
             "public": True, "cohort": True},
            consent={"en": "Yes?"}, opens="2026-01-01T00:00:00Z", closes="2027-01-01T00:00:00Z",
            privacy={"max_epsilon_total": "4.5", "release_batch": 10}, retention={"ids_days": 7},
        ),
        survey({**one_of(30, {"name": "kary_rr", "odds": "5/2"}), "name": "big"}),
        every_type(),
        {**every_type(), "ask": 3},
        survey(question(GOOD["memoized_rr"][0][0]["mechanism"]), {**question({"name": "coin_flip"}), "name": "coin"},
               waves=[month(1, 2), month(2, 5), month(5, 6)]),
        survey(question({"name": "coin_flip"}), waves=[month(1, 2), month(2, 5)]),
        survey(*({**question({"name": "coin_flip"}), "name": f"q{index}"} for index in range(4)), ask=1),
        left_out(),
        remembered(),
        who_asks(),
        survey(question({"name": "coin_flip"}), waves=[month(1, 2)], retention={"delete_on": "2026-02-02"}),
        survey(question({"name": "coin_flip"}), trial=True),
        survey(question({"name": "coin_flip"}), waves=[month(1, 2), month(2, 5)], fresh_samples=True),
        survey(question({"name": "coin_flip"}), revision=2, replaces=f"{12**59:064x}"),
        survey(question({"name": "coin_flip"}), {"type": "integer", "name": "age", "label": {"en": "A"}, "min": 18,
                                                 "max": 99, "public": True, "in_files": True}),
        with_income(),
        with_anchors(),
        with_facts(),
    ]  # fmt: skip
    vectors = []
    for document in documents:
        parsed = parse_survey(document)
        for index in range(4):
            answers = {q.name: an_answer(q, index * 7 + i) for i, q in enumerate(parsed.questions)}
            before = Tape(f"asked {parsed.digest} {index}")
            asked = draw_asked(parsed, Draws(before))
            memo = draw_memo(parsed, Draws(before))
            tape = Tape(f"report {parsed.digest} {index}")
            report = randomize(parsed, encode(parsed, answers, asked), Draws(tape), index * 5, memo)
            vectors.append({
                "survey": parsed.canonical.decode(),
                "digest": parsed.digest,
                "epsilon": parsed.epsilon,
                "answers": answers,
                "bytes_before": before.taken.hex(),
                "asked": list(asked),
                "memo": [answer for pair in memo.values() for answer in pair],
                "wave": index * 5,
                "bytes": tape.taken.hex(),
                "body": dump_report(report, parsed).decode(),
            })  # fmt: skip
    return {"reports": vectors, "bad_surveys": bad_surveys()}


def every_type() -> dict[str, Any]:
    asked = {
        "rating": one_of(3, named("subset_selection", odds="3", size=1), "rating"),
        "several": some_of(3, named("sampled_option", a="3/4", b="1/4"), max_choices=2),
        "mask": some_of(4, named("bitwise_rr", a="3/4", b="1/4"), max_choices=1),
        "whole": question(named("rounding_rr", a="3/4", b="1/4"), "integer", min=-10, max=10),
        "level": number("0.0", "1.50", "0.25", named("level_table", scores=[-2000000000, 2000000000],
                                                     weights=[[3, 1], [1, 3]])),
        "wave": number(0, 9, 1, named("square_wave", odds="3", bins=5, width=1)),
        "noisy": number(0, 4, 1, named("geometric", ratio="1/2")),
        "vector": vector_of(2, 0, "0.5", "0.5", named("sampled_coordinate", a="2/3", b="1/3")),
    }  # fmt: skip
    public = {"type": "integer", "name": "age", "label": {"en": "A"}, "min": 0, "max": 120, "public": True}
    group = {**one_of(2, {}, "rating"), "name": "group", "public": True, "cohort": True}
    del group["mechanism"]
    return survey(*({**document, "name": name} for name, document in asked.items()), public, group)


def with_anchors() -> dict[str, Any]:
    """A survey whose anchors can be read by a way out, by none, and by one that counts as yes."""
    anchor = {**question({"name": "coin_flip"}), "anchor": True}
    opened = {key: value for key, value in anchor.items() if key != "mechanism"} | {"public": True}
    return survey(
        {**anchor, "name": "no", "known_share": "1"},
        {**opened, "name": "moon", "known_share": "0", "absent_category": True},
        {**opened, "name": "sun", "known_share": "3/4", "when_absent": "no"},
    )


def with_facts() -> dict[str, Any]:
    """Both statements or one, with rare and frequent facts, and a die; one share has a standard error."""
    asked = {key: value for key, value in question({"name": "coin_flip"}).items() if key != "mechanism"}
    month = {"label": {"en": "M"}, "share": "361/1461", "source": {"en": "S"}, "se": "1/200", "fact": "birthday"}
    house = {"label": {"en": "H"}, "share": "7/10", "source": {"en": "S"}}
    return survey(
        {**asked, "name": "rare", "procedure": "crosswise", "innocuous": month},
        {**asked, "name": "often", "hint": {"en": "H"}, "procedure": "crosswise", "innocuous": house},
        {**asked, "name": "die", "procedure": "unrelated_question",
         "innocuous": {**house, "label": {"en": "F"}, "truth": "2/3", "fact": "friend", "se": "1/100"}},
        {**asked, "name": "coin", "public": True, "when_absent": "no"},
    )  # fmt: skip


def with_income() -> dict[str, Any]:
    """A public number of more than 10,001 values."""
    income = {"type": "integer", "name": "income", "label": {"en": "I"}, "min": 0, "max": 1_000_000, "public": True}
    return survey(question({"name": "coin_flip"}), income)


def left_out() -> dict[str, Any]:
    """``ask`` with a matrix, of which some rows may be asked, a condition, a refusal, and labels A and B."""
    group = {**one_of(2, {}), "name": "group", "public": True}
    del group["mechanism"]
    coin = {"type": "boolean", "mechanism": {"name": "coin_flip"}}
    rows = {"type": "matrix", "name": "m", "label": {"en": "M"}, "rows": names(3, "r"), "of": coin}
    hidden = {**question({"name": "coin_flip"}), "when_absent": "no", "visible_if": {"group": "c1"}}
    refusable = {**one_of(3, {"name": "kary_rr", "odds": "3"}), "name": "k", "absent_category": True}
    return survey(group, rows, hidden, refusable, ask=3, report_labels="neutral")


def remembered() -> dict[str, Any]:
    """Memos for the rows of a matrix and for a question that may be hidden."""
    memo = GOOD["memoized_rr"][0][0]["mechanism"]
    of = {"type": "boolean", "mechanism": memo}
    first = {**question({"name": "coin_flip"}), "name": "first"}
    hidden = {**question(memo), "when_absent": "no", "visible_if": {"first": "yes"}}
    rows = {"type": "matrix", "name": "m", "label": {"en": "M"}, "rows": names(2, "r"), "of": of}
    return survey(first, rows, hidden, waves=[month(1, 2), month(2, 3), month(3, 4), month(4, 5)])


def who_asks() -> dict[str, Any]:
    """Who asks, what is said about the protection of data, and the day on which the survey deletes itself."""
    asking = {
        "name": {"en": "Dr A. Example", "ar": "د. مثال"},
        "institution": {"en": "University of Example"},
        "contact": "ask.us+exams@uni-1.example.org",
        "ethics": {"en": "Approved by the board, 2026/17."},
    }
    coin = question({"name": "coin_flip"})
    closed = {"closes": "2027-03-30T23:59:59Z", "retention": {"ids_days": 7, "delete_on": "2027-03-31"}}
    return survey(coin, researcher=asking, notice={"en": "Controller:\nUniversity of Example"}, **closed)


def spoiled(document: dict[str, Any], **changes: Any) -> str:
    """The canonical text of a good survey, some of its keys changed."""
    return canonical.dump({**parse_survey(document).document, **changes}).decode()


def an_answer(asked: Question, index: int) -> Any:
    if asked.kind.truth == "options":
        return [option for i, option in enumerate(asked.options) if i == index % (len(asked.options) + 1)]
    grid = asked.domain.grid
    if grid is None:
        option = index % len(asked.options)
        return None if asked.domain.absent and option == asked.absent else asked.options[option]
    values = [dump_decimal(grid.low + grid.step * (index * i % (grid.steps + 1))) for i in range(1, 10)]
    return dict(zip(asked.options, values, strict=False)) if asked.kind.truth == "numbers" else values[0]


def month(first: int, last: int) -> dict[str, str]:
    """A wave from the beginning of one month to the beginning of another."""
    return {"opens": f"2026-{first:02}-01T00:00:00Z", "closes": f"2026-{last:02}-01T00:00:00Z"}


def with_waves(text: str, waves: Any) -> str:
    """A survey's text with these waves, in their place at its end."""
    return f'{text[:-1]},"waves":{canonical.dump(waves).decode()}}}'


def bad_surveys() -> list[str]:
    """Texts that are not a survey in canonical form; both clients must refuse each of them."""
    good = text_of(survey(question({"name": "coin_flip"})))
    pair = survey(*({**question({"name": "coin_flip"}), "name": name} for name in "ab"))
    two = text_of(pair)
    first, second = pair["questions"]
    conditional = survey(first, {**second, "when_absent": "no", "visible_if": {"a": "yes"}})
    memo = survey(question(GOOD["memoized_rr"][0][0]["mechanism"]))
    own_coin = {"procedure": "own_coin", "release_batch": 25}
    one_wave = with_waves(good, [month(1, 2)])
    too_long = re.sub('"contact":"[^"]*"', f'"contact":"https://a.example/{"x" * 183}"', text_of(who_asks()))
    assert load_survey(too_long.replace("x" * 183, "x" * 182).encode())
    return [
        "", "null", "[]", "{}", "NaN", good + " ", " " + good, good[:-1], good + good, f'{good[:-1]},"zzz":1}}',
        *changed_surveys(good),
        good.replace('"name":"vector"', '"fresh_samples":true,"name":"vector"'),
        *(f'{good[:-1]},"trial":{trial}}}' for trial in ("false", "1", "null", '"true"')),
        *(replacing(good, *pair) for pair in (
            (1, "0" * 64), (2, "0" * 63), (2, "0" * 65), (2, "A" * 64), (2, ""), (2, None), (2, ["0" * 64]), (2, 0),
        )),
        *(with_waves(good, waves) for waves in (
            [], [month(2, 2)], [month(3, 2)], [month(1, 3), month(2, 4)], [month(2, 3), month(1, 2)], [{}], month(1, 2),
        )),
        one_wave.replace('"privacy"', '"opens":"2026-01-01T00:00:00Z","privacy"'),
        one_wave.replace('{"ids_days"', '{"delete_on":"2026-02-01","ids_days"'),
        *(good.replace('"default_language"', f'"ask":{ask},"default_language"') for ask in ("0", "1", "null", "true")),
        *(two.replace('"default_language"', f'"ask":{ask},"default_language"') for ask in ("0", "2", '"1"', "1.0")),
        spoiled(pair, ask=1, privacy=own_coin),
        spoiled(left_out(), ask=5),
        spoiled(remembered(), ask=1),
        spoiled(remembered(), access="token"),
        spoiled(remembered(), waves=[month(n, n + 1) for n in range(1, 6)]),
        spoiled(memo, privacy=own_coin),
        spoiled(conditional, ask=1),
        too_long,
    ]  # fmt: skip


def text_of(document: dict[str, Any]) -> str:
    return parse_survey(document).canonical.decode()


def changed_surveys(coin: str) -> Iterator[str]:
    """Good surveys in which the first of each pair of ``bad_surveys.json`` is replaced by the second."""
    good = {"coin": coin, "income": text_of(with_income()), "anchors": text_of(with_anchors()),
            "facts": text_of(with_facts()), "facts in arms": text_of(fact_arms()),
            "who asks": text_of(who_asks())}  # fmt: skip
    for name, pairs in json.loads(Path(__file__).with_name("bad_surveys.json").read_text(encoding="utf-8")).items():
        for right, wrong in pairs:
            assert right in good[name], right
            yield good[name].replace(right, wrong)


def replacing(text: str, revision: int, digest: object) -> str:
    """A canonical survey, as this revision, that names such a predecessor."""
    renamed = text.replace('"revision":1', f'"revision":{revision}')
    return renamed.replace('"retention"', f'"replaces":{json.dumps(digest)},"retention"')


def accounting_vectors() -> dict[str, Any]:
    """What a report costs, what waves cost, and what devices let a survey cost."""
    ln2, ln3 = math.log(2), math.log(3)
    cases: list[tuple[list[float], int | None]] = [
        ([], None), ([0.0], None), ([0.0, 0.0], 1), ([ln3], 1), ([ln3, ln2], None), ([ln3, ln2, 0.0], 2),
        ([ln2, ln3], 1), ([0.1] * 10, None), ([0.1, 0.2, 0.3, 0.4], 3), ([1.0] * 200, 7), ([ln3] * 5, None),
        ([2.5, 0.01, 2.5, 0.02], 3),
    ]  # fmt: skip
    bad = [([], 1), ([1.0], 0), ([1.0], 2), ([1.0], -1), ([-1.0], None), ([1.0, -0.5], 1)]
    waves = [(0.0, 1), (ln3, 1), (ln3, 4), (ln3, 10), (ln2, 25), (0.1, 1000)]
    return {
        "reports": [{"epsilons": e, "ask": ask, "epsilon": report_epsilon(e, ask)} for e, ask in cases],
        "waves": [{"epsilon": e, "waves": count, "total": waves_epsilon(e, count)} for e, count in waves],
        "bad": [{"epsilons": e, "ask": ask} for e, ask in bad],
        "allowance": DEFAULT_ALLOWANCE._asdict(),
        "nearly_sure": NEARLY_SURE,
    }


def documents() -> dict[str, Any]:
    """Every vector file by its path below the folder."""
    files: dict[str, Any] = {
        "accounting.json": accounting_vectors(),
        "answers.json": list(answer_vectors()),
        "arms.json": arm_vectors(),
        "blocks.json": block_vectors(),
        "codes.json": code_vectors(),
        "digests.json": digest_vectors(),
        "draws.json": draw_vectors(),
        "items.json": item_vectors(),
        "order.json": order_vectors(),
        "own_coin.json": procedure_vectors(),
        "records.json": record_vectors(),
        "surveys.json": survey_vectors(),
        "tokens.json": token_vectors(),
        "blind_signatures.json": blind_vectors(),
        "../schema/export.schema.json": export_schema(),
        "../schema/survey.schema.json": survey_schema(),
    }
    for name in RANDOMIZERS:
        files[f"{name}/randomize.json"] = grouped(randomize_vectors(name, GOOD[name], 6))
        files[f"{name}/bad.json"] = [{"question": bad, "error": error_code(bad)} for bad in bad_questions(name)]
        files[f"{name}/estimate.json"] = list(ESTIMATE_VECTORS[name]())
    return files


def error_code(bad: dict[str, Any]) -> str:
    try:
        parse_survey(survey(bad))
    except SurveyError as error:
        return error.code
    raise AssertionError("this question should have been refused")


def render(document: Any, margin: str = "") -> str:
    """JSON with whatever fits on one line on one line."""
    text = json.dumps(document, ensure_ascii=False)
    if len(margin) + len(text) <= WIDTH or not isinstance(document, dict | list) or not document:
        return text
    inner = margin + " "
    if isinstance(document, dict):
        rows = [f"{json.dumps(key)}: {render(value, inner)}" for key, value in document.items()]
    else:
        rows = [render(value, inner) for value in document]
    opening, closing = "{}" if isinstance(document, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(rows) + f"\n{margin}{closing}"


def main() -> None:
    for path, document in documents().items():
        target = FOLDER / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(document) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for text in bad_surveys():
        try:
            load_survey(text.encode())
        except SurveyError as error:
            told = set(re.findall(r"/[a-z]+", str(error)))
            if "waves" in text and not {"/waves", "/opens", "/mechanism", "/visible", "/delete"} & told:
                raise
            continue
        raise SystemExit("a bad survey was accepted")
    main()
