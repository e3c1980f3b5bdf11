"""The respondent State by the regions of EuroVoc, the European Union's thesaurus.

FairLex claims to follow EuroVoc (microthesaurus 7206 Europe, whose regions are Central and
Eastern, Northern, Southern and Western Europe). But its first group contains the Baltic States,
Turkey and the South Caucasus, which EuroVoc's does not, and lacks Albania, which EuroVoc's has.
"""

from functools import partial

from evenhand.legal.attributes import defendant_state

KIND = "ecthr"
TABLES = defendant_state.TABLES

prepare = partial(defendant_state.read_states, column="eurovoc")
find = defendant_state.find
