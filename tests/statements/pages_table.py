"""The statements of privacy account, codebook, cards, public results and kiosk, and of which surveys they are true.

Unlike the form's, these tables are whole: a key that none of them has fails. None as a value of a condition means that
figures decide, so that the sentence may be said or not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.statements.table import Facts, Sent, absent_as

Free = Callable[[Any], bool | None]


def together(is_true: Any, keys: str) -> dict[str, Any]:
    """Return several statements that are true of the same surveys; their keys are written as words."""
    return dict.fromkeys(keys.split(), is_true)


def always(_: object) -> bool:
    return True


def private(facts: Facts) -> bool:
    """Say whether any answer is randomized."""
    return bool(facts.private)


def figures(facts: Facts) -> bool | None:
    """Leave it to figures where any answer is randomized; without one there are none."""
    return None if facts.private else False


def has_public(facts: Facts) -> bool:
    """Say whether any answer is sent as given."""
    return any(not asked.is_private for asked in facts.questions)


def by_facts(facts: Facts) -> bool:
    """Say whether a fact of people's own hides any answer."""
    return any(asked.is_own_fact for asked in facts.private)


def blocks(facts: Facts) -> bool:
    return any("block" in item for item in facts.document["questions"])


def memory(facts: Facts) -> bool:
    """Say whether devices remember draws over waves."""
    mechanisms = [item.get("of", item).get("mechanism", {}) for item in facts.document["questions"]]
    return any(mechanism.get("name") == "memoized_rr" for mechanism in mechanisms)


def conditional(facts: Facts) -> bool:
    """Say whether any item, also one that asks nothing, is shown after certain answers only."""
    return any("visible_if" in item or "any_of" in item for item in _every(facts))


def draws_questions(facts: Facts) -> bool:
    """Say whether a device asks some of a person's questions only."""
    return "ask" in facts.document or any(asked.asked_in_block for asked in facts.questions)


def charted(facts: Facts) -> bool:
    """Say whether people pass through a survey in different ways."""
    return "arms" in facts.document or blocks(facts) or conditional(facts)


def direct(facts: Facts) -> bool:
    """Say whether people of one arm alone send answers as given."""
    return any(asked.arms and not asked.is_private for asked in facts.questions)


def waits(facts: Facts, key: str) -> bool:
    """Say whether devices wait before they send."""
    return bool(facts.document["privacy"].get(key))


def traceable(facts: Facts) -> bool:
    """Say whether who looks on while a person sends can match the invitation with the report."""
    return facts.is_blind and not waits(facts, "send_within_hours")


def token(facts: Facts) -> bool:
    """Say whether people have a link of their own that the server knows."""
    return bool(facts.document["access"] == "token")


def trial(facts: Facts) -> bool:
    return bool(facts.document.get("trial"))


def kiosk(facts: Facts) -> bool:
    """Say whether devices are handed round."""
    return "kiosk" in facts.document


def begins(facts: Facts) -> bool:
    """Say whether a chart tells of each person how many of the questions are asked."""
    return charted(facts) and "ask" in facts.document


def _every(facts: Facts) -> list[dict[str, object]]:
    return [each for item in facts.document["questions"] for each in (item, *item.get("items", ()))]


CHART: Mapping[str, Free] = {
    **together(charted, "flow_title flow_begin flow_end flow_as_text"),
    **together(begins, "design_some_of design_each_gets note_as_sentence"),
    "flow_arm": lambda facts: "arms" in facts.document,
    "flow_direct": direct,
    "flow_clear": lambda facts: charted(facts) and has_public(facts),
    "flow_second": lambda facts: charted(facts) and facts.hides_by("crosswise"),
    "flow_randomized": lambda facts: charted(facts) and any(not asked.is_own_fact for asked in facts.private),
    "flow_fact": lambda facts: charted(facts) and by_facts(facts),
    "flow_after": lambda facts: any("visible_if" in item for item in _every(facts)),
    "flow_after_one": lambda facts: any("any_of" in item for item in _every(facts)),
    "answer_yes": lambda facts: None if conditional(facts) else False,
    "answer_no": lambda facts: None if conditional(facts) else False,
    "privacy_block": blocks,
}
"""Statements of the picture of a survey; codebook, account and ethics text have it."""


IN_CODEBOOK: Mapping[str, Free] = {
    **CHART,
    "results_no_limits": figures,
    "flow_second": lambda facts: facts.hides_by("crosswise"),
    "flow_only": lambda facts: any(asked.arms for asked in facts.questions),
    "results_absent_as": lambda facts: bool(absent_as(facts)),
    "results_none_of_them": lambda facts: [] in absent_as(facts),
}
"""Statements of the catalogue in a codebook; it has more, in ``CODEBOOK``, in English alone."""


def several(facts: Facts) -> bool:
    """Say whether results change by steps of several reports."""
    return bool(facts.document["privacy"]["release_batch"] > 1)


