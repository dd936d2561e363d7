"""A browser without scripts, over real sockets. It stores cookies and sends each form with its CSRF token."""

import re
from typing import Any, Self

import httpx

from tests.support import plain_http

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
SIGN_IN = "/account/login/"


class Browser:
    """One person's browser at one server process."""

    def __init__(self, origin: str) -> None:
        self.client = plain_http.client(base_url=origin, timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.client.close()

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Open a page."""
        return self.client.get(path, headers=headers)

    def submit(self, path: str, form: dict[str, Any], page: str = "") -> httpx.Response:
        """Send a form, by default from the page at the form's own URL."""
        return self.post(path, form, self.token(page or path))

    def token(self, page: str) -> str:
        """Return the CSRF token of a page's form."""
        opened = self.get(page)
        found = TOKEN.search(opened.text)
        assert found is not None, (opened.status_code, opened.headers.get("Location"), opened.text)
        return found[1]

    def post(self, path: str, form: dict[str, Any], token: str) -> httpx.Response:
        """Send a form with a CSRF token that was read before."""
        headers = {"Referer": str(self.client.base_url.join(path))}
        return self.client.post(path, data={**form, "csrfmiddlewaretoken": token}, headers=headers)

    def sign_in(self, email: str, password: str) -> httpx.Response:
        """Send the sign-in form."""
        return self.submit(SIGN_IN, {"login": email, "password": password})

    @property
    def is_signed_in(self) -> bool:
        """Return whether the portal's home is shown."""
        return self.get("/").status_code == 200
