"""Adapters by the name that an upstream's row gives."""

from django.conf import settings

from inference.adapters.base import Adapter
from inference.adapters.demo import DemoAdapter
from inference.adapters.openai import OpenAIAdapter

_ADAPTERS: dict[str, Adapter] = {adapter.name: adapter for adapter in (DemoAdapter(), OpenAIAdapter())}


def adapter_named(name: str) -> Adapter | None:
    """Give an adapter, or None for a protocol that this gateway does not speak, or may not: the demo in production."""
    if name == DemoAdapter.name and not settings.DEMO_ADAPTER:
        return None
    return _ADAPTERS.get(name)
