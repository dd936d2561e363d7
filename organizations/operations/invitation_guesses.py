"""Limits how often one account, or one address, may name an invitation that cannot be accepted."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from accounts.operations import limits
from gateway.core.contract.errors import InvitationUnavailable
from gateway.core.contract.route_limits import GUESSES_OF_ACCOUNT, GUESSES_OF_ADDRESS, RouteLimit


@contextmanager
def counted(*, did: str | None, network: str | None, now: datetime) -> Iterator[None]:
    """Count an InvitationUnavailable that the block raises. Raises RateLimited, without running the block, once there
    were too many.

    Each attempt counts until it succeeds, so that attempts at once are no more guesses. Invitations that can be accepted do not
    count in the end, so a whole office may join.
    """
    taken: list[tuple[RouteLimit, str]] = []
    try:
        for limit, of in ((GUESSES_OF_ACCOUNT, did), (GUESSES_OF_ADDRESS, network)):
            if of:
                limits.take(limit, of, now=now)
                taken.append((limit, of))
        yield
    except InvitationUnavailable:
        raise
    except BaseException:
        _give_back(taken, now)
        raise
    else:
        _give_back(taken, now)


def _give_back(taken: list[tuple[RouteLimit, str]], now: datetime) -> None:
    for limit, of in taken:
        limits.give_back(limit, of, now=now)
