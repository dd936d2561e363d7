"""Signing in and out, against a real gateway and its pages."""

import json
from pathlib import Path
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from account_gateway_client.cli import authorization, browser, discovery
from account_gateway_client.cli.errors import CommandError
from account_gateway_client.cli.sessions import DeviceSession, Sessions
from tests.clients.agw.command_line import CommandLine
from tests.clients.agw.conftest import MemoryKeyring
from tests.interop.portal import approve
from tests.support.concurrency import PATIENCE_SECONDS


def test_signs_in_and_out(agw: CommandLine, memory: MemoryKeyring) -> None:
    completed = agw.log_in("wallet:read", "infer:fast")
    assert completed.status == 0, completed.err
    assert "Scopes        infer:fast wallet:read" in completed.out
    assert "the system's keyring" in completed.out
    shown = agw.run("status", "--json").json
    assert shown["account"]["clientId"] == "agw"
    assert shown["account"]["scopes"] == ["infer:fast", "wallet:read"]
    assert shown["wallet"]["availableMicrousd"] == 0
    session = agw.sessions.load(agw.gateway)
    assert agw.run("logout").out == f"Signed out of {agw.gateway}.\n"
    assert not memory.kept
    agw.sessions.create(session)
    gone = agw.run("request", "GET", "/v1/account")
    assert (gone.status, gone.complaint) == (3, f"Your session has ended: run `agw login --gateway {agw.gateway}`.")


def test_asks_for_what_it_needs_and_binds_the_code(agw: CommandLine) -> None:
    seen: list[str] = []

    def refuse(url: str) -> None:
        seen.append(url)
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        parameters = {"error": "access_denied", "state": query["state"], "iss": agw.gateway}
        httpx.get(query["redirect_uri"], params=parameters, timeout=PATIENCE_SECONDS)

    completed = agw.log_in(visit=refuse)
    assert (completed.status, completed.complaint) == (3, "The sign-in was refused on the portal's page.")
    query = parse_qs(urlsplit(seen[0]).query)
    assert seen[0].startswith(f"{agw.gateway}/authorize?")
    assert (query["client_id"], query["code_challenge_method"]) == (["agw"], ["S256"])
    assert len(query["dpop_jkt"][0]) == len(query["code_challenge"][0]) == 43
    scopes = set(query["scope"][0].split())
    assert {"wallet:read", "usage:read", "infer:fast"} <= scopes
    assert not scopes & {"billing:checkout", "realtime:connect", "orgs:manage", "responses:delete"}
    assert agw.run("status").status == 3


def test_a_code_that_was_intercepted_is_worthless(agw: CommandLine) -> None:
    def race(url: str) -> None:
        """Redeem the code before agw does, with another key and the wrong verifier."""
        back = approve(url)
        code = parse_qs(urlsplit(back).query)["code"][0]
        stolen = {"code": code, "code_verifier": "v" * 64, "client_id": "agw", "redirect_uri": back.partition("?")[0]}
        key = authorization.ProofKey.generate().jwk
        answer = httpx.post(f"{agw.gateway}/v1/public/token", json=stolen | {"dpop_jwk": key}, timeout=PATIENCE_SECONDS)
        assert answer.json()["error"] == "invalid_grant"
        httpx.get(back, timeout=PATIENCE_SECONDS)

    completed = agw.log_in("wallet:read", visit=race)
    assert completed.status == 0, completed.err  # the thief's attempt has not used the code up either


def test_a_scope_that_nobody_can_be_granted_is_told(agw: CommandLine) -> None:
    completed = agw.log_in(
        "orgs:manage", visit=lambda url: httpx.get(url, follow_redirects=True, timeout=PATIENCE_SECONDS)
    )
    assert completed.status == 3
    assert "invalid_scope" in completed.complaint


def test_signing_in_again_ends_the_session_before(agw: CommandLine) -> None:
    agw.log_in("wallet:read")
    before = agw.sessions.load(agw.gateway)
    agw.log_in("wallet:read")
    after = agw.sessions.load(agw.gateway)
    assert before.device_id != after.device_id
    agw.sessions.create(before)
    assert agw.run("wallet").status == 3


