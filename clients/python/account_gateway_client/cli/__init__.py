"""`agw`: the gateway on a command line. It needs the extra `cli`."""
