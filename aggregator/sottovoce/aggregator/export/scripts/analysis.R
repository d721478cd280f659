# Prints the shares and means of a survey from the files beside this script, with base R alone:
#   Rscript analysis.R
# Reads reports.csv (one row for each report, as devices sent it after randomizing), channels.csv and scores.csv (how
# to decode it). A report's score is (s - b) / (a - b) for a share, s = 1 if it supports the option; for a mean it is
# in scores.csv. The estimate is the mean of the scores, its standard error their standard deviation / sqrt(n). The
# limits of a share are score limits with continuity correction, 95 %; those of a mean are +- 1.96 standard errors.
# Where people could decline, lines "answered" give the shares among those who answered, as the page Results does first.
# Each wave is estimated separately, because reports of the same people in several waves depend on each other.
# Where the packages rr, RRreg or GLMMRR are installed, they estimate each yes/no question as well, for comparison.

z <- 1.959963984540054

script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
folder <- if (length(script) == 1) dirname(script) else "."

read_table <- function(name) {
  path <- file.path(folder, name)
  # A test run's file begins with a line that says so.
  skip <- if (startsWith(readLines(path, n = 1, encoding = "UTF-8"), "#")) 1 else 0
  read.csv(path, skip = skip, check.names = FALSE, encoding = "UTF-8", colClasses = NA, comment.char = "")
}

# TRUE, FALSE, or NA if a value says nothing about the option. Whole numbers up to 2^52: no bitwAnd.
supports <- function(rule, code, value) {
  if (rule == "equals") return(value == code)
  if (rule == "bit") return(floor(value / 2^code) %% 2 == 1)
  if (rule == "drawn") return(ifelse(floor(value / 2) == code, value %% 2 == 1, NA))
  bits <- rep(0, length(value))
  for (j in 0:30) bits <- bits + (floor(value / 2^j) %% 2) * (floor(code / 2^j) %% 2)
  bits %% 2 == 0
}

share_limits <- function(count, n, a, b) {
  limit <- function(x, z) (x + z^2 / 2 + z * sqrt(x * (n - x) / n + z^2 / 4)) / (n + z^2)
  x <- min(max(count, n * b), n * a)
  low <- if (x <= 0.5) 0 else limit(x - 0.5, -z)
  high <- if (x >= n - 0.5) 1 else limit(x + 0.5, z)
  c(max((low - b) / (a - b), 0), min((high - b) / (a - b), 1))
}

# Limits of a share among those who answered: { t : |part - t whole| <= z sqrt(V(t)) + 1 / (2 n (a - b)) }.
answered_line <- function(row, s, none) {
  n <- length(s); a <- row$a; b <- row$b; gap <- a - b
  part <- mean((s - b) / gap); whole <- 1 - mean((none - b) / gap); answered <- min(max(whole, 0), 1)
  alpha <- (1 - 2 * b) / gap; c2 <- b * (1 - b) / gap^2
  inside2 <- (row$both_in - a * b) / gap^2; outside2 <- (row$both_out - b^2) / gap^2
  own <- c(alpha + c2, c2, c2); crossed <- c(1 - inside2, -outside2, -inside2)
  square <- c(1 + c2, 1 + c2, alpha + c2 - 1)
  spread <- function(t) {
    shares <- c(t * answered, (1 - t) * answered, 1 - answered)
    sqrt(max(sum(shares * (own - 2 * t * crossed + t^2 * square)), 0) / n)
  }
  most <- max(whole, 0); clipped <- min(max(part, 0), most)
  inside <- function(t) abs(clipped - t * most) <= z * spread(t) + 1 / (n * gap) / 2
  edge <- function(within, outside) {
    if (inside(outside)) return(outside)
    for (i in 1:60) {
      middle <- (within + outside) / 2
      if (inside(middle)) within <- middle else outside <- middle
    }
    outside
  }
  point <- if (most > 0) clipped / most else 0.5
  both <- c(0, 1)
  if (inside(point)) {
    found <- c(edge(point, 0), edge(point, 1))
    steps <- (0:50) / 50
    steps <- steps[pmin(abs(steps - found[1]), abs(steps - found[2])) > 1e-9]
    # The set can come back beyond a gap; one part of it alone would not cover.
    same <- sapply(steps, inside) == (steps >= found[1] & steps <= found[2])
    if (all(same)) both <- found
  }
  estimate <- if (whole > 0) part / whole else NaN
  error <- if (whole > 0) spread(min(max(estimate, 0), 1)) / whole else NaN
  list(n = n, estimate = estimate, error = error, both = both)
}

