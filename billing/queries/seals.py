"""The end of the chain of seals, to be recorded outside of the database."""

from billing.models import Seal


def last() -> Seal | None:
    """Return the newest seal, or None before the first."""
    return Seal.objects.order_by("-id").first()


def has(chain: str) -> bool:
    """Return whether the chain contains this link, given in hex."""
    try:
        link = bytes.fromhex(chain)
    except ValueError:
        return False
    return Seal.objects.filter(chain=link).exists()
