"""`python -m bench.top_words`: the lecture's table of the word of each newsgroup, with score and θ, by `top_words`.

The original edition without headers, quotes and footers, English stop words and rare and common words left out, words
counted as often as they occur. Writes its table into README.md.
"""

from typing import Any

from bench import report
from bench.text_tasks import DATA
from deciban import TextClassifier, datasets

# by group, in the order of their names
LECTURE = [
    *("atheism", "jpeg", "windows", "scsi", "mac", "window", "sale", "car", "bike", "baseball", "hockey", "clipper"),
    *("circuit", "patients", "space", "god", "gun", "armenian", "stephanopoulos", "god"),
]
FIRST = 5
SETTINGS = {"strip": "all", "min_df": 50, "max_df": 0.3}
PLAIN = {"strip": "headers", "min_df": 1, "max_df": 1.0}


def top_words(texts: list[str], groups: Any, settings: dict[str, Any]) -> Any:
    return TextClassifier(counts=True, alpha=1, stop_words="english", **settings).fit(texts, groups).top_words(FIRST)


def found(top: Any, first: int) -> int:
    """How many of the lecture's words are among the first of their group."""
    return sum(word in dict(top[group][:first]) for group, word in zip(sorted(top), LECTURE, strict=True))


def main() -> None:
    texts, groups = datasets.load_20newsgroups(DATA / "newsgroups20" / "newsgroups20_original.jsonl.xz")
    top, plain = top_words(texts, groups, SETTINGS), top_words(texts, groups, PLAIN)
    lines = []
    for (group, words), word in zip(sorted(top.items()), LECTURE, strict=True):
        (best, score), theta = words[0], words.theta[0]
        others = ", ".join(other for other, _ in words[1:])
        lines.append((group, word, best, f"{score:.4f}", f"{theta:.4f}", others))
    table = report.markdown(("group", "the lecture's word", "our first", "score", "θ", "our next"), lines, left=3)
    note = (
        f"Of the lecture's {len(LECTURE)} words {found(top, 1)} are first, {found(top, 2)} first or second and "
        f"{found(top, FIRST)} among the first {FIRST}; with all words of texts without headers {found(plain, 1)}, "
        f"{found(plain, 2)} and {found(plain, FIRST)}."
    )
    report.between(report.HERE / "README.md", "top words", f"{note}\n\n{table}")


if __name__ == "__main__":
    main()
