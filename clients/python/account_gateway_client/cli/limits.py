"""What a tool's calls may cost: each, and all together."""

from collections.abc import Callable
from typing import Any

import click

from account_gateway_client.cli.money import dollars_of
from account_gateway_client.cli.options import CALL_MAX_MICROUSD, Dollars

DEFAULT_MAX_MICROUSD = 1_000_000
BUDGET_SHARE = 10


def limits_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--max-cost` and `--budget` to a command."""
    budget = click.option(
        "--budget", type=Dollars(), metavar="USD", help="The most that all calls may cost. Default: no limit."
    )
    max_cost = click.option(
        "--max-cost",
        type=Dollars(CALL_MAX_MICROUSD),
        metavar="USD",
        help=f"The most that one call may cost. Default: {dollars_of(DEFAULT_MAX_MICROUSD)}, or a tenth of a smaller budget.",
    )
    return max_cost(budget(command))


def maximum_of(max_cost: int | None, budget: int | None) -> int:
    """Return a call's maximum: what was asked for, or else so little that a budget lets several calls go on at once."""
    if max_cost is not None:
        return max_cost
    share = DEFAULT_MAX_MICROUSD if budget is None else max(1, budget // BUDGET_SHARE)
    return min(DEFAULT_MAX_MICROUSD, share)
