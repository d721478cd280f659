"""Print joint results for researchers: tables with limits, and sentences.

The text is made from the JSON documents, so local results and those of a remote aggregator read the same.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sottovoce.aggregator.i18n.formatting import TERMINAL

Document = dict[str, Any]

ERRORS = {
    "observed": "standard errors from the observed information",
    "expected": "standard errors from the expected information",
    "opg": "standard errors from the outer products of scores",
    "sandwich": "robust standard errors (sandwich)",
    "clustered": "clustered standard errors",
    "none": "no standard errors, because there is no finite maximum; limits from likelihood ratios where they exist",
}

MEASURES = {
    "risk_difference": "Difference in the share of {yes} ({rows}: {one} minus {other})",
    "risk_ratio": "Ratio of the shares of {yes} ({rows}: {one} to {other})",
    "odds_ratio": "Odds ratio",
    "phi": "Correlation (phi)",
}


@dataclass(frozen=True)
class PrintedTable:
    """Table to print: title above, headings of the columns, cells row by row, sentences below."""

    title: str
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...] = ()


def in_words(document: Document) -> list[PrintedTable]:
    """Return the tables and sentences of a joint result, by the format of its document."""
    return list(_WORDS[document["format"]](document))


def _crosstab(document: Document) -> Iterator[PrintedTable]:
    if "within" not in document:
        yield from _tables(document, "", _limits(document))
        return
    for table in document["tables"]:
        yield from _tables(table, f", where {document['within']} is {table['category']}", _limits(document))
    sentences = (*_test(document["independence"], f"Within the categories of {document['within']}"),)
    if sentences or document["warnings"]:
        yield PrintedTable("All of them together", (), (), (*sentences, *document["warnings"]))


def _limits(document: Document) -> str:
    return f"{100 * document.get('confidence', 0.95):.6g} % limits"


def _tables(table: Document, where: str, limits: str) -> Iterator[PrintedTable]:
    rows, columns = table["rows"], table["columns"]
    headings = (f"{rows} \\ {columns}", *table["column_categories"])
    cells = _grid(table, table["cells"])
    of = "all" if _among(table) == "" else PEOPLE[table["people"]]
    yield PrintedTable(f"{rows} by {columns}{where}: share of {of}, with {limits}", headings, cells)
    shares = _grid(table, table["conditional"])
    title = f"{columns} among each category of {rows}{where}{_among(table)}, with {limits}"
    yield PrintedTable(title, *_with_declined(table, headings, shares), tuple(_below(table)))


def _with_declined(
    document: Document, headings: tuple[str, ...], lines: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings and lines with a column of the people who gave no answer, where there are some."""
    declined = document.get("declined")
    if not declined:
        return headings, lines
    more = [TERMINAL.with_limits(one, "shown", TERMINAL.percent) for one in declined]
    heading = "not asked or no answer" if document["people"] == "asked_and_answered" else "no answer"
    return (*headings, heading), tuple((*line, cell) for line, cell in zip(lines, more, strict=True))


def _grid(table: Document, cells: Sequence[Document]) -> tuple[tuple[str, ...], ...]:
    named = {(one["row"], one["column"]): TERMINAL.with_limits(one, "shown", TERMINAL.percent) for one in cells}
    categories = table["column_categories"]
    return tuple((row, *(named[row, column] for column in categories)) for row in table["row_categories"])


