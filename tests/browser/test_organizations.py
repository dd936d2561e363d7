"""Two people and an organization, each in a browser of their own, from the founding to a removal."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person

Open = Callable[..., Person]

BEYOND_THE_EDGE = """[...document.querySelectorAll("body *:not(.skip, .unseen, .tabs *)")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth)
    .map((one) => one.outerHTML.slice(0, 80))"""


class Founder:
    """A person at the pages of an organization."""

    def __init__(self, person: Person) -> None:
        self.person, self.page = person, person.page
        person.register()
        self.page.goto(person.submit("/organizations", name="Acme"))
        self.says("Acme was created. You are its owner.")

    def open(self, tab: str) -> Page:
        """Go to one of the organization's pages."""
        self.page.get_by_role("navigation", name="Acme").get_by_role("link", name=tab, exact=True).click()
        return self.page

    def says(self, words: str) -> None:
        """Check the message of the page."""
        expect(self.page.get_by_role("status").filter(has_text=words)).to_be_visible()

    def enable(self, product: str = "") -> Page:
        """Enable a product, the first one unless it is named, and confirm its cost."""
        page = self.open("Products")
        page.get_by_role("link", name=f"Enable {product}").first.click()
        page.get_by_role("button", name="Enable", exact=True).click()
        self.says("The product was enabled.")
        return page

    def invite(self, role: str = "Member") -> str:
        """Make an invitation and read its link off the page."""
        page = self.open("Invitations")
        page.get_by_label("Role").select_option(label=role)
        page.get_by_role("button", name="Create invitation").click()
        return page.get_by_label("Invitation link").input_value()


@pytest.fixture
def founder(person: Person) -> Founder:
    return Founder(person)


def token_of(link: str) -> str:
    return link.partition("#token=")[2]


def requests_of(person: Person) -> list[tuple[str, str, str | None, dict[str, str]]]:
    """Collect everything that a person's browser sends."""
    sent: list[tuple[str, str, str | None, dict[str, str]]] = []

    def note(request: Request) -> None:
        sent.append((request.method, request.url, request.post_data, request.headers))

    person.window.context.on("request", note)
    return sent


def test_invite_join_seat_access_removal(founder: Founder, opened: Open, gateway: AppGateway) -> None:
    link = founder.invite()
    bob = opened()
    sent = requests_of(bob)
    bob.page.goto(link)
    expect(bob.page).to_have_url(f"{gateway.base_url}/organizations/invitation")
    expect(bob.page.get_by_role("heading", name="Join Acme?")).to_be_visible()
    expect(bob.page.get_by_role("definition").filter(has_text=founder.person.email)).to_be_visible()
    expect(bob.page.get_by_role("definition").filter(has_text="member")).to_be_visible()
    bob.page.get_by_role("link", name="Sign up").click()
    bob.page.get_by_label("Email").fill(bob.email)
    bob.page.get_by_label("Password", exact=True).fill("correct horse battery staple")
    bob.page.get_by_role("button", name="Sign up").click()
    expect(bob.page.get_by_text(f"You will join as {bob.email}.")).to_be_visible()
    bob.page.get_by_role("button", name="Accept").click()
    expect(bob.page.get_by_role("heading", name="Acme", exact=True)).to_be_visible()
    with_token = [one for one in sent if token_of(link) in str(one)]
    assert {(method, urlsplit(url).path) for method, url, _, _ in with_token} == {
        ("POST", "/organizations/invitation/about"),
        ("POST", "/api/organizations/invitations/accept"),
    }
    assert not [one for one in with_token if token_of(link) in one[1] + str(one[3])], "bodies alone have it"
    assert bob.page.evaluate("localStorage.getItem('invitation')") is None

    access = f"{bob.page.url}/access"
    studio = bob.page.get_by_role("row").filter(has_text="Studio")
    bob.page.goto(access)
    expect(studio).to_contain_text("It is disabled")
    founder.enable("Studio")
    founder.says("The product was enabled.")
    bob.page.reload()
    expect(studio).to_contain_text("You have no seat.")
    founder.open("Seats").get_by_role("button", name=f"Assign seat to {bob.email}").click()
    founder.says("The seat was assigned.")
    bob.page.reload()
    expect(studio).to_contain_text("You can use it.")

    founder.open("Members").get_by_role("link", name=f"Remove {bob.email}").click()
    expect(founder.page.get_by_role("listitem").filter(has_text="Studio")).to_be_visible()
    founder.page.get_by_role("button", name="Remove").click()
    founder.says(f"{bob.email} was removed.")
    bob.window.expect(r"status of 404 .*/organizations/")
    bob.page.reload()
    expect(bob.page.get_by_role("heading", name="Page not found")).to_be_visible()
    log = founder.open("Log").get_by_role("list", name="Changes, newest first")
    expect(log.get_by_role("listitem").first).to_contain_text(f"removed the seat for Studio from {bob.email}")
    expect(log).to_contain_text(f"removed {bob.email} (member)")


