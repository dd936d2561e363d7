"""Formats money in aligned columns, in dollars to the micro-dollar."""

from collections.abc import Iterable

MICROUSD_PER_USD = 1_000_000
LABEL_WIDTH = 15


def dollars(microusd: int) -> str:
    """Format micro-USD as dollars: 5000000 is $5.000000."""
    sign, amount = ("-" if microusd < 0 else ""), abs(microusd)
    return f"{sign}${amount // MICROUSD_PER_USD:,}.{amount % MICROUSD_PER_USD:06d}"


def table(rows: Iterable[tuple[str, int, str]]) -> list[str]:
    """Format rows of label, micro-USD and remark, with dollars and micro-USD right-aligned."""
    written = [(label, dollars(amount), f"{amount:,}", remark) for label, amount, remark in rows]
    wide_usd, wide_micro = (max(len(row[column]) for row in written) for column in (1, 2))
    return [
        f"{label:<{LABEL_WIDTH}}{usd:>{wide_usd}}  {micro:>{wide_micro}} micro-USD  {remark}".rstrip()
        for label, usd, micro, remark in written
    ]
