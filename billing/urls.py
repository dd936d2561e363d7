"""Routes of wallets and usage."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