reports <- read_table("reports.csv")
channels <- read_table("channels.csv")
scores <- read_table("scores.csv")
# Files of former releases call the two columns wave and revision.
wave <- if ("_wave" %in% names(reports)) reports[["_wave"]] else reports[["wave"]]
revision <- if ("_revision" %in% names(reports)) reports[["_revision"]] else reports[["revision"]]

# The reported values of a question in one wave, over the revisions that ask it through one channel.
values_of <- function(question, number, revisions) {
  asked <- as.numeric(strsplit(as.character(revisions), " ")[[1]])
  found <- reports[[question]][wave == number & revision %in% asked]
  found[!is.na(found)]
}

line_of <- function(number, question, option, revisions, score, limits) {
  score <- score[!is.na(score)]
  n <- length(score)
  estimate <- if (n > 0) mean(score) else NaN
  error <- if (n > 1) sd(score) / sqrt(n) else NaN
  both <- if (n > 0) limits(n, estimate, error) else c(NA, NA)
  data.frame(wave = number, question = question, option = option, revisions = as.character(revisions), n = n,
             estimate = estimate, std_error = error, low = both[1], high = both[2], among = "all")
}

lines <- list()
for (i in seq_len(nrow(channels))) {
  row <- channels[i, ]
  for (number in sort(unique(wave))) {
    s <- supports(row$rule, row$code, values_of(row$question, number, row$revisions))
    limits <- function(n, estimate, error) share_limits(n * (row$b + (row$a - row$b) * estimate), n, row$a, row$b)
    lines[[length(lines) + 1]] <-
      line_of(number, row$question, row$option, row$revisions, (s - row$b) / (row$a - row$b), limits)
  }
}
for (i in seq_len(nrow(channels))) {
  row <- channels[i, ]
  same <- channels$question == row$question & channels$revisions == row$revisions & channels$option == "absent"
  if (!any(same) || row$option == "absent") next
  for (number in sort(unique(wave))) {
    values <- values_of(row$question, number, row$revisions)
    if (length(values) == 0) next
    nothing <- supports(row$rule, channels$code[same][1], values)
    found <- answered_line(row, supports(row$rule, row$code, values), nothing)
    lines[[length(lines) + 1]] <-
      data.frame(wave = number, question = row$question, option = row$option, revisions = as.character(row$revisions),
                 n = found$n, estimate = found$estimate, std_error = found$error, low = found$both[1],
                 high = found$both[2], among = "answered")
  }
}
if (nrow(scores) > 0) {
  for (part in split(scores, paste(scores$question, scores$mean, scores$revisions, sep = "\r"))) {
    for (number in sort(unique(wave))) {
      values <- values_of(part$question[1], number, part$revisions[1])
      limits <- function(n, estimate, error) estimate + c(-z, z) * error
      score <- part$score[match(values, part$value)]
      lines[[length(lines) + 1]] <-
        line_of(number, part$question[1], part$mean[1], part$revisions[1], score, limits)
    }
  }
}
table <- do.call(rbind, lines)
shown <- format(table, digits = 7, nsmall = 6, trim = TRUE, scientific = FALSE)
write.table(shown, sep = "\t", quote = FALSE, row.names = FALSE)

# The same through other packages. Their results are of all waves and of the revisions with this channel.
yes_no <- channels[channels$option == "yes" & channels$rule == "equals" & channels$mechanism != "public", ]
for (i in seq_len(nrow(yes_no))) {
  row <- yes_no[i, ]
  if (any(channels$question == row$question & channels$option == "absent")) next
  asked <- as.numeric(strsplit(as.character(row$revisions), " ")[[1]])
  data <- data.frame(reported = reports[[row$question]][revision %in% asked])
  data <- data[!is.na(data$reported), , drop = FALSE]
  data$model <- "Kuk"
  data$a <- row$a
  data$b <- row$b
  if (nrow(data) == 0) next
  # A package that fails on these reports prints its error, and the others continue.
  if (requireNamespace("rr", quietly = TRUE)) {
    cat("\nrr:", row$question, "\n")
    try(print(summary(rr::rrreg(reported ~ 1, data = data, p = row$p_truth, p1 = row$p_forced_yes,
                                p0 = row$p_forced_no, design = "forced-known"))))
  }
  if (requireNamespace("RRreg", quietly = TRUE)) {
    cat("\nRRreg:", row$question, "\n")
    forced <- c(row$p_forced_no, row$p_forced_yes)
    try(print(summary(RRreg::RRuni(response = data$reported, model = "FR", p = forced))))
  }
  if (requireNamespace("GLMMRR", quietly = TRUE)) {
    cat("\nGLMMRR:", row$question, "\n")
    try(print(summary(GLMMRR::RRglm(reported ~ 1, link = "RRlink.logit", RRmodel = model, p1 = a, p2 = b,
                                    data = data, etastart = rep(0.01, nrow(data))))))
  }
}
