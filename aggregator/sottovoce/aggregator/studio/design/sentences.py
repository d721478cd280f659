"""Write sentences with numbers for the page "Design", and labels for the places of a survey's texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil, floor, log10

from sottovoce.aggregator.authoring.cost_and_precision import Figures, Totals, goal_of
from sottovoce.aggregator.authoring.draft import DraftItem, DraftProblem, SurveyDraft, absent_keys
from sottovoce.aggregator.authoring.draft_blocks import ProtectedTogether
from sottovoce.aggregator.authoring.templates import PEOPLE, TemplateQuestion
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.accounting import BELIEF_BEFORE, DEFAULT_ALLOWANCE
from sottovoce.shared.languages import LANGUAGES as OWN_NAMES, languages_of, texts_of
from sottovoce.shared.spec import Survey
from sottovoce.shared.types import TYPES


@dataclass(frozen=True)
class Sentences:
    """Sentences about a draft, in the reader's language."""

    words: Words

    def margin(self, draft: SurveyDraft, card: DraftItem, found: Figures | None) -> Iterator[str]:
        """Yield sentences about the expected precision of a question, which an incomplete one has not yet.

        They end in a warning if people cannot decline to answer it, with a remedy if a field offers one.
        """
        if found is None:
            yield self.words.translate("design_margin_later")
        elif found.margin is None or draft.people is None:
            yield self._needed_sentence(found, draft.declining)
        else:
            key = "design_margin_mean" if found.number else "design_margin_share"
            yield self.words.count(key, draft.people, margin=self._size(found, found.margin))
            if found.question.epsilon:
                yield self.words.translate("design_openly", margin=self._size(found, found.openly or 0.0))
            # An aim that these people already reach needs no further number.
            if found.question.epsilon and found.margin > found.wanted:
                yield self._needed_sentence(found, draft.declining)
        if card.type in (*TYPES, "matrix") and not absent_keys(card, draft.declining):
            yield self.words.translate("design_no_way_out")
            if card.kind is not None and card.kind.truth == "number" and "procedure" not in card.treated:
                yield self.words.translate("design_offer_way_out", field=self.words.translate("design_absent"))

    def within(self, found: Figures | None) -> str:
        """Return the margin of a question with the expected number of people; "" if there is none yet."""
        return f"± {self._size(found, found.margin)}" if found and found.margin is not None else ""

    def goals(self, draft: SurveyDraft, totals: Totals) -> Sequence[str]:
        """Return the people needed for each planned analysis, as one line each.

        By the question's text: texts are numbered on Design, and not in the flow chart beside these lines on Publish.
        """
        return [
            self.words.translate(
                "design_goal",
                goal=self.words.translate(f"use_{goal_of(draft.cards[number])}"),
                question=draft.cards[number].asked.get("label", {}).get(draft.tags[0])
                or self.words.translate("place_question", number=number + 1),
                needed=self._needed_sentence(found, "each"),
            )
            for number, found in totals.goals
        ]

    def together(self, found: ProtectedTogether) -> str:
        """Describe people needed and worst-case odds of a block, never one without the other."""
        return self.words.translate(
            "together_sentence",
            margin=self.points(found.margin),
            people=about(found.people),
            apart=about(found.people_apart),
            epsilon=self.words.write.epsilon(found.epsilon),
            epsilon_apart=self.words.write.epsilon(found.epsilon_apart),
            odds=self.words.write.odds(found.odds),
            odds_alone=self.words.write.odds(found.odds_alone),
            odds_apart=self.words.write.odds(found.odds_apart),
        )

    def _needed_sentence(self, found: Figures, declining: str) -> str:
        if found.needed is None:
            return self.words.translate("design_out_of_reach")
        sentence = self.words.translate(
            "design_needed", margin=self._size(found, found.wanted), people=about(found.needed)
        )
        if found.declining is None or declining == "each":
            return sentence
        key = "design_of_these" if declining == "own" else "design_more_needed"
        return f"{sentence}{self.words.translate('gap')}{self.words.translate(key, more=about(found.declining))}"

    def _size(self, found: Figures, margin: float) -> str:
        if found.number:
            return self.words.number(margin, max(0, 1 - floor(log10(margin))) if margin else 0)
        return self.points(margin)

    def points(self, margin: float) -> str:
        """Format the half-width of a share in percentage points; with one decimal if it is below one point."""
        points = 100 * margin
        return self.words.count("design_points", round(points)) if points >= 1 else self.tenths(margin)

    def templates(self, items: Sequence[TemplateQuestion]) -> str:
        """Describe the widest margins among a template's shares, for two numbers of people (``PEOPLE``)."""
        widths = [item.margins for item in items if not item.number]
        few, many = (self.tenths(max(width)) for width in zip(*widths, strict=True))
        return self.words.translate("new_margins", few=PEOPLE[0], many=PEOPLE[1], margin=few, narrower=many)

    def item(self, item: TemplateQuestion) -> str:
        """Describe the margins of a template's question, at the value expected from published studies."""
        show = partial(self.words.number, decimals=1) if item.number else self.tenths
        expected = self.words.number(item.expected, 1) if item.number else self.words.percent(item.expected, 0)
        few, many = map(show, item.margins)
        key = "new_item_mean" if item.number else "new_item_share"
        return self.words.translate(key, expected=expected, few=PEOPLE[0], many=PEOPLE[1], margin=few, narrower=many)

    def tenths(self, margin: float) -> str:
        """Format the half-width of a share in percentage points, with one decimal."""
        return self.words.translate("design_points_other", count=self.words.number(100 * margin, 1))

    def cost(self, totals: Totals) -> str:
        """Describe the epsilon of a whole report, relative to the default allowance of devices."""
        return self.words.translate(
            "design_cost",
            spent=self.words.write.epsilon(totals.epsilon),
            allowed=self.words.number(DEFAULT_ALLOWANCE.total),
            before=self.words.percent(BELIEF_BEFORE, 0),
            after=self.words.percent(Fraction(totals.after, 100), 0),
        )

    def problem(self, problem: DraftProblem) -> str:
        """Describe a problem of a draft in a sentence."""
        number = {} if problem.place.card is None else {"number": problem.place.card + 1}
        values = {
            key: self.words.number(value, 2) if isinstance(value, float) else value
            for key, value in {**number, **problem.values}.items()
        }
        if isinstance(message := values.get("message"), str):
            values["message"] = self.words.in_this_language(message)
        if "tag" in values:
            values["tag"] = OWN_NAMES.get(str(values["tag"]), values["tag"])
        return self.words.translate(f"problem_{problem.key}", **values)


