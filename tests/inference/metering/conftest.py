"""Fixtures: a gateway with the picture route, and an upstream that accepts forms and answers with bytes."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from channels.routing import ProtocolTypeRouter
from django.db import connection
from django.urls import path

from gateway.core.http.lean import LeanHandler
from gateway.server.lifespan import Lifespan
from tests.inference.metering.pictures import FORGET_SQL, PICTURE, SQL, PictureViewSet
from tests.support.server_thread import http_server
from tests.support.serving import RunningGateway
from tests.support.stage_fixtures import db, stage, upstream  # noqa: F401


@pytest.fixture(scope="package")
def gateway(django_db_setup: None, django_db_blocker: Any) -> Iterator[RunningGateway]:
    with django_db_blocker.unblock():
        with connection.cursor() as cursor:
            cursor.execute(SQL)
        handler = LeanHandler([path("v1/pictures", PictureViewSet.as_view({"post": "create"}))])
        with RunningGateway(ProtocolTypeRouter({"http": handler, "lifespan": Lifespan()})) as running:
            yield running
        with connection.cursor() as cursor:
            cursor.execute(FORGET_SQL)


class PictureUpstream(ThreadingHTTPServer):
    """Answers each form with two pictures, or with the status and body in `answer`. `forms` holds the received forms."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.forms: list[tuple[str, bytes]] = []
        self.answer = (200, PICTURE * 2, len(PICTURE) * 2)

    @property
    def base_url(self) -> str:
        """Return the base URL for an upstream's row."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: PictureUpstream

    def do_POST(self) -> None:
        """Record the form, and answer."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.forms.append((self.headers["Content-Type"], body))
        status, body, length = self.server.answer
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def pictures() -> Iterator[PictureUpstream]:
    server = PictureUpstream()
    with http_server(server):
        yield server
