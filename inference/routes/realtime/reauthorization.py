"""The authorization of a session, and its expiry. A newer token of the same holder extends it."""

import time
from dataclasses import replace
from typing import Any

from accounts.authentication import Verified, verify
from accounts.operations.replays import refusal
from accounts.rules.principal import Principal
from gateway.core import database
from gateway.core.contract.errors import ConsentRequired, InsufficientScope, InvalidRequest, InvalidToken
from inference.metering import uncharged
from inference.metering.admission import Arrival
from inference.metering.hold import proof_element
from inference.routes.realtime.service_events import Event, reauthorized_event


class Authorization:
    """A session's token after the handshake."""

    def __init__(self, arrival: Arrival, model: str) -> None:
        self._arrival, self._model = arrival, model
        self.expires_at = arrival.principal.expires_at

    async def renew(self, event: Event) -> Event:
        """Verify a newer token and its proof, and return the event for the client. Raises the catalogue's error, RateLimited after
        too many.

        The proof is for the handshake's method and URL, and valid once.
        """
        token, proof = (_text(event, name) for name in ("access_token", "proof"))
        http = self._arrival.http
        headers = {b"authorization": f"DPoP {token}".encode(), b"dpop": proof.encode()}
        path = http.raw_path.partition(b"?")[0].decode("latin-1")
        verified = await verify(http.method, path, headers, time.time())
        uncharged.check(verified.principal)
        self._check_same(verified.principal)
        await self._take(verified)
        self.expires_at = verified.principal.expires_at
        return reauthorized_event(self.expires_at)

    def _check_same(self, renewed: Principal) -> None:
        if _identity(renewed) != _identity(self._arrival.principal):
            raise InvalidToken("The access token belongs to somebody other than the one who opened the session.")
        for scope in self._arrival.route.scopes(self._model):
            if not renewed.allows(scope):
                raise InsufficientScope(f"The token lacks the scope {scope}.", details={"scope": scope})
        if self._arrival.route.consent not in renewed.consents:
            raise ConsentRequired

    async def _take(self, verified: Verified) -> None:
        """Record the proof, and check whether the holder may still call."""
        arrival = replace(self._arrival, principal=verified.principal, ticket=verified.ticket)
        uncharged.count(verified.principal)
        opened = await database.run(proof_element(arrival))
        if error := refusal(opened.admission):
            raise error


def _identity(principal: Principal) -> tuple[Any, ...]:
    return principal.did, principal.client_id, principal.org_id, principal.product, principal.jkt


def _text(event: Event, name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str) or not value.isascii():
        raise InvalidRequest(f"{name} must be a string.", param=name)
    return value
