const ONWARD = "#explanation > .actions .primary, #consent .primary, #check button:not(.primary)";
const PAUSE = 50;
const MOST_PRESSES = 40;

/**
 * Let the form follow the page around it: go on to a question as soon as it is there, without taking the focus from the
 * page. `at` is the question's index, or null; later ones come as messages from the page.
 */
export function follow(scope, at) {
  const { document } = scope;
  const { focus } = scope.HTMLElement.prototype;
  const labelOf = (index) => document.getElementById(`q${index}-label`) ?? document.getElementById(`m${index}-label`);
  let left = 0;
  let wanted = at;
  const go = () => {
    left -= 1;
    const isThere = document.querySelector("#questions");
    labelOf(wanted)?.closest("#questions form > [hidden]")?.dispatchEvent(new scope.Event("reveal"));
    // Unlike scrollIntoView, this moves the frame alone; the banner keeps to the top.
    const { top } = labelOf(wanted)?.getBoundingClientRect() ?? { top: 0 };
    if (isThere) scope.scrollTo(0, scope.scrollY + top - scope.innerHeight / 4);
    // A button that is not ready yet is pressed again after a pause.
    else document.querySelector(ONWARD)?.click();
    if (isThere || left <= 0) {
      scope.HTMLElement.prototype.focus = focus;
      left = 0;
    } else {
      setTimeout(go, PAUSE);
    }
  };
  const want = (index) => {
    const isUnderWay = left > 0;
    [wanted, left] = [index, MOST_PRESSES];
    scope.HTMLElement.prototype.focus = () => {};
    if (!isUnderWay) setTimeout(go, 0);
  };
  scope.addEventListener("message", ({ data }) => Number.isInteger(data) && want(data));
  if (at !== null) want(at);
}
