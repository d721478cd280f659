/**
 * The three columns of a record, by their names; `name` names the first. Of a block three for each question, under the
 * questions' own names, which the channel repeats. `once` is said as in the record, or as 1 and 0.
 */
export function toColumns({ question, value = "", channel = "", once = "" }, name = question) {
  const names = channel.split(" with=")[1]?.split(",") ?? [name];
  const kept = { true: "1", false: "0" }[once] ?? once;
  const columns = (one, said) => [[one, said], [`${one}_channel`, channel], [`${one}_once`, kept]];
  return Object.fromEntries(names.flatMap((one, place) => columns(one, value.split(",")[place])));
}

/** The columns of record and state, four for each question that is asked; empty texts where there is no record. */
export function columnsOf({ question, name, record, state }) {
  const names = question?.items?.map((one) => one?.name) ?? [name];
  return Object.assign({}, ...names.map((one) => ({ ...toColumns(record ?? {}, one), [`${one}_state`]: state })));
}
