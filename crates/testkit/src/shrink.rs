//! Crude shrinking: leaves out tokens for as long as the input still fails.

use std::time::{Duration, Instant};

/// The smallest input found in `most` time for which `fails` still holds.
pub fn shrink(input: &str, most: Duration, mut fails: impl FnMut(&str) -> bool) -> String {
    let start = Instant::now();
    let mut tokens = tokens(input);
    let mut width = tokens.len() / 2;
    while width > 0 && start.elapsed() < most {
        let mut at = 0;
        let mut shorter = false;
        while at < tokens.len() && start.elapsed() < most {
            let end = (at + width).min(tokens.len());
            let candidate: Vec<&str> = tokens[..at].iter().chain(&tokens[end..]).copied().collect();
            if fails(&candidate.concat()) {
                tokens = candidate;
                shorter = true;
            } else if let Some(candidate) = without_parentheses(&tokens, at, width)
                && fails(&candidate.concat())
            {
                tokens = candidate;
                shorter = true;
            } else {
                at += 1.max(width / 2);
            }
        }
        if !shorter || width > 1 {
            width = width.min(tokens.len()) / 2;
        }
    }
    tokens.concat()
}

/// What is inside of the parentheses that open here, in place of the whole.
fn without_parentheses<'t>(tokens: &[&'t str], at: usize, width: usize) -> Option<Vec<&'t str>> {
    if width > 1 || tokens.get(at) != Some(&"(") {
        return None;
    }
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some([&tokens[..at], &tokens[at + 1..index], &tokens[index + 1..]].concat());
        }
    }
    None
}

/// Words, texts in quotes, white space, and single characters of any other kind.
fn tokens(input: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = input;
    while let Some(first) = rest.chars().next() {
        let is_word = |each: char| each.is_alphanumeric() || each == '_';
        let length = if is_word(first) {
            rest.find(|each| !is_word(each)).unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use std::time::Duration;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let small = shrink("a(b, c) d (e f(boom) g) h", Duration::from_secs(5), |input| input.contains("boom"));
        assert_eq!(small, "boom");
    }
}
