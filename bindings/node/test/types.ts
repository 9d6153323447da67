// A user's program as TypeScript sees it: tsc --strict passes over it; nothing runs it.
import { array, Device, listTensors, Model, MlxrocmError, operations, Session, type Event } from 'mlxrocm';

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
