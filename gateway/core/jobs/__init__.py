"""What the scheduled jobs did: a record of their runs, for operators."""
