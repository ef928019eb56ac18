// SPDX-License-Identifier: MIT
//! Wrong arguments of every kind give an error that names them, and leave things as they were.

mod support;

use polarquant::{CodeBlocks, Codec, CodecOptions, ErrorKind, Filter, Index, Metric, Query};
use polarquant::{Reconstruction, SearchOptions, WorkOptions};
use std::sync::Arc;
use support::check_failed;
use support::vectors::numbers;

const DIM: usize = 16;

fn index_of(rows: usize) -> Index {
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    let ids: Vec<i64> = (0..rows as i64).collect();
    index.add_with_ids(&numbers(1, rows * DIM), &ids).unwrap();
    index
}

#[test]
fn names_and_sizes_that_are_not_allowed() {
    let bad = ErrorKind::BadArgument;
    check_failed(Index::new("Nothing9", DIM, Metric::L2), bad, "Nothing9");
    check_failed(Index::new("Polar4\0", DIM, Metric::L2), bad, "description");
    check_failed(Index::new("", DIM, Metric::L2), bad, "");
    check_failed(Index::new("Polar4", 0, Metric::L2), bad, "dim");
    check_failed(Index::new("Polar4", usize::MAX, Metric::L2), bad, "dim");
    check_failed(Index::new("Polar4", 1 << 32, Metric::L2), bad, "4294967296");
    check_failed(Codec::new("Polar9", DIM, Metric::L2), bad, "Polar9");
    check_failed(Codec::new("\0", DIM, Metric::L2), bad, "spec");
    check_failed(Codec::new("Polar4", 65536, Metric::L2), bad, "dim");
    let long = "x".repeat(2000);
    check_failed(Codec::new(&long, DIM, Metric::L2), bad, "");
    let options = CodecOptions::new().centre(&[0.0; 3]);
    check_failed(Codec::with_options("Polar4", DIM, Metric::L2, &options), bad, "centre");
    let options = CodecOptions::new().norm_unit(-1.0);
    check_failed(Codec::with_options("Polar4", DIM, Metric::L2, &options), bad, "norm_unit");
}

#[test]
fn lengths_that_are_no_rows() {
    let bad = ErrorKind::BadArgument;
    let mut index = index_of(20);
    let odd = [0.5; DIM + 1];
    check_failed(index.search(&odd, 3), bad, "queries");
    check_failed(index.range_search(&odd, 3.0), bad, "queries");
    check_failed(index.add_with_ids(&odd, &[50]), bad, "x");
    check_failed(index.add_with_ids(&odd[..DIM], &[50, 51]), bad, "ids");
    check_failed(index.update(&[1, 2], &odd[..DIM]), bad, "ids");
    check_failed(index.upsert(&[], &odd[..DIM]), bad, "ids");
    check_failed(index.train(&odd), bad, "x");
    check_failed(index.add(&odd[..DIM]), bad, "ids");
    check_failed(index.reconstruct_into(1, &mut [0.0; 3]), bad, "x");
    let (mut scores, mut ids) = ([0.0; 3], [0; 2]);
    let options = SearchOptions::new();
    let found = index.search_into(&odd[..DIM], 3, &options, &mut scores, &mut ids);
    check_failed(found, bad, "ids");
    let found = index.search_into(&odd[..DIM], 2, &options, &mut scores, &mut ids);
    check_failed(found, bad, "scores");
    assert_eq!(index.ntotal(), 20);
}

#[test]
fn numbers_that_are_none() {
    let bad = ErrorKind::BadArgument;
    let mut index = index_of(20);
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut x = numbers(2, 5 * DIM);
        x[3 * DIM + 1] = wrong;
        check_failed(index.add_with_ids(&x, &[50, 51, 52, 53, 54]), bad, "row 3");
        check_failed(index.search(&x[3 * DIM..4 * DIM], 1), bad, "quer");
        check_failed(index.update(&[0, 1, 2, 3, 4], &x), bad, "row 3");
        let codec = Codec::new("Polar2", DIM, Metric::L2).unwrap();
        check_failed(codec.encode(&x), bad, "row 3");
        check_failed(codec.prepare_query(&x[3 * DIM..4 * DIM]), bad, "");
    }
    check_failed(index.range_search(&numbers(3, DIM), f32::NAN), bad, "radius");
    let options = SearchOptions::new().exactness(f32::NAN);
    check_failed(index.search_using(&numbers(3, DIM), 1, &options), bad, "exactness");
    assert_eq!(index.ntotal(), 20);
}

