"""Reads a response's body up to a size limit, regardless of its headers."""

from aiohttp import StreamReader

from gateway.core.outbound.failures import TooLargeError


async def read_bounded(content: StreamReader, max_bytes: int) -> bytes:
    """Read the whole body, decompressed. Raises TooLargeError beyond `max_bytes`, or the client's error if it is
    truncated."""
    parts, total = list[bytes](), 0
    while part := await content.readany():
        parts.append(part)
        total += len(part)
        if total > max_bytes:
            raise TooLargeError
    return parts[0] if len(parts) == 1 else b"".join(parts)
