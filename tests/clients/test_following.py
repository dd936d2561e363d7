"""Following what is executed: each piece of output once, in whole characters, until it is over."""

import json
from typing import Any

import pytest
import requests

from account_gateway_client import GatewayError
from account_gateway_client.account_keys import Recipient
from account_gateway_client.evolution import Evolution
from account_gateway_client.sandbox import Sandbox


class Answers:
    """Answers requests from a list, and keeps what was asked."""

    def __init__(self, *bodies: dict[str, Any]) -> None:
        self._bodies = iter(bodies)
        self.requests: list[str] = []

    def __call__(self, method: str, path: str, **options: Any) -> requests.Response:
        self.requests.append(f"{method} {path}")
        response, body = requests.Response(), next(self._bodies)
        response.status_code = 400 if "error" in body else 200
        response._content = json.dumps(body).encode()
        return response


def run(status: str, stdout: str, stderr: str = "") -> dict[str, Any]:
    return {"status": status, "stdout": stdout, "stderr": stderr}


def test_output_comes_in_pieces_each_once_until_the_run_is_over() -> None:
    answers = Answers(
        run("queued", ""),
        run("running", "one "),
        run("running", "one "),
        run("running", "one two h\ufffd", "oops"),
        run("cancelling", "one two h\u00e9\ufffd", "oops"),
        run("cancelled", "one two h\u00e9\ufffd!", "oops"),
    )
    pieces = [tuple(piece) for piece in Sandbox(answers).output("run_1", poll_seconds=0)]
    assert pieces == [
        ("stdout", "one "),
        ("stdout", "two h"),
        ("stderr", "oops"),
        ("stdout", "\u00e9"),
        ("stdout", "\ufffd!"),
    ]
    assert answers.requests == ["GET /v1/sandbox/runs/run_1"] * 6


def test_waiting_ends_with_the_job_and_with_an_error() -> None:
    answers = Answers(
        {"status": "queued"}, {"status": "running"}, {"status": "failed"}, {"error": {"code": "not_found"}}
    )
    evolution = Evolution(answers)
    assert evolution.wait_for_job("job_1", poll_seconds=0)["status"] == "failed"
    with pytest.raises(GatewayError, match="not_found"):
        evolution.wait_for_job("job_1", poll_seconds=0)


def test_an_id_is_one_segment_of_a_path_whatever_it_holds() -> None:
    answers = Answers({})
    Sandbox(answers).get("../wallet?x#y")
    assert answers.requests == ["GET /v1/sandbox/runs/..%2Fwallet%3Fx%23y"]
    for missing in ("", ".", ".."):
        with pytest.raises(ValueError, match="id is missing"):
            Sandbox(answers).get(missing)


def test_a_key_that_is_encrypted_in_another_way_is_refused() -> None:
    with pytest.raises(ValueError, match="encrypted with dir and A256GCM"):
        Recipient().open("eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0.YQ.YQ.YQ.YQ")
