# SPDX-License-Identifier: MIT
"""The seconds that a request takes at an actor that does nothing else.

A form of service times draws arrays of them and knows their mean. Changes by slow machines, and by requests
that are slow anywhere, stand beside it.
"""

import dataclasses
import math

import numpy as np

#: A normal number that 99 of 100 do not exceed.
_Z99 = 2.3263478740408408


class Constant:
    def __init__(self, seconds):
        self.mean = seconds

    def draw(self, generator, count):
        return np.full(count, self.mean)


class Exponential:
    def __init__(self, mean):
        self.mean = mean

    def draw(self, generator, count):
        return generator.exponential(self.mean, count)


class Lognormal:
    """By the time that half of the requests do not exceed, and the one that 99 of 100 do not."""

    def __init__(self, median, p99):
        if p99 < median:
            raise ValueError(f"a p99 of {p99:g} s is below the median, {median:g} s")
        self._mu = math.log(median)
        self._sigma = (math.log(p99) - self._mu) / _Z99
        self.mean = math.exp(self._mu + self._sigma**2 / 2)

    def draw(self, generator, count):
        return generator.lognormal(self._mu, self._sigma, count)


class Sample:
    """Any of the times that were measured, each as likely as another."""

    def __init__(self, seconds):
        self._seconds = np.asarray(seconds, dtype=np.float64).ravel()
        if self._seconds.size == 0 or not np.all(np.isfinite(self._seconds) & (self._seconds > 0)):
            raise ValueError("a sample holds at least one time, and each is above 0 s")
        self.mean = float(self._seconds.mean())

    def draw(self, generator, count):
        return generator.choice(self._seconds, count)


@dataclasses.dataclass(frozen=True)
class Change:
    """What a slow request, or a slow machine, makes of a time."""

    factor: float = 1.0
    seconds: float = 0.0

    def applied_to(self, seconds):
        return seconds * self.factor + self.seconds


def _numbers(text, least, most):
    parts = text.split(",")
    if not least <= len(parts) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise ValueError(f"{text!r} is not {wanted} numbers with commas between")
    found = [float(part) for part in parts]
    if not all(math.isfinite(number) and number > 0 for number in found):
        raise ValueError(f"{text!r}: numbers above 0 are allowed")
    return found


def parse_service(text, groups, batch):
    """Service times as the command line says them; `service` in the help of simulate_cluster.py."""
    kind, colon, value = text.partition(":")
    if not colon:
        raise ValueError(f"{text!r} has no colon; constant:0.01 has the form")
    if kind == "constant":
        return Constant(*_numbers(value, 1, 1))
    if kind == "exponential":
        return Exponential(*_numbers(value, 1, 1))
    if kind == "lognormal":
        return Lognormal(*_numbers(value, 2, 2))
    if kind == "bytes":
        size, rate, *fixed = _numbers(value, 2, 3)
        return Constant(sum(fixed) + size * batch / groups / rate)
    if kind == "sample":
        return Sample(np.loadtxt(value, ndmin=1))
    raise ValueError(f"{kind!r} is not constant, exponential, lognormal, bytes or sample")


def parse_change(text):
    """x10 or +0.5."""
    number = _numbers(text[1:], 1, 1)[0] if text[:1] in ("x", "+") else None
    if number is None:
        raise ValueError(f"{text!r} is neither a factor, as x10, nor seconds more, as +0.5")
    return Change(factor=number) if text[0] == "x" else Change(seconds=number)
