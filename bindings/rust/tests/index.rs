// SPDX-License-Identifier: MIT
//! Indexes: made, changed, searched, explained, saved, loaded, merged.

mod support;

use polarquant::{ErrorKind, Filter, Index, LoadOptions, Match, Metric, SaveOptions};
use polarquant::{SearchOptions, WorkOptions};
use support::vectors::numbers;
use support::{check_failed, TemporaryFile};

const DIM: usize = 16;

fn row(x: &[f32], row: usize) -> &[f32] {
    &x[row * DIM..(row + 1) * DIM]
}

fn first(index: &Index, query: &[f32]) -> i64 {
    index.search(query, 1).unwrap().ids()[0]
}

#[test]
fn rows_are_added_changed_and_removed() {
    let x = numbers(1, 30 * DIM);
    let mut index = Index::new("Polar8", DIM, Metric::L2).unwrap();
    assert!(index.is_empty() && index.is_trained());
    index.add_with_ids(&x[..20 * DIM], &(100..120).collect::<Vec<_>>()).unwrap();
    let ids = [500, 501];
    index
        .add_with_ids_using(&x[20 * DIM..22 * DIM], &ids, &WorkOptions::new().num_threads(1))
        .unwrap();
    assert_eq!(index.ntotal(), 22);
    assert_eq!(first(&index, row(&x, 3)), 103);
    assert_eq!(first(&index, row(&x, 21)), 501);

    index.update(&[103], row(&x, 25)).unwrap();
    assert_eq!(first(&index, row(&x, 25)), 103);
    index.update_using(&[103], row(&x, 3), &WorkOptions::new()).unwrap();
    index.upsert(&[104, 700], &x[26 * DIM..28 * DIM]).unwrap();
    index.upsert_using(&[], &[], &WorkOptions::new()).unwrap();
    assert_eq!((first(&index, row(&x, 26)), first(&index, row(&x, 27))), (104, 700));
    assert_eq!(index.ntotal(), 23);

    assert_eq!(index.remove(&[700, 9999, 700]).unwrap(), 1);
    assert_eq!(index.remove_filtered(&Filter::range(500..)).unwrap(), 2);
    assert_eq!(index.remove(&[]).unwrap(), 0);
    assert_eq!(index.ntotal(), 20);

    let rebuilt = index.reconstruct_batch(&[103, 105]).unwrap();
    assert_eq!(rebuilt[..DIM], index.reconstruct(103).unwrap()[..]);
    let error: f32 = rebuilt[..DIM].iter().zip(row(&x, 3)).map(|(a, b)| (a - b).powi(2)).sum();
    assert!(error < 1.0, "{}", error);
    assert_eq!(index.info().ntotal, 20);
    assert_eq!((index.info().dim, index.info().metric), (DIM, Metric::L2));
    assert!(index.memory_bytes().unwrap() > 0);
    assert!(format!("{:?}", index).contains("Polar8"));
}

#[test]
fn rows_without_ids_are_numbered() {
    let x = numbers(2, 1500 * DIM);
    let mut index = Index::new("Polar4", DIM, Metric::InnerProduct).unwrap();
    index.train_using(&x, &WorkOptions::new()).unwrap();
    index.add_using(&x[..1000 * DIM], &WorkOptions::new()).unwrap();
    index.add(&x[1000 * DIM..]).unwrap();
    index.add(&[]).unwrap();
    assert_eq!(index.ntotal(), 1500);
    assert!(index.code_size().unwrap() >= DIM / 2);
    check_failed(index.upsert(&[1], row(&x, 1)), ErrorKind::BadArgument, "ids");
    assert_eq!(index.remove(&[0]).unwrap(), 1);
    assert_eq!(index.ntotal(), 1499);
}

