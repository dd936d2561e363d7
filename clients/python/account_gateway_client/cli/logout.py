"""`agw logout`."""

import click

from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command()
@uses_gateway
def logout(settings: Settings) -> None:
    """End the session, here and at the gateway."""
    from account_gateway_client.cli.ending import end
    from account_gateway_client.cli.errors import CommandError
    from account_gateway_client.cli.session import gateway_of
    from account_gateway_client.cli.sessions import Sessions
    from account_gateway_client.errors import ClientError

    sessions, gateway = Sessions(settings.config_dir), gateway_of(settings)
    untold = None
    with sessions.locked(gateway):
        session = sessions.load(gateway)
        try:
            end(session)
        except ClientError as error:
            untold = error
        sessions.delete(session)
    if untold:
        raise CommandError(
            f"You are signed out here, but {gateway} was not told ({untold}): revoke {session.name} on its page of apps."
        ) from untold
    click.echo(f"Signed out of {gateway}.")
