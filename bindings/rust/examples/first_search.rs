// SPDX-License-Identifier: MIT
//! Rows with ids are added, searched, removed, saved and loaded.

use polarquant::{Index, Metric};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let row = |i: i32| (1..=64).map(move |j| f64::from((i + 1) * j).sin() as f32);
    let rows: Vec<f32> = (0..1000).flat_map(row).collect();
    let ids: Vec<i64> = (100..1100).collect();

    let mut index = Index::new("Polar4", 64, Metric::Cosine)?;
    index.add_with_ids(&rows, &ids)?;

    let query = &rows[42 * 64..43 * 64];
    for found in &index.search(query, 3)? {
        println!("{} {:.3}", found.id, found.score);
    }
    index.remove(&[142])?;
    for found in &index.search(query, 1)? {
        println!("{} {:.3}", found.id, found.score);
    }

    let path = std::env::temp_dir().join("first.polar");
    index.save(&path)?;
    println!("rows {}", Index::load(&path)?.ntotal());
    Ok(())
}
