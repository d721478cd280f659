const TOLD = { parent: false };

/**
 * Tell the page in which this one is embedded, once, that a report has arrived.
 *
 * The event holds no data, and comes after the receipt, whatever was answered. Its target is not named because only
 * the pages that the aggregator lists in `frame-ancestors` can be the parent.
 */
export function tellParent(scope = globalThis) {
  if (TOLD.parent || scope.parent === scope) return;
  TOLD.parent = true;
  scope.parent.postMessage({ type: "sottovoce:completed" }, "*");
}
