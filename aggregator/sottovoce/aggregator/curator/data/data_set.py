"""A curator's data set: a file, what is declared of it, and its budget, which lies beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from sottovoce.aggregator.curator.budget import ENDING, Answered, Budget
from sottovoce.aggregator.curator.data.encoded_records import PlacedRecords, known_digest, stamp_of
from sottovoce.aggregator.curator.data.read_csv import digest_of, read_declaration, read_records
from sottovoce.aggregator.curator.declaration import Declaration
from sottovoce.aggregator.curator.draws import system_draws
from sottovoce.aggregator.curator.ledger.ledger_anchor import Heads
from sottovoce.aggregator.curator.ledger.ledger_format import BudgetTerms
from sottovoce.aggregator.curator.ledger.ledger_storage import LedgerFile
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.parse_epsilon import check_delta, usual_delta
from sottovoce.aggregator.curator.questions import CuratorQuestion
from sottovoce.aggregator.curator.records import DataRecords
from sottovoce.aggregator.curator.reidentification import PublishedTable
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.shared.errors import StorageError


@dataclass(frozen=True)
class DataSet:
    """
    Records under a declaration.

    Attributes:
        source: gives the named columns, or all, as whoever has the data keeps them.
        declaration: what they hold.
        budget: of just these data and this declaration.
        placed: where binding keeps a file's records, and where verbs read them; None where ``source`` has whole
            numbers already, which take as long whatever they are.
    """

    source: Callable[[Sequence[str] | None], DataRecords]
    declaration: Declaration
    budget: Budget
    placed: PlacedRecords | None = None

    def bind(
        self, epsilon: Fraction, delta: Fraction | None, neighbours: Neighbours
    ) -> tuple[DataRecords, BudgetTerms, list[str]]:
        """
        Check all of the content, once, place it, and open the budget.

        A file may be bound again with the very same terms: the budget stays, and the records are placed anew.

        Args:
            epsilon: of everything that will ever be answered.
            delta: as well; None for 1/n^2 where n is public, and 0 where it is not.
            neighbours: the relation under which both are meant.

        Returns:
            (records, terms, notes): for the curator's eyes; this is no release.
        """
        records = self.source(None)
        public = neighbours is Neighbours.REPLACE
        if delta is None:
            delta = usual_delta(records.count) if public else Fraction(0)
        notes = [warning] if (warning := check_delta(delta, records.count)) else []
        terms = BudgetTerms(
            self.budget.data,
            self.budget.declaration,
            epsilon,
            delta,
            neighbours,
            records.count if public else None,
        )
        if self.placed is None or not self.budget.has(terms):
            self.budget.open(terms)
        if self.placed is not None:
            self.placed.write(records)
            notes.append(f"{self.placed.path.name} holds every record; guard and delete it as the data themselves")
        return records, terms, notes

    def ask(self, question: CuratorQuestion, epsilon: Fraction) -> Answered:
        """The answer to a question, recorded before it is returned; the data are read only if it is a new one."""

        def draw(terms: BudgetTerms) -> Release:
            records = (self.source if self.placed is None else self.placed.read)(question.columns)
            return question.draw(records, ReleaseTerms(epsilon, terms.neighbours), system_draws())

        return self.budget.ask({**question.form, "epsilon": str(epsilon)}, draw)


def declaration_file(path: Path, named: Path | None) -> Path:
    """Where the declaration of a file is: where it was said, or beside it."""
    return path.with_suffix(".yaml") if named is None else named


def read_table(path: Path, declaration: Path | None, public: Sequence[str], sensitive: str | None) -> PublishedTable:
    """
    A table as it would be published, for ``reidentify``.

    Args:
        path: of the CSV or Parquet file.
        declaration: of its declaration; None for the file beside it.
        public: its public columns; none for all but the sensitive one.
        sensitive: the sensitive column, or None.
    """
    declared = read_declaration(declaration_file(path, declaration))
    named = tuple(public) or tuple(name for name in declared.columns if name != sensitive)
    wanted = (*named, sensitive) if sensitive is not None else named
    return PublishedTable(declared, read_records(path, declared, wanted), named, sensitive)


def open_data_set(path: Path, declaration: Path | None, heads: str) -> DataSet:
    """
    The data set of a file.

    Args:
        path: of the CSV or Parquet file.
        declaration: of its declaration; None for the file of the same name that ends in .yaml.
        heads: the folder of heads, as the setting names it; "" if it names none.

    Raises:
        SpecError: the file or its declaration cannot be read, or says something wrong.
        StorageError: the folder of heads is not named, or lies with the data.
    """
    kept = kept_heads(heads, path.parent)
    declared = read_declaration(declaration_file(path, declaration))
    stamp = stamp_of(path)
    digest = known_digest(path) or digest_of(path)
    budget = Budget(LedgerFile(path.with_name(path.name + ENDING)), digest, declared.digest, kept)
    placed = PlacedRecords(path, digest, declared, stamp)
    return DataSet(partial(read_records, path, declared), declared, budget, placed)


def kept_heads(heads: str, data: Path) -> Heads:
    """
    The folder of heads.

    Args:
        heads: as the setting names it; "" if it names none.
        data: the folder of the data, outside which it must lie.
    """
    if not heads:
        told = "name a folder outside the data and their backups in SOTTOVOCE_LEDGER_ANCHOR_DIR"
        raise StorageError(f"a budget needs a second place for its head, against old copies of it: {told}")
    kept = Heads(Path(heads))
    kept.check_apart(data)
    return kept
