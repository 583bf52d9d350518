"""A user's own notion: a program in cvxpy or PuLP, solved once or round by round."""
