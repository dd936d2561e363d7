"""The end of the chain of seals, to be recorded outside of the database, and the seal of a call."""

from billing.models import Call, Seal


def last() -> Seal | None:
    """Return the newest seal, or None before the first."""
    return Seal.objects.order_by("-id").first()


def covering(call: Call) -> Seal | None:
    """Return the seal that covers a closed call, or None if there is none yet."""
    if call.closed_at is None:
        return None
    return Seal.objects.filter(begins_at__lte=call.closed_at, ends_at__gt=call.closed_at).order_by("ends_at").first()


def has(chain: str) -> bool:
    """Return whether the chain contains this link, given in hex."""
    try:
        link = bytes.fromhex(chain)
    except ValueError:
        return False
    return Seal.objects.filter(chain=link).exists()
