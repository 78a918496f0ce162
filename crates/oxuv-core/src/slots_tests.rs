use super::*;
use crate::testing::Random;

type TestSlots = Slots<u32>;

fn insert(slots: &mut TestSlots) -> Key {
    slots.reserve().unwrap();
    slots.insert(Kind::Idle, 0, 0)
}

fn contents(slots: &TestSlots, list: List) -> Vec<u32> {
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    let mut at = slots[list as u32].links[PHASE].next;
    while at != list as u32 {
        forward.push(at);
        at = slots[at].links[PHASE].next;
    }
    let mut at = slots[list as u32].links[PHASE].prev;
    while at != list as u32 {
        backward.push(at);
        at = slots[at].links[PHASE].prev;
    }
    backward.reverse();
    assert_eq!(forward, backward, "the links agree in both directions");
    forward
}

#[test]
fn lists_agree_with_vectors_under_random_operations() {
    let mut random = Random::new(3);
    let mut slots = TestSlots::new().unwrap();
    let handles: Vec<u32> = (0..40).map(|_| insert(&mut slots).index).collect();
    let lists = [List::Idle, List::Due, List::Closing];
    let mut model: [Vec<u32>; 3] = Default::default();
    for _ in 0..30_000 {
        let index = handles[random.below(handles.len())];
        let which = random.below(3);
        let (list, free) = (lists[which], model.iter().all(|list| !list.contains(&index)));
        assert_eq!(slots.is_unlinked(index), free);
        match random.below(5) {
            0 if free => {
                slots.push_front(list, index);
                model[which].insert(0, index);
            }
            1 if free => {
                slots.push_back(list, index);
                model[which].push(index);
            }
            2 => {
                slots.unlink::<PHASE>(index);
                model.iter_mut().for_each(|list| list.retain(|&other| other != index));
            }
            3 => {
                let popped = (!model[which].is_empty()).then(|| model[which].remove(0));
                assert_eq!(slots.pop_front(list), popped);
            }
            4 => {
                let target = (which + 1) % 3;
                slots.move_to_front(list, lists[target]);
                let moved = std::mem::take(&mut model[which]);
                model[target].splice(0..0, moved);
            }
            _ => {}
        }
        for (list, expected) in lists.iter().zip(&model) {
            assert_eq!(&contents(&slots, *list), expected);
            assert_eq!(slots.is_empty(*list), expected.is_empty());
            assert_eq!(slots.front(*list), expected.first().copied());
        }
    }
}

#[test]
fn keys_go_stale_and_never_come_back() {
    let mut slots = TestSlots::new().unwrap();
    let mut random = Random::new(5);
    let (mut live, mut stale) = (Vec::new(), Vec::new());
    for _ in 0..5_000 {
        if random.below(2) == 0 || live.is_empty() {
            live.push(insert(&mut slots));
        } else {
            let key: Key = live.swap_remove(random.below(live.len()));
            slots.remove(key.index);
            stale.push(key);
        }
    }
    assert!(stale.len() > 1000);
    assert!(live.iter().all(|&key| slots.find(key) == Ok(key.index)));
    assert!(stale.iter().all(|&key| slots.find(key) == Err(Errno::EINVAL)));
    assert_eq!(slots.find(Key::default()), Err(Errno::EINVAL));
    assert_eq!(slots.find(Key { index: List::Idle as u32, generation: 0 }), Err(Errno::EINVAL));
}

#[test]
fn a_key_survives_the_way_through_a_number() {
    let key = insert(&mut TestSlots::new().unwrap());
    assert_eq!(Key::from_u64(key.to_u64()), key);
    assert_ne!(key.to_u64(), 0);
}

#[test]
fn a_generation_that_wraps_skips_zero() {
    let mut slots = TestSlots::new().unwrap();
    let key = insert(&mut slots);
    slots[key.index].generation = u32::MAX;
    slots.remove(key.index);
    assert_eq!(insert(&mut slots), Key { index: key.index, generation: 1 });
}

