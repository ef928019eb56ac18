// SPDX-License-Identifier: MIT
//! Index files built in parts, merged, and searched together.

mod support;

use polarquant::{merge_files, merge_files_using, BuilderOptions, CancelToken, ErrorKind};
use polarquant::{Index, IndexBuilder, Metric, SearchOptions, WorkOptions};
use std::fs;
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;
use support::check_failed;
use support::vectors::numbers;

const DIM: usize = 32;
const ROWS: usize = 3000;
/// Rows that make more than one part of the least size.
const MANY_ROWS: usize = 40_000;
const LEAST_MEMORY: usize = 1 << 20;

/// A folder of one test, which is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("polarquant-build-{}-{}", std::process::id(), name);
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn ids_of(first: usize, end: usize) -> Vec<i64> {
    (first..end).map(|row| (row * 7919 % 1_000_003 + 5) as i64).collect()
}

fn trained(description: &str, x: &[f32]) -> Index {
    let mut index = Index::new(description, DIM, Metric::L2).unwrap();
    index.train(&x[..2000 * DIM]).unwrap();
    index
}

/// The bytes of the file of one index of all rows.
fn file_of_one_index(index: &Index, x: &[f32], with_ids: bool, folder: &Folder) -> Vec<u8> {
    let mut whole = index.try_clone().unwrap();
    if with_ids {
        whole.add_with_ids(x, &ids_of(0, x.len() / DIM)).unwrap();
    } else {
        whole.add(x).unwrap();
    }
    whole.save(folder.file("whole")).unwrap();
    fs::read(folder.file("whole")).unwrap()
}

/// Files of the rows up to each of these ends.
fn shards(index: &Index, x: &[f32], ends: &[usize], folder: &Folder) -> Vec<PathBuf> {
    let firsts = [0].iter().chain(ends);
    firsts
        .zip(ends)
        .enumerate()
        .map(|(number, (&first, &end))| {
            let mut shard = index.try_clone().unwrap();
            shard.add_with_ids(&x[first * DIM..end * DIM], &ids_of(first, end)).unwrap();
            let path = folder.file(&format!("shard{}", number));
            shard.save(&path).unwrap();
            path
        })
        .collect()
}

#[test]
fn a_file_built_in_parts_is_that_of_one_index() {
    let x = numbers(1, MANY_ROWS * DIM);
    for (description, with_ids) in [("Polar8", false), ("Polar8", true), ("IVF7,Polar4", true)] {
        let folder = Folder::new(&format!("parts-{}-{}", description, with_ids));
        let path = folder.file("built");
        let index = trained(description, &x);
        let options = BuilderOptions::new().memory_bytes(LEAST_MEMORY);
        let mut builder = IndexBuilder::create_using(&index, &path, &options).unwrap();
        assert_eq!((builder.dim(), builder.ntotal(), builder.written()), (DIM, 0, 0));
        let ends = [0, 1, 1, 5000, MANY_ROWS];
        for (&first, &end) in ends.iter().zip(&ends[1..]) {
            let rows = &x[first * DIM..end * DIM];
            if with_ids {
                builder.add_with_ids(rows, &ids_of(first, end)).unwrap();
            } else {
                builder.add(rows).unwrap();
            }
            assert_eq!(builder.ntotal(), end);
            if end == 5000 {
                builder.write_part().unwrap();
                assert_eq!(builder.written(), 5000);
            }
        }
        if description == "Polar8" {
            let written = builder.written();
            assert!(written > 5000 && written < MANY_ROWS, "{}", written);
        }
        builder.finish().unwrap();
        assert!(fs::read(&path).unwrap() == file_of_one_index(&index, &x, with_ids, &folder));
        assert!(!folder.file("built.parts").exists());
        check_failed(builder.add(&x[..DIM]), ErrorKind::StateMismatch, "finished");
        check_failed(builder.write_part(), ErrorKind::StateMismatch, "finished");
        check_failed(builder.finish(), ErrorKind::StateMismatch, "finished");
    }
}

#[test]
fn a_build_goes_on_after_its_last_part() {
    let x = numbers(2, ROWS * DIM);
    let folder = Folder::new("resume");
    let path = folder.file("built");
    let index = trained("IVF7,Polar4", &x);
    let mut builder = IndexBuilder::create(&index, &path).unwrap();
    builder.add(&x[..1000 * DIM]).unwrap();
    builder.write_part().unwrap();
    builder.add(&x[1000 * DIM..1500 * DIM]).unwrap();
    check_failed(IndexBuilder::resume(&path), ErrorKind::Io, "in use");
    assert!(format!("{:?}", builder).contains("written: 1000"));
    drop(builder); // 500 rows are lost

    check_failed(IndexBuilder::create(&index, &path), ErrorKind::BadArgument, "replace");
    let options = BuilderOptions::new().memory_bytes(LEAST_MEMORY);
    let mut builder = IndexBuilder::resume_using(&path, &options).unwrap();
    assert_eq!((builder.ntotal(), builder.written(), builder.dim()), (1000, 1000, DIM));
    builder.add(&x[1000 * DIM..]).unwrap();
    builder.finish().unwrap();
    assert!(fs::read(&path).unwrap() == file_of_one_index(&index, &x, false, &folder));
    check_failed(IndexBuilder::resume(&path), ErrorKind::NotFound, "built.parts");
}

