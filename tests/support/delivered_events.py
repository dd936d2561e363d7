"""An endpoint of a running gateway, set up as a page says, and a test event that the gateway delivers to it."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.pages import Reader
from tests.support.signed_events import SECRET

SEND = """
from django.utils import timezone
from gateway.core.events.models import Endpoint
from gateway.core.events.operations.endpoints import send_test
send_test(Endpoint.objects.get(name="studio").pk, now=timezone.now())
"""
FORGET = """
from gateway.core.events.models import Endpoint
Endpoint.objects.all().delete()
"""


@contextmanager
def sent_test_event(reader: Reader) -> Iterator[None]:
    """Apply the page's configuration, with SECRET, and send a test event; forget the endpoint afterwards."""
    configuration = reader.folder / "events.yaml"
    configuration.write_text(reader.as_here(reader.page.code("yaml")))
    applied = reader.gateway.run("manage.py", "apply", str(configuration), STUDIO_EVENTS_SECRET=SECRET)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    try:
        sent = reader.gateway.manage("shell", "-c", SEND)
        assert sent.returncode == 0, sent.stdout + sent.stderr
        yield
    finally:
        reader.gateway.manage("shell", "-c", FORGET)
