"""Print joint results for researchers: tables with limits, and sentences.

The text is made from the JSON documents, so local results and those of a remote aggregator read the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sottovoce.aggregator.analysis.planned_comparisons import PLANNED
from sottovoce.aggregator.analysis.result_view import ShownAnswer, ShownTable, answer_in_words, planned_tables
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.i18n.translator import ENGLISH, Words

Document = dict[str, Any]


def in_words(document: Document, words: Words = ENGLISH.words) -> list[ShownTable]:
    """Return the tables and sentences of a result, by the format of its document.

    Kinds of results without a page are in English, the others in the language of ``words``, with names for labels.
    """
    if document["format"] in _WORDS:
        return list(_WORDS[document["format"]](document))
    if document["format"] == PLANNED:
        return list(_planned(document, words))
    return list(_shown(answer_in_words(document, VariableNames(words)), document, words))


def _shown(answer: ShownAnswer, document: Document, words: Words) -> Iterator[ShownTable]:
    yield from answer.tables
    if "random_intercept" in document:
        yield _random_intercept(document)
    for title, sentences in (("joint_notes", answer.notes), ("joint_paper", [answer.paper] if answer.paper else [])):
        if sentences:
            yield ShownTable(words.translate(title), sentences=sentences)


def _planned(document: Document, words: Words) -> Iterator[ShownTable]:
    made = document["comparisons"]
    note = words.translate("results_plan_note", count=len(made))
    yield ShownTable(f"{words.translate('results_plan')}: {document['survey']}", sentences=[note])
    known = [each for each in made if each["comparison"] is not None]
    yield from planned_tables([each for each in known if "design" not in each["planned"]], VariableNames(words))
    for each in made:
        if each["comparison"] is None:
            yield ShownTable(each["planned"]["question"], sentences=[f"No result: {each['problem']}."])
        elif "design" in each["planned"]:
            yield from _mixture(each["comparison"])


def _limits(document: Document) -> str:
    return f"{100 * document.get('confidence', 0.95):.6g}% limits"


def _shares(document: Document) -> Iterator[ShownTable]:
    headings = ("", "estimate", _limits(document), "reports")
    lines = []
    for question in document["questions"]:
        corrected = [(each, ", corrected") for each in question.get("corrected", {"estimates": ()})["estimates"]]
        for one, mark in (*((each, "") for each in question["estimates"]), *corrected):
            show = ENGLISH.percent if one["kind"] == "share" else ENGLISH.figure
            point = ENGLISH.point(one["clipped"], show)
            name = f"{question['name']}: {one['option']}{mark}"
            within = ENGLISH.point(None, show) if one["low"] is None else ENGLISH.limits(one, show)
            lines.append((name, point, within, f"{one['n']:,}"))
    shown = (
        f"{one['name']}: {one['answered']:,} answered of {one['shown']:,} who saw the button."
        for one in document["questions"]
        if "shown" in one
    )
    bare = any(one["low"] is None for question in document["questions"] for one in question["estimates"])
    why = (ENGLISH.words.translate("results_no_limits"),) if bare else ()
    sentences = (*_careless(document), *shown, *why, *_weighted(document), *_warnings(document))
    yield ShownTable(f"{document['file']}: {document['reports']:,} rows", headings, tuple(lines), sentences=sentences)


def _careless(document: Document) -> Iterator[str]:
    if "careless" in document:
        found = document["careless"]
        names = ", ".join(each["name"] for each in found["anchors"])
        limits = ENGLISH.limits(found, ENGLISH.percent)
        yield f"Careless reports: {ENGLISH.percent(found['clipped'])} ({limits}), by {names}; corrected: the others."


def _weighted(document: Document) -> Iterator[str]:
    if document.get("deff", 1) != 1:
        yield f"Design effect of the weights (Kish): {document['deff']:.2f}."


_HEADINGS = ("term", "estimate", "std. error")


def _coefficients(found: Sequence[Document]) -> tuple[tuple[str, ...], ...]:
    figure = ENGLISH.figure
    return tuple(
        (*_line(one, figure, _term(one))[:2], ENGLISH.point(one["std_error"], figure), ENGLISH.limits(one, figure))
        for one in found
    )


def _term(one: Document) -> str:
    return f"{one['category']}: {one['term']}" if "category" in one else str(one["term"])


def _line(one: Document, show: Callable[[float], str], *names: str) -> tuple[str, ...]:
    return (*names, ENGLISH.estimate(one, show), ENGLISH.limits(one, show))


def _weights(document: Document) -> Iterator[ShownTable]:
    lines = (
        ("reports", f"{document['n']:,}"),
        ("smallest weight", f"{document['smallest']:.3f}"),
        ("largest weight", f"{document['largest']:.3f}"),
        ("design effect (Kish)", f"{document['deff']:.3f}"),
        ("reports that tell as much with equal weights", f"{document['effective_n']:,.0f}"),
    )
    yield ShownTable("Weights that make the margins hold", ("", ""), lines, sentences=tuple(_warnings(document)))


def _list_experiment(document: Document) -> Iterator[ShownTable]:
    """Yield the share, and of each list its means and the test of design effects."""
    of = " and ".join(each["column"] for each in document["lists"])
    share = document["share"]
    possible = share["shown"] is not None
    point = ENGLISH.percent(share["raw"]) + ("" if possible else " (impossible)")
    line = ("sensitive item", point, ENGLISH.points(share["std_error"]))
    people = document["coin_flip"]
    precise = () if people is None else (f"Coin flips on {people:,} devices would be as exact.",)
    yield ShownTable(
        f"{document['file']}: {of}, {document['treated']} against the control, {document['n']:,} people",
        ("", "estimate", "std. error", _limits(document)),
        ((*line, ENGLISH.limits(share, ENGLISH.percent) if share["low"] is not None else "outside 0 to 1"),),
        sentences=(*precise, *_warnings(document)),
    )
    for each in document["lists"]:
        lines = tuple(
            (one["half"], f"{one['n']:,}", f"{one['mean']:.3f}", f"{one['std_error']:.3f}") for one in each["means"]
        )
        sentences = (
            f"Without the sensitive item, {ENGLISH.percent(each['floor'])} count 0 items, and "
            f"{ENGLISH.percent(each['ceiling'])} all of them, whose yes the longer list would reveal.",
            f"Does the sensitive item change answers to the others (test of Blair and Imai)? "
            f"{ENGLISH.p_equals(each['p'])} without selection of moments; with the one of R's list, "
            f"{ENGLISH.p_equals(each['p_selected'])}.",
        )
        title = f"{each['column']}: {each['items']} items, difference {each['share']['raw']:.3f}"
        yield ShownTable(title, ("half", "people", "mean", "std. error"), lines, sentences=sentences)
    for each in document.get("further", ()):
        yield from _list_experiment(each)
    yield from _combined(document)
    yield from _list_model(document)


def _combined(document: Document) -> Iterator[ShownTable]:
    found = document.get("combined")
    if found is not None:
        point, error = ENGLISH.percent(found["share"]), ENGLISH.points(found["std_error"])
        line = ("sensitive item", point, error, ENGLISH.limits(found, ENGLISH.percent))
        rest = found["among_no"]
        sentences = (
            f"{ENGLISH.percent(found['direct'])} say yes directly, which is taken as true; among the others the "
            f"difference in means is {rest['difference']:.3f} (standard error {rest['std_error']:.3f}).",
            f"Placebo test I, the difference is 1 among those who say yes: {ENGLISH.p_equals(found['placebo_one'])}.",
            f"Placebo test II, the halves say yes equally often: {ENGLISH.p_equals(found['placebo_two'])}.",
        )
        title = f"List and direct question combined, {found['n']:,} people"
        yield ShownTable(title, ("", "estimate", "std. error", _limits(document)), (line,), sentences=sentences)


def _list_model(document: Document) -> Iterator[ShownTable]:
    model = document.get("model")
    if model is not None:
        several = len(model["shares"]) > 1
        headings, terms = (*_HEADINGS, _limits(document)), []
        for one in model["coefficients"]:
            named = f"sensitive item {one['treated']}" if several else "sensitive item"
            terms.append({**one, "category": "other items" if one["treated"] is None else named})
        lines = tuple(
            (f"share, {one['treated']}" if several else "share", ENGLISH.percent(one["share"]),
             ENGLISH.points(one["std_error"]), ENGLISH.limits(one, ENGLISH.percent)) for one in model["shares"]
        )  # fmt: skip
        title = f"Model by maximum likelihood, {model['formula']}, {model['n']:,} people"
        yield ShownTable(title, headings, (*lines, *_coefficients(terms)), sentences=(
            f"Log likelihood {model['log_likelihood']:.3f}; coefficients are log odds.",
            "The other items are taken to apply independently and equally often, whatever the sensitive one is.",
        ))  # fmt: skip


def _random_intercept(document: Document) -> ShownTable:
    found, headings = document["random_intercept"], (*_HEADINGS, _limits(document))
    sentences = (
        f"{found['clusters']:,} clusters; integrals by {found['points']} points; no intercept is estimated.",
        f"Likelihood-ratio test that {found['test']['hypothesis']}: {_tested(found['test'])}.",
    )
    term = {**found["sd"], "term": "standard deviation of the intercepts"}
    return ShownTable("Random intercept", headings, _coefficients([term]), sentences=sentences)


def _mixture(document: Document) -> Iterator[ShownTable]:
    lines = tuple(
        (
            f"{name}: {one['label']}",
            ENGLISH.point(one["share"], ENGLISH.percent),
            ENGLISH.point(one["se"], ENGLISH.points),
            ENGLISH.limits(one, ENGLISH.percent),
        )
        for name, one in document["shares"].items()
    )
    bounds, misfit = document["bounds"], document["misfit"]
    sentences = [f"Log likelihood {document['log_likelihood']:.3f}."]
    if misfit["df"]:
        sentences.append(f"Misfit (G squared against free shares of each group): {_tested(misfit)}.")
    if bounds is not None:
        ends = f"{ENGLISH.percent(bounds['low'])} to {ENGLISH.percent(bounds['high'])}"
        sentences.append(f"Bounds of the share of carriers, from pi to pi + gamma: {ends}.")
    told = (*document["privacy"], document["disobedience"])
    sentences += [*(f"{each}." for each in told), *_weighted(document), *_warnings(document)]
    title = f"{document['file']}: {document['design']}, {document['n']:,} reports"
    yield ShownTable(title, ("", "estimate", "std. error", _limits(document)), lines, sentences=tuple(sentences))
    yield from _class_model(document)


def _class_model(document: Document) -> Iterator[ShownTable]:
    model = document.get("model")
    if model is not None:
        shares = tuple(
            (f"share, {name}", ENGLISH.percent(one["share"]), ENGLISH.points(one["se"]),
             ENGLISH.limits(one, ENGLISH.percent)) for name, one in model["shares"].items()
        )  # fmt: skip
        title = f"Model by maximum likelihood, {model['formula']}, {model['n']:,} people"
        yield ShownTable(title, (*_HEADINGS, _limits(document)), (*shares, *_coefficients(model["coefficients"])),
            sentences=(f"Log likelihood {model['log_likelihood']:.3f}; coefficients are log odds against beta.",)
        )  # fmt: skip


def _items(document: Document) -> Iterator[ShownTable]:
    title = f"{document['file']}: model {document['model']}, {document['n']:,} people"
    headings = (*_HEADINGS, _limits(document))
    if "distribution" in document:
        shares = tuple((f"{place} yes", ENGLISH.percent(each)) for place, each in enumerate(document["distribution"]))
        yield ShownTable(title, ("number of yes", "share"), shares)
        mean = _coefficients([{**document["mean"], "term": "mean"}])
        yield ShownTable("Sum of the items", headings, mean, sentences=(f"Variance {document['variance']:.4f}.",))
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
    yield ShownTable(title, headings, _coefficients(terms), sentences=sentences)


def _tested(test: Document) -> str:
    return f"{test['statistic']:.2f}, {test['df']} df, {ENGLISH.p_equals(test['p'])}"


def _warnings(document: Document) -> Iterator[str]:
    return (f"Note: {sentence}." for sentence in document["warnings"])


_WORDS: Mapping[str, Callable[[Document], Iterator[ShownTable]]] = {
    "sottovoce-shares/1": _shares,
    "sottovoce-weights/1": _weights,
    "sottovoce-list-experiment/1": _list_experiment,
    "sottovoce-items/1": _items,
    "sottovoce-mixture/1": _mixture,
}
