"""Where the chain of seals ends, for whoever notes it outside of the database."""

from billing.models import Seal


def last() -> Seal | None:
    """Return the newest seal, None before the first."""
    return Seal.objects.order_by("-id").first()


def has(chain: str) -> bool:
    """Tell whether a link, in hex, is one of the chain's."""
    try:
        link = bytes.fromhex(chain)
    except ValueError:
        return False
    return Seal.objects.filter(chain=link).exists()
