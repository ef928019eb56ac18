// SPDX-License-Identifier: MIT
//! Parts of an index that are searched apart answer, together, as one index.

mod support;

use polarquant::{merge_partials, CancelToken, ErrorKind, Filter, Index, Matches, Metric};
use polarquant::{SearchOptions, SharedIndex};
use std::panic::{catch_unwind, AssertUnwindSafe};
use support::check_failed;
use support::vectors::numbers;

const DIM: usize = 32;
const ROWS: usize = 3000;
const NQ: usize = 9;
/// The rows before which parts end; one part is empty.
const ENDS: [usize; 4] = [700, 1900, 1900, ROWS];

/// An index and its parts, each with the rows before it.
struct Parts {
    whole: Index,
    parts: Vec<(usize, Index)>,
}

impl Parts {
    fn new(description: &str, metric: Metric, x: &[f32], ids: Option<&[i64]>) -> Parts {
        let mut trained = Index::new(description, DIM, metric).unwrap();
        trained.train(&x[..2000 * DIM]).unwrap();
        let with_rows = |first: usize, end: usize| {
            let mut index = trained.try_clone().unwrap();
            let rows = &x[first * DIM..end * DIM];
            match ids {
                Some(ids) => index.add_with_ids(rows, &ids[first..end]).unwrap(),
                None => index.add(rows).unwrap(),
            }
            index
        };
        let firsts = [0].iter().chain(&ENDS);
        let parts =
            firsts.zip(&ENDS).map(|(&first, &end)| (first, with_rows(first, end))).collect();
        Parts { whole: with_rows(0, ROWS), parts }
    }

    fn search(&self, queries: &[f32], k: usize, options: &SearchOptions<'_>) -> Matches {
        let found: Vec<Vec<u8>> = self
            .parts
            .iter()
            .map(|(first, part)| part.search_partial_using(*first, queries, k, options).unwrap())
            .collect();
        merge_partials(&found, queries.len() / DIM, k).unwrap()
    }

    fn check_same(&self, queries: &[f32], options: &SearchOptions<'_>) {
        for k in [1, 10, 4000] {
            let expected = self.whole.search_using(queries, k, options).unwrap();
            assert_eq!(self.search(queries, k, options), expected, "{:?}, k {}", options, k);
        }
    }
}

/// Each row is there twice, for ties.
fn doubled_rows(seed: u64) -> Vec<f32> {
    let half = numbers(seed, ROWS / 2 * DIM);
    [&half[..], &half[..]].concat()
}

#[test]
fn answers_are_those_of_one_index() {
    let x = doubled_rows(1);
    let queries = numbers(2, NQ * DIM);
    let own_ids: Vec<i64> = (0..ROWS).map(|row| (row * 7919 % 1_000_003) as i64).collect();
    let metrics = [Metric::InnerProduct, Metric::L2, Metric::Cosine];
    for (description, &metric) in ["Polar4", "IVF16,Polar2", "Polar2"].iter().zip(&metrics) {
        for ids in [None, Some(&own_ids[..])] {
            let parts = Parts::new(description, metric, &x, ids);
            let is_ivf = description.starts_with("IVF");
            let plain = SearchOptions::new().nprobe(if is_ivf { 5 } else { 0 });
            parts.check_same(&queries, &plain);
            parts.check_same(&queries, &plain.exactness(f32::INFINITY).num_threads(2));
            if is_ivf {
                continue;
            }
            let named: Vec<i64> =
                (0..ROWS).map(|row| ids.map_or(row as i64, |ids| ids[row])).collect();
            let mut some: Vec<i64> = named.iter().skip(5).step_by(7).copied().collect();
            some.sort_unstable();
            let keep = |id: i64| id % 4 == 1;
            for filter in [Filter::ids(&some), Filter::range(600..2500), Filter::keep(&keep)] {
                parts.check_same(&queries, &plain.filter(filter));
            }
        }
    }
}

