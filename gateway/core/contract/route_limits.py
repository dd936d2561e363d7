"""The limits of all routes that are not metered calls. Their numbers are settings, which docs/route-limits.md lists.

Of what is counted in the database all processes together allow exactly that number; of what one process counts, each process.
"""

from typing import NamedTuple

from gateway.core.contract.errors import RateLimited
from gateway.core.contract.rate_limits import RateLimit, rate_limit_headers

_PERIODS = {60: "minute", 300: "5_minutes", 600: "10_minutes", 3600: "hour"}


class RouteLimit(NamedTuple):
    """A number of uses within a window that begins with the first use.

    `name` is that of its item in the header fields, and begins with whose uses are counted together: `account`, `address` or `key`.
    `setting` names Django's setting with the number. An inexact limit is counted by each process alone.
    """

    name: str
    setting: str
    seconds: int = 60
    is_exact: bool = True

    @property
    def scope(self) -> str:
        """Return whose uses are counted together."""
        return self.name.partition("-")[0]

    @property
    def detail(self) -> str:
        """Return the limit's name for programs: `exports_per_hour`."""
        return f"{self.name.partition('-')[2].replace('-', '_')}_per_{_PERIODS[self.seconds]}"

    def state(self, most: int, used: int, reset_seconds: int) -> RateLimit:
        """Return what is left of the limit after `used` uses. Its window ends in `reset_seconds`."""
        return RateLimit(self.name, most, self.seconds, max(0, most - used), reset_seconds)

    def exceeded(self, most: int, wait_seconds: int) -> RateLimited:
        """Build the error for one use too many, which may be repeated in `wait_seconds`, at least 1."""
        error = rate_limited(self.scope, self.detail, wait_seconds)
        error.headers |= rate_limit_headers([self.state(most, most, wait_seconds)])
        return error


def rate_limited(scope: str, limit: str, wait_seconds: int, message: str | None = None) -> RateLimited:
    """Build the error for a limit that is used up, also one that has no window: `limit` is its name for programs, `scope` whose it is."""
    details = {"scope": scope, "limit": limit, "remaining": 0, "retryAfterSeconds": wait_seconds}
    return RateLimited(message, details=details, headers={"Retry-After": str(wait_seconds)})


TOKENS_OF_ADDRESS = RouteLimit("address-token-requests", "TOKEN_PROOFS_PER_ADDRESS_MINUTE")
TOKENS_OF_KEY = RouteLimit("key-token-requests", "TOKEN_PROOFS_PER_KEY_MINUTE")
MANAGEMENT = RouteLimit("account-management-requests", "MANAGEMENT_REQUESTS_PER_ACCOUNT_MINUTE")
UNCHARGED_CALLS = RouteLimit("account-uncharged-calls", "UNCHARGED_CALLS_PER_ACCOUNT_MINUTE", is_exact=False)
REPORTS = RouteLimit("account-reports", "REPORTS_PER_ACCOUNT_MINUTE")
ORGANIZATIONS = RouteLimit("account-organizations", "ORGANIZATIONS_PER_ACCOUNT_HOUR", 3600)
INVITATIONS = RouteLimit("account-invitations", "INVITATIONS_PER_ACCOUNT_HOUR", 3600)
GUESSES_OF_ACCOUNT = RouteLimit("account-invitation-guesses", "INVITATION_GUESSES_PER_ACCOUNT_10_MINUTES", 600)
GUESSES_OF_ADDRESS = RouteLimit("address-invitation-guesses", "INVITATION_GUESSES_PER_ADDRESS_10_MINUTES", 600)
AUTHORIZATIONS = RouteLimit("address-authorizations", "AUTHORIZATIONS_PER_ADDRESS_MINUTE")
CODES = RouteLimit("account-authorization-codes", "AUTHORIZATION_CODES_PER_ACCOUNT_10_MINUTES", 600)
SESSIONS = RouteLimit("address-sessions", "SESSIONS_PER_ADDRESS_MINUTE")
EXPORTS = RouteLimit("account-exports", "EXPORTS_PER_ACCOUNT_HOUR", 3600)
PORTAL = RouteLimit("account-portal-requests", "PORTAL_REQUESTS_PER_ACCOUNT_MINUTE", is_exact=False)
PAGES = RouteLimit("address-page-requests", "PAGE_REQUESTS_PER_ADDRESS_MINUTE", is_exact=False)
REFUSED_WEBHOOKS = RouteLimit("address-refused-webhooks", "REFUSED_WEBHOOKS_PER_ADDRESS_MINUTE", is_exact=False)
SIGN_INS = RouteLimit("address-sign-ins", "SIGN_INS_PER_ADDRESS_MINUTE")
PASSKEY_SIGN_INS = RouteLimit("address-passkey-sign-ins", "PASSKEY_SIGN_INS_PER_ADDRESS_MINUTE")
SIGN_UPS = RouteLimit("address-sign-ups", "SIGN_UPS_PER_ADDRESS_MINUTE")
PASSWORD_RESETS = RouteLimit("address-password-resets", "PASSWORD_RESETS_PER_ADDRESS_MINUTE")
PASSWORD_CHANGES = RouteLimit("account-password-changes", "PASSWORD_CHANGES_PER_ACCOUNT_MINUTE")
EMAIL_CHANGES = RouteLimit("account-email-changes", "EMAIL_CHANGES_PER_ACCOUNT_MINUTE")

ROUTE_LIMITS = tuple(value for value in list(vars().values()) if isinstance(value, RouteLimit))
"""Every limit that answers state."""
