// The scripts under audit, loaded as a page loads them.
import { Device, enter, install, installPage } from "./javascript_device.mjs";

/** What the scripts give, and the device on which they were loaded. */
export async function loadProduct(scripts) {
  const loading = new Device(Buffer.alloc(0), () => null);
  // The device is there before any script is: none can put aside what is watched.
  install();
  enter(loading);
  const product = Object.assign({}, ...(await Promise.all(scripts.map((script) => import(`./${script}`)))));
  installPage();
  return { product, loading };
}
