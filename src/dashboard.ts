/**
 * `pawl/dashboard`: the gateway with the dashboard in front of it, inside an application's own server. Who somebody is may be
 * the application's word (`authorize`); whoever it does not know signs in with a token.
 */

import { dashboardPages } from './gateway/dashboard.ts'
import { gatewayWith, type Mounted, type MountOptions } from './gateway.ts'
import type { Pawl } from './library/pawl.ts'

export type { Access, Authorize, Caps, Fetch, Mounted, MountOptions, Scope } from './gateway.ts'

/** The dashboard of these jobs, with everything below `/v1`, until it is disposed of or the jobs are closed. */
export const dashboard = (pawl: Pawl, options: MountOptions = {}): Mounted =>
  gatewayWith(pawl, options, (basePath) => dashboardPages({ basePath }))
