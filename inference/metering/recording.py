"""Keeps what a stream sent, for a repeated request."""

from collections.abc import Mapping

from billing.operations.ledger import Replay
from inference.metering.answers import REPLAY_MAX_BYTES, WholeAnswer, kept


class Recording:
    """The bytes of one stream, dropped as soon as they are too many to be kept."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers
        self._pieces: list[bytes] | None = []
        self._size_bytes = 0

    def add(self, piece: bytes) -> None:
        """Keep one more piece."""
        if self._pieces is None:
            return
        self._pieces.append(piece)
        self._size_bytes += len(piece)
        if self._size_bytes > REPLAY_MAX_BYTES:
            self._pieces = None

    def ended_by(self, ending: bytes) -> Replay | None:
        """Return the whole stream with its last bytes, or None where it is too long."""
        if self._pieces is None:
            return None
        return kept(WholeAnswer(200, self._headers, b"".join([*self._pieces, ending])))
