"""Choose how a result is said, and put it for a terminal: tables with limits, and sentences.

The text is made from the JSON documents, so local results and those of a remote aggregator read the same.
"""

from typing import Any

from sottovoce.aggregator.analysis.data_file.file_view import DataFilesInWords
from sottovoce.aggregator.analysis.planned_comparisons import PLANNED
from sottovoce.aggregator.analysis.result_view import (
    Document,
    ModelsInWords,
    ShownAnswer,
    ShownTable,
    TablesInWords,
    planned_tables,
)
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.i18n.translator import ENGLISH, Words


def answer_in_words(document: Document, names: VariableNames) -> ShownAnswer:
    """Format a result by the format of its document."""
    tables, of_files = TablesInWords(names), DataFilesInWords(names)
    writers = {
        "sottovoce-crosstab/1": tables.crosstab,
        "sottovoce-comparison/1": tables.compare,
        "sottovoce-pairs/1": tables.pairs,
        "sottovoce-test/1": tables.known_values,
        "sottovoce-mixture/1": tables.mixture,
        "sottovoce-regression/1": ModelsInWords(names).regression,
        "sottovoce-shares/1": of_files.shares,
        "sottovoce-weights/1": of_files.weights,
        "sottovoce-list-experiment/1": of_files.list_experiment,
        "sottovoce-items/1": of_files.items,
    }
    return writers[document["format"]](document)


def in_words(document: dict[str, Any], words: Words = ENGLISH.words) -> list[ShownTable]:
    """Return the tables and sentences of a result in the language of ``words``, with names for labels."""
    names = VariableNames(words)
    if document["format"] == PLANNED:
        note = words.translate("results_plan_note", count=len(document["comparisons"]))
        title = f"{words.translate('results_plan')}: {document['survey']}"
        return [ShownTable(title, sentences=[note]), *planned_tables(document["comparisons"], names)]
    answer = answer_in_words(document, names)
    below = {"joint_notes": answer.notes, "joint_paper": [answer.paper] if answer.paper else []}
    return [*answer.tables, *(ShownTable(words.translate(key), sentences=told) for key, told in below.items() if told)]
