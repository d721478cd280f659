"""Draw mutants of the privacy code with cosmic-ray's operators, and print them as entries of ``mutants.yaml``.

The list in the repository was drawn once; what was equivalent to the source was replaced by the next of its stratum.
Run it in an environment that has cosmic-ray 8.7.0 and PyYAML: ``python -m tests.mutation.draw``.
"""

import ast
import random
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import yaml
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.zero_iteration_for_loop import ZeroIterationForLoop
from cosmic_ray.plugins import get_operator, operator_names

from tests.mutation.edits import PYTHON, ROOT, Edit

SEED = 20261124

STRATA = {
    "mechanisms": (18, ["shared/sottovoce/shared/mechanisms/*.py"]),
    "randomizers": (10, ["client/sottovoce/client/randomizers.py", "client/sottovoce/client/draws.py",
                         "client/sottovoce/client/memo.py", "client/sottovoce/client/question_sample.py",
                         "shared/sottovoce/shared/exact_noise.py"]),
    "ledger": (15, ["client/sottovoce/client/ledger*.py", "client/sottovoce/client/file_ledger.py"]),
    "tokens": (16, ["shared/sottovoce/shared/redemption.py", "shared/sottovoce/shared/redemption.py",
                    "shared/sottovoce/shared/blind_signatures.py", "client/sottovoce/client/redemption.py",
                    "aggregator/sottovoce/aggregator/invitations/*.py"]),
    "admission": (12, ["aggregator/sottovoce/aggregator/intake/admission.py",
                       "aggregator/sottovoce/aggregator/intake/decode.py"]),
    "reports": (15, ["aggregator/sottovoce/aggregator/storage/reports/*.py"] + [
                     f"aggregator/sottovoce/aggregator/storage/{name}.py" for name in
                     ("pack_values", "sql_statements", "survey_log")]),
    "estimators": (14, ["aggregator/sottovoce/aggregator/estimators/*.py"]),
}  # fmt: skip
"""Number of mutants and source files of each stratum."""

SPARE = 8
"""Mutants drawn beyond the number of a stratum, for those that turn out to be equivalent."""

LEFT_OUT = ("RemoveDecorator", "NoOp", "VariableInserter", "VariableReplacer")
"""Operators that change nothing in a function, or need a configuration."""


def main() -> None:
    """Print each stratum as YAML, in the order drawn, the spare ones last."""
    chance = random.Random(SEED)  # noqa: S311 - a draw that can be repeated, of mutants and not of answers
    for stratum, (number, patterns) in STRATA.items():
        places = defaultdict(list)
        for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
            for position, operator, occurrence in positions(path.read_text(encoding="utf-8")):
                places[path, position].append((operator, occurrence))
        order = sorted(places)
        chance.shuffle(order)
        chosen = ((path, *chance.choice(places[path, position])) for path, position in order)
        edits = (found for path, operator, occurrence in chosen if (found := as_edit(path, operator, occurrence)))
        for index, (operator, edit) in enumerate(islice(edits, number + SPARE)):
            entry = {"stratum": stratum, "operator": operator, "function": edit.function,
                     "change": edit.change, "to": edit.to, "nth": edit.nth, "spare": index >= number}  # fmt: skip
            yaml.safe_dump({edit.file: [entry]}, sys.stdout, sort_keys=False, width=120)


def positions(text: str) -> Iterator[tuple[tuple[int, int], str, int]]:
    nodes = list(ast_nodes(get_ast(text)))
    for name in sorted(operator_names()):
        if any(word in name for word in LEFT_OUT):
            continue
        operator = get_operator(name)()
        found = (position for node in nodes for position in operator.mutation_positions(node))
        for occurrence, (start, _) in enumerate(found):
            yield start, name, occurrence


def as_edit(path: Path, name: str, occurrence: int) -> tuple[str, Edit] | None:
    """Return a mutant as an edit; None in annotations, outside of functions, and where it is no Python."""
    operator = get_operator(name)()
    text = path.read_text(encoding="utf-8")
    try:
        changed = mutate_code(text, operator, occurrence)
        if is_same(text, changed):
            return None
    except (AttributeError, SyntaxError):  # cosmic-ray cannot replace a dotted name of an exception
        return None
    place, old, new = changed_tokens(text, changed)
    if isinstance(operator, ZeroIterationForLoop):
        place, old, new = text.rindex("in ", 0, place), "in", "in [] and"
    function = function_at(text, text.count("\n", 0, place) + 1)
    if function is None:
        return None
    edits = (Edit("", str(path.relative_to(ROOT)), function, old, new, nth, False, {}) for nth in count(1))
    return type(operator).__name__, next(edit for edit in edits if first_difference(text, edit.apply(text)) >= place)


def changed_tokens(text: str, other: str) -> tuple[int, str, str]:
    before, after = ([match for match in PYTHON.finditer(each) if match["skip"] is None] for each in (text, other))
    start = next(index for index, match in enumerate(before) if match[0] != after[index][0])
    stop, end = len(before), len(after)
    while min(stop, end) > start and before[stop - 1][0] == after[end - 1][0]:
        stop, end = stop - 1, end - 1
    if start in {stop, end}:
        start -= 1
    old, new = (" ".join(match[0] for match in each) for each in (before[start:stop], after[start:end]))
    return before[start].start(), old, new


def first_difference(text: str, other: str) -> int:
    return next(index for index, (one, two) in enumerate(zip(text, other, strict=False)) if one != two)


def is_same(text: str, other: str) -> bool:
    """Return whether two sources differ in nothing but layout and annotations."""
    return bare(text) == bare(other)


def bare(text: str) -> str:
    """Return the syntax tree without annotations; a SyntaxError also for what the compiler only warns of."""
    with warnings.catch_warnings(action="error"):
        compile(text, "mutant", "exec")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
    return ast.dump(tree)


def function_at(text: str, line: int) -> str | None:
    """Return the qualified name of the outermost function around a line."""
    names, body = [], ast.parse(text).body
    while True:
        around = [node for node in body if node.lineno <= line <= (node.end_lineno or 0)]
        if not around or not isinstance(around[0], ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        names.append(around[0].name)
        if not isinstance(around[0], ast.ClassDef):
            return ".".join(names)
        body = around[0].body


if __name__ == "__main__":
    main()
