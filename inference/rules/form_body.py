"""Requests that are a form with a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.core.contract.errors import InvalidRequest


class SpooledFile(Protocol):
    """A file on disk that stays while it is kept. Reads may come from any thread."""

    size_bytes: int

    def read_at(self, offset: int, size_bytes: int) -> bytes: ...

    def fileno(self) -> int: ...

    def keep(self) -> None: ...

    def release(self) -> None: ...


@dataclass(frozen=True, slots=True)
class FormBody:
    """A form: its fields in order, by their sent names, and its one file. Checking it does not read the file."""

    fields: Sequence[tuple[str, str]]
    file: SpooledFile
    file_field: str
    digest: bytes
    body_sha256: bytes

    @property
    def is_large(self) -> bool:
        """Return False: its fields are small (`FORM_FIELDS_MAX_BYTES`)."""
        return False

    @property
    def model(self) -> str:
        """Return the field `model`, or raise InvalidRequest."""
        if not (name := self.one("model")):
            raise InvalidRequest("model must be the name of a model.", param="model")
        return name

    def one(self, name: str) -> str | None:
        """Return the value of a field that may be sent once, None if it is not. Raises InvalidRequest."""
        found = [(field, value) for field, value in self.fields if base_name(field) == name]
        if len(found) > 1 or (found and found[0][0] != name):
            raise InvalidRequest(f"{name} may be sent once, and as one value.", param=name)
        return found[0][1] if found else None

    def flag(self, name: str) -> bool:
        """Read a field that is true or false, or raise InvalidRequest."""
        sent = self.one(name)
        if sent not in (None, "", "true", "false", "True", "False"):
            raise InvalidRequest(f"{name} must be true or false.", param=name)
        return sent in ("true", "True")


def base_name(field: str) -> str:
    """Return the member that a field belongs to: `include` for `include[]`."""
    return field.partition("[")[0]
