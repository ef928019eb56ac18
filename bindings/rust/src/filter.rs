// SPDX-License-Identifier: MIT
//! Which rows a search may return, or a removal takes, by id.

use crate::callbacks::{Callbacks, KeepFn};
use crate::error::Result;
use crate::handle::Handle;
use crate::sizes::{not_allowed, to_i64};
use crate::structs;
use polarquant_sys as sys;
use std::fmt;
use std::ops::{Bound, RangeBounds};

/// Which rows a search may return, or a removal takes, by id. Rows that it leaves out cost next to
/// nothing.
///
/// It borrows what it is made of. What is wrong with that, as ids that are not ascending, is told by
/// the call that uses it. For many searches by the same ids make a [`PreparedFilter`].
///
/// ```
/// use polarquant::{Filter, Index, Metric, SearchOptions};
///
/// let mut index = Index::new("Flat", 2, Metric::L2)?;
/// index.add(&[0.0, 0.0, 1.0, 1.0, 2.0, 2.0])?;
/// let options = SearchOptions::new().filter(Filter::ids(&[1, 2]));
/// let found = index.search_using(&[0.1, 0.1], 1, &options)?;
/// assert_eq!(found.ids(), [1]);
/// # Ok::<(), polarquant::Error>(())
/// ```
///
/// The ids must live as long as the filter:
///
/// ```compile_fail,E0716
/// use polarquant::Filter;
///
/// let filter = Filter::ids(&vec![1, 2]);
/// println!("{:?}", filter);
/// ```
#[derive(Clone, Copy)]
pub struct Filter<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    Bitset(&'a [u64], usize),
    Ids(&'a [i64]),
    Range(sys::polar_id_range),
    Keep(&'a KeepFn<'a>),
    Prepared(&'a PreparedFilter),
}

impl<'a> Filter<'a> {
    /// Keeps the ids whose bit is 1: bit id % 64 of word id / 64. Ids from `num_bits` on are left
    /// out. num_bits: at most 64 for each word.
    pub fn bitset(words: &'a [u64], num_bits: usize) -> Self {
        Filter(Kind::Bitset(words, num_bits))
    }

    /// Keeps these ids: ascending, without repeats.
    pub fn ids(ids: &'a [i64]) -> Self {
        Filter(Kind::Ids(ids))
    }

    /// Keeps the ids of a range: `20..90`, `..=7`, `100..`. An end of `i64::MAX` is none.
    pub fn range(ids: impl RangeBounds<i64>) -> Self {
        let first = match ids.start_bound() {
            Bound::Included(&first) => Some(first),
            Bound::Excluded(&before) => before.checked_add(1),
            Bound::Unbounded => Some(i64::MIN),
        };
        let end = match ids.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => i64::MAX,
        };
        // One that begins after the last id, or ends before it begins, keeps nothing.
        let kept = first.filter(|&first| first <= end);
        let (first, end) = kept.map_or((0, 0), |first| (first, end));
        Filter(Kind::Range(sys::polar_id_range { first, end }))
    }

    /// Keeps the ids for which the closure says true, asked row by row, which is slow, from any
    /// thread and several at once. A panic ends the search, and goes on after it.
    ///
    /// It may search the index that asks it; a change of that index from here is refused.
    pub fn keep(keep: &'a (dyn Fn(i64) -> bool + Sync)) -> Self {
        Filter(Kind::Keep(keep))
    }

    /// Keeps what a filter for many searches keeps.
    pub fn prepared(filter: &'a PreparedFilter) -> Self {
        Filter(Kind::Prepared(filter))
    }

    /// A filter for many searches that keeps what this one keeps now, with copies of its ids.
    ///
    /// [`ErrorKind::BadArgument`](crate::ErrorKind::BadArgument) for [`keep`](Filter::keep), whose
    /// answers may change, and for [`prepared`](Filter::prepared).
    pub fn prepare(&self) -> Result<PreparedFilter> {
        let callbacks = self.callbacks();
        let raw = self.to_raw(&callbacks)?;
        // SAFETY: `raw` points to what this filter borrows.
        let handle = Handle::create(|out| unsafe { sys::polar_prepared_filter_create(&raw, out) })?;
        Ok(PreparedFilter { handle })
    }

    /// What the library calls back for this filter.
    pub(crate) fn callbacks(&self) -> Callbacks<'a> {
        let keep = match self.0 {
            Kind::Keep(keep) => Some(keep),
            _ => None,
        };
        Callbacks { keep, ..Callbacks::default() }
    }

    /// As the library takes it; `callbacks` has its closure.
    pub(crate) fn to_raw(self, callbacks: &Callbacks<'_>) -> Result<sys::polar_filter> {
        let mut raw: sys::polar_filter = structs::defaults();
        match self.0 {
            Kind::Bitset(words, num_bits) => {
                let most = words.len().saturating_mul(64);
                if num_bits > most {
                    return Err(not_allowed(
                        "num_bits",
                        num_bits,
                        format_args!("at most {}", most),
                    ));
                }
                raw.kind = sys::POLAR_FILTER_BITSET;
                raw.bitset.words = words.as_ptr();
                raw.bitset.num_bits = to_i64("num_bits", num_bits)?;
            }
            Kind::Ids(ids) => {
                raw.kind = sys::POLAR_FILTER_IDS;
                raw.ids.ids = ids.as_ptr();
                raw.ids.count = to_i64("ids", ids.len())?;
            }
            Kind::Range(range) => {
                raw.kind = sys::POLAR_FILTER_RANGE;
                raw.range = range;
            }
            Kind::Keep(_) => {
                raw.kind = sys::POLAR_FILTER_CALLBACK;
                raw.callback = callbacks.keep();
            }
            Kind::Prepared(filter) => {
                raw.kind = sys::POLAR_FILTER_PREPARED;
                raw.prepared = filter.handle.shared();
            }
        }
        Ok(raw)
    }
}

impl fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Bitset(_, num_bits) => write!(f, "Filter({} bits)", num_bits),
            Kind::Ids(ids) => write!(f, "Filter({} ids)", ids.len()),
            Kind::Range(range) => write!(f, "Filter({}..{})", range.first, range.end),
            Kind::Keep(_) => f.write_str("Filter(closure)"),
            Kind::Prepared(_) => f.write_str("Filter(prepared)"),
        }
    }
}

/// A filter for many searches, made by [`Filter::prepare`].
///
/// The first search of an index, and the first one after each change of its rows, finds which rows
/// it leaves; those that follow need not. One filter serves any number of indexes and threads at
/// once.
///
/// Memory: copies of its bits or ids, and of the last four states of indexes an eighth of a byte a
/// row; where it leaves few rows also copies of these, up to an eighth of an index.
pub struct PreparedFilter {
    handle: Handle<sys::polar_prepared_filter>,
}

impl fmt::Debug for PreparedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PreparedFilter")
    }
}
