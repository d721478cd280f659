import { must } from "./rational.js";

/** The true value that stands for no answer. */
export function readAbsent(kind, fields, domain) {
  must(!domain.absent);
  const value = kind.encode(domain, fields.when_absent);
  kind.checkAbsent(domain, fields.when_absent);
  return value;
}
