"""The amounts that an invoice shows: whole cents, which add up to the amount that is charged."""

from collections.abc import Sequence
from typing import NamedTuple

from gateway.core.contract.limits import CENT_MICROUSD


class InvoiceAmounts(NamedTuple):
    """Micro-USD in whole cents. The lines and `rounding` add up to `total`."""

    lines: list[int]
    rounding: int
    total: int


def in_cents(lines_microusd: Sequence[int], total_microusd: int) -> InvoiceAmounts:
    """Round each line and the total down to cents, as the charge is; the cents that lines lose are the rounding."""
    lines, total = [_floor(line) for line in lines_microusd], _floor(total_microusd)
    return InvoiceAmounts(lines, total - sum(lines), total)


def _floor(amount_microusd: int) -> int:
    return amount_microusd - amount_microusd % CENT_MICROUSD