def test_a_session_that_cannot_be_kept_is_ended(agw: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    agw.log_in("wallet:read")
    created: list[DeviceSession] = []

    def full(_sessions: Sessions, session: DeviceSession) -> None:
        created.append(session)
        raise CommandError("No space left on device.")

    with monkeypatch.context() as patched:
        patched.setattr(Sessions, "create", full)
        completed = agw.log_in("wallet:read")
    assert (completed.status, completed.complaint) == (1, "No space left on device.")
    assert agw.run("wallet").status == 0  # the session before goes on
    agw.sessions.create(created[0])
    assert agw.run("wallet").status == 3


def test_prints_the_address_where_no_browser_opens(agw: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorization, "PATIENCE_SECONDS", 0.01)
    for environment in ({}, {"SSH_CONNECTION": "a b"}):
        with mock.patch.object(browser, "SCREENS", ()), mock.patch.dict("os.environ", environment):
            completed = agw.run("login", "--gateway", agw.gateway)
        assert completed.status == 6
        [address] = completed.out.splitlines()
        assert address.startswith(f"{agw.gateway}/authorize?response_type=code&client_id=agw&")
        assert completed.err.startswith("Open this address in a browser on this computer:\n")
        assert ("ssh -L" in completed.err) is bool(environment)
        assert "agw: Nobody has signed in within 0 seconds: run `agw login` again." in completed.err


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://gateway.example", 2),
        ("https://user@gateway.example", 2),
        ("https://gateway.example?x=1", 2),
        ("https://gateway.example:99999", 2),
        ("file:///etc/passwd", 2),
        ("gateway.example", 2),
        ("https://gateway.example/\x1b]0;x\x07", 2),
        ("https://gateway.example/a b", 2),
        ("http://localhost:1", 1),
    ],
)
def test_refuses_addresses_that_are_not_a_gateways(agw: CommandLine, url: str, status: int) -> None:
    completed = agw.run("login", "--gateway", url)
    assert completed.status == status
    assert completed.complaint


def test_an_address_that_would_rule_the_terminal_is_not_shown(agw: CommandLine) -> None:
    told = {
        "issuer": agw.gateway,
        "authorization_endpoint": "https://evil.example/\x1b]0;x\x07",
        "scopes_supported": [],
    }
    with mock.patch.object(discovery, "json_of", return_value=told):
        completed = agw.log_in(visit=pytest.fail)
    assert (completed.status, "names no address" in completed.complaint) == (1, True)


def test_asks_for_the_gateway_by_the_address_that_it_goes_by(agw: CommandLine) -> None:
    completed = agw.run("login", "--gateway", agw.gateway.replace("localhost", "127.0.0.1"))
    assert completed.status == 2
    assert f"`--gateway {agw.gateway}`" in completed.complaint


def test_a_gateway_is_needed_the_first_time(agw: CommandLine) -> None:
    assert agw.run("login").status == 2
    assert "agw login --gateway URL" in agw.run("wallet").complaint


def test_a_folder_that_is_no_place_for_secrets_is_refused_before_anything(agw: CommandLine) -> None:
    agw.folder.mkdir(mode=0o777)
    agw.folder.chmod(0o777)
    completed = agw.log_in(visit=pytest.fail)
    assert completed.status == 1
    assert "chmod 700" in completed.complaint


def test_logging_out_where_the_gateway_is_gone_says_so(agw: CommandLine, person: CommandLine) -> None:
    session = person.sessions.load(person.gateway)
    gone = "http://localhost:1"
    agw.sessions.check()
    agw.sessions.path_of(gone).write_text(
        person.sessions.path_of(person.gateway).read_text().replace(session.gateway, gone)
    )
    agw.sessions.path_of(gone).chmod(0o600)
    completed = agw.run("logout", "--gateway", gone)
    assert completed.status == 1
    assert "You are signed out here, but http://localhost:1 was not told" in completed.complaint
    assert agw.sessions.find(gone) is None
    assert agw.run("logout", "--gateway", gone).status == 3


def test_two_gateways_are_side_by_side(agw: CommandLine, person: CommandLine) -> None:
    """The environment and the option say which one a command is about; else it is the one of the last sign-in."""
    other = "http://localhost:1"
    agw.sessions.check()
    agw.sessions.choose(other)
    assert "agw login --gateway http://localhost:1" in agw.run("wallet").complaint
    agw.environment["AGW_GATEWAY"] = person.gateway
    assert person.gateway in agw.run("wallet").complaint
    assert other in agw.run("wallet", "--gateway", other).complaint
    assert other in agw.run("--gateway", other, "wallet").complaint


def test_no_secret_is_printed(agw: CommandLine, tmp_path: Path) -> None:
    completed = agw.log_in("wallet:read")
    session = agw.sessions.load(agw.gateway)
    printed = completed.out + completed.err
    for command in ("status", "wallet", "doctor", "usage", "logout"):
        ended = agw.run(command)
        printed += ended.out + ended.err
    assert session.access is not None
    for secret in (session.refresh_token, session.access.token, *json.dumps(session.key)[40:].split("\\n")[:1]):
        assert len(secret) > 20
        assert secret not in printed
