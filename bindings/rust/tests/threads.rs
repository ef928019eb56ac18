// SPDX-License-Identifier: MIT
//! Many threads: one index searched by all, indexes of their own, an index that changes meanwhile.

mod support;

use polarquant::cuda::{CudaCodec, CudaEncoder, CudaIndex};
use polarquant::{
    AdviceOptions, CancelToken, CodeBlocks, Codec, Error, ErrorKind, Filter, Index, IndexBuilder,
};
use polarquant::{Matches, Metric, PreparedFilter, Query, SearchOptions, SharedIndex, WorkOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use support::check_failed;
use support::vectors::numbers;

const DIM: usize = 32;
const THREADS: usize = 8;

fn make_index(seed: u64, rows: usize) -> Index {
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    let ids: Vec<i64> = (0..rows as i64).collect();
    index.add_with_ids(&numbers(seed, rows * DIM), &ids).unwrap();
    index
}

fn one_thread() -> SearchOptions<'static> {
    SearchOptions::new().num_threads(1)
}

#[test]
fn types_go_to_other_threads_and_are_shared() {
    fn check<T: Send + Sync>() {}
    check::<Index>();
    check::<SharedIndex>();
    check::<Codec>();
    check::<CodeBlocks>();
    check::<IndexBuilder>();
    check::<Query>();
    check::<PreparedFilter>();
    check::<Filter<'_>>();
    check::<SearchOptions<'_>>();
    check::<WorkOptions<'_>>();
    check::<AdviceOptions<'_>>();
    check::<CancelToken>();
    check::<Matches>();
    check::<Error>();
    check::<CudaIndex>();
    check::<CudaEncoder>();
    check::<CudaCodec>();
}

#[test]
fn threads_search_one_index() {
    let index = make_index(1, 1500);
    let queries = numbers(2, 20 * DIM);
    let prepared = Filter::range(..700).prepare().unwrap();
    let filtered = one_thread().filter(Filter::prepared(&prepared));
    let expected = index.search_using(&queries, 5, &one_thread()).unwrap();
    let expected_filtered = index.search_using(&queries, 5, &filtered).unwrap();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..50 {
                    let found = index.search_using(&queries, 5, &one_thread()).unwrap();
                    assert_eq!(found, expected);
                    let found = index.search_using(&queries, 5, &filtered).unwrap();
                    assert_eq!(found, expected_filtered);
                }
            });
        }
    });
}

#[test]
fn threads_have_indexes_and_errors_of_their_own() {
    thread::scope(|scope| {
        for number in 0..THREADS {
            scope.spawn(move || {
                for round in 0..20 {
                    let rows = 10 + number * 10 + round;
                    let mut index = make_index(number as u64, rows);
                    assert_eq!(index.search(&numbers(9, DIM), rows).unwrap().iter().count(), rows);
                    // The text is that of this thread's own call.
                    let wrong = (1000 * number + round) as i64 + 500;
                    let part = wrong.to_string();
                    check_failed(index.reconstruct(wrong), ErrorKind::NotFound, &part);
                    index.remove(&[0, 1]).unwrap();
                    assert_eq!(index.ntotal(), rows - 2);
                }
            });
        }
    });
}

#[test]
fn an_index_is_searched_while_it_changes() {
    let index = SharedIndex::from(make_index(3, 1200));
    let is_over = AtomicBool::new(false);
    let queries = numbers(4, 4 * DIM);
    thread::scope(|scope| {
        for _ in 0..THREADS - 1 {
            let index = index.clone();
            let (is_over, queries) = (&is_over, &queries);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let found = index.search_using(queries, 3, &one_thread()).unwrap();
                    assert_eq!(found.iter().count(), 12);
                    let range = index.range_search_using(queries, 20.0, &one_thread()).unwrap();
                    assert_eq!(range.num_queries(), 4);
                }
            });
        }
        for round in 0..100 {
            let ids: Vec<i64> = (5000 + round * 10..5010 + round * 10).collect();
            index.upsert(&ids, &numbers(round as u64, 10 * DIM)).unwrap();
            index.update(&ids[..2], &numbers(8, 2 * DIM)).unwrap();
            assert_eq!(index.remove(&ids[..5]).unwrap(), 5);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let index = index.try_into_inner().unwrap();
    assert_eq!(index.ntotal(), 1200 + 100 * 5);
}

#[test]
fn an_index_lives_while_any_thread_searches_it() {
    for _ in 0..20 {
        let index = SharedIndex::from(make_index(5, 300));
        let searching: Vec<_> = (0..THREADS)
            .map(|_| {
                let index = index.clone();
                thread::spawn(move || index.search_using(&numbers(6, DIM), 3, &one_thread()))
            })
            .collect();
        // This thread's goes while the others search.
        let _ = index.try_into_inner();
        for thread in searching {
            assert_eq!(thread.join().unwrap().unwrap().iter().count(), 3);
        }
    }
}

#[test]
fn threads_share_a_codec_and_its_blocks() {
    let codec = Arc::new(Codec::new("Polar4", DIM, Metric::L2).unwrap());
    let x = numbers(7, 200 * DIM);
    let codes = codec.encode(&x).unwrap();
    let mut blocks = CodeBlocks::new(&codec).unwrap();
    blocks.append(200, &codes).unwrap();
    let query = codec.prepare_query(&x[..DIM]).unwrap();
    let scores = codec.score(&query, 200, &codes).unwrap();
    let expected = blocks.search(&x[..DIM], 5).unwrap();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(codec.encode(&x).unwrap(), codes);
                    assert_eq!(codec.score(&query, 200, &codes).unwrap(), scores);
                    assert_eq!(blocks.search(&x[..DIM], 5).unwrap(), expected);
                }
            });
        }
    });
}
