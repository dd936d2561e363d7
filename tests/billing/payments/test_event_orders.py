"""Whatever happens at the provider, and however we learn of it, the books end the same."""

from typing import Any

from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.models import Checkout
from billing.operations import checkouts
from billing.queries import audit
from tests.billing.payments.payer import USD, Payer, payments
from tests.support.stripe import FakeStripe

ACTS = st.sampled_from(["refund", "refund later", "fail a refund", "dispute", "win", "lose"])
MANY = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


class Story:
    """What happens to one payment; `expected` is what the merchant has lost of it."""

    def __init__(self, provider: FakeStripe, session_ref: str) -> None:
        self.provider = provider
        self.ref = session_ref
        self.refunds: dict[str, int] = {}
        self.pending: list[str] = []
        self.disputed = 0
        self.dispute: dict[str, Any] | None = None

    @property
    def expected(self) -> int:
        return min((sum(self.refunds.values()) + self.disputed) * 10_000, 5 * USD)

    def act(self, act: str, cents: int) -> None:
        """Do it, where it can be done."""
        match act:
            case "refund" | "refund later" if sum(self.refunds.values()) + cents <= 500:
                later = act == "refund later"
                made = self.provider.refund(self.ref, amount=cents, status="pending" if later else "succeeded")
                self.refunds[made["id"]] = cents
                self.pending += [made["id"]] if later else []
            case "fail a refund" if self.pending:
                del self.refunds[self.pending[-1]]
                self.provider.turn_refund(self.pending.pop(), "failed")
            case "dispute" if self.dispute is None:
                self.dispute = self.provider.dispute(self.ref, amount=cents)
                self.disputed = cents
            case "win" | "lose" if self.dispute is not None and self.dispute["status"] == "needs_response":
                self.dispute = self.provider.end_dispute(self.dispute["id"], {"win": "won", "lose": "lost"}[act])
                self.disputed = 0 if act == "win" else self.disputed


@MANY
@given(
    acts=st.lists(st.tuples(ACTS, st.integers(1, 300)), max_size=6),
    order=st.randoms(use_true_random=False),
    looks=st.lists(st.integers(0, 6), max_size=2),
)
def test_every_order_of_events_ends_in_the_same_books(
    payer: Payer, provider: FakeStripe, acts: list[tuple[str, int]], order: Any, looks: list[int]
) -> None:
    provider.webhooks.hold()
    provider.webhooks.waiting.clear()
    url, before = f"{payer.origin}/webhooks/stripe", payer.wallet.balance_microusd
    checkout = payer.begin()
    seen = {event["id"] for event in provider.events_of()}
    provider.pay(str(checkout.session_ref))
    story = Story(provider, str(checkout.session_ref))
    for step, (act, cents) in enumerate(acts):
        if step in looks:
            checkouts.converge(Checkout.objects.get(pk=checkout.pk), now=timezone.now())
        story.act(act, cents)
    events = [event for event in provider.events_of() if event["id"] not in seen]
    events += order.sample(events, k=len(events) // 2)
    order.shuffle(events)
    provider.webhooks.url = url
    assert set(provider.webhooks.deliver(*events)) == {200}
    checkout.refresh_from_db()
    assert (checkout.status, payments(checkout)) == ("paid", [5 * USD])
    assert checkout.taken_back_microusd == story.expected
    assert payer.wallet.balance_microusd - before == 5 * USD - story.expected
    assert audit.findings() == []
