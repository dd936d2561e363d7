"""Signing in at the portal for an app on another origin, in a real browser."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Request, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person


def test_signs_up_allows_and_streams_an_answer(person: Person, gateway: AppGateway) -> None:
    person.begin_at_the_app()
    person.sign_up()
    consent = person.page
    expect(consent.get_by_role("heading", name=f"Allow 127.0.0.1:{gateway.app_port}?")).to_be_visible()
    expect(consent.get_by_label("See your credits and balance")).to_be_checked()
    expect(consent.get_by_text("stay signed in on this device for up to 30 days")).to_be_visible()
    person.allow()
    assert person.page.url == gateway.app_url, "neither code nor state stays in the address bar"
    expect(person.page.locator("#notice")).to_contain_text("welcome credit of $5.000000")
    expect(person.page.locator("#wallet")).to_have_text("$5.000000")
    person.ask()
    expect(person.page.locator("#answer")).to_contain_text("demo backend")
    before, hold, charge, after = (_amount(person, name) for name in ("before", "hold", "charge", "after"))
    assert (before, after) == (5_000_000, before - charge)
    assert 0 < charge < hold <= 20_000
    assert _amount(person, "wallet") == after


def test_asks_the_portal_for_a_bound_code(person: Person, gateway: AppGateway) -> None:
    addresses: list[str] = []
    person.page.on("request", lambda request: addresses.append(request.url) if "/authorize?" in request.url else None)
    person.sign_up_through_the_app()
    [address] = addresses
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert (query["client_id"], query["redirect_uri"]) == (gateway.app_origin, gateway.app_url)
    assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
    for name in ("state", "code_challenge", "dpop_jkt"):
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}", query[name])
    assert person.page.evaluate("sessionStorage.length") == 0, "verifier and state are gone"
    assert person.page.evaluate("localStorage.length") == 0


def test_sends_what_the_person_left_unticked_nowhere(person: Person) -> None:
    person.begin_at_the_app()
    person.sign_up()
    person.page.get_by_label("See what you have used").uncheck()
    person.allow()
    assert person.as_the_app("return (await gateway.account()).scopes") == ["infer:fast", "wallet:read"]
    person.window.expect(r"status of 403 .*/v1/usage")
    refused = person.as_the_app("return gateway.usage().catch((error) => [error.code, error.status, error.requestId])")
    assert refused[:2] == ["insufficient_scope", 403]
    assert refused[2].startswith("req_")


def test_cancelling_leads_back_without_a_session(person: Person) -> None:
    person.begin_at_the_app()
    person.sign_up()
    person.page.get_by_role("button", name="Cancel").click()
    expect(person.page.locator("#notice")).to_have_text("You did not allow Quill in. Nothing happened.")
    expect(person.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert "error" not in person.page.url
    assert not person.as_the_app("return gateway.isSignedIn()")


def test_a_wrong_state_is_refused_and_the_code_stays_unused(person: Person, gateway: AppGateway) -> None:
    redemptions = _redemptions(person)
    person.page.goto(gateway.app_url)
    person.as_the_app("await gateway.beginSignIn({ scopes: ['wallet:read'] })")
    person.page.goto(f"{gateway.app_url}?code=stolen&state=guessed&iss={gateway.base_url}&keep=1")
    expect(person.page.locator("#notice")).to_contain_text("belongs to another sign-in")
    assert person.page.url == f"{gateway.app_url}?keep=1"
    assert redemptions == []


def test_another_issuers_answer_is_refused(person: Person, gateway: AppGateway) -> None:
    redemptions = _redemptions(person)
    person.page.goto(gateway.app_url)
    address = person.as_the_app("return gateway.beginSignIn({ scopes: ['wallet:read'] })")
    state = parse_qs(urlsplit(address).query)["state"][0]
    for issuer in ("&iss=https://evil.example", ""):
        person.page.goto(f"{gateway.app_url}?code=mixed-up&state={state}{issuer}")
        expect(person.page.locator("#notice")).to_contain_text("Signing in did not work")
    assert redemptions == []


def test_an_unexpected_callback_is_refused_and_changes_no_session(person: Person, gateway: AppGateway) -> None:
    person.enter_the_app()
    redemptions = _redemptions(person)
    did = person.as_the_app("return (await gateway.account()).did")
    person.page.goto(f"{gateway.app_url}?code=attacker&state=attacker&iss={gateway.base_url}")
    expect(person.page.locator("#notice")).to_contain_text("No sign-in in this tab is waiting")
    expect(person.page.locator("#account")).to_have_attribute("title", did)
    assert redemptions == []


def test_the_back_button_does_not_sign_in_twice(person: Person, gateway: AppGateway) -> None:
    person.enter_the_app()
    redemptions = _redemptions(person)
    person.window.expect(r"status of 400 .*/authorize/")
    person.page.go_back()
    expect(person.page.get_by_role("heading", name="Start again at the app")).to_be_visible()
    person.page.go_forward()
    person.await_the_app()
    assert redemptions == []


def test_a_device_whose_clock_is_wrong_signs_in_all_the_same(person: Person) -> None:
    person.window.expect(r"status of 40[01] .*/v1/")
    person.window.context.clock.install(time="2031-01-01T00:00:00Z")
    person.enter_the_app()
    person.ask()


def _redemptions(person: Person) -> list[str]:
    """Collect the token requests of a person's pages."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/v1/public/token") and request.method == "POST":
            sent.append(request.url)

    person.window.context.on("request", note)
    return sent


def _amount(person: Person, name: str) -> int:
    text = person.page.locator(f"#{name}").inner_text()
    return round(float(text.removeprefix("$")) * 1_000_000)
