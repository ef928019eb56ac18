// SPDX-License-Identifier: MIT
//! What there is to know about a codec.

use crate::error::{check, read_text};
use crate::sizes::{to_usize, zeros};
use crate::structs;
use crate::{Codec, Metric, Result};
use polarquant_sys as sys;

/// Where the centre and the unit of a codec come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StateOrigin {
    /// As the codec was created.
    Created,
    /// From an index's first rows, in states of earlier versions.
    FirstRows,
    /// From `train`.
    Trained,
}

/// What there is to know about a codec.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CodecInfo {
    /// Dimensions of a vector.
    pub dim: usize,
    /// How scores are measured.
    pub metric: Metric,
    /// False only while `encode` must wait for `train`.
    pub is_trained: bool,
    /// Where centre and unit come from.
    pub state_origin: StateOrigin,
    /// Rows that share a code; 1 for all but "PolarPair…g128".
    pub group_rows: usize,
    /// Of the rotation.
    pub seed: u64,
    /// Bytes of one code (of `group_rows` rows), factors included.
    pub code_bytes: usize,
    /// Of these, the factors; 0 for codecs without factors.
    pub factor_bytes: usize,
    /// Bytes of a row of the unfinished last group; 0 when `group_rows` is 1.
    pub tail_row_bytes: usize,
    /// 8 · code_bytes / (group_rows · dim).
    pub bits_per_dim: f64,
    /// Error per dimension on the unit Gaussian; 0 where it is not defined.
    pub mse: f64,
    /// ‖centre‖.
    pub centre_norm: f64,
    /// A power of two near the typical ‖x − centre‖.
    pub norm_unit: f64,
    /// Equal exactly for codecs whose codes mix.
    pub state_id: u64,
}

/// A segment of a "…-pca" codec's plan: rotated coordinates that have one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Segment {
    /// Its first coordinate; segments are in order, by falling variance.
    pub first: usize,
    /// Coordinates: 64, or fewer in the last one.
    pub dim: usize,
    /// Bits a dimension: 0 (nothing of it is stored), 0.5 to 5, 6, 7, 8.
    pub bits: f64,
    /// Standard deviation of its coordinates of √dim · R(x − c) / ‖x − c‖.
    pub scale: f64,
}

/// What a "…-pca" codec learned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Whether rotation and rates are trained. False: they gained too little on rows that were held
    /// out, and codes are those of the untrained codec.
    pub has_basis: bool,
    /// Of all coordinates.
    pub segments: Vec<Segment>,
    /// Mean ‖x̂ − x‖² / ‖x − c‖² of rows that were held out, x̂ unbiased.
    pub error: f64,
    /// The same of the untrained codec.
    pub untrained_error: f64,
}

impl Codec {
    /// All that there is to know, at this moment.
    pub fn info(&self) -> CodecInfo {
        read_info(self.raw()).expect("a codec tells what it is")
    }

    /// Its name, in canonical form.
    pub fn spec(&self) -> String {
        // SAFETY: the buffer has room for `cap` bytes.
        read_text(|buffer, cap| unsafe { sys::polar_codec_spec(self.raw(), buffer, cap) })
    }

    /// Bytes of one code, factors included.
    pub fn code_bytes(&self) -> usize {
        self.info().code_bytes
    }

    /// False only while `encode` must wait for `train`.
    pub fn is_trained(&self) -> bool {
        self.info().is_trained
    }

    /// The centre, (dim); zeros when there is none.
    pub fn centre(&self) -> Result<Vec<f32>> {
        let mut centre = zeros(self.dim())?;
        // SAFETY: there is memory for dim numbers.
        check(unsafe { sys::polar_codec_get_centre(self.raw(), centre.as_mut_ptr()) })?;
        Ok(centre)
    }

    /// Memory held: rotation, tables, centre.
    pub fn memory_bytes(&self) -> Result<usize> {
        let mut bytes = 0;
        // SAFETY: writes one number.
        check(unsafe { sys::polar_codec_memory_bytes(self.raw(), &mut bytes) })?;
        Ok(bytes)
    }

    /// What a "…-pca" codec learned. Unsupported for other codecs, NotTrained before `train`.
    pub fn plan(&self) -> Result<Plan> {
        // SAFETY: without segments to fill, none are written.
        let mut raw: sys::polar_codec_plan = structs::read(|plan| unsafe {
            sys::polar_codec_get_plan(self.raw(), plan, std::ptr::null_mut(), 0)
        })?;
        let nothing = sys::polar_segment { first: 0, dim: 0, bits: 0.0, scale: 0.0 };
        let mut segments = vec![nothing; to_usize(raw.segments)];
        // SAFETY: there is memory for `segments`.
        check(unsafe {
            sys::polar_codec_get_plan(self.raw(), &mut raw, segments.as_mut_ptr(), raw.segments)
        })?;
        let read = |segment: &sys::polar_segment| Segment {
            first: to_usize(segment.first.into()),
            dim: to_usize(segment.dim.into()),
            bits: segment.bits,
            scale: segment.scale,
        };
        Ok(Plan {
            has_basis: raw.has_basis != 0,
            segments: segments.iter().map(read).collect(),
            error: raw.error,
            untrained_error: raw.untrained_error,
        })
    }
}

pub(super) fn read_info(codec: *const sys::polar_codec) -> Result<CodecInfo> {
    // SAFETY: the function fills the info up to its size.
    let raw: sys::polar_codec_info =
        structs::read(|info| unsafe { sys::polar_codec_get_info(codec, info) })?;
    Ok(CodecInfo {
        dim: to_usize(raw.dim.into()),
        metric: Metric::from_number(raw.metric),
        is_trained: raw.is_trained != 0,
        state_origin: match raw.state_origin {
            1 => StateOrigin::FirstRows,
            2 => StateOrigin::Trained,
            _ => StateOrigin::Created,
        },
        group_rows: to_usize(raw.group_rows.into()),
        seed: raw.seed,
        code_bytes: raw.code_bytes,
        factor_bytes: raw.factor_bytes,
        tail_row_bytes: raw.tail_row_bytes,
        bits_per_dim: raw.bits_per_dim,
        mse: raw.mse,
        centre_norm: raw.centre_norm,
        norm_unit: raw.norm_unit,
        state_id: raw.state_id,
    })
}
