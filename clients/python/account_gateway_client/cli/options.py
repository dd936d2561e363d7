"""Kinds of options that several commands take."""

from typing import Any

import click

from account_gateway_client.cli.money import microusd_of

CALL_MAX_MICROUSD = 1_000_000_000


class Dollars(click.ParamType):
    """An amount of dollars, given as a decimal number and passed on as micro-USD, exactly."""

    name = "USD"

    def __init__(self, max_microusd: int | None = None) -> None:
        self._max_microusd = max_microusd

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            amount = microusd_of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if amount == 0 or amount > (self._max_microusd or amount):
            most = f" and at most {self._max_microusd // 10**6:,}" if self._max_microusd else ""
            self.fail(f"it must be more than 0{most}", param, ctx)
        return amount


max_cost_option = click.option(
    "--max-cost", type=Dollars(CALL_MAX_MICROUSD), metavar="USD", help="The most that one call may cost, such as 0.05."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