def _below(table: Document) -> Iterator[str]:
    yield f"{table['n']:,} reports contain both questions; all figures are based on them."
    yield from _test(table["independence"], "Independence")
    names = {"rows": table["rows"], "yes": table["column_categories"][-1], "one": table["row_categories"][-1]}
    for key, words in MEASURES.items():
        if key in table:
            show = TERMINAL.points if key == "risk_difference" else TERMINAL.figure
            label = words.format(**names, other=table["row_categories"][0])
            yield f"{label}: {TERMINAL.with_limits(table[key], 'estimate', show)}."
    forged = table["forged"]
    yield (
        "If 1 % of all reports were forged in the same way, they would be "
        f"{TERMINAL.percent(forged['share'])} of these and could change a cell by up to "
        f"{TERMINAL.points(forged['shift'])}."
    )
    if table["drawn_evenly"] is not None:
        yield f"Did devices draw the options equally often: {TERMINAL.p_equals(table['drawn_evenly'])}."
    yield from _weighted(table, OWN_WEIGHTS)
    yield from _warnings(table)


def _shares(document: Document) -> Iterator[PrintedTable]:
    headings = ("", "estimate", _limits(document), "reports")
    lines = []
    for question in document["questions"]:
        corrected = [(each, ", corrected") for each in question.get("corrected", {"estimates": ()})["estimates"]]
        for one, mark in (*((each, "") for each in question["estimates"]), *corrected):
            show = TERMINAL.percent if one["kind"] == "share" else TERMINAL.figure
            point = TERMINAL.point(one["clipped"], show)
            name = f"{question['name']}: {one['option']}{mark}"
            within = TERMINAL.point(None, show) if one["low"] is None else TERMINAL.limits(one, show)
            lines.append((name, point, within, f"{one['n']:,}"))
    shown = (
        f"{one['name']}: {one['answered']:,} answered of {one['shown']:,} who saw the button."
        for one in document["questions"]
        if "shown" in one
    )
    bare = any(one["low"] is None for question in document["questions"] for one in question["estimates"])
    why = (TERMINAL.no_limits,) if bare else ()
    sentences = (*_careless(document), *shown, *why, *_weighted(document), *_warnings(document))
    yield PrintedTable(f"{document['file']}: {document['reports']:,} rows", headings, tuple(lines), sentences)


def _careless(document: Document) -> Iterator[str]:
    if "careless" in document:
        found = document["careless"]
        names = ", ".join(each["name"] for each in found["anchors"])
        limits = TERMINAL.limits(found, TERMINAL.percent)
        yield f"Careless reports: {TERMINAL.percent(found['clipped'])} ({limits}), by {names}; corrected: the others."


def _comparison(document: Document) -> Iterator[PrintedTable]:
    show = TERMINAL.figure if document["category"] is None else TERMINAL.percent
    what = "mean" if document["category"] is None else f"share of {document['category']}"
    headings = (document["groups"], what, _limits(document))
    values = tuple(_line(one, show, one["group"]) for one in document["values"])
    title = f"{document['outcome']}: {what} in each group of {document['groups']}{_among(document)}"
    yield PrintedTable(title, *_with_declined(document, headings, values))
    apart = TERMINAL.figure if document["category"] is None else TERMINAL.points
    differences = tuple(_line(one, apart, f"{one['group']} minus {one['from']}") for one in document["differences"])
    found = document.get("ratios", ())
    ratios = tuple(_line(one, TERMINAL.figure, f"{one['group']} / {one['from']}") for one in found)
    if ratios:
        yield PrintedTable("Ratios", ("groups", "ratio", _limits(document)), ratios)
    n = f"{document['n']:,} reports contain both questions; all figures are based on them."
    if ratios and not document["independence"]:
        n = f"{document['n']:,} reports, each of one arm; people who left after Begin are in none."
    sentences = (n, *_test(document["independence"], "Do the groups differ"), *_weighted(document, OWN_WEIGHTS))
    sentences = (*sentences, *_warnings(document))
    yield PrintedTable("Differences", ("groups", "difference", _limits(document)), differences, sentences)


