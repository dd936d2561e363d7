"""The gateway's URLconf. The lean handler serves the metered routes from `inference.urls` and `judgement.urls`.

The pages for people are imported at their first use: they take a quarter of the memory of a process that serves only the API.
"""

from django.urls import include, path

from gateway import error_reference, llms, reference
from gateway.core.django_internals import pages
from gateway.health import healthz, livez, readyz

handler500 = "gateway.core.http.boundary.server_error"

urlpatterns = [
    # First, since one look tells whether an address is the console's: its pages would be compared with each route of the API.
    pages("gateway.console_urls", prefix="admin/", namespace="admin"),
    path("healthz", healthz),
    path("livez", livez),
    path("readyz", readyz),
    path("openapi.json", reference.openapi),
    path("docs", reference.page, name="reference"),
    path("docs/errors", error_reference.page, name="errors"),
    path("llms.txt", llms.page),
    path("", include("accounts.urls")),
    path("", include("billing.urls")),
    path("", include("organizations.urls")),
    path("", include("inference.urls")),
    path("", include("integrations.urls")),
    path("", include("judgement.urls")),
    pages("accounts.portal.urls"),
    pages("billing.portal.urls"),
    pages("organizations.portal.urls"),
]
