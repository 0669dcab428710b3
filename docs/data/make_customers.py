"""Draw customers.csv, the table of the pages that begin with a file: nobody in it exists.

    python make_customers.py > customers.csv

A contract is left more often with a short notice, many calls and few months; the price matters for those who pay it by
hand. Some cells are missing, and two labels of every hundred are wrong.
"""

import csv
import sys

import numpy as np

rng = np.random.default_rng(7)
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow(["customer", "months", "price", "calls", "notice", "payment", "region", "left"])
for number in range(1, 601):
    months = int(rng.integers(1, 72))
    price = round(float(rng.gamma(9, 4.5)), 2)
    calls = int(rng.poisson(1.2))
    notice = rng.choice(["month", "year", "two years"], p=[0.55, 0.25, 0.2])
    payment = rng.choice(["bank", "card", "by hand"], p=[0.45, 0.35, 0.2])
    region = rng.choice(["north", "south", "east", "west"])
    score = -1.1 + 0.7 * (calls - 1.2) - 0.03 * (months - 36)
    score += {"month": 0.7, "year": -0.8, "two years": -2.0}[notice]
    score += 0.05 * (price - 40) * (payment == "by hand")
    left = rng.random() < 1 / (1 + np.exp(-score))
    left ^= rng.random() < 0.02
    cells = [months, price, calls, notice, payment, region]
    for column in (0, 1, 4):
        if rng.random() < 0.06:
            cells[column] = ""
    writer.writerow([f"C{number:04d}", *cells, "yes" if left else "no"])
