"""Start-up checks of the inference app."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register

from inference.metering.served import routes
from inference.models import Upstream


@register()
def adapters_have_endpoints(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse an adapter without an endpoint on any route, and an endpoint of an adapter that no upstream can have."""
    served = {key if isinstance(key, str) else key[0] for route, _ in routes().values() for key in route.endpoints}
    known = set(Upstream.Adapter)
    return [
        *(
            Error(f"No route has an endpoint for the adapter {name}.", id="inference.E001")
            for name in sorted(known - served)
        ),
        *(
            Error(f"No upstream can have the adapter {name} of an endpoint.", id="inference.E002")
            for name in sorted(served - known)
        ),
    ]
