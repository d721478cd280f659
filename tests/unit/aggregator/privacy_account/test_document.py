"""The privacy account says what the survey says, and nothing that looks better."""

import json
import math
import re
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.planning.lint import warnings
from sottovoce.aggregator.privacy_account import page as account_page, text
from sottovoce.aggregator.privacy_account.document import AccountTerms, Document, account as make_account
from sottovoce.aggregator.privacy_account.text import percent as percent_in, totals as totals_in
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.client.words import catalogue
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey

from tests.blocks import block, blocks, in_block
from tests.surveys import every_type, months, survey
from tests.unit.shared.test_schema import validator
from tests.vectors.arms import arms, asks

TERMS = AccountTerms()
ENGLISH = Words("en")
FORCED = {"name": "forced_response", "truth": "3/4", "yes": "1/6", "no": "1/12"}


def account(asked: Survey, terms: AccountTerms) -> Document:
    return make_account(asked, terms, catalogue(), ENGLISH)


def page(made: Document) -> str:
    return account_page.page(made, survey(), ENGLISH)


def lines(made: Document) -> list[str]:
    return text.lines(made, ENGLISH)


def totals(made: Document) -> list[tuple[str, float]]:
    return [(who, epsilon) for _, who, epsilon in totals_in(made, ENGLISH)]


def percent(share: float) -> str:
    return percent_in(share, ENGLISH)


def coins(count: int, mechanism: dict[str, object] | None = None) -> list[dict[str, object]]:
    asked = {"type": "boolean", "label": {"en": "Q"}, "mechanism": mechanism or {"name": "coin_flip"}}
    return [{**asked, "name": f"q{index}"} for index in range(count)]


def test_account_adds_up() -> None:
    """Five coin questions: 5.49 a report, 21.97 for a household of four, 10.99 for two waves."""
    made = account(survey(questions=coins(5)), AccountTerms(people=4, waves=2))

    assert [f"{epsilon:.2f}" for _, epsilon in totals(made)] == ["1.10", "5.49", "21.97", "10.99"]
    assert made["composed"] is None


def test_account_of_a_try_out_says_so_first() -> None:
    made, real = account(survey(trial=True), TERMS), account(survey(), TERMS)

    validator("privacy").validate(made)
    assert next(iter(made)) == "trial"
    assert lines(made)[0] == "Test run: not the real survey."
    assert page(made).index("Test run") < page(made).index("Privacy account</p>")
    assert "trial" not in real
    assert "Test run" not in page(real) + lines(real)[0]


def test_account_has_beliefs_within_their_limits() -> None:
    """What an observer's belief becomes at most."""
    [question] = account(survey(questions=coins(1)), TERMS)["questions"]

    assert [percent(row["after_yes"]) for row in question["yes_no"]] == ["2.9%", "25.0%", "56.2%", "75.0%"]
    assert question["odds"].startswith("If yes is true, 75 of 100 people send yes; if not, 25 do.")

    [question] = account(survey(questions=coins(1, FORCED)), TERMS)["questions"]

    for row, bound in zip(question["yes_no"], question["beliefs"], strict=True):
        assert bound["at_least"] - 1e-12 <= row["after_no"] < row["before"] < row["after_yes"] < bound["at_most"]
        assert row["after_no"] == pytest.approx(bound["at_least"])


def test_composition_is_shown_only_where_it_helps() -> None:
    """44 coin answers gain less than 1 %; 80 gain more, and the older theorem is never shown above the sum."""
    asked = survey(questions=coins(2))

    assert account(asked, AccountTerms(waves=22))["composed"] is None
    composed = account(asked, AccountTerms(waves=40))["composed"]
    assert composed["answers"] == 80
    assert composed["epsilon"] < 0.99 * 80 * 1.0986
    assert composed["advanced"] is None
    cheap = coins(2, {"name": "binary_rr", "a": "51/100", "b": "49/100"})
    assert account(survey(questions=cheap), AccountTerms(waves=500))["composed"]["advanced"] is not None


def test_composition_holds_for_people_of_every_arm() -> None:
    """Ten cheap answers sum to more than one costly answer, but compose to less: the figure is the one of its arm."""
    cheap = {"name": "binary_rr", "a": "29/50", "b": "21/50"}
    many = [{**each, "arm": "protected"} for each in coins(10, cheap)]
    costly = asks("costly", "direct", mechanism={"name": "binary_rr", "a": "20/21", "b": "1/21"})
    asked = survey(questions=[*many, costly], arms=arms(1, 1))
    assert max(asked.unit_epsilons) < 1

    found, alone = (account(each, AccountTerms(waves=5)) for each in (asked, survey(questions=coins(10, cheap))))
    assert alone["composed"]["epsilon"] < 5 * math.log(20)
    assert found["composed"] is None or found["composed"]["epsilon"] >= 5 * math.log(20) - 1e-3
    drawn_anew = survey(questions=[*many, costly], arms=arms(1, 1), arms_per_wave=True, waves=months(5))
    assert account(drawn_anew, TERMS)["composed"] is None


