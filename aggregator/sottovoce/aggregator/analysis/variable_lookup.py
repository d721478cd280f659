"""From the name that an analyst gives to the variable that it means: the one place where names are looked up."""

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence
from sottovoce.shared.spec import Question

NOT_IN_FILE = (
    "the file of reports has no column '{variable}': public answers are in a file of their own (reports-with-public)"
)
COUNTS_AS, COUNTS_AS_NONE = (
    "'{variable}': who gave no answer counts as '{category}'",
    "'{variable}': who gave no answer counts as none of its options",
)


def find_variable(columns: Columns, name: str) -> tuple[Question, int]:
    """
    The question as the newest revision asks it, and which of its variables is meant.

    Args:
        columns: the reports.
        name: a question's, or an option's or coordinate's after a dot.

    Raises:
        EstimateError: there is none, or the reports have no column for it. The message tells which names there are, and
            does not repeat the one that was given: it comes from elsewhere.
    """
    question = columns.question(name.partition(".")[0])
    if question is None:
        known = tuple(each.name for each in columns.survey.questions)
        raise EstimateError(Sentence("the survey asks no such question; there are: {variables}", variables=known))
    parts = tuple(variable.full_name for variable in variables_of(question))
    if name not in parts:
        raise EstimateError(Sentence("this question is asked for as: {variables}", variables=parts))
    if question.name not in columns.values:
        raise EstimateError(Sentence(NOT_IN_FILE, variable=question.name))
    return question, parts.index(name)


def check_one_wave(columns: Columns, question: Question) -> None:
    """
    Refuse several waves of a question whose draw devices remember.

    Raises:
        EstimateError: what one person reports in several waves hangs together.
    """
    if question.mechanism is not None and question.mechanism.waves > 1 and len(np.unique(columns.wave)) > 1:
        raise EstimateError(
            Sentence(
                "devices remember their draw of '{variable}' from wave to wave, so one person's reports are not "
                "independent: choose one wave",
                variable=question.name,
            )
        )


def absence(question: Question) -> tuple[Sentence, ...]:
    """That no answer is counted as one, where it is."""
    if question.absent is None:
        return ()
    answer = question.answer(question.absent)
    if isinstance(answer, list):
        return (Sentence(COUNTS_AS_NONE, variable=question.name),)
    return (Sentence(COUNTS_AS, variable=question.name, category=str(answer)),)
