"""The applicant's age in the year of the judgment, in FairLex's three groups.

Age is the year of the judgment less the year of birth (FairLex, `ecthr_dataset.py`): 35 is
``<=35``, 65 is ``<=65``, 66 is ``>65``.
"""

from evenhand.legal import applicants
from evenhand.legal.applicants import Lexicon
from evenhand.legal.attributes import applicant_birth_year
from evenhand.legal.declaration import Attribute
from evenhand.legal.findings import Finding
from evenhand.legal.records import Record

KIND = "ecthr"
TABLES = applicants.TABLES

prepare = applicant_birth_year.prepare


def find(record: Record, attribute: Attribute, prepared: Lexicon) -> Finding:
    """Return the applicant's age group, with the rule and the words of the year of birth.

    Without a date of the judgment there is none (``no_judgment_date``).
    """
    born = applicant_birth_year.from_source(record)
    born = born or applicant_birth_year.find(record, attribute, prepared)
    if born.value is None:
        return born
    if record.date is None:
        return Finding(None, "no_judgment_date", 1.0, born.evidence, born.flags)
    group = age_group(record.date.year - int(born.value))
    return Finding(group, born.rule, born.confidence, born.evidence, born.flags)


def age_group(age: int) -> str:
    """Return the group of an age in years."""
    return "<=35" if age <= 35 else "<=65" if age <= 65 else ">65"
