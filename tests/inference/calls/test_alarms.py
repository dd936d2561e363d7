"""Problems that only the operator can fix are reported in the log, and with the upstream in the console."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Account
from inference.models import Upstream
from tests.gateway.operators import address
from tests.support.concurrency import eventually
from tests.support.stage import Stage, chat

REFUSALS = [("unauthorized", "401"), ("forbidden", "403"), ("missing-model", "404")]


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "inference.alarms"]


def alarmed(upstream: Any, times: int) -> Upstream:
    eventually(lambda: Upstream.objects.filter(pk=upstream.pk, alarms=times).exists())
    return Upstream.objects.get(pk=upstream.pk)


@pytest.mark.parametrize(("preset", "status"), REFUSALS)
def test_a_refusal_of_the_gateway_itself_alarms_once_a_minute_and_is_counted(
    stage: Stage, caplog: pytest.LogCaptureFixture, preset: str, status: str
) -> None:
    upstream = stage.upstream_row()
    alias, caller = stage.model(preset, upstream=upstream), stage.caller()
    for _ in range(3):
        assert caller.post(chat(alias)).status_code == 503
    [line] = errors(caplog)
    assert line.startswith(f"upstream {upstream.name} answered {status} for {preset}: ")
    assert stage.api_key not in line
    row = alarmed(upstream, 3)
    assert f"answered {status}" in row.last_alarm
    assert row.last_alarm_at is not None


def test_the_console_shows_the_last_alarm(stage: Stage) -> None:
    upstream = stage.upstream_row()
    stage.caller().post(chat(stage.model("unauthorized", upstream=upstream)))
    alarmed(upstream, 1)
    operator = Client()
    account = Account.objects.create_superuser(f"did:web:localhost:{upstream.name}", None, "x")
    operator.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    page = operator.get(address("inference_upstream_change", upstream.pk)).content.decode()
    assert f"upstream {upstream.name} answered 401" in page


@pytest.mark.parametrize(("preset", "code"), [("bad-gateway", "upstream_error"), ("overloaded", "upstream_overloaded")])
def test_the_cause_of_a_failed_call_is_logged_as_a_warning_with_its_request_id(
    stage: Stage, caplog: pytest.LogCaptureFixture, preset: str, code: str
) -> None:
    upstream = stage.upstream_row()
    alias, caller = stage.model(preset, upstream=upstream), stage.caller()
    answers = [caller.post(chat(alias)) for _ in range(2)]
    [entry] = [record for record in caplog.records if record.name == "gateway.api"]
    assert entry.levelname == "WARNING"
    assert entry.getMessage().startswith(f"{code}: upstream {upstream.name} answered 50")
    assert vars(entry)["request_id"] == answers[0].headers["X-Request-Id"]


def test_the_customers_text_is_not_in_the_log(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    model = "small-1?status=400&error_code=invalid_value&error_message=You+wrote+badgers"
    assert stage.caller().post(chat(stage.model(model))).status_code == 400
    assert "invalid_request: upstream" in caplog.text
    assert "badgers" not in caplog.text
