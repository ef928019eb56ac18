// SPDX-License-Identifier: MIT
//! A reader of JSON texts that are right: what is wrong panics.

use std::fmt::Debug;
use std::ops::Index;
use std::str::FromStr;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it is written, so that integers of 64 bits are whole.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Members(Vec<(String, Json)>),
}

static NULL: Json = Json::Null;

impl Json {
    pub fn parse(text: &str) -> Json {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value();
        reader.skip_spaces();
        assert_eq!(reader.at, text.len(), "something after the value");
        value
    }

    /// A member; none where there is none, or this is no object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Members(members) => members.iter().find(|one| one.0 == name).map(|one| &one.1),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(values) => values,
            other => panic!("{:?} is no list", other),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            other => panic!("{:?} is no text", other),
        }
    }

    pub fn bool(&self) -> bool {
        match self {
            Json::Bool(value) => *value,
            other => panic!("{:?} is neither true nor false", other),
        }
    }

    pub fn number<T: FromStr>(&self) -> T
    where
        T::Err: Debug,
    {
        match self {
            Json::Number(text) => {
                text.parse().unwrap_or_else(|error| panic!("{}: {:?}", text, error))
            }
            other => panic!("{:?} is no number", other),
        }
    }

    pub fn numbers<T: FromStr>(&self) -> Vec<T>
    where
        T::Err: Debug,
    {
        self.list().iter().map(Json::number).collect()
    }
}

/// Null where there is no such member.
impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, name: &str) -> &Json {
        self.get(name).unwrap_or(&NULL)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        while self.bytes.get(self.at).map_or(false, u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> u8 {
        self.skip_spaces();
        self.bytes[self.at]
    }

    fn take(&mut self, expected: u8) {
        assert_eq!(self.peek(), expected, "byte {}", self.at);
        self.at += 1;
    }

    /// Whether another one follows in a list or an object that `end` closes.
    fn has_more(&mut self, end: u8, is_first: bool) -> bool {
        if self.peek() == end {
            self.at += 1;
            return false;
        }
        if !is_first {
            self.take(b',');
        }
        true
    }

    fn value(&mut self) -> Json {
        match self.peek() {
            b'{' => self.members(),
            b'[' => self.list(),
            b'"' => Json::Text(self.text()),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => self.number(),
        }
    }

    fn members(&mut self) -> Json {
        self.take(b'{');
        let mut members = Vec::new();
        while self.has_more(b'}', members.is_empty()) {
            self.skip_spaces();
            let name = self.text();
            self.take(b':');
            members.push((name, self.value()));
        }
        Json::Members(members)
    }

    fn list(&mut self) -> Json {
        self.take(b'[');
        let mut values = Vec::new();
        while self.has_more(b']', values.is_empty()) {
            values.push(self.value());
        }
        Json::List(values)
    }

    fn word(&mut self, word: &str, value: Json) -> Json {
        assert!(self.bytes[self.at..].starts_with(word.as_bytes()), "byte {}", self.at);
        self.at += word.len();
        value
    }

    fn number(&mut self) -> Json {
        let begin = self.at;
        while self.bytes.get(self.at).map_or(false, |byte| b"+-.0123456789eE".contains(byte)) {
            self.at += 1;
        }
        assert!(self.at > begin, "byte {} begins no value", begin);
        Json::Number(String::from_utf8(self.bytes[begin..self.at].to_vec()).unwrap())
    }

    fn text(&mut self) -> String {
        self.take(b'"');
        let mut text = Vec::new();
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(text).unwrap(),
                b'\\' => self.escape(&mut text),
                _ => text.push(byte),
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let byte = self.bytes[self.at];
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'u' => {
                let digits = std::str::from_utf8(&self.bytes[self.at..self.at + 4]).unwrap();
                let letter = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
                text.extend(letter.to_string().bytes());
                self.at += 4;
            }
            other => text.push(other),
        }
    }
}
