"""Anonymous requests to every URL of a production gateway: hostile hosts, plain http, headers and cookies."""

import contextlib
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie

import httpx
import pytest
from pytest_django import Settings

from accounts.models import Product
from inference import urls as model_urls
from judgement import urls as judgement_urls
from tests.factories.accounts import make_account
from tests.gateway.every_url import templates
from tests.portal.test_production import ARGUMENTS, ENVIRONMENT, PORTAL, submit
from tests.support.processes import gateway_process
from tests.support.raw_http import Connection

pytestmark = pytest.mark.django_db(transaction=True)

PATHS = sorted({re.sub(r"\{\w+\}", "1", template) for template in templates()} - {"/healthz", "/readyz", "/livez"})
METERED = {f"/{pattern.pattern}" for urls in (model_urls, judgement_urls) for pattern in urls.metered_urlpatterns}
SESSIONS = {f"/{pattern.pattern}" for pattern in model_urls.session_urlpatterns}
ON_THE_LOOP = METERED | SESSIONS
EVIL = "evil.example"
NAMING_ANOTHER = (
    {"Host": EVIL},
    {"Host": f"{PORTAL}.{EVIL}"},
    {"Host": f"{PORTAL}@{EVIL}"},
    {"Host": f"{EVIL}:443"},
    {"Host": "127.0.0.1"},
)
ASIDE = {"X-Forwarded-Host": EVIL, "X-Host": EVIL, "Forwarded": f"host={EVIL}", "X-Original-URL": "/admin/"}
SECURE = {"Host": PORTAL, "X-Forwarded-Proto": "https"}


@pytest.fixture(scope="module")
def origin(django_db_setup: None) -> Iterator[str]:
    more = {"TRUSTED_PROXIES": "127.0.0.1", "LOG_LEVEL": "ERROR"}
    with gateway_process("uvicorn", ARGUMENTS, **ENVIRONMENT, **more) as (origin, _):
        yield origin


@pytest.fixture(scope="module")
def client(origin: str) -> Iterator[Connection]:
    with contextlib.closing(Connection(httpx.URL(origin).port or 80)) as client:
        yield client


@pytest.fixture(scope="module")
def pages(client: Connection) -> dict[str, httpx.Response]:
    """Open each address once, as a browser does through a proxy that ends TLS, for all tests that look at what comes back."""
    return {path: opened(client, path, **SECURE) for path in PATHS}


def opened(client: Connection, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    return client.request(method, path, headers).whole


def test_no_address_is_served_for_another_host(client: Connection) -> None:
    for path in PATHS:
        for headers in NAMING_ANOTHER:
            answer = opened(client, path, "POST" if path in METERED else "GET", **headers)
            expected = (401,) if path in ON_THE_LOOP else (400,)
            assert answer.status_code in expected, (path, headers, answer.status_code)
            assert EVIL not in answer.text
            assert EVIL not in str(answer.headers)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_address_speaks_of_another_host_or_fails(client: Connection, scheme: str) -> None:
    for path in PATHS:
        for method in ("GET", "POST"):
            answer = opened(client, path, method, **{**SECURE, **ASIDE, "X-Forwarded-Proto": scheme})
            assert answer.status_code != 500, (path, method)
            assert EVIL not in answer.text + str(answer.headers), path
            assert path in ON_THE_LOOP or answer.headers["X-Content-Type-Options"] == "nosniff", path


def test_every_page_has_its_policies(pages: dict[str, httpx.Response]) -> None:
    html = [
        (path, page) for path, page in pages.items() if page.headers.get("Content-Type", "").startswith("text/html")
    ]
    assert len(html) > 20
    for path, page in html:
        assert page.headers["Strict-Transport-Security"] == "max-age=31536000", path
        assert page.headers["X-Frame-Options"] == "DENY", path
        assert page.headers["Referrer-Policy"] == "same-origin", path
        if not path.startswith("/admin/"):
            policy = page.headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy, path
            assert path == "/docs" or ("unsafe" not in policy and "default-src 'none'" in policy), path


def cookies_of(answer: httpx.Response) -> set[str]:
    """Check a response's cookies and return their names."""
    seen = set()
    for line in answer.headers.get_list("Set-Cookie"):
        for name, morsel in SimpleCookie(line).items():
            seen.add(name)
            assert (morsel["secure"], morsel["samesite"], morsel["path"], morsel["domain"]) == (True, "Lax", "/", "")
            assert morsel["httponly"] or name == "__Host-csrftoken", name
            assert name.startswith("__Host-") or name == "service_appearance", name
    return seen


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_every_cookie_is_bound_to_the_host_and_to_tls(
    client: Connection, origin: str, pages: dict[str, httpx.Response], settings: Settings, scheme: str
) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]  # as in production
    Product.objects.create(slug="studio", name="Studio")
    headers, seen = {**SECURE, "X-Forwarded-Proto": scheme}, set()
    answers = pages.values() if headers == SECURE else (opened(client, path, **headers) for path in PATHS)
    for answer in (*answers, opened(client, "/account/login/?product=studio&theme=dark", **headers)):
        seen |= cookies_of(answer)
    make_account(email="alice@service.example", password="correct horse battery")
    form = {"login": "alice@service.example", "password": "correct horse battery"}
    signed_in = submit(origin, "/account/login/", form, **{"X-Forwarded-Proto": scheme})
    assert signed_in.status_code == 303
    seen |= cookies_of(signed_in)
    assert seen == {"__Host-csrftoken", "__Host-session", "__Host-known-device", "service_appearance"}