def _planned(document: Document) -> Iterator[PrintedTable]:
    made = document["comparisons"]
    told = f"{len(made)} planned comparisons; limits are not adjusted for their number."
    yield PrintedTable(f"Planned comparisons of {document['survey']}", (), (), (told,))
    for each in made:
        if each["comparison"] is None:
            yield PrintedTable(each["planned"]["question"], (), (), (f"No result: {each['problem']}.",))
            continue
        if "design" in each["planned"]:
            yield from _mixture(each["comparison"])
            continue
        values, *others = _comparison(each["comparison"])
        yield values
        # The plan names one of the two measures; the other is not shown beside it.
        measure = each["planned"]["measure"]
        shown = next((each for each in others if each.title.lower().startswith(measure)), PrintedTable("", (), ()))
        yield replace(shown, sentences=others[-1].sentences)


def _regression(document: Document) -> Iterator[PrintedTable]:
    title = f"{document['outcome']}: {document['model']} model of {document['n']:,} reports{_among(document)}"
    headings = (*_HEADINGS, _limits(document))
    yield PrintedTable(title, headings, _coefficients(document["coefficients"]), (f"{_errors(document)}.",))
    if document["ame"]:
        effects = [{**one, "term": f"{one['term']} against {one['base']}" if "base" in one
                    else f"{one['term']} (derivative)"} for one in document["ame"]]  # fmt: skip
        yield PrintedTable("Average marginal effects", headings, _coefficients(effects), (EFFECTS,))
    yield from _random_intercept(document, headings)
    yield from _predictions(document)
    yield from _detectable(document)
    for key, title in _OTHER_MODELS.items():
        other = document.get(key)
        if other is not None:
            sentences = (f"{_errors(other)}.", *_warnings(other))
            yield PrintedTable(title, headings, _coefficients(other["coefficients"]), sentences)
    tests = (f"Likelihood-ratio test for {one['predictor']}: {_tested(one)}." for one in document["tests"])
    sentences = (*tests, *_declining_test(document), *_weighted(document), *_warnings(document))
    yield PrintedTable("Tests and notes", (), (), sentences)


EFFECTS = (
    "Of a category: mean difference of predictions to its base; of a number: mean derivative. Interactions move "
    "along; the mean is over the people of these reports, and over the estimated distribution of randomized predictors."
)

PEOPLE = {
    "answered": "those who answered",
    "asked": "those who were asked",
    "asked_and_answered": "those who were asked and answered",
    "careful": "those who answered with care",
}
"""People whom a result describes, where they are not all."""


def _detectable(document: Document) -> Iterator[PrintedTable]:
    of_odds = document["model"] != "linear"
    lines = tuple(
        (
            _term(one),
            TERMINAL.figure(math.exp(one["smallest"]) if of_odds else one["smallest"]),
            *([f"{one['people']:,}"] if of_odds else []),
        )
        for one in document.get("detectable", ())
        if one["smallest"] < LARGEST_EXPONENT
    )
    headings = ("term", "odds ratio", "people for an odds ratio of 2") if of_odds else ("term", "change")
    if lines:
        yield PrintedTable("Smallest effects that these reports find (5 % level, power 80 %)", headings, lines)


def _among(document: Document) -> str:
    people = document.get("people")
    return "" if people is None else f", among {PEOPLE[people]}"


def _declining_test(document: Document) -> Iterator[str]:
    test = document.get("declining_test")
    if test is not None:
        what = "one common share of declined answers against the model of declining"
        yield f"Likelihood-ratio test of {what}: {_tested(test)}."


OWN_WEIGHTS = "; limits of a row, cell or group take its own, where public answers show whose it is"


def _weighted(document: Document, rule: str = "") -> Iterator[str]:
    if document.get("deff", 1) != 1:
        yield f"Design effect of the weights (Kish): {document['deff']:.2f}{rule}."


LARGEST_EXPONENT = 700.0
"""Largest argument for ``exp``; beyond it a float overflows."""

_HEADINGS = ("term", "estimate", "std. error")
_OTHER_MODELS = {
    "linear": "For comparison: the linear model of the shares, which always has a solution",
    "declining": "Model of declining: the log odds of no answer",
    "of_predictor": "Model of the randomized predictor, which this model uses",
}


