"""Reads a response's body up to a size limit, regardless of its headers."""

from aiohttp import StreamReader

from gateway.core.outbound.failures import TooLargeError


async def read_bounded(content: StreamReader, max_bytes: int) -> bytes:
    """Read the whole body, decompressed. Raises TooLargeError beyond `max_bytes`, or the client's error if it is
    truncated."""
    parts, total = list[bytes](), 0
    while part := await read_part(content):
        parts.append(part)
        total += len(part)
        if total > max_bytes:
            raise TooLargeError
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def read_part(content: StreamReader) -> bytes:
    """Read what has arrived of a body, nothing at its end. Raises the client's error, also if the body was refused at the moment of
    its end: aiohttp's reader looks for an error only before it waits."""
    part = await content.readany()
    if content.is_eof() and (error := content.exception()) is not None:
        raise error
    return part
