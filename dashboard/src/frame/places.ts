/** The places there are, in the order of the navigation; each with the route that must be open to whoever sees it. */
import type { IconName } from '../parts/icon.tsx'

export interface Place {
  readonly path: string
  readonly name: string
  readonly icon: IconName
  /** `g`, then this. */
  readonly key: string
  readonly needs: string
  readonly group?: string
}

export const PLACES: readonly Place[] = [
  { path: '/', name: 'Overview', icon: 'overview', key: 'o', needs: 'showTally' },
  { path: '/jobs', name: 'Jobs', icon: 'jobs', key: 'j', needs: 'listJobs' },
  { path: '/dead-letters', name: 'Dead letters', icon: 'letters', key: 'd', needs: 'listCauses' },
  { path: '/approvals', name: 'Approvals', icon: 'approvals', key: 'a', needs: 'listJobs' },
  { path: '/queues', name: 'Queues', icon: 'queues', key: 'q', needs: 'listQueues', group: 'Flow' },
  { path: '/limits', name: 'Limits and keys', icon: 'limits', key: 'l', needs: 'listLimits', group: 'Flow' },
  { path: '/schedules', name: 'Schedules', icon: 'schedules', key: 's', needs: 'listSchedules', group: 'Flow' },
  { path: '/workers', name: 'Workers', icon: 'workers', key: 'w', needs: 'listWorkers', group: 'Flow' },
  { path: '/tail', name: 'Tail', icon: 'tail', key: 't', needs: 'streamEvents', group: 'Watch' },
  { path: '/operations', name: 'Operations', icon: 'operations', key: 'p', needs: 'listOperations', group: 'Watch' },
  { path: '/machine', name: 'Machine', icon: 'machine', key: 'm', needs: 'showMachine', group: 'Reference' },
  { path: '/tokens', name: 'Tokens', icon: 'tokens', key: 'k', needs: 'listTokens', group: 'Reference' },
  { path: '/audit', name: 'Audit', icon: 'audit', key: 'u', needs: 'listAudit', group: 'Reference' },
]
