"""Multipart forms, valid and invalid."""

from collections.abc import Sequence
from dataclasses import dataclass

BOUNDARY = "f0rm-boundary"


@dataclass(frozen=True)
class Form:
    """A form's bytes and their Content-Type."""

    content: bytes
    content_type: str = f"multipart/form-data; boundary={BOUNDARY}"


def part(content: bytes, disposition: str, *headers: str, boundary: str = BOUNDARY) -> bytes:
    """Render one part."""
    lines = [f"--{boundary}", f"Content-Disposition: {disposition}", *headers, "", ""]
    return "\r\n".join(lines).encode() + content + b"\r\n"


def field(name: str, value: str, boundary: str = BOUNDARY) -> bytes:
    """Render a field."""
    return part(value.encode(), f'form-data; name="{name}"', boundary=boundary)


def file_part(data: bytes, name: str = "file", filename: str = "a.wav", boundary: str = BOUNDARY) -> bytes:
    """Render a file."""
    disposition = f'form-data; name="{name}"; filename="{filename}"'
    return part(data, disposition, "Content-Type: application/octet-stream", boundary=boundary)


def form(data: bytes, fields: Sequence[tuple[str, str]], *, boundary: str = BOUNDARY) -> Form:
    """Build a complete form from fields and a file."""
    parts = [*(field(*each, boundary) for each in fields), file_part(data, boundary=boundary)]
    return whole(*parts, boundary=boundary)


def whole(*parts: bytes, boundary: str = BOUNDARY) -> Form:
    """Build a form from parts, with the closing boundary."""
    content = b"".join(parts) + f"--{boundary}--\r\n".encode()
    return Form(content, f"multipart/form-data; boundary={boundary}")
