"""What can go wrong on this side of the gateway. The text is one line that says what to do."""

from account_gateway_client.errors import ClientError


class CommandError(ClientError):
    """A command cannot go on. `exit_status` is what `agw` exits with."""

    exit_status = 1


class WrongUse(CommandError):
    """The command or its environment names something that cannot be."""

    exit_status = 2


class NotSignedIn(CommandError):
    """There is no device session, or it has ended: the person has to sign in."""

    exit_status = 3


class TimedOut(CommandError):
    """Something did not happen in time."""

    exit_status = 6
