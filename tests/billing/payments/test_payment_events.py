"""A checkout that is paid is recorded once, however often the provider says so."""

from django.utils import timezone

from billing.operations import reconciliation
from tests.billing.payments.payer import USD, Payer
from tests.factories.events import recorded


def test_a_payment_is_recorded_once(payer: Payer) -> None:
    checkout = payer.paid()
    for _ in range(2):
        reconciliation.reconcile(now=timezone.now())
    did = payer.owner[1]
    assert recorded(did) == [
        (
            "wallet.credited",
            {
                "did": did,
                "availableMicrousd": 5 * USD,
                "amountMicrousd": 5 * USD,
                "transactionId": checkout.pk,
            },
        ),
        (
            "payment.received",
            {
                "did": did,
                "transactionId": checkout.pk,
                "amountMicrousd": 5 * USD,
                "availableMicrousd": 5 * USD,
                "product": None,
                "requestedBy": did,
            },
        ),
    ]


def test_a_checkout_that_is_not_paid_is_not_recorded(payer: Payer) -> None:
    payer.begin()
    reconciliation.reconcile(now=timezone.now())
    assert recorded(payer.owner[1]) == []
