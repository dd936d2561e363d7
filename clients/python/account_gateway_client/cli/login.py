"""`agw login`."""

import click

from account_gateway_client.cli.settings import Settings, uses_gateway


@click.command()
@uses_gateway
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    metavar="SCOPE",
    help="What to allow. Repeat it for several; left out, all that agw uses.",
)
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening the browser.")
def login(settings: Settings, scopes: tuple[str, ...], no_browser: bool) -> None:
    """Sign in through the browser, for 30 days.

    The key is made here. It stays in the system's keyring, or in a file that only you can read.
    """
    from account_gateway_client.cli.authorization import authorize
    from account_gateway_client.cli.discovery import metadata_of
    from account_gateway_client.cli.ending import end_quietly
    from account_gateway_client.cli.output import print_pairs, utc
    from account_gateway_client.cli.sessions import Sessions

    metadata, sessions = metadata_of(_address(settings)), Sessions(settings.config_dir)
    sessions.check()
    wanted = " ".join(scopes).split() or metadata.usual_scopes

    def show(url: str, port: int) -> None:
        _show(url, port, opens=not no_browser)

    session = authorize(metadata, wanted, show)
    try:
        with sessions.locked(session.gateway):
            before = sessions.find(session.gateway)
            session = sessions.create(session)
    except BaseException:
        end_quietly(session)  # nobody has it
        raise
    if before:
        end_quietly(before)
    sessions.choose(session.gateway)
    place = "the system's keyring" if session.in_keyring else str(sessions.path_of(session.gateway))
    print_pairs(
        {"Signed in to": session.gateway, "Until": utc(session.expires_at), "Scopes": session.scope, "Key in": place}
    )


def _address(settings: Settings) -> str:
    """Return the gateway to sign in to: the one of the last time, where none is named."""
    from account_gateway_client.cli.errors import NotSignedIn
    from account_gateway_client.cli.session import gateway_of

    try:
        return gateway_of(settings)
    except NotSignedIn:
        raise click.UsageError("Name the gateway: agw login --gateway URL") from None


def _show(url: str, port: int, *, opens: bool) -> None:
    """Open the page to sign in at, or print its address alone on a line."""
    from account_gateway_client.cli import browser

    if opens and browser.open_page(url):
        click.echo("The browser shows where to sign in. If it does not, open this address:", err=True)
        return click.echo(url, err=True)
    click.echo("Open this address in a browser on this computer:", err=True)
    click.echo(url)
    if browser.is_remote():
        click.echo(f"For a browser on another computer, first run there: ssh -L {port}:127.0.0.1:{port} HOST", err=True)
    return None
