"""The console's one search: from one thing that a support person has in hand to the page of what it names."""
