#!/usr/bin/env python3
"""Convert a quantity: convert.py AMOUNT FROM TO"""

import sys

LENGTH = {"mi": 1609.344, "km": 1000.0, "ft": 0.3048, "m": 1.0, "in": 0.0254, "cm": 0.01}
WEIGHT = {"lb": 453.59237, "kg": 1000.0, "oz": 28.349523125, "g": 1.0}


def convert(amount: float, unit: str, other: str) -> float:
    if (unit, other) == ("F", "C"):
        return (amount - 32) / 1.8
    if (unit, other) == ("C", "F"):
        return amount * 1.8 + 32
    for table in (LENGTH, WEIGHT):
        if unit in table and other in table:
            return amount * table[unit] / table[other]
    sys.exit(f"There is no way from {unit!r} to {other!r}. Units: {', '.join([*LENGTH, *WEIGHT, 'F', 'C'])}.")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(f"{convert(float(sys.argv[1]), sys.argv[2], sys.argv[3]):.2f} {sys.argv[3]}")