def test_shuffling_is_shown_only_when_asked_for() -> None:
    """.142 at ln 3 among 1000, at most .168; never without its condition."""
    asked = survey(questions=coins(1))
    [row] = account(asked, AccountTerms(respondents=1000))["shuffled"]["questions"]

    assert (f"{row['exact']:.3f}", f"{row['at_most']:.3f}") == ("0.142", "0.168")
    assert account(asked, TERMS)["shuffled"] is None
    assert "This holds only if no one can tell" in "\n".join(lines(account(asked, AccountTerms(respondents=1000))))


def test_public_survey_gets_no_figure() -> None:
    """An epsilon of 0 would look like the best of guarantees."""
    public = [{"type": "boolean", "name": "q", "label": {"en": "Q"}, "public": True}]
    made = account(survey(questions=public), TERMS)

    assert (made["report"]["epsilon"], made["household"]["epsilon"], made["panel"]["epsilon"]) == (None, None, None)
    text = "\n".join(lines(made))
    assert "no answer is randomized or protected" in text
    assert "psilon" not in text
    assert "Epsilon 0" not in page(made)


def test_questions_that_are_drawn_cost_the_dearest_of_them() -> None:
    """A survey that lets each respondent draw two of its questions is charged two coins: 2.20 a report."""
    asked = survey(questions=[*coins(3), {**coins(1, {"name": "warner", "truth": "2/3"})[0], "name": "w"}], ask=2)
    made = account(asked, TERMS)

    assert totals(made)[1] == ("a whole report (2 questions drawn)", pytest.approx(2 * math.log(3)))
    assert made["report"]["epsilon"] == pytest.approx(2 * math.log(3))
    assert "what it drew, the group or the questions" in " ".join(made["stored"])
    validator("privacy").validate(made)


@pytest.mark.parametrize(
    "terms",
    [AccountTerms(people=0), AccountTerms(people=10**6), AccountTerms(waves=0), AccountTerms(waves=-3),
        AccountTerms(delta=0.0), AccountTerms(delta=1.0),
     AccountTerms(delta=float("nan")), AccountTerms(respondents=0)],
)  # fmt: skip
def test_impossible_terms_give_no_account(terms: AccountTerms) -> None:
    with pytest.raises(SpecError, match=r"must be|must lie"):
        account(survey(), terms)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"retention": {"ids_days": 7}}, "deleted 7 days after closing"),
        ({"retention": {"ids_days": 0}}, "deleted on the day after closing"),
        ({"privacy": {"release_batch": 40}}, "only when 40 more reports have come"),
        ({"privacy": {"release_batch": 1}}, "change with every report"),
        ({"access": "token"}, "For one-time tokens: a hash each"),
    ],
)
def test_what_is_stored_comes_from_the_survey(changes: dict[str, object], said: str) -> None:
    assert said in " ".join(account(survey(**changes), TERMS)["stored"])


def test_account_validates_with_every_type() -> None:
    # A memo covers its own waves only, and is accounted for below.
    asked = survey(questions=[asked for asked in every_type() if asked["name"] != "again"])
    for terms in (TERMS, AccountTerms(waves=60, respondents=100)):
        validator("privacy").validate(json.loads(json.dumps(account(asked, terms))))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.loaded += [name for name, _ in attributes if name in {"src", "href", "srcset"} or name.startswith("on")]


def test_page_stands_alone_and_escapes() -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    asked = survey(title={"en": evil}, questions=[{**coins(1)[0], "label": {"en": evil}}])
    tags = Tags()
    tags.feed(page(account(asked, TERMS)))

    assert tags.loaded == []
    assert not tags.tags & {"script", "img", "link", "iframe", "form", "a"}


def test_page_draws_a_hundred_people() -> None:
    figures = re.findall(r"<figure>.*?</figure>", page(account(survey(questions=coins(1)), TERMS)))

    assert [(figure.count('"full"'), figure.count('"off"')) for figure in figures] == [(75, 25), (25, 75)]


def test_near_certainty_does_not_look_certain() -> None:
    """What is not 0 or 100 % is not written so."""
    assert [percent(x) for x in (0.0, 0.0001, 0.25, 0.9999, 1.0)] == [
        "0.0%", "under 0.1%", "25.0%", "over 99.9%", "100.0%"
    ]  # fmt: skip


def test_panel_has_the_waves_of_the_survey() -> None:
    """As many as it has, each in full, unless other terms are asked for; 4 where it has one."""
    asked = survey(questions=coins(1), waves=months(3))

    for terms, waves in ((TERMS, 3), (AccountTerms(waves=7), 7)):
        panel = account(asked, terms)["panel"]
        assert (panel["waves"], f"{panel['epsilon']:.4f}") == (waves, f"{waves * math.log(3):.4f}")
    assert account(survey(questions=coins(1)), TERMS)["panel"]["waves"] == 4


