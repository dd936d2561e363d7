"""Checks of an identity provider's endpoints."""

import pytest

from accounts.rules.provider_answers import InvalidAnswer, check_endpoints


@pytest.mark.parametrize("endpoint", ["https://sso.example/token", "https://tokens.example:8443/"])
def test_https_leads_to_https(endpoint: str) -> None:
    check_endpoints({"issuer": "x", "token_endpoint": endpoint}, "https://sso.example")


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"])
@pytest.mark.parametrize(
    "endpoint",
    ["http://169.254.169.254/latest", "http://sso.example/", "file:///etc/passwd", "//x", "", None, 7, ["x"]],
)
def test_and_nowhere_else(name: str, endpoint: object) -> None:
    with pytest.raises(InvalidAnswer):
        check_endpoints({name: endpoint}, "https://sso.example")


def test_a_provider_without_tls_is_the_operators_choice() -> None:
    check_endpoints({"token_endpoint": "http://sso:8080/token"}, "http://sso:8080")
    with pytest.raises(InvalidAnswer):
        check_endpoints({"token_endpoint": "gopher://sso/"}, "http://sso:8080")


@pytest.mark.parametrize("description", [None, [], "x", 7])
def test_a_description_is_an_object(description: object) -> None:
    with pytest.raises(InvalidAnswer):
        check_endpoints(description, "https://sso.example")
