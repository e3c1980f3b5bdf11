"""The network trained on the label only."""

from evenhand.learning.method import Method

METHOD = Method(title="MLP")