ACCOUNT: Mapping[str, Free] = {
    **CHART,
    **together(
        always,
        "privacy_costs privacy_stored privacy_stored_report privacy_stored_withdrawn privacy_stored_nothing "
        "privacy_limits privacy_limit_other privacy_limit_false ethics_limit_device ethics_limit_seen "
        "ethics_limit_time ethics_limit_twice ethics_limit_page ethics_limit_group",
    ),
    "trial": trial,
    "privacy_digest": always,
    **together(
        private,
        "privacy_at_worst privacy_epsilon privacy_costliest privacy_household privacy_panel privacy_together "
        "privacy_about_report privacy_before privacy_at_most privacy_at_least",
    ),
    "privacy_report": lambda facts: private(facts) and ("ask" not in facts.document or blocks(facts)),
    "privacy_report_drawn": lambda facts: private(facts) and "ask" in facts.document,
    "privacy_nothing": lambda facts: not private(facts),
    "privacy_apart": lambda facts: private(facts) and has_public(facts),
    **together(figures, "privacy_about_answer privacy_about_yes privacy_after_yes privacy_after_no"),
    **dict.fromkeys(
        ("privacy_under", "privacy_over", "privacy_conditions", "privacy_composed", "privacy_older"), figures
    ),
    **dict.fromkeys(
        ("privacy_block_all", "privacy_block_epsilon", "privacy_block_known", "privacy_block_alone"), blocks
    ),
    **together(private, "odds question_epsilon"),
    **together(figures, "neutral_note fewer_than_one more_than_99 about"),
    "public_note": lambda facts: None if has_public(facts) else False,
    "cohort_note": lambda facts: any("cohort" in item for item in facts.document["questions"]),
    "privacy_stored_id": lambda facts: facts.document["retention"]["ids_days"] > 0,
    "privacy_stored_id_a_day": lambda facts: facts.document["retention"]["ids_days"] == 0,
    "privacy_stored_counts": several,
    "privacy_stored_counts_each": lambda facts: not several(facts),
    "privacy_stored_public": has_public,
    "privacy_stored_token": token,
    "privacy_stored_blind": lambda facts: facts.is_blind,
    "privacy_stored_wait": lambda facts: waits(facts, "send_within_hours"),
    "privacy_stored_moment": lambda facts: waits(facts, "send_at_seconds"),
    "privacy_stored_device": lambda facts: facts.by_device,
    "privacy_stored_coin": lambda facts: not facts.by_device,
    "privacy_stored_asked": lambda facts: draws_questions(facts) or "arms" in facts.document,
    "privacy_stored_memo": memory,
    "privacy_limit_memo": memory,
    "privacy_limit_block": blocks,
    "privacy_limit_coin": lambda facts: private(facts) and facts.own_coin,
    "privacy_limit_kiosk": lambda facts: private(facts) and kiosk(facts),
    "privacy_limit_fact": by_facts,
    "privacy_limit_public": has_public,
    "ethics_limit_token": token,
    "ethics_limit_blind": lambda facts: facts.is_blind,
    "ethics_limit_blind_now": traceable,
}
"""Statements of the privacy account on a page of the studio and in a terminal; the chart is on the page only."""

STUDY: Mapping[str, Free] = {
    **together(
        always,
        "privacy_kind privacy_version privacy_questions privacy_made ethics_taking_part ethics_consent "
        "ethics_notice privacy_voluntary privacy_purpose privacy_rights privacy_no_deletion privacy_no_controller",
    ),
    "letter_until": lambda facts: facts.document.get("closes") is not None or "waves" in facts.document,
    "letter_opens": lambda facts: facts.document.get("opens") is not None or "waves" in facts.document,
    "privacy_no_consent": lambda facts: "consent" not in facts.document,
    "privacy_no_basis": lambda facts: "consent" not in facts.document,
    "privacy_basis": lambda facts: "consent" in facts.document,
    **together(figures, "privacy_hundred_yes privacy_hundred_no poster_about"),
}
"""Statements that the printed page of an account has beside those."""

CARD: Mapping[str, Free] = {
    "card_qr": always,
    "trial": trial,
    "card_once": lambda facts: not facts.is_blind,
    "card_once_blind": lambda facts: facts.is_blind,
    "invite_only_here": lambda _: False,
}
"""Statements of a card with a personal link, for a server that everybody reaches."""


@dataclass(frozen=True)
class Shown:
    """A public page of results: if the survey is closed, and if answers of a direct arm are on it."""

    facts: Facts
    closed: bool
    has_direct: bool

    @property
    def has_figures(self) -> bool | None:
        """Say whether any figure is on the page; None if that depends on how many people admit something."""
        return True if self.facts.private else None if self.has_direct else False


def free_with_figures(shown: Shown) -> bool | None:
    """Leave it to figures where there may be any."""
    return False if shown.has_figures is False else None


