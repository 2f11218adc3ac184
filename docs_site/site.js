// What scrolls sideways can be reached by keyboard. The theme wraps tables after the page has loaded.
const reach = () => document.querySelectorAll("pre > code, .md-typeset__scrollwrap").forEach((one) => { one.tabIndex = 0; });
document.addEventListener("DOMContentLoaded", () => {
  reach();
  new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
});
