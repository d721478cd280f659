const DELAY = 100;
const ALL_OF_IT = 0.99;

/**
 * Call `tell` with whether any part of this page is out of view or, where the browser can tell, covered or faded: with
 * true at once, until it has looked. What lies between the options counts as they do, since a press can be heard there.
 */
export function watchVisibility(tell) {
  const canTell = "isVisible" in (globalThis.IntersectionObserverEntry?.prototype ?? {});
  tell(true);
  const options = canTell ? { trackVisibility: true, delay: DELAY } : {};
  const observer = new IntersectionObserver((entries) => {
    const { intersectionRatio, isVisible } = entries.at(-1);
    const isCovered = intersectionRatio < ALL_OF_IT || (canTell && !isVisible);
    tell(isCovered);
    if (isCovered) setTimeout(look, 2 * DELAY);
  }, { threshold: [0, 0.5, ALL_OF_IT, 1], ...options });
  // A page at rest is not looked at again by itself.
  const look = () => {
    observer.disconnect();
    observer.observe(document.documentElement);
  };
  look();
}
