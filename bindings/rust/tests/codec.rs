// SPDX-License-Identifier: MIT
//! Codecs, queries, blocks, advice: what conformance vectors do not ask.

mod support;

use polarquant::{advise, spec_help, version, version_number, AdviceOptions, Codec, CodecOptions};
use polarquant::{CodeBlocks, ErrorKind, Metric, Reconstruction, StateOrigin, WorkOptions};
use std::sync::Arc;
use support::check_failed;
use support::vectors::numbers;

const DIM: usize = 32;

#[test]
fn the_library_tells_about_itself() {
    assert_eq!(version().split('.').count(), 3);
    assert!(version_number() >= 100);
    assert!(spec_help().contains("Polar4"));
}

#[test]
fn a_codec_tells_about_itself() {
    let centre = numbers(1, DIM);
    let options = CodecOptions::new().seed(9).centre(&centre).norm_unit(4.0).learn_centre(false);
    let codec = Codec::with_options("Polar4", DIM, Metric::L2, &options).unwrap();
    let info = codec.info();
    assert_eq!((info.dim, info.metric, info.seed), (DIM, Metric::L2, 9));
    assert_eq!((info.group_rows, info.tail_row_bytes), (1, 0));
    assert_eq!(info.state_origin, StateOrigin::Created);
    assert_eq!(info.norm_unit, 4.0);
    assert!(info.code_bytes >= DIM / 2 && info.factor_bytes < info.code_bytes);
    assert_eq!(codec.centre().unwrap(), centre);
    assert_eq!(codec.spec(), "Polar4");
    assert!(codec.memory_bytes().unwrap() > 0);
    assert!(format!("{:?}", codec).contains("Polar4"));
    let mut trained = Codec::new("Polar2", DIM, Metric::L2).unwrap();
    trained.train_using(&numbers(2, 500 * DIM), &WorkOptions::new()).unwrap();
    assert_eq!(trained.info().state_origin, StateOrigin::Trained);
    assert_ne!(trained.info().state_id, codec.info().state_id);
}

#[test]
fn scores_and_sums_are_those_of_decoded_rows() {
    let codec = Codec::new("Polar8", DIM, Metric::InnerProduct).unwrap();
    let (n, x) = (20, numbers(3, 20 * DIM));
    let codes = codec.encode(&x).unwrap();
    let mut again = vec![0; codes.len()];
    codec.encode_into(&x, &WorkOptions::new().num_threads(2), &mut again).unwrap();
    assert_eq!(codes, again);
    let decoded = codec.decode(n, &codes, Reconstruction::Unbiased).unwrap();
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let query = codec.prepare_query(&x[..DIM]).unwrap();
    let scores = codec.score(&query, n, &codes).unwrap();
    for (row, score) in scores.iter().enumerate() {
        let expected = dot(&x[..DIM], &decoded[row * DIM..(row + 1) * DIM]);
        assert!((score - expected).abs() < 0.05 * (1.0 + expected.abs()), "{} {}", score, expected);
    }
    let from_code = codec.prepare_query_from_code(n, &codes, 0).unwrap();
    assert_eq!(codec.score(&from_code, n, &codes).unwrap().len(), n);
    let pairs = codec.score_codes(n, &codes, 2, &codes[..2 * codec.code_bytes()]).unwrap();
    assert_eq!(pairs.len(), 2 * n);
    assert!((pairs[1] - pairs[2]).abs() < 1e-3);
    let mut weights = vec![0.0; 2 * n];
    weights[3] = 1.0;
    weights[n + 4] = 2.0;
    let sums = codec.combine(n, &codes, &weights).unwrap();
    let nearest = codec.decode(n, &codes, Reconstruction::LeastError).unwrap();
    for column in 0..DIM {
        assert!((sums[column] - nearest[3 * DIM + column]).abs() < 1e-4);
        assert!((sums[DIM + column] - 2.0 * nearest[4 * DIM + column]).abs() < 1e-4);
    }
    // Nothing is coded, and found, too.
    assert!(codec.encode(&[]).unwrap().is_empty());
    assert!(codec.score(&query, 0, &[]).unwrap().is_empty());
    assert_eq!(codec.search(&x[..DIM], 0, &[], 2).unwrap().ids(), [-1, -1]);
}

