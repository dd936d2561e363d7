"""Lanes of one run are compared round by round."""

import math

import pytest

from bench.figures import middle
from bench.goals import goals_table
from bench.lanes import (
    DIRECT,
    DIRECT_MESSAGES,
    LITELLM_MESSAGES,
    LITELLM_RUST,
    MANY_WALLETS,
    ONE_WALLET,
    ONE_WALLET_MESSAGES,
    PASS_THROUGH,
    PORTKEY,
    WITH_METRICS,
    of_revision,
)
from bench.load import Run
from bench.measure import Results, Shape
from bench.processes import DATABASE, SERVER
from bench.ratios import added, compare_figures, metrics_table, rates_table, revision_table, rounds_ratio

SIXTEEN = Shape(stream=False, concurrency=16)
STREAM = Shape(stream=True, concurrency=1)
SLOW_DISK = f"{ONE_WALLET}, 5 ms disk"


def note(results: Results, lane: str, shape: Shape, *rates: int, cpu: float = 1.0) -> None:
    """Add a round for each rate, of two seconds, whose requests took equal turns."""
    figures = results.of(lane, shape)
    for rate in rates:
        seconds = [shape.concurrency / rate] * (2 * rate)
        figures.runs.append(Run(shape.concurrency, 2.0, seconds=seconds, first_byte_seconds=seconds))
        figures.note_cpu({SERVER: 1.0}, {SERVER: 1.0 + cpu, DATABASE: cpu}, requests=1000)


