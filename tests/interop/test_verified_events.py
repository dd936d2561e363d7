"""Events that the published library for Node.js signs are verified by the JavaScript client."""

import pytest

from tests.interop.client_package import CLIENT
from tests.interop.node_script import run_script

pytestmark = pytest.mark.usefixtures("npm_packages")


def test_the_published_library_signs_what_the_client_verifies() -> None:
    assert run_script("standard_webhooks.js", str(CLIENT)) == {"verified": 41, "refused": 41}
