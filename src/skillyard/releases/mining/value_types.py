"""The types of values: what all of them are."""

import math
import re
from collections.abc import Sequence
from typing import Final

from skillyard.errors import InputError
from skillyard.releases.mining.acts import Context, Slot
from skillyard.releases.payloads import Variable, VariableType
from skillyard.releases.variable_values import checked_value

_INTEGER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
_CODED: Final = re.compile(
    r"phone|mobile|tel\b|fax|zip|postal|postcode|code|number|no\.?$|\bid\b|account|card|iban|vat|sku|isbn|serial|"
    r"번호|코드|编号|号码|番号|コード|电话|手机|邮编",
    re.IGNORECASE,
)
"""What is called so is written in digits, but no amount."""
_EMAIL: Final = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[A-Za-z]{2,}")
ADDRESS: Final = re.compile(r"https?://\S+")
PATH: Final = re.compile(r"(?:[\w.~-]*/)+[\w.~-]*|[\w~-][\w.~-]*\.[A-Za-z]\w{0,7}")


def type_of(values: Sequence[str], slot: Slot, *, whole: bool = True) -> VariableType:
    """The type that all the values are of; `whole` is whether they are all that stands in the place."""
    given = [value for value in values if value]
    if not given:
        return VariableType.STRING
    if slot.type is VariableType.BOOLEAN and whole:
        return VariableType.BOOLEAN
    if all(map(_INTEGER.fullmatch, given)) and not _is_coded(slot):
        return VariableType.INTEGER
    if all(map(_NUMBER.fullmatch, given)) and not _is_coded(slot) and all(math.isfinite(float(one)) for one in given):
        return VariableType.NUMBER
    if all(_fits(VariableType.DATE, one) for one in given):
        return VariableType.DATE
    if all(map(_EMAIL.fullmatch, given)):
        return VariableType.EMAIL
    if all(ADDRESS.fullmatch(one) and _fits(VariableType.URL, one) for one in given):
        return VariableType.URL
    in_code = slot.context in {Context.WORD, Context.LITERAL}
    if in_code and whole and all(map(PATH.fullmatch, given)):
        return VariableType.PATH
    return VariableType.STRING


def _is_coded(slot: Slot) -> bool:
    if slot.type in {VariableType.INTEGER, VariableType.NUMBER}:
        return False  # the place takes nothing but numbers
    return slot.type is VariableType.STRING or _CODED.search(slot.label) is not None


def _fits(kind: VariableType, value: str) -> bool:
    try:
        checked_value(Variable(name="value", type=kind), value)
    except InputError:
        return False
    return True
