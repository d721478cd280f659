const DELAY = 100;

/**
 * Call `tell` with whether a part to press is covered or faded, where the browser can tell: with true at once, until it
 * has looked. A part that is scrolled out of sight cannot be pressed, and is not counted.
 */
export function watchVisibility(node, tell) {
  if (!("isVisible" in (globalThis.IntersectionObserverEntry?.prototype ?? {}))) return;
  tell(true);
  const covered = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { intersectionRatio, isVisible, target } of entries) {
      covered.delete(target);
      if (intersectionRatio === 1 && !isVisible) covered.add(target);
    }
    tell(covered.size > 0);
    if (covered.size > 0) setTimeout(look, 2 * DELAY);
  }, { threshold: [0, 1], trackVisibility: true, delay: DELAY });
  // A page at rest is not looked at again by itself.
  const look = () => {
    observer.disconnect();
    covered.clear();
    for (const part of node.querySelectorAll("form label, form input, form button")) observer.observe(part);
  };
  look();
}
