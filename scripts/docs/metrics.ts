import { METRICS, type MetricName } from '../../src/engine/metrics.ts'
import { CAPS } from '../../src/gateway/caps.ts'
import { LABELS, OTHER, WATCHED } from '../../src/gateway/prometheus.ts'
import { code, codes, page, table } from './markdown.ts'

export function metricsPage(): string {
  return page(
    'Metrics',
    'src/engine/metrics.ts and src/gateway/prometheus.ts',
    '`GET /metrics`, for Prometheus, with a token of its own scope: metrics are of all tenants, so nobody’s token but one made where the store is (`pawl token create --scope metrics`) may read them.',
    'Processes of your own: `prometheus()` of `pawl/prometheus` is `open`’s `metrics`, with your registry where you have one; `pawl work --port` has `/metrics` without a token, on loopback unless told. What is asked of the store (`pawl_jobs`, `pawl_queue_oldest_seconds`) is the same wherever it is asked: take `max by (queue, state)` of several processes, not the sum.',
    `Counted as it happens, in the process that does it: nothing is scanned when somebody scrapes, and what a scrape was told holds for five seconds. No id is ever a label. Of names that users make up the first ${CAPS.metricValues.most} of each label are told (the cap \`metricValues\`), the rest together as \`${OTHER}\`.`,
    table(
      ['name', 'kind', 'labels', 'what'],
      [
        ...Object.entries(METRICS).map(([name, { kind, help }]) => [
          code(name),
          kind,
          codes(LABELS[name as MetricName]),
          help,
        ]),
        ...Object.entries(WATCHED).map(([name, { labels, help }]) => [code(name), 'gauge', codes(labels), help]),
      ],
    ),
    '## One log line per transition',
    'JSON, one line each, safe against line breaks and terminal escapes: `job_id`, `from`, `to`, `reason`, `attempt`, `event`, `type`, `queue`, `tenant`, `generation`, `rev`, `actor`, `request_id`, `correlation_id`.',
  )
}
