"""The system's keyring, where there is one: Keychain, Credential Locker, Secret Service, KWallet."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import keyring
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

from account_gateway_client.cli.errors import CommandError

SERVICE = "account-gateway-client"
RECOMMENDED_PRIORITY = 1  # keyring's own mark: what is below may be a readable file


def keep(name: str, secret: str) -> bool:
    """Keep a secret; return False where there is no keyring that keeps it."""
    with suppress(Exception):  # a backend may raise anything
        backend = keyring.get_keyring()
        if _keeps_secrets(backend):
            backend.set_password(SERVICE, name, secret)
            return backend.get_password(SERVICE, name) == secret
    return False


def replace(name: str, secret: str) -> None:
    """Keep the successor of a secret that the keyring has, or raise CommandError."""
    with _explained():
        keyring.set_password(SERVICE, name, secret)


def read(name: str) -> str | None:
    """Return a secret, or None. Raises CommandError where the keyring cannot be opened."""
    with _explained():
        return keyring.get_password(SERVICE, name)


def forget(name: str) -> None:
    """Delete a secret, if the keyring has it."""
    with suppress(Exception):
        keyring.delete_password(SERVICE, name)


def _keeps_secrets(backend: KeyringBackend) -> bool:
    return not isinstance(backend, fail.Keyring | null.Keyring) and backend.priority >= RECOMMENDED_PRIORITY


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a backend may raise anything
        reason = str(error) or type(error).__name__
        raise CommandError(f"The system's keyring cannot be used ({reason}): unlock it, and try again.") from None
