"""A route that is unlike chat: a multipart request, an answer of bytes, priced by kind, counted in the answer.

A request may depend on a record, and the route stores a row of its own when a call is settled.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Container, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import aiohttp
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http.multipartparser import MultiPartParser

from accounts.rules.principal import Principal
from billing.rules.quantities import MalformedUsage, Quantities
from gateway.core.api.access import requires_model
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ApiError, InvalidRequest, NotFound, UpstreamError
from gateway.core.database import BatchFunction, ledger_connection
from gateway.core.http.lean import LeanAnswer, LeanRequest
from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.client import Body
from gateway.core.outbound.response import Response
from inference.adapters.http_endpoint import HttpEndpoint
from inference.interface.answer import Answer, Chunk, Content
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import BoundedRequest, StreamedRequest, StreamFormat, StreamMeter
from inference.interface.upstream import Attempt, StreamBroken
from inference.metering.route import MeteredRequest, MeteredRoute, PendingRequest
from inference.metering.serving import MeteredViewSet
from inference.rules.terms import within
from inference.vendors.demo.endpoint import DemoEndpoint

PICTURE = b"\x89PICTURE"
CLOSE_AND_KEEP = BatchFunction(0, "test_close_and_keep")
SQL = """
CREATE TABLE IF NOT EXISTS test_kept (usage_id text PRIMARY KEY, note text);
CREATE OR REPLACE FUNCTION test_close_and_keep(p_closings json, p_bodies bytea[], p_wait boolean)
RETURNS TABLE (answer json, body bytea) LANGUAGE plpgsql AS $$
DECLARE
  v_row record;
BEGIN
  FOR v_row IN
    SELECT c.* FROM ROWS FROM (json_array_elements(p_closings), billing_close_calls(p_closings, p_bodies, p_wait))
                 AS c (closing, answer, body)
  LOOP
    IF v_row.answer->>'outcome' IN ('settled', 'review') AND v_row.closing->'kept' IS NOT NULL THEN
      INSERT INTO test_kept VALUES (v_row.closing->>'usage_id', v_row.closing->'kept'->>'note');
    END IF;
    answer := v_row.answer;
    body := v_row.body;
    RETURN NEXT;
  END LOOP;
END $$
"""
FORGET_SQL = "DROP FUNCTION test_close_and_keep; DROP TABLE test_kept"


@dataclass(frozen=True)
class Upload:
    """The received form."""

    fields: Mapping[str, str]
    file: bytes
    digest: bytes
    body_sha256: bytes
    is_large: bool = False

    @property
    def model(self) -> str:
        """Return the field `model`."""
        if "model" not in self.fields:
            raise InvalidRequest("model must be the name of a model.", param="model")
        return self.fields["model"]


@dataclass(frozen=True)
class AfterRecord(PendingRequest[Upload]):
    """A request that depends on a wallet of the caller."""

    upload: Upload

    async def load(self, principal: Principal, take_memory: Callable[[int], None]) -> Upload:
        """Find the wallet that the form names."""
        wanted = [principal.did, self.upload.fields["wallet"]]
        async with ledger_connection() as connection:
            if not await connection.run("SELECT 1 FROM billing_wallet WHERE owner_key = $1 AND id = $2", wanted):
                raise NotFound(param="wallet")
        return self.upload


@dataclass(frozen=True)
class BoundedPictures(BoundedRequest):
    """A form with its hold."""

    hold_microusd: int
    upload: Upload

    @property
    def members(self) -> Container[str]:
        """Return the names of the form's fields."""
        return self.upload.fields

    @property
    def needs_preparing(self) -> bool:
        """Return whether the form multiplies the number of pictures."""
        return "times" in self.upload.fields

    def quantities(self, body: bytes) -> Quantities:
        """Count pictures."""
        return Quantities(images=body.count(PICTURE), image_kind=self.upload.fields["kind"])

    def usage(self, answer: Answer) -> Quantities:
        """Count the answer's pictures."""
        return self.quantities(answer.body)

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Forward the bytes."""
        return Content("image/x-test", answer.body)

    def stored(self, answer: Answer) -> Mapping[str, Any]:
        """Store a note of the size."""
        return {"note": f"{len(answer.body)} bytes"}


class StreamedPictures(BoundedPictures, StreamedRequest):
    """A form that is answered with a stream."""

    def meter(self) -> "PictureMeter":
        """Return the meter that counts pictures as they arrive."""
        return PictureMeter(self)

    def stream_format(self, public_model: str, public_id: str, meter: StreamMeter) -> "PictureFormat":
        """Return the format of raw bytes."""
        return PictureFormat()


class PictureMeter(StreamMeter):
    """Counts the pictures of a stream, unless the form requests pictures that cannot be counted, or too many."""

    def __init__(self, request: BoundedPictures) -> None:
        self._request, self._body = request, b""

    def add(self, chunk: Chunk) -> None:
        """Add a chunk."""
        self._body += chunk.data

    @property
    def is_beyond_limit(self) -> bool:
        """Return whether the limit was one picture, and it has arrived."""
        return self._request.upload.fields["stream"] == "beyond" and bool(self._body)

    def reported(self) -> Quantities:
        """Count the pictures. Raises MalformedUsage if the form requests that."""
        if self._request.upload.fields["stream"] == "uncountable":
            raise MalformedUsage("half a picture")
        return self.delivered()

    def delivered(self) -> Quantities:
        """Count the pictures that arrived."""
        return self._request.quantities(self._body)

    def stored(self) -> Mapping[str, Any]:
        """Store a note that the answer was streamed."""
        return {"note": "streamed"}


class PictureFormat(StreamFormat):
    """Raw bytes."""

    media_type = "image/x-test"
    terminator = b""

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Return nothing, because raw bytes cannot contain an error."""
        return b""

    def cut(self) -> bytes:
        """Return nothing, because raw bytes cannot contain an ending."""
        return b""


