//! What happens to a tree over many passes, drawn by chance, and whether the tree does what the model says.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
};

use opgen::{Error, testing::Answer};

use super::{
    dice::Dice,
    model::{End, Model, Rank},
    plan::{Group, LISTS, SWITCHES},
    sample::{Begin, Switch, Tried, blank},
};

const KEYS: [&str; 4] = ["a", "b", "long-key", "x/y[z]%2F"];
const ANSWERS: [Answer; 6] =
    [Answer::Ok, Answer::Yield, Answer::Fail, Answer::UserAction, Answer::Terminal, Answer::Panic];

/// Runs the script of a seed; gives the number of calls, or what went wrong and how it came to that.
pub(super) fn run(tree: &Group, begin: Begin, seed: u64) -> Result<usize, String> {
    let run = |said: Option<String>| {
        let model = Model { spec: blank().spec, ..Model::default() };
        let mut run = Run { tree, rehearsal: begin(), model, said, calls: 0 };
        let outcome = run.whole(&mut Dice::new(seed));
        (outcome, run)
    };
    // Nobody reads what led to a success, so it is said when it is run again.
    match run(None) {
        (Ok(()), run) => Ok(run.calls),
        (Err(failure), _) => {
            let (again, run) = run(Some(String::new()));
            Err(format!("{}\nafter\n{}", again.err().unwrap_or(failure), run.said.unwrap_or_default()))
        }
    }
}

struct Run<'a> {
    tree: &'a Group,
    rehearsal: Box<dyn Tried>,
    model: Model,
    /// What has happened, where somebody wants to know.
    said: Option<String>,
    calls: usize,
}

