// SPDX-License-Identifier: MIT
//! Changes of an index.

use super::Index;
use crate::error::{check, Result};
use crate::filter::Filter;
use crate::sizes::{check_length, to_i64, to_usize};
use crate::WorkOptions;
use polarquant_sys as sys;

impl Index {
    /// Learns what the index needs from rows x, (n, dim), n ≥ 1, forgetting what it learned before.
    ///
    /// An inverted file needs a row for each list, better 39. StateMismatch once it holds rows, but
    /// for those that one of our specs alone still keeps as floats ([`add`](Index::add)), which are
    /// coded then.
    pub fn train(&mut self, x: &[f32]) -> Result<()> {
        self.train_using(x, &WorkOptions::new())
    }

    /// The same with options.
    pub fn train_using(&mut self, x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        self.change_train(x, options)
    }

    /// [`train`](Index::train) with lists that were made elsewhere: centroids, (nlist, dim), become
    /// the lists' as they are, and the code is trained on rows x, (n, dim), n ≥ 1. For inverted files
    /// of our specs alone; Unsupported for others.
    pub fn train_with_centroids(
        &mut self,
        centroids: &[f32],
        x: &[f32],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        self.change_train_with_centroids(centroids, x, options)
    }

    /// Adds rows x, (n, dim), with ids ntotal, ntotal + 1, …
    ///
    /// An index of one of our specs that was not trained keeps its rows as floats, and searches them
    /// exactly, until they are 1,000: from these, and all others of the add that brings them there,
    /// it learns, and codes them. So rows can come in pieces of any size.
    ///
    /// NotTrained where training must come first; BadArgument in an index of rows with ids of the
    /// caller's.
    pub fn add(&mut self, x: &[f32]) -> Result<()> {
        self.add_using(x, &WorkOptions::new())
    }

    /// The same with options.
    pub fn add_using(&mut self, x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        self.change_add(x, options)
    }

    /// Adds rows x, (n, dim), with ids, (n), each 0 or more and not in the index yet.
    ///
    /// BadArgument in an index of rows without ids of the caller's; Unsupported for a FAISS index
    /// that takes none: ",IDMap2" after its description gives it ids.
    pub fn add_with_ids(&mut self, x: &[f32], ids: &[i64]) -> Result<()> {
        self.add_with_ids_using(x, ids, &WorkOptions::new())
    }

    /// The same with options.
    pub fn add_with_ids_using(
        &mut self,
        x: &[f32],
        ids: &[i64],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        self.change_add_with_ids(x, ids, options)
    }

    /// [`add_with_ids`](Index::add_with_ids) into lists of the caller's choice, (n), each 0 to
    /// nlist − 1. For the indexes of [`train_with_centroids`](Index::train_with_centroids).
    pub fn add_to_lists(
        &mut self,
        x: &[f32],
        ids: &[i64],
        lists: &[i64],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        self.change_add_to_lists(x, ids, lists, options)
    }

    /// Removes the rows with these ids, in any order, and returns how many went; ids that are not
    /// held are passed over. Rows without ids of the caller's are numbered anew, from 0. Unsupported
    /// where an index cannot do that (inverted files, id maps), or cannot remove (FAISS's NSG and
    /// packed lists).
    pub fn remove(&mut self, ids: &[i64]) -> Result<usize> {
        self.change_remove(ids)
    }

    /// Removes the rows that a search with this filter would find among, and returns how many went.
    ///
    /// A closure that panics keeps no further ids: the panic goes on after the rows that it named
    /// before are removed.
    pub fn remove_filtered(&mut self, filter: &Filter<'_>) -> Result<usize> {
        self.change_remove_filtered(filter)
    }

    /// Codes x, (n, dim), in the place of the rows with these ids, (n); of equal ids the last counts.
    ///
    /// NotFound when an id is not in the index; Unsupported unless the index is one of our specs, also
    /// in id maps, or an inverted file of one; also after vector transforms.
    pub fn update(&mut self, ids: &[i64], x: &[f32]) -> Result<()> {
        self.update_using(ids, x, &WorkOptions::new())
    }

    /// The same with options.
    pub fn update_using(
        &mut self,
        ids: &[i64],
        x: &[f32],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        self.change_update(ids, x, options)
    }

    /// [`update`](Index::update), and adds the rows whose ids are not in the index. For an index whose
    /// rows have ids of the caller's; Unsupported for id maps, too.
    pub fn upsert(&mut self, ids: &[i64], x: &[f32]) -> Result<()> {
        self.upsert_using(ids, x, &WorkOptions::new())
    }

    /// The same with options.
    pub fn upsert_using(
        &mut self,
        ids: &[i64],
        x: &[f32],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        self.change_upsert(ids, x, options)
    }

    /// Moves all rows of another index after those held; `other` is empty afterwards.
    ///
    /// Ids of the caller's stay and must differ; other rows are numbered on. Both must be made and
    /// trained alike: StateMismatch, with the part that differs, when their codes do not mix (train
    /// before sharding, or give all shards one state by [`try_clone`](Index::try_clone)). Unsupported
    /// for graphs, refinements and FAISS's packed lists. After an error both are as they were.
    pub fn merge(&mut self, other: &mut Index) -> Result<()> {
        self.merge_using(other, &WorkOptions::new())
    }

