const STYLES = ["paper", "ink", "accent", "on-accent", "line", "font"];

/** Have `<sottovoce-question mode="frame">` ask in a frame, for pages that people trust as much as the question. */
export async function bringFrame() {
  if (!globalThis.customElements) return;
  const { ways } = await customElements.whenDefined("sottovoce-question");
  ways.frame = askInFrame;
  const all = [...document.querySelectorAll("sottovoce-question[mode=frame]")];
  const early = all.filter(({ state }) => state === "shown");
  for (const node of early) node.connectedCallback();
}

function askInFrame(host, address) {
  const frame = Object.assign(document.createElement("iframe"), {
    src: address,
    title: host.ariaLabel ?? host.name,
    sandbox: "allow-scripts allow-same-origin",
    referrerPolicy: "no-referrer",
    style: "border: 0; inline-size: 100%; block-size: 20rem; display: block",
  });
  addEventListener("message", ({ data, origin, source }) => {
    if (source !== frame.contentWindow || origin !== address.origin || data?.type !== "sottovoce:size") return;
    if (data.height > 0) frame.style.blockSize = `${data.height}px`;
  });
  host.given = () => {
    const computed = getComputedStyle(host);
    const valueOf = (name) => computed.getPropertyValue(`--sottovoce-${name}`).trim();
    return { style: Object.fromEntries(STYLES.map((name) => [name, valueOf(name)])), height: innerHeight };
  };
  return frame;
}
