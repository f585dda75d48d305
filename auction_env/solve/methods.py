"""Methods that solve a tree: counterfactual regret minimisation in three forms, and magnetic mirror descent.

| name | method | what comes to a solution |
| --- | --- | --- |
| ``cfr`` | counterfactual regret minimisation (Zinkevich et al. 2007), seats in turn | the average policy |
| ``cfr+`` | CFR+ (Tammelin 2014): regrets at least 0, linear averaging | the average policy |
| ``dcfr`` | discounted CFR (Brown and Sandholm 2019), alpha 1.5, beta 0, gamma 2 | the average policy |
| ``mmd`` | magnetic mirror descent (Sokota et al. 2023), dilated entropy, uniform magnet | the last policy |

All of this is proved for two seats and sums of zero. With three seats NashConv is still defined, and these methods
often make it small, but none of them promises to.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from auction_env.core.jit import kernel
from auction_env.solve.values import Evaluation, Layout, add_ends

METHODS = ("cfr", "cfr+", "dcfr", "mmd")
_CFR, _CFR_PLUS, _DCFR = range(3)
AT_ONCE = 4_000_000  # ends and sequences that one call of compiled code goes through: Ctrl-C waits for its end


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Numbers of the methods.

    Attributes:
        alpha, beta, gamma: of ``dcfr``: positive regrets of iteration t are kept by t**alpha / (t**alpha + 1), negative
            ones by the same with beta, and the average by (t / (t + 1))**gamma.
        step: of ``mmd``: its step in iteration t is step / sqrt(t).
        magnet: of ``mmd``: the weight of the magnet in iteration t is magnet / sqrt(t).
    """

    alpha: float = 1.5
    beta: float = 0.0
    gamma: float = 2.0
    step: float = 2.0
    magnet: float = 1.0


