"""One file for each section of a report: `section(facts)` says it in HTML, or None where there is nothing to say."""
