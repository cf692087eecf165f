#[path = "../tests/compare/mod.rs"]
mod compare;
use compare::*;
fn main() {
    let source = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let tree = run(Engine::Tree, &source, BOUNDS);
    println!("{}{}\nfuel {}", tree.output, tree.result, tree.fuel);
    let mut ways = vec![Engine::Code];
    ways.extend((1..100).map(Engine::Leaving));
    let mut seen = Vec::new();
    for e in ways {
        if let Some(why) = difference(&tree, &run(e, &source, BOUNDS)) {
            if !seen.contains(&why) {
                println!("━━ {e:?}: {why}");
                seen.push(why);
            }
        }
    }
}
