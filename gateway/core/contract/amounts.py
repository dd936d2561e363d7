"""Amounts for people."""


def usd(amount_microusd: int | None) -> str:
    """Render micro-USD exactly, with two decimals or as many as it needs (`$5.00`, `$0.000042`); nothing for None."""
    if amount_microusd is None:
        return ""
    whole, fraction = divmod(abs(amount_microusd), 1_000_000)
    digits = f"{fraction:06}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount_microusd < 0 else ''}${whole:,}.{digits}"
