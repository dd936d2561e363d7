"""Nothing that opens an account is ever written to a log, not even when everything is logged."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Cookie, Request, Response, expect

from tests.browser.app_gateway import AppGateway
from tests.browser.person import PASSWORD, Person

SECRET_MEMBERS = ("code", "code_verifier", "refresh_token", "access_token", "state", "code_challenge")


def test_no_log_holds_a_secret(person: Person, gateway: AppGateway) -> None:
    secrets = _overheard(person)
    person.sign_up_through_the_app()
    person.ask()
    person.as_the_app("await gateway.refresh(); await gateway.wallet()")
    _fail_in_every_way(person, gateway, secrets)
    person.page.goto(gateway.app_url)
    expect(
        person.page.get_by_text("You were signed out."), "the code came back, which ended all it gave"
    ).to_be_visible()
    assert {name for name, _ in secrets} >= {*SECRET_MEMBERS, "proof", "cookie", "password"}
    logs = _logs(gateway)
    assert "DEBUG" in logs, "everything is logged"
    logged = [name for name, value in secrets if value in logs]
    assert logged == []


def _overheard(person: Person) -> set[tuple[str, str]]:
    """Collect every secret that goes over the wire, by its name."""
    secrets = {("password", PASSWORD)}

    def hear_request(request: Request) -> None:
        for name, values in parse_qs(urlsplit(request.url).query).items():
            secrets.update((name, value) for value in values if name in SECRET_MEMBERS)
        headers = request.headers
        secrets.update(("proof", headers[name]) for name in ("dpop",) if name in headers)
        secrets.update(("access_token", text.split(" ")[1]) for text in [headers.get("authorization", "")] if text)
        if _is_json(headers):
            _hear_body(secrets, request.post_data_json)

    def hear_response(response: Response | None) -> None:
        if response and "/v1/public/" in response.url and response.request.method == "POST" and response.ok:
            _hear_body(secrets, response.json())
            secrets.update(
                ("cookie", cookie.get("value", "")) for cookie in person.window.context.cookies() if _is_secret(cookie)
            )

    person.window.context.on("request", hear_request)
    person.page.on("requestfinished", lambda request: hear_response(request.response()))
    return secrets


def _hear_body(secrets: set[tuple[str, str]], body: Any) -> None:
    secrets.update((name, body[name]) for name in SECRET_MEMBERS if isinstance(body.get(name), str))


def _is_json(headers: dict[str, str]) -> bool:
    return headers.get("content-type", "").startswith("application/json")


def _is_secret(cookie: Cookie) -> bool:
    return cookie.get("name") in ("sessionid", "csrftoken")


def _fail_in_every_way(person: Person, gateway: AppGateway, secrets: set[tuple[str, str]]) -> None:
    """Send secrets where they are refused, which is when servers like to quote what they were sent."""
    person.window.expect(r"status of 4\d\d")
    used = {name: value for name, value in secrets if name in SECRET_MEMBERS}
    person.as_the_app(
        f"""const {{ jwk }} = await gateway.caller.transport.key();
        const post = (path, body) => gateway.caller.transport.request(path, {{ method: "POST", body: JSON.stringify(body),
          headers: {{ "Content-Type": "application/json" }} }});
        await post("/v1/public/token", {{ code: "{used["code"]}", code_verifier: "{used["code_verifier"]}",
          client_id: location.origin, redirect_uri: "https://elsewhere.example/", dpop_jwk: jwk }});
        await post("/v1/public/token", {{ code: "{used["code"]}", code_verifier: ["{used["code_verifier"]}"] }});
        await post("/v1/public/device/token", {{ grant_type: "x", refresh_token: "{used["refresh_token"]}" }});
        await gateway.caller.transport.request("/v1/wallet", {{}}, "{used["access_token"]}x");
        await fetch(url + "/v1/wallet", {{ headers: {{ Authorization: "Bearer {used["access_token"]}" }} }});"""
    )
    person.page.goto(f"{gateway.base_url}/account/password/change/")
    person.page.get_by_label("Current password").fill(f"{PASSWORD}, but wrong")
    person.page.get_by_label("New password", exact=True).fill(PASSWORD)
    person.page.get_by_label("New password (again)").fill(PASSWORD)
    person.page.get_by_role("button", name="Change password").click()


def _logs(gateway: AppGateway) -> str:
    """Read what gateway, worker, scheduler, database and example app have written."""
    files = [path for path in Path(gateway.data_dir).rglob("*.log*") if path.is_file()]
    return "\n".join([gateway.log, gateway.app_log, *(path.read_text(errors="replace") for path in files)])
