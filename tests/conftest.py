"""Readies every test session: a real PostgreSQL, then Django's settings, which read its address."""

import os

from tests.support.database import provide_data_dir, provide_database

os.environ["DATABASE_URL"] = provide_database()
# A developer's own gateway in `.data` must neither steer the tests nor be touched by them.
os.environ["DATA_DIR"] = provide_data_dir()
# The gateways that tests start share what the first of them collects; the session's own process reads none of it.
os.environ["STATIC_ROOT"] = f"{os.environ['DATA_DIR']}/static"
os.environ["DJANGO_SETTINGS_MODULE"] = "gateway.settings.test"

import django

django.setup()

from tests.support.demo_house import demo_house  # noqa: E402, F401
from tests.support.leftovers import django_db_setup, flush_passes_guards, nothing_left_behind  # noqa: E402, F401
from tests.support.logs import fresh_logs  # noqa: E402, F401
from tests.support.signing_keys import fresh_signing_keys  # noqa: E402, F401