PUBLIC_PAGE: Mapping[str, Callable[[Shown], bool | None]] = {
    "joint_reports": always,
    "results_margin": free_with_figures,
    "results_worst": lambda shown: bool(shown.facts.private),
    "results_meaning": lambda shown: shown.has_figures,
    "results_interval": lambda shown: shown.has_figures if shown.closed else free_with_figures(shown),
    "results_band": lambda shown: False if shown.closed else None,
    "results_one_look": lambda shown: not shown.closed and bool(shown.has_figures),
    "results_first": lambda shown: not shown.closed and not several(shown.facts) and bool(shown.has_figures),
    "results_few": lambda shown: not shown.closed and several(shown.facts) and bool(shown.has_figures),
    "shared_about": lambda shown: bool(shown.facts.private) and not shown.has_direct,
    "shared_about_direct": lambda shown: bool(shown.facts.private) and shown.has_direct,
    "privacy_nothing": lambda shown: not shown.facts.private,
    **together(lambda shown: None if shown.has_direct else False, "shared_few results_public"),
    "odds": lambda shown: bool(shown.facts.private),
    "results_band_head": lambda shown: None if shown.has_figures and not shown.closed else False,
    **together(
        free_with_figures,
        "results_range results_interval_head joint_points answer_yes answer_no poster_about results_mean "
        "joint_among_answered joint_among_asked joint_among_asked_and_answered results_corrected results_declined "
        "results_declined_or_hidden results_quantiles results_quantile results_distribution results_no_limits "
        "results_unlimited fewer_than_one more_than_99 colon",
    ),
}
"""Statements of the public page of results with reports; its figures say which of the others."""

CODEBOOK: Mapping[str, Callable[[Facts], int | None]] = {
    r"TEST RUN: not the real survey; nothing here is a result": trial,
    r"Codebook(: .*)?": lambda _: None,
    r"Reports shown: [\d,]+\.": always,
    r"Epsilon of a whole report: [\d.]+\.": private,
    r"A cell of the reports is empty where the respondent was not asked, as far as they tell\.": always,
    r"Columns of the reports": always,
    r"How people pass through the survey": lambda _: None,
    r"Not randomized: sent as it is\.": lambda facts: (
        sum(not asked.is_private for asked in facts.questions) + int("arms" in facts.document)
    ),
    r"A randomized report and not the answer\.": lambda facts: len(facts.private),
    r"Epsilon of one report: [\d.]+\.": lambda facts: len(facts.private),
    r"The person's own innocuous fact hides it\.": lambda facts: sum(asked.is_own_fact for asked in facts.private),
    r"0 = (both or neither statement is true|no), 1 = (exactly one statement is true|yes)\.": lambda facts: sum(
        asked.is_own_fact for asked in facts.private
    ),
    r"(?m)^Channel of \w+$": lambda facts: None if facts.private else 0,
    r"(?m)^(Values of \w+|Estimated shares of \w+\. Interval of 95%, n = [\d,]+)$": lambda _: None,
    r"(?m)^(Its name is )?(in|, in) (SPSS|Stata) *$": lambda _: None,
    r"0 and 1 are what was sent in this wave; the device remembers a part of the draw over the waves\.": lambda facts: (
        None if memory(facts) else 0
    ),
    r"(2 j \+ bit: the device drew option j \(from 0\) and sent one bit about it"
    r"|2 c \+ end: the device drew coordinate c \(from 0\) and sent one of its ends"
    r"|A number in the question's own unit, after noise; scores\.csv has an unbiased score for each)\.": lambda facts: (
        None if facts.by_device else 0
    ),
    r"(0 and 1 are what was sent, after the coin|The number of one option, from 0"
    r"|A set of options as a bit mask: option j \(from 0\) is in it if bit j is set"
    r"|Each option by itself as a bit mask: bit j \(from 0\) is what was sent of option j"
    r"|The number y of a column of a Hadamard matrix: it speaks for option j \(from 0\) if y AND \(j \+ 1\) has an "
    r"even number of set bits|0 for the low end of the range, 1 for the high end"
    r"|The number of a (mark|stretch of the range); scores\.csv says what number each stands for)\.": lambda facts: (
        None if facts.private else 0
    ),
    r"(?m)^(boolean|select_one|select_multiple|rating|integer|decimal|date|vector)\. *$": lambda facts: (
        len(facts.questions) + int("arms" in facts.document)
    ),
    r"The wave of the report, from 0\. In SPSS and Stata: wave\.": always,
    r"The revision of the survey that was answered\. In SPSS and Stata: revision\.": always,
}
"""Sentences of the codebook as patterns, and how often each of them is true; None where it may be said or not."""

KIOSK_START: Mapping[str, Free] = {
    "kiosk_staff": lambda facts: facts.document["access"] == "open",
    "kiosk_card": token,
    **together(always, "kiosk_start kiosk_withdrawal withdraw"),
}
"""Statements before a person is started on a device that is handed round."""

KIOSK_NOTES: Mapping[str, Free] = {
    "kiosk_again": lambda facts: private(facts) and not token(facts),
    "kiosk_rest": always,
}
"""What such a device says before Begin beside what every device says."""

KIOSK_RECEIPT: Mapping[str, Callable[[Sent], bool]] = dict.fromkeys(
    ("receipt_title_open", "kiosk_erased", "kiosk_once", "kiosk_done", "withdraw"), always
)
"""What its receipt says beside what every receipt says."""
