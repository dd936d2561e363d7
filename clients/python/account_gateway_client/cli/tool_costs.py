"""Says what a tool's calls cost."""

from account_gateway_client.cli.money import dollars_of
from account_gateway_client.proxy.application import CallReport
from account_gateway_client.proxy.spending import Spending


def sum_of(spending: Spending) -> str:
    """Write the sum of all calls, and what may be added to it."""
    calls = "1 call" if spending.calls == 1 else f"{spending.calls} calls"
    limit = "" if spending.budget is None else f" of {dollars_of(spending.budget)}"
    text = f"Cost: {dollars_of(spending.spent)}{limit} for {calls}."
    if not spending.reserved:
        return text
    return f"{text} Not settled yet: up to {dollars_of(spending.reserved)} more (see `agw usage`)."


def line_of(report: CallReport) -> str:
    """Write one call, without what was asked and answered."""
    receipt = report.receipt
    status = report.status or "no answer"
    if receipt is None:
        return f"{report.path} {status}"
    if receipt.replayed:
        return f"{report.path} {status} replayed"
    charge = "not settled yet" if receipt.charge_microusd is None else dollars_of(receipt.charge_microusd)
    return f"{report.path} {status} {charge}"
