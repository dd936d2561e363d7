"""The alert rules and the dashboard in `deploy/`: they are valid, raise alarms as they should, and read what is served."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.run.options import PROJECT_DIR
from tests.metrics.everything import everything

DEPLOY = PROJECT_DIR / "deploy"
RULES, RULE_TESTS, DASHBOARD = (
    DEPLOY / name for name in ("prometheus-alerts.yml", "prometheus-alerts-test.yml", "grafana-dashboard.json")
)
ALERTS = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
CONTRACT = {
    "gateway_calls_total": {"route", "model", "outcome"},
    "gateway_call_seconds": {"route"},
    "gateway_overhead_seconds": {"route"},
    "gateway_first_byte_seconds": {"route", "upstream"},
    "gateway_charged_microusd_total": {"model", "product"},
    "gateway_upstream_requests_total": {"upstream", "outcome"},
    "gateway_upstream_open": {"upstream"},
    "gateway_streams_open": set(),
    "gateway_rate_limited_total": {"scope", "limit"},
    "gateway_held_microusd": set(),
    "gateway_reviews_open": set(),
    "gateway_review_oldest_seconds": set(),
    "gateway_audit_findings": set(),
    "gateway_events_pending": set(),
    "gateway_job_last_success_timestamp_seconds": {"job"},
    "gateway_database_waiting": set(),
}


def promtool(*arguments: str | Path, given: str = "") -> str:
    """Run Prometheus's own tool, and return what it prints."""
    program = shutil.which("promtool")
    assert program, "promtool is not installed: apt-get install prometheus; .ci/run installs it"
    done = subprocess.run([program, *arguments], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def named(text: str) -> set[str]:
    """Return the metrics that a text names, a histogram by its own name."""
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\bgateway_[a-z_]+", text)}


def expressions() -> Iterator[str]:
    """Yield each expression of the dashboard."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


def page(name: str) -> str:
    return (PROJECT_DIR / "docs" / name).read_text()


def test_the_rules_are_valid_and_raise_alarms() -> None:
    assert f"SUCCESS: {len(ALERTS)} rules found" in promtool("check", "rules", RULES)
    assert "SUCCESS" in promtool("test", "rules", RULE_TESTS)


def test_each_alarm_is_tested_to_be_raised_and_not_to_be() -> None:
    tests = [each for test in yaml.safe_load(RULE_TESTS.read_text())["tests"] for each in test["alert_rule_test"]]
    for is_raised in (True, False):
        tested = {each["alertname"] for each in tests if bool(each["exp_alerts"]) is is_raised}
        assert tested == {rule["alert"] for rule in ALERTS}


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alarm_names_its_section(rule: dict[str, Any]) -> None:
    file, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^### (.+)$", (PROJECT_DIR / file).read_text(), re.MULTILINE)
    assert rule["alert"] in headings
    assert anchor == rule["alert"].lower()


def test_everything_that_is_served_has_the_contracts_name_and_labels_and_is_documented(folder: Path) -> None:
    scrape = everything(folder)
    rows = re.findall(r"^\| `(gateway_\w+)` \| ([^|]*)\|", page("metrics.md"), re.MULTILINE)
    documented = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    served = {name: labels_of(scrape.text, name) for name in scrape.names()}
    assert served == documented
    assert {name: served.get(name) for name in CONTRACT} == CONTRACT
    assert promtool("check", "metrics", given=scrape.text) == ""


def labels_of(text: str, name: str) -> set[str]:
    """Return the labels that a metric's series have."""
    found = re.findall(rf"^{name}(?:_bucket|_sum|_count)?{{(.*)}} ", text, re.MULTILINE)
    return {label for each in found for label in re.findall(r'(\w+)="', each)} - {"le"}


def test_rules_and_dashboard_read_only_what_is_served(folder: Path) -> None:
    served = everything(folder).names()
    read = named("".join(rule["expr"] for rule in ALERTS))
    shown = named("".join(expressions()))
    assert read <= served
    assert shown == served


def test_the_expressions_of_the_dashboard_and_of_the_page_are_valid(tmp_path: Path) -> None:
    (block,) = re.findall(r"## Questions in PromQL\n\n```\n(.*?)```", page("metrics.md"), re.DOTALL)
    questions = re.sub(r"\n +", " ", re.sub(r" +#.*", "", block)).splitlines()
    texts = [expression.replace("$__rate_interval", "1m") for expression in (*expressions(), *questions)]
    rules = [{"record": f"shown:{number}", "expr": text} for number, text in enumerate(texts)]
    path = tmp_path / "rules.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "shown", "rules": rules}]}))
    assert f"SUCCESS: {len(texts)} rules found" in promtool("check", "rules", path)