#[test]
fn counts_that_are_too_large() {
    let index = index_of(20);
    let query = numbers(3, DIM);
    check_failed(index.search(&query, 0), ErrorKind::BadArgument, "k");
    // No memory is taken that there cannot be, and no size wraps.
    check_failed(index.search(&query, 1 << 60), ErrorKind::OutOfMemory, "bytes");
    check_failed(index.search(&query, 1 << 61), ErrorKind::OutOfMemory, "bytes");
    check_failed(index.search(&query, usize::MAX), ErrorKind::OutOfMemory, "bytes");
    check_failed(index.search(&numbers(3, 2 * DIM), usize::MAX), ErrorKind::BadArgument, "k");
    for options in [
        SearchOptions::new().num_threads(1025),
        SearchOptions::new().num_threads(usize::MAX),
        SearchOptions::new().nprobe(usize::MAX),
    ] {
        check_failed(index.search_using(&query, 1, &options), ErrorKind::BadArgument, "");
    }
    let nprobe = SearchOptions::new().nprobe(3);
    check_failed(index.search_using(&query, 1, &nprobe), ErrorKind::Unsupported, "nprobe");
    let ef_search = SearchOptions::new().ef_search(3);
    check_failed(index.search_using(&query, 1, &ef_search), ErrorKind::Unsupported, "ef_search");
    let k_factor = SearchOptions::new().k_factor(3.0);
    check_failed(index.search_using(&query, 1, &k_factor), ErrorKind::Unsupported, "k_factor");
    check_failed(index.explain(usize::MAX, 1, &SearchOptions::new()), ErrorKind::BadArgument, "nq");

    let codec = Codec::new("Polar2", DIM, Metric::L2).unwrap();
    check_failed(codec.encoded_bytes(usize::MAX), ErrorKind::BadArgument, "n");
    check_failed(
        codec.decode(usize::MAX, &[], Reconstruction::LeastError),
        ErrorKind::BadArgument,
        "n",
    );
    check_failed(
        codec.decode(1 << 40, &[], Reconstruction::Unbiased),
        ErrorKind::BadArgument,
        "codes",
    );
    check_failed(codec.search(&query, usize::MAX, &[], 1), ErrorKind::BadArgument, "n");
}

#[test]
fn codes_of_another_length() {
    let bad = ErrorKind::BadArgument;
    let codec = Codec::new("Polar2", DIM, Metric::L2).unwrap();
    let x = numbers(4, 10 * DIM);
    let codes = codec.encode(&x).unwrap();
    let short = &codes[1..];
    let query: Query = codec.prepare_query(&x[..DIM]).unwrap();
    check_failed(codec.decode(10, short, Reconstruction::LeastError), bad, "codes");
    check_failed(codec.score(&query, 10, short), bad, "codes");
    check_failed(codec.score(&query, 11, &codes), bad, "codes");
    check_failed(codec.score_codes(10, &codes, 10, short), bad, "b");
    check_failed(codec.search(&x[..DIM], 10, short, 1), bad, "codes");
    check_failed(codec.range_search(&x[..DIM], 10, short, 1.0), bad, "codes");
    check_failed(codec.combine(10, &codes, &[1.0; 9]), bad, "weights");
    check_failed(codec.combine(10, &codes, &[f32::NAN; 10]), bad, "weights");
    check_failed(codec.combine(0, &[], &[]), bad, "n");
    check_failed(codec.prepare_query(&x[..3]), bad, "q");
    check_failed(codec.prepare_query_from_code(10, &codes, 10), bad, "row");
    check_failed(codec.prepare_query_from_code(10, &codes, usize::MAX), bad, "row");
    check_failed(codec.encode_into(&x, &WorkOptions::new(), &mut [0; 3]), bad, "codes");
    check_failed(
        codec.score_into(&query, 10, &codes, &WorkOptions::new(), &mut [0.0; 9]),
        bad,
        "scores",
    );

    let mut blocks = CodeBlocks::new(&Arc::new(codec)).unwrap();
    check_failed(blocks.append(10, short), bad, "codes");
    check_failed(blocks.append(usize::MAX, &codes), bad, "n");
    blocks.append(10, &codes).unwrap();
    check_failed(blocks.get(5, 6), bad, "count");
    check_failed(blocks.get(usize::MAX, 1), bad, "count");
    check_failed(blocks.get(1, usize::MAX), bad, "count");
    check_failed(blocks.overwrite(10, &codes[..codes.len() / 10]), bad, "row");
    check_failed(blocks.overwrite(usize::MAX, &codes), bad, "row");
    check_failed(blocks.overwrite(1, short), bad, "code");
    check_failed(blocks.remove(&[]), bad, "removed");
    check_failed(blocks.remove(&[1, 1]), bad, "removed");
    check_failed(blocks.swap_remove(10), bad, "row");
    assert_eq!(blocks.get(0, 10).unwrap(), codes);
}

