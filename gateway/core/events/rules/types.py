"""The types of events, and the patterns that choose among them."""

PUBLIC_TYPES = (
    "usage.settled",
    "usage.released",
    "usage.reconciling",
    "wallet.credited",
    "wallet.low",
    "wallet.empty",
    "budget.threshold",
    "invoice.issued",
    "invoice.paid",
    "invoice.past_due",
    "membership.created",
    "membership.removed",
    "seat.assigned",
    "seat.revoked",
    "device_session.revoked",
)
"""What product servers may get. Additions are compatible, removals are not."""

INTERNAL_TYPES = (
    "payment.received",
    "payment.failed",
    "invoice.charged",
    "invitation.created",
    "second_factor.added",
    "device_session.created",
    "organization.suspended",
    "organization.suspended_by_operator",
    "account.suspended",
    "model.retired",
    "auto_top_up.paused",
    "auto_top_up.action_required",
    "auto_top_up.charged",
)
"""What only mails and the portal's history know."""

TEST_TYPE = "test.ping"
"""The event that an operator sends to one endpoint to try it."""

ALL_TYPES = frozenset({*PUBLIC_TYPES, *INTERNAL_TYPES, TEST_TYPE})


def types_of(pattern: str) -> tuple[str, ...]:
    """Return the public types that a pattern names: a type itself, or all of a group ("budget.*"); none if it is unknown."""
    if pattern.endswith(".*"):
        return tuple(name for name in PUBLIC_TYPES if name.startswith(pattern[:-1]))
    return (pattern,) if pattern in PUBLIC_TYPES else ()
