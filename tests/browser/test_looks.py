"""Every page in light and dark, on a desk and on a phone: nothing sticks out, nothing is unreadable, no policy is broken."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person

PHONE = {"width": 360, "height": 720}
DESK = {"width": 1280, "height": 800}
CONTRAST_MIN = 4.5
ONE_ROW_PIXELS = 64

OUTSIDE = (
    "/account/login/",
    "/account/signup/",
    "/account/password/reset/",
    "/account/inactive/",
    "/authorize?client_id=nobody",
    "/no/such/page",
)
# A request with an error, from an origin that the person has not allowed: the page names it.
REFUSED = "/authorize?client_id=https://app.example&redirect_uri=https://app.example/callback&state=s&scope=orgs:manage"
INSIDE = (
    "/",
    "/developers",
    "/apps",
    "/organizations",
    "/wallet",
    "/wallet/auto-top-up",
    "/wallet/payments",
    "/wallet/usage",
    "/wallet/alerts",
    "/account/2fa/",
    "/account/2fa/webauthn/",
    "/account/2fa/webauthn/add/",
    "/account/2fa/totp/activate/",
    "/account/reauthenticate/",
    "/account/sessions/",
    "/account/name/",
    "/account/data/",
    "/account/close/",
    "/account/password/change/",
    "/account/logout/",
    REFUSED,
)

# The lowest contrast of a text with what is behind it (WCAG 2.2, 1.4.3), and where it is.
CONTRAST = """() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((c) => ((c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  let worst = { ratio: 21, text: "" };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const text = texts.currentNode.textContent.trim();
    if (!text || element.closest(".skip, script, noscript, :disabled") || !element.checkVisibility()) continue;
    const [one, other] = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < worst.ratio) worst = { ratio, text };
  }
  return worst;
}"""
# Controls whose touch target is smaller than 24 by 24 pixels (WCAG 2.2, 2.5.8; links within text are exempt).
SMALL_TARGETS = """() => [...document.querySelectorAll("button, input:not([type=hidden]), select, textarea, nav a")]
  .filter((element) => element.checkVisibility())
  .map((element) => [element.getBoundingClientRect(), element])
  .filter(([box, element]) => (box.width < 24 || box.height < 24) && !element.closest("label"))
  .map(([box, element]) => `${element.outerHTML.slice(0, 80)} ${box.width}x${box.height}`)"""
UNLABELLED = """() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
  .filter((element) => element.checkVisibility() && !element.labels.length && !element.ariaLabel)
  .map((element) => element.outerHTML)"""
# Figures and labels that are broken into two lines, and secrets of which only a part is seen.
BROKEN = """() => [...document.querySelectorAll(".figures strong, .tag, .badge, input.secret")]
  .filter((element) => element.checkVisibility())
  .filter((element) => {
    const text = document.createRange();
    text.selectNodeContents(element);
    const lines = new Set([...text.getClientRects()].map((line) => line.top));
    return lines.size > 1 || (element.matches("input") && element.scrollWidth > element.clientWidth);
  })
  .map((element) => element.outerHTML)"""

Look = dict[str, Any]
LOOKS = [
    pytest.param({"viewport": DESK, "color_scheme": "light"}, id="desk-light"),
    pytest.param({"viewport": PHONE, "color_scheme": "dark"}, id="phone-dark"),
]


def look_at(page: Page) -> None:
    """Check the page that is open, once its styles are there. It has one heading of the first order."""
    page.wait_for_load_state()
    page.locator("h1:visible").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{page.url} is wider than the screen"
    worst = page.evaluate(CONTRAST)
    assert worst["ratio"] >= CONTRAST_MIN, f"{page.url}: {worst}"
    assert page.evaluate(SMALL_TARGETS) == [], page.url
    assert page.evaluate(UNLABELLED) == [], page.url
    assert page.evaluate(BROKEN) == [], page.url
    assert page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("look", LOOKS)
def test_the_portal(opened: Any, gateway: AppGateway, look: Look) -> None:
    person: Person = opened(**look)
    person.window.expect(r"status of 40[04] .*/(authorize\?client_id=(nobody|https://app)|no/such/page)")
    for path in OUTSIDE:
        person.page.goto(gateway.base_url + path)
        look_at(person.page)
    person.sign_up_at_the_portal()
    for path in INSIDE:
        person.page.goto(gateway.base_url + path)
        look_at(person.page)


@pytest.mark.parametrize("look", LOOKS)
def test_the_way_through_the_app(opened: Any, gateway: AppGateway, look: Look) -> None:
    person: Person = opened(**look)
    person.page.goto(gateway.app_url)
    look_at(person.page)
    person.begin_at_the_app()
    person.sign_up()
    person.page.get_by_role("button", name="Allow").wait_for()
    look_at(person.page)
    person.page.get_by_label("Monthly budget").fill("0.001")
    person.allow()
    person.ask()
    look_at(person.page)
    for path in ("/developers", "/apps", "/"):
        person.page.goto(gateway.base_url + path)
        look_at(person.page)


@pytest.mark.parametrize("look", LOOKS)
def test_the_way_to_a_live_session_and_out_of_its_consent(opened: Any, gateway: AppGateway, look: Look) -> None:
    person: Person = opened(**look)
    page = person.page
    person.enter_the_app()
    page.get_by_role("link", name="Talk instead").click()
    for name in ("Sign in to talk", "Allow"):
        page.get_by_role("button", name=name).wait_for()
        look_at(page)
        page.get_by_role("button", name=name).click()
    page.get_by_role("button", name="Talk", exact=True).wait_for()
    look_at(page)
    page.goto(f"{gateway.base_url}/apps")
    page.get_by_role("button", name="Withdraw").wait_for()
    page.evaluate(f"document.querySelector('section h2').textContent = 'https://{'a' * 63}.example'")
    look_at(page)
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("status").wait_for()
    look_at(page)


def test_a_theme_that_a_link_asks_for_wins_over_the_devices(opened: Any, gateway: AppGateway) -> None:
    person: Person = opened(color_scheme="light")
    grounds = []
    for query in ("", "?theme=dark", ""):
        person.page.goto(f"{gateway.base_url}/account/login/{query}")
        grounds.append(person.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] != grounds[1] == grounds[2], "and it is remembered"


def test_a_page_works_without_javascript(opened: Any, gateway: AppGateway) -> None:
    person: Person = opened(java_script_enabled=False)
    person.page.goto(f"{gateway.base_url}/account/login/")
    person.sign_up()
    expect(person.page.get_by_role("heading", name="Your account")).to_be_visible()
    person.page.get_by_role("link", name="Developers").first.click()
    assert person.page.get_by_role("heading", name="Developers").is_visible()


def test_a_phones_header_is_one_row_with_a_menu(opened: Any, gateway: AppGateway) -> None:
    person: Person = opened(viewport=PHONE, java_script_enabled=False)
    person.sign_up_at_the_portal()
    header, menu = person.page.get_by_role("banner"), person.page.get_by_role("button", name="Menu")
    assert _height(header) <= ONE_ROW_PIXELS
    expect(header.get_by_role("link", name="Developers")).to_be_hidden()
    menu.click()
    expect(header.get_by_text(person.email)).to_be_visible()
    expect(header.get_by_role("button", name="Sign out")).to_be_visible()
    header.get_by_role("link", name="Developers").click()
    expect(person.page.get_by_role("heading", name="Developers")).to_be_visible()


def test_a_desk_needs_no_menu(person: Person) -> None:
    person.sign_up_at_the_portal()
    header = person.page.get_by_role("banner")
    expect(header.get_by_text(person.email)).to_be_visible()
    expect(header.get_by_role("button", name="Menu")).to_be_hidden()
    assert _height(header) <= ONE_ROW_PIXELS


def test_no_page_can_be_framed(person: Person, gateway: AppGateway) -> None:
    person.window.expect("frame-ancestors", "chrome-error", "ERR_BLOCKED_BY_RESPONSE", "X-Frame-Options")
    person.page.route(
        "https://thief.example/", lambda route: route.fulfill(body=_frame(gateway), content_type="text/html")
    )
    person.page.goto("https://thief.example/")
    person.page.wait_for_timeout(500)
    assert [frame for frame in person.page.frames if frame.url.startswith(gateway.base_url)] == []


def _frame(gateway: AppGateway) -> str:
    return f"<!DOCTYPE html><title>x</title><iframe src='{gateway.base_url}/account/login/'></iframe>"


def _height(element: Locator) -> float:
    element.page.wait_for_load_state()  # with its styles
    box = element.bounding_box()
    assert box is not None
    return box["height"]