#[test]
fn matches_are_read_in_several_ways() {
    let mut index = Index::new("Flat", 2, Metric::L2).unwrap();
    index.add(&[0.0, 0.0, 1.0, 0.0, 5.0, 0.0]).unwrap();
    let found = index.search(&[0.25, 0.0, 5.0, 0.0], 5).unwrap();
    assert_eq!((found.k(), found.num_queries()), (5, 2));
    assert_eq!(found.ids(), [0, 1, 2, -1, -1, 2, 1, 0, -1, -1]);
    assert_eq!(found.scores()[4], f32::INFINITY);
    let second: Vec<Match> = found.query(1).collect();
    assert_eq!(second.len(), 3);
    assert_eq!(second[0], Match { id: 2, score: 0.0 });
    assert_eq!(found.iter().count(), 6);
    assert_eq!((&found).into_iter().next().unwrap().id, 0);
    assert_eq!(found.clone().into_parts().0, found.ids());

    let near = index.range_search(&[0.25, 0.0, 100.0, 0.0], 2.0).unwrap();
    assert_eq!((near.lims(), near.ids()), (&[0, 2, 2][..], &[0, 1][..]));
    assert_eq!(near.query(0).map(|one| one.id).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(near.query(1).count(), 0);
    let nothing = index.search(&[], 3).unwrap();
    assert_eq!((nothing.num_queries(), nothing.iter().count()), (0, 0));
    assert_eq!(index.range_search(&[], 3.0).unwrap().num_queries(), 0);

    let (mut scores, mut ids) = ([0.0; 1], [0; 1]);
    let options = SearchOptions::new();
    index.search_into(&[1.0, 0.0], 1, &options, &mut scores, &mut ids).unwrap();
    assert_eq!((scores, ids), ([0.0], [1]));
}

#[test]
fn range_searches_find_more_rows_than_there_was_memory_for() {
    let x = numbers(3, 3000 * DIM);
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    index.add(&x).unwrap();
    let options = SearchOptions::new().exactness(f32::INFINITY);
    let found = index.range_search_using(row(&x, 0), 1e9, &options).unwrap();
    assert_eq!(found.ids().len(), 3000);
    assert!(found.scores().windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn filters_keep_what_they_say() {
    let x = numbers(4, 300 * DIM);
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    index.add_with_ids(&x, &(0..300).collect::<Vec<_>>()).unwrap();
    let kept = |filter: Filter<'_>| {
        let options = SearchOptions::new().filter(filter).exactness(f32::INFINITY);
        let found = index.search_using(row(&x, 0), 300, &options).unwrap();
        let mut ids: Vec<i64> = found.iter().map(|one| one.id).collect();
        ids.sort_unstable();
        ids
    };
    let all: Vec<i64> = (0..300).collect();
    assert_eq!(kept(Filter::ids(&[3, 7, 5000])), [3, 7]);
    assert_eq!(kept(Filter::bitset(&[0b1010, 1], 64)), [1, 3]);
    assert_eq!(kept(Filter::bitset(&[0b1010, 1], 65)), [1, 3, 64]);
    assert_eq!(kept(Filter::bitset(&[], 0)), []);
    assert_eq!(kept(Filter::ids(&[])), []);
    assert_eq!(kept(Filter::range(295..)), [295, 296, 297, 298, 299]);
    assert_eq!(kept(Filter::range(..=1)), [0, 1]);
    assert_eq!(kept(Filter::range(-5..2)), [0, 1]);
    assert_eq!(kept(Filter::range(..)), all);
    assert_eq!(kept(Filter::range(0..=i64::MAX)), all);
    assert_eq!(kept(Filter::range(7..7)), []);
    #[allow(clippy::reversed_empty_ranges)]
    {
        assert_eq!(kept(Filter::range(9..2)), []);
    }
    let after = (std::ops::Bound::Excluded(297), std::ops::Bound::Unbounded);
    assert_eq!(kept(Filter::range(after)), [298, 299]);
    let after_all = (std::ops::Bound::Excluded(i64::MAX), std::ops::Bound::Unbounded);
    assert_eq!(kept(Filter::range(after_all)), []);
    let even = |id: i64| id % 100 == 0;
    assert_eq!(kept(Filter::keep(&even)), [0, 100, 200]);
    let prepared = Filter::ids(&[2, 4]).prepare().unwrap();
    for _ in 0..3 {
        assert_eq!(kept(Filter::prepared(&prepared)), [2, 4]);
    }
}

#[test]
fn inverted_files_have_lists() {
    let x = numbers(5, 500 * DIM);
    let mut index = Index::new("IVF4,Polar4", DIM, Metric::L2).unwrap();
    assert_eq!((index.nlist(), index.nprobe()), (4, 1));
    let centroids = x[..4 * DIM].to_vec();
    index.train_with_centroids(&centroids, &x, &WorkOptions::new()).unwrap();
    let ids: Vec<i64> = (0..500).collect();
    let lists: Vec<i64> = (0..500).map(|id| id % 4).collect();
    index.add_to_lists(&x, &ids, &lists, &WorkOptions::new()).unwrap();
    let wrong = index.add_to_lists(row(&x, 0), &[900], &[4], &WorkOptions::new());
    check_failed(wrong, ErrorKind::BadArgument, "lists");
    let wrong = index.add_to_lists(row(&x, 0), &[900], &[], &WorkOptions::new());
    check_failed(wrong, ErrorKind::BadArgument, "lists");
    index.set_nprobe(4).unwrap();
    assert_eq!(index.nprobe(), 4);
    check_failed(index.set_nprobe(0), ErrorKind::BadArgument, "nprobe");
    assert_eq!(index.search(row(&x, 7), 500).unwrap().iter().count(), 500);
    let one_list = SearchOptions::new().nprobe(1);
    assert_eq!(index.search_using(row(&x, 7), 500, &one_list).unwrap().iter().count(), 125);
    let text = index.explain(10, 5, &one_list).unwrap();
    assert!(text.contains("scan"), "{}", text);
}

#[test]
fn shards_are_merged_and_copies_are_their_own() {
    let x = numbers(6, 100 * DIM);
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    index.train(&x).unwrap();
    let mut other = index.try_clone().unwrap();
    index.add_with_ids(&x[..50 * DIM], &(0..50).collect::<Vec<_>>()).unwrap();
    other.add_with_ids(&x[50 * DIM..], &(50..100).collect::<Vec<_>>()).unwrap();
    index.merge(&mut other).unwrap();
    assert_eq!((index.ntotal(), other.ntotal()), (100, 0));
    let mut stranger = Index::new("Polar2", DIM, Metric::L2).unwrap();
    stranger.add_with_ids(row(&x, 0), &[1000]).unwrap();
    let failed = index.merge_using(&mut stranger, &WorkOptions::new());
    check_failed(failed, ErrorKind::StateMismatch, "");
    assert_eq!(stranger.ntotal(), 1);
    let mut copy = index.try_clone().unwrap();
    copy.remove(&[1]).unwrap();
    assert_eq!((index.ntotal(), copy.ntotal()), (100, 99));
}

#[test]
fn indexes_are_saved_and_loaded() {
    let x = numbers(7, 100 * DIM);
    let mut index = Index::new("Polar4", DIM, Metric::Cosine).unwrap();
    index.add_with_ids(&x, &(0..100).collect::<Vec<_>>()).unwrap();
    index.train(&x).unwrap();
    let file = TemporaryFile::new("saved α.polar");
    index.save(&file.0).unwrap();
    index.save_using(&file.0, &SaveOptions::new().verify(true)).unwrap();
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    assert_eq!(std::fs::read(&file.0).unwrap(), bytes);
    let expected = index.search(&x, 3).unwrap();
    for mut loaded in [
        Index::load(&file.0).unwrap(),
        Index::map(&file.0).unwrap(),
        // SAFETY: the file is ours.
        Index::load_using(&file.0, &unsafe { LoadOptions::new().trust_faiss() }).unwrap(),
        Index::read_from(&mut bytes.as_slice()).unwrap(),
    ] {
        assert_eq!(loaded.search(&x, 3).unwrap(), expected);
        assert_eq!(loaded.metric(), Metric::Cosine);
        loaded.verify().unwrap();
        let _ = loaded.remove(&[1]);
    }
    let mut mapped = Index::map(&file.0).unwrap();
    check_failed(mapped.remove(&[1]), ErrorKind::Unsupported, "");
    let read = LoadOptions::new().memory_map(true);
    check_failed(
        Index::read_from_using(&mut bytes.as_slice(), &read),
        ErrorKind::BadArgument,
        "memory_map",
    );

    let missing = TemporaryFile::new("no such folder/saved.polar");
    check_failed(index.save(&missing.0), ErrorKind::Io, "");
    check_failed(Index::load(&missing.0), ErrorKind::Io, "");
    check_failed(index.save("a\0b"), ErrorKind::BadArgument, "path");
    check_failed(Index::load("a\0b"), ErrorKind::BadArgument, "path");
    bytes[100] ^= 1;
    check_failed(Index::read_from(&mut bytes.as_slice()), ErrorKind::CorruptData, "");
    // A file of FAISS's own is for those who trust it.
    let mut flat = Index::new("IVF1,Flat", DIM, Metric::L2).unwrap();
    flat.train(&x).unwrap();
    flat.save(&file.0).unwrap();
    check_failed(Index::load(&file.0), ErrorKind::Unsupported, "");
    // SAFETY: the file is ours.
    Index::load_using(&file.0, &unsafe { LoadOptions::new().trust_faiss() }).unwrap();
}
