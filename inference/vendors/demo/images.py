"""Images of the demo backend: a pattern of colored squares for each prompt, row by row if streamed, as a PNG (ISO/IEC 15948)
without a model or an image library."""

import asyncio
import base64
import hashlib
import re
import struct
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.runtime.offload import offload
from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt
from inference.routes.images.bound import BoundedImages
from inference.routes.images.stream import COMPLETED, ESTIMATED_TOKENS, PARTIAL, event_of, render
from inference.vendors.demo.endpoint import TOKEN_SECONDS, DemoEndpoint
from inference.vendors.demo.tokens import count_tokens

SIDE_MAX = 2048
SIZE, QUALITY = "1024x1024", "medium"
REVISED = "A pattern of squares, drawn by the gateway's demo backend without a model, for: "

_SIZE = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,3})", re.ASCII)


class DemoImages(DemoEndpoint[BoundedImages]):
    """Draws PNGs."""

    async def answer(self, attempt: Attempt[BoundedImages]) -> Answer:
        sides, properties = _properties(attempt)
        data = []
        for number in range(attempt.request.params.images):
            drawn = await offload(_drawn, attempt, sides, number)
            data.append({"b64_json": drawn, "revised_prompt": REVISED + attempt.request.params.prompt})
        body = {"created": int(time.time()), "model": attempt.call.public_model, "data": data, **properties}
        usage = _usage(attempt)
        return Answer({**body, "usage": usage}, usage)

    def chunks(self, attempt: Attempt[BoundedImages]) -> AsyncIterator[Chunk]:
        """Draw one image, its upper rows first if partial images are requested."""
        return _chunks(attempt, *_properties(attempt))


async def _chunks(
    attempt: Attempt[BoundedImages], sides: tuple[int, int], properties: dict[str, str]
) -> AsyncIterator[Chunk]:
    partial_images = attempt.request.params.partial_images
    pause_seconds = float(attempt.target.options.get("token_seconds", TOKEN_SECONDS)) * GRID
    for index in range(partial_images):
        await asyncio.sleep(pause_seconds)
        rows = GRID * (index + 1) // (partial_images + 1)
        drawn = await offload(_drawn, attempt, sides, 0, rows=rows)
        event = event_of(PARTIAL, drawn, properties, partial_image_index=index)
        yield Chunk(render(event), events=(event,))
    await asyncio.sleep(pause_seconds)
    drawn = await offload(_drawn, attempt, sides, 0)
    yield Chunk(b"", events=(event_of(COMPLETED, drawn, properties, usage=_usage(attempt)),))


def _properties(attempt: Attempt[BoundedImages]) -> tuple[tuple[int, int], dict[str, str]]:
    """Return the size of an image, and its properties for the response. Raises InvalidRequest naming the member."""
    if attempt.request.body.get("output_format") not in (None, "png"):
        raise InvalidRequest("The demo backend makes only PNGs.", param="output_format")
    kind = attempt.request.params.kind
    size = kind.size or SIZE
    sides = _SIZE.fullmatch(size)
    if sides is None or max(width := int(sides[1]), height := int(sides[2])) > SIDE_MAX:
        raise InvalidRequest(f"size must be two sides of at most {SIDE_MAX} pixels, such as {SIZE}.", param="size")
    properties = {"background": "opaque", "output_format": "png", "quality": kind.quality or QUALITY, "size": size}
    return (width, height), properties


def _drawn(attempt: Attempt[BoundedImages], sides: tuple[int, int], number: int, **options: Any) -> str:
    text = attempt.request.params.prompt
    return base64.b64encode(draw(f"{text} {number}" if number else text, *sides, **options)).decode()


def _usage(attempt: Attempt[BoundedImages]) -> dict[str, Any]:
    """Build the usage object as the vendor's API does."""
    params = attempt.request.params
    quality = params.kind.quality or QUALITY
    input_tokens = count_tokens(params.prompt)
    output_tokens = params.images * min(ESTIMATED_TOKENS.get(quality, 0) or 1, attempt.request.image_tokens)
    return {
        "input_tokens": input_tokens,
        "input_tokens_details": {"text_tokens": input_tokens, "image_tokens": 0},
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }


GRID = 8
COLOURS = 4
SOFTWARE = b"Software\0Account Gateway demo, without a model"

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PALETTE_OF_8_BITS = b"\x08\x03\0\0\0"  # bit depth, indexed colour, deflate, adaptive filters, not interlaced


def draw(text: str, width: int, height: int, *, rows: int = GRID) -> bytes:
    """Return a PNG of this size, always the same for the same text. Rows of the 8-row grid after `rows` are empty."""
    digest = hashlib.sha256(text.encode()).digest()
    header = struct.pack(">II", width, height) + _PALETTE_OF_8_BITS
    chunks = [(b"IHDR", header), (b"tEXt", SOFTWARE), (b"PLTE", _palette(digest))]
    chunks += [(b"IDAT", zlib.compress(b"".join(_lines(digest, width, height, rows)), 1)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks)


def _palette(digest: bytes) -> bytes:
    """Return the colors: a light background, and others that depend on the text."""
    return b"\xf4\xf1\xea" + bytes(64 + byte // 2 for byte in digest[: 3 * (COLOURS - 1)])


def _lines(digest: bytes, width: int, height: int, rows: int) -> Iterator[bytes]:
    """Yield the pixels by rows of the grid. The right half mirrors the left."""
    for row in range(GRID):
        count = height * (row + 1) // GRID - height * row // GRID
        yield (b"\0" + (_line(digest, row, width) if row < rows else bytes(width))) * count


def _line(digest: bytes, row: int, width: int) -> bytes:
    half = GRID // 2
    left = [digest[(row * half + column) % len(digest)] % COLOURS for column in range(half)]
    colours = left + left[::-1]
    edges = [width * column // GRID for column in range(GRID + 1)]
    return b"".join(bytes([colours[at]]) * (edges[at + 1] - edges[at]) for at in range(GRID))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
