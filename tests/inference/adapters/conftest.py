"""Fixtures of the adapters' tests: production's event loop, and no state from other tests."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import uvloop

from gateway.core.outbound.client import close_client
from gateway.core.outbound.distrust import distrust
from inference.metering import routing
from tests.support.upstream.fixtures import running_upstream, upstream  # noqa: F401


@pytest.fixture(scope="session")
def event_loop_policy() -> asyncio.AbstractEventLoopPolicy:
    return uvloop.EventLoopPolicy()


@pytest.fixture(autouse=True)
async def _clean_process() -> AsyncIterator[None]:
    routing.forget()
    distrust.forget()
    yield
    await close_client()