def _coefficients(found: Sequence[Document]) -> tuple[tuple[str, ...], ...]:
    figure = TERMINAL.figure
    return tuple(
        (*_line(one, figure, _term(one))[:2], TERMINAL.point(one["std_error"], figure), TERMINAL.limits(one, figure))
        for one in found
    )


def _term(one: Document) -> str:
    return f"{one['category']}: {one['term']}" if "category" in one else str(one["term"])


def _line(one: Document, show: Callable[[float], str], *names: str) -> tuple[str, ...]:
    return (*names, TERMINAL.estimate(one, show), TERMINAL.limits(one, show))


def _errors(document: Document) -> str:
    return ERRORS[document["std_error_kind"]].capitalize()


def _pairs(document: Document) -> Iterator[PrintedTable]:
    lines = tuple(
        (
            f"{one['first']}, {one['second']}",
            f"{one['n']:,}",
            f"{one['statistic']:.2f}",
            str(one["df"]),
            TERMINAL.p(one["p"]),
            TERMINAL.p(one["q"]),
        )
        for one in document["pairs"]
    )
    title = f"Associations between questions: every pair, {document['reports']:,} reports"
    rule = (
        "Report only pairs with q up to .05 as findings; expect about 5 in 100 of them to be due to chance. "
        f"The q values count all {document['possible']:,} pairs that reports could contain."
    )
    yield PrintedTable(title, ("pair", "reports", "chi-square", "df", "p", "q"), lines, (rule, *_warnings(document)))


METHODS = {
    "exact-binomial": "exact binomial test",
    "score": "chi-square test with the variance of the channel",
    "inversion": "inversion of the interval",
}


def _one_sample(document: Document) -> Iterator[PrintedTable]:
    shares = document["values"][0]["category"] is not None
    show = TERMINAL.percent if shares else TERMINAL.figure
    lines = tuple(_line(one, show, one["category"] or "mean", show(one["known"])) for one in document["values"])
    title = f"{document['question']}: known values, {document['n']:,} reports{_among(document)}"
    test = f"Do the reports differ from the known values? {TERMINAL.p_equals(document['p'])}"
    if document["statistic"] is not None:
        test += f", chi-square {document['statistic']:.2f}, {document['df']} df"
    sentences = (f"{test} ({METHODS[document['method']]}).", *_warnings(document))
    yield PrintedTable(title, ("", "known", "estimate", _limits(document)), lines, sentences)


def _predictions(document: Document) -> Iterator[PrintedTable]:
    show = TERMINAL.figure if document["model"] == "linear" else TERMINAL.percent
    lines = tuple(
        _line(one, show, ", ".join(f"{name} = {value}" for name, value in one["at"].items()), one.get("category", ""))
        for one in document.get("predictions", ())
    )
    headings = ("where", "category", "estimate", _limits(document))
    if lines:
        yield PrintedTable(f"Predicted: {document['outcome']}", headings, lines)


def _weights(document: Document) -> Iterator[PrintedTable]:
    lines = (
        ("reports", f"{document['n']:,}"),
        ("smallest weight", f"{document['smallest']:.3f}"),
        ("largest weight", f"{document['largest']:.3f}"),
        ("design effect (Kish)", f"{document['deff']:.3f}"),
        ("reports that tell as much with equal weights", f"{document['effective_n']:,.0f}"),
    )
    yield PrintedTable("Weights that make the margins hold", ("", ""), lines, tuple(_warnings(document)))


