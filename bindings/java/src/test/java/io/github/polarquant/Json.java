// SPDX-License-Identifier: MIT
package io.github.polarquant;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON: maps, lists, texts, numbers as Double or Long, Boolean, null. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.space();
    if (json.at != text.length()) {
      throw json.wrong();
    }
    return value;
  }

  private Object value() {
    space();
    switch (text.charAt(at)) {
      case '{':
        return object();
      case '[':
        return list();
      case '"':
        return string();
      default:
        return word();
    }
  }

  private Map<String, Object> object() {
    Map<String, Object> members = new LinkedHashMap<>();
    take('{');
    while (!ends('}')) {
      space();
      String name = string();
      take(':');
      members.put(name, value());
    }
    return members;
  }

  private List<Object> list() {
    List<Object> values = new ArrayList<>();
    take('[');
    while (!ends(']')) {
      values.add(value());
    }
    return values;
  }

  /** Whether the list ends here; passes over the comma else. */
  private boolean ends(char close) {
    space();
    if (text.charAt(at) == close) {
      ++at;
      return true;
    }
    if (text.charAt(at) == ',') {
      ++at;
    }
    return false;
  }

  private String string() {
    StringBuilder read = new StringBuilder();
    take('"');
    for (char next = text.charAt(at++); next != '"'; next = text.charAt(at++)) {
      read.append(next == '\\' ? escaped() : next);
    }
    return read.toString();
  }

  private char escaped() {
    char next = text.charAt(at++);
    switch (next) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'u':
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
      default:
        return next;
    }
  }

  private Object word() {
    int begin = at;
    while (at < text.length() && ",]} \n\r\t".indexOf(text.charAt(at)) < 0) {
      ++at;
    }
    String word = text.substring(begin, at);
    switch (word) {
      case "true":
        return true;
      case "false":
        return false;
      case "null":
        return null;
      default:
        break;
    }
    if (word.matches("-?\\d+")) {
      return Long.valueOf(word);
    }
    return Double.valueOf(word);
  }

  private void space() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      ++at;
    }
  }

  private void take(char wanted) {
    space();
    if (text.charAt(at++) != wanted) {
      throw wrong();
    }
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("wrong at " + at);
  }
}
