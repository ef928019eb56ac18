// SPDX-License-Identifier: MIT
//! How a codec is made.

use crate::sizes::check_length;
use crate::structs;
use crate::Result;
use polarquant_sys as sys;

/// How a [`Codec`](crate::Codec) is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodecOptions<'a> {
    seed: Option<u64>,
    centre: Option<&'a [f32]>,
    norm_unit: f64,
    keeps_centre: bool,
}

impl<'a> CodecOptions<'a> {
    /// The defaults.
    pub fn new() -> Self {
        CodecOptions::default()
    }

    /// Of the random rotation; any value, by default 1.
    pub fn seed(self, seed: u64) -> Self {
        CodecOptions { seed: Some(seed), ..self }
    }

    /// (dim): subtracted from every row. By default learned by `train`, and 0 before.
    pub fn centre(self, centre: &'a [f32]) -> Self {
        CodecOptions { centre: Some(centre), ..self }
    }

    /// Typical ‖x − centre‖, 2^-40 to 2^40. 0, the default: learned by `train`, and 1 before.
    pub fn norm_unit(self, norm_unit: f64) -> Self {
        CodecOptions { norm_unit, ..self }
    }

    /// Whether `train` may set the centre to the rows' mean; by default true.
    pub fn learn_centre(self, learn_centre: bool) -> Self {
        CodecOptions { keeps_centre: !learn_centre, ..self }
    }

    /// As the library takes it; points to what these options borrow.
    pub(super) fn to_raw(self, dim: usize) -> Result<sys::polar_codec_options> {
        let mut raw: sys::polar_codec_options = structs::defaults();
        raw.seed = self.seed.unwrap_or(raw.seed);
        raw.norm_unit = self.norm_unit;
        raw.learn_centre = i32::from(!self.keeps_centre);
        if let Some(centre) = self.centre {
            check_length("centre", centre.len(), dim)?;
            raw.centre = centre.as_ptr();
        }
        Ok(raw)
    }
}
