"""Routes of the model API."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
