# Code for the pages Tables and Models, which fill in what stands in braces.
#: head
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
#: table
rows <- {rows}
columns <- {columns}
both <- complete.cases(rows, columns)
rows <- rows[both, , drop = FALSE]; columns <- columns[both, , drop = FALSE]; n <- sum(both)
table <- crossprod(rows, columns) / n
errors <- sqrt((crossprod(rows^2, columns^2) / n - table^2) / (n - 1))
print(n); print(table); print(errors); print(table / rowSums(table))
#: answered
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
  cat(i, j, "
")
  print(rbind(cell = ratio(both, r * s), within_row = ratio(both, rows[, i] * s)))
}}
#: model
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
