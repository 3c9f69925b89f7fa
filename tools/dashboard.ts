// Writes the dashboard of Grafana, deploy/grafana/homeward.json: npm run dashboard
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Query {
  readonly expr: string;
  /** Names a line by its labels, such as {{route}}. */
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  /** What to see in it, for somebody who sees it for the first time. */
  readonly help: string;
  readonly unit: 'reqps' | 'percentunit' | 's' | 'bytes' | 'short' | 'ops';
  readonly type?: 'timeseries' | 'stat';
  /** Drawn red from here on. */
  readonly limit?: number;
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export const dashboardFile = fileURLToPath(new URL('../deploy/grafana/homeward.json', import.meta.url));

const rate = (metric: string, labels = '') => `rate(${metric}{${labels}}[$__rate_interval])`;
const quantile = (q: number, metric: string, by = '') =>
  `histogram_quantile(${q}, sum by (le${by && `, ${by}`}) (${rate(`${metric}_bucket`)}))`;
const quantiles = (metric: string): Query[] =>
  [0.5, 0.95, 0.99].map((q) => ({ expr: quantile(q, metric), legend: `${100 * q} % take less` }));

export const rows: readonly Row[] = [
  {
    title: 'Is it well?',
    panels: [
      {
        title: 'Requests',
        help: 'Responses a second, by status.',
        unit: 'reqps',
        queries: [{ expr: `sum by (status) (${rate('homeward_requests_total')})`, legend: '{{status}}' }],
      },
      {
        title: 'Server errors',
        help: 'The share of all requests that failed with a 5xx. Alert HomewardErrors is at 2 %, and ten errors in 5 minutes.',
        unit: 'percentunit',
        limit: 0.02,
        queries: [
          {
            expr: `sum(${rate('homeward_requests_total', 'status=~"5.."')}) / sum(${rate('homeward_requests_total')})`,
            legend: '5xx',
          },
        ],
      },
      {
        title: 'Duration of requests',
        help: 'Without streams of events. Alert HomewardSlow is at 1 s for 99 %, without uploads of photos.',
        unit: 's',
        limit: 1,
        queries: quantiles('homeward_request_duration_seconds'),
      },
      {
        title: 'Processes',
        help: 'How many reply to Prometheus, and how many of them reach PostgreSQL and Redis.',
        unit: 'short',
        type: 'stat',
        queries: [
          { expr: 'sum by (job) (up{job=~"homeward-.*"})', legend: '{{job}}' },
          { expr: 'sum(homeward_postgres_up)', legend: 'reach PostgreSQL' },
          { expr: 'sum(homeward_redis_up)', legend: 'reach Redis' },
        ],
      },
    ],
  },
  {
    title: 'Who is hurt?',
    panels: [
      {
        title: 'Server errors by operation',
        help: 'Which operations fail.',
        unit: 'reqps',
        queries: [
          {
            expr: `sum by (method, route, code) (${rate('homeward_requests_total', 'status=~"5.."')})`,
            legend: '{{method}} {{route}} {{code}}',
          },
        ],
      },
      {
        title: 'Requests that were rejected',
        help: 'Errors of callers, by code. A new line here after a release of ours may be our mistake.',
        unit: 'reqps',
        queries: [{ expr: `topk(10, sum by (code) (${rate('homeward_requests_total', 'status=~"4.."')}))`, legend: '{{code}}' }],
      },
      {
        title: 'Clients at their limit',
        help: 'Requests that were not admitted, by plan: limited in the minute or the day, or banned.',
        unit: 'reqps',
        queries: [
          {
            expr: `sum by (plan, outcome, window) (${rate('homeward_rate_limit_decisions_total', 'outcome!="admitted"')})`,
            legend: '{{plan}} {{outcome}} {{window}}',
          },
        ],
      },
      {
        title: 'Webhooks',
        help: 'Deliveries a second by outcome, and how many endpoints fail.',
        unit: 'short',
        queries: [
          { expr: `sum by (outcome) (${rate('homeward_webhook_deliveries_total')})`, legend: '{{outcome}} a second' },
          { expr: 'max(homeward_webhook_endpoints_failing)', legend: 'endpoints failing' },
          { expr: 'max(homeward_webhook_endpoints{status="disabled"})', legend: 'endpoints disabled' },
        ],
      },
    ],
  },
  {
    title: 'Where is the time?',
    panels: [
      {
        title: 'Slowest operations',
        help: '99 % of the requests of an operation take less.',
        unit: 's',
        queries: [
          { expr: `topk(10, ${quantile(0.99, 'homeward_request_duration_seconds', 'method, route')})`, legend: '{{method}} {{route}}' },
        ],
      },
      {
        title: 'Statements of PostgreSQL',
        help: 'From sending a statement to its result.',
        unit: 's',
        queries: quantiles('homeward_postgres_statement_duration_seconds'),
      },
      {
        title: 'Calls of Redis',
        help: 'One call decides several requests. Beyond 50 ms a process decides by itself.',
        unit: 's',
        queries: quantiles('homeward_redis_call_duration_seconds'),
      },
      {
        title: 'Delay of the event loop',
        help: 'How late a timer runs. It delays every request.',
        unit: 's',
        queries: quantiles('homeward_event_loop_delay_seconds'),
      },
    ],
  },
  {
    title: 'What is full?',
    panels: [
      {
        title: 'Connections to PostgreSQL',
        help: 'Busy ones against their bound, and transactions and searches that wait for one. Alert HomewardPoolFull is about transactions that wait.',
        unit: 'short',
        queries: [
          { expr: 'sum by (use) (homeward_postgres_connections{state="busy"})', legend: '{{use}}, busy' },
          { expr: 'sum by (use) (homeward_postgres_max_connections)', legend: '{{use}}, bound' },
          { expr: 'sum by (use) (homeward_postgres_waiting)', legend: '{{use}}, waiting' },
        ],
      },
      {
        title: 'Busy event loops',
        help: 'The share of time in which a process works. At 100 % it has no capacity left: start another.',
        unit: 'percentunit',
        limit: 0.9,
        queries: [{ expr: rate('homeward_event_loop_active_seconds_total'), legend: '{{instance}}' }],
      },
      {
        title: 'Memory',
        help: 'The heap of each process as a share of what Node.js allows, and the caches as a share of their bounds.',
        unit: 'percentunit',
        limit: 0.9,
        queries: [
          { expr: 'homeward_heap_used_bytes / homeward_heap_max_bytes', legend: '{{instance}}, heap' },
          { expr: 'max by (cache) (homeward_cache_bytes / homeward_cache_max_bytes)', legend: 'cache of {{cache}}' },
        ],
      },
      {
        title: 'Free space',
        help: 'On the disks of the journal and of photos. Alert HomewardDiskFilling is at 15 %, HomewardJournalFull at 10 MB, HomewardPhotoStorageFull at 1 GB or 5 %.',
        unit: 'bytes',
        queries: [{ expr: 'min by (disk) (homeward_disk_free_bytes)', legend: '{{disk}}' }],
      },
      {
        title: 'Work that waits',
        help: 'Age of the oldest event that is not published and of the oldest photo that is not processed, and endpoints that have not got every event. Alert HomewardEventsLate is at 60 s, HomewardPhotosLate at 15 minutes.',
        unit: 'short',
        queries: [
          { expr: 'max(homeward_outbox_oldest_age_seconds)', legend: 'oldest unpublished event, s' },
          { expr: 'max(homeward_photos_oldest_waiting_seconds)', legend: 'oldest waiting photo, s' },
          { expr: 'sum(homeward_webhook_endpoints_behind)', legend: 'endpoints behind' },
          { expr: 'max by (status) (homeward_orders{status=~"placed|approved"})', legend: 'orders {{status}}' },
        ],
      },
    ],
  },
];

const datasource = { type: 'prometheus', uid: '$datasource' };
const columns = 24;
const panelHeight = 8;

/** As Grafana imports it. */
export function renderDashboard(): string {
  const panels = rows.flatMap(({ title, panels }, index) => {
    const top = index * (panelHeight + 1);
    const width = Math.floor(columns / panels.length);
    const row = { id: 100 + index, type: 'row', title, collapsed: false, gridPos: { x: 0, y: top, w: columns, h: 1 }, panels: [] };
    const inRow = panels.map((panel, i) => ({
      ...renderPanel(panel),
      id: 10 * index + i + 1,
      gridPos: { x: i * width, y: top + 1, w: width, h: panelHeight },
    }));
    return [row, ...inRow];
  });
  const dashboard = {
    uid: 'homeward',
    title: 'Homeward',
    description: 'Is it well, who is hurt, where is the time, what is full. The alerts and what to do: docs/operations/runbooks.md.',
    tags: ['homeward'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', label: 'Prometheus', query: 'prometheus', hide: 0 }] },
    annotations: { list: [] },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function renderPanel({ title, help, unit, type = 'timeseries', limit, queries }: Panel) {
  const steps = [{ color: 'green', value: null }, ...(limit === undefined ? [] : [{ color: 'red', value: limit }])];
  return {
    type,
    title,
    description: help,
    datasource,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        thresholds: { mode: 'absolute', steps },
        ...(limit !== undefined && { custom: { thresholdsStyle: { mode: 'line' } } }),
      },
      overrides: [],
    },
    targets: queries.map(({ expr, legend }, i) => ({ refId: String.fromCharCode(65 + i), datasource, expr, legendFormat: legend })),
  };
}

if (import.meta.main) writeFileSync(dashboardFile, renderDashboard());
