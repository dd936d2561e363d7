"""Each process's picture of the signing keys, a few seconds old at most.

Requests read it without I/O. A picture older than its time to live is renewed: by the caller itself where it may
block, in a thread beside the event loop where it may not. A key that the picture lacks makes it be renewed early, at
most once a second, so that made-up key ids cost nothing. A renewal that failed is tried again by the next request.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Lock
from typing import Any

import psycopg
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from accounts.models import SigningKey
from accounts.operations import signing_keys
from accounts.rules import jwk
from gateway.contract.errors import NotReady

log = logging.getLogger("gateway.accounts")

TTL_SECONDS = 5.0
RETRY_SECONDS = 1.0
STALE_MAX_SECONDS = 15.0  # a database that is away longer than this takes the keys along
WAIT_SECONDS = 2.0  # how long a thread waits for another that renews the picture
LOOP_WAIT_SECONDS = 0.5  # how long an event loop stands still for a picture, once a renewal


@dataclass(frozen=True, slots=True)
class Picture:
    """The published keys by `kid`, as JWKs and as verifying keys; `signing_kid` and `signing_key` are the active one."""

    loaded_at: float
    verifying: Mapping[str, jwk.PublicKey]
    jwks: tuple[dict[str, str], ...]
    signing_kid: str
    signing_key: ec.EllipticCurvePrivateKey


class Keyring:
    """Holds the picture and renews it. Safe in threads and beside an event loop."""

    def __init__(self) -> None:
        self._picture: Picture | None = None
        self._renewing = Lock()
        self._beside: Future[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keyring")

    def forget(self) -> None:
        """Drop the picture, so that the next caller sees the database."""
        self._picture = None

    def warm(self) -> None:
        """Take a picture before the first request, in a thread that has no connection of its own yet."""
        try:
            self.picture()
        finally:
            connection.close()

    def verifying_key(self, kid: object) -> jwk.PublicKey | None:
        """Find a published key by its id, of whatever type; None where there is none. Raises NotReady."""
        if not isinstance(kid, str):
            return None
        key = self.picture().verifying.get(kid)
        if key is None and self._age() >= RETRY_SECONDS:
            self._renew(must_wait=True)
            key = self.picture().verifying.get(kid)
        return key

    def picture(self) -> Picture:
        """Return a picture that is fresh enough, or raise NotReady where the database has been away for too long."""
        age = self._age()
        if age > STALE_MAX_SECONDS:
            self._renew(must_wait=True)
        elif age > TTL_SECONDS:
            self._renew(must_wait=False)
        picture = self._picture
        if picture is None or self._age() > STALE_MAX_SECONDS:
            raise NotReady(headers={"Retry-After": "1"}, private="the signing keys cannot be read")
        return picture

    def _age(self) -> float:
        picture = self._picture
        return time.monotonic() - picture.loaded_at if picture else float("inf")

    def _renew(self, *, must_wait: bool) -> None:
        """Renew the picture, one caller at a time; the others go on with what there is unless they must wait."""
        if _on_event_loop():
            self._renew_beside(must_wait)
        elif self._renewing.acquire(timeout=WAIT_SECONDS if must_wait else 0):
            try:
                if self._age() >= RETRY_SECONDS:  # else somebody renewed it while this caller waited
                    self._load()
            finally:
                self._renewing.release()

    def _renew_beside(self, must_wait: bool) -> None:
        """Renew the picture in a thread. Only the caller that begins a renewal holds the event loop up for it."""
        if self._beside is not None and not self._beside.done():
            return
        self._beside = self._thread.submit(self._load_and_hang_up)
        if must_wait:
            wait([self._beside], timeout=LOOP_WAIT_SECONDS)

    def _load_and_hang_up(self) -> None:
        try:
            self._load()
        finally:
            connection.close()

    def _load(self) -> None:
        try:
            self._picture = _load()
        except (DatabaseError, InterfaceError, psycopg.Error) as error:
            log.warning("the signing keys cannot be read: %s", error)


keyring = Keyring()


def _load() -> Picture:
    loaded_at = time.monotonic()
    active = signing_keys.ensure_active_key(now=timezone.now())
    published = SigningKey.objects.filter(state__in=signing_keys.PUBLISHED).order_by("id")
    verifying = {key.kid: jwk.parse(key.public_jwk) for key in published}
    return Picture(
        loaded_at=loaded_at,
        verifying=verifying,
        jwks=tuple(_as_jwk(kid, key) for kid, key in verifying.items()),
        signing_kid=active.kid,
        signing_key=_private_key(active.private_pem),
    )


def _private_key(pem: str) -> ec.EllipticCurvePrivateKey:
    key: Any = load_pem_private_key(pem.encode("ascii"), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def _as_jwk(kid: str, key: jwk.PublicKey) -> dict[str, str]:
    return {**key.members, "kid": kid, "alg": key.alg, "use": "sig"}


def _on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