#[test]
fn an_earlier_build_is_replaced_when_asked() {
    let x = numbers(3, ROWS * DIM);
    let folder = Folder::new("replace");
    let path = folder.file("built");
    let index = trained("Polar4", &x);
    let mut builder = IndexBuilder::create(&index, &path).unwrap();
    builder.add(&x[..50 * DIM]).unwrap();
    builder.write_part().unwrap();
    drop(builder);
    let options = BuilderOptions::new().replace(true);
    let mut builder = IndexBuilder::create_using(&index, &path, &options).unwrap();
    assert_eq!(builder.ntotal(), 0);
    builder.add(&x[..7 * DIM]).unwrap();
    builder.finish().unwrap();
    assert_eq!(Index::load(&path).unwrap().ntotal(), 7);
}

#[test]
fn merged_files_and_shards_are_one_index() {
    let x = numbers(4, ROWS * DIM);
    for description in ["Polar4", "IVF7,Polar4"] {
        let folder = Folder::new(&format!("merge-{}", description));
        let index = trained(description, &x);
        let paths = shards(&index, &x, &[1000, ROWS], &folder);
        merge_files(&paths, folder.file("merged")).unwrap();
        let merged = fs::read(folder.file("merged")).unwrap();
        assert!(merged == file_of_one_index(&index, &x, true, &folder));

        let one = Index::load(folder.file("merged")).unwrap();
        let mut together = Index::open_shards(&paths).unwrap();
        assert_eq!((together.ntotal(), together.dim()), (ROWS, DIM));
        for exactness in [2.0, f32::INFINITY] {
            let options = SearchOptions::new().exactness(exactness);
            let queries = &x[500 * DIM..570 * DIM];
            let found = together.search_using(queries, 10, &options).unwrap();
            assert_eq!(found, one.search_using(queries, 10, &options).unwrap());
        }
        together.verify().unwrap();
        together.save(folder.file("saved")).unwrap();
        assert!(fs::read(folder.file("saved")).unwrap() == merged);
        let added = together.add_with_ids(&x[..DIM], &[7]);
        check_failed(added, ErrorKind::Unsupported, "memory-mapped");

        let mut other = index.try_clone().unwrap();
        other.add(&x[..100 * DIM]).unwrap();
        other.save(folder.file("other")).unwrap();
        let mut like = Index::load_empty(folder.file("other")).unwrap();
        assert!(like.is_empty() && like.is_trained());
        like.add_with_ids(&x, &ids_of(0, ROWS)).unwrap();
        like.save(folder.file("like")).unwrap();
        assert!(fs::read(folder.file("like")).unwrap() == merged);
    }
}

#[test]
fn files_that_do_not_fit_are_named() {
    let x = numbers(5, ROWS * DIM);
    let folder = Folder::new("refused");
    let (index, out) = (trained("IVF7,Polar4", &x), folder.file("out"));
    let mut paths = shards(&index, &x, &[1000, 2000], &folder);
    let none: [PathBuf; 0] = [];
    check_failed(merge_files(&none, &out), ErrorKind::BadArgument, "n: 0");
    check_failed(Index::open_shards(&none), ErrorKind::BadArgument, "n: 0");
    check_failed(merge_files(&["a\0b"], &out), ErrorKind::BadArgument, "path");
    check_failed(Index::load_empty(folder.file("none")), ErrorKind::Io, "none");
    paths.push(paths[0].clone());
    check_failed(merge_files(&paths, &out), ErrorKind::BadArgument, "there twice");
    let twice = Index::open_shards(&paths).unwrap();
    check_failed(twice.verify(), ErrorKind::BadArgument, "there twice");
    paths[2] = folder.file("other");
    check_failed(merge_files(&paths, &out), ErrorKind::Io, "other");
    trained("IVF7,Polar2", &x).save(&paths[2]).unwrap();
    check_failed(merge_files(&paths, &out), ErrorKind::StateMismatch, "other");
    check_failed(Index::open_shards(&paths), ErrorKind::StateMismatch, "other");
    let graph = folder.file("graph");
    trained("HNSW8,Polar4", &x).save(&graph).unwrap();
    check_failed(Index::load_empty(&graph), ErrorKind::Unsupported, "HNSW8,Polar4");
    assert!(!out.exists());
}

