"""What a person does in a browser, at the portal and in the example app."""

import re
import uuid
from typing import Any
from urllib.parse import urljoin

from playwright.sync_api import Page, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.chromium import PATIENCE_MS, Window
from tests.portal.browser import TOKEN

PASSWORD = "correct horse battery staple"
# A second client in the app's own page, which shares the page's key and session.
CLIENT = """const client = await import("/src/index.js");
const gateway = new client.Gateway({ url });"""


class Person:
    """Somebody with an e-mail address and a browser."""

    def __init__(self, gateway: AppGateway, window: Window) -> None:
        self.gateway = gateway
        self.window = window
        self.email = f"{uuid.uuid4().hex[:12]}@example.com"
        self.page = window.page()

    def sign_up(self, name: str = "") -> None:
        """Fill in the portal's form, wherever it was come from."""
        self.page.get_by_role("link", name="Sign up").click()
        self.page.get_by_label("Email").fill(self.email)
        self.page.get_by_label("Name (optional)").fill(name)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Sign up").click()

    def submit(self, path: str, **fields: str) -> str:
        """Send a form of the portal without opening its page, for tests of what comes after it; return where it leads."""
        request, url = self.window.context.request, f"{self.gateway.base_url}{path}"
        token = TOKEN.search(request.get(url, timeout=PATIENCE_MS).text())
        assert token, f"{path} has no form"
        form = {**fields, "csrfmiddlewaretoken": token[1]}
        done = request.post(url, form=form, headers={"Referer": url}, max_redirects=0, timeout=PATIENCE_MS)
        assert done.status in (302, 303), done.text()
        return urljoin(url, done.headers["location"])

    def register(self) -> None:
        """Sign up at the portal without opening its pages."""
        self.submit("/account/signup/", email=self.email, name="", password1=PASSWORD)

    def sign_up_at_the_portal(self) -> None:
        """Register without any app, and open the portal."""
        self.register()
        self.page.goto(f"{self.gateway.base_url}/")
        expect(self.page.get_by_role("heading", name="Your account")).to_be_visible()

    def begin_at_the_app(self) -> None:
        """Press the app's button; the portal asks who it is."""
        self.page.goto(self.gateway.app_url)
        self.page.get_by_role("button", name="Sign in").click()

    def allow(self) -> None:
        """Allow the app in, and wait until it has its token."""
        self.page.get_by_role("button", name="Allow").click()
        self.await_the_app()

    def await_the_app(self) -> None:
        """Wait until the app shows a signed-in person's wallet, with the welcome credit in it."""
        expect(self.page.get_by_role("heading", name="Ask something")).to_be_visible()
        expect(self.page.locator("#wallet")).to_have_text(re.compile(r"^\$(?!0\.000000)[0-9.]+$"))

    def enter_the_app(self) -> None:
        """Register, allow the app everything, and be signed in there."""
        self.register()
        self.begin_at_the_app()
        self.allow()

    def sign_up_through_the_app(self) -> None:
        """Sign up where the app led, allow it everything, and be signed in there."""
        self.begin_at_the_app()
        self.sign_up()
        self.allow()

    def as_the_app(self, act: str, page: Page | None = None) -> Any:
        """Run JavaScript with the app's `gateway` at hand."""
        return (page or self.page).evaluate(f"async (url) => {{ {CLIENT} {act} }}", self.gateway.base_url)

    def ask(self) -> None:
        """Ask the app's question and wait for the receipt."""
        self.page.get_by_role("button", name="Ask", exact=True).click()
        expect(self.page.locator("#receipt")).to_be_visible()
