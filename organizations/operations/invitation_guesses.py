"""Limits how often one account, or one address, may name an invitation that cannot be accepted."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from accounts.operations import limits
from gateway.core.contract.errors import InvitationUnavailable
from gateway.core.contract.limits import (
    INVITATION_GUESSES_MAX,
    INVITATION_GUESSES_PER_ADDRESS_MAX,
    INVITATION_GUESSES_SECONDS,
)

OF_ACCOUNT = limits.Rate("invitations guessed by an account", INVITATION_GUESSES_MAX, INVITATION_GUESSES_SECONDS)
OF_ADDRESS = limits.Rate(
    "invitations guessed from an address", INVITATION_GUESSES_PER_ADDRESS_MAX, INVITATION_GUESSES_SECONDS
)


@contextmanager
def counted(*, did: str | None, network: str | None, now: datetime) -> Iterator[None]:
    """Count an InvitationUnavailable that the block raises. Raises RateLimited, without running the block, once there
    were too many.

    Invitations that can be accepted do not count, so a whole office may join at once.
    """
    counts = [(rate, of) for rate, of in ((OF_ACCOUNT, did), (OF_ADDRESS, network)) if of]
    for rate, of in counts:
        limits.check(rate, of, now=now)
    try:
        yield
    except InvitationUnavailable:
        for rate, of in counts:
            limits.take(rate, of, now=now)
        raise
