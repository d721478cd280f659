"""Write code that reproduces a result of a page from the downloaded files of the survey.

Python      Calls the same function of this package on the unpacked everything.zip. Its files contain no public answers
            except the cohort; if an analysis needs others, the code queries the aggregator instead.
R           Uses base R, reports.csv and channels.csv: cells and shares of a table with standard errors, among those who
            answered where some did not, and the linear model by corrected normal equations. It supports neither weights
            nor a third question, nor questions that are hidden from some, nor models of answers that may be missing.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.aggregator.studio.labels import SurveyVariable, SurveyVariables
from sottovoce.aggregator.studio.results.run_analysis import AskedAnalysis

_METHODS = {"crosstab": "crosstab", "compare": "compare", "pairs": "pairs", "test": "test", "regression": "model"}

_R_HEAD = """\
# Base R, in the folder of everything.zip, unpacked.
reports <- read.csv("reports.csv", comment.char = "#", check.names = FALSE)
channels <- read.csv("channels.csv", comment.char = "#")
bit <- function(value, place) floor(value / 2^place) %% 2
score <- function(question, option) {
  row <- channels[channels$question == question & channels$option == option, ]
  value <- reports[[question]]
  said <- switch(row$rule,
    equals = value == row$code,
    bit = bit(value, row$code),
    drawn = ifelse(floor(value / 2) == row$code, value %% 2, NA),
    parity = 1 - Reduce(`+`, lapply(0:30, function(j) bit(value, j) * bit(row$code, j))) %% 2)
  (said - row$b) / (row$a - row$b)
}
"""

_R_TABLE = """\
rows <- {rows}
columns <- {columns}
both <- complete.cases(rows, columns)
rows <- rows[both, , drop = FALSE]; columns <- columns[both, , drop = FALSE]; n <- sum(both)
table <- crossprod(rows, columns) / n
errors <- sqrt((crossprod(rows^2, columns^2) / n - table^2) / (n - 1))
print(n); print(table); print(errors); print(table / rowSums(table))
"""

_R_ANSWERED = """\
rows <- {rows}
columns <- {columns}
both <- complete.cases(rows, columns)
rows <- rows[both, , drop = FALSE]; columns <- columns[both, , drop = FALSE]; n <- sum(both)
# Among those who answered: the last column of a question that may be declined is no answer.
answered <- function(scores, declined) if (declined) 1 - scores[, ncol(scores)] else rep(1, n)
r <- answered(rows, {rows_declined}); s <- answered(columns, {columns_declined})
if ({rows_declined}) rows <- rows[, -ncol(rows), drop = FALSE]
if ({columns_declined}) columns <- columns[, -ncol(columns), drop = FALSE]
ratio <- function(part, whole) {{
  share <- mean(part) / mean(whole)
  c(share = share, error = sd(part - share * whole) / sqrt(n) / mean(whole))
}}
print(n)
for (i in colnames(rows)) for (j in colnames(columns)) {{
  both <- rows[, i] * columns[, j]
  cat(i, j, "\n")
  print(rbind(cell = ratio(both, r * s), within_row = ratio(both, rows[, i] * s)))
}}
"""

_R_MODEL = """\
outcome <- {outcome}
outcome <- outcome[, ncol(outcome)]
predictors <- list({predictors})
terms <- cbind(constant = 1, do.call(cbind, lapply(predictors, function(one) one[, -1, drop = FALSE])))
known <- complete.cases(terms, outcome); terms <- terms[known, , drop = FALSE]; outcome <- outcome[known]
products <- crossprod(terms)
# An indicator is its own square, the square of its score is not: so the score itself stands on the diagonal.
for (one in predictors) {{
  own <- colnames(one)[-1]
  products[own, own] <- diag(colSums(terms[, own, drop = FALSE]), length(own))
}}
print(solve(products, crossprod(terms, outcome)))  # the linear model of the page
"""


def python_code(asked: AskedAnalysis, names: SurveyVariables, address: str) -> str:
    """Write Python code for an analysis; ``address`` is the URL of this aggregator."""
    survey = json.dumps(names.survey.name)
    place = '"FOLDER"  # everything.zip, unpacked'
    if not in_files(asked, names):
        place = f"{json.dumps(address)}, survey={survey}  # with your key in SOTTOVOCE_KEY"
    code, _, remark = place.partition("  # ")
    options = ", ".join(f"{name}={value!r}" for name, value in asked.options.items())
    return (
        "from sottovoce.aggregator import open_results\n\n"
        f"results = open_results({code})  # {remark}\n"
        f"print(results.{_METHODS[asked.kind]}({options}))\n"
    )


def r_code(asked: AskedAnalysis, names: SurveyVariables) -> str:
    """Write R code for an analysis; "" if base R with the files cannot reproduce it."""
    options, survey = asked.options, names.survey
    plain = not {*options} - {"rows", "columns", "groups", "outcome", "category", "on", "model"}
    found = [names.find(name) for name in _variables_of(asked, names)]
    known = [each for each in found if each is not None and each.categories]
    several = len(survey.waves) > 1 or survey.revision > 1
    # Shares among the people who were asked would need the reports of the question that decides it.
    plain = plain and not any(each.question.name in survey.conditional for each in known)
    if not plain or several or len(known) < max(len(found), 2) or not in_files(asked, names):
        return ""
    declined = ["TRUE" if each.question.domain.absent and not each.part else "FALSE" for each in known]
    if asked.kind == "regression":
        return "" if "TRUE" in declined else _r_model(known, options)
    if "TRUE" in declined:
        places = {"rows_declined": declined[0], "columns_declined": declined[1]}
        return _R_HEAD + _R_ANSWERED.format(rows=_r_scores(known[0]), columns=_r_scores(known[1]), **places)
    return _R_HEAD + _R_TABLE.format(rows=_r_scores(known[0]), columns=_r_scores(known[1]))


def in_files(asked: AskedAnalysis, names: SurveyVariables) -> bool:
    """Return True if the files contain all variables of an analysis; public answers except the cohort are left out."""
    margins: Mapping[str, Any] = asked.options.get("margins", {})
    found = [names.find(name) for name in (*_variables_of(asked, names), *margins)]
    return all(each is not None and (not each.public or each.question.cohort) for each in found)


def _variables_of(asked: AskedAnalysis, names: SurveyVariables) -> Sequence[str]:
    """List the variables of an analysis; for a comparison the groups come first, since they form the rows."""
    keys = {
        "crosstab": ("rows", "columns", "within"),
        "compare": ("groups", "outcome", "against"),
        "pairs": (),
        "test": ("question",),
    }
    single = [asked.options[key] for key in keys.get(asked.kind, ("outcome", "cluster")) if key in asked.options]
    written = (names.variables_in(asked.options.get(key, "")) for key in ("formula", "where"))
    return [*single, *asked.options.get("on", ()), *sorted(set().union(*written))]


def _r_model(known: Sequence[SurveyVariable], options: Mapping[str, Any]) -> str:
    outcome, *predictors = known
    if len(outcome.categories) != 2 or options.get("model") not in {None, "logit", "linear"}:
        return ""
    return _R_HEAD + _R_MODEL.format(outcome=_r_scores(outcome), predictors=", ".join(map(_r_scores, predictors)))


def _r_scores(variable: SurveyVariable) -> str:
    """Write an R matrix of scores with one named column for each category."""
    question, names = variable.question, [name for name, _ in variable.categories]
    if variable.public:
        columns = [f'as.numeric(reports[["{question.name}"]] == {code})' for code in range(len(names))]
    elif variable.part or names == ["no", "yes"]:
        yes = f'score("{question.name}", "{variable.part or "yes"}")'
        columns = [f"1 - {yes}", yes]
    else:
        columns = [f'score("{question.name}", "{name}")' for name in names]
    arguments = ", ".join(f'"{variable.name}={name}" = {column}' for name, column in zip(names, columns, strict=True))
    return f"cbind({arguments})"
