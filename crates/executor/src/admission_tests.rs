use proptest::prelude::*;

use super::*;

const NOW: Duration = Duration::from_secs(100);

fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

fn id(text: &str) -> TaskId {
    TaskId::from(text.to_owned())
}

fn table(slots: u32) -> Admission {
    Admission::new(count(slots), BTreeMap::new())
}

fn enter(table: &mut Admission, task: &str) -> Vec<Effect> {
    table.handle(NOW, Input::Enter(id(task)))
}

fn admit(table: &mut Admission, task: &str) -> Vec<Effect> {
    table.handle(NOW, Input::Admit(id(task), "p".into()))
}

#[test]
fn one_slot_suffices_for_a_tree() {
    let mut table = table(1);
    assert_eq!(enter(&mut table, "A"), [Effect::Start(id("A"))]);
    assert_eq!(enter(&mut table, "B"), []);
    assert_eq!(admit(&mut table, "A"), [Effect::Go(id("A"))]);
    table.handle(NOW, Input::Ended(id("A"), None));
    assert_eq!(enter(&mut table, "A.x"), []);
    // The deeper task goes before one that arrived earlier.
    assert_eq!(
        table.handle(NOW, Input::Suspend(id("A"))),
        [Effect::Start(id("A.x"))]
    );
    assert_eq!(admit(&mut table, "A.x"), [Effect::Go(id("A.x"))]);
    // Who had a slot goes before everybody who never did.
    assert_eq!(admit(&mut table, "A"), []);
    assert_eq!(enter(&mut table, "A.y.z"), []);
    assert_eq!(
        table.handle(NOW, Input::Leave(id("A.x"))),
        [Effect::Go(id("A"))]
    );
    assert_eq!(table.working(), 1);
}

#[test]
fn giving_a_slot_back_twice_gives_back_one() {
    let mut table = table(1);
    enter(&mut table, "A");
    enter(&mut table, "B");
    enter(&mut table, "C");
    assert_eq!(
        table.handle(NOW, Input::Suspend(id("A"))),
        [Effect::Start(id("B"))]
    );
    assert_eq!(table.handle(NOW, Input::Suspend(id("A"))), []);
}

#[test]
fn fewer_slots_bind_whoever_waits_and_spare_whoever_works() {
    let mut table = table(2);
    for task in ["A", "B", "C", "D"] {
        enter(&mut table, task);
    }
    assert_eq!(table.handle(NOW, Input::Slots(count(1))), []);
    assert_eq!(table.working(), 2);
    assert_eq!(table.handle(NOW, Input::Leave(id("A"))), []);
    assert_eq!(
        table.handle(NOW, Input::Leave(id("B"))),
        [Effect::Start(id("C"))]
    );
}

#[test]
fn one_refusal_cools_the_provider_for_the_whole_family() {
    let mut table = table(4);
    enter(&mut table, "A");
    enter(&mut table, "B");
    admit(&mut table, "A");
    table.handle(NOW, Input::Ended(id("A"), Some(Duration::from_secs(20))));
    let rest = Duration::from_secs(20);
    assert_eq!(admit(&mut table, "B"), [Effect::Cooling(id("B"), rest)]);
    let other = Input::Admit(id("B"), "other".into());
    assert_eq!(table.handle(NOW, other), [Effect::Go(id("B"))]);
    let later = Input::Admit(id("A"), "p".into());
    assert_eq!(table.handle(NOW + rest, later), [Effect::Go(id("A"))]);
}

#[test]
fn a_cooldown_is_only_ever_extended() {
    let mut table = table(4);
    for (task, seconds) in [("A", 20), ("B", 5)] {
        enter(&mut table, task);
        admit(&mut table, task);
        // Both were on their way before the first was refused.
        if task == "A" {
            enter(&mut table, "B");
            admit(&mut table, "B");
        }
        table.handle(
            NOW,
            Input::Ended(id(task), Some(Duration::from_secs(seconds))),
        );
    }
    assert_eq!(
        admit(&mut table, "A"),
        [Effect::Cooling(id("A"), Duration::from_secs(20))]
    );
}

#[test]
fn a_full_provider_is_waited_for_in_order() {
    let mut table = Admission::new(count(8), BTreeMap::from([("p".to_owned(), count(1))]));
    for task in ["A", "B", "C"] {
        enter(&mut table, task);
    }
    assert_eq!(admit(&mut table, "A"), [Effect::Go(id("A"))]);
    assert_eq!(admit(&mut table, "B"), []);
    assert_eq!(admit(&mut table, "C"), []);
    assert_eq!(
        table.handle(NOW, Input::Ended(id("A"), None)),
        [Effect::Go(id("B"))]
    );
    assert_eq!(
        table.handle(NOW, Input::Leave(id("B"))),
        [Effect::Go(id("C"))]
    );
}

