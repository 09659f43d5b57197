/** Icons of places and actions: ink, 16 px, one stroke. */
import type { ReactNode } from 'react'

const PATHS = {
  overview: 'M2 8h3m6 0h3M8 2v3m0 6v3M11 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0',
  jobs: 'M5.500 4h8m-8 4h8m-8 4h8M2.500 4h.01m-.01 4h.01m-.01 4h.01',
  letters:
    'M3.500 3.500h9A1.500 1.500 0 0 1 14 5v6a1.500 1.500 0 0 1-1.500 1.500h-9A1.500 1.500 0 0 1 2 11V5a1.500 1.500 0 0 1 1.500-1.500M2.500 5 8 9l5.500-4',
  approvals:
    'M8 1.800 13 3.600v4.200c0 3-2.100 5.200-5 6.400-2.900-1.200-5-3.400-5-6.400V3.600zM5.800 7.800l1.600 1.600 2.900-3.100',
  queues: 'M2 4.500h12M2 8h9m-9 3.500h6',
  schedules: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M8 4.800V8l2.300 1.600',
  limits: 'M2.500 12a5.800 5.800 0 1 1 11 0M8 9.500l2.800-3M8 9.500h.01',
  operations:
    'M2 5h5m4.500 0H14M2 11h2.500M9 11h5M11 5a2 2 0 1 1-4 0 2 2 0 0 1 4 0m-2.500 6a2 2 0 1 1-4 0 2 2 0 0 1 4 0',
  plus: 'M8 3v10M3 8h10',
  workers:
    'M3.200 2.500h9.600A1.200 1.200 0 0 1 14 3.700v2.100A1.200 1.200 0 0 1 12.800 7H3.200A1.200 1.200 0 0 1 2 5.800V3.700a1.200 1.200 0 0 1 1.200-1.200m0 6.500h9.600a1.200 1.200 0 0 1 1.200 1.200v2.100a1.200 1.200 0 0 1-1.200 1.200H3.200A1.200 1.200 0 0 1 2 12.300v-2.100A1.200 1.200 0 0 1 3.200 9m1.300-4.250h.01m-.01 6.500h.01',
  tail: 'm3 5 3 3-3 3m5.500 0H13',
  machine:
    'M5.300 8a1.800 1.800 0 1 1-3.600 0 1.800 1.800 0 0 1 3.600 0m9-4a1.800 1.800 0 1 1-3.600 0 1.800 1.800 0 0 1 3.600 0m0 8a1.800 1.800 0 1 1-3.600 0 1.800 1.800 0 0 1 3.600 0M5.200 7.300l5.600-2.600m-5.600 4 5.600 2.600',
  tokens: 'M8.200 10.800a3 3 0 1 1-6 0 3 3 0 0 1 6 0m-.8-2.200 5.800-5.800m-2.600 2.600 2 2',
  audit: 'M4 2.500h8v11l-2-1.500-2 1.500-2-1.500-2 1.500zM6 6h4M6 9h4',
  search: 'M11.500 7a4.500 4.500 0 1 1-9 0 4.500 4.500 0 0 1 9 0m-1.100 3.400 3.100 3.100',
  down: 'm4.500 6.500 3.500 3.500 3.500-3.500',
  right: 'm6.500 4.500 3.500 3.500-3.500 3.500',
  left: 'M9.500 4.500 6 8l3.500 3.500',
  copy: 'M5.500 5.500h7v7h-7zM3.500 10.500v-7h7',
  more: 'M3.500 8h.01M8 8h.01m4.490 0h.01',
  close: 'm4 4 8 8m0-8-8 8',
  lock: 'M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500',
  sun: 'M8 1.500v1.500m0 10v1.500M1.500 8H3m10 0h1.500M3.400 3.400l1 1m7.200 7.200 1 1m0-9.200-1 1m-7.200 7.200-1 1M10.500 8a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0',
  filter: 'M2 4h12M4 8h8m-5.500 4h3',
  out: 'M6.500 2.500h-4v11h4M6 8h8m-3-3 3 3-3 3',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" className="flex-none" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth={name === 'more' ? 2 : 1.6}
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}

export function Brand(): ReactNode {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M3 16.500V12l3.500 1.500V9l3.500 1.500V6l3.500 1.500V3L17 4.500v12z" fill="currentColor" />
    </svg>
  )
}
