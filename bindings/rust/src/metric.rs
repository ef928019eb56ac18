// SPDX-License-Identifier: MIT
//! How nearness is measured.

use polarquant_sys as sys;

/// How nearness is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Scores are ⟨q, x⟩; larger is nearer.
    InnerProduct,
    /// Scores are ‖q − x‖², squared; smaller is nearer.
    L2,
    /// Rows and queries are normalized on the way in; larger is nearer.
    Cosine,
}

impl Metric {
    pub(crate) fn number(self) -> sys::polar_metric {
        match self {
            Metric::InnerProduct => sys::POLAR_METRIC_INNER_PRODUCT,
            Metric::L2 => sys::POLAR_METRIC_L2,
            Metric::Cosine => sys::POLAR_METRIC_COSINE,
        }
    }

    pub(crate) fn from_number(number: sys::polar_metric) -> Metric {
        match number {
            sys::POLAR_METRIC_L2 => Metric::L2,
            sys::POLAR_METRIC_COSINE => Metric::Cosine,
            _ => Metric::InnerProduct,
        }
    }
}