impl Run<'_> {
    fn whole(&mut self, dice: &mut Dice) -> Result<(), String> {
        for _ in 0..3 + dice.below(10) {
            self.change(dice, true);
            self.answers(dice);
            self.pass(!dice.percent(20))?;
        }
        self.change(dice, false);
        self.converges(dice)?;
        self.ends(dice)
    }

    fn say(&mut self, what: impl FnOnce(&Self) -> String) {
        if let Some(mut said) = self.said.take() {
            let _ = writeln!(said, "  {}", what(self));
            self.said = Some(said);
        }
    }

    /// Another spec. Not `hard`: one that can be fulfilled.
    fn change(&mut self, dice: &mut Dice, hard: bool) {
        let spec = &mut self.model.spec;
        for switch in 0..SWITCHES {
            if dice.percent(40) || !hard && spec.switches[switch] == Switch::Broken {
                let is_broken = dice.percent(10) && hard;
                spec.switches[switch] =
                    if is_broken { Switch::Broken } else { *dice.one_of(&[Switch::On, Switch::On, Switch::Off]) };
            }
        }
        for list in 0..LISTS {
            if dice.percent(40) || !hard {
                let mut keys: Vec<String> = Vec::new();
                for _ in 0..dice.below(3) + dice.below(2) {
                    let key = (*dice.one_of(&KEYS)).to_owned();
                    if !keys.contains(&key) || dice.percent(5) && hard {
                        keys.push(key);
                    }
                }
                spec.lists[list] = keys;
            }
        }
        self.say(|run| format!("spec {:?}", run.model.spec));
        self.rehearsal.object().spec = self.model.spec.clone();
    }

    /// The nodes that a pass may come to.
    fn nodes(&self) -> Vec<String> {
        self.model.wanted(self.tree, "").union(&self.model.there).cloned().collect()
    }

    fn answer(&mut self, node: &str, answer: Answer) {
        self.rehearsal.answer(node, answer);
        self.model.answers.insert(node.to_owned(), answer);
    }

    fn answers(&mut self, dice: &mut Dice) {
        let calm = dice.percent(30);
        for node in self.nodes() {
            if calm {
                self.answer(&node, Answer::Ok);
            } else if dice.percent(15) {
                self.answer(&node, *dice.one_of(&ANSWERS));
            }
        }
        self.say(|run| {
            let other = run.model.answers.iter().filter(|(_, answer)| **answer != Answer::Ok);
            format!("answers {:?}", other.collect::<Vec<_>>())
        });
    }

    /// A pass, compared with the model's.
    fn pass(&mut self, up: bool) -> Result<(), String> {
        self.say(|_| format!("pass {}", if up { "up" } else { "down" }));
        let expected = self.model.pass(self.tree, up);
        let end = end_of(self.rehearsal.pass(up));
        let called = self.rehearsal.called();
        self.calls += called.len();
        let places: HashMap<&str, usize> = called.iter().enumerate().map(|(at, call)| (call.as_str(), at)).collect();
        let calls = &self.model.calls;
        if places.len() != called.len()
            || called.len() != calls.len()
            || !calls.iter().all(|call| places.contains_key(call.as_str()))
        {
            return Err(format!("called {called:#?}\nexpected, in some order, {calls:#?}"));
        }
        let wrong = self.model.before.iter().find(|(first, second)| places[&*calls[*first]] > places[&*calls[*second]]);
        if let Some((first, second)) = wrong {
            return Err(format!("{} came before {}", calls[*second], calls[*first]));
        }
        if end != expected {
            return Err(format!("ended with {end:?}, expected {expected:?}"));
        }
        let left = self.rehearsal.provisioned_nodes();
        if left != self.model.there {
            return Err(format!("left {left:#?}\nexpected {:#?}", self.model.there));
        }
        Ok(())
    }

    /// Nodes that are done after some passes; gives how many passes that may take.
    fn patience(&mut self, dice: &mut Dice) -> (BTreeMap<String, usize>, usize) {
        let mut patience = BTreeMap::new();
        // A pass also comes to nodes that never were there, beside those that are.
        for node in self.model.answers.keys().cloned().collect::<Vec<_>>() {
            self.answer(&node, Answer::Ok);
        }
        for node in self.nodes() {
            let passes = if dice.percent(40) { 1 + dice.below(3) } else { 0 };
            self.answer(&node, if passes > 0 { Answer::Yield } else { Answer::Ok });
            patience.insert(node, passes);
        }
        let bound = patience.values().sum::<usize>() + 1;
        self.say(|_| format!("patience {patience:?}"));
        (patience, bound)
    }

    /// Passes until the tree is done. Each that isn't has brought one node nearer.
    fn until_done(&mut self, dice: &mut Dice, up: bool) -> Result<(), String> {
        let (mut patience, bound) = self.patience(dice);
        for _ in 0..bound {
            self.pass(up)?;
            let called: Vec<String> = self.model.calls.clone();
            let waited = called.iter().filter_map(|call| call.strip_suffix(": yield")?.split_once(' '));
            let waited: Vec<String> = waited.map(|(_, node)| node.to_owned()).collect();
            if waited.is_empty() {
                return Ok(());
            }
            for node in waited {
                let left = patience.get_mut(&node).ok_or_else(|| format!("{node} was not known"))?;
                *left -= 1;
                if *left == 0 {
                    self.answer(&node, Answer::Ok);
                }
            }
        }
        Err(format!("not done after {bound} passes"))
    }

    fn converges(&mut self, dice: &mut Dice) -> Result<(), String> {
        self.until_done(dice, true)?;
        let (left, wanted) = (self.rehearsal.provisioned_nodes(), self.model.wanted(self.tree, ""));
        if left != wanted {
            return Err(format!("settled on {left:#?}\nwanted {wanted:#?}"));
        }
        Ok(())
    }

    fn ends(&mut self, dice: &mut Dice) -> Result<(), String> {
        self.until_done(dice, false)?;
        match self.rehearsal.provisioned_nodes() {
            left if left.is_empty() => Ok(()),
            left => Err(format!("{left:?} outlived the tree")),
        }
    }
}

fn end_of(outcome: opgen::Result<()>) -> End {
    match outcome {
        Ok(()) => End::Done,
        Err(Error::Terminal { message, .. }) => End::Not(Rank::Terminal, message),
        Err(Error::UserAction { message, .. }) => End::Not(Rank::UserAction, message),
        Err(Error::Yield { message, .. }) => End::Not(Rank::Yield, message),
        Err(error) => End::Not(Rank::Unexpected, error.to_string()),
    }
}
