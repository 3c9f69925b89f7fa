// The recorder as a process, to run in a network namespace: node recorder-main.ts OPTIONS.json
// Prints "ready" when the load begins, ends the load with SIGTERM, and ends itself when everything has settled.
import { readFileSync } from 'node:fs';
import { type RecordOptions, recordToFile } from './recorder.ts';

// With an IPC channel it ends with its parent, even if that is killed.
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
const load = new AbortController();
process.on('SIGTERM', () => load.abort());
const options = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Omit<RecordOptions, 'signal' | 'onReady'>;
await recordToFile({ ...options, signal: load.signal, onReady: () => console.log('ready') });
