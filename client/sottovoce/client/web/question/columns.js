/** The three columns of a record, by their names; `name` names the first. */
export function toColumns({ question, value, channel, once }, name = question) {
  return { [name]: value, [`${name}_channel`]: channel, [`${name}_once`]: once ? "1" : "0" };
}
