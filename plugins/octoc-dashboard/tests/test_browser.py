"""The page in a real browser: by keyboard alone, on a narrow screen, in the dark, and what its policy refuses.

`OCTOC_SHOTS` names a folder for pictures of what is seen here, for people to look at.
"""

from __future__ import annotations

import contextlib
import os
import time
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any

from octoc_serve.tokens import Tokens

TAB, ENTER, SPACE = "\ue004", "\ue007", " "
FOCUSED = """
const one = document.activeElement;
const named = one.getAttribute("aria-label") || one.innerText || (one.labels && one.labels[0].innerText) || "";
return one === document.body ? "" : `${one.tagName.toLowerCase()} ${named.trim().split("\\n")[0]}`;
"""
RINGED = "return getComputedStyle(document.activeElement).outlineStyle !== 'none'"
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"
LOADED = """
const [one] = document.querySelectorAll(arguments[0]);
return document.readyState === "complete" ? one?.innerText : null;
"""
TOO_WIDE = """
const width = document.documentElement.clientWidth + 0.5;
return [...document.querySelectorAll("body *:not(.skip, thead, thead *)")]
  .filter((one) => one.getClientRects().length && one.getBoundingClientRect().right > width)
  .map((one) => `${one.tagName} ${one.className.baseVal ?? one.className}`);
"""
LABELS_THAT_DO_NOT_WRAP = """
return [...document.querySelectorAll("[data-column]")]
  .filter((one) => getComputedStyle(one, "::before").whiteSpace !== "normal")
  .map((one) => one.dataset.column);
"""
GAP_AFTER_A_LONG_NAME = """
const name = document.querySelector(".tool");
name.textContent = "a".repeat(300);
const text = document.createRange();
text.selectNodeContents(name);
return name.parentElement.querySelector(arguments[0]).getBoundingClientRect().left - text.getBoundingClientRect().right;
"""
MESSAGE = "will it rain tomorrow"


def shoot(browser: Any, name: str) -> None:
    """Keep a picture if the user asks for it."""
    folder = os.environ.get("OCTOC_SHOTS")
    if folder:
        browser.shoot(Path(folder) / f"{name}.png")


def read(browser: Any, selector: str, expected: str) -> str:
    """Return the text of an element, as soon as it is the expected one: a key that sends a form does not wait."""
    text: str | None = None
    for _ in range(600):
        with contextlib.suppress(urllib.error.HTTPError):  # while one page replaces the other
            text = browser.run(LOADED, selector)
        if text is not None and expected in text:
            break
        time.sleep(0.05)
    return text or ""


def focused(browser: Any) -> str:
    """Return what has the focus, as soon as something has; empty when nothing has for a second."""
    for _ in range(20):
        if reached := str(browser.run(FOCUSED)):
            return reached
        time.sleep(0.05)
    return ""


def tab(browser: Any, until: str = "") -> list[str]:
    """Press Tab once, or up to what is named; return what was passed, each with a ring around it."""
    passed = []
    for _ in range(60):
        browser.press(TAB)
        reached = focused(browser)
        if not reached:
            continue  # a page that was just opened had not taken the key yet
        passed.append(reached)
        assert browser.run(RINGED), f"no ring around {reached}"
        if not until or reached == until:
            return passed
    raise AssertionError(f"{until} is not reached: {passed}")


def route(browser: Any, base: str, element: Callable[..., str], message: str = MESSAGE) -> None:
    """Type a message and send it."""
    browser.open(f"{base}/")
    browser.do("POST", f"{element(browser, '#message')}/value", text=message)
    browser.do("POST", f"{element(browser, '#routing button')}/click")
    assert element(browser, "#decision")


def test_what_a_server_wrote_does_nothing_in_a_browser(browser: Any, base: str) -> None:
    """A description with scripts, handlers and styles is text; the page is not blamed for anything on the console."""
    browser.open(f"{base}/")
    assert browser.do("GET", "/title") == "supervisor · octoc serve"
    browser.run(OPEN_ALL)
    seen = browser.run("return document.querySelector('main').innerText")
    assert "<script>document.title='owned'</script>" in seen
    assert "onerror=" in seen
    assert browser.run("return document.querySelectorAll('script, img, style, main svg').length") == 0
    assert browser.run("return document.querySelector('h1').getClientRects().length") == 1
    assert browser.console() == []
    shoot(browser, "tools")


def test_the_policy_refuses_what_the_page_does_not_need(browser: Any, base: str) -> None:
    """Were a script or a style to come in all the same, the browser would not take it."""
    browser.open(f"{base}/")
    browser.run(
        """
        const script = document.createElement("script");
        script.textContent = "document.title = 'owned'";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<p id=styled style='position: fixed'>");
        """
    )
    assert browser.do("GET", "/title") == "supervisor · octoc serve"
    assert browser.run("return getComputedStyle(document.querySelector('#styled')).position") == "static"
    blamed = browser.console()
    assert all("Content Security Policy" in line for line in blamed)
    assert any("Executing inline script" in line for line in blamed)
    assert any("Applying inline style" in line for line in blamed)


