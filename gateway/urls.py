"""Every address of the gateway. The metered routes are served from `inference.urls` by the lean handler."""

from django.contrib import admin
from django.urls import include, path

from gateway.health import healthz

urlpatterns = [
    path("healthz", healthz),
    path("admin/", admin.site.urls),
    path("", include("accounts.urls")),
    path("", include("billing.urls")),
    path("", include("inference.urls")),
]
