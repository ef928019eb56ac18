// SPDX-License-Identifier: MIT
//! Copies of indexes on devices that are none, those of the repository's tests/capi/plain_devices.h:
//! arguments, places and ends of calls on GPUs, without one. Run where `POLARQUANT_CUDA_LIBRARY` names
//! them.

mod support;

use polarquant::cuda::{self, CudaIndex, CudaOptions, Layout};
use polarquant::{Codec, ErrorKind, Filter, Index, Metric, SearchOptions};
use support::check_failed;
use support::vectors::numbers;

const DIM: usize = 128;
const ROWS: usize = 1500;

fn has_plain_devices() -> bool {
    std::env::var("POLARQUANT_CUDA_LIBRARY").map_or(false, |path| path.contains("plain_devices"))
}

fn make_index(description: &str, x: &[f32]) -> Index {
    let mut index = Index::new(description, DIM, Metric::L2).unwrap();
    index.train(x).unwrap();
    index.add_with_ids(x, &(7000..7000 + ROWS as i64).collect::<Vec<_>>()).unwrap();
    index
}

#[test]
fn copies_answer_alike_wherever_they_are() {
    if !has_plain_devices() {
        return;
    }
    let devices = cuda::devices().unwrap();
    assert_eq!(devices.len(), 3);
    let x = numbers(17, ROWS * DIM);
    let queries = &x[..20 * DIM];
    let index = make_index("Polar4", &x);
    let single =
        CudaIndex::from_index(&index, &CudaOptions::new().device(2).num_threads(1)).unwrap();
    assert_eq!((single.ntotal(), single.dim()), (ROWS, DIM));
    assert!(single.memory_bytes().unwrap() > 0);
    let prepared = Filter::range(7100..7200).prepare().unwrap();
    let odd = |id: i64| id % 2 == 1;
    let plain = SearchOptions::new();
    for options in [
        CudaOptions::new().devices(&[0, 1, 2]),
        CudaOptions::new().devices(&[1, 1]).layout(Layout::Replicated),
    ] {
        let placed = CudaIndex::from_index(&index, &options).unwrap();
        for how in
            [plain, plain.filter(Filter::prepared(&prepared)), plain.filter(Filter::keep(&odd))]
        {
            let wanted = single.search_using(queries, 6, &how).unwrap();
            assert_eq!(placed.search_using(queries, 6, &how).unwrap(), wanted);
            assert!(wanted.ids()[0] >= 7000);
        }
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let found = placed.search(queries, 6).unwrap();
                    assert_eq!(found, single.search(queries, 6).unwrap());
                });
            }
        });
    }
    // The index may go; the copy does not.
    drop(index);
    assert_eq!(single.search(queries, 3).unwrap().num_queries(), 20);
    check_failed(single.search(queries, 0), ErrorKind::BadArgument, "k");
    check_failed(single.search(&x[..DIM + 1], 1), ErrorKind::BadArgument, "queries");
    let graph = plain.ef_search(3);
    check_failed(single.search_using(queries, 1, &graph), ErrorKind::Unsupported, "ef_search");
    let panics = |_: i64| panic!("in a filter");
    let panicking = plain.filter(Filter::keep(&panics));
    let search = std::panic::AssertUnwindSafe(|| single.search_using(queries, 1, &panicking));
    assert!(std::panic::catch_unwind(search).is_err());
}

#[test]
fn lists_are_copied() {
    if !has_plain_devices() {
        return;
    }
    let x = numbers(18, ROWS * DIM);
    let index = make_index("IVF8,Polar4", &x);
    let copy = CudaIndex::from_index(&index, &CudaOptions::new()).unwrap();
    let all = SearchOptions::new().nprobe(8);
    assert_eq!(copy.search_using(&x[..DIM], ROWS, &all).unwrap().iter().count(), ROWS);
    let one = copy.search(&x[..DIM], ROWS).unwrap().iter().count();
    assert!((1..ROWS).contains(&one), "{}", one);
}

#[test]
fn codes_are_copied() {
    if !has_plain_devices() {
        return;
    }
    let x = numbers(19, ROWS * DIM);
    let codec = Codec::new("Polar4", DIM, Metric::InnerProduct).unwrap();
    let codes = codec.encode(&x).unwrap();
    let index = CudaIndex::from_codes(&codec, ROWS, &codes, &CudaOptions::new()).unwrap();
    assert_eq!(index.ntotal(), ROWS);
    assert_eq!(index.search(&x, 2).unwrap().num_queries(), ROWS);
    let bad = ErrorKind::BadArgument;
    let made = |rows, options: &CudaOptions| CudaIndex::from_codes(&codec, rows, &codes, options);
    check_failed(made(ROWS + 1, &CudaOptions::new()), bad, "codes");
    check_failed(made(ROWS, &CudaOptions::new().device(3)), bad, "device");
    check_failed(made(ROWS, &CudaOptions::new().devices(&[0; 65])), bad, "");
    check_failed(made(ROWS, &CudaOptions::new().devices(&[usize::MAX])), bad, "device");
}