def about(number: int) -> int:
    """Round a number of people up to two significant digits."""
    step = int(10 ** max(len(str(number)) - 2, 0))
    return ceil(number / step) * step


def place_in_words(survey: Survey, pointer: str, words: Words) -> str:
    """Describe a text's place, a JSON pointer: part of the survey, or number and part or option of a question."""
    first, *inside = pointer.strip("/").split("/")
    if first != "questions":
        arm = inside.pop() if "by_arm" in inside else ""
        return words.translate(f"place_{'_'.join([first, *inside])}", arm=arm)
    number, *parts = inside
    *before, item = survey.document["questions"][: int(number) + 1]
    if "block" in item:
        _, within, *parts = parts
        before, item = [*before, *item["items"][: int(within)]], item["items"][int(within)]
    asked = sum(each.get("type") != "note" for entry in before for each in entry.get("items", [entry]))
    place = (
        words.translate("place_note") if item["type"] == "note" else words.translate("place_question", number=asked + 1)
    )
    return words.translate("place_within", place=place, part=_part(parts, words))


def texts_in_words(survey: Survey, words: Words) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    """List the texts of a survey by language, each with its place in words; "" marks a missing translation."""
    texts = [(place_in_words(survey, pointer, words), written) for pointer, written in texts_of(survey).items()]
    return [(tag, [(place, written.get(tag, "")) for place, written in texts]) for tag in languages_of(survey)]


def _part(parts: list[str], words: Words) -> str:
    *lists, key = parts
    for name, number in pairwise(lists):
        if number.isdecimal():
            return words.translate(f"place_{name}", number=int(number) + 1)
    return words.translate(f"place_{'innocuous' if 'innocuous' in lists else key}")
