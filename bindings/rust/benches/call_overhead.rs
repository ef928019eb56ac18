// SPDX-License-Identifier: MIT
//! What a search takes longer by this crate than by the C function that it calls.
//!
//! `cargo bench --bench call_overhead` prints nanoseconds a search; with `-- --most N` it fails where one
//! takes more than N longer.
//! Both calls alternate, and the median of many rounds counts.

use polarquant::{Filter, Index, Metric, SearchOptions};
use polarquant_sys as sys;
use std::ffi::CString;
use std::ptr;
use std::time::Instant;

const DIM: usize = 8;
const ROWS: usize = 16;
const CALLS: u32 = 1000;
const ROUNDS: usize = 201;

/// The same value, of which the compiler knows nothing.
fn black_box<T>(value: T) -> T {
    // SAFETY: the value is moved out, and not dropped twice.
    unsafe {
        let same = ptr::read_volatile(&value);
        std::mem::forget(value);
        same
    }
}

/// Medians of the times of each of `calls`, in nanoseconds.
fn medians(calls: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut times = vec![Vec::new(); calls.len()];
    for _ in 0..ROUNDS {
        for (call, times) in calls.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            for _ in 0..CALLS {
                call();
            }
            times.push(begin.elapsed().as_nanos() as f64 / f64::from(CALLS));
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.iter_mut().map(median).collect()
}

/// The same index by the C functions; it lives as long as the program.
fn make_c_index(rows: &[f32]) -> *mut sys::polar_index {
    let description = CString::new("Polar4").unwrap();
    let mut index = ptr::null_mut();
    // SAFETY: the text is closed by 0, and rows has ROWS rows.
    unsafe {
        let (dim, metric) = (DIM as i32, sys::POLAR_METRIC_L2);
        let made = sys::polar_index_create(description.as_ptr(), dim, metric, &mut index);
        assert_eq!(made, sys::POLAR_OK);
        let added = sys::polar_index_add(index, ROWS as i64, rows.as_ptr(), ptr::null());
        assert_eq!(added, sys::POLAR_OK);
    }
    index
}

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--most");
    let most: Option<f64> = arguments.nth(1).map(|text| text.parse().unwrap());
    let rows: Vec<f32> = (0..ROWS * DIM).map(|i| (i as f32).sin()).collect();
    let query = &rows[..DIM];
    let c_index = make_c_index(&rows);
    let mut index = Index::new("Polar4", DIM, Metric::L2).unwrap();
    index.add(&rows).unwrap();

    let k = 3;
    let plain = SearchOptions::new().num_threads(1);
    let filtered = plain.filter(Filter::range(0..100));
    let (mut scores, mut ids) = (vec![0f32; k], vec![0i64; k]);
    let (mut c_scores, mut c_ids) = (vec![0f32; k], vec![0i64; k]);
    let mut c_options = std::mem::MaybeUninit::uninit();
    // SAFETY: the function fills all of it.
    let mut c_options: sys::polar_search_options = unsafe {
        let bytes = std::mem::size_of::<sys::polar_search_options>();
        sys::polar_search_options_init_sized(c_options.as_mut_ptr(), bytes);
        c_options.assume_init()
    };
    c_options.num_threads = 1;
    let mut by_c = || {
        let options = black_box(&c_options);
        let (scores, ids) = (c_scores.as_mut_ptr(), c_ids.as_mut_ptr());
        // SAFETY: there is memory for k results.
        let status = unsafe {
            sys::polar_index_search(c_index, 1, query.as_ptr(), k as i64, options, scores, ids)
        };
        assert_eq!(status, sys::POLAR_OK);
    };
    let mut into = || {
        index.search_into(black_box(query), k, black_box(&plain), &mut scores, &mut ids).unwrap();
    };
    let mut using = || {
        black_box(index.search_using(black_box(query), k, black_box(&plain)).unwrap());
    };
    let mut with_filter = || {
        black_box(index.search_using(black_box(query), k, black_box(&filtered)).unwrap());
    };
    let times = medians(&mut [&mut by_c, &mut into, &mut using, &mut with_filter]);
    let names = ["C function", "search_into", "search_using", "search_using, with a filter"];
    for (name, time) in names.iter().zip(&times) {
        println!("{:28} {:7.0} ns, {:+5.0} over C", name, time, time - times[0]);
    }
    // SAFETY: nothing uses it any more.
    unsafe { sys::polar_index_destroy(c_index) };
    // What a filter takes in the library is not ours.
    let worst = times[1].max(times[2]) - times[0];
    if most.map_or(false, |most| worst > most) {
        eprintln!("{:.0} ns over C are more than {:.0}", worst, most.unwrap());
        std::process::exit(1);
    }
}
