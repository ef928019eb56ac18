// SPDX-License-Identifier: MIT
//! Queries prepared for one codec.

use crate::handle::Handle;
use polarquant_sys as sys;
use std::fmt;

/// A query prepared for one codec, by [`Codec::prepare_query`](crate::Codec::prepare_query): rotated
/// and centred once, scored many times. It needs the codec no longer. Any number of threads may
/// score it at the same time.
pub struct Query {
    handle: Handle<sys::polar_query>,
}

impl Query {
    pub(crate) fn new(handle: Handle<sys::polar_query>) -> Query {
        Query { handle }
    }

    pub(crate) fn raw(&self) -> *const sys::polar_query {
        self.handle.shared()
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Query")
    }
}
