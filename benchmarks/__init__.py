"""How long answers take and how right they are: questions with the expectation written before measuring.

``python -m benchmarks`` measures all of them and writes ``benchmarks/results``; ``--smoke`` runs tiny sizes and
writes nothing. Imports drfopt, formulations and what they depend on; vl-convert only to draw the one picture.
"""
