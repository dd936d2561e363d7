"""`python -m account_gateway_client.cli`: `agw`, where its script is not on the path."""

from account_gateway_client.cli.main import main

if __name__ == "__main__":
    main()
