"""Readies every test session: a real PostgreSQL, then Django's settings, which read its address."""

import atexit
import os

from tests.support.database import BEGINS_THE_SESSION, OWN_VARIABLE, provide_data_dir, provide_database

# As for `make test`: each process that tests start would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["DATABASE_URL"] = provide_database()
# A developer's own gateway in `.data` must neither steer the tests nor be touched by them.
os.environ["DATA_DIR"] = provide_data_dir()
# A folder for each database: every gateway of this process, and every one that it starts on its database, reads it.
os.environ["CALL_JOURNAL_DIR"] = f"{os.environ['DATA_DIR']}/journal-{os.getpid()}"
# The threads of numpy wait for each other in loops: where other tests are on the cores, this takes most of their time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Runs are bounded alike on every machine; tests of cgroups name theirs.
os.environ.setdefault("SANDBOX_CGROUP", "none")
# The gateways that tests start share the static files that the first one collects; the test process itself needs none.
os.environ["STATIC_ROOT"] = f"{os.environ['DATA_DIR']}/static"
os.environ["DJANGO_SETTINGS_MODULE"] = "gateway.settings.test"

import django
import hypothesis

django.setup()

import gateway.console_urls  # noqa: E402, F401 (a test that looks up a table of the console may be the first)
from billing.operations import finality  # noqa: E402
from gateway.core.runtime import snapshots  # noqa: E402
from gateway.run import ports  # noqa: E402
from tests.inference.misbehaviour.summary import pytest_terminal_summary  # noqa: E402, F401
from tests.support.concurrency import PATIENCE_SECONDS  # noqa: E402
from tests.support.demo_gateway import demo_gateway  # noqa: E402, F401
from tests.support.integrations import integrations_gateway  # noqa: E402, F401
from tests.support.leftovers import (  # noqa: E402
    django_db_keepdb,  # noqa: F401
    django_db_modify_db_settings,  # noqa: F401
    django_db_setup,  # noqa: F401
    flush_of_filled_tables,  # noqa: F401
    fresh_process,  # noqa: F401
    nothing_left_behind,  # noqa: F401
)
from tests.support.migrated import drop_template  # noqa: E402
from tests.support.prepared_audit import prepared_audit  # noqa: E402, F401
from tests.support.schedule import (  # noqa: E402
    pytest_collection,  # noqa: F401
    pytest_collection_modifyitems,  # noqa: F401
    pytest_configure,  # noqa: F401
    pytest_make_collect_report,  # noqa: F401
    pytest_runtest_teardown,  # noqa: F401
    pytest_xdist_make_scheduler,  # noqa: F401
)
from tests.support.sent_reports import pytest_runtest_makereport  # noqa: E402, F401

# On a busy machine, any example of hypothesis may take longer than its deadline, and making ten longer than a second.
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")

# On a machine that is busy with tests, reading the catalogue can take longer than a request would wait for it.
snapshots.WAIT_SECONDS = 20.0
# Jobs wait for the transactions of every database on the server, and another worker's test may be a long one.
finality.WAIT_SECONDS = PATIENCE_SECONDS

if BEGINS_THE_SESSION and OWN_VARIABLE not in os.environ:
    atexit.register(drop_template)

# Each worker has ports of its own: one that another takes for a server, which is only starting, looks free.
_worker, _workers = os.environ.get("PYTEST_XDIST_WORKER", "gw0"), os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
ports.LISTENER_PORTS = ports.LISTENER_PORTS[int(_worker.removeprefix("gw")) :: int(_workers)]
