// The theme lets a wide table scroll, but only for a mouse or a finger: people with a keyboard must be able to, too.
function reachable() {
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    wide.tabIndex = 0;
  }
}
new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true });
reachable();

// The theme gives its search a role, but no name that could be read out.
document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search");