def test_all_can_be_done_by_keyboard(browser: Any, serve: Callable[..., Any], tokens: Tokens) -> None:
    """Sign in, skip to the content, route a message, open a tool, sign out: by Tab in the page's order, and Enter."""
    _, token = tokens.add("clerk")
    base = serve().base

    browser.open(f"{base}/")
    shoot(browser, "sign-in")
    assert tab(browser) == ["input Token"]
    browser.press("octoc_wrong", ENTER)
    refused = "This token opens nothing here."
    assert read(browser, "[role=alert]", refused) == refused
    shoot(browser, "sign-in-refused")
    assert [line for line in browser.console() if "403" not in line] == []
    tab(browser, "input Token")
    browser.press(token, ENTER)
    assert read(browser, "h1", "clerk") == "clerk"
    assert token not in browser.do("GET", "/source")
    assert browser.do("GET", "/url") == f"{base}/"

    assert tab(browser) == ["a Skip to content"]
    shoot(browser, "skip")
    browser.press(ENTER)
    assert browser.run("return document.activeElement.id") == "main"
    browser.open(f"{base}/")
    order = tab(browser, "button Route")
    sections = [f"a {name}" for name in ("Routing", "Servers", "Sessions", "Calls", "Tools")]
    assert order == ["a Skip to content", *sections, "button Sign out", "textarea A user’s message", "button Route"]
    browser.open(f"{base}/")
    tab(browser, "textarea A user’s message")
    browser.press(MESSAGE, TAB, ENTER)
    nothing = "Would activate nothing"
    assert nothing in read(browser, ".decision", nothing)
    assert browser.run("return document.querySelector('#message').value") == MESSAGE

    tab(browser, "summary plain__echo")
    opened = "return document.activeElement.parentElement.open"
    assert not browser.run(opened)
    browser.press(ENTER)
    assert browser.run(opened)
    browser.press(SPACE)
    assert not browser.run(opened)
    browser.open(f"{base}/")
    tab(browser, "button Sign out")
    browser.press(ENTER)
    assert read(browser, "h1", "Sign in") == "Sign in"
    assert browser.console() == []


def test_a_narrow_screen_needs_no_sideways_scroll(
    browser: Any, serve: Callable[..., Any], element: Callable[..., str]
) -> None:
    """With everything open, 320 pixels are enough, and 1024 as well; in both schemes the page has its own ground."""
    route(browser, serve("--agents", "all").base, element, f"{MESSAGE} {'averylongwordwithoutanyend' * 20}")
    browser.run(OPEN_ALL)
    for scheme, expected in (("light", "rgb(252, 251, 248)"), ("dark", "rgb(22, 23, 24)")):
        for width in (320, 1024):
            browser.emulate(width, dark=scheme == "dark")
            assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
            assert browser.run(TOO_WIDE) == []
            shoot(browser, f"{scheme}-{width}")
        assert browser.run("return getComputedStyle(document.body).backgroundColor") == expected
    assert browser.console() == []


def test_long_names_and_labels_keep_clear_of_what_follows(browser: Any, base: str) -> None:
    """A label beside its figure wraps, and the name of a tool ends before the words after it."""
    browser.open(f"{base}/")
    assert browser.run(GAP_AFTER_A_LONG_NAME, ".how") >= 8
    browser.emulate(390)
    assert browser.run(LABELS_THAT_DO_NOT_WRAP) == []
    assert browser.run(GAP_AFTER_A_LONG_NAME, ".tokens") >= 8


def test_the_picture_is_told_in_words_too(browser: Any, base: str, element: Callable[..., str]) -> None:
    """Assistive technology hears each bar's name and figure, headings and tables; the drawing itself is not told."""
    route(browser, base, element)
    told = browser.accessible()
    words = [name for role, name in told if role == "StaticText"]
    place = words.index("weather", words.index("Would activate "))
    assert "weather" in words[place + 1 :]
    assert "activated" in "".join(words)
    for role, name in (("heading", "Decision"), ("columnheader", "Likeness"), ("rowheader", "weather")):
        assert (role, name) in told
    assert {("main", ""), ("banner", ""), ("search", ""), ("navigation", "On this page")} <= set(told)
    assert not any(role in {"image", "SvgRoot", "graphics-document"} for role, _ in told)
    shoot(browser, "routing")


def test_on_paper_the_bars_keep_their_figures(browser: Any, base: str, element: Callable[..., str]) -> None:
    """Printed, buttons and links of the page are left out, bars and their figures are not."""
    route(browser, base, element)
    browser.emulate(700, media="print")
    shown = "return [...document.querySelectorAll(arguments[0])].filter((one) => one.getClientRects().length).length"
    assert browser.run(shown, "button, header nav, .skip") == 0
    assert browser.run(shown, ".bars .bar") == browser.run(shown, ".bars .bar-value") > 0
    shoot(browser, "print")
