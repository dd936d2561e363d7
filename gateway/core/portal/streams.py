"""Sends files piece by piece, without holding a database connection while a piece is sent."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.db import connections
from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

Piece = TypeVar("Piece", str, bytes)
END: Any = object()


def file_response(name: str, content_type: str, pieces: Iterator[Piece]) -> StreamingHttpResponse:
    """Respond with a file of that name to download. Each piece is made when it is sent."""
    disposition = content_disposition_header(as_attachment=True, filename=name) or "attachment"
    return StreamingHttpResponse(_sent(pieces), content_type=content_type, headers={"Content-Disposition": disposition})


async def _sent(pieces: Iterator[Piece]) -> AsyncIterator[Piece]:
    take = sync_to_async(_take)
    while (piece := await take(pieces)) is not END:
        yield piece


def _take(pieces: Iterator[Piece]) -> Piece:
    """Make the next piece, then return the database connection that it was read with."""
    try:
        return next(pieces, END)
    finally:
        for connection in connections.all(initialized_only=True):
            if not connection.in_atomic_block:  # a transaction belongs to the caller, who continues it
                connection.close_if_unusable_or_obsolete()
