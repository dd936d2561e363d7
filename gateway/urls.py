"""The gateway's URLconf. The lean handler serves the metered routes from `inference.urls` and `judgement.urls`."""

from django.contrib import admin
from django.urls import include, path

from gateway import error_reference, llms, reference
from gateway.health import healthz, livez, readyz

handler500 = "gateway.core.http.boundary.server_error"

urlpatterns = [
    path("healthz", healthz),
    path("livez", livez),
    path("readyz", readyz),
    path("openapi.json", reference.openapi),
    path("docs", reference.page, name="reference"),
    path("docs/errors", error_reference.page, name="errors"),
    path("llms.txt", llms.page),
    path("admin/", admin.site.urls),
    path("", include("accounts.urls")),
    path("", include("accounts.portal.urls")),
    path("", include("billing.urls")),
    path("", include("billing.portal.urls")),
    path("", include("organizations.urls")),
    path("", include("organizations.portal.urls")),
    path("", include("inference.urls")),
    path("", include("integrations.urls")),
    path("", include("judgement.urls")),
]
