"""The end of the chain of seals, to be recorded outside of the database."""

from billing.models import Seal


def last() -> Seal | None:
    """Return the newest seal, None before the first."""
    return Seal.objects.order_by("-id").first()


def has(chain: str) -> bool:
    """Return whether a link, in hex, is one of the chain's."""
    try:
        link = bytes.fromhex(chain)
    except ValueError:
        return False
    return Seal.objects.filter(chain=link).exists()
