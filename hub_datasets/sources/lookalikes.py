"""Letters of other scripts that text extraction puts in place of Latin ones that look the same."""

from __future__ import annotations

import re

_CYRILLIC = dict(zip("АВЕКМНОРСТУХЅІЈаеорсухѕіј", "ABEKMHOPCTYXSIJaeopcyxsij", strict=True))
_GREEK = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo", strict=True))
_SCHWA = {"ә": "ə", "Ә": "Ə", "ǝ": "ə", "Ǝ": "Ə"}
_TABLE = str.maketrans(_CYRILLIC | _GREEK | _SCHWA | {"м": "m"})
_FOREIGN = re.compile(r"[\u0370-\u04ff\u01dd\u018e]")
_LATIN = re.compile(r"[A-Za-z]")


def latinised(text: str) -> str:
    """Latin text with its Cyrillic and Greek look-alikes replaced; text mostly of another script stays as it is."""
    foreign = len(_FOREIGN.findall(text))
    return text.translate(_TABLE) if foreign and len(_LATIN.findall(text)) > foreign else text
