"""Passkeys and authenticator apps at the portal, as a person adds and uses them."""

import base64
import hmac
import re
import struct
import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import PASSWORD, Person


@pytest.fixture
def resident(person: Person) -> Person:
    """Somebody with an account, at the portal by a name that passkeys accept."""
    person.sign_up_at_the_portal()
    return person


def test_a_passkey_signs_in_without_a_password(resident: Person, gateway: AppGateway) -> None:
    page = resident.page
    _plug_in_an_authenticator(page)
    page.goto(f"{gateway.base_url}/account/2fa/webauthn/add/")
    page.get_by_label("Name").fill("My laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    _sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    expect(page.get_by_role("main").get_by_text(resident.email)).to_be_visible()


def test_a_passkey_that_cannot_be_used_is_explained(person: Person, gateway: AppGateway) -> None:
    _plug_in_an_authenticator(person.page)
    for portal, words in (
        (f"http://127.0.0.1:{gateway.port}", "do not work at this address"),
        (gateway.base_url, "No passkey was used"),
    ):
        person.page.goto(f"{portal}/account/login/")
        person.page.get_by_role("button", name="Sign in with a passkey").click()
        expect(person.page.get_by_role("alert")).to_contain_text(words)


def test_an_authenticator_app_is_required_and_a_recovery_code_stands_in_once(
    resident: Person, gateway: AppGateway
) -> None:
    page = resident.page
    page.goto(f"{gateway.base_url}/account/2fa/totp/activate/")
    secret = page.get_by_label("Authenticator secret").input_value()
    _activate(page, secret)
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    codes = re.findall(r"[0-9a-z-]{8,}", page.locator("textarea").input_value())
    assert len(codes) == 10
    _sign_out(page)
    _sign_in(resident, "wrong code 000000")
    expect(page.get_by_text("Incorrect code.")).to_be_visible()
    page.get_by_label("Code").fill(codes[0])
    page.locator("main button[type=submit]").first.click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    _sign_out(page)
    _sign_in(resident, codes[0])
    expect(page.get_by_text("Incorrect code.")).to_be_visible()


def _plug_in_an_authenticator(page: Page) -> None:
    """Attach to Chromium an authenticator that holds passkeys and whose user is always there."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def _sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out").first.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def _sign_in(person: Person, code: str) -> None:
    person.page.get_by_label("Email").fill(person.email)
    person.page.get_by_label("Password").fill(PASSWORD)
    person.page.get_by_role("button", name="Sign in", exact=True).click()
    person.page.get_by_label("Code").fill(code)
    person.page.locator("main button[type=submit]").first.click()


def _activate(page: Page, secret: str) -> None:
    """Enter codes until one is in time: each is valid until the end of its 30 seconds, when the next one begins."""
    for _ in range(5):
        page.get_by_label("Code", exact=False).last.fill(_code(secret))
        with page.expect_navigation():
            page.get_by_role("button", name="Activate").click()
        if not page.get_by_text("Incorrect code.").is_visible():
            return


def _code(secret: str) -> str:
    """Return the code of now, of six digits (RFC 6238, RFC 4226 section 5.3)."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), "sha1")
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06d}"
