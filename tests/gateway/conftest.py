"""What tests of the console share: a payment provider, for those who ask for one."""

from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401
