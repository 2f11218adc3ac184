// What scrolls sideways can be reached by keyboard. The theme wraps tables after the page has loaded.
const reach = () => document.querySelectorAll("pre > code, .md-typeset__scrollwrap").forEach((one) => { one.tabIndex = 0; });

// A browser breaks lines at hyphens: `--fix` after its first one. Longer code may break, or it would leave a narrow screen.
const keepWhole = () => document.querySelectorAll(".md-typeset :not(pre) > code").forEach((one) => {
  if (one.textContent.length <= 24 && !/\s/.test(one.textContent)) one.classList.add("whole");
});

// The theme draws search results in a shadow root, with the way to each page at a contrast of 3.4 to 1.
const results = new CSSStyleSheet();
results.replaceSync("menu { color: rgb(var(--color-foreground) / 0.7) !important; }");
const darkenResults = () => {
  for (const one of document.body.children) if (one.shadowRoot) one.shadowRoot.adoptedStyleSheets = [results];
};

document.addEventListener("DOMContentLoaded", () => {
  const improve = () => { reach(); darkenResults(); };
  keepWhole();
  improve();
  new MutationObserver(improve).observe(document.body, { childList: true, subtree: true });
});
