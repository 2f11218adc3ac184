// What scrolls sideways can be reached by keyboard. The theme wraps tables after the page has loaded.
const reach = () => document.querySelectorAll("pre > code, .md-typeset__scrollwrap").forEach((one) => { one.tabIndex = 0; });

// A browser breaks lines at hyphens: `--fix` after its first one. Longer code may break, or it would leave a narrow screen.
const keepWhole = () => document.querySelectorAll(".md-typeset :not(pre) > code").forEach((one) => {
  if (one.textContent.length <= 24 && !/\s/.test(one.textContent)) one.classList.add("whole");
});

document.addEventListener("DOMContentLoaded", () => {
  keepWhole();
  reach();
  new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
});
