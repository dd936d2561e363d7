"""Amounts for people."""


def usd(amount_microusd: int) -> str:
    """Render micro-USD with cents, and with what is left of a cent where there is something."""
    whole, fraction = divmod(abs(amount_microusd), 1_000_000)
    digits = f"{fraction:06}".rstrip("0").ljust(2, "0")
    return f"{'-' if amount_microusd < 0 else ''}${whole:,}.{digits}"
