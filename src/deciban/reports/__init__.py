"""What a report is made of: facts, findings, doubts, and the page they are written on."""
