"""Linear programs and who is asked them: HiGHS by rows, exact bases and factors, the table of integer solvers."""