def _list_experiment(document: Document) -> Iterator[PrintedTable]:
    """Yield the share, and of each list its means and the test of design effects."""
    of = " and ".join(each["column"] for each in document["lists"])
    share = document["share"]
    possible = share["shown"] is not None
    point = TERMINAL.percent(share["raw"]) + ("" if possible else " (impossible)")
    line = ("sensitive item", point, TERMINAL.points(share["std_error"]))
    people = document["coin_flip"]
    precise = () if people is None else (f"Coin flips on {people:,} devices would be as exact.",)
    yield PrintedTable(
        f"{document['file']}: {of}, {document['treated']} against the control, {document['n']:,} people",
        ("", "estimate", "std. error", _limits(document)),
        ((*line, TERMINAL.limits(share, TERMINAL.percent) if share["low"] is not None else "outside 0 to 1"),),
        (*precise, *_warnings(document)),
    )
    for each in document["lists"]:
        lines = tuple(
            (one["half"], f"{one['n']:,}", f"{one['mean']:.3f}", f"{one['std_error']:.3f}") for one in each["means"]
        )
        sentences = (
            f"Without the sensitive item, {TERMINAL.percent(each['floor'])} count 0 items, and "
            f"{TERMINAL.percent(each['ceiling'])} all of them, whose yes the longer list would reveal.",
            f"Does the sensitive item change answers to the others (test of Blair and Imai)? "
            f"{TERMINAL.p_equals(each['p'])} without selection of moments; with the one of R's list, "
            f"{TERMINAL.p_equals(each['p_selected'])}.",
        )
        title = f"{each['column']}: {each['items']} items, difference {each['share']['raw']:.3f}"
        yield PrintedTable(title, ("half", "people", "mean", "std. error"), lines, sentences)
    for each in document.get("further", ()):
        yield from _list_experiment(each)
    yield from _combined(document)
    yield from _list_model(document)


def _combined(document: Document) -> Iterator[PrintedTable]:
    found = document.get("combined")
    if found is not None:
        point, error = TERMINAL.percent(found["share"]), TERMINAL.points(found["std_error"])
        line = ("sensitive item", point, error, TERMINAL.limits(found, TERMINAL.percent))
        rest = found["among_no"]
        sentences = (
            f"{TERMINAL.percent(found['direct'])} say yes directly, which is taken as true; among the others the "
            f"difference in means is {rest['difference']:.3f} (standard error {rest['std_error']:.3f}).",
            f"Placebo test I, the difference is 1 among those who say yes: {TERMINAL.p_equals(found['placebo_one'])}.",
            f"Placebo test II, the halves say yes equally often: {TERMINAL.p_equals(found['placebo_two'])}.",
        )
        title = f"List and direct question combined, {found['n']:,} people"
        yield PrintedTable(title, ("", "estimate", "std. error", _limits(document)), (line,), sentences)


def _list_model(document: Document) -> Iterator[PrintedTable]:
    model = document.get("model")
    if model is not None:
        several = len(model["shares"]) > 1
        headings, terms = (*_HEADINGS, _limits(document)), []
        for one in model["coefficients"]:
            named = f"sensitive item {one['treated']}" if several else "sensitive item"
            terms.append({**one, "category": "other items" if one["treated"] is None else named})
        lines = tuple(
            (f"share, {one['treated']}" if several else "share", TERMINAL.percent(one["share"]),
             TERMINAL.points(one["std_error"]), TERMINAL.limits(one, TERMINAL.percent)) for one in model["shares"]
        )  # fmt: skip
        title = f"Model by maximum likelihood, {model['formula']}, {model['n']:,} people"
        yield PrintedTable(title, headings, (*lines, *_coefficients(terms)), (
            f"Log likelihood {model['log_likelihood']:.3f}; coefficients are log odds.",
            "The other items are taken to apply independently and equally often, whatever the sensitive one is.",
        ))  # fmt: skip


def _random_intercept(document: Document, headings: tuple[str, ...]) -> Iterator[PrintedTable]:
    if "random_intercept" in document:
        found = document["random_intercept"]
        test = found["test"]
        figures = f"{test['statistic']:.2f}, {test['df']} df, {TERMINAL.p_equals(test['p'])}"
        sentences = (
            f"{found['clusters']:,} clusters; integrals by {found['points']} points; no intercept is estimated.",
            f"Likelihood-ratio test that {test['hypothesis']}: {figures}.",
        )
        term = {**found["sd"], "term": "standard deviation of the intercepts"}
        yield PrintedTable("Random intercept", headings, _coefficients([term]), sentences)