def test_removing_a_seat_needs_a_confirmation(founder: Founder) -> None:
    founder.enable("Studio")
    email = founder.person.email
    founder.open("Seats").get_by_role("button", name=f"Assign seat to {email}").click()
    founder.says("The seat was assigned.")
    page = founder.open("Products")
    page.get_by_role("spinbutton", name="Seat cap").fill("1")
    page.get_by_role("button", name="Save the seat cap of Studio").click()
    founder.open("Seats").get_by_role("link", name=f"Remove seat of {email}").click()
    expect(page.get_by_role("heading", name="Remove your seat?")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name=f"Remove seat of {email}").click()
    page.get_by_role("button", name="Remove seat").click()
    founder.says("The seat was removed.")
    expect(page.get_by_role("button", name=f"Assign seat to {email}")).to_be_enabled()


def test_an_owner_renames_the_organization(founder: Founder) -> None:
    page = founder.open("Overview")
    page.get_by_role("textbox", name="Name").fill("Acme and Sons")
    page.get_by_role("button", name="Rename").click()
    founder.says("The organization is now called Acme and Sons.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Acme and Sons")


def test_a_link_serves_once_and_refusals_look_alike(founder: Founder, opened: Open, gateway: AppGateway) -> None:
    used, taken_back = founder.invite(), founder.invite()
    founder.page.get_by_role("button", name="Revoke").first.click()
    founder.says("The invitation was revoked.")
    bob, alerts = opened(), []
    bob.sign_up_at_the_portal()
    bob.page.goto(used)
    bob.page.get_by_role("button", name="Accept").click()
    expect(bob.page.get_by_role("heading", name="Acme", exact=True)).to_be_visible()
    bob.window.expect(r"status of 404 .*/organizations/invitation/about")
    unknown = f"{gateway.base_url}/organizations/invitation#token={'x' * 43}"
    for link in (used, taken_back, unknown):
        bob.page.goto("about:blank")
        bob.page.goto(link)
        alerts.append(bob.page.get_by_role("alert").inner_text())
    assert len(set(alerts)) == 1
    assert "cannot be used" in alerts[0]


def test_a_link_without_its_end_says_so(opened: Open, gateway: AppGateway) -> None:
    guest = opened()
    guest.page.goto(f"{gateway.base_url}/organizations/invitation")
    expect(guest.page.get_by_role("alert")).to_have_text(re.compile("is incomplete"))
    expect(guest.page.get_by_role("link", name="Sign up")).to_be_hidden()


def test_without_javascript_the_page_explains_itself(opened: Open, gateway: AppGateway) -> None:
    guest = opened(java_script_enabled=False)
    guest.page.goto(f"{gateway.base_url}/organizations/invitation#token=secret")
    explanation = guest.page.locator("noscript p")
    expect(explanation).to_be_visible()
    expect(explanation).to_contain_text("This page needs JavaScript")


