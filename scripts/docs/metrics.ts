import { METRICS, type MetricName } from '../../src/engine/metrics.ts'
import { LABELS } from '../../src/gateway/prometheus.ts'
import { code, codes, page, table } from './markdown.ts'

export function metricsPage(): string {
  return page(
    'Metrics',
    'src/engine/metrics.ts and src/gateway/prometheus.ts',
    '`GET /metrics`, for Prometheus. Counted as it happens, in the process that does it: nothing is scanned when somebody scrapes. No id is ever a label.',
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
