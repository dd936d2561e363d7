"""The operator console's URLs. Their import, by the first page for people, finds the pages of every app's tables."""

from django.contrib import admin

admin.autodiscover()
urlpatterns, _, _ = admin.site.urls
