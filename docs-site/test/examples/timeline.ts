// Makes responses of different runs equal: each time becomes that of the step in which it lies, and secrets and cursors are replaced.

interface Moment {
  readonly startedAtMs: number;
  /** When the step happens in the examples. */
  readonly at: string;
}

const hourMs = 3_600_000;
const hoursMax = 1_000;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** As long as real ones, and still recognisable as examples by anyone who decodes them. */
const secrets = ['an example, no real key.', 'a second one, not valid.'].map((text) => `whsec_${Buffer.from(text).toString('base64')}`);

export class Timeline {
  readonly #moments: Moment[] = [];
  readonly #secrets: string[] = [];

  /** Begins a step. Its times must not be in the same millisecond as those of the step before. */
  async begin(at: string): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 2));
    this.#moments.push({ startedAtMs: Date.now(), at });
  }

  /** The text of a response, as it would be in the examples. */
  retell(text: string): string {
    return text
      .replaceAll(time, (one) => this.#retellTime(one))
      .replaceAll(/whsec_[\w+/=]+/g, (one) => this.#retellSecret(one))
      .replaceAll(/(\/v1\/events\?\S*cursor=)[\w-]+/g, '$1MTAuZXhhbXBsZQ')
      .replaceAll(/"durationMs": ?\d+/g, '"durationMs":38');
  }

  /** A time outside the run is a whole number of hours before or after a step, such as when an order expires. */
  #retellTime(text: string): string {
    // Years away: a request has named it.
    if (Math.abs(Date.parse(text) - Date.now()) > hoursMax * hourMs) return text;
    if (text.endsWith(':00:00.000Z')) return this.#retellHour(text);
    const first = this.#moments[0]?.startedAtMs ?? 0;
    const now = Date.now();
    let ms = Date.parse(text);
    let hours = 0;
    for (; ms > now && hours < hoursMax; hours += 1) ms -= hourMs;
    for (; ms < first && hours > -hoursMax; hours -= 1) ms += hourMs;
    const moment = this.#moments.findLast(({ startedAtMs }) => startedAtMs <= ms);
    if (!moment || ms > now) throw new Error(`${text} lies in no step`);
    return new Date(Date.parse(moment.at) + hours * hourMs).toISOString();
  }

  /** A whole hour, as in usage, is as many hours from the hour of the last step. */
  #retellHour(text: string): string {
    const hoursAway = Date.parse(text) / hourMs - Math.floor(Date.now() / hourMs);
    const lastHour = Math.floor(Date.parse(this.#moments.at(-1)?.at ?? '') / hourMs);
    return new Date((lastHour + hoursAway) * hourMs).toISOString();
  }

  #retellSecret(secret: string): string {
    if (!this.#secrets.includes(secret)) this.#secrets.push(secret);
    const told = secrets[this.#secrets.indexOf(secret)];
    if (!told) throw new Error(`only ${secrets.length} secrets are expected`);
    return told;
  }
}
