"""The database that every test of this project runs on."""

import pytest
from django.db import connection


@pytest.mark.django_db
def test_is_a_postgresql_of_its_own() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database(), current_setting('listen_addresses'), current_setting('fsync')")
        name, addresses, fsync = cursor.fetchone()
    assert name.startswith("test_")
    assert (addresses, fsync) == ("127.0.0.1", "off")
