// A user's program as TypeScript sees it: tsc --strict passes over it; nothing runs it.
import {
  array, ArrayKernel, chess, ChatTemplate, Device, engine, listTensors, loadArrays, Model, MlxrocmError, NDArray, operations, quantize,
  saveGguf, Session, setLog, stateTokens, waitAny, type Event, type Generation,
} from 'mlxrocm';

export async function answer(path: string): Promise<string> {
  const model = await Model.load(path, { threads: 2 });
  const session = new Session(model, { kvType: 'q8' });
  let text = (await listTensors(path)).map((tensor) => tensor.name + tensor.shape.length).join();
  try {
    for await (const event of session.chat('Hello', { maxTokens: 10, signal: AbortSignal.timeout(1000) })) {
      const seen: Event = event;
      if (seen.type === 'token') text += seen.text + String(seen.token);
    }
  } catch (error) {
    if (error instanceof MlxrocmError && error.code === 'CONTEXT_FULL') return error.details;
    throw error;
  }
  const x = operations.softmax(array([[1, 2], [3, 4]]).add(1).matmul(array(Float32Array.of(1, 2))), -1);
  const sums: number[] = Array.from(await x.toDevice(new Device(0)).sum().data(), Number);
  return text + sums.join();
}

export async function sum(source: string, numbers: Float32Array): Promise<Float32Array> {
  setLog('info', (level, line) => console.error(level, line));
  const gpu = new Device(1);
  const kernel = (await engine.Module.compile(gpu, source, { flags: ['-DROWS=4'] })).kernel('sum');
  const buffer = new engine.Buffer(gpu, numbers.byteLength);
  await buffer.write(numbers);
  const stream = new engine.Stream(gpu);
  stream.launch(kernel, { grid: [4], block: 256 }, buffer, engine.input(buffer, 4), engine.u32(numbers.length));
  await stream.wait({ signal: AbortSignal.timeout(1000) });
  await buffer.read(numbers);
  return buffer.read(Float32Array);
}

export async function games(path: string): Promise<Record<string, number>> {
  const net = await chess.Net.load(path, { device: new Device(0), policyHead: 'soft' });
  const queue = new chess.Queue(net);
  const number: number | null = queue.submit([{ moves: ['e2e4'] }, net.planes({ fen: null })]);
  for await (const { number: taken, evaluations } of queue) console.log(taken === number, evaluations[0]?.policy[0]);
  const [start] = await net.evaluate([{}], { temperature: 1.5 });
  return Object.fromEntries(start!.moves.map(({ name, chance }) => [name, chance]));
}

export async function kept(model: Model, tokens: Uint32Array): Promise<Uint8Array> {
  using session = new Session(model);
  const generation = session.submit(tokens, { maxTokens: 9 });
  const ready: Generation | null = await waitAny([generation, await generation.fork({ maxTokens: 3 })]);
  const text = ChatTemplate.compile('{{ bos_token }}').render([{ role: 'user', content: 'Hi' }], {}, { generationPrompt: false });
  const state = await session.saveState(tokens);
  await session.loadState(state);
  const embedding: Float32Array = await session.embed(tokens, { pooling: 'last' });
  console.log(ready, text, embedding, stateTokens(state), (await session.logits(tokens, { positions: [-1] })).length);
  await quantize('source', 'destination', { bits: 4, rules: ['*.v_proj=6'], progress: (done, total) => console.log(done, total) });
  return state;
}

export async function onGpu(path: string): Promise<void> {
  const gpu = new Device(1);
  const { arrays, metadata } = await loadArrays(path);
  const stream = new engine.Stream(gpu);
  const kernel = new ArrayKernel(gpu, 'copy', { inputs: ['x'], outputs: ['y'], source: 'y[0] = x[0];' });
  const outputs = [{ shape: [1], dtype: 'float32' as const }];
  const [y] = await kernel.apply([arrays.x!.toStream(stream)], { outputs, grid: 1, block: 1, templates: { N: 3 } });
  const { buffer, offset } = y!.buffer(stream);
  const event = new engine.Event(gpu);
  stream.record(event);
  console.log(metadata.key, NDArray.fromBuffer(buffer, [1], 'float32', offset).item(), event.done);
  await saveGguf(path, { y: y! }, { key: 'text' });
  await gpu.selftest({ report: (line) => console.log(line), quick: true });
}
