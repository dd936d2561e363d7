"""The URL map and the specification's tables agree on every route that exists."""

from tests.contract.endpoints import ADDITIONS, ENDPOINTS
from tests.contract.routes import mapped_routes

SPECIFIED = {(row.method, row.path): row for row in ENDPOINTS}
MAPPED = {(route.method, route.path): route for route in mapped_routes()}


def test_every_route_is_specified_or_an_addition_with_a_reason() -> None:
    assert set(MAPPED) <= set(SPECIFIED) | set(ADDITIONS)


def test_no_addition_is_left_over() -> None:
    assert set(ADDITIONS) <= set(MAPPED)
    assert not set(ADDITIONS) & set(SPECIFIED)


def test_every_route_needs_what_the_specification_says() -> None:
    declared = {key: route.needs for key, route in MAPPED.items() if key in SPECIFIED}
    assert declared == {key: SPECIFIED[key].needs for key in declared}


def test_every_route_asks_for_the_roles_that_the_specification_says() -> None:
    declared = {key: sorted(map(str, route.access.roles)) for key, route in MAPPED.items() if key in SPECIFIED}
    assert declared == {key: sorted(SPECIFIED[key].roles) for key in declared}


def test_a_path_has_only_the_methods_of_its_rows() -> None:
    for method, path in MAPPED:
        allowed = {m for m, p in [*SPECIFIED, *ADDITIONS] if p == path}
        assert method in allowed, path


def test_the_first_job_is_there() -> None:
    present = {
        ("POST", "/v1/auth/token/exchange"),
        ("POST", "/v1/oauth/token"),
        ("GET", "/v1/account"),
        ("GET", "/v1/models"),
        ("GET", "/v1/wallet"),
        ("GET", "/v1/usage"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/responses"),
        ("GET", "/v1/responses/<response_id>"),
        ("DELETE", "/v1/responses/<response_id>"),
        ("GET", "/v1/responses/<response_id>/input_items"),
    }
    assert present <= set(MAPPED)
