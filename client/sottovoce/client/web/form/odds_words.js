/** The sentence about a question's odds, and what fills its placeholders. */
export function explained({ cohort, mechanism, type }, words) {
  if (mechanism === null) return [cohort ? "cohort_note" : "public_note"];
  const numbers = Object.entries(mechanism.explain());
  const told = (number) => (typeof number === "number" ? number : shareOf100(...number, words));
  const values = numbers.map(([name, number]) => [name, told(number)]);
  const usual = `odds_${mechanism.sentence ?? mechanism.reportKind}`;
  // A type whose values are no numbers to people has sentences of its own: the latest date is not the largest one.
  const own = `${type}_${usual}`;
  return [words.has(own) ? own : usual, Object.fromEntries(values)];
}

/** How many of 100 people; "about 0" and "about 100" would claim a certainty that no channel gives. */
export function shareOf100(part, whole, words) {
  if ((part * 100) % whole === 0) return String((part * 100) / whole);
  const number = Math.floor((part * 200 + whole) / (2 * whole));
  if (number === 0) return words.translate("fewer_than_one");
  return words.translate(number === 100 ? "more_than_99" : "about", { number });
}

/** The label of a question's option with this index. */
export function optionLabel(question, index, words) {
  if (question.domain.absent && index === question.domain.steps) return words.node("absent");
  if (question.kind.truth === "yes_no") return words.node((question.mechanism?.answers ?? question.options)[index]);
  return words.text("span", question.choices[index].label);
}