class Solver:
    """Iterates one method on a tree.

    Args:
        layout: the tree's.
        method: one of METHODS.
        parameters: of the methods.

    Attributes:
        iteration: how many are done.
        regrets: float64[seats, most sequences]; of ``mmd``: logarithms of the policy.
        sums: the average's weights, of sequences; of ``mmd``: those of its entropy, of information states.
        reaches: of the current policy.
    """

    def __init__(self, layout: Layout, method: str = "cfr+", parameters: Parameters | None = None) -> None:
        if method not in METHODS:
            raise ValueError(f"method is {method!r}: it must be one of {', '.join(METHODS)}")
        self.layout, self.method, self.parameters = layout, method, parameters or Parameters()
        self.iteration = 0
        self.regrets, self.sums, self._gains = layout.new(), layout.new(), layout.new()
        self.reaches = layout.reaches_of(layout.uniform())
        if method == "mmd":
            self.regrets = np.log(np.maximum(layout.uniform(), 1e-300))
            self._set_weights()

    def iterate(self, number: int) -> None:
        """Do so many iterations."""
        layout, tree = self.layout, self.layout.tree
        work = tree.num_seats * (tree.ends.shape[1] + layout.width)
        while number > 0:
            now = 1 if layout.threads > 1 else max(1, min(number, AT_ONCE // work))
            if layout.threads == 1:
                self._many(now)
            else:
                self._one()
            self.iteration += now
            number -= now

    def _many(self, number: int) -> None:
        """On one thread, all in compiled code."""
        layout, p = self.layout, self.parameters
        tree, rows, signs = layout.tree, np.array(layout.rows), np.array(layout.signs)
        arrays = (layout.num_states, layout.parents, layout.starts, self.regrets, self.sums, self.reaches, self._gains)
        if self.method == "mmd":
            mmd_many(tree.ends, tree.worth, rows, signs, *arrays, self.iteration, number, p.step, p.magnet)
        else:
            kind = METHODS.index(self.method)
            cfr_many(
                *(tree.ends, tree.worth, rows, signs, *arrays, self.iteration, number, kind),
                *(p.alpha, p.beta, p.gamma),
            )

    def _one(self) -> None:
        """One iteration, its ends shared by threads."""
        layout, p, t = self.layout, self.parameters, self.iteration + 1
        seats = range(layout.tree.num_seats)
        part = [(layout.num_states[seat], layout.parents[seat], layout.starts[seat]) for seat in seats]
        state = [(self.regrets[seat], self.sums[seat], self.reaches[seat], self._gains[seat]) for seat in seats]
        if self.method == "mmd":
            for seat in seats:
                layout.gradient(seat, self.reaches, self._gains[seat])
            for seat in seats:
                mmd_update(*part[seat], *state[seat], t, p.step, p.magnet)
            return
        for seat in seats:
            layout.gradient(seat, self.reaches, self._gains[seat])
            cfr_update(*part[seat], *state[seat], t, METHODS.index(self.method), p.alpha, p.beta, p.gamma)

    def _set_weights(self) -> None:
        """Of the entropy at each information state, in ``sums``: what is at stake there, so that steps suit all."""
        layout, tree = self.layout, self.layout.tree
        for seat in range(tree.num_seats):
            self._gains[seat] = 0
            worth = np.abs(tree.worth[layout.rows[seat]])
            add_ends(tree.ends, worth, 1.0, seat, self.reaches, self._gains[seat], 0, tree.ends.shape[1])
            arrays = layout.num_states[seat], layout.parents[seat], layout.starts[seat]
            mmd_weights(*arrays, self._gains[seat], self.sums[seat])

    def policy(self) -> np.ndarray:
        """What the method offers: its average policy, or of ``mmd`` the last one."""
        if self.method == "mmd":
            return self.current()
        return self.layout.normalized(self.sums)

    def current(self) -> np.ndarray:
        """The last policy."""
        if self.method == "mmd":
            return self.layout.normalized(np.exp(self.regrets))
        return self.layout.normalized(np.maximum(self.regrets, 0))

    def evaluate(self) -> Evaluation:
        """What ``policy`` is worth."""
        return self.layout.evaluate(self.policy())


# --- counterfactual regret minimisation -----------------------------------------------------------------------------


@kernel
def cfr_update(
    number: Any,
    parents: Any,
    starts: Any,
    regrets: Any,
    sums: Any,
    reaches: Any,
    gains: Any,
    t: Any,
    kind: Any,
    alpha: Any,
    beta: Any,
    gamma: Any,
) -> None:
    """Iteration ``t`` of one seat: average and regrets by the policy as it is, then the next one. ``gains`` change."""
    kept_plus, kept_minus, kept_sums, weight = 1.0, 1.0, 1.0, 1.0
    if kind == _CFR_PLUS:
        weight = np.float64(t)
    elif kind == _DCFR:
        before = np.float64(t - 1)
        kept_plus = before**alpha / (before**alpha + 1)
        kept_minus = before**beta / (before**beta + 1) if before > 0 else 0.0
        kept_sums = (before / t) ** gamma
    for state in range(number - 1, -1, -1):
        first, last = starts[state], starts[state + 1]
        total = 0.0
        for sequence in range(first, last):
            total += max(regrets[sequence], 0.0)
        value = 0.0
        for sequence in range(first, last):
            chance = max(regrets[sequence], 0.0) / total if total > 0 else 1.0 / (last - first)
            value += chance * gains[sequence]
            sums[sequence] = kept_sums * sums[sequence] + weight * reaches[parents[state]] * chance
        for sequence in range(first, last):
            regret = regrets[sequence]
            regret = regret * (kept_plus if regret > 0 else kept_minus) + gains[sequence] - value
            regrets[sequence] = max(regret, 0.0) if kind == _CFR_PLUS else regret
        gains[parents[state]] += value
    for state in range(number):
        first, last = starts[state], starts[state + 1]
        total = 0.0
        for sequence in range(first, last):
            total += max(regrets[sequence], 0.0)
        for sequence in range(first, last):
            chance = max(regrets[sequence], 0.0) / total if total > 0 else 1.0 / (last - first)
            reaches[sequence] = reaches[parents[state]] * chance


@kernel
def cfr_many(
    ends: Any,
    worth: Any,
    rows: Any,
    signs: Any,
    num_states: Any,
    parents: Any,
    starts: Any,
    regrets: Any,
    sums: Any,
    reaches: Any,
    gains: Any,
    done: Any,
    number: Any,
    kind: Any,
    alpha: Any,
    beta: Any,
    gamma: Any,
) -> None:
    """``number`` iterations, seats in turn."""
    for t in range(done + 1, done + number + 1):
        for seat in range(ends.shape[0]):
            gains[seat, :] = 0.0
            add_ends(ends, worth[rows[seat]], signs[seat], seat, reaches, gains[seat], 0, ends.shape[1])
            cfr_update(
                num_states[seat],
                parents[seat],
                starts[seat],
                regrets[seat],
                sums[seat],
                reaches[seat],
                gains[seat],
                t,
                kind,
                alpha,
                beta,
                gamma,
            )


# --- magnetic mirror descent ------------------------------------------------------------------------------------------


@kernel
def mmd_weights(number: Any, parents: Any, starts: Any, gains: Any, out: Any) -> None:
    """Chips that are at stake at each information state of a seat, in absolute value, when all play uniformly."""
    for state in range(number - 1, -1, -1):
        first, last = starts[state], starts[state + 1]
        total = 0.0
        for sequence in range(first, last):
            total += gains[sequence]
        out[state] = max(total / (last - first), 1e-12)
        gains[parents[state]] += total / (last - first)


@kernel
def mmd_update(
    number: Any,
    parents: Any,
    starts: Any,
    logs: Any,
    weights: Any,
    reaches: Any,
    gains: Any,
    t: Any,
    step: Any,
    magnet: Any,
) -> None:
    """Iteration ``t`` of one seat: ``logs`` become the logarithms of its next policy.

    That is the strategy x' with the largest ``<step * gains + grad(x), x'> - psi(x') - step * magnet * KL(x')``: psi is
    the dilated entropy, the sum over information states of ``weight * reach * sum of p * log p``; KL is that of x' from
    uniform play, weighted likewise. State by state from the last one it is a soft maximum. The gradient of psi at a
    sequence is its own state's ``weight * (log p + 1)``, less the weights of the states that it leads to.
    """
    eta = step / np.sqrt(np.float64(t))
    pull = eta * magnet / np.sqrt(np.float64(t))
    for sequence in range(gains.shape[0]):
        gains[sequence] *= eta
    for state in range(number - 1, -1, -1):
        first, last = starts[state], starts[state + 1]
        weight = weights[state]
        scale = weight * (1.0 + pull)
        best = -np.inf
        for sequence in range(first, last):
            gains[sequence] = (gains[sequence] + weight * (logs[sequence] + 1.0)) / scale
            best = max(best, gains[sequence])
        total = 0.0
        for sequence in range(first, last):
            total += np.exp(gains[sequence] - best)
        soft = best + np.log(total)
        for sequence in range(first, last):
            logs[sequence] = gains[sequence] - soft
        gains[parents[state]] += scale * soft - weight - weight * pull * np.log(np.float64(last - first))
    for state in range(number):
        for sequence in range(starts[state], starts[state + 1]):
            reaches[sequence] = reaches[parents[state]] * np.exp(logs[sequence])


@kernel
def mmd_many(
    ends: Any,
    worth: Any,
    rows: Any,
    signs: Any,
    num_states: Any,
    parents: Any,
    starts: Any,
    logs: Any,
    weights: Any,
    reaches: Any,
    gains: Any,
    done: Any,
    number: Any,
    step: Any,
    magnet: Any,
) -> None:
    """``number`` iterations, all seats at once."""
    for t in range(done + 1, done + number + 1):
        for seat in range(ends.shape[0]):
            gains[seat, :] = 0.0
            add_ends(ends, worth[rows[seat]], signs[seat], seat, reaches, gains[seat], 0, ends.shape[1])
        for seat in range(ends.shape[0]):
            mmd_update(
                num_states[seat],
                parents[seat],
                starts[seat],
                logs[seat],
                weights[seat],
                reaches[seat],
                gains[seat],
                t,
                step,
                magnet,
            )
