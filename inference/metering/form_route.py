"""Reads a request whose body is a multipart form with a file, which is spooled to disk before any check."""

from collections.abc import Awaitable, Callable

from inference.metering.route import MeteredRequest
from inference.rules.form_body import FormBody


def form_reader(limit_bytes: int) -> Callable[[MeteredRequest], Awaitable[FormBody]]:
    """Return a reader of forms of at most `limit_bytes`. It raises the catalogue's error."""

    async def read_form(request: MeteredRequest) -> FormBody:
        form = await request.read_form(limit_bytes)
        return FormBody(form.fields, form.file, form.file_field, form.digest)

    return read_form
