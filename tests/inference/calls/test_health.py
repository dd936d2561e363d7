"""A deployment that fails is on the console's home page within seconds, until a call succeeds."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Account
from inference.metering import health
from inference.models import Deployment, DeploymentTrouble, Upstream
from inference.queries import catalogue
from tests.gateway.operators import address
from tests.support.concurrency import eventually
from tests.support.stage import Stage, chat


def trouble_of(alias: str) -> DeploymentTrouble | None:
    health.finish()
    deployment = Deployment.objects.get(alias__name=alias)
    return DeploymentTrouble.objects.filter(deployment=str(deployment.pk)).first()


def home_of(upstream: Upstream) -> Any:
    operator = Client()
    account = Account.objects.create_superuser(f"did:web:localhost:{upstream.name}", None, "x")
    operator.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    return operator.get("/admin/")


def test_an_upstream_that_refuses_the_gateways_key_is_on_the_home_page(stage: Stage) -> None:
    upstream = stage.upstream_row()
    alias, caller = stage.model("unauthorized", upstream=upstream), stage.caller()
    for _ in range(4):
        assert caller.post(chat(alias)).status_code == 503
    eventually(lambda: (found := trouble_of(alias)) is not None and found.failures == 4)
    page = home_of(upstream)
    [line] = [line for line in page.context["waiting"] if upstream.name in line.found.subject]
    assert line.need.is_urgent
    assert line.text == f"Upstream {upstream.name} fails for {alias}"
    assert line.found.detail.startswith(f"upstream {upstream.name} answered 401 for unauthorized")
    assert line.found.detail.endswith("(4 attempts in a row, its breaker is open)")
    assert line.link == address("inference_upstream_change", upstream.pk)
    trouble = trouble_of(alias)
    assert trouble is not None
    assert line.found.since == trouble.since
    assert stage.api_key not in page.content.decode()


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_a_success_ends_the_trouble_also_if_another_process_saw_it(stage: Stage, streams: bool) -> None:
    alias, caller = stage.model(), stage.caller()
    deployment = Deployment.objects.get(alias__name=alias)
    health.write({str(deployment.pk): _failure()})
    catalogue.forget()  # each process reads the troubles with its catalogue
    assert caller.post(chat(alias, stream=streams)).status_code == 200
    eventually(lambda: trouble_of(alias) is None)


@pytest.mark.parametrize("preset", ["bad-gateway", "overloaded", "small-1?status=400&error_code=invalid_value"])
def test_what_the_client_caused_is_no_trouble(stage: Stage, preset: str) -> None:
    alias, caller = stage.model(preset), stage.caller()
    assert caller.post(chat(alias)).status_code != 200
    is_clients = "400" in preset
    if is_clients:
        assert trouble_of(alias) is None
    else:
        eventually(lambda: trouble_of(alias) is not None)


def test_failures_after_a_success_begin_anew() -> None:
    first, second = _failure(), _failure()
    key = "no-such-deployment"
    health.write({key: first})
    health.write({key: second})
    row = DeploymentTrouble.objects.get(deployment=key)
    assert (row.failures, row.since) == (2, first.since)
    health.write({key: health._merged(health.Health(second.last_at), third := _failure())})
    row.refresh_from_db()
    assert (row.failures, row.since) == (1, third.since)
    health.write({key: first})
    health.write({key: health.Health(first.last_at)})
    assert DeploymentTrouble.objects.filter(deployment=key).exists(), "an older success does not end a newer failure"
    health.write({key: health.Health(third.last_at)})
    assert not DeploymentTrouble.objects.filter(deployment=key).exists()


def _failure() -> health.Health:
    from django.utils import timezone

    now = timezone.now()
    return health.Health(now, 1, now, "it answered 500")
