"""Tests of what `deploy/` ships, on a database as an operator makes it."""

from collections.abc import Iterator

import pytest

from gateway.run.postgres import Cluster
from tests.deploy.operator import PASSWORD, Database, follow_the_guide
from tests.support.database import make_home


@pytest.fixture(scope="package")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Make a database as the guide says: prepared by its owner, then the script of the role, then the role's password."""
    database = Database(Cluster(make_home(), durable=False))
    database.cluster.start()
    try:
        database.run(f"CREATE ROLE owner LOGIN CREATEROLE PASSWORD '{PASSWORD}'")
        database.run("CREATE DATABASE made OWNER owner")
        database.run("CREATE DATABASE empty OWNER owner")
        follow_the_guide(tmp_path_factory.mktemp("owner"), database.url("owner", "made"))
        yield database
    finally:
        database.cluster.stop()
