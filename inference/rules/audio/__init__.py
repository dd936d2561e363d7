"""How long a sound file is: what its container claims, checked against the frames that it holds."""
