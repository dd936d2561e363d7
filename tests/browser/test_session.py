"""A device session in a real browser: it survives a reload, is renewed once however many tabs ask, and ends at once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Request, Route, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.chromium import Window
from tests.browser.conftest import examine
from tests.browser.person import Person

RENEWAL = "**/v1/public/device/token"
# The token's time is up, as far as this browser knows.
EXPIRE = """const record = await gateway.caller.tokens.kept();
await gateway.caller.tokens.store.write("session", { ...record, expiresAt: 0 });"""
AWAIT_DONE = """async () => {
  while (!globalThis.done) await new Promise((resolve) => setTimeout(resolve, 20));
  return globalThis.done;
}"""
REFRESH_TOKEN = "return (await gateway.caller.tokens.kept()).refreshToken"


@pytest.fixture
def guest(person: Person) -> Person:
    person.enter_the_app()
    return person


@pytest.fixture(scope="module")
def regulars() -> Iterator[list[Person]]:
    """The person whom tests share, once one of them needs one."""
    people: list[Person] = []
    yield people
    for person in people:
        person.window.context.close()


@pytest.fixture
def regular(
    regulars: list[Person], gateway: AppGateway, chrome: Browser, request: pytest.FixtureRequest
) -> Iterator[Person]:
    """Somebody who has entered the app: for tests that leave them signed in, and whose pages complain about nothing.

    To enter takes longer than such a test does. After one that fails, the next has somebody else.
    """
    if not regulars:
        regulars.append(Person(gateway, Window(chrome.new_context())))
        regulars[0].enter_the_app()
    [regular] = regulars
    yield regular
    is_well, complaints = examine(regulars, request), regular.window.unexpected()
    for tab in regular.window.context.pages[1:]:
        tab.close()
    if not is_well:
        regulars.remove(regular)
        regular.window.context.close()
    assert complaints == []


def test_key_and_session_survive_a_reload(regular: Person) -> None:
    thumbprint = regular.as_the_app("return (await gateway.caller.transport.key()).thumbprint")
    regular.page.reload()
    regular.await_the_app()
    assert regular.as_the_app("return (await gateway.caller.transport.key()).thumbprint") == thumbprint
    regular.ask()


def test_the_key_cannot_be_exported(regular: Person) -> None:
    stored = regular.as_the_app(
        """const { privateKey } = (await gateway.caller.transport.key()).pair;
        const refusals = [];
        for (const format of ["jwk", "pkcs8", "raw"]) {
          await crypto.subtle.exportKey(format, privateKey).catch((error) => refusals.push(error.name));
        }
        return { extractable: privateKey.extractable, usages: privateKey.usages, refusals };"""
    )
    assert stored["extractable"] is False
    assert stored["usages"] == ["sign"]
    assert len(stored["refusals"]) == 3


def test_an_expired_token_is_renewed_before_the_request(regular: Person) -> None:
    before = regular.as_the_app(REFRESH_TOKEN)
    regular.as_the_app(EXPIRE)
    renewals = _renewals(regular)
    assert regular.as_the_app("return (await gateway.wallet()).currency") == "USD"
    assert len(renewals) == 1
    assert regular.as_the_app(REFRESH_TOKEN) != before


def test_a_refused_token_is_renewed_and_the_request_made_again(guest: Person) -> None:
    guest.window.expect(r"status of 401 .*/v1/wallet")
    spoil = EXPIRE.replace("expiresAt: 0", "accessToken: record.accessToken.slice(0, -4) + 'AAAA'")
    guest.as_the_app(spoil)
    assert guest.as_the_app("return (await gateway.wallet()).currency") == "USD"


def test_two_tabs_renew_once(regular: Person, gateway: AppGateway) -> None:
    other = regular.window.page()
    other.goto(gateway.app_url)
    expect(other.locator("#ask")).to_be_visible()
    regular.as_the_app(EXPIRE)
    renewals = _renewals(regular)
    # Each tab starts at its own timer, so that both are at it at the same time.
    start = "setTimeout(() => globalThis.done = Promise.all([1, 2, 3].map(() => gateway.wallet())), 300);"
    for page in (regular.page, other):
        regular.as_the_app(start, page)
    for page in (regular.page, other):
        assert len(page.evaluate(AWAIT_DONE)) == 3
    assert len(renewals) == 1
    regular.as_the_app("await gateway.refresh()", other)
    assert regular.as_the_app("return (await gateway.wallet()).currency") == "USD"


def test_a_lost_answer_is_requested_again(guest: Person) -> None:
    guest.window.expect(r"net::ERR_FAILED .*/v1/public/device/token")
    lost: list[int] = []

    def lose_the_first(route: Route) -> None:
        if lost or route.request.method != "POST":
            return route.continue_()
        lost.append(route.fetch().status)
        return route.abort()

    guest.page.route(RENEWAL, lose_the_first)
    guest.as_the_app("await gateway.refresh()")
    assert lost == [200]
    guest.page.reload()
    guest.await_the_app()


def test_narrower_scopes_hold_until_the_next_renewal(regular: Person) -> None:
    scopes = "return (await gateway.account()).scopes"
    assert regular.as_the_app(f"await gateway.refresh({{ scopes: ['wallet:read'] }}); {scopes}") == ["wallet:read"]
    assert regular.as_the_app(f"await gateway.refresh(); {scopes}") == ["infer:fast", "usage:read", "wallet:read"]


def test_a_device_that_is_revoked_is_signed_out(guest: Person, gateway: AppGateway) -> None:
    portal = guest.window.page()
    portal.goto(gateway.base_url)
    portal.get_by_role("navigation").get_by_role("link", name="Apps").click()
    expect(portal.get_by_role("heading", name=gateway.app_origin)).to_be_visible()
    portal.get_by_role("button", name="End session").click()
    expect(portal.get_by_text("The device was signed out.")).to_be_visible()
    expect(portal.get_by_role("button", name="End session")).to_have_count(0)
    guest.window.expect(r"status of 40[01] .*/v1/")
    guest.page.get_by_role("button", name="Ask", exact=True).click()
    expect(guest.page.locator("#notice")).to_have_text("You were signed out. Sign in again to go on.")
    expect(guest.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert guest.as_the_app("return gateway.caller.tokens.kept()") is None


def test_signing_out_ends_the_session_in_every_tab(guest: Person, gateway: AppGateway) -> None:
    other = guest.window.page()
    other.goto(gateway.app_url)
    expect(other.locator("#ask")).to_be_visible()
    thumbprint = guest.as_the_app("return (await gateway.caller.transport.key()).thumbprint")
    guest.page.get_by_role("button", name="Sign out").click()
    for page in (guest.page, other):
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert guest.as_the_app("return (await gateway.caller.transport.key()).thumbprint") != thumbprint
    guest.page.goto(f"{gateway.base_url}/apps")
    expect(guest.page.get_by_role("button", name="Revoke app")).to_be_visible()
    expect(guest.page.get_by_role("button", name="End session")).to_have_count(0)


def test_signing_in_again_replaces_the_device(guest: Person, gateway: AppGateway) -> None:
    guest.as_the_app("await gateway.signIn({ scopes: ['wallet:read'], deviceName: 'The second' })")
    expect(guest.page.get_by_role("button", name="Allow")).to_be_visible()
    guest.allow()
    guest.page.goto(f"{gateway.base_url}/apps")
    expect(guest.page.get_by_role("button", name="End session")).to_have_count(1)
    expect(guest.page.get_by_text("The second")).to_be_visible()


def test_a_token_goes_to_no_other_origin(regular: Person) -> None:
    sent: list[str] = []
    regular.window.context.on("request", lambda request: sent.append(request.url))
    for address in ("https://evil.example/v1/wallet", "http://127.0.0.1:1/v1/wallet"):
        name = regular.as_the_app(f"return gateway.fetch('{address}').catch((error) => error.name)")
        assert name == "ForeignOrigin"
    assert not [url for url in sent if "evil" in url or ":1/" in url]


def _renewals(person: Person) -> list[str]:
    """Collect the renewals of all tabs."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/v1/public/device/token") and request.method == "POST":
            sent.append(request.url)

    person.window.context.on("request", note)
    return sent
