// SPDX-License-Identifier: MIT
//! Closures that the library calls: they stop calls, panic, and call the library themselves.

mod support;

use polarquant::{
    advise, AdviceOptions, CancelToken, Codec, Error, ErrorKind, Filter, Index, Metric,
};
use polarquant::{SearchOptions, SharedIndex, WorkOptions};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use support::check_failed;
use support::vectors::numbers;

const DIM: usize = 64;
const ROWS: usize = 2000;

fn make_index() -> Index {
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    let ids: Vec<i64> = (0..ROWS as i64).collect();
    index.add_with_ids(&numbers(1, ROWS * DIM), &ids).unwrap();
    index
}

/// The text with which `call` panicked.
fn panic_text<T>(call: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).err().expect("no panic");
    payload.downcast_ref::<&str>().map_or_else(String::new, |text| text.to_string())
}

#[test]
fn a_filter_is_asked_and_its_panic_goes_on() {
    let index = make_index();
    let query = numbers(2, DIM);
    let expected = index.search_using(
        &query,
        10,
        &SearchOptions::new().filter(Filter::range(100..200)).exactness(f32::INFINITY),
    );
    let asked = AtomicUsize::new(0);
    let keep = |id: i64| {
        asked.fetch_add(1, Ordering::Relaxed);
        (100..200).contains(&id)
    };
    let options = SearchOptions::new().filter(Filter::keep(&keep)).exactness(f32::INFINITY);
    let found = index.search_using(&query, 10, &options).unwrap();
    assert_eq!(found, expected.unwrap());
    assert!(asked.load(Ordering::Relaxed) > 0);

    let panics = |id: i64| if id == 150 { panic!("in a filter") } else { true };
    for threads in [1, 2] {
        let options = SearchOptions::new()
            .filter(Filter::keep(&panics))
            .num_threads(threads)
            .exactness(f32::INFINITY);
        let many = numbers(3, 50 * DIM);
        let text = panic_text(|| index.search_using(&many, 10, &options));
        assert_eq!(text, "in a filter");
        let text = panic_text(|| index.range_search_using(&many, 1e9, &options));
        assert_eq!(text, "in a filter");
    }
    // The index works as before.
    assert_eq!(index.search(&query, 1).unwrap().num_queries(), 1);
}

#[test]
fn a_filter_that_panics_while_rows_are_removed_names_no_more() {
    let mut index = make_index();
    let panics = |id: i64| if id >= 1000 { panic!("in a removal") } else { id < 10 };
    let text = panic_text(|| index.remove_filtered(&Filter::keep(&panics)));
    assert_eq!(text, "in a removal");
    assert!(index.ntotal() >= ROWS - 10);
    let even = |id: i64| id % 2 == 0;
    index.remove_filtered(&Filter::keep(&even)).unwrap();
    check_failed(index.reconstruct(1000), ErrorKind::NotFound, "");
    index.reconstruct(1001).unwrap();
}