#[test]
fn filters_that_are_wrong() {
    let bad = ErrorKind::BadArgument;
    let mut index = index_of(20);
    let query = numbers(3, DIM);
    let keep = |_: i64| true;
    let kept = Filter::keep(&keep);
    check_failed(kept.prepare(), bad, "");
    let prepared = Filter::range(..).prepare().unwrap();
    check_failed(Filter::prepared(&prepared).prepare(), bad, "");
    for filter in [
        Filter::ids(&[3, 2]),
        Filter::ids(&[3, 3]),
        Filter::bitset(&[1], 65),
        Filter::bitset(&[], usize::MAX),
    ] {
        let options = SearchOptions::new().filter(filter);
        check_failed(index.search_using(&query, 1, &options), bad, "");
        check_failed(index.remove_filtered(&filter), bad, "");
        check_failed(filter.prepare(), bad, "");
    }
    assert_eq!(index.ntotal(), 20);
}

#[test]
fn states_that_do_not_fit() {
    let codec = Codec::new("PolarPair4x4", DIM, Metric::L2).unwrap();
    assert!(!codec.is_trained());
    check_failed(codec.encode(&numbers(1, DIM)), ErrorKind::NotTrained, "train");
    let x = numbers(2, 10 * DIM);
    let mut codec = Codec::new("Polar2", DIM, Metric::L2).unwrap();
    let codes = codec.encode(&x).unwrap();
    check_failed(codec.train(&x), ErrorKind::StateMismatch, "encoded");
    let other =
        Codec::with_options("Polar2", DIM, Metric::L2, &CodecOptions::new().seed(7)).unwrap();
    check_failed(codec.check_same_state(&other), ErrorKind::StateMismatch, "seed");
    let query = other.prepare_query(&x[..DIM]).unwrap();
    check_failed(codec.score(&query, 10, &codes), ErrorKind::StateMismatch, "");
    check_failed(codec.plan(), ErrorKind::Unsupported, "");
    check_failed(codec.drift(&x), ErrorKind::Unsupported, "");
    check_failed(Codec::load_state(&[]), ErrorKind::CorruptData, "");
    let mut state = codec.save_state().unwrap();
    state[20] ^= 1;
    check_failed(Codec::load_state(&state), ErrorKind::CorruptData, "");

    let untrained = Index::new("IVF4,Polar4", DIM, Metric::L2).unwrap();
    assert!(!untrained.is_trained());
    check_failed(untrained.search(&x[..DIM], 1), ErrorKind::NotTrained, "train");
    let mut index = index_of(20);
    check_failed(index.reconstruct(20), ErrorKind::NotFound, "id");
    check_failed(index.update(&[20], &x[..DIM]), ErrorKind::NotFound, "id");
    check_failed(index.set_nprobe(3), ErrorKind::Unsupported, "");
    assert_eq!(ErrorKind::NotFound.to_string(), "not found");
    assert_eq!(index.nlist(), 0);
}
