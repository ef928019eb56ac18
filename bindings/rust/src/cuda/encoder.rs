// SPDX-License-Identifier: MIT
//! Encoding on a device.

use super::{CudaOptions, Stream};
use crate::error::check;
use crate::handle::Handle;
use crate::sizes::{check_length, count_rows, product, to_i64, zeros};
use crate::{Codec, Result};
use polarquant_sys as sys;
use std::fmt;
use std::ptr;

/// What encoding needs of a trained codec, in a device's memory. Immutable; any number of threads may
/// encode at the same time.
pub struct CudaEncoder {
    handle: Handle<sys::polar_cuda_encoder>,
    dim: usize,
    code_bytes: usize,
}

impl CudaEncoder {
    /// For "Polar0.5" to "Polar5" of more than 64 dimensions, rotated as they are by default or with
    /// "-norot"; Unsupported for others and for rows too long for the device (some 13,000 dimensions).
    /// The codec may change, or go, afterwards.
    pub fn new(codec: &Codec, options: &CudaOptions) -> Result<CudaEncoder> {
        let raw = options.to_raw()?;
        // SAFETY: codec and options live as long as the call.
        let handle = Handle::create(|out| unsafe {
            sys::polar_cuda_encoder_create(codec.raw(), &raw, out)
        })?;
        Ok(CudaEncoder { handle, dim: codec.dim(), code_bytes: codec.code_bytes() })
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Bytes of one code, factors included.
    pub fn code_bytes(&self) -> usize {
        self.code_bytes
    }

    /// Codes of rows x, (n, dim), in the host's memory: the bytes of [`Codec::encode`], and its errors.
    pub fn encode(&self, x: &[f32]) -> Result<Vec<u8>> {
        let n = count_rows("x", x.len(), self.dim)?;
        let mut codes = zeros(product("x", n, self.code_bytes)?)?;
        self.encode_into(x, &mut codes)?;
        Ok(codes)
    }

    /// The same into memory of the caller's, (n, code_bytes).
    pub fn encode_into(&self, x: &[f32], codes: &mut [u8]) -> Result<()> {
        let n = count_rows("x", x.len(), self.dim)?;
        check_length("codes", codes.len(), product("x", n, self.code_bytes)?)?;
        // SAFETY: both slices have n rows; the default stream is one of every device.
        unsafe { self.encode_raw(n, x.as_ptr(), codes.as_mut_ptr(), ptr::null_mut()) }
    }

    /// The same of rows and codes that lie in the host's memory or the device's, each where it likes.
    ///
    /// # Safety
    ///
    /// x points to (n, dim) numbers, codes to (n, code_bytes) bytes that nobody else uses, until the
    /// call returns; stream is null or one of the device. What wrote x was put on it, or has ended.
    pub unsafe fn encode_raw(
        &self,
        n: usize,
        x: *const f32,
        codes: *mut u8,
        stream: Stream,
    ) -> Result<()> {
        let bytes = product("n", n, self.code_bytes)?;
        let n = to_i64("n", n)?;
        check(sys::polar_cuda_encoder_encode(self.handle.shared(), n, x, codes, bytes, stream))
    }
}

impl fmt::Debug for CudaEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaEncoder")
            .field("dim", &self.dim)
            .field("code_bytes", &self.code_bytes)
            .finish()
    }
}
