// SPDX-License-Identifier: MIT
//! Compresses embedding vectors to 0.5 to 8 bits a dimension and searches the compressed codes, by the
//! C library [polarquant](https://github.com/polarquant/polarquant).
//!
//! - [`Index`] stores rows as codes, and finds the nearest; [`SharedIndex`] is one that many threads
//!   search and change.
//! - [`IndexBuilder`] makes an index file of more rows than memory holds, [`merge_files`] one of
//!   several, and [`Index::open_shards`] searches several as one. [`merge_partials`] makes the answer
//!   of parts that several processes search.
//! - [`Codec`] makes codes that the program keeps, and scores and searches them; [`CodeBlocks`] keeps
//!   them in the order that searches read fastest.
//! - [`advise`] says which code to take, measured on a sample.
//! - [`cuda`] searches, encodes and scores on NVIDIA GPUs.
//!
//! Vectors are `f32` slices, row-major, (n, dim), and are never copied on their way to the library.
//! Calls return [`Result`]; an [`Error`] has the cause as [`ErrorKind`] and the library's text. Long
//! calls have a form `…_using` with options: threads, progress, and a [`CancelToken`].
//!
//! Everything is `Send` and `Sync`. What only reads takes `&self` and may run in many threads at the
//! same time; what changes takes `&mut self`. Objects are freed when they are dropped. A panic in a
//! closure that the library calls ends the call, and goes on after it.

#![warn(missing_docs)]

mod advice;
mod aligned;
mod blocks;
mod builder;
mod callbacks;
mod cancel;
mod codec;
pub mod cuda;
mod error;
mod filter;
mod handle;
mod index;
mod matches;
mod metric;
mod paths;
mod query;
mod search;
mod search_options;
mod sizes;
mod streams;
mod structs;
mod work_options;

pub use advice::{advise, Advice, AdviceOptions, AdviceRow};
pub use blocks::CodeBlocks;
pub use builder::{BuilderOptions, IndexBuilder};
pub use cancel::CancelToken;
pub use codec::{Codec, CodecInfo, CodecOptions, Plan, Reconstruction, Segment, StateOrigin};
pub use error::{Error, ErrorKind, Result};
pub use filter::{Filter, PreparedFilter};
pub use index::{merge_files, merge_files_using, merge_partials};
pub use index::{Index, IndexInfo, LoadOptions, SaveOptions, SharedIndex};
pub use matches::{Found, Match, Matches, RangeMatches};
pub use metric::Metric;
pub use query::Query;
pub use search_options::SearchOptions;
pub use work_options::WorkOptions;

use polarquant_sys as sys;
use std::ffi::CStr;

/// Version of the C library that runs, "0.1.0".
pub fn version() -> &'static str {
    // SAFETY: takes nothing and gives a static string.
    let text = unsafe { CStr::from_ptr(sys::polar_version_string()) };
    text.to_str().unwrap_or("")
}

/// The same as a number: major · 10000 + minor · 100 + patch.
pub fn version_number() -> u32 {
    // SAFETY: takes nothing.
    unsafe { sys::polar_version() as u32 }
}

/// A text that lists every spec's form, meaning and an example.
pub fn spec_help() -> String {
    // SAFETY: the buffer has room for `cap` bytes.
    error::read_text(|buffer, cap| unsafe { sys::polar_spec_help(buffer, cap) })
}

/// The README's code is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
