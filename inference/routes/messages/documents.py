"""Finds the PDF files in a request's messages, and checks them. Their pages are counted once the ledger has agreed."""

import base64
import binascii
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import DOCUMENT_MAX_BYTES, DOCUMENTS_MAX
from gateway.core.contract.values import value_class
from gateway.core.outbound.public_addresses import is_public_https
from inference.routes.messages.sources import Source, SourceAt, Sources, sources_of
from inference.rules.images import decoded

PDF_TYPE = "application/pdf"
_HEADER = b"%PDF-"
_HEADER_WITHIN_BYTES = 1024
"""Where readers look for the header of a PDF file."""

_NOTHING: Source = {"type": "base64", "media_type": PDF_TYPE, "data": ""}
"""Stands for a file until it is fetched: no upstream ever gets its address."""


@value_class(frozen=True, slots=True)
class Documents:
    """The PDF files of a request: those in it, and those to fetch."""

    inline: tuple[SourceAt, ...] = ()
    remote: tuple[SourceAt, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.inline or self.remote)

    @property
    def to_fetch(self) -> Sources:
        """Return what stands for the files that are not fetched yet."""
        return dict.fromkeys(self.remote, _NOTHING)


def read_documents(messages: list[Any]) -> Documents:
    """Check the source of each document. Raises InvalidRequest naming the member at fault."""
    inline, remote = [], []
    for path, source in sources_of(messages, "document"):
        if source["type"] == "url":
            document = SourceAt(path, source["url"])
            if not is_public_https(document.url):
                raise InvalidRequest("A document must be at a public https URL.", param=document.param)
            remote.append(document)
        elif source["type"] == "base64":
            document = SourceAt(path, "")
            if source.get("media_type") != PDF_TYPE:
                raise InvalidRequest(f"media_type must be {PDF_TYPE}.", param=f"{document.param}.media_type")
            check_pdf(decode(source, document.param), document.param)
            inline.append(document)
    both = (*inline, *remote)
    if len(both) > DOCUMENTS_MAX:
        raise InvalidRequest(f"At most {DOCUMENTS_MAX} documents may be PDF files.", param=both[DOCUMENTS_MAX].param)
    return Documents(tuple(inline), tuple(remote))


def decode(source: Source, param: str) -> bytes:
    """Return the bytes of a file. Raises InvalidRequest."""
    try:
        return decoded(source["data"])
    except (binascii.Error, ValueError):  # ValueError: a character beyond ASCII
        raise InvalidRequest("The document's data is not base64.", param=f"{param}.data") from None


def check_pdf(data: bytes, param: str) -> None:
    """Check a file's size and header. Raises InvalidRequest."""
    if len(data) > DOCUMENT_MAX_BYTES:
        raise InvalidRequest(f"A document may have at most {DOCUMENT_MAX_BYTES} bytes.", param=param)
    if _HEADER not in data[:_HEADER_WITHIN_BYTES]:
        raise InvalidRequest("The document is not a PDF file.", param=param)


def source_of(data: bytes) -> Source:
    """Return the source of a file's bytes."""
    return {**_NOTHING, "data": base64.b64encode(data).decode()}
