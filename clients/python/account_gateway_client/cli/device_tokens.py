"""Access tokens of a device session, shared by all processes of this computer."""

import dataclasses
import time

from account_gateway_client.cli import device_routes
from account_gateway_client.cli.errors import NotSignedIn
from account_gateway_client.cli.sessions import Access, DeviceSession, Sessions
from account_gateway_client.errors import GatewayError
from account_gateway_client.tokens import RENEW_BEFORE_SECONDS, AccessToken, CachedTokens

LIFETIME_SECONDS = 300.0
ENDED = frozenset({"invalid_grant", "invalid_client"})


class DeviceTokens(CachedTokens):
    """A TokenSource that rotates the session's refresh credential, one process at a time, and keeps the new credential
    before anything uses it. Raises NotSignedIn once the session is over, or was replaced by another one."""

    def __init__(self, sessions: Sessions, session: DeviceSession) -> None:
        super().__init__(session.proof_key, self._renewed)
        self._sessions = sessions
        self._gateway = session.gateway
        self._device_id = session.device_id
        self._refused: str | None = None

    def forget(self, token: str) -> None:
        """Drop a token that the gateway refused, also where another process kept it."""
        self._refused = token
        super().forget(token)

    def _renewed(self) -> AccessToken:
        with self._sessions.locked(self._gateway):
            session = self._sessions.load(self._gateway)
            if session.device_id != self._device_id:
                raise NotSignedIn("The sign-in was replaced by another one: start the command again.")
            access = session.access
            if access is None or access.token == self._refused or _seconds_left(access) <= 0:
                access = self._rotated(session)
            return AccessToken(access.token, frozenset(access.scope.split()), time.monotonic() + _seconds_left(access))

    def _rotated(self, session: DeviceSession) -> Access:
        self._sessions.replace(session)  # a full disk or a locked keyring is found out before the credential is used up
        requested_at = time.time()
        try:
            answer = device_routes.refresh(session.gateway, self.key, session.refresh_token)
        except GatewayError as error:
            if error.code in ENDED:
                raise NotSignedIn(f"Your session has ended: run `agw login --gateway {session.gateway}`.") from error
            raise
        access = device_routes.access_of(answer, requested_at)
        self._sessions.replace(dataclasses.replace(session, refresh_token=answer["refresh_token"], access=access))
        return access


def _seconds_left(access: Access) -> float:
    """Return how long a token serves, with a margin; a clock that was set back does not make it longer."""
    return min(access.expires_at - time.time(), LIFETIME_SECONDS) - RENEW_BEFORE_SECONDS
