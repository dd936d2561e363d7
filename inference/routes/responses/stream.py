"""The stream format of a response: ends a stream early, and withholds its last event."""

from gateway.core.contract.errors import ApiError
from inference.interface.request import StreamFormat
from inference.routes.responses.events import render
from inference.routes.responses.progress import Progress

SERVER_ERROR = "server_error"
"""The vendor's error code for a failure that the caller did not cause, one of the few that its SDKs support."""


class ResponseFormat(StreamFormat):
    """Events of a response. The last one is withheld until the call is settled, so that a client that has read it can
    read the stored response."""

    def __init__(self, public_model: str, public_id: str, progress: Progress) -> None:
        self._names = public_model, public_id
        self._progress = progress

    @property
    def terminator(self) -> bytes:
        """Render the upstream's last event, unless the gateway has ended the stream in its place."""
        last = self._progress.last
        return render(last) if last is not None and not self._progress.ended_here else b""

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render an error as the vendor does: the event `error`, which its SDKs raise, then `response.failed`."""
        body = error.body(request_id)["error"]
        members = {name: body[name] for name in ("code", "message", "param")}
        event = self._progress.number({"type": "error", **members, "error": body})
        failed = self._progress.end(
            *self._names, status="failed", error={"code": SERVER_ERROR, "message": error.message}
        )
        return render(event) + render(failed)

    def cut(self) -> bytes:
        """Render the event that ends a response at its output limit."""
        details = {"reason": "max_output_tokens"}
        return render(self._progress.end(*self._names, status="incomplete", incomplete_details=details))
