"""Parses multipart/form-data (RFC 7578) as it arrives: fields into memory, the one file to disk, all bounded."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartState, parse_options_header

from gateway.core.contract.errors import InvalidRequest, UnsupportedMediaType
from gateway.core.contract.limits import (
    FORM_FIELD_MAX_BYTES,
    FORM_FIELDS_MAX_BYTES,
    FORM_HEADER_MAX_BYTES,
    FORM_HEADERS_MAX,
    FORM_NAME_MAX_BYTES,
    FORM_PARTS_MAX,
)
from gateway.core.runtime.spooled import SpooledFile

MEDIA_TYPE = b"multipart/form-data"
_BOUNDARY = re.compile(rb"[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]")
_NAME = re.compile(rb"[A-Za-z0-9_.\-\[\]]{1,%d}" % FORM_NAME_MAX_BYTES)
_CODINGS = (b"", b"7bit", b"8bit", b"binary")


@dataclass(frozen=True, slots=True)
class Form:
    """A parsed form: its fields in order, its file, the SHA-256 `digest` of both, which does not depend on the boundary, and
    that of the body as it was sent."""

    fields: Sequence[tuple[str, str]]
    file: SpooledFile
    file_field: str
    digest: bytes
    body_sha256: bytes


def boundary_of(content_types: Sequence[bytes]) -> bytes:
    """Read the boundary of the one Content-Type header. Raises UnsupportedMediaType or InvalidRequest."""
    media_type, options = parse_options_header(content_types[0]) if len(content_types) == 1 else (b"", {})
    if media_type != MEDIA_TYPE:
        raise UnsupportedMediaType(headers={"Accept": MEDIA_TYPE.decode()})
    boundary = options.get(b"boundary", b"")
    if not _BOUNDARY.fullmatch(boundary):
        raise InvalidRequest("The Content-Type needs a boundary of 1 to 70 characters (RFC 2046).")
    return boundary


class FormReader:
    """A form that is arriving. Every method may raise InvalidRequest with the part at fault."""

    def __init__(self, boundary: bytes, file: SpooledFile) -> None:
        self._file = file
        self._digest, self._body = hashlib.sha256(), hashlib.sha256()
        self._fields: list[tuple[str, str]] = []
        self._file_field: str | None = None
        self._parts = self._fields_bytes = 0
        self._headers: dict[bytes, bytes] = {}
        self._header, self._value = bytearray(), bytearray()
        self._name, self._is_file, self._text = "", False, bytearray()
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._begin_content,
                "on_part_data": self._add,
                "on_part_end": self._end_part,
            },
            max_header_count=FORM_HEADERS_MAX,
            max_header_size=FORM_HEADER_MAX_BYTES,
        )

    def feed(self, data: bytes) -> None:
        """Parse the next bytes. Raises OSError if the disk is full."""
        self._body.update(data)
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise InvalidRequest("The form cannot be read (RFC 7578).", private=str(error)) from error

    def finish(self) -> Form:
        """Return the form once it has arrived completely."""
        if self._parser.state != MultipartState.END:
            raise InvalidRequest("The form ends before its last boundary.")
        if self._file_field is None:
            raise InvalidRequest("The form has no file.", param="file")
        described = orjson.dumps([sorted(self._fields, key=lambda field: field[0]), self._file_field])
        digest = hashlib.sha256(self._digest.digest() + described).digest()
        return Form(tuple(self._fields), self._file, self._file_field, digest, self._body.digest())

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > FORM_PARTS_MAX:
            raise InvalidRequest(f"The form has more than {FORM_PARTS_MAX} parts.")
        self._headers = {}
        self._text = bytearray()

    def _end_header(self) -> None:
        name = bytes(self._header).lower()
        if name in self._headers:
            raise InvalidRequest("A part of the form has a header twice.")
        self._headers[name] = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _begin_content(self) -> None:
        disposition, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._name = _name_of(options.get(b"name", b"")) if disposition == b"form-data" else ""
        if not self._name:
            raise InvalidRequest("A part of the form has no name.")
        if self._headers.get(b"content-transfer-encoding", b"").strip().lower() not in _CODINGS:
            raise InvalidRequest("A part of the form has a transfer encoding.", param=self._name)
        self._is_file = b"filename" in options
        if self._is_file:
            if self._file_field is not None:
                raise InvalidRequest("The form has more than one file.", param=self._name)
            self._file_field = self._name

    def _add(self, data: bytes, start: int, end: int) -> None:
        piece = memoryview(data)[start:end]
        if self._is_file:
            self._digest.update(piece)
            self._file.write(piece)
            return
        self._text += piece
        self._fields_bytes += len(piece)
        if len(self._text) > FORM_FIELD_MAX_BYTES or self._fields_bytes > FORM_FIELDS_MAX_BYTES:
            raise InvalidRequest(f"A field may have at most {FORM_FIELD_MAX_BYTES} bytes.", param=self._name)

    def _end_part(self) -> None:
        if self._is_file:
            return
        try:
            text = self._text.decode()
        except UnicodeDecodeError as error:
            raise InvalidRequest("A field of the form is not UTF-8.", param=self._name) from error
        if "\0" in text:
            raise InvalidRequest("A field of the form has a NUL character.", param=self._name)
        self._fields.append((self._name, text))


def _name_of(sent: bytes) -> str:
    """Return a part's name, or an empty one if it is not a name that an API would use."""
    return sent.decode("ascii") if _NAME.fullmatch(sent) else ""
