import { expect, test } from 'vitest';
import { MetricRegistry } from '../../../src/operations/telemetry/metric-registry.ts';
import { Histogram } from '../../../src/operations/telemetry/metric-table.ts';

test('the text is what prom-client 15.1.3 wrote, byte for byte', () => {
  const registry = new MetricRegistry();
  registry.addValue('homeward_streams', () => 7);
  registry.addValues('homeward_requests_total', () => [
    { labels: { method: 'GET', route: '/v1/pets/{petId}', status: '200', code: '' }, value: 12 },
    { labels: { method: 'other', route: 'a "quoted" \\ path\nin two lines', status: '400', code: 'malformed_request' }, value: 0 },
  ]);
  registry.addValuesBy('homeward_disk_free_bytes', 'disk', () => [
    ['journal', 1.5e21],
    ['photos', Infinity],
    ['negative', -Infinity],
    ['small', 1e-7],
  ]);
  registry.addValue('homeward_backup_timestamp_seconds', () => undefined);
  const ofWebhooks = new Histogram('homeward_webhook_duration_seconds');
  for (const seconds of [0.004, 0.01, 0.3, 11]) ofWebhooks.observe(seconds);
  registry.addHistogram('homeward_webhook_duration_seconds', ofWebhooks);
  const ofRequests = new Histogram('homeward_request_duration_seconds');
  ofRequests.observe(0.002);
  registry.addHistograms('homeward_request_duration_seconds', () => [{ labels: { method: 'GET', route: '/a"b' }, histogram: ofRequests }]);
  expect(registry.render()).toMatchInlineSnapshot(`
    "# HELP homeward_streams Open streams of events.
    # TYPE homeward_streams gauge
    homeward_streams 7

    # HELP homeward_requests_total Responses sent. The route is a template; "unmatched" is a path without a route, "unreadable" what is not HTTP. The code is that of the error, empty if there was none.
    # TYPE homeward_requests_total counter
    homeward_requests_total{method="GET",route="/v1/pets/{petId}",status="200",code=""} 12
    homeward_requests_total{method="other",route="a \\"quoted\\" \\\\ path\\nin two lines",status="400",code="malformed_request"} 0

    # HELP homeward_disk_free_bytes Free space on the disk of the journal, and on that of photos if they are in a directory.
    # TYPE homeward_disk_free_bytes gauge
    homeward_disk_free_bytes{disk="journal"} 1.5e+21
    homeward_disk_free_bytes{disk="photos"} +Inf
    homeward_disk_free_bytes{disk="negative"} -Inf
    homeward_disk_free_bytes{disk="small"} 1e-7

    # HELP homeward_backup_timestamp_seconds When the last backup was made, as a Unix time, by the file HOMEWARD_BACKUP_STAMP; 0 if there is no such file.
    # TYPE homeward_backup_timestamp_seconds gauge

    # HELP homeward_webhook_duration_seconds Time that endpoints took to respond, or to fail.
    # TYPE homeward_webhook_duration_seconds histogram
    homeward_webhook_duration_seconds_bucket{le="0.01"} 2
    homeward_webhook_duration_seconds_bucket{le="0.025"} 2
    homeward_webhook_duration_seconds_bucket{le="0.05"} 2
    homeward_webhook_duration_seconds_bucket{le="0.1"} 2
    homeward_webhook_duration_seconds_bucket{le="0.25"} 2
    homeward_webhook_duration_seconds_bucket{le="0.5"} 3
    homeward_webhook_duration_seconds_bucket{le="1"} 3
    homeward_webhook_duration_seconds_bucket{le="2.5"} 3
    homeward_webhook_duration_seconds_bucket{le="5"} 3
    homeward_webhook_duration_seconds_bucket{le="10"} 3
    homeward_webhook_duration_seconds_bucket{le="+Inf"} 4
    homeward_webhook_duration_seconds_sum 11.314
    homeward_webhook_duration_seconds_count 4

    # HELP homeward_request_duration_seconds Time from the headers of a request to the end of its response. Streams of events are left out: they last as long as their readers like.
    # TYPE homeward_request_duration_seconds histogram
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.001"} 0
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.0025"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.005"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.01"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.025"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.05"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.1"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.25"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="0.5"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="1"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="2.5"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="5"} 1
    homeward_request_duration_seconds_bucket{method="GET",route="/a\\"b",le="+Inf"} 1
    homeward_request_duration_seconds_sum{method="GET",route="/a\\"b"} 0.002
    homeward_request_duration_seconds_count{method="GET",route="/a\\"b"} 1
    "
  `);
});
