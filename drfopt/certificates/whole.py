"""placeholder"""
def certify(*a): raise NotImplementedError
