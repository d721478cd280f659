/**
 * The three columns of a record, by their names; `name` names the first. Of a block three for each question, under the
 * questions' own names, which the channel repeats.
 */
export function toColumns({ question, value, channel, once }, name = question) {
  const isBlock = channel.startsWith("joint_rr ");
  const names = isBlock ? channel.split(" with=")[1].split(",") : [name];
  const values = isBlock ? value.split(",") : [value];
  const kept = once ? "1" : "0";
  const columns = (one, place) => [[one, values[place]], [`${one}_channel`, channel], [`${one}_once`, kept]];
  return Object.fromEntries(names.flatMap(columns));
}
