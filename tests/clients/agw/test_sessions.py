"""Sessions on this computer: in a file, in a keyring, several gateways side by side."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as FailKeyring
from keyring.backends.null import Keyring as NullKeyring
from keyring.errors import KeyringLocked

from account_gateway_client import ProofKey
from account_gateway_client.cli.errors import CommandError, NotSignedIn
from account_gateway_client.cli.sessions import Access, DeviceSession, Sessions
from tests.clients.agw.conftest import MemoryKeyring

ONE, OTHER = "https://one.example", "https://other.example/path"
KEY = ProofKey.generate().to_pem().decode()


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    sessions = Sessions(tmp_path / "agw")
    sessions.check()
    return sessions


def session_of(gateway: str, **changes: Any) -> DeviceSession:
    session = DeviceSession(gateway, f"dev_{gateway[8:11]}", "laptop", "wallet:read", 1_800_000_000, KEY, "drt_secret")
    return dataclasses.replace(session, access=Access("token", "wallet:read", 1_700_000_000.5), **changes)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("backend", [FailKeyring, NullKeyring])
def test_without_a_keyring_the_file_has_the_secrets(sessions: Sessions, backend: type[KeyringBackend]) -> None:
    keyring.set_keyring(backend())
    kept = sessions.create(session_of(ONE))
    assert not kept.in_keyring
    assert sessions.load(ONE) == kept
    assert "drt_secret" in sessions.path_of(ONE).read_text()


def test_with_a_keyring_the_file_has_no_secret(sessions: Sessions, memory: MemoryKeyring) -> None:
    kept = sessions.create(session_of(ONE))
    assert kept.in_keyring
    assert sessions.load(ONE) == kept
    text = sessions.path_of(ONE).read_text()
    assert "drt_secret" not in text
    assert "PRIVATE KEY" not in text
    assert memory.kept.keys() == {("account-gateway-client", ONE)}


def test_a_rotated_credential_replaces_the_one_before(sessions: Sessions, memory: MemoryKeyring) -> None:
    for kept in (sessions.create(session_of(ONE)), dataclasses.replace(session_of(OTHER), in_keyring=False)):
        rotated = dataclasses.replace(kept, refresh_token="drt_next", access=None)
        sessions.replace(rotated)
        assert sessions.load(kept.gateway) == rotated


def test_gateways_are_side_by_side(sessions: Sessions, memory: MemoryKeyring) -> None:
    one, other = sessions.create(session_of(ONE)), sessions.create(session_of(OTHER))
    sessions.delete(one)
    assert sessions.find(ONE) is None
    assert sessions.load(OTHER) == other
    assert memory.kept.keys() == {("account-gateway-client", OTHER)}
    sessions.choose(OTHER)
    assert sessions.chosen() == OTHER


def test_a_session_of_before_does_not_get_the_keys_of_the_next(sessions: Sessions, memory: MemoryKeyring) -> None:
    """As when a sign-in is killed between the keyring and the file."""
    sessions.create(session_of(ONE))
    file = sessions.path_of(ONE).read_text()
    sessions.create(session_of(ONE, device_id="dev_next"))
    sessions.path_of(ONE).write_text(file)
    with pytest.raises(NotSignedIn, match="agw login"):
        sessions.load(ONE)


def test_a_keyring_that_forgot_asks_to_sign_in(sessions: Sessions, memory: MemoryKeyring) -> None:
    sessions.create(session_of(ONE))
    memory.kept.clear()
    with pytest.raises(NotSignedIn, match="agw login"):
        sessions.load(ONE)
    sessions.delete(session_of(ONE, in_keyring=True))


class LockedKeyring(KeyringBackend):
    priority = 5.0

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("It is locked.")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked("It is locked.")


class ForgetfulKeyring(LockedKeyring):
    def get_password(self, service: str, username: str) -> str | None:
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        pass


class ReadableKeyring(MemoryKeyring):
    priority = 0.5


@pytest.mark.parametrize("backend", [LockedKeyring, ForgetfulKeyring, ReadableKeyring])
def test_a_keyring_that_keeps_no_secrets_is_not_used(
    sessions: Sessions, memory: MemoryKeyring, backend: type[KeyringBackend]
) -> None:
    keyring.set_keyring(backend())
    assert not sessions.create(session_of(ONE)).in_keyring
    assert sessions.load(ONE).refresh_token == "drt_secret"


def test_a_locked_keyring_is_named(sessions: Sessions, memory: MemoryKeyring) -> None:
    kept = sessions.create(session_of(ONE))
    keyring.set_keyring(LockedKeyring())
    for act in (lambda: sessions.load(ONE), lambda: sessions.replace(kept)):
        with pytest.raises(CommandError, match="unlock it"):
            act()


@pytest.mark.parametrize("change", [{"key": "no key"}, {"access": 1}, {"gateway": None, "extra": 1}, {"key": 7}])
def test_a_damaged_session_is_named(sessions: Sessions, change: dict[str, object]) -> None:
    sessions.create(session_of(ONE))
    path = sessions.path_of(ONE)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(CommandError, match="damaged"):
        sessions.load(ONE)
    assert sessions.find(ONE) is None


def test_a_session_shows_no_secret() -> None:
    assert "secret" not in repr(session_of(ONE))
    assert "PRIVATE" not in repr(session_of(ONE))
    assert "'token'" not in repr(session_of(ONE))


@pytest.mark.usefixtures("memory", "no_keyring")
def test_a_session_of_another_gateway_is_not_used(sessions: Sessions) -> None:
    """As when somebody moved the files."""
    sessions.create(session_of(ONE))
    sessions.path_of(ONE).rename(sessions.path_of(OTHER))
    with pytest.raises(CommandError, match="damaged"):
        sessions.load(OTHER)


class BrokenKeyring(MemoryKeyring):
    """As one whose service answers with an error of the bus."""

    broken = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.broken:
            raise LookupError("org.freedesktop.DBus.Error")
        return super().get_password(service, username)


def test_whatever_a_keyring_raises_is_explained(sessions: Sessions, memory: MemoryKeyring) -> None:
    backend = BrokenKeyring()
    keyring.set_keyring(backend)
    assert sessions.create(session_of(ONE)).in_keyring
    backend.broken = True
    with pytest.raises(CommandError, match="unlock it"):
        sessions.load(ONE)
    assert not sessions.create(session_of(OTHER)).in_keyring
