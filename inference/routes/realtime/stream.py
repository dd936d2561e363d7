"""The interface of a session's upstream side."""

from abc import abstractmethod
from dataclasses import dataclass

from inference.interface.answer import Chunk
from inference.interface.upstream import Stream


@dataclass(slots=True)
class BinaryChunk(Chunk):
    """A binary frame."""


class SessionStream(Stream):
    """One side of a session, which can also be written to."""

    @abstractmethod
    async def send(self, frame: bytes, *, is_binary: bool = False) -> None:
        """Send a frame, waiting while the upstream does not read. Raises StreamBroken."""