#[test]
fn progress_is_told_and_stops_work() {
    let rows = numbers(4, 20_000 * DIM);
    let mut index = Index::new("IVF64,Polar4", DIM, Metric::L2).unwrap();
    let last = Mutex::new(-1.0);
    let told = |done: f64| {
        let mut last = last.lock().unwrap();
        assert!((0.0..=1.0).contains(&done) && done >= *last);
        *last = done;
        ControlFlow::Continue(())
    };
    index.train_using(&rows, &WorkOptions::new().progress(&told)).unwrap();
    assert!(*last.lock().unwrap() > 0.0);

    let stop = |_: f64| ControlFlow::Break(());
    let stopping = WorkOptions::new().progress(&stop);
    check_failed(index.train_using(&rows, &stopping), ErrorKind::Cancelled, "");
    check_failed(index.add_using(&rows, &stopping), ErrorKind::Cancelled, "");
    assert!(index.is_trained() && index.is_empty());

    let panics = |_: f64| panic!("in progress");
    let panicking = WorkOptions::new().progress(&panics);
    assert_eq!(panic_text(|| index.add_using(&rows, &panicking)), "in progress");
    assert!(index.is_empty());
    index.add(&rows).unwrap();

    let queries = &rows[..2000 * DIM];
    let options = SearchOptions::new().nprobe(64).exactness(f32::INFINITY);
    let searching = options.progress(&stop);
    check_failed(index.search_using(queries, 10, &searching), ErrorKind::Cancelled, "");
    let searching = options.progress(&panics);
    assert_eq!(panic_text(|| index.search_using(queries, 10, &searching)), "in progress");
    let count = AtomicUsize::new(0);
    let told = |_: f64| {
        count.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    index.search_using(queries, 10, &options.progress(&told)).unwrap();
    assert!(count.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_token_stops_calls_from_another_thread() {
    let codec = Codec::new("Polar4", 512, Metric::L2).unwrap();
    let rows = numbers(5, 20_000 * 512);
    let token = CancelToken::new();
    let options = WorkOptions::new().cancel(&token).num_threads(1);
    let result = std::thread::scope(|scope| {
        let work = scope.spawn(|| -> Result<(), Error> {
            loop {
                codec.encode_using(&rows, &options)?;
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(!token.is_cancelled());
        token.clone().cancel();
        work.join().unwrap()
    });
    check_failed(result, ErrorKind::Cancelled, "");
    let x = numbers(6, 500 * 8);
    let options = AdviceOptions::new().cancel(&token);
    check_failed(advise(8, Metric::L2, &x, &[], &options), ErrorKind::Cancelled, "");
    let panics = |_: f64| panic!("in advice");
    let options = AdviceOptions::new().progress(&panics);
    assert_eq!(panic_text(|| advise(8, Metric::L2, &x, &[], &options)), "in advice");
}

#[test]
fn a_closure_may_search_the_index_that_calls_it_but_not_change_it() {
    let index = SharedIndex::from(make_index());
    let row = numbers(7, DIM);
    let refused = AtomicUsize::new(0);
    let keep = |id: i64| {
        assert!(index.ntotal() == ROWS);
        if id % 500 == 0 {
            assert_eq!(index.search(&row, 1).unwrap().k(), 1);
            assert!(index.upsert(&[id], &row).is_err());
            assert!(index.remove(&[id]).is_err());
            refused.fetch_add(1, Ordering::Relaxed);
        }
        true
    };
    let options = SearchOptions::new().filter(Filter::keep(&keep)).exactness(f32::INFINITY);
    index.search_using(&row, 3, &options).unwrap();
    assert!(refused.load(Ordering::Relaxed) > 0);
    assert_eq!(index.ntotal(), ROWS);
}

/// Reads and writes a few bytes, then does something wrong.
struct Stream {
    bytes_left: usize,
    panics: bool,
}

impl Stream {
    fn take(&mut self, bytes: usize) -> io::Result<usize> {
        if self.bytes_left == 0 {
            assert!(!self.panics, "in a stream");
            return Err(io::Error::new(io::ErrorKind::Other, "the wire is cut"));
        }
        let taken = bytes.min(self.bytes_left);
        self.bytes_left -= taken;
        Ok(taken)
    }
}

impl Write for Stream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.take(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An index, of which a stream gives the first bytes.
struct CutReader<'a>(&'a [u8], Stream);

impl Read for CutReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.take(buffer.len().min(10))?;
        self.0.read(&mut buffer[..count])
    }
}

/// Says that it read more than it was asked for.
struct Liar;

impl Read for Liar {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(buffer.len() + 1)
    }
}

#[test]
fn errors_and_panics_of_streams_come_out() {
    let index = make_index();
    let error = index.write_to(&mut Stream { bytes_left: 5000, panics: false }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "the wire is cut");
    let mut panicking = Stream { bytes_left: 5000, panics: true };
    assert_eq!(panic_text(|| index.write_to(&mut panicking)), "in a stream");

    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    let read = |stream: Stream| Index::read_from(&mut CutReader(&bytes, stream));
    let error = read(Stream { bytes_left: 1000, panics: false }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("the wire is cut"), "{}", error);
    let text = panic_text(|| read(Stream { bytes_left: 1000, panics: true }));
    assert_eq!(text, "in a stream");
    check_failed(Index::read_from(&mut Liar), ErrorKind::Io, "more than");
    check_failed(Index::read_from(&mut io::empty()), ErrorKind::CorruptData, "");

    let whole = read(Stream { bytes_left: usize::MAX, panics: true }).unwrap();
    assert_eq!(whole.ntotal(), ROWS);
    // No byte after the index is read.
    bytes.extend(b"more");
    let mut reader = bytes.as_slice();
    Index::read_from(&mut reader).unwrap();
    assert_eq!(reader, b"more");
}
