"""A device session whose credential rotates survives several processes, lost answers, and the death of one of them."""

import dataclasses
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from account_gateway_client.cli import device_routes, locks
from account_gateway_client.cli.device_tokens import DeviceTokens
from account_gateway_client.cli.errors import NotSignedIn
from account_gateway_client.cli.session import open_gateway
from account_gateway_client.cli.sessions import Access, DeviceSession
from account_gateway_client.cli.settings import Settings
from tests.clients.agw.command_line import NO_KEYRING, CommandLine
from tests.support.concurrency import at_once
from tests.support.demo_gateway import DemoGateway
from tests.support.forked import run

CLIENT = Path(__file__).resolve().parents[3] / "clients" / "python"


@pytest.fixture(scope="module")
def signed_in(demo_gateway: DemoGateway, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Sign in once for the tests that leave the session alive."""
    signed_in = CommandLine(demo_gateway.base_url, tmp_path_factory.mktemp("refreshing") / "agw")
    assert signed_in.log_in("wallet:read").status == 0
    return signed_in


@pytest.fixture
def expired(signed_in: CommandLine) -> CommandLine:
    """Take the access token away, so that the next command rotates."""
    signed_in.sessions.replace(dataclasses.replace(session_of(signed_in), access=None))
    return signed_in


def session_of(agw: CommandLine) -> DeviceSession:
    return agw.sessions.load(agw.gateway)


def generation_of(agw: CommandLine) -> int:
    return int(session_of(agw).refresh_token.split(".")[1])


def tokens_of(agw: CommandLine) -> DeviceTokens:
    return DeviceTokens(agw.sessions, session_of(agw))


@pytest.fixture
def rotates_once(expired: CommandLine) -> Iterator[None]:
    """Expect that the credential was rotated once, and that the session lives."""
    before = generation_of(expired)
    yield
    assert expired.run("wallet").status == 0
    assert generation_of(expired) == before + 1


@pytest.mark.usefixtures("rotates_once")
def test_commands_share_a_token_until_it_ends(expired: CommandLine) -> None:
    assert [expired.run("wallet").status for _ in range(3)] == [0, 0, 0]


@pytest.mark.usefixtures("rotates_once")
def test_fifty_at_once_rotate_once(expired: CommandLine) -> None:
    found = at_once(*[tokens_of(expired).token for _ in range(50)])
    assert len(set(found)) == 1


@pytest.mark.usefixtures("rotates_once")
def test_processes_at_once_rotate_once(expired: CommandLine) -> None:
    ours = {"AGW_CONFIG_DIR": str(expired.folder), "PYTHON_KEYRING_BACKEND": NO_KEYRING, "PYTHONPATH": str(CLIENT)}
    command = [sys.executable, "-m", "account_gateway_client.cli", "wallet", "--json"]
    with ThreadPoolExecutor(2) as threads:
        ended = list(threads.map(lambda _: run(command, env=ours), range(2)))
    assert [each.returncode for each in ended] == [0, 0], ended


@pytest.mark.usefixtures("rotates_once")
def test_a_new_credential_is_kept_before_its_token_is_used(expired: CommandLine) -> None:
    """Whoever dies after that has lost nothing."""
    before, token = generation_of(expired), tokens_of(expired).token()
    access = session_of(expired).access
    assert access is not None
    assert access.token == token
    assert generation_of(expired) == before + 1


@pytest.mark.usefixtures("rotates_once")
def test_a_process_that_died_before_it_kept_the_credential_is_repeated(expired: CommandLine) -> None:
    session = session_of(expired)
    device_routes.refresh(session.gateway, session.proof_key, session.refresh_token)


@pytest.mark.usefixtures("rotates_once")
def test_a_lost_answer_is_asked_for_again(expired: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    post, lost = requests.post, [True]

    def losing(*arguments: Any, **options: Any) -> requests.Response:
        answer = post(*arguments, **options)
        if lost and lost.pop():
            raise requests.ConnectionError
        return answer

    monkeypatch.setattr(requests, "post", losing)
    assert expired.run("wallet").status == 0


@pytest.mark.usefixtures("rotates_once")
def test_a_full_disk_uses_no_credential_up(expired: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        patched.setattr(device_routes, "refresh", pytest.fail)
        ended = expired.run("wallet")
    assert (ended.status, "No space left" in ended.complaint) == (1, True)


@pytest.mark.usefixtures("rotates_once")
def test_a_token_that_the_gateway_refuses_is_renewed(expired: CommandLine) -> None:
    refused = Access("ey.bad.token", "wallet:read", time.time() + 200)
    expired.sessions.replace(dataclasses.replace(session_of(expired), access=refused))


@pytest.mark.usefixtures("rotates_once")
def test_a_lock_that_nobody_gives_up_is_named(expired: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, expired.sessions.locked(expired.gateway):
        patched.setattr(locks, "PATIENCE_SECONDS", 0.05)
        ended = expired.run("wallet")
    assert ended.status == 6
    assert "end it, and try again" in ended.complaint


@pytest.mark.usefixtures("rotates_once")
def test_a_wait_for_the_lock_ends_with_it(expired: CommandLine) -> None:
    entered = threading.Event()

    def wait() -> str:
        entered.set()
        return tokens_of(expired).token()

    with ThreadPoolExecutor(1) as threads:
        with expired.sessions.locked(expired.gateway):
            waiting = threads.submit(wait)
            entered.wait()
        assert waiting.result()


def test_a_clock_that_was_set_back_does_not_keep_a_token(signed_in: CommandLine) -> None:
    session = session_of(signed_in)
    later = Access("a token", "wallet:read", time.time() + 10**6)
    signed_in.sessions.replace(dataclasses.replace(session, access=later))
    tokens = tokens_of(signed_in)
    tokens.token()
    signed_in.sessions.replace(session)
    assert tokens._current is not None
    assert tokens._current.renew_at < time.monotonic() + 300


def test_a_credential_that_another_used_ends_the_session(agw: CommandLine) -> None:
    agw.log_in("wallet:read")
    session = session_of(agw)
    agw.sessions.replace(dataclasses.replace(session, access=None))
    successor = device_routes.refresh(session.gateway, session.proof_key, session.refresh_token)["refresh_token"]
    device_routes.refresh(session.gateway, session.proof_key, successor)
    ended = agw.run("wallet")
    assert (ended.status, ended.complaint) == (3, f"Your session has ended: run `agw login --gateway {agw.gateway}`.")


def test_a_running_command_does_not_go_on_as_somebody_else(agw: CommandLine) -> None:
    agw.log_in("wallet:read")
    gateway = open_gateway(Settings(agw.gateway, agw.folder))
    assert gateway.wallet()
    agw.log_in("wallet:read")
    with pytest.raises(NotSignedIn, match="replaced by another one"):
        gateway.wallet()
