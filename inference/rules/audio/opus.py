"""The length of an Opus packet, which its first bytes state (RFC 6716 section 3.1)."""

from functools import lru_cache

_SILK = (10.0, 20.0, 40.0, 60.0)
_HYBRID = (10.0, 20.0)
_CELT = (2.5, 5.0, 10.0, 20.0)
PACKET_MAX_SECONDS = 0.12


@lru_cache(maxsize=65536)
def packet_seconds(head: bytes) -> float:
    """Return the seconds of a packet with these first two bytes (or one); 0 for an empty one."""
    if not head:
        return 0.0
    config, code = head[0] >> 3, head[0] & 3
    modes = _SILK if config < 12 else _HYBRID if config < 16 else _CELT
    frame = modes[config % len(modes)]
    frames = (1, 2, 2)[code] if code < 3 else (head[1] & 63 if len(head) > 1 else 0)
    return min(frame * frames / 1000, PACKET_MAX_SECONDS)
