"""The fakes that are put to the test."""

from tests.simulators.stripe_client import client  # noqa: F401
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401
from tests.support.upstream.fixtures import running_upstream, upstream  # noqa: F401
