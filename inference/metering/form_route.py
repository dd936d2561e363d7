"""Reads a request whose body is a form with a file, which is on disk before anything is checked of it."""

from gateway.core.contract.limits import AUDIO_BODY_MAX_BYTES
from inference.metering.route import MeteredRequest
from inference.rules.form_body import FormBody


async def read_form(request: MeteredRequest) -> FormBody:
    """Read the form. Raises the catalogue's error."""
    form = await request.read_form(AUDIO_BODY_MAX_BYTES)
    return FormBody(form.fields, form.file, form.file_field, form.digest)
