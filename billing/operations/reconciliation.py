"""Check every open checkout at the payment provider, whether or not it has sent an event.

Each run is limited in rows and time; one bad row does not delay the others. Runs may overlap.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial

from billing.adapters import configured
from billing.adapters.base import PaymentProvider, ProviderError, ProviderUnavailable
from billing.models import Checkout
from billing.operations import checkouts, events
from billing.operations.checkouts import Fetched
from billing.operations.chunks import chunks
from billing.operations.deadlines import deadline
from billing.queries import checkouts as queries
from gateway.core.contract.errors import IntegrationUnavailable

log = logging.getLogger("billing.reconciliation")

AT_ONCE = 8
ROWS_MAX = 800
EVENTS_MAX = 100
RUN_SECONDS = 25.0


def reconcile(*, now: datetime) -> dict[str, int]:
    """Process waiting events, then the checkouts that are due; return how many of each were checked."""
    provider = configured.provider()
    if provider is None:
        return {}
    is_over = deadline(RUN_SECONDS)
    return {"events": _events(provider, now, is_over), "checkouts": _checkouts(provider, now, is_over)}


def _events(provider: PaymentProvider, now: datetime, is_over: Callable[[], bool]) -> int:
    handled = 0
    for event in queries.unhandled(provider.name, now, EVENTS_MAX):
        if is_over():
            break
        try:
            events.handle(event, now=now)
            handled += 1
        except (ProviderUnavailable, IntegrationUnavailable) as error:
            log.warning("event %s and those after it must wait: %s", event.event_id, error)
            break
        except Exception:
            log.exception("event %s could not be handled", event.event_id)
    return handled


def _checkouts(provider: PaymentProvider, now: datetime, is_over: Callable[[], bool]) -> int:
    """Check what is due, several at once: threads call the provider, this thread applies the responses."""
    compared = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for rows in chunks(queries.due(provider.name, provider.is_live, now, ROWS_MAX), AT_ONCE):
            answers = list(pool.map(partial(_ask, provider), rows))
            compared += sum(_take(row, answer, now) for row, answer in zip(rows, answers, strict=True))
            if is_over() or all(isinstance(answer, ProviderUnavailable) for answer in answers):
                break
    return compared


def _ask(provider: PaymentProvider, checkout: Checkout) -> Fetched | Exception | None:
    """Ask about one checkout without accessing the database; None if it is not placed yet."""
    if checkout.session_ref is None:
        return None
    try:
        return checkouts.fetch(provider, checkout)
    except Exception as error:
        if not isinstance(error, ProviderError):
            log.exception("could not ask the provider about checkout %s", checkout.id)
        return error


def _take(checkout: Checkout, answer: Fetched | Exception | None, now: datetime) -> bool:
    try:
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            checkouts.converge(checkout, now=now)
        else:
            checkouts.apply(checkout.id, answer, now=now)
    except (ProviderError, IntegrationUnavailable) as error:
        log.warning("checkout %s will be checked later: %s", checkout.id, error)
        checkouts.postpone(checkout.id, now=now)
        return False
    except Exception:
        log.exception("checkout %s could not be compared", checkout.id)
        checkouts.postpone(checkout.id, now=now)
        return False
    return True
