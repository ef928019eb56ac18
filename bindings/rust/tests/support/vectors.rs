// SPDX-License-Identifier: MIT
//! The conformance vectors' rows, numbers and calls; README.md beside them says what each member is.

use super::json::Json;
use super::repository;
use polarquant::WorkOptions;
use polarquant::{Codec, CodecOptions, Filter, Index, Metric, Result, SearchOptions};
use std::path::PathBuf;

pub fn path_of(name: &str) -> PathBuf {
    repository("tests/conformance").join(name)
}

pub fn read_cases(name: &str) -> Vec<Json> {
    let text = std::fs::read_to_string(path_of(name)).unwrap();
    let read = Json::parse(&text);
    assert_eq!(read["format"].number::<i32>(), 1);
    assert!(read["cases"].list().len() > 3);
    read["cases"].list().to_vec()
}

/// count numbers of about the normal distribution.
pub fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let fields = (z & 0xFFFF) + (z >> 16 & 0xFFFF) + (z >> 32 & 0xFFFF) + (z >> 48);
        (fields as i64 - 2 * 0xFFFF) as f32 / 65536.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// (n, dim) of {"seed", "n"}, with "shift" added to every number, and "set": [row, column, number].
pub fn rows(made: &Json, dim: usize) -> Vec<f32> {
    let mut x = numbers(made["seed"].number(), made["n"].number::<usize>() * dim);
    if let Some(shift) = made.get("shift") {
        let shift = as_float(shift) as f32;
        x.iter_mut().for_each(|value| *value += shift);
    }
    if let Some(set) = made.get("set") {
        let (row, column) = (set.list()[0].number::<usize>(), set.list()[1].number::<usize>());
        x[row * dim + column] = as_float(&set.list()[2]) as f32;
    }
    x
}

/// FNV-1a of 64 bits, in 16 hexadecimal digits.
pub fn fnv1a(data: &[u8]) -> String {
    let add = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
    format!("{:016x}", data.iter().fold(0xCBF2_9CE4_8422_2325, add))
}

pub fn hexadecimal(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{:02x}", byte)).collect()
}

pub fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut out) = (0u32, 0, Vec::new());
    for letter in text.chars().take_while(|&letter| letter != '=') {
        bits = bits << 6 | DIGITS.find(letter).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// A number, or a text: hexadecimal ("-0x1.8p+3"), "inf", "-inf" or "nan".
pub fn as_float(value: &Json) -> f64 {
    let text = match value {
        Json::Text(text) => text.as_str(),
        number => return number.number(),
    };
    let (sign, text) = match text.strip_prefix('-') {
        Some(positive) => (-1.0, positive),
        None => (1.0, text),
    };
    let digits = match text.strip_prefix("0x") {
        Some(digits) => digits,
        None => return sign * text.parse::<f64>().unwrap(),
    };
    let (mantissa, exponent) = digits.split_once('p').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let bits = u64::from_str_radix(&format!("{}{}", whole, fraction), 16).unwrap();
    let exponent = exponent.parse::<i32>().unwrap() - 4 * fraction.len() as i32;
    sign * bits as f64 * 2f64.powi(exponent)
}

pub fn as_metric(value: &Json) -> Option<Metric> {
    match value.number::<i32>() {
        0 => Some(Metric::InnerProduct),
        1 => Some(Metric::L2),
        2 => Some(Metric::Cosine),
        _ => None,
    }
}

/// Calls `with` with the options of a case, which borrow its filter.
pub fn with_options<T>(given: &Json, with: impl FnOnce(&SearchOptions<'_>) -> T) -> T {
    let mut options = SearchOptions::new();
    if let Some(exactness) = given.get("exactness") {
        options = options.exactness(as_float(exactness) as f32);
    }
    if let Some(threads) = given.get("num_threads") {
        options = options.num_threads(threads.number());
    }
    if let Some(nprobe) = given.get("nprobe") {
        options = options.nprobe(nprobe.number());
    }
    with_filter(&given["filter"], |filter| match filter {
        Some(filter) => with(&options.filter(filter)),
        None => with(&options),
    })
}

pub fn with_filter<T>(given: &Json, with: impl FnOnce(Option<Filter<'_>>) -> T) -> T {
    let kind = given.get("kind").map_or("none", |kind| kind.text());
    match kind {
        "none" => with(None),
        "bitset" => {
            let read = |word: &Json| u64::from_str_radix(word.text(), 16).unwrap();
            let words: Vec<u64> = given["words"].list().iter().map(read).collect();
            with(Some(Filter::bitset(&words, given["num_bits"].number())))
        }
        "ids" => with(Some(Filter::ids(&given["ids"].numbers()))),
        "range" => {
            let (first, end): (i64, i64) = (given["first"].number(), given["end"].number());
            with(Some(Filter::range(first..end)))
        }
        "callback" => {
            let divisor: i64 = given["multiples_of"].number();
            with(Some(Filter::keep(&move |id| id % divisor == 0)))
        }
        other => panic!("filter {}", other),
    }
}

/// The codec of a case, trained as it says.
pub fn make_codec(given: &Json) -> Result<Codec> {
    if let Some(state) = given.get("state") {
        return Codec::load_state(&from_base64(state.text()));
    }
    let dim: usize = given["dim"].number();
    let changed = &given["codec_options"];
    let centre = changed.get("centre").map(|made| rows(made, dim));
    let mut options = CodecOptions::new();
    if let Some(centre) = &centre {
        options = options.centre(centre);
    }
    if let Some(seed) = changed.get("seed") {
        options = options.seed(seed.number());
    }
    if let Some(unit) = changed.get("norm_unit") {
        options = options.norm_unit(as_float(unit));
    }
    if let Some(learns) = changed.get("learn_centre") {
        options = options.learn_centre(learns.bool());
    }
    let metric = as_metric(&given["metric"]).unwrap();
    let mut codec = Codec::with_options(given["spec"].text(), dim, metric, &options)?;
    if let Some(train) = given.get("train") {
        codec.train(&rows(train, dim))?;
    }
    Ok(codec)
}

/// One change of an index; rows that were removed.
pub fn do_step(index: &mut Index, call: &str, step: &Json) -> Result<Option<usize>> {
    let dim = index.dim();
    let x = step.get("rows").map_or_else(Vec::new, |made| rows(made, dim));
    let ids = step.get("ids").map_or_else(Vec::new, Json::numbers::<i64>);
    match call {
        "train" => index.train(&x)?,
        "train_with_centroids" => {
            let centroids = rows(&step["centroids"], dim);
            index.train_with_centroids(&centroids, &x, &WorkOptions::new())?
        }
        "add" => index.add(&x)?,
        "add_with_ids" => index.add_with_ids(&x, &ids)?,
        "update" => index.update(&ids, &x)?,
        "remove" => return index.remove(&ids).map(Some),
        "remove_filtered" => {
            let remove = |filter: Option<Filter<'_>>| index.remove_filtered(&filter.unwrap());
            return with_filter(&step["filter"], remove).map(Some);
        }
        "set_nprobe" => index.set_nprobe(step["nprobe"].number())?,
        other => panic!("step {}", other),
    }
    Ok(None)
}

pub fn make_index(given: &Json) -> Result<Index> {
    let metric = as_metric(&given["metric"]).unwrap();
    let mut index = Index::new(given["description"].text(), given["dim"].number(), metric)?;
    for step in given.get("steps").map_or(&[][..], Json::list) {
        let removed = do_step(&mut index, step["call"].text(), step)?;
        assert_eq!(removed, step.get("removed").map(Json::number), "{:?}", step["call"]);
    }
    Ok(index)
}
