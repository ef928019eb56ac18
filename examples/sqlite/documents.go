// SPDX-License-Identifier: MIT

// Keeps 2,000 documents with vectors in an SQLite database, and searches those of some years. By
// github.com/mattn/go-sqlite3, which loads the extension whose file is the argument, without ".so".
package main

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log"
	"math/rand"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

const dim = 384

func blob(vector []float32) []byte {
	var buffer bytes.Buffer
	binary.Write(&buffer, binary.LittleEndian, vector)
	return buffer.Bytes()
}

func run(extension string) error {
	folder, err := os.MkdirTemp("", "documents")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	sql.Register("polar", &sqlite3.SQLiteDriver{Extensions: []string{extension}})
	db, err := sql.Open("polar", filepath.Join(folder, "docs.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("CREATE VIRTUAL TABLE docs USING polar(embedding float[384], code=Polar4, year INTEGER, +text)")
	if err != nil {
		return err
	}

	// Stands in for your embeddings.
	random := rand.New(rand.NewSource(1))
	vectors := make([][]float32, 2000)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(random.NormFloat64())
		}
	}
	transaction, err := db.Begin()
	if err != nil {
		return err
	}
	for i, vector := range vectors {
		_, err := transaction.Exec("INSERT INTO docs(rowid, embedding, year, text) VALUES (?, ?, ?, ?)",
			i, blob(vector), 2000+i%25, fmt.Sprintf("document %d", i))
		if err != nil {
			transaction.Rollback()
			return err
		}
	}
	if err := transaction.Commit(); err != nil {
		return err
	}

	rows, err := db.Query("SELECT rowid, distance, text FROM docs"+
		" WHERE embedding MATCH ? AND k = 3 AND year >= 2005 ORDER BY distance", blob(vectors[7]))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var rowid int64
		var distance float64
		var text string
		if err := rows.Scan(&rowid, &distance, &text); err != nil {
			return err
		}
		fmt.Printf("row %d, cosine about %.2f\n  %s\n", rowid, 1-distance, text)
	}
	return rows.Err()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: documents EXTENSION, its path without .so")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
