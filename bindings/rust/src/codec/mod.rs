// SPDX-License-Identifier: MIT
//! Vectors to codes that the caller keeps, and back.

mod info;
mod options;
mod scores;
mod state;

pub use info::{CodecInfo, Plan, Segment, StateOrigin};
pub use options::CodecOptions;

use crate::error::{check, Error};
use crate::handle::Handle;
use crate::sizes::{check_length, count_rows, product, to_i32, to_i64, to_text, zeros};
use crate::{Metric, Result, WorkOptions};
use polarquant_sys as sys;
use std::fmt;

/// Which vector a code becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reconstruction {
    /// The one nearest to x on average.
    LeastError,
    /// The one whose inner products are unbiased.
    Unbiased,
}

/// Turns vectors into codes that the caller keeps, and scores and searches codes. It holds no
/// vectors.
///
/// Codes are plain bytes, the same on every machine, (n, [`code_bytes`](Codec::code_bytes)), to be
/// copied, cut and joined by row. "PolarPair…g128" alone codes groups of 128 rows. Calls that read
/// codes take the number of rows, and refuse bytes of another length.
///
/// Calls with `&self` may run in many threads at the same time; `train` needs the codec alone.
///
/// ```
/// use polarquant::{Codec, Metric};
///
/// let rows: Vec<f32> = (0..100 * 64).map(|i| ((i * i) as f32).sin()).collect();
/// let codec = Codec::new("Polar4", 64, Metric::InnerProduct)?;
/// let codes = codec.encode(&rows)?;
/// assert_eq!(codes.len(), 100 * codec.code_bytes());
/// let found = codec.search(&rows[..64], 100, &codes, 3)?;
/// assert_eq!(found.ids()[0], 0);
/// # Ok::<(), polarquant::Error>(())
/// ```
pub struct Codec {
    handle: Handle<sys::polar_codec>,
    dim: usize,
    metric: Metric,
}

impl Codec {
    /// A codec that is not trained.
    ///
    /// spec: of the code, as "Polar2" or "Polar4+2-dense"; [`spec_help`](crate::spec_help) lists
    /// all. dim: 1 to 65535. BadArgument for what is not allowed.
    pub fn new(spec: &str, dim: usize, metric: Metric) -> Result<Codec> {
        Codec::with_options(spec, dim, metric, &CodecOptions::new())
    }

    /// The same with options.
    pub fn with_options(
        spec: &str,
        dim: usize,
        metric: Metric,
        options: &CodecOptions<'_>,
    ) -> Result<Codec> {
        let text = to_text("spec", spec)?;
        let size = to_i32("dim", dim)?;
        let raw = options.to_raw(dim)?;
        // SAFETY: text and options live as long as the call.
        let handle = Handle::create(|out| unsafe {
            sys::polar_codec_create(text.as_ptr(), size, metric.number(), &raw, out)
        })?;
        Ok(Codec { handle, dim, metric })
    }

    fn from_handle(handle: Handle<sys::polar_codec>) -> Result<Codec> {
        let info = info::read_info(handle.shared())?;
        Ok(Codec { handle, dim: info.dim, metric: info.metric })
    }

