"""Tables say what was measured, and a page keeps everything else that it says."""

from pathlib import Path

import orjson
import pytest

from bench.books import Books
from bench.load import Run
from bench.measure import Results, Shape
from bench.report import BEGIN, END, Report, write_between_markers
from bench.scenarios import Admission

SHAPE = Shape(stream=False, concurrency=1)
EXACT = Books(
    calls=1,
    settled=1,
    released=0,
    in_review=0,
    still_open=0,
    charged_microusd=2,
    served_microusd=2,
    overspend_microusd=0,
    drift_microusd=0,
    unmatched=0,
)


def results() -> Results:
    measured = Results()
    for lane, seconds in (("direct", 0.001), ("gateway", 0.003)):
        measured.of(lane, SHAPE).runs += [
            Run(1, elapsed_seconds=2.0, seconds=[seconds * factor], first_byte_seconds=[seconds])
            for factor in (1, 1, 9)
        ]
    measured.books["gateway"] = [EXACT]
    return measured


def test_added_latency_is_the_difference_of_medians_to_direct() -> None:
    report = Report("a machine", "quietly.", results())
    [direct, gateway] = orjson.loads(report.json())["figures"]
    assert direct["added_p50_milliseconds"] == 0
    assert gateway["added_p50_milliseconds"] == pytest.approx(2)
    assert gateway["requests_per_second"] == 0.5
    assert "| JSON  | 1       | gateway | 0          | 3.00   | 3.00   | 2.00" in report.markdown()


def test_the_peers_that_ran_are_named_with_their_versions() -> None:
    report = Report("a machine", "quietly.", results())
    assert "Peers" not in report.markdown()
    report.peers = ["LiteLLM 1.2.3 on Python 3.11.7 (with PGO, with LTO)", "Portkey's gateway 1.0 on Node.js 22.1"]
    assert f"quietly.\n\nPeers: {report.peers[0]}; {report.peers[1]}.\n\n" in report.markdown()
    assert orjson.loads(report.json())["peers"] == report.peers


def test_exact_books_and_admissions_are_distinguished() -> None:
    report = Report("a machine", "quietly.", results())
    report.admissions.append(Admission(admitted=10, refused=40, other=0, served_upstream=10, books=EXACT))
    assert report.is_exact()
    report.admissions.append(Admission(admitted=11, refused=39, other=0, served_upstream=11, books=EXACT))
    assert not report.is_exact()


def test_only_what_stands_between_the_markers_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_between_markers(page, "new")
    assert page.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    page.write_text("no markers")
    with pytest.raises(ValueError, match="lacks the markers"):
        write_between_markers(page, "new")


def test_another_commit_is_set_against_this_one() -> None:
    measured = Results()
    for lane, seconds in (("gateway, one wallet", 0.002), ("gateway, one wallet (abc1234)", 0.003)):
        measured.of(lane, SHAPE).runs.append(Run(1, 2.0, seconds=[seconds], first_byte_seconds=[seconds]))
    report = Report("a machine", "quietly.", measured, revision="abc1234")
    [divided] = orjson.loads(report.json())["divided_by_revision"]
    assert (divided["lane"], divided["revision"], divided["Requests/s"]) == ("gateway, one wallet", "abc1234", 1.0)
    assert divided["p50"] == pytest.approx(2 / 3)
    assert "| JSON 1 | gateway, one wallet      | 1.00       | 0.67 | 0.67 | -" in report.markdown()