fn walk(slots: &mut TestSlots, mut visit: impl FnMut(&mut TestSlots, u32)) -> Vec<u32> {
    let mut visited = Vec::new();
    slots.walk(Walk::Watchers, List::Idle);
    while let Some(index) = slots.step(Walk::Watchers) {
        visited.push(index);
        visit(slots, index);
    }
    visited
}

fn three(slots: &mut TestSlots) -> [u32; 3] {
    let handles = [(); 3].map(|()| insert(slots).index);
    handles.iter().for_each(|&index| slots.push_back(List::Idle, index));
    handles
}

#[test]
fn a_walk_survives_the_removal_of_any_element() {
    for gone in 0..3 {
        let mut slots = TestSlots::new().unwrap();
        let handles = three(&mut slots);
        let visited = walk(&mut slots, |slots, index| {
            if index == handles[0] {
                slots.unlink::<PHASE>(handles[gone]);
            }
        });
        let expected: Vec<u32> =
            handles.into_iter().filter(|&index| index == handles[0] || index != handles[gone]).collect();
        assert_eq!(visited, expected);
    }
}

#[test]
fn a_walk_does_not_come_to_what_was_put_in_front_of_it() {
    let mut slots = TestSlots::new().unwrap();
    let handles = three(&mut slots);
    let new = insert(&mut slots).index;
    let visited = walk(&mut slots, |slots, index| {
        if index == handles[0] {
            slots.push_front(List::Idle, new);
            slots.unlink::<PHASE>(handles[1]);
            slots.push_front(List::Idle, handles[1]);
        }
    });
    assert_eq!(visited, [handles[0], handles[2]]);
    assert_eq!(contents(&slots, List::Idle), [handles[1], new, handles[0], handles[2]]);
}

#[test]
fn what_is_made_during_a_walk_comes_behind_the_one_being_visited() {
    let mut slots = TestSlots::new().unwrap();
    let handles = three(&mut slots);
    let new = [insert(&mut slots).index, insert(&mut slots).index];
    let visited = walk(&mut slots, |slots, index| {
        if index == handles[0] {
            new.iter().for_each(|&new| slots.insert_at_walk::<PHASE>(Walk::Watchers, List::Idle, new));
        }
    });
    assert_eq!(visited, handles);
    assert_eq!(contents(&slots, List::Idle), [handles[0], new[0], new[1], handles[1], handles[2]]);
}

fn walk_all(slots: &mut TestSlots, mut visit: impl FnMut(&mut TestSlots, u32)) -> Vec<u32> {
    let mut visited = Vec::new();
    let mut walk = slots.walk_all();
    while let Some(index) = slots.step_all(&mut walk) {
        visited.push(index);
        visit(slots, index);
    }
    visited
}

#[test]
fn a_walk_inside_a_walk_over_all_handles_disturbs_it_not() {
    let mut slots = TestSlots::new().unwrap();
    let handles = [(); 3].map(|()| insert(&mut slots).index);
    for left in 0..4 {
        let visited = walk_all(&mut slots, |slots, _| {
            let mut inner = slots.walk_all();
            let visited: Vec<u32> = std::iter::from_fn(|| slots.step_all(&mut inner)).take(left).collect();
            assert_eq!(visited, handles[..left]);
        });
        assert_eq!(visited, handles);
    }
}

#[test]
fn handles_may_be_freed_and_made_during_a_walk_over_all() {
    for (gone, inner) in [(0, false), (1, false), (2, false), (0, true), (2, true)] {
        let mut slots = TestSlots::new().unwrap();
        let handles = [(); 3].map(|()| insert(&mut slots).index);
        let mut new = None;
        let visited = walk_all(&mut slots, |slots, index| {
            if index != handles[0] {
                return;
            }
            if inner {
                assert_eq!(walk_all(slots, |_, _| {}), handles);
            }
            slots.remove(handles[gone]);
            // The slot that was freed is taken again, for a handle that is not to be visited.
            new = Some(insert(slots).index);
        });
        assert_eq!(new, Some(handles[gone]));
        let expected: Vec<u32> =
            handles.into_iter().filter(|&index| index == handles[0] || Some(index) != new).collect();
        assert_eq!(visited, expected, "{gone} {inner}");
    }
}
