# SPDX-License-Identifier: MIT
"""The scalar quantizer of least squared error for a density on a line.

Source: Lloyd 1982, Max 1960, in the form of Vicentino 2026, stage 3: every centroid is the mean of
the density over its cell, every border lies half way between two centroids. Lloyd's iteration is
slow for many levels, so after a few rounds Newton's method solves the same equations.
"""

import numpy as np


def solve(mass, moment, pdf, low, high, start):
    """Centroids, ascending.

    mass(a, b) and moment(a, b): integrals of f and of t·f over [a, b], arrays in and out; pdf(t):
    f; low, high: ends of the line (may be infinite); start: first guess, ascending.
    """
    centroids = np.array(start, dtype=np.float64)
    for _ in range(50):
        centroids = cell_means(mass, moment, low, high, centroids)
    if len(centroids) == 1:
        return centroids
    for _ in range(100):
        inner = (centroids[:-1] + centroids[1:]) / 2
        borders = np.concatenate(([low], inner, [high]))
        weight = mass(borders[:-1], borders[1:])
        means = moment(borders[:-1], borders[1:]) / weight
        # d mean_i / d right border = f(t)(t − mean_i)/weight_i, and minus that for the left border;
        # each border moves by half of either neighbour.
        right = np.zeros_like(means)
        left = np.zeros_like(means)
        right[:-1] = pdf(inner) * (inner - means[:-1]) / weight[:-1] / 2
        left[1:] = pdf(inner) * (means[1:] - inner) / weight[1:] / 2
        jacobian = np.diag(1 - right - left) - np.diag(right[:-1], 1) - np.diag(left[1:], -1)
        step = np.linalg.solve(jacobian, means - centroids)
        candidate = centroids + step
        if np.any(np.diff(candidate) <= 0) or candidate[0] <= low or candidate[-1] >= high:
            centroids = cell_means(mass, moment, low, high, centroids)  # too far: one plain round
            continue
        centroids = candidate
        if np.max(np.abs(step)) < 1e-12 * np.max(np.abs(centroids)):
            break
    return centroids


def cell_means(mass, moment, low, high, centroids):
    """One round of Lloyd's iteration."""
    borders = np.concatenate(([low], (centroids[:-1] + centroids[1:]) / 2, [high]))
    return moment(borders[:-1], borders[1:]) / mass(borders[:-1], borders[1:])


def nearest(values, centroids, tie="lower"):
    """Index of the nearest centroid for each value; a tie goes to the lower or the higher index."""
    side = "left" if tie == "lower" else "right"
    return np.searchsorted((centroids[:-1] + centroids[1:]) / 2, values, side=side)


def border_distance(values, centroids):
    """Distance of each value to the nearest border between two cells."""
    if len(centroids) == 1:
        return np.full(np.shape(values), np.inf)
    borders = (centroids[:-1] + centroids[1:]) / 2
    right = np.clip(np.searchsorted(borders, values), 0, len(borders) - 1)
    left = np.clip(right - 1, 0, len(borders) - 1)
    return np.minimum(np.abs(values - borders[right]), np.abs(values - borders[left]))
