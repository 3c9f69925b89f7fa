import {
  type Histogram,
  type HistogramName,
  type Labels,
  type MetricName,
  metricTable,
  type UnlabelledName,
  type ValueName,
} from './metric-table.ts';

export interface Value<Name extends MetricName> {
  readonly labels: Labels<Name>;
  readonly value: number;
}

interface Distribution<Name extends HistogramName> {
  readonly labels: Labels<Name>;
  readonly histogram: Histogram;
}

interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The metrics of a process. Each is read at the time of a scrape, where its numbers are: so counting costs a request next to nothing,
 * and no number is stored twice.
 */
export class MetricRegistry {
  readonly #metrics: Array<() => string> = [];

  addValues<Name extends ValueName>(name: Name, read: () => Iterable<Value<Name>>): void {
    this.#add(name, () => [...read()]);
  }

  /** For a metric with one label: by its values. */
  addValuesBy<Name extends ValueName>(name: Name, label: keyof Labels<Name>, read: () => Iterable<readonly [string, number]>): void {
    this.#add(name, () => Array.from(read(), ([of, value]) => ({ labels: { [label]: of }, value })));
  }

  /** For a metric without labels. Undefined: its value is not known. */
  addValue(name: UnlabelledName & ValueName, read: () => number | undefined): void {
    this.#add(name, () => {
      const value = read();
      return value === undefined ? [] : [{ labels: {}, value }];
    });
  }

  addHistograms<Name extends HistogramName>(name: Name, read: () => Iterable<Distribution<Name>>): void {
    this.#add(name, () => [...read()].flatMap(({ labels, histogram }) => samplesOf(name, labels, histogram)));
  }

  addHistogram(name: UnlabelledName & HistogramName, histogram: Histogram): void {
    this.#add(name, () => samplesOf(name, {}, histogram));
  }

  /** In the text format of Prometheus, version 0.0.4. */
  render(): string {
    return `${this.#metrics.map((metric) => metric()).join('\n\n')}\n`;
  }

  #add(name: MetricName, read: () => Sample[]): void {
    const { type, help } = metricTable[name];
    const head = [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`];
    this.#metrics.push(() => [...head, ...read().map((sample) => lineOf(name, sample))].join('\n'));
  }
}

function lineOf(name: string, { metricName = name, labels, value }: Sample): string {
  const named = Object.entries(labels).map(([label, of]) => `${label}="${escaped(of).replaceAll('"', '\\"')}"`);
  return `${metricName}${named.length > 0 ? `{${named.join(',')}}` : ''} ${String(value).replace(/^(-?)Infinity$/, (_, sign) => `${sign || '+'}Inf`)}`;
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function samplesOf(name: string, labels: Sample['labels'], histogram: Histogram): Sample[] {
  const { buckets, sum, count } = histogram.read();
  return [
    ...buckets.map((bucket) => ({ metricName: `${name}_bucket`, labels: { ...labels, le: bucket.le }, value: bucket.count })),
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