#[test]
fn what_is_refused() {
    let x = doubled_rows(3);
    let queries = numbers(4, NQ * DIM);
    let bad = ErrorKind::BadArgument;
    let Parts { whole, parts } = Parts::new("IVF16,Polar4", Metric::L2, &x, None);
    let part = &parts[0].1;
    let some = [1, 2];
    let filtered = SearchOptions::new().filter(Filter::ids(&some));
    let refused = part.search_partial_using(0, &queries, 3, &filtered);
    check_failed(refused, ErrorKind::Unsupported, "options.filter");
    check_failed(part.search_partial(0, &queries, 0), bad, "k: 0");
    check_failed(part.search_partial(usize::MAX, &queries, 3), bad, "first_row");
    check_failed(part.search_partial(0, &queries[1..], 3), bad, "queries");
    check_failed(part.search_partial(0, &[f32::NAN; DIM], 3), bad, "queries");
    let untrained = Index::new("IVF16,Polar4", DIM, Metric::L2).unwrap();
    check_failed(untrained.search_partial(0, &queries, 3), ErrorKind::NotTrained, "");
    let mut refined = Index::new("Polar2,Refine(Polar8)", DIM, Metric::L2).unwrap();
    refined.add(&x[..100 * DIM]).unwrap();
    check_failed(refined.search_partial(0, &queries, 3), ErrorKind::Unsupported, "");
    let token = CancelToken::new();
    token.cancel();
    let stopped = SearchOptions::new().cancel(&token);
    let cancelled = whole.search_partial_using(0, &queries, 3, &stopped);
    check_failed(cancelled, ErrorKind::Cancelled, "");
    let of_none = whole.search_partial(0, &[], 3).unwrap();
    assert_eq!(merge_partials(&[of_none], 0, 3).unwrap().num_queries(), 0);
}

#[test]
fn a_panic_of_a_filter_goes_on_after_the_call() {
    let Parts { whole, .. } = Parts::new("Polar4", Metric::L2, &doubled_rows(5), None);
    let panics = |_: i64| -> bool { panic!("in a filter") };
    let options = SearchOptions::new().filter(Filter::keep(&panics));
    let queries = numbers(6, DIM);
    let search = || whole.search_partial_using(0, &queries, 3, &options);
    let payload = catch_unwind(AssertUnwindSafe(search)).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"in a filter"));
}

#[test]
fn hostile_bytes_are_an_error() {
    let x = doubled_rows(7);
    let queries = numbers(8, NQ * DIM);
    let corrupt = ErrorKind::CorruptData;
    let Parts { parts, .. } = Parts::new("Polar4", Metric::L2, &x, None);
    let good = parts[0].1.search_partial(0, &queries, 3).unwrap();
    for length in [0, 1, 11, 40, good.len() - 1] {
        check_failed(merge_partials(&[&good[..], &good[..length]], NQ, 3), corrupt, "partials[1]");
    }
    let longer = [&good[..], &[0]].concat();
    check_failed(merge_partials(&[&longer], NQ, 3), corrupt, "partials[0]");
    // Whatever byte is another one: an answer or an error.
    for at in 0..good.len() {
        let mut other = good.clone();
        other[at] ^= 0x81;
        let _ = merge_partials(&[&good, &other], NQ, 3);
    }
    let other_metric = Parts::new("Polar4", Metric::Cosine, &x, None);
    let other = other_metric.parts[0].1.search_partial(0, &queries, 3).unwrap();
    let merged = merge_partials(&[&good, &other], NQ, 3);
    check_failed(merged, ErrorKind::StateMismatch, "partials[1]");
    let bad = ErrorKind::BadArgument;
    check_failed(merge_partials(&[&good], NQ - 1, 3), bad, "partials[0]: for 9 queries");
    check_failed(merge_partials(&[&good], NQ, 4), bad, "partials[0]");
    check_failed(merge_partials(&[&good], NQ, 0), bad, "k: 0");
    check_failed(merge_partials(&[&good], usize::MAX, 2), bad, "k");
    let none: [Vec<u8>; 0] = [];
    check_failed(merge_partials(&none, NQ, 3), bad, "n: 0");
}

#[test]
fn rows_are_added_beside_partial_searches() {
    let x = numbers(9, ROWS * DIM);
    let mut trained = Index::new("Polar4", DIM, Metric::L2).unwrap();
    trained.train(&x).unwrap();
    trained.add(&x[..10 * DIM]).unwrap();
    let shared = SharedIndex::from(trained);
    let other = shared.clone();
    let rows = x.clone();
    let adding = std::thread::spawn(move || {
        for batch in rows.chunks(10 * DIM) {
            other.add(batch).unwrap();
        }
    });
    while !adding.is_finished() {
        let partial = shared.search_partial(0, &x[..DIM], ROWS).unwrap();
        assert_eq!(merge_partials(&[partial], 1, ROWS).unwrap().ids()[0], 0);
    }
    adding.join().unwrap();
}
