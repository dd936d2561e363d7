"""What a call keeps beside its body is counted with it."""

import pytest

from gateway.core.contract.errors import NotReady
from gateway.core.http.lean.memory import BodyMemory, LargeBodies

KIB = 1024


@pytest.fixture
async def bodies(settings: pytest.FixtureRequest) -> LargeBodies:
    settings.LARGE_BODIES_MAX_BYTES = 900 * KIB  # type: ignore[attr-defined]
    return LargeBodies()


async def test_what_is_taken_beside_the_body_is_given_back_with_it(bodies: LargeBodies) -> None:
    memory = BodyMemory(bodies)
    memory.take(200 * KIB)
    memory.take(300 * KIB)
    assert bodies.parsed.lent_bytes == 500 * KIB
    memory.release()
    assert bodies.parsed.lent_bytes == 0


async def test_where_there_is_no_room_nobody_waits(bodies: LargeBodies) -> None:
    first, second = BodyMemory(bodies), BodyMemory(bodies)
    first.take(500 * KIB)
    with pytest.raises(NotReady) as refused:
        second.take(200 * KIB)
    assert refused.value.headers["Retry-After"] == "5"
    first.release()
    second.take(200 * KIB)
    second.release()


async def test_little_is_not_counted(bodies: LargeBodies) -> None:
    memory = BodyMemory(bodies)
    memory.take(64 * KIB)
    assert bodies.parsed.lent_bytes == 0
