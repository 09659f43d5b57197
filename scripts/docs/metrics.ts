import { METRICS, type MetricName } from '../../src/engine/metrics.ts'
import { CAPS } from '../../src/gateway/caps.ts'
import { LABELS, OTHER } from '../../src/gateway/prometheus.ts'
import { code, codes, page, table } from './markdown.ts'

export function metricsPage(): string {
  return page(
    'Metrics',
    'src/engine/metrics.ts and src/gateway/prometheus.ts',
    '`GET /metrics`, for Prometheus, with a token of its own scope: metrics are of all tenants, so nobody’s token but one made where the store is (`pawl token create --scope metrics`) may read them.',
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
        [
          code('pawl_queue_oldest_seconds'),
          'gauge',
          codes(['queue']),
          'How long the oldest queued job of a queue has been waiting.',
        ],
      ],
    ),
    '## One log line per transition',
    'JSON, one line each, safe against line breaks and terminal escapes: `job_id`, `from`, `to`, `reason`, `attempt`, `event`, `type`, `queue`, `tenant`, `generation`, `rev`, `actor`, `request_id`, `correlation_id`.',
  )
}
