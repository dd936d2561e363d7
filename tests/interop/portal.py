"""A person at the portal, without a browser: signs up and answers the consent page by plain HTTP."""

import re
import uuid
from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

import httpx

PASSWORD = "correct horse battery staple"


def approve(authorize_url: str) -> str:
    """Sign up at an authorization's page, allow all of it, and return the address that the portal leads back to."""
    with httpx.Client(timeout=60) as http:
        page = _follow(http, authorize_url)
        sign_up = re.search(r'href="([^"]*/signup/[^"]*)"', page.text)
        assert sign_up, page.text
        page = _follow(http, urljoin(str(page.url), sign_up[1].replace("&amp;", "&")))
        sign_up_form = _fields(page.text) | {"email": f"{uuid.uuid4().hex}@example.com", "password1": PASSWORD}
        page = _submit(http, page, sign_up_form)
        scopes = re.findall(r'name="scope" value="([^"]+)"', page.text)
        form: dict[str, str | list[str]] = {**_fields(page.text), "answer": "allow", "scope": scopes}
        answer = _post(http, page, form)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def _follow(http: httpx.Client, url: str) -> httpx.Response:
    page = http.get(url, follow_redirects=True)
    assert page.status_code == 200, page.text
    return page


def _submit(http: httpx.Client, page: httpx.Response, form: dict[str, str]) -> httpx.Response:
    answer = _post(http, page, form)
    assert answer.status_code == 303, answer.text
    return _follow(http, urljoin(str(page.url), answer.headers["Location"]))


def _post(http: httpx.Client, page: httpx.Response, form: Mapping[str, str | list[str]]) -> httpx.Response:
    origin = f"{urlsplit(str(page.url)).scheme}://{urlsplit(str(page.url)).netloc}"
    return http.post(page.url, data=dict(form), headers={"Origin": origin, "Referer": str(page.url)})


def _fields(text: str) -> dict[str, str]:
    """Read a form's hidden fields."""
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text)
    return {name: value.replace("&amp;", "&") for name, value in hidden}
