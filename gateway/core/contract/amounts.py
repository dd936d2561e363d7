"""Formats amounts of money."""

from collections.abc import Iterable

from gateway.core.contract.limits import CENT_MICROUSD

CENTS = 2
PICO_DECIMALS = 12
MICRO_DECIMALS = 6


def usd(amount_microusd: int | None, decimals: int = CENTS) -> str:
    """Render micro-USD exactly, with at least this many decimals (`$5.00`, `$0.000042`); empty for None."""
    if amount_microusd is None:
        return ""
    whole, fraction = divmod(abs(amount_microusd), 1_000_000)
    digits = f"{fraction:06}".rstrip("0").ljust(decimals, "0")
    return f"{'-' if amount_microusd < 0 else ''}${whole:,}.{digits}"


def usd_rounded(amount_microusd: int) -> str:
    """Render micro-USD of at least 0 in cents, half a cent upwards (`$25.00`); `<$0.01` for what would be nothing."""
    cents = (amount_microusd + CENT_MICROUSD // 2) // CENT_MICROUSD
    return usd(cents * CENT_MICROUSD) if cents or not amount_microusd else "<$0.01"


def decimals_of(amounts_microusd: Iterable[int | None]) -> int:
    """Return the number of decimals with which a column of amounts is exact in every row and lines up."""
    return max((len(usd(amount).partition(".")[2]) for amount in amounts_microusd), default=CENTS) or CENTS


def usd_of_pico(amount_pico: int, decimals: int = CENTS) -> str:
    """Render pico-USD (micro-USD x 10^-6) exactly, with at least this many decimals (`$0.00000015`)."""
    whole, fraction = divmod(abs(amount_pico), 10**PICO_DECIMALS)
    return (
        f"{'-' if amount_pico < 0 else ''}${whole:,}.{f'{fraction:0{PICO_DECIMALS}}'.rstrip('0').ljust(decimals, '0')}"
    )


def pico_decimals(amount_pico: int) -> int:
    """Return the number of decimals with which an amount is exact."""
    return len(usd_of_pico(amount_pico).partition(".")[2])


def microusd_of_pico(amount_pico: int) -> str:
    """Render pico-USD as a decimal number of micro-USD for machines (`1234.500000`, `-0.000001`)."""
    whole, fraction = divmod(abs(amount_pico), 10**MICRO_DECIMALS)
    return f"{'-' if amount_pico < 0 else ''}{whole}.{fraction:0{MICRO_DECIMALS}}"


def dollars(amount_microusd: int) -> str:
    """Render micro-USD as a decimal number of dollars for machines (`0.000042`, `1234.000000`)."""
    whole, fraction = divmod(amount_microusd, 1_000_000)
    return f"{whole}.{fraction:06}"
