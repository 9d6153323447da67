// A user's program as TypeScript sees it: tsc --strict passes over it; nothing runs it.
import { array, Device, engine, listTensors, Model, MlxrocmError, operations, Session, setLog, type Event } from 'mlxrocm';

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
