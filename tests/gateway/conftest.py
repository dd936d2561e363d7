"""What tests of the console share: a running gateway and a payment provider, for those who ask for one."""

from tests.support.stage_fixtures import gateway  # noqa: F401
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401
