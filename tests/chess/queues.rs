//! Batches in queues, threads, and calls at the same time.

use crate::compare::inputs;
use crate::golden::{net, positions};
use mlxrocm::chess::{ChessNet, Evaluation, MOST_BATCHES, NetOptions, PLANES, Queue, Taken};
use std::sync::Arc;
use std::time::Duration;

/// The positions from `first` on, again and again.
fn batch(net: &ChessNet, first: usize, count: usize) -> (Vec<u64>, Vec<f32>) {
    let (masks, values) = inputs(net, &positions());
    let (skip, take) = (first * PLANES, count * PLANES);
    (
        masks.into_iter().cycle().skip(skip).take(take).collect(),
        values.into_iter().cycle().skip(skip).take(take).collect(),
    )
}

/// Few positions (workers share layers) and many (workers share positions), by one, two and five workers.
#[test]
fn threads_change_nothing() {
    for name in ["se_convolution", "attention", "policy_encoders"] {
        let by = |threads: usize, count: usize| {
            let options = NetOptions {
                threads,
                ..NetOptions::default()
            };
            let net = net(name, &options);
            let (masks, values) = batch(&net, 0, count);
            net.evaluate(&masks, &values).unwrap()
        };
        for count in [1, 3, 16] {
            let alone = by(1, count);
            assert!(alone.policy.iter().any(|&logit| logit != 0.0));
            assert_eq!(alone, by(2, count), "{name} {count}");
            assert_eq!(alone, by(5, count), "{name} {count}");
        }
    }
}

/// Threads that evaluate at the same time get what each gets alone.
#[test]
fn calls_at_the_same_time() {
    let options = NetOptions {
        threads: 2,
        ..NetOptions::default()
    };
    let net = net("attention", &options);
    let expected: Vec<Evaluation> = (0..4)
        .map(|first| {
            let (masks, values) = batch(&net, first, 3 + first);
            net.evaluate(&masks, &values).unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for (first, expected) in expected.iter().enumerate() {
            let net = &net;
            scope.spawn(move || {
                let (masks, values) = batch(net, first, 3 + first);
                for _ in 0..10 {
                    assert_eq!(net.evaluate(&masks, &values).unwrap(), *expected);
                }
            });
        }
    });
}

fn taken(queue: &Queue) -> Option<(u64, Evaluation)> {
    match queue.next(1024, None).unwrap() {
        Taken::Batch(id, evaluation) => Some((id, evaluation)),
        Taken::End => None,
        Taken::Pending => panic!("pending without a timeout"),
    }
}

/// Several queues of one network, each from a thread of its own with many batches in flight.
#[test]
fn queues_keep_their_order() {
    let net = Arc::new(net("se_convolution", &NetOptions::default()));
    let sizes = |at: usize| 1 + at * 5 % 9;
    let expected: Vec<Evaluation> = (0..20)
        .map(|at| {
            let (masks, values) = batch(&net, at % 8, sizes(at));
            net.evaluate(&masks, &values).unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let queue = Queue::new(net.clone()).unwrap();
                assert!(matches!(queue.next(1, None), Ok(Taken::End)));
                for at in 0..20 {
                    let (masks, values) = batch(&net, at % 8, sizes(at));
                    assert_eq!(queue.submit(&masks, &values), Ok(Some(at as u64)));
                }
                for (at, expected) in expected.iter().enumerate() {
                    let (id, evaluation) = taken(&queue).unwrap();
                    assert_eq!(id, at as u64);
                    assert_eq!(evaluation, *expected, "{at}");
                }
                assert!(taken(&queue).is_none());
            });
        }
    });
}

#[test]
fn a_full_queue_a_small_room_and_a_bad_batch() {
    let net = Arc::new(net("attention", &NetOptions::default()));
    let queue = Queue::new(net.clone()).unwrap();
    let (masks, values) = batch(&net, 0, 2);
    assert!(queue.submit(&masks, &values[1..]).is_err());
    assert!(queue.submit(&[], &[]).is_err());
    for id in 0..MOST_BATCHES as u64 {
        assert_eq!(queue.submit(&masks, &values), Ok(Some(id)));
    }
    assert_eq!(queue.submit(&masks, &values), Ok(None));
    // Wait until the first one is done: it is too large for the room, and stays.
    let message = loop {
        match queue.next(1, Some(Duration::from_millis(50))) {
            Ok(Taken::Pending) => continue,
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(message.contains('2'), "{message}");
    assert_eq!(taken(&queue).unwrap().0, 0);
    assert_eq!(
        queue.submit(&masks, &values),
        Ok(Some(MOST_BATCHES as u64)),
        "a place is free again"
    );
    // The rest goes with the queue.
    drop(queue);
    assert!(net.evaluate(&masks, &values).is_ok());
}
