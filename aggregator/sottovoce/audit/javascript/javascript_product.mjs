// The scripts under audit, loaded as a page loads them.

/** Everything that the scripts export. */
export async function loadProduct(scripts) {
  globalThis.isSecureContext = true;
  return Object.assign({}, ...(await Promise.all(scripts.map((script) => import(`./${script}`)))));
}
