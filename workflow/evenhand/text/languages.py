"""Codes of languages."""

import re

#: ISO 639-1: the codes of two letters, one after another.
_CODES = (
    "aaabaeafakamanarasavayazbabebgbhbibmbnbobrbscacechcocrcscucvcydadedvdzeeeleneoeseteufafffi"
    "fjfofrfygagdglgngugvhahehihohrhthuhyhziaidieigiiikioisitiujajvkakgkikjkkklkmknkokrkskukvkw"
    "kylalblglilnloltlulvmgmhmimkmlmnmrmsmtmynanbndnengnlnnnonrnvnyocojomorospapiplpsptqurmrnro"
    "rurwsascsdsesgshsiskslsmsnsosqsrssstsusvswtatetgthtitktltntotrtstttwtyugukuruzvevivowawoxh"
    "yiyozazhzu"
)

ISO_639_1 = frozenset(re.findall("..", _CODES))


def is_language(code: str) -> bool:
    """Return whether this is a code of ISO 639; of three letters only the form is checked."""
    return code in ISO_639_1 or re.fullmatch("[a-z]{3}", code) is not None
