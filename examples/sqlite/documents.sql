-- Documents with vectors of 4 numbers; sqlite3 :memory: ".load polarquant_sqlite" ".read documents.sql"
CREATE VIRTUAL TABLE docs USING polar(
  embedding float[4],  -- the vectors
  code=Polar4,
  metric=cosine,
  title TEXT,          -- metadata: searches can be restricted by it
  year INTEGER,
  +body TEXT           -- auxiliary: only returned
);
INSERT INTO docs(rowid, embedding, title, year, body) VALUES
  (1, '[0.9, 0.1, 0.0, 0.1]', 'Apples', 2019, 'Apples keep well in a cool place.'),
  (2, '[0.8, 0.2, 0.1, 0.0]', 'Pears', 2024, 'Pears ripen after the harvest.'),
  (3, '[0.0, 0.1, 0.9, 0.3]', 'Trains', 2021, 'Trains are late in autumn.'),
  (4, '[0.1, 0.0, 0.8, 0.5]', 'Trams', 2024, 'Trams run until midnight.');

SELECT rowid, title, round(distance, 3) FROM docs
WHERE embedding MATCH '[1, 0.1, 0, 0]' AND k = 2
ORDER BY distance;

SELECT title, body FROM docs
WHERE embedding MATCH '[1, 0.1, 0, 0]' AND k = 1 AND year >= 2020;

UPDATE docs SET embedding = '[0.1, 0.9, 0.1, 0]' WHERE title = 'Pears';
DELETE FROM docs WHERE year < 2020;

SELECT rowid, title FROM docs
WHERE embedding MATCH '[1, 0.1, 0, 0]' AND k = 2
  AND rowid IN (SELECT rowid FROM docs WHERE body LIKE '%run%' OR body LIKE '%late%')
ORDER BY distance;

INSERT INTO docs(docs) VALUES ('integrity-check');
