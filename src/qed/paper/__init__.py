"""The paper: its numbers, its statements, and whether they hold in a study.

numbers       what the paper prints, from numbers.csv
statements    what it says, from statements.csv, and the verdict on each in a study
checks        how a statement is checked           measures   the numbers of a study it is about
verdicts      the verdicts in a report
tables        tables S1 to S3, and what the text says of maps and slopes, beside the paper's numbers
signatures    its figures of impact, resilience and diversity

Only a report of a study asks for any of this: studies of users' tasks and algorithms need no paper.
"""
