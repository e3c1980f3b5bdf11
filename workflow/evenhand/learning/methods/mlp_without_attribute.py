"""The network without the protected attribute as input: individually fair by construction.

The paper omits this baseline. Without the attribute a flip changes no input, so both IFR are 100
percent, and an individual loss on flips has no effect.
"""

from evenhand.learning.method import Method

METHOD = Method(
    title="MLP without the attribute", sees_attribute=False, takes_individual=False, aim="ifr_b"
)
