"""The respondent State in the two groups of FairLex, from its published list of States.

The list (FairLex, `ecthr_dataset.py`) lacks Albania, which is so in "Rest of Europe"; names that
it does not know (TÜRKIYE, CZECHIA, SERBIA AND MONTENEGRO) go with their States here.
"""

from functools import partial

from evenhand.legal import respondents

KIND = "ecthr"
TABLES = respondents.TABLES

prepare = partial(respondents.read_states, column="fairlex")
find = respondents.find_group
