"""Anderson acceleration on a linear map, where it is a Krylov method, and its safeguard."""

import numpy as np

from lowdim._core.accelerate import Point, accelerated
from lowdim._core.iterate import iterate


def run(evaluate, start, **settings):
    step = accelerated(evaluate, **settings)
    return iterate(step, (evaluate(start),), max_iter=400, tol=1e-9, criterion="absolute", owner="test")


def test_a_linear_map_is_solved_in_as_many_steps_as_it_has_dimensions():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    A, b = Q @ np.diag([0.99, 0.9, 0.7, 0.3, 0.1]) @ Q.T, rng.standard_normal(5)
    target = np.linalg.solve(np.eye(5) - A, b)

    def evaluate(x):
        return Point(x, A @ x + b, float(np.linalg.norm(A @ x + b - x)))

    history = (evaluate(np.zeros(5)),)
    step = accelerated(evaluate)
    for _ in range(9):
        history, _ = step(history)
    np.testing.assert_allclose(history[-1].place, target, rtol=1e-6)


def test_a_jump_that_loses_is_taken_back():
    """Minus a bounded gain as the loss: the accepted losses never rise, whatever the jumps do."""

    def loss(x):
        return float(np.abs(np.sin(3 * x)).sum() + (x**2).sum())

    def evaluate(x):
        image = x * 0.9
        return Point(x, image if loss(image) <= loss(x) else x, loss(x))

    losses = run(evaluate, np.array([2.0, -1.3])).losses
    assert (np.diff(losses) <= 0).all()


def test_far_away_it_only_follows_the_map():
    seen = []

    def evaluate(x):
        seen.append(float(x[0]))
        return Point(x, 0.5 * x + 1.0, float(np.abs(0.5 * x + 1.0 - x)[0]))

    step = accelerated(evaluate, below=1e-3)
    history = (evaluate(np.array([100.0])),)
    for _ in range(5):
        history, _ = step(history)
    np.testing.assert_allclose(seen, 2 + 98 * 0.5 ** np.arange(6))
