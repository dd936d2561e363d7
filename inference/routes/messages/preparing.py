"""Completes a request once the ledger has agreed: fetches what it names by URL, and counts the pages of its documents."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.limits import DOCUMENT_PAGES_MAX
from gateway.core.runtime.offload import offload
from inference.adapters import fetched_images
from inference.adapters.pages.count import UnreadablePdf, count_pages
from inference.metering.route import MeteredRequest
from inference.routes.messages import documents
from inference.routes.messages.bound import BoundedMessage
from inference.routes.messages.images import source_of
from inference.routes.messages.sources import SourceAt, with_sources
from inference.rules.images import CHAT_TYPES, read_image


async def prepare(http: MeteredRequest, request: BoundedMessage) -> BoundedMessage:
    """Replace the URLs of images and documents with the fetched data, and count the pages of documents.

    Raises ImageRejected or InvalidRequest naming the source, RateLimited, or NotReady.
    """
    if request.params.documents:
        request = await _with_documents(http, request)
    if not request.params.remote_images:
        return request
    fetched = await fetched_images.fetch_images(request.params.remote_images, http.take_memory)
    return await offload(_with_images, request, fetched)


async def _with_documents(http: MeteredRequest, request: BoundedMessage) -> BoundedMessage:
    of_message = request.params.documents
    files: dict[SourceAt, bytes] = await offload(_decoded, request, of_message.inline)
    http.take_memory(sum(map(len, files.values())))
    if of_message.remote:
        kind = fetched_images.DOCUMENTS
        files |= await fetched_images.fetch_images(of_message.remote, http.take_memory, kind=kind)
    for document in of_message.remote:
        documents.check_pdf(files[document], document.param)
    await _check_pages(files)
    fetched = {document: files[document] for document in of_message.remote}
    return await offload(_with_files, request, fetched) if fetched else request


async def _check_pages(files: Mapping[SourceAt, bytes]) -> None:
    """Check that all files together have no more pages than a message may. Raises InvalidRequest, or NotReady."""
    left = DOCUMENT_PAGES_MAX
    for document, data in files.items():
        try:
            left -= await count_pages(data, left)
        except UnreadablePdf as error:
            raise InvalidRequest(f"The document cannot be used: {error}.", param=document.param) from error
        if left < 0:
            text = f"The documents of a message may have at most {DOCUMENT_PAGES_MAX} pages together."
            raise InvalidRequest(text, param=document.param)


def _decoded(request: BoundedMessage, inline: Sequence[SourceAt]) -> dict[SourceAt, bytes]:
    return {document: documents.decode(document.source_in(request.body), document.param) for document in inline}


def _with_files(request: BoundedMessage, fetched: Mapping[SourceAt, bytes]) -> BoundedMessage:
    sources = {document: documents.source_of(data) for document, data in fetched.items()}
    return replace(request, body=with_sources(request.body, sources), is_large=True)


def _with_images(request: BoundedMessage, fetched: Mapping[SourceAt, bytes]) -> BoundedMessage:
    sources = {image: source_of(read_image(data, CHAT_TYPES, image.param)) for image, data in fetched.items()}
    return replace(request, body=with_sources(request.body, sources), is_large=True)