#[test]
fn what_a_builder_refuses() {
    let x = numbers(6, ROWS * DIM);
    let folder = Folder::new("builder-refuses");
    let path = folder.file("built");
    let bad = ErrorKind::BadArgument;
    let untrained = Index::new("Polar4", DIM, Metric::L2).unwrap();
    check_failed(IndexBuilder::create(&untrained, &path), ErrorKind::NotTrained, "not trained");
    let graph = Index::new("HNSW8,Polar4", DIM, Metric::L2).unwrap();
    check_failed(IndexBuilder::create(&graph, &path), ErrorKind::Unsupported, "HNSW8,Polar4");
    let mut index = trained("Polar4", &x);
    let little = BuilderOptions::new().memory_bytes(LEAST_MEMORY - 1);
    check_failed(IndexBuilder::create_using(&index, &path, &little), bad, "memory_bytes");
    let much = BuilderOptions::new().memory_bytes(usize::MAX);
    check_failed(IndexBuilder::create_using(&index, &path, &much), bad, "memory_bytes");
    check_failed(IndexBuilder::create(&index, "a\0b"), bad, "path");
    let mut builder = IndexBuilder::create(&index, &path).unwrap();
    index.add(&x[..5 * DIM]).unwrap();
    let other = folder.file("other");
    check_failed(IndexBuilder::create(&index, &other), ErrorKind::StateMismatch, "5 rows");
    // The builder has a copy of the index.
    drop(index);
    check_failed(builder.add(&x[..DIM + 1]), bad, "x");
    check_failed(builder.add_with_ids(&x[..DIM], &[1, 2]), bad, "ids");
    builder.add_with_ids(&x[..2 * DIM], &[1, 2]).unwrap();
    check_failed(builder.add(&x[..DIM]), bad, "ids");
    check_failed(builder.add_with_ids(&x[..DIM], &[2]), bad, "ids must differ");
    check_failed(builder.add_with_ids(&[f32::NAN; DIM], &[3]), bad, "row 0");
    assert_eq!(builder.ntotal(), 2);
    // An id of another part is found in the end, and the parts stay.
    builder.write_part().unwrap();
    builder.add_with_ids(&x[..DIM], &[2]).unwrap();
    check_failed(builder.finish(), bad, "id 2 is there twice");
    check_failed(builder.finish(), bad, "id 2 is there twice");
    assert!(!path.exists());
}

#[test]
fn adding_and_merging_are_told_of_and_stopped() {
    let x = numbers(7, MANY_ROWS * DIM);
    let folder = Folder::new("progress");
    let path = folder.file("built");
    let index = trained("Polar4", &x);
    let mut builder = IndexBuilder::create(&index, &path).unwrap();
    let token = CancelToken::new();
    let cancelled = WorkOptions::new().cancel(&token).num_threads(1);
    builder.add_using(&x[..DIM * 10], &cancelled).unwrap();
    token.cancel();
    check_failed(builder.add_using(&x, &cancelled), ErrorKind::Cancelled, "");
    let in_builder = builder.ntotal();
    assert!(in_builder < MANY_ROWS);
    builder.add(&x[in_builder * DIM..]).unwrap();
    assert_eq!(builder.ntotal(), MANY_ROWS);

    check_failed(builder.finish_using(&cancelled), ErrorKind::Cancelled, "");
    let panics = |_: f64| panic!("in progress");
    let panicking = WorkOptions::new().progress(&panics);
    let payload = catch_unwind(AssertUnwindSafe(|| builder.finish_using(&panicking))).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"in progress"));
    assert!(!path.exists());
    let last = std::sync::Mutex::new(0.0);
    let told = |done: f64| {
        let mut last = last.lock().unwrap();
        assert!(done >= *last && done <= 1.0);
        *last = done;
        ControlFlow::Continue(())
    };
    builder.finish_using(&WorkOptions::new().progress(&told)).unwrap();
    assert_eq!(Index::map(&path).unwrap().ntotal(), MANY_ROWS);

    let merged = folder.file("merged");
    let stopped = merge_files_using(&[&path], &merged, &cancelled);
    check_failed(stopped, ErrorKind::Cancelled, "merge");
    assert!(!merged.exists());
    *last.lock().unwrap() = 0.0;
    merge_files_using(&[&path], &merged, &WorkOptions::new().progress(&told)).unwrap();
    assert_eq!(*last.lock().unwrap(), 1.0);
}
