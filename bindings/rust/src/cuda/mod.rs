// SPDX-License-Identifier: MIT
//! Searches, encoding and scores on NVIDIA GPUs.
//!
//! The work is done by libpolarquant_cuda, which the library loads when one of these calls first needs
//! it: from the path in the environment's `POLARQUANT_CUDA_LIBRARY`, else from beside itself, else
//! from where the system looks. Without it, and without a device, calls return
//! [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) with a text that says which.
//!
//! ```
//! use polarquant::cuda::{self, CudaIndex, CudaOptions};
//! use polarquant::{Index, Metric};
//!
//! let mut index = Index::new("Polar4", 128, Metric::Cosine)?;
//! index.add(&vec![0.5; 128 * 10])?;
//! match cuda::devices() {
//!     Ok(devices) => {
//!         println!("{}", devices[0].name);
//!         let copy = CudaIndex::from_index(&index, &CudaOptions::new())?;
//!         assert_eq!(copy.ntotal(), 10);
//!     }
//!     Err(error) => println!("no device: {}", error),
//! }
//! # Ok::<(), polarquant::Error>(())
//! ```

mod codec;
mod encoder;
mod index;

pub use codec::CudaCodec;
pub use encoder::CudaEncoder;
pub use index::CudaIndex;

/// A `cudaStream_t`; null is the default stream.
pub type Stream = *mut c_void;

use crate::error::check;
use crate::sizes::{to_i32, to_usize};
use crate::structs;
use crate::Result;
use polarquant_sys as sys;
use std::os::raw::c_void;

/// A device of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CudaDevice {
    /// As the driver calls it.
    pub name: String,
    /// Compute capability, as (9, 0).
    pub compute_capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Bytes of its memory.
    pub total_bytes: u64,
    /// Of these, those not in use now.
    pub free_bytes: u64,
}

/// What each of several devices has of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// A part of the rows, or of the lists of an inverted file; it searches these for every query.
    Sharded,
    /// All rows; it searches them for a part of the queries.
    Replicated,
}

/// Where an index, an encoder or a codec goes.
#[derive(Clone, Debug, Default)]
pub struct CudaOptions {
    num_threads: usize,
    device: usize,
    devices: Vec<i32>,
    is_replicated: bool,
}

impl CudaOptions {
    /// The defaults: device 0.
    pub fn new() -> Self {
        CudaOptions::default()
    }

    /// The device's number, a place in [`devices`]; by default 0.
    pub fn device(self, device: usize) -> Self {
        CudaOptions { device, ..self }
    }

    /// Several devices for one index, at most 64. One may be there more than once, and is then used as
    /// if it were more.
    pub fn devices(self, devices: &[usize]) -> Self {
        // A number that is too large is no device, either.
        let number = |&device: &usize| i32::try_from(device).unwrap_or(i32::MAX);
        CudaOptions { devices: devices.iter().map(number).collect(), ..self }
    }

    /// What each of several devices has; by default [`Layout::Sharded`].
    pub fn layout(self, layout: Layout) -> Self {
        CudaOptions { is_replicated: layout == Layout::Replicated, ..self }
    }

    /// Threads of the host, 0 to 1024; 0, the default, is OpenMP's default.
    pub fn num_threads(self, num_threads: usize) -> Self {
        CudaOptions { num_threads, ..self }
    }

    /// As the library takes it; points to these options.
    fn to_raw(&self) -> Result<sys::polar_cuda_options> {
        let mut raw: sys::polar_cuda_options = structs::defaults();
        raw.num_threads = to_i32("num_threads", self.num_threads)?;
        raw.device = to_i32("device", self.device)?;
        if !self.devices.is_empty() {
            raw.num_devices = to_i32("devices", self.devices.len())?;
            raw.devices = self.devices.as_ptr();
        }
        raw.layout =
            if self.is_replicated { sys::POLAR_CUDA_REPLICATED } else { sys::POLAR_CUDA_SHARDED };
        Ok(raw)
    }
}

/// The devices; a device's number is its place. Unsupported without any.
pub fn devices() -> Result<Vec<CudaDevice>> {
    let mut count = 0;
    // SAFETY: writes one number.
    check(unsafe { sys::polar_cuda_device_count(&mut count) })?;
    (0..count).map(read_device).collect()
}

fn read_device(device: i32) -> Result<CudaDevice> {
    // SAFETY: the function fills the info up to its size.
    let raw: sys::polar_cuda_device_info =
        structs::read(|info| unsafe { sys::polar_cuda_get_device_info(device, info) })?;
    let name = raw.name.iter().map(|&letter| letter as u8).take_while(|&letter| letter != 0);
    Ok(CudaDevice {
        name: String::from_utf8_lossy(&name.collect::<Vec<u8>>()).into_owned(),
        compute_capability: (raw.compute_major as u32, raw.compute_minor as u32),
        multiprocessors: to_usize(raw.multiprocessors.into()),
        total_bytes: raw.total_bytes,
        free_bytes: raw.free_bytes,
    })
}