#[test]
fn whoever_waits_for_a_full_provider_is_passed_by_nobody() {
    let mut table = Admission::new(count(8), BTreeMap::from([("p".to_owned(), count(1))]));
    for task in ["A", "B", "C"] {
        enter(&mut table, task);
        admit(&mut table, task);
    }
    let ended = |task| Input::Ended(id(task), None);
    assert_eq!(table.handle(NOW, ended("A")), [Effect::Go(id("B"))]);
    // It entered first, but it asks again only now.
    assert_eq!(admit(&mut table, "A"), []);
    assert_eq!(table.handle(NOW, ended("B")), [Effect::Go(id("C"))]);
    assert_eq!(table.handle(NOW, ended("C")), [Effect::Go(id("A"))]);
}

#[test]
fn a_request_that_is_no_longer_wanted_leaves_nothing_behind() {
    let mut table = Admission::new(count(2), BTreeMap::from([("p".to_owned(), count(1))]));
    for task in ["A", "B"] {
        enter(&mut table, task);
        admit(&mut table, task);
    }
    let withdraw = |task| Input::Withdraw(id(task));
    // It waited for the provider: it is let out no more.
    assert_eq!(table.handle(NOW, withdraw("B")), []);
    assert_eq!(table.handle(NOW, Input::Ended(id("A"), None)), []);
    // It was let out, and the answer was under way: the next may go.
    assert_eq!(admit(&mut table, "A"), [Effect::Go(id("A"))]);
    assert_eq!(admit(&mut table, "B"), []);
    assert_eq!(table.handle(NOW, withdraw("A")), [Effect::Go(id("B"))]);
    // It waited for a slot: it takes none.
    table.handle(NOW, Input::Suspend(id("A")));
    enter(&mut table, "A.x");
    assert_eq!(admit(&mut table, "A"), []);
    assert_eq!(table.handle(NOW, withdraw("A")), []);
    assert_eq!(table.handle(NOW, Input::Leave(id("A.x"))), []);
    assert_eq!(table.working(), 1);
}

#[test]
fn who_waits_for_a_provider_and_for_its_children_keeps_both_wishes() {
    let mut table = Admission::new(count(2), BTreeMap::from([("p".to_owned(), count(1))]));
    for task in ["A", "B"] {
        enter(&mut table, task);
        admit(&mut table, task);
    }
    enter(&mut table, "B.x");
    // A slot is free for a moment, and it goes to who had one.
    assert_eq!(table.handle(NOW, Input::Suspend(id("B"))), []);
    assert_eq!(
        table.handle(NOW, Input::Ended(id("A"), None)),
        [Effect::Go(id("B"))]
    );
}

#[derive(Clone, Debug)]
enum Step {
    Enter(u8),
    Suspend(u8),
    Admit(u8),
    Ended(u8, bool),
    Withdraw(u8),
    Leave(u8),
    Slots(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let task = 0_u8..8;
    prop_oneof![
        task.clone().prop_map(Step::Enter),
        task.clone().prop_map(Step::Suspend),
        task.clone().prop_map(Step::Admit),
        (task.clone(), any::<bool>()).prop_map(|(task, cool)| Step::Ended(task, cool)),
        task.clone().prop_map(Step::Withdraw),
        task.prop_map(Step::Leave),
        (1_u32..5).prop_map(Step::Slots),
    ]
}

proptest! {
    #[test]
    fn slots_are_never_oversold_and_never_idle_while_somebody_waits(
        steps in prop::collection::vec(step(), 0..80)
    ) {
        let mut table = Admission::new(count(2), BTreeMap::from([("p".to_owned(), count(1))]));
        let mut slots = 2;
        let mut entered = std::collections::HashSet::new();
        for (second, step) in (0..).zip(steps) {
            let name = |task: u8| id(&format!("{}{task}", "P.".repeat(usize::from(task % 3))));
            let before = table.working();
            let input = match step {
                Step::Enter(task) if entered.insert(task) => Input::Enter(name(task)),
                Step::Enter(_) => continue,
                Step::Suspend(task) => Input::Suspend(name(task)),
                Step::Admit(task) => Input::Admit(name(task), "p".into()),
                Step::Ended(task, cool) => Input::Ended(name(task), cool.then(|| Duration::from_secs(3))),
                Step::Withdraw(task) => Input::Withdraw(name(task)),
                Step::Leave(task) => {
                    entered.remove(&task);
                    Input::Leave(name(task))
                }
                Step::Slots(n) => {
                    slots = n as usize;
                    Input::Slots(count(n))
                }
            };
            table.handle(Duration::from_secs(second), input);
            prop_assert!(table.working() <= slots.max(before));
            let wants = table.members.values().any(|m| matches!(m.stage, Stage::Queued | Stage::Returning(_)));
            prop_assert!(!wants || table.working() >= slots);
            let open = table.members.values().filter(|m| m.open.is_some()).count();
            prop_assert!(open <= 1, "{open} requests open under a cap of 1");
            let waits = table.members.values().any(|m| matches!(m.stage, Stage::Waiting(_)));
            prop_assert!(!waits || open == 1, "somebody waits for a provider that nobody uses");
        }
    }
}
