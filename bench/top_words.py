"""`python -m bench.top_words`: whether the lecture's word of each newsgroup is among the first of `top_words(by="kl")`.

The original edition without headers, English stop words left out, words counted as often as they occur. Writes its
table into README.md.
"""

import numpy as np

from bench import report
from bench.text_tasks import rows
from deciban import TextClassifier

# by group, in the order of their names
LECTURE = [
    *("atheism", "jpeg", "windows", "scsi", "mac", "window", "sale", "car", "bike", "baseball", "hockey", "clipper"),
    *("circuit", "patients", "space", "god", "gun", "armenian", "stephanopoulos", "god"),
]
FIRST = 5


def main() -> None:
    found = rows("newsgroups20/newsgroups20_original.jsonl.xz")
    texts, labels = [row["text"] for row in found], np.array([row["label"] for row in found])
    model = TextClassifier(counts=True, strip=("headers",), stop_words="english").fit(texts, labels)
    top = {label: [word for word, _ in words] for label, words in model.top_words(FIRST, by="kl").items()}
    asked = dict(zip(sorted(top), LECTURE, strict=True))
    first = sum(top[group][0] == word for group, word in asked.items())
    among = sum(word in top[group] for group, word in asked.items())
    others = [(group, word, ", ".join(top[group])) for group, word in asked.items() if top[group][0] != word]
    table = report.markdown(("group", "the lecture's word", "our five"), others, left=3)
    note = f"Of the lecture's {len(asked)} words {first} are first here and {among} among the first {FIRST}; not first:"
    report.between(report.HERE / "README.md", "top words", f"{note}\n\n{table}")


if __name__ == "__main__":
    main()
