"""The operator's page of judgement answers: a plot for each identity and kind of question, also in numbers."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from judgement.models import AnswerCount
from tests.gateway.operators import address, clerk

pytestmark = pytest.mark.django_db

PAGE = address("judgement_answercount_changelist")


def count(identity: str, kind: str, *counts: int, days_ago: int = 0) -> None:
    """Count so many answers in each tenth, in two shards."""
    for tenth, number in enumerate(counts):
        for shard in range(2 * bool(number)):
            AnswerCount.objects.create(
                identity=identity,
                kind=kind,
                day=timezone.now().date() - timedelta(days=days_ago),
                bucket=tenth,
                shard=shard,
                count=number,
            )


def plots(html: str) -> list[Any]:
    return re.findall(r'aria-label="([^"]+The table below has the numbers\.)"', html)


def test_each_version_has_a_plot_for_each_kind_and_its_numbers(operator: Client) -> None:
    count("judge/2", "noul", 0, 1, 0, 0, 0, 0, 0, 0, 0, 3)
    count("judge/1", "noul", 2, days_ago=2)
    count("judge/2", "score", 0, 0, 0, 0, 5)
    html = operator.get(PAGE).text
    assert plots(html) == [
        "judge/2, noul: 8 answers, mean 0.75. The table below has the numbers.",
        "judge/1, noul: 4 answers, mean 0.05. The table below has the numbers.",
        "judge/2, score: 10 answers, mean 0.45. The table below has the numbers.",
    ]
    assert '<rect x="10" y="66.7" width="9" height="33.3" fill="currentColor">' in html
    assert '<rect x="90" y="0.0" width="9" height="100.0" fill="currentColor">' in html
    assert re.search(r'0\.9 to 1\.0</th><td class="text-right">6</td><td[^>]+>75\.0 %</td>', html)


@pytest.mark.parametrize(("query", "seen"), [("", 2), ("?days=1", 1), ("?days=7", 1), ("?days=90", 3), ("?days=x", 2)])
def test_a_period_can_be_chosen(operator: Client, query: str, seen: int) -> None:
    for days_ago in (0, 20, 60):
        count(f"judge/{days_ago}", "choice", 1, days_ago=days_ago)
    assert len(plots(operator.get(PAGE + query).text)) == seen


def test_without_answers_it_says_so(operator: Client) -> None:
    assert "No judgement was answered in this period." in operator.get(PAGE).text


def test_a_hostile_version_stays_text(operator: Client) -> None:
    count("judge/<script>alert(1)</script>", "noul", 1)
    assert "<script>alert" not in operator.get(PAGE).text


def test_it_needs_the_right_to_see_it() -> None:
    assert clerk().get(PAGE).status_code == 403
    assert clerk("view_answercount", name="viewer").get(PAGE).status_code == 200


def test_many_rows_are_one_query(operator: Client) -> None:
    for version in range(20):
        count(f"judge/{version}", "noul", *range(1, 11))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert operator.get(PAGE).status_code == 200
    assert len([query for query in queries if "judgement_answercount" in query["sql"]]) == 1
