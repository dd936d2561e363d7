"""The example app's own server: what it serves, to whom, and the welcome credit."""

from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from gateway.run.ports import free_port
from tests.browser.app_gateway import AppGateway
from tests.browser.person import Person

WELCOME = "/example/welcome-credit"


@pytest.fixture
def app(gateway: AppGateway) -> Any:
    with httpx.Client(base_url=gateway.app_origin, timeout=60) as http:
        yield http


def test_serves_the_page_with_a_strict_policy(app: httpx.Client, gateway: AppGateway) -> None:
    assert app.get("/").headers["Location"] == "/example/"
    page = app.get("/example/")
    assert page.status_code == 200
    assert page.headers["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        f"connect-src 'self' {gateway.base_url} {gateway.base_url.replace('http', 'ws', 1)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert app.get("/src/index.js").headers["Content-Type"] == "text/javascript; charset=utf-8"
    settings = {"gatewayUrl": gateway.base_url, "portalUrl": gateway.base_url, "welcomeCredit": True}
    assert app.get("/example/settings.json").json() == settings


@pytest.mark.parametrize(
    "path",
    [
        "/package.json",
        "/test/fakes.js",
        "/src/../../python/pyproject.toml",
        "/../../../manage.py",
        "/src",
        "/%2e%2e/README.md",
    ],
)
def test_serves_nothing_else(app: httpx.Client, path: str) -> None:
    assert app.get(httpx.URL(app.base_url, raw_path=path.encode())).status_code == 404


def test_answers_only_to_its_own_name(app: httpx.Client) -> None:
    assert app.get("/example/", headers={"Host": "rebound.example"}).status_code == 421


def test_gives_a_welcome_credit_once(person: Person, app: httpx.Client, gateway: AppGateway) -> None:
    person.enter_the_app()
    did = person.as_the_app("return (await gateway.account()).did")
    again = app.post(WELCOME, json={"did": did}, headers={"Origin": gateway.app_origin})
    assert again.json() == {"amountMicrousd": 5_000_000}
    wallet = person.as_the_app("return gateway.wallet()")
    assert (wallet["availableMicrousd"], len(wallet["credits"])) == (5_000_000, 1)


def test_gives_nothing_to_other_pages_and_to_nobody(app: httpx.Client, gateway: AppGateway) -> None:
    body = {"did": "did:web:localhost:operator"}
    for origin in ({}, {"Origin": "https://evil.example"}, {"Origin": gateway.base_url}):
        assert app.post(WELCOME, json=body, headers=origin).status_code == 403
    ours = {"Origin": gateway.app_origin}
    assert app.post(WELCOME, json={"did": "did:web:nobody.example"}, headers=ours).status_code == 404
    for bad in ("", "[]", "{}", '{"did": 1}', "x" * 5000):
        assert app.post(WELCOME, content=bad, headers=ours).status_code in (400, 404)


def test_the_gateway_lets_this_origin_in_and_no_other(gateway: AppGateway) -> None:
    for origin, allowed in ((gateway.app_origin, True), ("http://127.0.0.1:1", False), ("https://evil.example", False)):
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "dpop"}
        answer = httpx.options(f"{gateway.base_url}/v1/public/token", headers=headers, timeout=60)
        assert ("Access-Control-Allow-Origin" in answer.headers) is allowed
        assert "Access-Control-Allow-Credentials" not in answer.headers


def test_does_not_start_in_production_or_without_a_gateway(gateway: AppGateway) -> None:
    production = {
        "GATEWAY_ENV": "production",
        "GATEWAY_BASE_URL": "https://gateway.example",
        "SECRET_KEY": "a-secret-key-of-more-than-thirty-two-characters",
    }
    completed = gateway.run("manage.py", "demo_app", **production)
    assert (completed.returncode, completed.stderr) == (
        1,
        "The example app grants welcome credits, so it does not run in production.\n",
    )
    completed = gateway.run("manage.py", "demo_app", DEMO_APP_PORT="1")
    assert completed.returncode == 1
    other = gateway.run("manage.py", "demo_app", DEMO_APP_PORT=str(free_port()))
    assert other.returncode == 1
    assert "start it with the same DEMO_APP_PORT" in other.stderr


def test_calls_a_person_by_their_name(person: Person) -> None:
    person.begin_at_the_app()
    person.sign_up(name="Ada Lovelace")
    person.allow()
    expect(person.page.locator("#account")).to_have_text("Ada Lovelace")
