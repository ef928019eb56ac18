// SPDX-License-Identifier: MIT
//! The vectors of the repository's tests/conformance, which every language answers alike.

mod support;

use polarquant::{CodeBlocks, Codec, ErrorKind, Index, Matches, RangeMatches, Reconstruction};
use polarquant::{Result, SearchOptions};
use std::sync::Arc;
use support::json::Json;
use support::vectors::*;

/// Of a score, times its size and 1.
const BOUND: f32 = 1e-6;

fn check_numbers(expected: &Json, found: &[f32]) {
    let flat = expected.list().iter().flat_map(|value| match value {
        Json::List(inner) => inner.clone(),
        single => vec![single.clone()],
    });
    let expected: Vec<f32> = flat.map(|value| as_float(&value) as f32).collect();
    assert_eq!(expected.len(), found.len());
    for (wanted, number) in expected.iter().zip(found) {
        let is_near = (wanted - number).abs() <= BOUND * (1.0 + wanted.abs());
        assert!(wanted == number || is_near, "{} instead of {}", number, wanted);
    }
}

fn check_searches(
    case: &Json,
    search: impl Fn(&[f32], usize, &SearchOptions<'_>) -> Result<Matches>,
    range_search: impl Fn(&[f32], f32, &SearchOptions<'_>) -> Result<RangeMatches>,
) {
    let dim: usize = case["dim"].number();
    for wanted in case["searches"].list() {
        let queries = rows(&wanted["queries"], dim);
        let k: usize = wanted["k"].number();
        let found = with_options(&wanted["options"], |options| search(&queries, k, options));
        let found = found.unwrap();
        let ids: Vec<i64> = wanted["ids"].list().iter().flat_map(Json::numbers::<i64>).collect();
        assert_eq!(found.ids(), ids, "{:?}", wanted["options"]);
        check_numbers(&wanted["scores"], found.scores());
    }
    for wanted in case["range_searches"].list() {
        let queries = rows(&wanted["queries"], dim);
        let radius = as_float(&wanted["radius"]) as f32;
        let found =
            with_options(&wanted["options"], |options| range_search(&queries, radius, options));
        let found = found.unwrap();
        assert_eq!(found.lims(), wanted["lims"].numbers::<i64>());
        assert_eq!(found.ids(), wanted["ids"].numbers::<i64>());
        check_numbers(&wanted["scores"], found.scores());
    }
}

fn check_index(case: &Json, index: &Index) {
    assert_eq!(index.ntotal(), case["ntotal"].number::<usize>());
    check_searches(
        case,
        |queries, k, options| index.search_using(queries, k, options),
        |queries, radius, options| index.range_search_using(queries, radius, options),
    );
    if let Some(wanted) = case.get("reconstruct") {
        let x = index.reconstruct(wanted["id"].number()).unwrap();
        check_numbers(&wanted["x"], &x);
    }
}

fn check_codec(case: &Json) {
    let codec = Arc::new(make_codec(case).unwrap());
    let n: usize = case["rows"]["n"].number();
    let codes = codec.encode(&rows(&case["rows"], codec.dim())).unwrap();
    assert_eq!(codec.code_bytes(), case["code_bytes"].number::<usize>());
    assert_eq!(fnv1a(&codes), case["codes_fnv1a"].text());
    if let Some(first) = case.get("first_code") {
        assert_eq!(hexadecimal(&codes[..codec.code_bytes()]), first.text());
    }
    if let Some(state) = case.get("state_fnv1a") {
        let saved = codec.save_state().unwrap();
        assert_eq!(fnv1a(&saved), state.text());
        Codec::load_state(&saved).unwrap().check_same_state(&codec).unwrap();
    }
    let decoded = codec.decode(n, &codes, Reconstruction::LeastError).unwrap();
    check_numbers(&case["decoded"], &decoded[..codec.dim()]);
    check_searches(
        case,
        |queries, k, options| codec.search_using(queries, n, &codes, k, options),
        |queries, radius, options| codec.range_search_using(queries, n, &codes, radius, options),
    );
    if !case["has_blocks"].bool() {
        support::check_failed(CodeBlocks::new(&codec), ErrorKind::Unsupported, "");
        return;
    }
    let mut blocks = CodeBlocks::new(&codec).unwrap();
    // In two parts, so that blocks grow.
    let first = codec.encoded_bytes(n / 3).unwrap();
    blocks.append(n / 3, &codes[..first]).unwrap();
    blocks.append(n - n / 3, &codes[first..]).unwrap();
    assert_eq!(blocks.get(0, n).unwrap(), codes);
    check_searches(
        case,
        |queries, k, options| blocks.search_using(queries, k, options),
        |queries, radius, options| blocks.range_search_using(queries, radius, options),
    );
}

#[test]
fn codecs_make_these_codes_and_find_these_rows_among_them() {
    for case in read_cases("codecs.json") {
        println!("{}", case["name"].text());
        check_codec(&case);
    }
}

#[test]
fn indexes_find_these_rows() {
    for case in read_cases("indexes.json") {
        println!("{}", case["name"].text());
        check_index(&case, &make_index(&case).unwrap());
    }
}

#[test]
fn files_have_these_indexes() {
    for case in read_cases("files.json") {
        println!("{}", case["name"].text());
        let path = path_of(case["file"].text());
        let data = std::fs::read(&path).unwrap();
        assert_eq!(data.len(), case["bytes"].number::<usize>());
        assert_eq!(fnv1a(&data), case["fnv1a"].text());
        let mut loaded = vec![Index::load(&path).unwrap()];
        loaded.push(Index::read_from(&mut data.as_slice()).unwrap());
        if case["can_map"].bool() {
            loaded.push(Index::map(&path).unwrap());
        }
        for index in loaded {
            assert_eq!(index.description(), case["description"].text());
            assert_eq!(index.dim(), case["dim"].number::<usize>());
            assert_eq!(Some(index.metric()), as_metric(&case["metric"]));
            check_index(&case, &index);
        }
    }
}

#[test]
fn wrong_calls_return_these_errors() {
    let mut passed_over = 0;
    for case in read_cases("errors.json") {
        println!("{}", case["name"].text());
        let given = &case["arguments"];
        // A metric that there is not cannot be said.
        if given.get("metric").map_or(false, |metric| as_metric(metric).is_none()) {
            passed_over += 1;
            continue;
        }
        let error = wrong_call(&case).unwrap_err();
        assert_eq!(error.status(), case["status"].number::<i32>(), "{}", error);
        assert!(error.text().contains(case["names"].text()), "{}", error);
    }
    assert!(passed_over <= 2);
}

/// What is to fail, after what is made before it.
fn wrong_call(case: &Json) -> Result<()> {
    let (call, given) = (case["call"].text(), &case["arguments"]);
    if let Some(made) = case.get("codec") {
        let mut codec = make_codec(made).unwrap();
        if let Some(encoded) = made.get("encode") {
            codec.encode(&rows(encoded, codec.dim())).unwrap();
        }
        return call_codec(&mut codec, call, given);
    }
    if let Some(made) = case.get("index") {
        return call_index(&mut make_index(made).unwrap(), call, given);
    }
    match call {
        "codec_create" | "codec_load_state" => make_codec(given).map(drop),
        "index_create" => make_index(given).map(drop),
        "index_load" => Index::load(path_of(given["file"].text())).map(drop),
        other => panic!("call {}", other),
    }
}

fn call_codec(codec: &mut Codec, call: &str, given: &Json) -> Result<()> {
    let dim = codec.dim();
    let x = rows(&given["rows"], dim);
    let n: usize = given["rows"]["n"].number();
    if call == "codec_train" {
        return codec.train(&x);
    }
    let codes = codec.encode(&x);
    if call == "codec_encode" {
        return codes.map(drop);
    }
    let codes = codes.unwrap();
    if call == "blocks_append" {
        let empty = Codec::load_state(&codec.save_state()?)?;
        return CodeBlocks::new(&Arc::new(empty)).and_then(|mut blocks| blocks.append(n, &codes));
    }
    with_options(&given["options"], |options| match call {
        "codec_search" => {
            let k: usize = given["k"].number();
            codec.search_using(&x[..dim], n, &codes, k, options).map(drop)
        }
        "codec_range_search" => {
            let radius = as_float(&given["radius"]) as f32;
            codec.range_search_using(&x[..dim], n, &codes, radius, options).map(drop)
        }
        other => panic!("call {}", other),
    })
}

fn call_index(index: &mut Index, call: &str, given: &Json) -> Result<()> {
    let query = vec![0.0; index.dim()];
    match call {
        "index_search" => with_options(&given["options"], |options| {
            index.search_using(&query, given["k"].number(), options).map(drop)
        }),
        "index_range_search" => with_options(&given["options"], |options| {
            let radius = as_float(&given["radius"]) as f32;
            index.range_search_using(&query, radius, options).map(drop)
        }),
        "index_reconstruct" => index.reconstruct(given["id"].number()).map(drop),
        other => do_step(index, other.strip_prefix("index_").unwrap(), given).map(drop),
    }
}