def test_copying_the_link(founder: Founder) -> None:
    founder.person.window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    link = founder.invite()
    founder.page.get_by_role("button", name="Copy").click()
    expect(founder.page.get_by_text("Copied.")).to_be_visible()
    assert founder.page.evaluate("navigator.clipboard.readText()") == link
    founder.page.reload()
    expect(founder.page.get_by_label("Invitation link")).to_have_count(0)


def test_the_keyboard_is_enough_to_found_and_enable(person: Person) -> None:
    person.sign_up_at_the_portal()
    page = person.page
    page.get_by_role("link", name="Organizations").first.click()
    expect(page.get_by_text("You do not belong to an organization yet.")).to_be_visible()
    _tab_to(page, "name")
    page.keyboard.type("Keyboard people")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Keyboard people")).to_be_visible()
    page.goto(f"{page.url}/products")
    _tab_to(page, "Enable Studio")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Enable Studio?")).to_be_visible()
    _tab_to(page, "Enable")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="enabled")).to_be_visible()


def test_a_phone_shows_every_page_without_scrolling_sideways(founder: Founder) -> None:
    founder.enable("Studio")
    founder.invite()
    founder.page.set_viewport_size({"width": 375, "height": 700})
    for tab in ("Invitations", "Members", "Products", "Seats", "Money", "My access", "Log", "Overview"):
        page = founder.open(tab)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.evaluate(BEYOND_THE_EDGE) == [], tab


def test_on_a_phone_the_tabs_are_one_row_that_scrolls_to_the_open_one(founder: Founder) -> None:
    founder.page.set_viewport_size({"width": 375, "height": 700})
    founder.open("Log")
    tabs = founder.page.get_by_role("navigation", name="Acme")
    assert tabs.evaluate("(row) => row.scrollWidth > row.clientWidth && row.clientHeight < 64")
    expect(tabs.get_by_role("link", name="Log")).to_be_in_viewport(ratio=1)


def test_scripts_of_the_page_use_the_api_by_session(founder: Founder, gateway: AppGateway) -> None:
    def call(method: str, path: str, body: Any = None) -> Any:
        return founder.page.evaluate(
            """async ([method, path, body]) => {
                const csrf = document.cookie.split("; ").find((one) => one.startsWith("csrftoken=")).slice(10);
                const headers = { "Content-Type": "application/json", "X-CSRFToken": csrf };
                const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
                return [answer.status, await answer.json()];
            }""",
            [method, path, body],
        )

    status, founded = call("POST", "/api/organizations", {"name": "By script"})
    assert (status, founded["role"]) == (201, "owner")
    org = f"/api/organizations/{founded['orgId']}"
    assert call("PUT", f"{org}/products/studio")[1]["enabled"]
    assert call("GET", f"{org}/members")[1]["data"][0]["role"] == "owner"
    founder.person.window.expect(r"status of 403 .*/api/organizations/org_")
    assert call("GET", "/api/organizations/org_00000000000000000000000000")[0] == 403


def _tab_to(page: Page, name: str) -> None:
    """Press Tab until what is named has the focus."""
    script = "(document.activeElement.getAttribute('aria-label') || document.activeElement.name || document.activeElement.textContent)"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(script) == name:
            return
    raise AssertionError(f"the keyboard does not reach {name}")


def test_an_invitation_outlives_the_tab_in_which_its_link_was_opened(founder: Founder, opened: Open) -> None:
    link, bob = founder.invite(), opened()
    bob.page.goto(link)
    expect(bob.page.get_by_role("link", name="Sign up").first).to_be_visible()
    bob.page.close()
    bob.page = bob.window.page()
    bob.sign_up_at_the_portal()
    bob.page.get_by_role("link", name="Open the invitation").click()
    bob.page.get_by_role("button", name="Accept").click()
    expect(bob.page.get_by_role("heading", name="Acme", exact=True)).to_be_visible()
    assert bob.page.evaluate("localStorage.getItem('invitation')") is None
