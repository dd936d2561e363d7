"""Fixtures of the adapters' tests: the event loop of production, and nothing left over from another test."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import uvloop

from gateway.core.outbound.session import close_session
from inference.metering import routing
from tests.support.upstream import FakeUpstream


@pytest.fixture(scope="session")
def event_loop_policy() -> asyncio.AbstractEventLoopPolicy:
    return uvloop.EventLoopPolicy()


@pytest.fixture(autouse=True)
async def _clean_process() -> AsyncIterator[None]:
    routing.forget()
    yield
    await close_session()


@pytest.fixture(scope="session")
def _running_upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream() as upstream:
        yield upstream


@pytest.fixture
def upstream(_running_upstream: FakeUpstream) -> FakeUpstream:
    _running_upstream.reset()
    return _running_upstream
