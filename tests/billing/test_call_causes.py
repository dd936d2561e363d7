"""Every word that the ledger may keep for a cause has words for operators and for customers."""

from billing.rules.call_causes import CAUSES, DECISIONS, title, word_of
from gateway.core.telemetry.causes import Cause, of_status


def test_every_cause_has_words() -> None:
    words = {cause.value for cause in Cause} | {of_status(status) for status in range(100, 600)}
    assert words <= set(CAUSES)


def test_titles_are_distinct_enough_to_filter_by() -> None:
    assert title("upstream_401") == "Upstream: the gateway's key was refused (401)"
    assert title("") == title(None) == ""


def test_a_word_of_a_later_version_is_shown_as_it_is() -> None:
    assert title("quota_gone") == "Quota gone"


def test_what_says_most_about_a_call() -> None:
    assert word_of("review", "timed out", None) == "timed out"
    assert word_of("released", "timed out", "operator") == "timed out"
    assert word_of("released", None, "upstream_401") == "upstream_401"
    assert word_of("settled", None, None) == ""


def test_a_decision_is_no_cause() -> None:
    assert not set(CAUSES) & set(DECISIONS)
