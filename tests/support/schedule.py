"""How the suite is shared among pytest-xdist's workers.

Files that use one whole gateway run on one worker, so that it starts once. Packages whose tests mostly wait, for processes
and browsers, alternate with those that compute: with more workers than cores, neither kind keeps the other from a core.
"""

import gc
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from gateway.server.lifespan import NEW_OBJECTS_MAX

WAITING = ("browser", "faults", "run", "interop", "server", "journeys", "clients")
SHARED = {
    "demo": (
        *(
            f"tests/clients/agw/test_{noun}.py"
            for noun in ("doctor", "login", "main", "proxy", "quickstarts", "refreshing", "request", "run", "tables")
        ),
        "tests/clients/test_against_the_gateway.py",
        "tests/clients/test_compatibility.py",
        "tests/clients/test_docs.py",
        "tests/clients/test_integrations.py",
        "tests/clients/test_package.py",
        "tests/clients/test_quickstarts.py",
        "tests/clients/test_readme.py",
        "tests/contract/test_fuzz.py",
        "tests/contract/test_live_answers.py",
        "tests/gateway/test_demo_sandbox.py",
        "tests/interop/test_integrations.py",
        "tests/interop/test_reference_samples.py",
    ),
    "nonces": (
        "tests/interop/test_browser_client.py",
        "tests/interop/test_client_package.py",
        "tests/interop/test_first_request.py",
        "tests/interop/test_generated_clients.py",
        "tests/interop/test_official_sdks.py",
        "tests/interop/test_quickstarts.py",
        "tests/interop/test_runtimes.py",
        "tests/interop/test_server_client.py",
        "tests/interop/test_stock_clients.py",
    ),
    "payments": (
        "tests/browser/test_invoices.py",
        "tests/browser/test_organizations.py",
        "tests/browser/test_payments.py",
        "tests/browser/test_usage.py",
    ),
}
"""Files by the gateway or the database that they share; the other files of a package in `ONE_GATEWAY` share another."""
ONE_GATEWAY = ("tests/browser/", "tests/deploy/", "tests/journeys/")
WHOLE_GATEWAYS = ("demo", "demo_gateway")
"""Fixtures of the session that end with the unit: the jobs of a whole gateway would take a part of a core for all other tests."""

_unit_of_file = {path: name for name, paths in SHARED.items() for path in paths}


class Collection(list[str]):
    """The ids of the collected tests. Of each it knows where it is: to look for them all, one by one, takes seconds."""

    def __init__(self, ids: Iterable[str]) -> None:
        super().__init__(ids)
        self._places = {nodeid: place for place, nodeid in enumerate(self)}

    def index(self, nodeid: str, *bounds: Any) -> int:
        return self._places[nodeid]


class Schedule(LoadFileScheduling):
    """Gives a worker one unit after the other, in the order of the collection."""

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Collection(collection)

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        """Count the tests that a worker still has to run, and forget its units that are done: they would be counted through
        after every test."""
        for unit in [unit for unit, tests in workload.items() if all(tests.values())]:
            del workload[unit]
        return super()._pending_of(workload)

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid.partition("::")[0])


def unit_of(path: str) -> str:
    """Return what a file runs with on one worker: the name of a gateway that is shared, or the file itself."""
    package = next((one for one in ONE_GATEWAY if path.startswith(one)), path)
    return _unit_of_file.get(path, package)


def pytest_configure(config: pytest.Config) -> None:
    """Keep the collection's order, where pytest-xdist would begin with the files that have most tests."""
    config.option.loadscopereorder = False


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Schedule:
    """Schedule by units."""
    return Schedule(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among what lasts for the session: while it is collected, and whenever tests leave some. The little
    garbage of the collection is kept, which takes less than looking for it. From then on, look as seldom as a server does."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS_MAX)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Begin in each worker with another package: each then finds the bytecode of those that another has compiled."""
    report = yield
    worker: dict[str, Any] | None = getattr(collector.config, "workerinput", None)
    if worker and collector.nodeid == "tests":
        number, among = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        first = len(report.result) * number // among
        report.result = report.result[first:] + report.result[:first]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order units: shared gateways first, then files with most tests, those that wait and those that compute in turn."""
    units: dict[str, list[pytest.Item]] = {}
    for item in sorted(items, key=_file_of):
        units.setdefault(unit_of(_file_of(item)), []).append(item)
    ordered = sorted(units, key=lambda unit: (unit.endswith(".py"), -len(units[unit])))
    waiting = [unit for unit in ordered if _waits(unit)]
    computing = [unit for unit in ordered if not _waits(unit)]
    turns = chain.from_iterable(zip_longest(waiting, computing))
    items[:] = chain.from_iterable(units[unit] for unit in turns if unit is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End the whole gateways, and the fixtures that use them, with a unit's last test. If another test needs one, it is started anew."""
    yield
    if nextitem is not None and unit_of(_file_of(item)) != unit_of(_file_of(nextitem)):
        internals: Any = item
        for name in WHOLE_GATEWAYS:
            for fixture in internals.session._fixturemanager.getfixturedefs(name, item) or ():
                fixture.finish(internals._request)


def _file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _waits(unit: str) -> bool:
    return unit in SHARED or unit.split("/")[1] in WAITING
