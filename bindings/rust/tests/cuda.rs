// SPDX-License-Identifier: MIT
//! GPUs: answers are the CPU's where there is one; where there is none, the library says so.

mod support;

use polarquant::cuda::{self, CudaCodec, CudaEncoder, CudaIndex, CudaOptions, Layout};
use polarquant::{Codec, ErrorKind, Filter, Index, Metric, SearchOptions};
use support::check_failed;
use support::vectors::numbers;

const DIM: usize = 128;

fn make_index(x: &[f32]) -> Index {
    let mut index = Index::new("Polar4", DIM, Metric::InnerProduct).unwrap();
    index.add(x).unwrap();
    index
}

#[test]
fn without_a_device_calls_are_unsupported() {
    let error = match cuda::devices() {
        Ok(devices) => {
            assert!(!devices.is_empty() && !devices[0].name.is_empty());
            return;
        }
        Err(error) => error,
    };
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{}", error);
    assert!(!error.text().is_empty());
    let x = numbers(1, 100 * DIM);
    let (index, options) = (make_index(&x), CudaOptions::new());
    let codec = Codec::new("Polar4", DIM, Metric::InnerProduct).unwrap();
    let codes = codec.encode(&x).unwrap();
    let unsupported = ErrorKind::Unsupported;
    check_failed(CudaIndex::from_index(&index, &options), unsupported, "");
    check_failed(CudaIndex::from_codes(&codec, 100, &codes, &options), unsupported, "");
    check_failed(CudaEncoder::new(&codec, &options), unsupported, "");
    check_failed(CudaCodec::new(&codec, &options), unsupported, "");
    let several = CudaOptions::new().devices(&[0, 0]).layout(Layout::Replicated);
    check_failed(CudaIndex::from_index(&index, &several), unsupported, "");
}

#[test]
fn wrong_places_are_refused() {
    let index = make_index(&numbers(1, 10 * DIM));
    for options in [
        CudaOptions::new().device(usize::MAX),
        CudaOptions::new().num_threads(usize::MAX),
        CudaOptions::new().num_threads(1025),
        CudaOptions::new().devices(&[usize::MAX]),
        CudaOptions::new().devices(&[0; 65]),
    ] {
        assert!(CudaIndex::from_index(&index, &options).is_err());
    }
}

#[test]
fn a_device_gives_the_answers_of_the_cpu() {
    if cuda::devices().is_err() {
        return;
    }
    let x = numbers(2, 1000 * DIM);
    let (index, queries) = (make_index(&x), numbers(3, 7 * DIM));
    for options in [
        CudaOptions::new(),
        CudaOptions::new().devices(&[0, 0]),
        CudaOptions::new().devices(&[0, 0]).layout(Layout::Replicated),
    ] {
        let copy = CudaIndex::from_index(&index, &options).unwrap();
        assert_eq!((copy.ntotal(), copy.dim()), (1000, DIM));
        assert!(copy.memory_bytes().unwrap() > 0);
        assert_eq!(copy.search(&queries, 5).unwrap(), index.search(&queries, 5).unwrap());
        let filtered = SearchOptions::new().filter(Filter::range(10..200));
        let found = copy.search_using(&queries, 5, &filtered).unwrap();
        assert_eq!(found, index.search_using(&queries, 5, &filtered).unwrap());
        check_failed(copy.search(&queries[1..], 5), ErrorKind::BadArgument, "queries");
        check_failed(copy.search(&queries, 0), ErrorKind::BadArgument, "k");
    }

    let codec = Codec::new("Polar4", DIM, Metric::InnerProduct).unwrap();
    let codes = codec.encode(&x).unwrap();
    let coded = CudaIndex::from_codes(&codec, 1000, &codes, &CudaOptions::new()).unwrap();
    let expected = codec.search(&queries, 1000, &codes, 5).unwrap();
    assert_eq!(coded.search(&queries, 5).unwrap().ids(), expected.ids());
    let encoder = CudaEncoder::new(&codec, &CudaOptions::new()).unwrap();
    assert_eq!(encoder.encode(&x).unwrap(), codes);
    check_failed(encoder.encode(&x[1..]), ErrorKind::BadArgument, "x");
    check_failed(encoder.encode_into(&x, &mut [0; 5]), ErrorKind::BadArgument, "codes");

    let scorer = CudaCodec::new(&codec, &CudaOptions::new()).unwrap();
    let scores = scorer.score(2, 3, &queries[..6 * DIM], 500, &codes).unwrap();
    assert_eq!(scores.len(), 2 * 3 * 500);
    let query = codec.prepare_query(&queries[..DIM]).unwrap();
    let expected = codec.score(&query, 500, &codes[..codes.len() / 2]).unwrap();
    for (score, wanted) in scores.iter().zip(&expected) {
        assert!((score - wanted).abs() < 1e-3 * (1.0 + wanted.abs()));
    }
    let weights = numbers(4, 2 * 500);
    let sums = scorer.combine(2, 1, &weights, 500, &codes).unwrap();
    let expected = codec.combine(500, &codes[..codes.len() / 2], &weights[..500]).unwrap();
    for (sum, wanted) in sums.iter().zip(&expected) {
        assert!((sum - wanted).abs() < 1e-3 * (1.0 + wanted.abs()));
    }
    check_failed(scorer.score(2, 3, &queries, 500, &codes), ErrorKind::BadArgument, "queries");
    let odd = &codes[1..];
    check_failed(scorer.score(1, 1, &queries[..DIM], 1000, odd), ErrorKind::BadArgument, "codes");
    check_failed(scorer.combine(1, 1, &weights, 999, &codes), ErrorKind::BadArgument, "codes");
}
