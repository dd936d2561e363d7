"""Reading an answer's body up to a bound, whatever its headers promise."""

import aiohttp

from gateway.core.outbound.failures import TooLargeError


async def read_bounded(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """Read the whole body, decompressed; raise TooLargeError past `max_bytes`, or the client's error where it is cut."""
    parts, total = list[bytes](), 0
    while part := await response.content.readany():
        parts.append(part)
        total += len(part)
        if total > max_bytes:
            raise TooLargeError
    return parts[0] if len(parts) == 1 else b"".join(parts)
