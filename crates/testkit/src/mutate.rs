//! Text made worse: pieces left out, doubled, moved, exchanged or replaced by what may matter.

use crate::random::Random;

/// Pieces that mean something to a parser or a machine.
const PIECES: &[&str] = &[
    "(",
    ")",
    "()",
    ",",
    ";",
    "\n",
    " ",
    "\"",
    "\"\"\"",
    "\\",
    "//",
    "/*",
    "*/",
    "#",
    ":=",
    "=",
    "::=",
    "+",
    "-",
    "*",
    "/",
    "<",
    "==",
    "..",
    ".",
    "@",
    "@@",
    "?",
    "!",
    "[",
    "]",
    "{",
    "}",
    "0",
    "1",
    "-1",
    "1e9",
    "0x",
    "1.5",
    "nil",
    "true",
    "self",
    "call",
    "a",
    "if",
    "if(true, 1)",
    "while(",
    "for(i, 1, 3, ",
    "method(",
    "block(",
    "return",
    "break",
    "continue",
    "list(1, 2)",
    "clone",
    "setSlot",
    "é",
    "\u{0}",
    "\t",
    "\r\n",
    "and",
    "or",
    "not",
    "yield",
    "resend",
];

/// The text with a few changes.
pub fn mutate(random: &mut Random, text: &str) -> String {
    let mut text = text.to_string();
    for _ in 0..1 + random.below(4) {
        text = change(random, &text);
    }
    text
}

fn change(random: &mut Random, text: &str) -> String {
    let (from, to) = (boundary(random, text), boundary(random, text));
    let (from, to) = (from.min(to), from.max(to));
    // Mostly a short stretch: a long one leaves little of the program.
    let to = if random.chance(80) { floor(text, to.min(from + 1 + random.below(12))) } else { to };
    let to = to.max(from);
    let (before, piece, after) = (&text[..from], &text[from..to], &text[to..]);
    match random.below(6) {
        0 => format!("{before}{after}"),
        1 => format!("{before}{piece}{piece}{after}"),
        2 => format!("{before}{}{after}", random.pick(PIECES)),
        3 => format!("{before}{}{piece}{after}", random.pick(PIECES)),
        4 => exchange_words(random, text),
        _ => {
            let at = boundary(random, after);
            format!("{before}{}{piece}{}", &after[..at], &after[at..])
        }
    }
}

/// Two words change places.
fn exchange_words(random: &mut Random, text: &str) -> String {
    let is_word = |each: char| each.is_alphanumeric();
    let words: Vec<(usize, &str)> = text
        .split(|each: char| !is_word(each))
        .filter(|word| !word.is_empty())
        .map(|word| (offset(text, word), word))
        .collect();
    if words.len() < 2 {
        return text.to_string();
    }
    let (one, other) = (words[random.below(words.len())], words[random.below(words.len())]);
    let (one, other) = if one.0 <= other.0 { (one, other) } else { (other, one) };
    if one.0 == other.0 {
        return text.to_string();
    }
    let middle = &text[one.0 + one.1.len()..other.0];
    let end = &text[other.0 + other.1.len()..];
    format!("{}{}{middle}{}{end}", &text[..one.0], other.1, one.1)
}

/// Where a part of a text begins.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn boundary(random: &mut Random, text: &str) -> usize {
    floor(text, random.below(text.len() + 1))
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Text of pieces that matter, in no order.
pub fn noise(random: &mut Random) -> String {
    (0..random.below(40)).map(|_| random.pick(PIECES)).collect()
}
