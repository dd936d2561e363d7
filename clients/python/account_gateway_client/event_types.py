"""What events say. Members are named as on the wire, times are RFC 3339, amounts whole micro-USD; there may be further members."""

from typing import Literal, TypedDict


class EventUsage(TypedDict):
    """The usage record of a call. A quantity that was not metered is None."""

    did: str
    usageId: str
    requestId: str
    route: str
    model: str
    product: str | None
    orgId: str | None
    membershipId: str | None
    status: Literal["settled", "held", "released", "reconciling"]
    inputTokens: int | None
    cachedInputTokens: int | None
    outputTokens: int | None
    inputAudioTokens: int | None
    outputAudioTokens: int | None
    inputCharacters: int | None
    inputBytes: int | None
    items: int | None
    images: int | None
    seconds: float | None
    heldMicrousd: int
    chargedMicrousd: int
    createdAt: str
    settledAt: str | None
    idempotencyKey: str | None


class EventOwner(TypedDict, total=False):
    """Whose wallet or budget it is: a person's, by `did`, or an organization's, by `orgId`."""

    did: str
    orgId: str


class _Wallet(EventOwner):
    availableMicrousd: int


class EventWallet(_Wallet, total=False):
    """A wallet after what happened. A threshold that was crossed has `thresholdMicrousd`, a payment the other two."""

    thresholdMicrousd: int
    amountMicrousd: int
    transactionId: str


class EventBudget(EventOwner):
    """A budget of which `percent` is used up."""

    budgetId: str
    scope: str
    percent: int
    limitMicrousd: int
    spentMicrousd: int


class EventInvoice(TypedDict):
    """An organization's invoice for seats."""

    orgId: str
    invoiceId: str
    number: str | None
    status: Literal["draft", "open", "paid", "void", "past_due"]
    totalMicrousd: int


class EventMembership(TypedDict):
    """A member of an organization."""

    orgId: str
    membershipId: str
    did: str
    role: Literal["owner", "admin", "billing", "member"]


class EventSeat(TypedDict):
    """A member's seat for a product."""

    orgId: str
    product: str
    membershipId: str


class EventDevice(TypedDict):
    """A device session of a person."""

    did: str
    deviceSessionId: str


class EventPing(TypedDict):
    """The name of the endpoint that an operator tries."""

    endpoint: str


class _Event(TypedDict):
    id: str
    createdAt: str
    sequence: int


class UsageEvent(_Event):
    """A call was charged, was released, or waits for its outcome."""

    type: Literal["usage.settled", "usage.released", "usage.reconciling"]
    data: EventUsage


class WalletEvent(_Event):
    """A wallet was credited, went below its threshold, or is empty."""

    type: Literal["wallet.credited", "wallet.low", "wallet.empty"]
    data: EventWallet


class BudgetEvent(_Event):
    """A budget reached a share of its limit."""

    type: Literal["budget.threshold"]
    data: EventBudget


class InvoiceEvent(_Event):
    """An invoice was issued, was paid, or is past due."""

    type: Literal["invoice.issued", "invoice.paid", "invoice.past_due"]
    data: EventInvoice


class MembershipEvent(_Event):
    """A person joined an organization, or is no member any more."""

    type: Literal["membership.created", "membership.removed"]
    data: EventMembership


class SeatEvent(_Event):
    """A seat was assigned or revoked."""

    type: Literal["seat.assigned", "seat.revoked"]
    data: EventSeat


class DeviceEvent(_Event):
    """A device session ended."""

    type: Literal["device_session.revoked"]
    data: EventDevice


class PingEvent(_Event):
    """An operator tries the endpoint."""

    type: Literal["test.ping"]
    data: EventPing


Event = UsageEvent | WalletEvent | BudgetEvent | InvoiceEvent | MembershipEvent | SeatEvent | DeviceEvent | PingEvent
"""An event: `type` decides what `data` is. A newer gateway may send further types, which a program must ignore."""
