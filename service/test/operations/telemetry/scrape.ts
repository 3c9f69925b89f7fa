// Reads the metrics of a process as Prometheus would.
import { execFile } from 'node:child_process';
import { HttpClient } from '../../../../testkit/http.ts';

export interface Scrape {
  readonly text: string;
  /** The values by series, such as `homeward_streams` or `homeward_orders{status="placed"}`. */
  readonly series: ReadonlyMap<string, number>;
}

export async function scrape(port: number): Promise<Scrape> {
  using http = new HttpClient(1);
  const { status, headers, text } = await http.send(`http://127.0.0.1:${port}/metrics`);
  if (status !== 200 || !String(headers['content-type']).startsWith('text/plain; version=0.0.4')) throw new Error(`${status}: ${text}`);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { text, series: new Map(lines.map(readLine)) };
}

const pattern = /^([a-z_]+(?:\{(?:[a-z]+="[^"\\]*",?)+\})?) (\S+)$/;

function readLine(line: string): [string, number] {
  const [, series = '', value = ''] = pattern.exec(line) ?? [];
  const number = value === '+Inf' ? Infinity : Number(value);
  if (series === '' || Number.isNaN(number)) throw new Error(`not a sample: ${line}`);
  return [series, number];
}

/** What Prometheus's own checker says about the metrics; empty: nothing. */
export async function lint(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('promtool', ['check', 'metrics'], (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') reject(new Error('promtool is not installed: apt-get install prometheus, or brew install prometheus'));
      else resolve(stdout + stderr);
    });
    child.stdin?.end(text);
  });
}
