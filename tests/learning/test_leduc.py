"""Leduc poker: the module against its own exact tree, and that against a published value."""

from __future__ import annotations

import leduc
import numpy as np
import pytest


def test_best_responses_to_uniform_play_win_the_published_sum():
    """NashConv 4.7472: OpenSpiel's value for its leduc_poker."""
    assert 2 * leduc.exploitability(leduc.uniform()) == pytest.approx(4.747222, abs=1e-6)


def test_legal_actions_and_payoffs_of_the_module_are_those_of_the_tree():
    deals = [(0, 1, 2), (2, 1, 0), (1, 2, 1), (0, 2, 2), (1, 1, 0)]
    nodes, ends = [leduc.Node()], 0
    while nodes:
        node = nodes.pop()
        if not node.over:
            table = leduc.table_at(0, 1, 2, node.line)
            assert table.to_act == node.to_act
            assert np.flatnonzero(table.mask(node.to_act)).tolist() == node.legal()
            nodes += [node.after(action) for action in node.legal()]
            continue
        ends += 1
        for first, second, public in deals if node.over == "showdown" else deals[:1]:
            table = leduc.table_at(first, second, public, node.line[:-1])
            net = table.act(int(node.line[-1]))
            won = leduc._won(first, second, public if node.round else -1, node, 0)
            assert net == [won, -won], node.line
    assert ends == 4 + 5 * (4 + 5), "of a round: four folds, five ways to close it"
