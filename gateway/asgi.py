"""The ASGI application.

Model routes and the health checks run on the event loop, everything else through Django, WebSockets through Channels.
"""

from gateway.core.runtime.startup import load_settings

STARTUP_FAILED = 3
"""The exit code with which uvicorn's workers make their parent stop instead of restarting them."""

load_settings(exit_code=STARTUP_FAILED)

import django  # noqa: E402

django.setup()

from gateway.static_files import collect_static_files  # noqa: E402

collect_static_files()  # before the middleware reads them

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import path, re_path  # noqa: E402

from gateway.core.database.bounded import serve_requests  # noqa: E402
from gateway.core.http.lean import LeanHandler  # noqa: E402
from gateway.core.http.request_log import RequestLog  # noqa: E402
from gateway.core.http.server.django_handler import DjangoHandler  # noqa: E402
from gateway.core.http.server.proxies import trust_proxies  # noqa: E402
from gateway.core.http.server.router import HttpRouter  # noqa: E402
from gateway.core.http.server.websockets import refuse_websocket  # noqa: E402
from gateway.health import healthz, livez, readyz  # noqa: E402
from gateway.server.lifespan import Lifespan  # noqa: E402
from inference.routes.realtime.application import serve_realtime  # noqa: E402
from inference.urls import metered_urlpatterns as model_urlpatterns  # noqa: E402
from inference.urls import session_urlpatterns  # noqa: E402
from judgement.urls import metered_urlpatterns as judgement_urlpatterns  # noqa: E402

serve_requests()
health = [path("healthz", healthz), path("livez", livez), path("readyz", readyz)]
on_the_loop = [*health, *model_urlpatterns, *judgement_urlpatterns, *session_urlpatterns]
sockets = [
    path("v1/realtime", serve_realtime),  # type: ignore[arg-type] # an application, which is what Channels routes to
    re_path("", refuse_websocket),  # type: ignore[arg-type]
]

lean = LeanHandler(on_the_loop)
application = trust_proxies(
    settings.TRUSTED_PROXIES,
    ProtocolTypeRouter(
        {
            "http": HttpRouter(lean, DjangoHandler()),
            "websocket": URLRouter(sockets),
            "lifespan": Lifespan(),
        }
    ),
)
if settings.LOG_REQUESTS:
    application = RequestLog(application, lean.route_of)
