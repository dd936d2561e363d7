"""Reads the command line."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.disk import MILLISECONDS_MAX

USUAL = ("direct", "pass-through", "litellm", "portkey", "gateway", "many-wallets", "messages", "limits", "slow-disk")
LANES = (*USUAL, "metrics")
"""The last one shows a difference of a few microseconds, which takes many rounds."""
SCENARIOS = ("admission", "departure", "pricing", "crowd", "text", "paced")


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options. Ends the program in one line if they make no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measures the gateway beside its peers: `make bench`."
    )
    parser.add_argument("--quick", action="store_true", help="one short round, to see that everything runs")
    parser.add_argument("--rounds", type=_at_least_one, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="of one lane in one round")
    parser.add_argument(
        "--lanes", type=_names(LANES), default=USUAL, help=f"any of {','.join(LANES)}; without metrics if not given"
    )
    parser.add_argument("--scenarios", type=_names(SCENARIOS), default=SCENARIOS, help=f"any of {','.join(SCENARIOS)}")
    parser.add_argument("--concurrency", type=_numbers, default=(1, 16, 64), help="of JSON requests")
    parser.add_argument("--streams", type=_numbers, default=(1, 16), help="concurrency of streams")
    parser.add_argument(
        "--paced", type=_numbers, default=(64, 256, 512, 1024), help="streams open at once in the scenario paced"
    )
    parser.add_argument("--against", metavar="REV", help="compare with the gateway of another commit, turn by turn")
    parser.add_argument(
        "--disk-delay-ms", type=_delay, default=5, help="of every flush in the lane slow-disk; 0 leaves the lane out"
    )
    parser.add_argument("--workers", type=_at_least_one, default=1, help="server processes of gateway and LiteLLM")
    parser.add_argument("--database-pool", type=_at_least_one, default=6)
    parser.add_argument("--peers", action="store_true", help="fail, instead of skipping it, if a peer is missing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there too")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    parser.add_argument("--keep", action="store_true", help="keep the run's logs and data, and say where")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.seconds, options.paced = 1, min(1.0, options.seconds), options.paced[:1]
    if not options.disk_delay_ms:
        options.lanes = [name for name in options.lanes if name != "slow-disk"]
    return options


def _names(known: Iterable[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        given = [name for name in text.split(",") if name]
        if unknown := set(given) - set(known):
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
        return given

    return names


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_at_least_one(part) for part in text.split(",") if part)


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"not a whole number of at least 1: {text}")
    return int(text)


def _delay(text: str) -> int:
    if not text.isdecimal() or int(text) > MILLISECONDS_MAX:
        raise argparse.ArgumentTypeError(f"not a whole number from 0 to {MILLISECONDS_MAX}: {text}")
    return int(text)