    /// The same with options.
    pub fn merge_using(&mut self, other: &mut Index, options: &WorkOptions<'_>) -> Result<()> {
        self.change_merge(other, options)
    }

    /// Sets the lists that a search of an inverted file looks through for each query where its options
    /// name no number: 1 or more. Files keep it. Unsupported for another index.
    pub fn set_nprobe(&mut self, nprobe: usize) -> Result<()> {
        self.change_nprobe(nprobe)
    }
}

/// The changes, which the library has wait for one another.
// SAFETY of the calls: every slice has the length that the call reads, and lives as long as it.
impl Index {
    pub(super) fn change_train(&self, x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        let n = self.rows("x", x)?;
        let index = self.handle.changing();
        options.run(|raw| unsafe { sys::polar_index_train(index, n, x.as_ptr(), raw) })
    }

    pub(super) fn change_train_with_centroids(
        &self,
        centroids: &[f32],
        x: &[f32],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        let nlist = self.rows("centroids", centroids)?;
        let n = self.rows("x", x)?;
        let index = self.handle.changing();
        options.run(|raw| unsafe {
            let (lists, rows) = (centroids.as_ptr(), x.as_ptr());
            sys::polar_index_train_with_centroids(index, nlist, lists, n, rows, raw)
        })
    }

    pub(super) fn change_add(&self, x: &[f32], options: &WorkOptions<'_>) -> Result<()> {
        let n = self.rows("x", x)?;
        let index = self.handle.changing();
        options.run(|raw| unsafe { sys::polar_index_add(index, n, x.as_ptr(), raw) })
    }

    pub(super) fn change_add_with_ids(
        &self,
        x: &[f32],
        ids: &[i64],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        let n = self.rows_with("ids", ids, x)?;
        let index = self.handle.changing();
        options.run(|raw| unsafe {
            sys::polar_index_add_with_ids(index, n, x.as_ptr(), ids.as_ptr(), raw)
        })
    }

    pub(super) fn change_add_to_lists(
        &self,
        x: &[f32],
        ids: &[i64],
        lists: &[i64],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        let n = self.rows_with("ids", ids, x)?;
        self.rows_with("lists", lists, x)?;
        let index = self.handle.changing();
        options.run(|raw| unsafe {
            let (ids, lists) = (ids.as_ptr(), lists.as_ptr());
            sys::polar_index_add_to_lists(index, n, x.as_ptr(), ids, lists, raw)
        })
    }

    pub(super) fn change_remove(&self, ids: &[i64]) -> Result<usize> {
        let n = to_i64("ids", ids.len())?;
        let mut removed = 0;
        let index = self.handle.changing();
        check(unsafe { sys::polar_index_remove(index, n, ids.as_ptr(), &mut removed) })?;
        Ok(to_usize(removed))
    }

    pub(super) fn change_remove_filtered(&self, filter: &Filter<'_>) -> Result<usize> {
        let callbacks = filter.callbacks();
        let raw = filter.to_raw(&callbacks)?;
        let mut removed = 0;
        let index = self.handle.changing();
        let status = unsafe { sys::polar_index_remove_filtered(index, &raw, &mut removed) };
        callbacks.panic.resume();
        check(status)?;
        Ok(to_usize(removed))
    }

    pub(super) fn change_update(
        &self,
        ids: &[i64],
        x: &[f32],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        let n = self.rows_with("ids", ids, x)?;
        let index = self.handle.changing();
        options
            .run(|raw| unsafe { sys::polar_index_update(index, n, ids.as_ptr(), x.as_ptr(), raw) })
    }

    pub(super) fn change_upsert(
        &self,
        ids: &[i64],
        x: &[f32],
        options: &WorkOptions<'_>,
    ) -> Result<()> {
        let n = self.rows_with("ids", ids, x)?;
        let index = self.handle.changing();
        options
            .run(|raw| unsafe { sys::polar_index_upsert(index, n, ids.as_ptr(), x.as_ptr(), raw) })
    }

    pub(super) fn change_merge(&self, other: &mut Index, options: &WorkOptions<'_>) -> Result<()> {
        let (index, emptied) = (self.handle.changing(), other.handle.changing());
        options.run(|raw| unsafe { sys::polar_index_merge(index, emptied, raw) })
    }

    pub(super) fn change_nprobe(&self, nprobe: usize) -> Result<()> {
        let nprobe = to_i64("nprobe", nprobe)?;
        check(unsafe { sys::polar_index_set_nprobe(self.handle.changing(), nprobe) })
    }

    /// Rows of x, for each of which there is a number.
    fn rows_with(&self, name: &str, numbers: &[i64], x: &[f32]) -> Result<i64> {
        let n = self.rows("x", x)?;
        check_length(name, numbers.len(), n as usize)?;
        Ok(n)
    }
}
