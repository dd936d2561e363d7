"""The command line is refused in one line where it makes no sense."""

import pytest

from bench.options import USUAL, read_options


def test_a_run_without_options_compares_everything_with_no_other_commit() -> None:
    options = read_options([])
    assert (options.lanes, options.against, options.disk_delay_ms) == (USUAL, None, 5)


def test_lists_and_numbers_are_read() -> None:
    options = read_options(
        [
            "--lanes",
            "direct,gateway",
            "--scenarios",
            "",
            "--concurrency",
            "1,16",
            "--streams",
            "",
            "--against",
            "HEAD~1",
        ]
    )
    assert (options.lanes, options.scenarios, options.against) == (["direct", "gateway"], [], "HEAD~1")
    assert (options.concurrency, options.streams) == ((1, 16), ())


def test_a_disk_without_delay_has_no_lane() -> None:
    assert "slow-disk" not in read_options(["--disk-delay-ms", "0"]).lanes
    assert read_options(["--disk-delay-ms", "0", "--lanes", "gateway,slow-disk"]).lanes == ["gateway"]


def test_a_quick_run_is_one_short_round() -> None:
    options = read_options(["--quick", "--rounds", "9", "--seconds", "30"])
    assert (options.rounds, options.seconds) == (1, 1.0)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--lanes", "directly"],
        ["--scenarios", "rain"],
        ["--disk-delay-ms", "101"],
        ["--disk-delay-ms", "-1"],
        ["--concurrency", "0"],
        ["--streams", "many"],
        ["--rounds", "0"],
        ["--against"],
        ["--ledger-commit", "sync"],
    ],
)
def test_nonsense_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        read_options(arguments)
