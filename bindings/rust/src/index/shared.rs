// SPDX-License-Identifier: MIT
//! Indexes that many threads search and change.

use super::Index;
use crate::filter::Filter;
use crate::{Result, WorkOptions};
use std::ops::Deref;
use std::sync::Arc;

/// An index that many threads search and change at the same time. Clones are the same index, which is
/// freed with the last of them.
///
/// It has all of [`Index`]'s reading calls, and changes with `&self`. Changes go one at a time.
/// Searches run beside a change while it codes rows, in indexes that are one of our specs or an
/// inverted file of one; of other kinds they wait. A closure that the library calls may search the
/// index that calls it; a change from there is refused.
///
/// ```
/// use polarquant::{Index, Metric, SharedIndex};
///
/// let index = SharedIndex::from(Index::new("Polar2", 64, Metric::Cosine)?);
/// let other = index.clone();
/// let adding = std::thread::spawn(move || other.add(&[0.5; 64 * 10]));
/// index.search(&[0.5; 64], 3)?;
/// adding.join().unwrap()?;
/// assert_eq!(index.ntotal(), 10);
/// # Ok::<(), polarquant::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedIndex(Arc<Index>);

impl From<Index> for SharedIndex {
    fn from(index: Index) -> SharedIndex {
        SharedIndex(Arc::new(index))
    }
}

impl Deref for SharedIndex {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.0
    }
}

impl SharedIndex {
    /// The index, where this is its only clone; else this clone.
    pub fn try_into_inner(self) -> Result<Index, SharedIndex> {
        Arc::try_unwrap(self.0).map_err(SharedIndex)
    }

    /// As [`Index::train`].
    pub fn train(&self, x: &[f32]) -> Result<()> {
        self.change_train(x, &WorkOptions::new())
    }

    /// As [`Index::train_using`].
    pub fn train_using(&self, x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        self.change_train(x, options)
    }

    /// As [`Index::train_with_centroids`].
    pub fn train_with_centroids(
        &self,
        centroids: &[f32],
        x: &[f32],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        self.change_train_with_centroids(centroids, x, options)
    }

    /// As [`Index::add`].
    pub fn add(&self, x: &[f32]) -> Result<()> {
        self.change_add(x, &WorkOptions::new())
    }

    /// As [`Index::add_using`].
    pub fn add_using(&self, x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        self.change_add(x, options)
    }

    /// As [`Index::add_with_ids`].
    pub fn add_with_ids(&self, x: &[f32], ids: &[i64]) -> Result<()> {
        self.change_add_with_ids(x, ids, &WorkOptions::new())
    }

    /// As [`Index::add_with_ids_using`].
    pub fn add_with_ids_using(
        &self,
        x: &[f32],
        ids: &[i64],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        self.change_add_with_ids(x, ids, options)
    }

    /// As [`Index::add_to_lists`].
    pub fn add_to_lists(
        &self,
        x: &[f32],
        ids: &[i64],
        lists: &[i64],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        self.change_add_to_lists(x, ids, lists, options)
    }

    /// As [`Index::remove`].
    pub fn remove(&self, ids: &[i64]) -> Result<usize> {
        self.change_remove(ids)
    }

    /// As [`Index::remove_filtered`].
    pub fn remove_filtered(&self, filter: &Filter<'_>) -> Result<usize> {
        self.change_remove_filtered(filter)
    }

    /// As [`Index::update`].
    pub fn update(&self, ids: &[i64], x: &[f32]) -> Result<()> {
        self.change_update(ids, x, &WorkOptions::new())
    }

    /// As [`Index::update_using`].
    pub fn update_using(&self, ids: &[i64], x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        self.change_update(ids, x, options)
    }

    /// As [`Index::upsert`].
    pub fn upsert(&self, ids: &[i64], x: &[f32]) -> Result<()> {
        self.change_upsert(ids, x, &WorkOptions::new())
    }

    /// As [`Index::upsert_using`].
    pub fn upsert_using(&self, ids: &[i64], x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        self.change_upsert(ids, x, options)
    }

    /// As [`Index::merge`].
    pub fn merge(&self, other: &mut Index) -> Result<()> {
        self.change_merge(other, &WorkOptions::new())
    }

    /// As [`Index::merge_using`].
    pub fn merge_using(&self, other: &mut Index, options: &WorkOptions<'_>) -> Result<()> {
        self.change_merge(other, options)
    }

    /// As [`Index::set_nprobe`].
    pub fn set_nprobe(&self, nprobe: usize) -> Result<()> {
        self.change_nprobe(nprobe)
    }
}
