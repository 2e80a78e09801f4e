"""The neuron: tanh(5 * weighted sum + bias)."""

from typing import Any

from numpy import float32 as f32

from qed.compile import inlined
from qed.controller import network

GAIN = f32(network.GAIN)
SATURATION = f32(8.0)  # beyond, tanh is 1 to single precision


@inlined
def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent, to 4e-7.

    An odd rational function whose coefficients were fitted for the least largest error on
    [0, 8] (6e-9 before rounding).
    """
    x = min(max(x, -SATURATION), SATURATION)
    q = x * x
    above = f32(1.50617454e-08) * q + f32(2.17731993e-05)
    above = above * q + f32(3.56415329e-03)
    above = above * q + f32(1.34381887e-01)
    above = above * q + f32(9.99999970e-01)
    below = f32(8.45363548e-07) * q + f32(3.39917476e-04)
    below = below * q + f32(2.61360049e-02)
    below = below * q + f32(4.67715095e-01)
    below = below * q + f32(1.0)
    return min(max(x * (above / below), f32(-1.0)), f32(1.0))
