import { request } from 'node:http';

const intervalMs = 1_000;
/** Prometheus gives up after 10 s by default. */
const timeoutMs = 5_000;

/** Reads the metrics of each port every second, as Prometheus does: with a new connection, at worst. */
export class MetricsScrapes implements Disposable {
  readonly #timer: NodeJS.Timeout;
  scraped = 0;
  failed = 0;

  constructor(ports: readonly number[]) {
    const scrapeAll = () => {
      for (const port of ports) void this.#scrape(port);
    };
    this.#timer = setInterval(scrapeAll, intervalMs);
  }

  async #scrape(port: number): Promise<void> {
    const isRead = await new Promise<boolean>((resolve) => {
      const options = { host: '127.0.0.1', port, path: '/metrics', agent: false, signal: AbortSignal.timeout(timeoutMs) };
      const scrape = request(options, (response) => {
        response.resume().once('end', () => resolve(response.statusCode === 200));
        response.once('error', () => resolve(false));
      });
      scrape.once('error', () => resolve(false)).end();
    });
    this.scraped += 1;
    if (!isRead) this.failed += 1;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
