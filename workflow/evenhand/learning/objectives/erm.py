"""ERM: the mean loss. It does not use groups, so that one training serves all attributes."""

TITLE = "ERM"
