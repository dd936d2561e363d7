"""Ask the provider about a charge of a saved payment method, and make the charge if there is none. Does not access the database."""

import logging
from collections.abc import Callable
from datetime import timedelta

from billing.adapters.base import ChargeRequest, PaymentProvider, ProviderRejected, ProviderUnavailable
from billing.rules.charges import KEY_LIFETIME, NEVER_MADE, REJECTED
from billing.rules.provider_records import Payment

log = logging.getLogger("billing.off_session")

SEND_SECONDS = 120.0
"""How long after it was recorded a process may send a request. One that was stopped for longer does not: others may have given the
charge up meanwhile, and the provider may have forgotten its key."""


def record_of(
    provider: PaymentProvider,
    request: ChargeRequest,
    payment_ref: str | None,
    *,
    is_new: bool,
    age: timedelta | None,
    is_late: Callable[[], bool],
) -> Payment | str:
    """Return the provider's record of a charge, making the charge if there is none, or the failure code.

    A new charge is made at once; of any other, the provider is asked first. A request is repeated only while its outcome is
    unknown and the provider stores its idempotency key, so that nothing is charged twice, and no refused charge is repeated:
    `age` is the time since it was first sent, None if it must not be sent again; `is_late` whether SEND_SECONDS have passed, by
    this process's own clock. Raises ProviderUnavailable or ProviderRejected.
    """
    if payment_ref is not None:
        return provider.payment(payment_ref)
    found = None if is_new else provider.find_payment(request.customer_ref, request.payment_id)
    if found is not None:
        return found
    if age is None or age > KEY_LIFETIME:
        return NEVER_MADE
    if is_late():
        raise ProviderUnavailable("it was recorded too long ago to be sent by this process")
    try:
        return provider.charge(request)
    except ProviderRejected as error:
        log.error("charge %s was rejected: %s", request.payment_id, error)
        return REJECTED