    pub(crate) fn raw(&self) -> *const sys::polar_codec {
        self.handle.shared()
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How scores are measured.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Learns centre, unit and, where the codec has them, codebooks from rows x, (n, dim), n ≥ 1.
    ///
    /// Optional for most codecs; needed by "PolarPair…", "PolarTree…-online" and "…-pca", which wants
    /// 2·dim rows, better 10·dim. StateMismatch once this codec has encoded anything; BadArgument
    /// for a row that is not finite.
    pub fn train(&mut self, x: &[f32]) -> Result<()> {
        self.train_using(x, &WorkOptions::new())
    }

    /// The same with options.
    pub fn train_using(&mut self, x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        let n = self.rows("x", x)?;
        let codec = self.handle.sole();
        // SAFETY: x has n rows of dim numbers.
        options.run(|raw| unsafe { sys::polar_codec_train(codec, n, x.as_ptr(), raw) })
    }

    /// How well a "…-pca" codec fits rows x, (n, dim), n ≥ 1: their error, by that of rows that
    /// training held out. Near 1: as well as then; above 1.2 or so it is time to train a new codec.
    pub fn drift(&self, x: &[f32]) -> Result<f64> {
        self.drift_using(x, &WorkOptions::new())
    }

    /// The same with options.
    pub fn drift_using(&self, x: &[f32], options: &WorkOptions<'_>) -> Result<f64> {
        let n = self.rows("x", x)?;
        let mut drift = 0.0;
        // SAFETY: x has n rows of dim numbers.
        options.run(|raw| unsafe {
            sys::polar_codec_drift(self.raw(), n, x.as_ptr(), raw, &mut drift)
        })?;
        Ok(drift)
    }

    /// Bytes of n encoded rows.
    pub fn encoded_bytes(&self, n: usize) -> Result<usize> {
        let mut bytes = 0;
        let n = to_i64("n", n)?;
        // SAFETY: writes one number.
        check(unsafe { sys::polar_codec_encoded_bytes(self.raw(), n, &mut bytes) })?;
        Ok(bytes)
    }

    /// Codes of rows x, (n, dim).
    ///
    /// BadArgument that names the row for one that is not finite, or longer than scores can hold
    /// (2^61). `train` is refused after the first rows were encoded.
    pub fn encode(&self, x: &[f32]) -> Result<Vec<u8>> {
        self.encode_using(x, &WorkOptions::new())
    }

    /// The same with options.
    pub fn encode_using(&self, x: &[f32], options: &WorkOptions<'_>) -> Result<Vec<u8>> {
        let n = count_rows("x", x.len(), self.dim)?;
        let mut codes = zeros(self.encoded_bytes(n)?)?;
        self.encode_into(x, options, &mut codes)?;
        Ok(codes)
    }

    /// The same into memory of the caller's, [`encoded_bytes`](Codec::encoded_bytes) long.
    pub fn encode_into(
        &self,
        x: &[f32],
        options: &WorkOptions<'_>,
        codes: &mut [u8],
    ) -> Result<()> {
        let n = self.rows("x", x)?;
        // SAFETY: x has n rows of dim numbers; the library checks the length of codes.
        options.run(|raw| unsafe {
            let (out, bytes) = (codes.as_mut_ptr(), codes.len());
            sys::polar_codec_encode(self.raw(), n, x.as_ptr(), raw, out, bytes)
        })
    }

    /// Vectors of n coded rows, (n, dim).
    pub fn decode(&self, n: usize, codes: &[u8], kind: Reconstruction) -> Result<Vec<f32>> {
        self.check_codes("codes", n, codes)?;
        let mut x = zeros(product("n", n, self.dim)?)?;
        self.decode_into(n, codes, kind, &WorkOptions::new(), &mut x)?;
        Ok(x)
    }

    /// The same into memory of the caller's, (n, dim), with options.
    pub fn decode_into(
        &self,
        n: usize,
        codes: &[u8],
        kind: Reconstruction,
        options: &WorkOptions<'_>,
        x: &mut [f32],
    ) -> Result<()> {
        let kind = match kind {
            Reconstruction::LeastError => sys::POLAR_RECONSTRUCTION_LEAST_ERROR,
            Reconstruction::Unbiased => sys::POLAR_RECONSTRUCTION_UNBIASED,
        };
        check_length("x", x.len(), product("n", n, self.dim)?)?;
        let n = to_i64("n", n)?;
        // SAFETY: x has n rows of dim numbers; the library checks the length of codes.
        options.run(|raw| unsafe {
            let (bytes, length, out) = (codes.as_ptr(), codes.len(), x.as_mut_ptr());
            sys::polar_codec_decode(self.raw(), n, bytes, length, kind, raw, out)
        })
    }

    fn rows(&self, name: &str, x: &[f32]) -> Result<i64> {
        to_i64(name, count_rows(name, x.len(), self.dim)?)
    }

    /// Refuses codes of another number of rows before memory is taken for what becomes of them.
    pub(crate) fn check_codes(&self, name: &str, n: usize, codes: &[u8]) -> Result<()> {
        let wanted = self.encoded_bytes(n)?;
        if codes.len() != wanted {
            return Err(Error::bad_argument(format!(
                "{}: {} bytes are not allowed; {} rows have {}",
                name,
                codes.len(),
                n,
                wanted
            )));
        }
        Ok(())
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec")
            .field("spec", &self.spec())
            .field("dim", &self.dim)
            .field("metric", &self.metric)
            .finish()
    }
}
