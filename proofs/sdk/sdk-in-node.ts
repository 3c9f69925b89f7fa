// Runs one scenario in a separate Node.js process, whose clock may run faster: node sdk-in-node.ts MODULE SCENARIO ARGUMENT RATE
import { pathToFileURL } from 'node:url';
import { callWithoutPause, iterate, speedUpClock, write } from './sdk-scenarios.ts';

process.once('disconnect', () => process.exit(1));
process.channel?.unref();

const [module = '', scenario = '', argument = '', rate = '1'] = process.argv.slice(2);
if (Number(rate) !== 1) speedUpClock(Number(rate));
const { createStore } = await import(pathToFileURL(module).href);
const run = [iterate, callWithoutPause, write].find(({ name }) => name === scenario);
console.log(JSON.stringify(await run?.(createStore, JSON.parse(argument))));
