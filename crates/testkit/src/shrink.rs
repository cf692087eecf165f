//! Shrinking: leaves out parts of a program for as long as it still fails, the big parts first.
//!
//! It knows nothing of the language but parentheses, commas, semicolons, words and quotes, so a part that is left out may
//! leave nonsense behind; whoever tells whether the rest fails has to tell it from the failure that was found.

use std::ops::Range;
use std::time::{Duration, Instant};

/// What is left out together: stretches of the text in order.
type Part = Vec<Range<usize>>;

/// Coarse to fine. Each is asked again whenever the text became shorter.
const GRAINS: &[fn(&str) -> Vec<Part>] = &[lines, items, wrappings, tokens];

/// The smallest input found in `most` time for which `fails` still holds.
pub fn shrink(input: &str, most: Duration, mut fails: impl FnMut(&str) -> bool) -> String {
    let start = Instant::now();
    let mut fails = |candidate: &str| start.elapsed() < most && fails(candidate);
    let mut text = input.to_string();
    loop {
        let before = text.len();
        for parts in GRAINS {
            text = reduce(text, *parts, &mut fails);
        }
        if text.len() == before || start.elapsed() >= most {
            return text;
        }
    }
}

/// Leaves out runs of parts, half as long each time.
fn reduce(mut text: String, parts: fn(&str) -> Vec<Part>, fails: &mut impl FnMut(&str) -> bool) -> String {
    let mut all = parts(&text);
    let mut width = all.len();
    while width > 0 {
        let mut at = 0;
        while at < all.len() {
            let candidate = without(&text, &all[at..(at + width).min(all.len())]);
            if candidate.len() < text.len() && fails(&candidate) {
                text = candidate;
                all = parts(&text);
            } else {
                at += width;
            }
        }
        width /= 2;
    }
    text
}

fn without(text: &str, parts: &[Part]) -> String {
    let mut gone: Vec<&Range<usize>> = parts.iter().flatten().collect();
    gone.sort_by_key(|range| range.start);
    let (mut rest, mut kept) = (0, String::new());
    for range in gone {
        kept.push_str(&text[rest..range.start.max(rest)]);
        rest = rest.max(range.end);
    }
    kept + &text[rest..]
}

fn lines(text: &str) -> Vec<Part> {
    let mut start = 0;
    let ends = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.len();
        start = range.end;
        vec![range]
    });
    ends.collect()
}

/// A pair of parentheses: where the word before it begins, and what it holds, each with the mark before it.
struct Group {
    outer: Range<usize>,
    items: Vec<Range<usize>>,
}

/// Statements and arguments, outermost first, each with the mark that divides it from its neighbour.
fn items(text: &str) -> Vec<Part> {
    let divided = |group: Group| {
        let end = group.items.len().saturating_sub(1);
        let with_mark = move |(index, item): (usize, Range<usize>)| {
            // The first takes the mark behind it along, the others the one before.
            let range = match index {
                0 if end > 0 => item.start..item.end + 1,
                0 => item,
                _ => item.start - 1..item.end,
            };
            vec![range]
        };
        group.items.into_iter().enumerate().map(with_mark).collect::<Vec<Part>>()
    };
    groups(text).into_iter().flat_map(divided).collect()
}

/// Everything of a call but one of its arguments.
fn wrappings(text: &str) -> Vec<Part> {
    let around = |group: Group| {
        let Group { outer, items } = group;
        items.into_iter().map(move |item| vec![outer.start..item.start, item.end..outer.end]).collect::<Vec<Part>>()
    };
    groups(text).into_iter().flat_map(around).collect()
}

/// The parentheses of a text, outermost first.
fn groups(text: &str) -> Vec<Group> {
    let (mut open, mut groups): (Vec<(Group, usize)>, Vec<Group>) = (Vec::new(), Vec::new());
    let mut word = 0;
    for token in token_ranges(text) {
        match &text[token.clone()] {
            "(" => open.push((Group { outer: word..token.end, items: Vec::new() }, token.end)),
            mark @ ("," | ";" | ")") => {
                if let Some((group, begin)) = open.last_mut() {
                    group.items.push(*begin..token.start);
                    *begin = token.end;
                }
                if mark == ")"
                    && let Some((mut group, _)) = open.pop()
                {
                    group.outer.end = token.end;
                    groups.push(group);
                }
            }
            _ => {}
        }
        word = if is_word(&text[token.clone()]) { token.start } else { token.end };
    }
    groups.sort_by_key(|group| group.outer.start);
    groups
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphanumeric() || first == '_')
}

fn tokens(text: &str) -> Vec<Part> {
    token_ranges(text).into_iter().map(|range| vec![range]).collect()
}

/// Words, texts in quotes, and single characters of any other kind.
fn token_ranges(text: &str) -> Vec<Range<usize>> {
    let (mut ranges, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if is_word(rest) {
            rest.find(|each: char| !each.is_alphanumeric() && each != '_').unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        ranges.push(at..at + length);
        at += length;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use std::time::Duration;

    fn smallest(input: &str, wanted: &[&str]) -> String {
        shrink(input, Duration::from_secs(5), |input| wanted.iter().all(|each| input.contains(each)))
    }

    #[test]
    fn what_does_not_matter_is_left_out() {
        assert_eq!(smallest("a(b, c) d (e f(boom) g) h", &["boom"]), "boom");
        assert_eq!(smallest("a := 1\nb := \"x(\"\nm := method(x, boom; y)\n", &["boom"]), "boom");
    }

    #[test]
    fn what_matters_together_is_kept() {
        assert_eq!(smallest("if(a, f(1, bang), g(boom, 2)); c", &["bang", "boom"]), "bangboom");
        assert_eq!(smallest("é(\"(\", boom", &["é", "boom"]), "éboom");
    }
}
