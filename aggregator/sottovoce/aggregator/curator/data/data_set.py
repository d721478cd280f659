"""Open a curator's data set: a source of records, its declaration and its privacy budget."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from sottovoce.aggregator.curator.budget import ENDING, Answered, Budget
from sottovoce.aggregator.curator.data.encoded_records import PlacedRecords, known_digest, stamp_of
from sottovoce.aggregator.curator.data.read_records import digest_of, read_declaration, read_records
from sottovoce.aggregator.curator.data.useless_answers import useless_words
from sottovoce.aggregator.curator.declaration import DataRecords, Declaration
from sottovoce.aggregator.curator.draws import system_draws
from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerAnchor, LedgerFile
from sottovoce.aggregator.curator.ledger.ledger_format import BudgetTerms
from sottovoce.aggregator.curator.parse_epsilon import check_delta, usual_delta
from sottovoce.aggregator.curator.questions import CuratorQuestion
from sottovoce.aggregator.curator.reidentification import PublishedTable
from sottovoce.aggregator.curator.release import Neighbours, Release, ReleaseTerms
from sottovoce.shared.errors import StorageError


@dataclass(frozen=True)
class DataSet:
    """Data set under a declaration and a budget.

    Attributes:
        source: reads the named columns from the original data; all columns for None.
        budget: budget of exactly these data and this declaration.
        placed: encoded copy of a file's records, which ``bind`` writes and questions read. None if ``source`` reads
            integers already, which takes equally long for all values.
    """

    source: Callable[[Sequence[str] | None], DataRecords]
    declaration: Declaration
    budget: Budget
    placed: PlacedRecords | None = None

    def bind(
        self, epsilon: Fraction, delta: Fraction | None, neighbours: Neighbours
    ) -> tuple[DataRecords, BudgetTerms, list[str]]:
        """Read all records, open the budget, and write the encoded copy; return records, terms and notes.

        These are exact and for the curator alone; this is not a release. Data may be bound again with exactly the same
        terms: the budget stays, and the encoded copy is rewritten.

        Args:
            epsilon: limit for the total cost of all future answers.
            delta: limit for their total delta; None for ``usual_delta`` if n is public, and for 0 if it is not.
            neighbours: neighbouring relation under which both hold.

        Raises:
            SpecError: the data cannot be read, or delta is too large.
            StorageError: the data set has a budget with other terms, or a file cannot be written.
        """
        records = self.source(None)
        public = neighbours is Neighbours.REPLACE
        if delta is None:
            delta = usual_delta(records.count) if public else Fraction(0)
        notes = [warning] if (warning := check_delta(delta, records.count)) else []
        if records.count == 1:
            notes.append("there is one record only: an answer that says something would be about one person")
        terms = BudgetTerms(
            epsilon, delta, neighbours, records.count if public else None, self.budget.data, self.budget.declaration
        )
        if not self.budget.is_open_with(terms):
            self.budget.open(terms)
        if self.placed is not None:
            self.placed.write(records)
            notes.append(f"{self.placed.path.name} holds every record; guard and delete it as the data themselves")
        return records, terms, notes

    def useless(self, question: CuratorQuestion, epsilon: Fraction) -> str:
        """Say that an answer would say nothing, from public figures alone; "" if it is recorded, or says something.

        Raises StorageError if there is no budget, or its ledger is damaged.
        """
        ledger = self.budget.read()
        if ledger.answer_to({**question.form, "epsilon": str(epsilon)}) is not None:
            return ""
        terms = ledger.terms
        return useless_words(question, self.declaration, ReleaseTerms(epsilon, terms.neighbours), terms.records)

    def ask(self, question: CuratorQuestion, epsilon: Fraction) -> Answered:
        """Answer a question; the answer is recorded before it is returned.

        The data are read only if the question was not answered before. For errors see ``Budget.ask``.
        """

        def draw(terms: BudgetTerms) -> Release:
            records = (self.source if self.placed is None else self.placed.read)(question.columns)
            return question.draw(records, ReleaseTerms(epsilon, terms.neighbours), system_draws())

        return self.budget.ask({**question.form, "epsilon": str(epsilon)}, draw)

    def open_plan(self, answers: int, epsilon: Fraction, delta: Fraction | None) -> Answered:
        """Charge answers of equal epsilon whole; no data are read. See ``Budget.open_plan``."""
        return self.budget.open_plan(answers, epsilon, delta)


def declaration_file(path: Path, named: Path | None) -> Path:
    """Return the path of a file's declaration: the given one, or the same name with the ending .yaml."""
    return path.with_suffix(".yaml") if named is None else named


def read_table(path: Path, declaration: Path | None, public: Sequence[str], sensitive: str | None) -> PublishedTable:
    """Read a table as it would be published, for ``reidentify``, of a CSV or Parquet file.

    Args:
        declaration: path of its declaration; None for the file of the same name that ends in .yaml.
        public: its public columns; empty for all but the sensitive one.
    """
    declared = read_declaration(declaration_file(path, declaration))
    named = tuple(public) or tuple(name for name in declared.columns if name != sensitive)
    wanted = (*named, sensitive) if sensitive is not None else named
    return PublishedTable(declared, read_records(path, declared, wanted), named, sensitive)


def open_data_set(path: Path, declaration: Path | None, anchor_folder: str) -> DataSet:
    """Open the data set of a CSV or Parquet file.

    Args:
        declaration: path of its declaration; None for the file of the same name that ends in .yaml.
        anchor_folder: value of the setting ``SOTTOVOCE_LEDGER_ANCHOR_DIR``; "" if it is not set.

    Raises:
        SpecError: the file cannot be read, or its declaration cannot be read or is invalid.
        StorageError: as ``open_ledger_anchor``.
    """
    anchor = open_ledger_anchor(anchor_folder, path.parent)
    declared = read_declaration(declaration_file(path, declaration))
    # The stamp is taken before the digest: after a write in between it no longer matches, and the file is hashed again.
    stamp = stamp_of(path)
    digest = known_digest(path) or digest_of(path)
    budget = Budget(LedgerFile(path.with_name(path.name + ENDING)), digest, declared.digest, anchor)
    placed = PlacedRecords(path, digest, declared, stamp)
    return DataSet(partial(read_records, path, declared), declared, budget, placed)


def open_ledger_anchor(anchor_folder: str, data: Path) -> LedgerAnchor:
    """Return the folder of heads after checking that it is outside the folder of the data.

    Raises:
        StorageError: the folder (``SOTTOVOCE_LEDGER_ANCHOR_DIR``) is not set, does not exist, or is inside the
            data's.
    """
    if not anchor_folder:
        advice = "name a folder outside the data and their backups in SOTTOVOCE_LEDGER_ANCHOR_DIR"
        raise StorageError(f"a budget needs a second place for its head, against old copies of it: {advice}")
    anchor = LedgerAnchor(Path(anchor_folder))
    anchor.check_apart(data)
    return anchor
