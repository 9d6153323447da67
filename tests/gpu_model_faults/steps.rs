//! No faults: steps that the device runs one after the other, and tokens that it chooses.

use crate::gpu;
use crate::subject::*;
use mlxrocm::gpu::GraphPolicy;
use mlxrocm::model::{CHOSEN, Choice, KvType, Slice, Wanted};
use mlxrocm::session::{FinishReason, LogitsProcessor, Request, Sampling, Session};

/// Driver calls that wait for the device, or ask whether it is done.
const WAITS: [&str; 5] = [
    "hipEventQuery",
    "hipEventSynchronize",
    "hipStreamQuery",
    "hipStreamSynchronize",
    "hipDeviceSynchronize",
];

const COPIES: [&str; 2] = ["hipMemcpyHtoDAsync", "hipMemcpyDtoHAsync"];

/// A step is queued behind one that runs without a wait; each is one launch and no copy.
#[test]
fn steps_follow_each_other() {
    const STEPS: usize = 20;
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let device = gpu.device();
    device.set_graph_policy(GraphPolicy::On);
    let model = load_on_gpu().unwrap();
    let mut forward = model.new_forward(4, 8, KvType::F16).unwrap();
    let slice = |tokens, start| Slice {
        tokens,
        start,
        pages: &[2, 0, 3, 1],
        wanted: Wanted::Last,
        slot: 0,
    };
    let (mut tokens, mut chosen): (Vec<u32>, _) = (vec![], vec![]);
    let prompt = requests().remove(0).prompt;
    let greedy = [Choice::GREEDY];
    assert!(forward.queue(&[slice(&prompt, 0)], &greedy).unwrap());
    let count = |names: &[&str]| names.iter().map(|name| gpu.calls(name)).sum::<u64>();
    let mut per_step = vec![];
    for i in 0..STEPS {
        let before = (count(&WAITS), count(&["hipGraphLaunch"]), count(&COPIES));
        let next = slice(&[CHOSEN], prompt.len() + i);
        assert!(forward.queue(&[next], &greedy).unwrap());
        per_step.push((
            count(&WAITS) - before.0,
            count(&["hipGraphLaunch"]) - before.1,
            count(&COPIES) - before.2,
        ));
        forward.collect(&mut chosen).unwrap();
        tokens.extend(&chosen);
    }
    forward.collect(&mut chosen).unwrap();
    assert_eq!(per_step[2..], [(0, 1, 0); STEPS - 2]);
    // What each of them says is what it says of known tokens.
    let history = [&prompt[..], &tokens].concat();
    let mut one_by_one: Vec<u32> = vec![];
    for end in prompt.len()..prompt.len() + STEPS {
        let mut forward = model.new_forward(4, 40, KvType::F16).unwrap();
        assert!(
            forward
                .queue(&[slice(&history[..end], 0)], &greedy)
                .unwrap()
        );
        forward.collect(&mut chosen).unwrap();
        one_by_one.extend(&chosen);
    }
    assert_eq!(tokens, one_by_one);
    assert!(tokens.iter().any(|token| *token != tokens[0]));
}

/// Tokens of requests that run at once.
fn tokens(session: &Session, requests: &[Request]) -> Vec<Vec<u32>> {
    let open: Vec<_> = requests
        .iter()
        .map(|request| session.submit(request.clone()).unwrap())
        .collect();
    let outputs = open.iter().map(collect);
    let tokens = outputs.map(|output| {
        assert_eq!(output.reason, FinishReason::Length, "{:?}", output.error);
        output.tokens
    });
    tokens.collect()
}

/// A logits processor has to see the logits, so the host samples those requests itself.
#[test]
fn the_device_samples_as_the_host_does() {
    let samplings = [
        (1.0, 0, 1.0, 0.0),
        (0.7, 40, 1.0, 0.0),
        (1.3, 0, 0.9, 0.0),
        (0.9, 0, 1.0, 0.1),
        (1.1, 50, 0.95, 0.02),
        (0.0, 0, 1.0, 0.0),
    ];
    let requests: Vec<Request> = samplings
        .into_iter()
        .enumerate()
        .map(|(i, (temperature, top_k, top_p, min_p))| Request {
            prompt: requests()[i % 4].prompt.clone(),
            sampling: Sampling {
                temperature,
                top_k,
                top_p,
                min_p,
                repetition_penalty: if i % 2 == 0 { 1.2 } else { 1.0 },
                frequency_penalty: if i % 3 == 0 { 0.3 } else { 0.0 },
                penalty_window: if i % 4 == 0 { 5 } else { 0 },
                logit_bias: if i > 3 {
                    vec![(7, f32::NEG_INFINITY), (11, 1.0)]
                } else {
                    vec![]
                },
                seed: i as u64,
                ..Default::default()
            },
            max_tokens: 24,
            ignore_eos: true,
            ..Default::default()
        })
        .collect();
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let model = load_on_gpu().unwrap();
    let session = session(&model).unwrap();
    let on_device = tokens(&session, &requests);
    let sampled = || {
        let kernel = &gpu.report()["kernels"]["mlxrocm_sample_draw"];
        kernel["launches"].as_u64().unwrap()
    };
    let launches = sampled();
    // Three requests at once, each step of which is one launch.
    assert!((48..=6 * 24).contains(&launches), "{launches}");
    let with_logprobs: Vec<Request> = requests
        .iter()
        .map(|request| Request {
            sampling: Sampling {
                logprobs: 1,
                ..request.sampling.clone()
            },
            ..request.clone()
        })
        .collect();
    assert_eq!(on_device, tokens(&session, &with_logprobs));
    let launches = launches..sampled();
    assert!((48..=6 * 24).contains(&(launches.end - launches.start)));
    let by_host: Vec<Request> = requests
        .iter()
        .map(|request| Request {
            logits_processor: Some(LogitsProcessor::new(|_, _| Ok(()))),
            ..request.clone()
        })
        .collect();
    assert_eq!(on_device, tokens(&session, &by_host));
    assert_eq!(sampled(), launches.end);
    // One at a time, too.
    for (request, expected) in requests.iter().zip(&on_device) {
        assert_eq!(
            tokens(&session, std::slice::from_ref(request)),
            std::slice::from_ref(expected)
        );
    }
    drop((session, model));
    gpu.clean();
}
