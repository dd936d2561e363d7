"""The gateway's version, in the one place where it is written. CONTRIBUTING ("Releases") says what changes it.

A release is `0.2.0`. What will become it is `0.2.0-dev`.
"""

VERSION = "0.2.0-dev"
