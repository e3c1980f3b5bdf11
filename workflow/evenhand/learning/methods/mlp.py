"""The network that only learns the label."""

from evenhand.learning.method import Method

METHOD = Method(title="MLP")
