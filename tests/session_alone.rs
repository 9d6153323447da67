//! What the scheduler itself costs. One test in a program of its own: it reads times and the CPU
//! time of the process, which other tests would disturb.

use mlxrocm::Result;
use mlxrocm::model::{Forward, Slice};
use mlxrocm::session::{Detokenizer, Event, Next, Request, Session, SessionOptions, TextStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// As small as a model can be, so that what is measured is not the model.
const VOCAB: usize = 16;

/// Notes when each call began and ended.
struct Clock(Arc<Mutex<Vec<(Instant, Instant)>>>);

impl Forward for Clock {
    fn vocab_size(&self) -> usize {
        VOCAB
    }
    fn max_tokens(&self) -> usize {
        64
    }
    fn page_count(&self) -> usize {
        256
    }
    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()> {
        let begin = Instant::now();
        logits.clear();
        for slice in slices {
            let next = (slice.start + slice.tokens.len()) % VOCAB;
            logits.extend((0..VOCAB).map(|i| if i == next { 1.0 } else { 0.0 }));
        }
        // Like a fast model; also lets the reader sleep, so that waking it is part of the cost.
        while begin.elapsed() < Duration::from_micros(300) {
            std::hint::spin_loop();
        }
        self.0.lock().unwrap().push((begin, Instant::now()));
        Ok(())
    }
}

struct Text;

impl Detokenizer for Text {
    fn stream(&self, _prompt: &[u32]) -> Box<dyn TextStream> {
        Box::new(Text)
    }
}

impl TextStream for Text {
    fn push(&mut self, token: u32) -> Result<String> {
        Ok(format!(" {token}"))
    }
    fn finish(&mut self) -> String {
        String::new()
    }
}

/// CPU time of this process so far, in clock ticks (10 ms) of user and system time.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// The times of one generation of 2,000 tokens: between two calls of the model, and from a call to its caller
/// (medians).
fn times_of_a_generation(
    session: &Session,
    clock: &Mutex<Vec<(Instant, Instant)>>,
) -> [Duration; 2] {
    let generation = session
        .submit(Request {
            prompt: vec![1],
            stop: vec!["never".into()],
            max_tokens: 2000,
            ..Default::default()
        })
        .unwrap();
    let mut arrivals = Vec::new();
    loop {
        match generation.next(Some(Duration::from_secs(60))).unwrap() {
            Next::Event(Event::Token { .. }) => arrivals.push(Instant::now()),
            Next::Event(_) => {}
            Next::End => break,
            Next::Pending => panic!("nothing came"),
        }
    }
    let calls = std::mem::take(&mut *clock.lock().unwrap());
    assert_eq!((calls.len(), arrivals.len()), (2000, 2000));
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    [
        median(calls.windows(2).map(|w| w[1].0 - w[0].1).collect()),
        median(calls.iter().zip(&arrivals).map(|(c, &a)| a - c.1).collect()),
    ]
}

#[test]
fn costs_little_and_nothing_when_idle() {
    let clock = Arc::new(Mutex::new(Vec::new()));
    let session = Session::with_forward(
        Box::new(Clock(clock.clone())),
        Arc::new(Text),
        SessionOptions::default(),
        vec![],
        8192,
    )
    .unwrap();
    // 7 µs measured, on a quiet machine with two cores; waking a thread is the kernel's time, a poll or a sleep would
    // take milliseconds. Other processes make a run slower, never faster: one of several has to do it.
    let mut seen = Vec::new();
    for _ in 0..20 {
        let [between, delivery] = times_of_a_generation(&session, &clock);
        println!("between two calls of the model: {between:?}; from call to caller: {delivery:?}");
        seen.push([between, delivery]);
        if between < Duration::from_micros(40) && delivery < Duration::from_micros(500) {
            break;
        }
        assert!(seen.len() < 20, "{seen:?}");
    }

    // Idle, and paused with an unread generation.
    let unread = session
        .submit(Request {
            prompt: vec![1],
            ..Default::default()
        })
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    for what in ["paused", "idle"] {
        let before = cpu_ticks();
        std::thread::sleep(Duration::from_millis(500));
        let used = cpu_ticks() - before;
        assert!(
            used <= 1,
            "{what}: {used} ticks of CPU time in half a second"
        );
        if what == "paused" {
            assert!(matches!(unread.next(None).unwrap(), Next::Event(_)));
            unread.cancel();
            while unread.next(None).unwrap() != Next::End {}
        }
    }
}
