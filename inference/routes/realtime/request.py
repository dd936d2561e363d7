"""Reads what a handshake asks for: the model, and the prices that bound its session."""

import hashlib
from dataclasses import dataclass
from urllib.parse import parse_qsl

from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel


@dataclass(frozen=True, slots=True)
class RealtimeQuery:
    """The query of a handshake, which takes the place of a body. `name` is None if it names no model."""

    name: str | None
    is_large: bool = False
    body_sha256: None = None

    @property
    def model(self) -> str:
        """Return the model's name, or raise InvalidRequest."""
        if not self.name:
            raise InvalidRequest("Name the model in the query: ?model=realtime.", param="model")
        return self.name

    @property
    def digest(self) -> bytes:
        """Return the digest that identifies a repeated handshake."""
        return hashlib.sha256(self.model.encode()).digest()


@dataclass(frozen=True, slots=True)
class RealtimeRequest:
    """A valid handshake for a model that serves sessions."""

    model: str
    is_large: bool = False


def read_query(query: bytes) -> RealtimeQuery:
    """Read the query, which names the model once and nothing else. Raises InvalidRequest."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=8)
    except ValueError as error:
        raise InvalidRequest("The query cannot be read.", private=str(error)) from None
    unknown = next((name for name, _ in pairs if name != "model"), None)
    if unknown is not None:
        raise InvalidRequest(f"{unknown[:64]} is not supported in the query.", param=unknown[:64])
    if len(pairs) > 1:
        raise InvalidRequest("Name one model.", param="model")
    return RealtimeQuery(pairs[0][1] if pairs else None)


def check_request(query: RealtimeQuery, model: ServedModel) -> RealtimeRequest:
    """Return the valid request."""
    return RealtimeRequest(query.model)
