"""Money between people, who write dollars, and the gateway, which counts micro-USD."""

import re

MICROUSD = 10**6
DECIMALS = 6
_DOLLARS = re.compile(r"\$?([0-9]{1,9})(?:\.([0-9]*))?|\$?\.([0-9]+)", re.ASCII)


def microusd_of(dollars: str) -> int:
    """Return exact micro-USD for a decimal number of dollars. Raises ValueError for anything else, and for fractions of a
    micro-USD."""
    found = _DOLLARS.fullmatch(dollars.strip())
    if found is None:
        raise ValueError(f"{dollars!r} is not an amount of dollars such as 0.05")
    whole, decimals = found[1] or "0", found[2] or found[3] or ""
    if len(decimals) > DECIMALS:
        raise ValueError(
            f"{dollars!r} has more than {DECIMALS} decimals, and money is counted in millionths of a dollar"
        )
    return int(whole) * MICROUSD + int(decimals.ljust(DECIMALS, "0"))


def dollars_of(microusd: int) -> str:
    """Write an amount exactly, with two decimals at least: `$0.05`, `-$1.000001`."""
    whole, millionths = divmod(abs(microusd), MICROUSD)
    decimals = f"{millionths:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if microusd < 0 else ''}${whole:,}.{decimals}"
