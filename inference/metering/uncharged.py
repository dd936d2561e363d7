"""Limits calls that hold no money: refused ones, repeated ones and counts of tokens. Each makes a call to the database, and none
counts in the limits of metered calls.

Each process counts for itself, in memory. A call that is held costs this limit nothing, and makes up for one that was not, so that
an account is refused only while most of its calls are.
"""

from accounts.rules.principal import Principal
from gateway.core.contract.route_limits import UNCHARGED_CALLS
from gateway.core.runtime import process_limits


def check(caller: Principal) -> None:
    """Raise RateLimited if too many calls of the caller's account held nothing. Its proof is not used up then."""
    process_limits.check(UNCHARGED_CALLS, caller.did)


def count(caller: Principal) -> None:
    """Count a call that holds nothing."""
    process_limits.count(UNCHARGED_CALLS, caller.did)


def make_up(caller: Principal) -> None:
    """Uncount one call: another one was held."""
    process_limits.give_back(UNCHARGED_CALLS, caller.did)
