// SPDX-License-Identifier: MIT
//! Declarations of polarquant's C library: one for each function, struct and number of its C
//! header, whose comments say what each does. The crate `polarquant` is the safe form.
//!
//! The header's rules for every function:
//!
//! - Vectors are `f32`, row-major, (n, dim), finite. Rows, ids and k are `i64`.
//! - The caller owns every buffer; the library keeps no pointer to one after a call returns.
//! - A function returns [`POLAR_OK`] or a status; then [`polar_last_error`], called by the same
//!   thread, tells what was wrong.
//! - Calls on one [`polar_index`] may run at the same time, but for [`polar_index_destroy`]. On other
//!   handles calls that take a const pointer may run at the same time; the others need sole use.
//! - Structs of options and infos begin with `struct_size`. Options are filled by their `_init`
//!   function first.
#![allow(non_camel_case_types)]
// The comments are those of the C header, which is not written for rustdoc.
#![allow(rustdoc::bare_urls, rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]

mod bindings;

pub use bindings::*;