class UpstreamPictures(HttpEndpoint[BoundedPictures]):
    """Forwards the form, and reads bytes."""

    path = "/pictures"
    accept = "image/x-test"

    async def payload(self, attempt: Attempt[BoundedPictures], *, streams: bool) -> Body:
        """Build a form with the upstream's model name."""
        form = aiohttp.FormData({"model": attempt.upstream_model})
        form.add_field("file", attempt.request.upload.file, filename="a.bin")
        written = form()
        return Body(written.headers["Content-Type"], written)

    async def read(self, attempt: Attempt[BoundedPictures], response: Response) -> Answer:
        """Read the bytes."""
        return Answer(await read_bounded(response.content, 1024), None)


class DemoPictures(DemoEndpoint[BoundedPictures]):
    """Streams two pictures."""

    async def answer(self, attempt: Attempt[BoundedPictures]) -> Answer:
        """Return both at once."""
        return Answer(PICTURE * 2, None)

    async def chunks(self, attempt: Attempt[BoundedPictures]) -> AsyncIterator[Chunk]:
        """Yield one after the other, or break off between them."""
        yield Chunk(PICTURE)
        if attempt.request.upload.fields["stream"] == "broken":
            raise StreamBroken(UpstreamError(), "cut")
        yield Chunk(PICTURE)


async def read_form(request: MeteredRequest) -> Upload:
    """Read a multipart form."""
    body = await request.read_body(1024 * 1024)
    content_type = dict(request.raw_headers)[b"content-type"].decode()
    meta = {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": len(body)}
    handlers = [MemoryFileUploadHandler()]
    fields, files = MultiPartParser(meta, BytesIO(body), handlers).parse()
    sent = {name: str(fields[name]) for name in fields}
    digest = hashlib.sha256(body).digest()
    return Upload(sent, files.get("file").read(), digest, digest)  # type: ignore[union-attr]


def check(upload: Upload, model: ServedModel) -> Upload | AfterRecord:
    """Return a request that loads a record if the form names one."""
    return AfterRecord(upload) if "wallet" in upload.fields else upload


def bound(upload: Upload, model: ServedModel, price: PriceVersion, max_cost_microusd: int) -> BoundedPictures:
    """Hold four pictures."""
    most = Quantities(images=4, image_kind=upload.fields["kind"])
    hold = within(price.worst_case.cost_microusd(most), max_cost_microusd)
    kind = StreamedPictures if "stream" in upload.fields else BoundedPictures
    return kind(hold, upload)


async def prepare(http: MeteredRequest, request: BoundedPictures) -> BoundedPictures:
    """Multiply the hold by the number that the form requests."""
    return replace(request, hold_microusd=request.hold_microusd * int(request.upload.fields["times"]))


PICTURES = MeteredRoute(
    name=Route.IMAGES,
    id_prefix="img",
    read=read_form,
    check=check,
    bound=bound,
    prepare=prepare,
    endpoints={"openai": UpstreamPictures(), "demo": DemoPictures()},
    scopes=lambda model: (f"infer:{model}", "wallet:read"),
    close_function=CLOSE_AND_KEEP,
)


class PictureViewSet(MeteredViewSet):
    """The route's viewset."""

    route = PICTURES

    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Make pictures."""
        return await self.serve(request)