def cells(table: str, name: str) -> list[str]:
    [line] = [line for line in table.splitlines() if line.startswith(f"| {name} ")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_a_ratio_is_the_median_of_the_rounds_and_not_the_ratio_of_medians() -> None:
    assert rounds_ratio([100, 40, 90], [50, 80, 60]) == 1.5


@pytest.mark.parametrize(("value", "base"), [(1.0, 0.0), (math.nan, 1.0), (1.0, math.nan)])
def test_rounds_that_cannot_be_divided_are_left_out(value: float, base: float) -> None:
    assert math.isnan(rounds_ratio([value], [base]))
    assert rounds_ratio([value, 6.0], [base, 3.0]) == 2.0
    assert math.isnan(rounds_ratio([value], []))


def test_wallets_disks_and_peers_are_compared_where_both_ran() -> None:
    results = Results()
    for lane, rate in ((DIRECT, 4000), (ONE_WALLET, 800), (MANY_WALLETS, 1000), (SLOW_DISK, 600), (PORTKEY, 400)):
        note(results, lane, SIXTEEN, rate, rate)
    note(results, ONE_WALLET, STREAM, 500)
    table = rates_table(results, SLOW_DISK)
    assert cells(table, "Requests/s, divided") == ["JSON 16", "stream 1"]
    assert cells(table, f"{ONE_WALLET} / {MANY_WALLETS}") == ["0.80", "-"]
    assert cells(table, f"{SLOW_DISK} / {ONE_WALLET}") == ["0.75", "-"]
    assert cells(table, f"{MANY_WALLETS} / {PORTKEY}") == ["2.50", "-"]
    assert cells(table, f"{ONE_WALLET}, added p50 ms") == ["16.00", "-"]
    assert "LiteLLM" not in table


def test_messages_are_compared_with_messages() -> None:
    results = Results()
    rates = {DIRECT: 4000, DIRECT_MESSAGES: 2000, LITELLM_MESSAGES: 100, LITELLM_RUST: 200, ONE_WALLET_MESSAGES: 800}
    for lane, rate in rates.items():
        note(results, lane, SIXTEEN, rate, rate)
    assert added(results, ONE_WALLET_MESSAGES, SIXTEEN) == pytest.approx(20 - 8)
    table = rates_table(results, None)
    assert cells(table, f"{LITELLM_RUST} / {LITELLM_MESSAGES}") == ["2.00"]
    assert cells(table, f"{ONE_WALLET_MESSAGES} / {LITELLM_MESSAGES}") == ["8.00"]
    assert cells(table, f"{ONE_WALLET_MESSAGES} / {LITELLM_RUST}") == ["4.00"]
    assert "64 wallets" not in table


def test_a_call_is_compared_with_the_pass_through_and_with_peers_where_both_ran() -> None:
    results = Results()
    note(results, ONE_WALLET, SIXTEEN, 800, 800, cpu=2.0)
    assert cells(goals_table(results), f"p99 / p50, {ONE_WALLET}") == ["JSON 16", "1.00", "at most 2"]
    for shape in (SIXTEEN, Shape(stream=False, concurrency=1)):
        for lane, rate in ((DIRECT, 4000), (PASS_THROUGH, 2000), (MANY_WALLETS, 1000)):
            note(results, lane, shape, rate, rate)
    note(results, ONE_WALLET, Shape(stream=False, concurrency=1), 500)
    note(results, PORTKEY, SIXTEEN, 400, 400)
    table = goals_table(results)
    assert {tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines()[2:]} == {
        (f"server and database CPU, {ONE_WALLET} / server CPU, {PASS_THROUGH}", "JSON 1", "2.00", "at most 5.5"),
        (f"server and database CPU, {ONE_WALLET} / server CPU, {PASS_THROUGH}", "JSON 16", "4.00", "at most 4.0"),
        (f"server and database CPU, {MANY_WALLETS} / server CPU, {PASS_THROUGH}", "JSON 16", "2.00", "at most 4.8"),
        (f"added p50, {ONE_WALLET} / {PASS_THROUGH}", "JSON 1", "7.00", "at most 4"),
        (f"p99 / p50, {ONE_WALLET}", "JSON 16", "1.00", "at most 2"),
        (f"requests/s, {ONE_WALLET} / {PORTKEY}", "JSON 16", "2.00", "at least 1.5"),
        (f"requests/s, {MANY_WALLETS} / {PORTKEY}", "JSON 16", "2.50", "at least 1.5"),
    }


def test_the_middle_is_what_medians_are_within() -> None:
    assert middle(range(30)) == (8, 21)
    assert middle([3, 1, 2]) == (1, 3)
    assert all(math.isnan(end) for end in middle([]))


def test_metrics_are_compared_by_the_servers_processor_time() -> None:
    results = Results()
    for cpu in (0.50, 0.52, 0.54):
        note(results, ONE_WALLET, SIXTEEN, 1000, cpu=0.5)
        note(results, WITH_METRICS, SIXTEEN, 1000, cpu=cpu)
    note(results, ONE_WALLET, STREAM, 1000)
    table = metrics_table(results)
    assert cells(table, "JSON 16") == ["1.0400", "1.0000 to 1.0800", "3"]
    assert "stream" not in table
    assert metrics_table(Results()) == ""


def test_two_versions_are_compared_by_rate_latency_and_processor_time() -> None:
    results = Results()
    note(results, ONE_WALLET, SIXTEEN, 1200, 1400, 1600, cpu=0.5)
    note(results, of_revision(ONE_WALLET, "abc1234"), SIXTEEN, 1000, 1000, 1000, cpu=1.0)
    note(results, ONE_WALLET, STREAM, 500)
    compared = compare_figures(results.of(ONE_WALLET, SIXTEEN), results.of(of_revision(ONE_WALLET, "abc1234"), SIXTEEN))
    assert compared == pytest.approx(
        {"Requests/s": 1.4, "p50": 1 / 1.4, "p99": 1 / 1.4, "Server CPU": 0.5, "Database CPU": 0.5}
    )
    table = revision_table(results, "abc1234")
    assert cells(table, "JSON 16") == [ONE_WALLET, "1.40", "0.71", "0.71", "0.50", "0.50"]
    assert "stream" not in table


def test_nothing_to_compare_is_no_table() -> None:
    results = Results()
    note(results, DIRECT, SIXTEEN, 4000)
    assert rates_table(results, None) == ""
    assert revision_table(results, "abc1234") == ""
