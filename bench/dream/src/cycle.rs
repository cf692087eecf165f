//! A whole cycle: a fork, a change of one line, the image's tests on a candidate, and the merge; beside its parts, and in images of
//! different sizes.

use crate::Setting;
use crate::dreamt::{ask, begin, end, first_answer, microseconds, within};
use crate::up::Up;
use keeper::Client;
use keeper::protocol::{Command, MergeOrder, MergeReport, MergeStatus, Request};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// What the change is made to, and what a test works with.
const STATE: &str = "Account := Object clone do(
    balance := 0
    rate := 1
    tax := method(balance * 0.1 * rate)
    deposit := method(amount, if(amount <= 0, Exception raise(\"nothing to deposit\")); balance = balance + amount; self)
    withdraw := method(amount, if(amount > balance, Exception raise(\"not enough\")); balance = balance - amount; self)
)
Accounts := Object clone do(
    open := method(count, l := list(); count repeat(i, l append(Account clone deposit(i + 1))); l)
    total := method(accounts, accounts map(balance) sum)
)
nil";
const TESTS: usize = 20;
/// What is made ready once, and files that nobody has read yet, are no part of it.
const WARM_UP: usize = 3;

/// Twenty tests, each with its own numbers.
pub fn get_ready(client: &mut Client) {
    // An image that no genesis made has none before somebody asks for it.
    ask(client, &Request::evaluate("Verification type")).expect("there is one");
    ask(client, &Request::evaluate(STATE)).expect("it is written");
    let tests: Vec<String> = (1..=TESTS)
        .map(|number| {
            // What is changed concerns one of them.
            let concerned = if number == 1 { "assertTrue(accounts last tax > 0)" } else { "" };
            format!(
                "test{number} := method(
                    accounts := Accounts open({number} + 5)
                    assertEquals(({number} + 5) * ({number} + 6) / 2, Accounts total(accounts))
                    accounts foreach(withdraw(1))
                    assertEquals(({number} + 5) * ({number} + 4) / 2, Accounts total(accounts))
                    {concerned}
                    assertRaisesException(accounts first withdraw(100))
                )"
            )
        })
        .collect();
    let source = format!("AccountTest := UnitTest clone do({}); nil", tests.join("; "));
    ask(client, &Request::evaluate(source)).expect("it is written");
}

/// Cycles, each with another change.
#[derive(Default)]
pub struct Cycles {
    count: u64,
}

impl Cycles {
    fn change(&mut self) -> String {
        self.count += 1;
        format!("Account tax = method(balance * {} * rate); nil", 0.1 + self.count as f64 / 1000.0)
    }

    /// A dream that has made its change, and is over.
    fn dream(&mut self, client: &mut Client) -> String {
        let dream = begin(client).expect("it begins");
        ask(client, &within(&dream, &self.change())).expect("it changes something");
        end(client, &dream).expect("it ends");
        dream
    }

    /// From the order of the dream to the answer that it is merged.
    pub fn next(&mut self, client: &mut Client) -> Duration {
        let start = Instant::now();
        let dream = self.dream(client);
        merge(client, &dream);
        start.elapsed()
    }

    /// The merge alone.
    fn next_merge(&mut self, client: &mut Client) -> Duration {
        let dream = self.dream(client);
        let start = Instant::now();
        merge(client, &dream);
        start.elapsed()
    }
}

fn merge(client: &mut Client, dream: &str) {
    let order = MergeOrder { dream: dream.into(), ..MergeOrder::default() };
    let text = ask(client, &Request::new(Command::Merge(Box::new(order)))).expect("it is judged");
    let report: MergeReport = serde_json::from_str(&text).expect("it is told");
    assert_eq!(report.status, MergeStatus::Merged, "{text}");
    assert_eq!(report.verdict.tests.len(), TESTS, "{text}");
}

/// The same tests in live, as one request.
fn tests_in_live(client: &mut Client) -> Duration {
    let start = Instant::now();
    let source = "Verification testNames map(name, Verification runTest(name)) size";
    let count = ask(client, &Request::evaluate(source)).expect("they pass");
    let taken = start.elapsed();
    assert_eq!(count, TESTS.to_string());
    taken
}

/// A cycle, beside the forks and the tests that it cannot do without.
pub fn measure(setting: &Setting) -> Value {
    let up = Up::start(&setting.telos, &setting.small_image());
    let mut client = up.client();
    get_ready(&mut client);
    let mut cycles = Cycles::default();
    let (mut whole, mut begins, mut tests, mut parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for sample in 0..setting.samples + WARM_UP {
        let mut one_cycle = || microseconds(cycles.next(&mut up.client()));
        // Who comes behind whom changes from sample to sample.
        let before = (sample % 2 == 0).then(&mut one_cycle);
        let both: f64 = (0..2).map(|_| fork_and_seal(&mut client)).sum();
        let tested = microseconds(tests_in_live(&mut client));
        let cycle = before.unwrap_or_else(&mut one_cycle);
        if sample >= WARM_UP {
            whole.push(cycle);
            begins.push(both);
            tests.push(tested);
            parts.push(both + tested);
        }
    }
    json!({ "cycle": whole, "parts": parts, "begins": begins, "tests": tests })
}

fn fork_and_seal(client: &mut Client) -> f64 {
    let (taken, dream) = first_answer(client);
    end(client, &dream).expect("it ends");
    microseconds(taken)
}

/// The same merge into a small image and into a large one.
pub fn sizes(setting: &Setting) -> Value {
    let (small, large) = (setting.small_image(), setting.large_image());
    let ups = [&small, &large].map(|path| Up::start(&setting.telos, path));
    let mut clients = [ups[0].client(), ups[1].client()];
    clients.iter_mut().for_each(get_ready);
    let mut cycles = [Cycles::default(), Cycles::default()];
    let mut samples = [Vec::new(), Vec::new()];
    for sample in 0..setting.samples + WARM_UP {
        for turn in 0..2 {
            // Who comes first changes from sample to sample.
            let which = (sample + turn) % 2;
            let taken = microseconds(cycles[which].next_merge(&mut clients[which]));
            if sample >= WARM_UP {
                samples[which].push(taken);
            }
        }
    }
    let [of_small, of_large] = samples;
    json!({ "small": of_small, "large": of_large, "large_bytes": file_bytes(&large), "small_bytes": file_bytes(&small) })
}

pub fn file_bytes(image: &Path) -> u64 {
    std::fs::metadata(image.join(store::IMAGE)).map_or(0, |metadata| metadata.len())
}
