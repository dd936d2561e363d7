"""What is held for a request."""

from gateway.contract.errors import MaxCostExceeded


def within(cost_microusd: int, max_cost_microusd: int) -> int:
    """Return a bound that the caller's maximum covers, or raise MaxCostExceeded with what is needed at least."""
    if cost_microusd > max_cost_microusd:
        raise MaxCostExceeded(details={"requiredMicrousd": cost_microusd})
    return cost_microusd
