// A program that ends while its logits processor is called, in the way that its argument says: session.test.js runs it.

import { Device, Model, Session } from 'mlxrocm';

const model = await Model.load(process.env.MLXROCM_DEMO_MODEL, { device: new Device(0) });
const session = new Session(model, { context: 512 });
const generation = session.submit('Count:', { maxTokens: 400, ignoreEos: true, logitsProcessor: () => {} });
for (let i = 0; i < 3; i++) await generation.next();
console.log('so far');
const [, , way] = process.argv;
if (way === 'closes') {
  session.close();
  generation.close();
}
if (way === 'exits') process.exit(0);
if (way === 'throws') throw new Error('enough');