#[test]
fn rows_that_share_codes_are_counted() {
    let mut codec = Codec::new("PolarPair4x4g128", DIM, Metric::L2).unwrap();
    let x = numbers(4, 1000 * DIM);
    codec.train(&x).unwrap();
    assert_eq!(codec.info().group_rows, 128);
    let codes = codec.encode(&x[..130 * DIM]).unwrap();
    assert_eq!(codes.len(), codec.encoded_bytes(130).unwrap());
    assert_eq!(codec.decode(130, &codes, Reconstruction::LeastError).unwrap().len(), 130 * DIM);
    check_failed(codec.search(&x[..DIM], 131, &codes, 1), ErrorKind::BadArgument, "codes");
}

#[test]
fn a_trained_rotation_has_a_plan() {
    let mut codec = Codec::new("Polar2-pca", 128, Metric::L2).unwrap();
    check_failed(codec.plan(), ErrorKind::NotTrained, "");
    // Coordinates of falling variance.
    let mut x = numbers(5, 1500 * 128);
    x.chunks_mut(128).for_each(|row| {
        row.iter_mut().enumerate().for_each(|(column, value)| *value /= 1.0 + column as f32 / 8.0)
    });
    codec.train(&x).unwrap();
    let plan = codec.plan().unwrap();
    let dims: usize = plan.segments.iter().map(|segment| segment.dim).sum();
    assert!(plan.has_basis && dims == 128 && plan.error > 0.0, "{:?}", plan);
    assert!(plan.untrained_error > plan.error);
    assert_eq!(plan.segments[0].first, 0);
    let drift = codec.drift_using(&x, &WorkOptions::new()).unwrap();
    assert!((0.5..2.0).contains(&drift), "{}", drift);
}

#[test]
fn blocks_change_as_rows_do() {
    let codec = Arc::new(Codec::new("Polar4", DIM, Metric::L2).unwrap());
    let bytes = codec.code_bytes();
    let codes = codec.encode(&numbers(6, 200 * DIM)).unwrap();
    let mut blocks = CodeBlocks::new(&codec).unwrap();
    assert!(blocks.is_empty() && blocks.search(&[0.0; DIM], 1).unwrap().iter().next().is_none());
    for row in codes.chunks(bytes) {
        blocks.append(1, row).unwrap();
    }
    assert_eq!((blocks.len(), blocks.get(0, 200).unwrap()), (200, codes.clone()));
    blocks.overwrite(3, &codes[..bytes]).unwrap();
    assert_eq!(blocks.get(3, 1).unwrap(), codes[..bytes]);
    blocks.swap_remove(3).unwrap();
    assert_eq!(blocks.get(3, 1).unwrap(), codes[199 * bytes..]);
    // Rows 0 and 65 go.
    blocks.remove(&[1, 2, 0, 0]).unwrap();
    assert_eq!(blocks.len(), 197);
    assert_eq!(blocks.get(0, 1).unwrap(), codes[bytes..2 * bytes]);
    assert_eq!(blocks.get(64, 1).unwrap(), codes[66 * bytes..67 * bytes]);
    assert!(blocks.memory_bytes() >= 197 * bytes);
    assert_eq!(blocks.range_search(&[0.0; DIM], 1e9).unwrap().ids().len(), 197);
    assert_eq!(blocks.codec().dim(), DIM);
    assert!(format!("{:?}", blocks).contains("197"));
}

#[test]
fn advice_is_given_by_a_sample() {
    let x = numbers(7, 700 * 16);
    let specs = ["Polar2", "Polar4", "PolarPair4x4"];
    let options = AdviceOptions::new().specs(&specs).k(5).seed(3).max_rows(300).max_queries(50);
    let options = options.num_threads(1).wanted_recall(0.5).allowed_bytes(100.0).total_rows(10_000);
    let advice = advise(16, Metric::L2, &x, &[], &options).unwrap();
    assert_eq!(advice.rows.len(), 3);
    assert!(advice.held_out_queries && !advice.reason.is_empty());
    let place = advice.recommended.unwrap();
    assert!(advice.rows[place].is_recommended && specs.contains(&&*advice.rows[place].spec));
    assert!(advice.rows[1].recall > advice.rows[0].recall);
    assert!(advice.rows[2].needs_training);
    let bad = ErrorKind::BadArgument;
    check_failed(advise(16, Metric::L2, &x[..64], &[], &options), bad, "");
    check_failed(advise(16, Metric::L2, &x[..65], &[], &options), bad, "x");
    check_failed(advise(0, Metric::L2, &x, &[], &options), bad, "");
    let wrong = options.specs(&["Polar9"]);
    check_failed(advise(16, Metric::L2, &x, &[], &wrong), bad, "Polar9");
    let wrong = options.specs(&["Polar\0"]);
    check_failed(advise(16, Metric::L2, &x, &[], &wrong), bad, "specs");
}
