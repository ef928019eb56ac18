// SPDX-License-Identifier: MIT
//! Scores and weighted sums of codes on a device, by heads as attention has its keys and values.

use super::{CudaOptions, Stream};
use crate::error::check;
use crate::handle::Handle;
use crate::sizes::{check_length, not_allowed, product, to_i64, zeros};
use crate::{Codec, CodecInfo, Result};
use polarquant_sys as sys;
use std::fmt;
use std::ptr;

/// What decoding needs of a trained codec, in a device's memory: scores and weighted sums of rows that
/// the caller holds, by heads as attention has its keys and values. Immutable; any number of threads
/// may use one at the same time.
///
/// Numbers are the CPU's up to the rounding of floats, and the same from call to call.
pub struct CudaCodec {
    handle: Handle<sys::polar_cuda_codec>,
    info: CodecInfo,
}

impl CudaCodec {
    /// For every codec but "PolarScalar…" by L2 whose dimensions are no multiple of 128: Unsupported.
    /// The codec may change, or go, afterwards.
    pub fn new(codec: &Codec, options: &CudaOptions) -> Result<CudaCodec> {
        let raw = options.to_raw()?;
        // SAFETY: codec and options live as long as the call.
        let handle =
            Handle::create(|out| unsafe { sys::polar_cuda_codec_create(codec.raw(), &raw, out) })?;
        Ok(CudaCodec { handle, info: codec.info() })
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.info.dim
    }

    /// Scores of the n rows of each head for the queries of that head, (heads, nq, n), as
    /// [`Codec::score`].
    ///
    /// queries: (heads, nq, dim). codes: those of the heads one after the other. heads and nq: at most
    /// 65535.
    pub fn score(
        &self,
        heads: usize,
        nq: usize,
        queries: &[f32],
        n: usize,
        codes: &[u8],
    ) -> Result<Vec<f32>> {
        let all = product("heads", heads, nq)?;
        check_length("codes", codes.len(), self.codes_bytes(heads, n)?)?;
        let mut scores = zeros(product("n", all, n)?)?;
        // SAFETY: the lengths are checked; the default stream is one of every device.
        unsafe {
            let (bytes, out) = (codes.as_ptr(), scores.as_mut_ptr());
            self.score_raw(heads, nq, queries, n, bytes, ptr::null_mut(), out)?;
        }
        Ok(scores)
    }

    /// The same of codes and scores that lie in the host's memory or the device's, each where it likes.
    ///
    /// # Safety
    ///
    /// codes points to those of all heads, scores to (heads, nq, n) numbers that nobody else uses,
    /// until the call returns; stream is null or one of the device. What wrote the codes was put on it,
    /// or has ended.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn score_raw(
        &self,
        heads: usize,
        nq: usize,
        queries: &[f32],
        n: usize,
        codes: *const u8,
        stream: Stream,
        scores: *mut f32,
    ) -> Result<()> {
        let all = product("heads", heads, nq)?;
        check_length("queries", queries.len(), product("queries", all, self.info.dim)?)?;
        let bytes = self.codes_bytes(heads, n)?;
        let (heads, nq, n) = (to_i64("heads", heads)?, to_i64("nq", nq)?, to_i64("n", n)?);
        let (codec, numbers) = (self.handle.shared(), queries.as_ptr());
        check(sys::polar_cuda_codec_score(
            codec, heads, nq, numbers, n, codes, bytes, stream, scores,
        ))
    }

    /// Weighted sums of the n rows of each head, (heads, nw, dim), by weights, (heads, nw, n), as
    /// [`Codec::combine`]. codes: those of the heads one after the other. heads and nw: at most 65535.
    pub fn combine(
        &self,
        heads: usize,
        nw: usize,
        weights: &[f32],
        n: usize,
        codes: &[u8],
    ) -> Result<Vec<f32>> {
        let all = product("heads", heads, nw)?;
        check_length("codes", codes.len(), self.codes_bytes(heads, n)?)?;
        check_length("weights", weights.len(), product("weights", all, n)?)?;
        let (given, bytes) = (weights.as_ptr(), codes.as_ptr());
        // SAFETY: the lengths are checked; the default stream is one of every device.
        unsafe { self.combine_raw(heads, nw, given, n, bytes, ptr::null_mut()) }
    }

    /// The same of weights and codes that lie in the host's memory or the device's, each where it
    /// likes.
    ///
    /// # Safety
    ///
    /// weights points to (heads, nw, n) numbers, codes to those of all heads, until the call returns;
    /// stream is null or one of the device. What wrote them was put on it, or has ended.
    pub unsafe fn combine_raw(
        &self,
        heads: usize,
        nw: usize,
        weights: *const f32,
        n: usize,
        codes: *const u8,
        stream: Stream,
    ) -> Result<Vec<f32>> {
        let all = product("heads", heads, nw)?;
        let bytes = self.codes_bytes(heads, n)?;
        let mut sums = zeros(product("heads", all, self.info.dim)?)?;
        let (heads, nw, n) = (to_i64("heads", heads)?, to_i64("nw", nw)?, to_i64("n", n)?);
        let (codec, out) = (self.handle.shared(), sums.as_mut_ptr());
        check(sys::polar_cuda_codec_combine(
            codec, heads, nw, weights, n, codes, bytes, stream, out,
        ))?;
        Ok(sums)
    }

    /// Bytes of n coded rows of each head.
    fn codes_bytes(&self, heads: usize, n: usize) -> Result<usize> {
        let group = self.info.group_rows;
        if group == 0 {
            return Err(not_allowed("n", n, "rows of a codec with groups"));
        }
        let groups = product("n", n / group, self.info.code_bytes)?;
        let tail = product("n", n % group, self.info.tail_row_bytes)?;
        let head = groups.checked_add(tail).ok_or_else(|| not_allowed("n", n, "fewer rows"))?;
        product("heads", heads, head)
    }
}

impl fmt::Debug for CudaCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaCodec").field("dim", &self.info.dim).finish()
    }
}
