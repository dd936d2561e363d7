"""One whole gateway for the tests that ask real questions."""

from tests.support.demo_house import demo_house

__all__ = ["demo_house"]
