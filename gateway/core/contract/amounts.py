"""Amounts for people."""

from collections.abc import Iterable

CENTS = 2


def usd(amount_microusd: int | None, decimals: int = CENTS) -> str:
    """Render micro-USD exactly, with so many decimals or as many as it needs (`$5.00`, `$0.000042`); nothing for None."""
    if amount_microusd is None:
        return ""
    whole, fraction = divmod(abs(amount_microusd), 1_000_000)
    digits = f"{fraction:06}".rstrip("0").ljust(decimals, "0")
    return f"{'-' if amount_microusd < 0 else ''}${whole:,}.{digits}"


def decimals_of(amounts_microusd: Iterable[int | None]) -> int:
    """Return with how many decimals a column of amounts is exact in every row, and lines up."""
    return max((len(usd(amount).partition(".")[2]) for amount in amounts_microusd), default=CENTS) or CENTS
