"""The network that never sees the protected attribute: individually fair by construction.

The paper leaves this baseline out. Without the attribute a flip changes no input, so both IFR
are 100 percent, and an individual loss on flips has nothing to do.
"""

from evenhand.learning.method import Method

METHOD = Method(
    title="MLP without the attribute", sees_attribute=False, takes_individual=False, aim="ifr_b"
)
