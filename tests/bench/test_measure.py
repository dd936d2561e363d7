"""Lanes take turns, and everybody's processor time is measured."""

import re
from pathlib import Path

from bench.lanes import direct_lane, pass_through_lane
from bench.measure import Measurement, Plan, shapes
from bench.processes import SERVER, UPSTREAM
from bench.servers import PassThroughServer, UpstreamServer


def test_lanes_take_turns_and_the_order_is_reversed_every_other_round(tmp_path: Path) -> None:
    lines: list[str] = []
    with UpstreamServer(tmp_path) as upstream, PassThroughServer(tmp_path, upstream.origin) as proxy:
        lanes = [direct_lane(upstream.port), pass_through_lane(proxy.port, proxy)]
        # Processor time is counted in hundredths of a second, of which each process of a busy machine gets few.
        plan = Plan(rounds=2, seconds=1.0, warm_up_seconds=0.1, shapes=shapes([2], []))
        results = Measurement(plan, lanes, upstream, lines.append).run()
    ran = [re.sub(r":.*", "", line) for line in lines]
    assert ran == [
        "round 1/2, JSON 2, direct",
        "round 1/2, JSON 2, pass-through",
        "round 2/2, JSON 2, pass-through",
        "round 2/2, JSON 2, direct",
    ]
    figures = results.of("pass-through", plan.shapes[0])
    assert (len(figures.rates()), figures.failed) == (2, 0)
    assert (figures.cpu(UPSTREAM) or 0) > 0
    assert (figures.cpu(SERVER) or 0) > 0
    assert figures.generator_cpu_milliseconds() > 0
