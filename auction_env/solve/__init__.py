"""Exact solutions of small settings: the whole tree, best responses, exploitability, and methods that find equilibria.

::

    tree = enumerate_tree("auction_poker", {"num_players": 2, "num_auctions": 1, "num_ranks": 4, "num_suits": 1})
    solver = Solver(Layout(tree), "cfr+")
    solver.iterate(1000)
    solver.evaluate().exploitability
"""

from auction_env.solve.enumeration import Size, enumerate_tree, estimate_size
from auction_env.solve.index import RecallError
from auction_env.solve.linear_program import ProgramError, solve_program
from auction_env.solve.methods import METHODS, Parameters, Solver
from auction_env.solve.policies import Positions
from auction_env.solve.tree import Counts, Forest, Tree
from auction_env.solve.values import Evaluation, Layout, PolicyError
from auction_env.solve.walk import TooLargeError

__all__ = [
    "METHODS",
    "Counts",
    "Evaluation",
    "Forest",
    "Layout",
    "Parameters",
    "PolicyError",
    "Positions",
    "ProgramError",
    "RecallError",
    "Size",
    "Solver",
    "TooLargeError",
    "Tree",
    "enumerate_tree",
    "estimate_size",
    "solve_program",
]
