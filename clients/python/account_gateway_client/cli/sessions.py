"""Device sessions on this computer, one for each gateway: a file of the folder for settings, its secrets in the system's
keyring where there is one."""

import dataclasses
import hashlib
import json
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from account_gateway_client.cli import private_files
from account_gateway_client.cli.errors import CommandError, NotSignedIn
from account_gateway_client.cli.locks import locked
from account_gateway_client.keys import ProofKey

CHOICE = "gateway.json"
DIGEST_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Access:
    """An access token. `expires_at` is Unix seconds of this computer's clock."""

    token: str = field(repr=False)
    scope: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class DeviceSession:
    """A signed-in device. `key` is the private key in PEM, `expires_at` Unix seconds of the gateway's clock."""

    gateway: str
    device_id: str
    name: str
    scope: str
    expires_at: int
    key: str = field(repr=False)
    refresh_token: str = field(repr=False)
    in_keyring: bool = False
    access: Access | None = None

    @property
    def secrets(self) -> dict[str, str]:
        """Return what nobody else may read, and whose it is."""
        return {"device_id": self.device_id, "key": self.key, "refresh_token": self.refresh_token}

    @property
    def proof_key(self) -> ProofKey:
        """Return the key that signs for the device."""
        return ProofKey.from_pem(self.key.encode("ascii"))


class Sessions:
    """The sessions of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def locked(self, gateway: str) -> AbstractContextManager[None]:
        """Hold what only one process at a time may do with a gateway's session: rotate its credential, replace it, end it."""
        private_files.make_directory(self._folder)
        return locked(self.path_of(gateway).with_suffix(".lock"))

    def chosen(self) -> str | None:
        """Return the gateway that was signed in to last."""
        choice = private_files.read_json(self._folder / CHOICE) or {}
        gateway = choice.get("gateway")
        return gateway if isinstance(gateway, str) else None

    def choose(self, gateway: str) -> None:
        """Make a gateway the one of commands that name none."""
        private_files.write_json(self._folder / CHOICE, {"gateway": gateway})

    def check(self) -> None:
        """Raise CommandError where no session could be kept."""
        private_files.make_directory(self._folder)

    def find(self, gateway: str) -> DeviceSession | None:
        """Return a gateway's session, if there is one that can be read."""
        try:
            return self.load(gateway)
        except CommandError:
            return None

    def load(self, gateway: str) -> DeviceSession:
        """Return a gateway's session, or raise NotSignedIn."""
        path = self.path_of(gateway)
        kept = private_files.read_json(path)
        if kept is None:
            raise NotSignedIn(f"You are not signed in: run `agw login --gateway {gateway}`.")
        try:
            return _session(kept, gateway)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise CommandError(f"{path} is damaged: delete it and run `agw login`.") from None

    def create(self, session: DeviceSession) -> DeviceSession:
        """Keep a new session in place of the one before, with its secrets in the keyring if there is one."""
        from account_gateway_client.cli import system_keyring

        in_keyring = system_keyring.keep(session.gateway, json.dumps(session.secrets))
        session = dataclasses.replace(session, in_keyring=in_keyring)
        private_files.write_json(self.path_of(session.gateway), _record(session))
        return session

    def replace(self, session: DeviceSession) -> None:
        """Keep a session whose refresh credential was rotated. Once this returns, the new one may be used."""
        if session.in_keyring:
            from account_gateway_client.cli import system_keyring

            system_keyring.replace(session.gateway, json.dumps(session.secrets))
        private_files.write_json(self.path_of(session.gateway), _record(session))

    def delete(self, session: DeviceSession) -> None:
        """Forget a session and its secrets."""
        self.path_of(session.gateway).unlink(missing_ok=True)
        if session.in_keyring:
            from account_gateway_client.cli import system_keyring

            system_keyring.forget(session.gateway)

    def path_of(self, gateway: str) -> Path:
        """Return the file of a gateway's session."""
        digest = hashlib.sha256(gateway.encode()).hexdigest()[:DIGEST_CHARACTERS]
        host = re.sub(r"[^a-z0-9.]+", "-", gateway.lower().partition("://")[2]).strip("-.")[:60]
        return self._folder / f"{host}-{digest}.json"


def _record(session: DeviceSession) -> dict[str, Any]:
    record = dataclasses.asdict(session)
    del record["in_keyring"]
    if session.in_keyring:
        del record["key"], record["refresh_token"]
    return record


def _session(record: dict[str, Any], gateway: str) -> DeviceSession:
    """Raises KeyError, TypeError or ValueError for a record of another form, or of another gateway: no other one gets a token
    of this one."""
    if record["gateway"] != gateway:
        raise ValueError("of another gateway")
    access, in_keyring = record["access"], "key" not in record
    members = record | (_secrets(record) if in_keyring else {})
    session = DeviceSession(**members | {"access": Access(**access) if access else None, "in_keyring": in_keyring})
    _ = session.proof_key
    return session


def _secrets(record: dict[str, Any]) -> dict[str, str]:
    """Return what the keyring has of a session. Raises NotSignedIn where it has none, or one of another session."""
    from account_gateway_client.cli import system_keyring

    gateway = record["gateway"]
    kept = system_keyring.read(gateway)
    secrets = json.loads(kept) if kept else {}
    if secrets.get("device_id") != record["device_id"]:
        raise NotSignedIn(
            f"The system's keyring has lost the session of {gateway}: run `agw login --gateway {gateway}`."
        )
    return {"key": secrets["key"], "refresh_token": secrets["refresh_token"]}
