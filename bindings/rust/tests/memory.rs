// SPDX-License-Identifier: MIT
//! Objects made, used and dropped again and again take no memory. `POLARQUANT_ROUNDS` says how often;
//! run_tests.sh has it done under valgrind, too, which keeps memory of its own: `POLARQUANT_VALGRIND` says
//! so.

mod support;

use polarquant::{merge_partials, WorkOptions};
use polarquant::{CodeBlocks, Codec, ErrorKind, Filter, Index, IndexBuilder, Metric};
use polarquant::{SearchOptions, SharedIndex};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use support::vectors::numbers;

const DIM: usize = 8;
const ROWS: usize = 5;
/// Rounds until allocators have what they keep.
const FIRST_ROUNDS: usize = 500;
const ALLOWED_BYTES: usize = 2 << 20;

/// An index made, searched and dropped.
fn small_round(x: &[f32]) {
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    index.add_using(x, &WorkOptions::new().num_threads(1)).unwrap();
    let options = SearchOptions::new().num_threads(1);
    assert_eq!(index.search_using(&x[..DIM], 2, &options).unwrap().iter().count(), 2);
}

/// Everything that there is to free, and errors.
fn large_round(x: &[f32]) {
    let work = WorkOptions::new().num_threads(1);
    let prepared = Filter::range(..3).prepare().unwrap();
    let options = SearchOptions::new().num_threads(1).filter(Filter::prepared(&prepared));
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    index.add_with_ids_using(x, &[0, 1, 2, 3, 4], &work).unwrap();
    assert_eq!(index.search_using(&x[..DIM], 4, &options).unwrap().iter().count(), 3);
    index.range_search_using(&x[..DIM], 1e9, &options).unwrap();
    let partial = index.search_partial_using(0, &x[..DIM], 4, &options).unwrap();
    assert_eq!(merge_partials(&[&partial], 1, 4).unwrap().iter().count(), 3);
    assert!(merge_partials(&[&partial[..9]], 1, 4).is_err());
    assert_eq!(index.reconstruct(99).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(Index::new("Nothing9", DIM, Metric::L2).is_err());
    let copy = SharedIndex::from(index.try_clone().unwrap());
    let mut bytes = Vec::new();
    let same = copy.clone();
    assert!(copy.try_into_inner().is_err());
    same.write_to(&mut bytes).unwrap();
    assert_eq!(Index::read_from(&mut bytes.as_slice()).unwrap().ntotal(), ROWS);
    bytes.truncate(bytes.len() / 2);
    assert!(Index::read_from(&mut bytes.as_slice()).is_err());

    let codec = Arc::new(Codec::new("Polar2", DIM, Metric::L2).unwrap());
    let codes = codec.encode_using(x, &work).unwrap();
    let query = codec.prepare_query(&x[..DIM]).unwrap();
    let mut scores = [0.0; ROWS];
    codec.score_into(&query, ROWS, &codes, &work, &mut scores).unwrap();
    let mut blocks = CodeBlocks::new(&codec).unwrap();
    blocks.append(ROWS, &codes).unwrap();
    blocks.search_using(&x[..DIM], 2, &SearchOptions::new().num_threads(1)).unwrap();
    Codec::load_state(&codec.save_state().unwrap()).unwrap();
    build_round(x);
}

/// Objects of files in parts that are made, or fail.
fn build_round(x: &[f32]) {
    let folder = std::env::temp_dir().join(format!("polarquant-rounds-{}", std::process::id()));
    let untrained = Index::new("Polar4", DIM, Metric::L2).unwrap();
    assert!(IndexBuilder::create(&untrained, &folder).is_err());
    assert!(IndexBuilder::resume(&folder).is_err());
    assert!(Index::open_shards(&[&folder, &folder]).is_err());
    // One is written to disk, which takes longer than all else.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    if CALLS.fetch_add(1, Ordering::Relaxed) % 100 > 0 {
        return;
    }
    let mut trained = untrained;
    trained.train_using(x, &WorkOptions::new().num_threads(1)).unwrap();
    assert_eq!(IndexBuilder::create(&trained, &folder).unwrap().dim(), DIM);
    std::fs::remove_dir_all(folder.with_extension("parts")).unwrap();
}

/// Bytes of this process in memory; none where the system does not say, or they are not all its own.
fn resident_bytes() -> Option<usize> {
    if std::env::var_os("POLARQUANT_VALGRIND").is_some() {
        return None;
    }
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split(' ').nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
}

/// Only one test measures at a time.
static MEASURING: Mutex<()> = Mutex::new(());

fn check_rounds(round: impl Fn(&[f32])) {
    let _alone = MEASURING.lock();
    let given = std::env::var("POLARQUANT_ROUNDS").ok();
    let rounds: usize = given.map_or(5000, |text| text.parse().unwrap());
    let x = numbers(1, ROWS * DIM);
    (0..FIRST_ROUNDS.min(rounds)).for_each(|_| round(&x));
    let before = resident_bytes();
    (FIRST_ROUNDS..rounds).for_each(|_| round(&x));
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let grown = after.saturating_sub(before);
        println!("{} rounds: {} KiB more", rounds, grown / 1024);
        assert!(grown < ALLOWED_BYTES, "{} bytes more after {} rounds", grown, rounds);
    }
}

#[test]
fn small_rounds_take_no_memory() {
    check_rounds(small_round);
}

#[test]
fn large_rounds_take_no_memory() {
    check_rounds(large_round);
}
