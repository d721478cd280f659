"""Channels of all questions as two tables, so that any program can decode the reports.

channels.csv   One row for each share that can be estimated: which reports carry it (``rule`` and ``code``), and
               a = P(support | true), b = P(support | not true). The unbiased score of a report is (s - b) / (a - b),
               s = 1 if it supports the option, else 0:
                 equals   every report; s = 1 if the value is ``code``
                 bit      every report; s is bit ``code`` of the value
                 drawn    reports whose value, halved and rounded down, is ``code``; s is the value's lowest bit
                 parity   every report; s = 1 if value AND ``code`` has an even number of set bits
               Any yes/no channel is also a forced response design: the truth with probability ``p_truth`` = a - b, a
               forced yes with ``p_forced_yes`` = b, a forced no with ``p_forced_no`` = 1 - a. R packages accept these:
               rr with design "forced-known" as p, p1, p0; RRreg with model "FR" as p = c(p0, p1). GLMMRR takes any a
               and b as p1 and p2 of its model "Kuk"; its model "Forced" needs a - b of at least 1/2.
               ``both_in`` and ``both_out`` are P(a report supports two options | the truth is one of them) and P(two |
               it is neither), from which the limits of shares among those who answered follow.
               ``block`` names the channel of questions that are randomized together: ``odds``, ``radius``, ``k`` the
               numbers of options, ``with`` their columns. A reported combination has the weight ``odds`` if at most
               ``radius`` of its answers differ from the truth, else 1. Each of these rows alone is right for its own
               question; products of scores of two questions of one block are not.
scores.csv     One row for each reported value of a number as files have it, with its ``score``, which is unbiased for
               the mean.
               A public number of more than 10,001 values has no rows: a value is its own score.
               A value without a row carries no information on that mean (another coordinate was drawn).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.estimators.public import LISTED
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.export.labels import coding, option_labels
from sottovoce.aggregator.export.tables import unit_grid
from sottovoce.aggregator.surveys.lifecycle import same_question
from sottovoce.shared.channel_text import dump_block
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.spec import Question, Survey

RULES = {
    "yes_no": "equals",
    "waves": "equals",
    "option": "equals",
    "set": "bit",
    "bits": "bit",
    "drawn_option": "drawn",
    "own_mark": "parity",
}
"""Rule by which reports of a kind support an option; all other kinds are for numbers."""


@dataclass(frozen=True)
class Channel:
    """Channel of one question in some revisions.

    Attributes:
        question: the question of the newest revision.
        mechanism: mechanism in these revisions; None if the question is public.
        revisions: numbers of the revisions that use this channel.
        shares: (option, label, rule, code, a, b) of each share; empty for a number.
        scores: (name of the mean, {reported value: score}); empty for shares.
        both: P(support two options | the truth is one of them) and P(support two | it is neither).
        block: channel of the questions that are randomized together with this one; "" for none.
    """

    question: Question
    mechanism: Mechanism | None
    revisions: tuple[int, ...]
    shares: tuple[tuple[str, str, str, int, Fraction, Fraction], ...]
    scores: tuple[tuple[str, Mapping[int, float]], ...]
    both: tuple[float, float] = (0.0, 0.0)
    block: str = ""


def channels_of(revisions: Sequence[RevisionCounts], names: Sequence[str]) -> list[Channel]:
    """Return the channels of the newest revision's questions, each with the revisions that share it.

    ``revisions`` are all of one survey, oldest first; ``names`` are the questions in the file.
    """
    found: list[Channel] = []
    for question in revisions[-1].survey.questions:
        if question.name not in names:
            continue
        by_mechanism: dict[tuple[Mechanism | None, str], list[int]] = {}
        for revision in revisions:
            for place, asked in enumerate(revision.survey.questions):
                if same_question(asked, question):
                    # Revisions with equal mechanisms share a channel, and so one row.
                    key = asked.mechanism, _block(revision.survey, place)
                    by_mechanism.setdefault(key, []).append(revision.survey.revision)
        for (mechanism, block), numbers in by_mechanism.items():
            found.append(replace(_channel(question, mechanism, tuple(numbers)), block=block))
    return found


def codings(channels: Sequence[Channel], name: str) -> dict[str, tuple[int, ...]]:
    """Return how the reports of a question are coded, in a sentence each, with the revisions: often one."""
    found: dict[str, tuple[int, ...]] = {}
    for each in channels:
        if each.question.name == name:
            how = coding(replace(each.question, mechanism=each.mechanism))
            found[how] = (*found.get(how, ()), *each.revisions)
    return found


def coding_by_revision(channels: Sequence[Channel], question: Question) -> str:
    """Describe the coding of a column of reports, where it differs of each revision."""
    found = codings(channels, question.name)
    if len(found) < 2:
        return coding(question)
    # Steps of one revision are written in the unit of the newest.
    if question.domain.grid is not None:
        return (
            "A randomized report. Its code differs between revisions: scores.csv has the score of each value of each."
        )
    return " ".join(f"Revision {' '.join(map(str, numbers))}: {how}" for how, numbers in found.items())


def _block(survey: Survey, place: int) -> str:
    block = survey.block_of(place)
    return "" if block is None else dump_block(block.mechanism, [survey.questions[at].name for at in block.questions])


def _channel(question: Question, mechanism: Mechanism | None, revisions: tuple[int, ...]) -> Channel:
    if question.domain.grid is not None:
        return Channel(question, mechanism, revisions, (), tuple(_scores(question, mechanism)))
    rule = "equals" if mechanism is None else RULES[mechanism.report_kind]
    # Every mechanism for shares has P(support | true) and P(support | not true).
    a, b = (Fraction(1), Fraction(0)) if mechanism is None else mechanism.support  # type: ignore[attr-defined]
    labels = option_labels(question, "en")
    # The share of "no" is one minus the share of "yes".
    first = int(question.is_yes_no)
    rows = [
        (option, labels[index], rule, index + (rule == "parity"), a, b)
        for index, option in enumerate(question.options)
        if index >= first
    ]
    both = variables_of(replace(question, mechanism=mechanism))[0].both
    return Channel(question, mechanism, revisions, tuple(rows), (), both)


def _scores(question: Question, mechanism: Mechanism | None) -> Iterator[tuple[str, Mapping[int, float]]]:
    if mechanism is None and question.domain.size > LISTED:
        return
    for variable in variables_of(replace(question, mechanism=mechanism)):
        reported = np.arange(question.domain.size if mechanism is None else mechanism.largest + 1)
        reported = reported[variable.observed(reported)]
        yield variable.name or "mean", dict(zip(reported.tolist(), variable.scores(reported).tolist(), strict=True))


CHANNEL_COLUMNS = (
    "question", "revisions", "option", "label", "mechanism", "epsilon", "rule", "code", "a", "b",
    "p_truth", "p_forced_yes", "p_forced_no", "both_in", "both_out", "block",
)  # fmt: skip
SCORE_COLUMNS = ("question", "revisions", "mean", "value", "score")


def channel_rows(channels: Sequence[Channel]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of channels.csv, by ``CHANNEL_COLUMNS``."""
    for channel in channels:
        made = channel.mechanism
        name, epsilon = ("public", 0.0) if made is None else (made.name, made.epsilon)
        for option, label, rule, code, a, b in channel.shares:
            numbers = map(float, (a, b, a - b, b, 1 - a))
            before = channel.question.name, _joined(channel), option, label, name, epsilon, rule, code
            yield *before, *numbers, *channel.both, channel.block


def score_rows(channels: Sequence[Channel]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of scores.csv, by ``SCORE_COLUMNS``."""
    for channel in channels:
        for name, scores in channel.scores:
            grid = unit_grid(channel.question)
            for value, score in scores.items():
                yield channel.question.name, _joined(channel), name, value if grid is None else grid.text(value), score


def _joined(channel: Channel) -> str:
    return " ".join(map(str, channel.revisions))