def _mixture(document: Document) -> Iterator[PrintedTable]:
    lines = tuple(
        (
            f"{name}: {one['label']}",
            TERMINAL.point(one["share"], TERMINAL.percent),
            TERMINAL.point(one["se"], TERMINAL.points),
            TERMINAL.limits(one, TERMINAL.percent),
        )
        for name, one in document["shares"].items()
    )
    bounds, misfit = document["bounds"], document["misfit"]
    sentences = [f"Log likelihood {document['log_likelihood']:.3f}."]
    if misfit["df"]:
        sentences.append(f"Misfit (G squared against free shares of each group): {_tested(misfit)}.")
    if bounds is not None:
        ends = f"{TERMINAL.percent(bounds['low'])} to {TERMINAL.percent(bounds['high'])}"
        sentences.append(f"Bounds of the share of carriers, from pi to pi + gamma: {ends}.")
    told = (*document["privacy"], document["disobedience"])
    sentences += [*(f"{each}." for each in told), *_weighted(document), *_warnings(document)]
    title = f"{document['file']}: {document['design']}, {document['n']:,} reports"
    yield PrintedTable(title, ("", "estimate", "std. error", _limits(document)), lines, tuple(sentences))


def _items(document: Document) -> Iterator[PrintedTable]:
    title = f"{document['file']}: model {document['model']}, {document['n']:,} people"
    headings = (*_HEADINGS, _limits(document))
    if "distribution" in document:
        shares = tuple((f"{place} yes", TERMINAL.percent(each)) for place, each in enumerate(document["distribution"]))
        yield PrintedTable(title, ("number of yes", "share"), shares)
        mean = _coefficients([{**document["mean"], "term": "mean"}])
        yield PrintedTable("Sum of the items", headings, mean, (f"Variance {document['variance']:.4f}.",))
        return
    terms = [{**each["difficulty"], "term": f"{each['name']}: difficulty"} for each in document["items"]]
    terms += [{**each["discrimination"], "term": f"{each['name']}: discrimination"} for each in document["items"]
              if "discrimination" in each]  # fmt: skip
    terms += [{**document["sd"], "term": "standard deviation between people"}] if document["sd"] else []
    sentences = (
        f"Log likelihood {document['log_likelihood']:.3f}, by {document['points']} points.",
        f"Likelihood-ratio test that {document['test']['hypothesis']}: {_tested(document['test'])}.",
        "The log odds of a yes are the trait, with mean 0, less the difficulty. No person has a score.",
    )
    yield PrintedTable(title, headings, _coefficients(terms), sentences)


def _test(test: Document | None, what: str) -> Iterator[str]:
    if test is not None:
        yield f"{what}: chi-square {_tested(test)}."


def _tested(test: Document) -> str:
    return f"{test['statistic']:.2f}, {test['df']} df, {TERMINAL.p_equals(test['p'])}"


def _warnings(document: Document) -> Iterator[str]:
    return (f"Note: {sentence}." for sentence in document["warnings"])


_WORDS = {
    "sottovoce-shares/1": _shares,
    "sottovoce-crosstab/1": _crosstab,
    "sottovoce-comparison/1": _comparison,
    "sottovoce-planned/1": _planned,
    "sottovoce-pairs/1": _pairs,
    "sottovoce-test/1": _one_sample,
    "sottovoce-regression/1": _regression,
    "sottovoce-weights/1": _weights,
    "sottovoce-list-experiment/1": _list_experiment,
    "sottovoce-items/1": _items,
    "sottovoce-mixture/1": _mixture,
}