def test_memo_is_counted_once_and_only_for_its_waves() -> None:
    """ln(196/27) for four waves of two coins, beside a coin that is drawn anew in each; a fifth is not covered."""
    flip = {"name": "coin_flip"}
    memo = {"name": "memoized_rr", "permanent": flip, "instantaneous": flip, "waves": 4}
    asked = survey(questions=[*coins(1, memo), {**coins(1)[0], "name": "fresh"}], waves=months(3))
    made = account(asked, TERMS)

    assert made["panel"]["epsilon"] == pytest.approx(math.log(196 / 27) + 3 * math.log(3))
    assert made["report"]["epsilon"] == pytest.approx(math.log(196 / 27) + math.log(3))
    assert made["composed"] is None
    assert "Both are stored, so that they do not reveal the truth" in " ".join(made["stored"])
    assert "each report reveals up to epsilon 1.10 about 'q0' in each wave" in " ".join(made["limits"])
    validator("privacy").validate(made)
    with pytest.raises(SpecError, match="covers 4 waves, and no more"):
        account(asked, AccountTerms(waves=5))


def of_blocks(*asked: Document) -> Document:
    return account(blocks(*asked), TERMS)


def test_account_has_a_row_for_each_block_question_and_report() -> None:
    found = of_blocks(block(*map(in_block, "abc")) | {"ask": 2}, block(*map(in_block, "de"), name="whole"))
    validator("privacy").validate(found)
    assert [each.get("asked") for each in found["blocks"]] == [2, None]

    found = of_blocks(block(in_block("a"), in_block("b")), *coins(1))
    validator("privacy").validate(found)
    assert text.block_rows(found, ENGLISH) == [
        ("a, b together", "2.20", "", ""),
        ("a", "2.20", "9:1", "5:1"),
        ("b", "2.20", "9:1", "5:1"),
        ("a whole report", "3.30", "", ""),
    ]
    shown = page(found)
    table = shown.partition("Answers that are randomized together")[2].partition("</table>")[0]
    assert re.findall(r"<tr><th[^>]*>([^<]*)</th><td>([^<]*)", table) == [
        ("a, b together", "2.20"), ("a", "2.20"), ("b", "2.20"), ("a whole report", "3.30"),
    ]  # fmt: skip
    assert any("9:1" in line and "5:1" in line for line in lines(found))


def test_odds_are_rounded_up_and_surveys_without_blocks_have_no_table() -> None:
    """3.1705... of one of five questions with odds 20 and radius 1 is never shown as 3.1."""
    five = of_blocks(block(*map(in_block, "abcde"), odds="20", radius=1))
    assert {row[2:] for row in text.block_rows(five, ENGLISH)[1:6]} == {("20:1", "3.2:1")}
    without = of_blocks(*coins(1))
    assert "blocks" not in without
    assert text.block_rows(without, ENGLISH) == []
    assert "randomized together" not in page(without)


def test_five_coin_flips_cost_the_same_everywhere() -> None:
    """5 ln 3 = 5.493 is shown as 5.50, and 27/28 as 97 %; nearest numbers would be 5.49 and 96 %."""
    asked = survey(questions=coins(5))
    made = account(asked, TERMS)
    told = {
        "terminal": "\n".join(lines(made)),
        "page": account_page.body(made, asked, ENGLISH),
        "design": Sentences(ENGLISH).cost(DraftFigures(draft_of(asked.document)).totals),
        "lint": " ".join(warnings(asked, [])),
    }

    assert {place for place, text in told.items() if "5.50" not in text or "97" not in text} == set()
    assert {place for place, text in told.items() if "5.49" in text or "96" in text} == set()
    assert "epsilon of a report 5.50;" in About.of(asked).line


def test_bounds_are_rounded_outward_and_claim_no_certainty() -> None:
    """Of a coin flip 10 % becomes exactly 25 %, in spite of floating point."""
    assert [text.at_most(share, ENGLISH) for share in (0.25 + 1e-16, 0.251, 0.991, 1.0)] == [
        "25%",
        "26%",
        "over 99%",
        "100%",
    ]
    assert [text.at_least(share, ENGLISH) for share in (0.25, 0.259, 0.009, 0.0)] == ["25%", "25%", "under 1%", "0%"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_terminal_shows_every_figure_of_the_page_in_80_columns(language: str) -> None:
    """Both show the blocks of one account; the page has the flow of answers and the study's own texts beside."""
    words, asked = Words(language), blocks(block(in_block("a"), in_block("b")))
    made = make_account(asked, AccountTerms(respondents=1000), catalogue(language), words)
    entries = text.lines(made, words)
    shown, told_page = (
        " ".join(each.split()) for each in (" ".join(entries), account_page.page(made, survey(), words))
    )
    cells = re.findall(r"<t[dh][^>]*>([^<]*\d[^<]*)|<dd>.*?</small> ([^<]*)", told_page)

    assert {one or two for one, two in cells if (one or two) not in shown} == set()
    assert max(cell_len(line) for entry in entries for line in entry.splitlines()) <= 80
    assert not re.findall(r"[。，；：] ", told_page)
    # The decimal sign is the language's, as in percentages.
    assert {*re.findall(r"\d([.,])\d\d\b", shown)} == {words.number(0.5, 1)[1]}
