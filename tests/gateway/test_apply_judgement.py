"""One credential in the environment alone enables judgement. SPEC: Judgement request."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from billing.models import PriceVersion
from inference.models import Alias, Upstream
from judgement.models import JudgementSettings
from tests.gateway.config_files import apply_file, apply_text
from tests.gateway.test_apply import DEMO

pytestmark = pytest.mark.django_db

BACKEND = "judgement-backend-a"


@pytest.fixture(autouse=True)
def _credential(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGEMENT_BACKEND_A_API_KEY", "sk-judge")


def test_the_credential_makes_upstream_alias_price_and_selection(tmp_path: Path) -> None:
    applied = apply_text(tmp_path, "")

    upstream = Upstream.objects.get()
    assert (upstream.name, upstream.adapter, upstream.api_key) == (BACKEND, "judgement", "sk-judge")
    assert upstream.base_url == "https://judgement-backend-a.example/v1"
    assert Alias.objects.get().deployments.get().upstream == upstream
    assert PriceVersion.objects.values_list("alias", "components").get() == (BACKEND, {"input_token": "0.042"})
    assert str(JudgementSettings.objects.get().text_backend) == BACKEND
    assert JudgementSettings.objects.get().vision_backend is None
    assert applied.summary == "gateway.yaml applied: 5 created."
    assert apply_text(tmp_path, "").summary == "gateway.yaml applied: 1 unchanged."


def test_the_address_and_a_new_credential_reach_the_upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply_text(tmp_path, "")
    monkeypatch.setenv("JUDGEMENT_BACKEND_A_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("JUDGEMENT_BACKEND_A_API_KEY", "sk-new")
    apply_text(tmp_path, "")
    assert Upstream.objects.values_list("base_url", "api_key").get() == ("http://127.0.0.1:9/v1", "sk-new")


def test_the_file_may_name_the_backend(tmp_path: Path) -> None:
    assert apply_text(tmp_path, f"judgement: {{text_backend: {BACKEND}}}").code == 0


def test_what_the_file_says_wins(tmp_path: Path) -> None:
    apply_text(
        tmp_path,
        f"upstreams: [{{name: {BACKEND}, adapter: openai, base_url: 'https://mine.example'}}]\n"
        f"aliases: [{{name: {BACKEND}, price: {{input_token: '0.05'}}}}, {{name: mine}}]\n"
        "judgement: {text_backend: mine}\n",
    )
    assert Upstream.objects.values_list("adapter", "api_key").get() == ("openai", "")
    assert PriceVersion.objects.values_list("components", flat=True).get() == {"input_token": "0.05"}
    assert not Alias.objects.get(name=BACKEND).deployments.exists()
    assert str(JudgementSettings.objects.get().text_backend) == "mine"


def test_what_the_database_says_wins(tmp_path: Path) -> None:
    apply_text(
        tmp_path, f"aliases: [{{name: mine}}, {{name: {BACKEND}, enabled: false}}]\njudgement: {{text_backend: mine}}"
    )
    apply_text(tmp_path, "")
    assert not Alias.objects.get(name=BACKEND).enabled
    assert str(JudgementSettings.objects.get().text_backend) == "mine"
    assert not PriceVersion.objects.exists()


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        (
            "JUDGEMENT_BACKEND_A_URL",
            "http://judge.example",
            "must be an https:// address (http:// only on loopback), without user, query or fragment",
        ),
        ("JUDGEMENT_BACKEND_A_API_KEY", "sk judge", "is not a usable credential"),
    ],
)
def test_a_bad_variable_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, problem: str
) -> None:
    monkeypatch.setenv(name, value)
    applied = apply_text(tmp_path, "")
    assert (applied.code, applied.problems) == (1, [f"environment {name}: {problem}"])
    assert not Upstream.objects.exists()


def test_a_start_without_a_file_enables_judgement_too() -> None:
    out = StringIO()
    call_command("apply", stdout=out)
    assert out.getvalue().splitlines()[-1] == "environment applied: 5 created."


def test_it_takes_the_place_of_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGEMENT_BACKEND_A_API_KEY", "")
    assert apply_file(DEMO).code == 0
    assert served_by() == "demo"
    monkeypatch.setenv("JUDGEMENT_BACKEND_A_API_KEY", "sk-judge")
    for _ in range(2):
        assert apply_file(DEMO).code == 0
        assert served_by() == BACKEND
        assert str(JudgementSettings.objects.get().text_backend) == BACKEND
    assert apply_file(DEMO).summary.endswith(" unchanged.")
    monkeypatch.setenv("JUDGEMENT_BACKEND_A_API_KEY", "")
    assert apply_file(DEMO).code == 0
    assert served_by() == "demo"


def test_it_takes_the_place_of_the_demo_at_the_first_start() -> None:
    assert apply_file(DEMO).code == 0
    assert served_by() == BACKEND
    assert PriceVersion.objects.get(alias=BACKEND).components == {"input_token": "0.042"}


def served_by() -> str:
    return str(Alias.objects.get(name=BACKEND).deployments.get().upstream)


def test_without_it_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGEMENT_BACKEND_A_API_KEY", "")
    assert apply_text(tmp_path, "").summary == "gateway.yaml applied: nothing to set."
