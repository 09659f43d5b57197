/**
 * Links into the dashboard beside what a command tells of. Its address is what somebody has said (`--dashboard-url`), or the gateway's
 * where that has pages; a store knows of none. JSON has no links: programs know where they are.
 */
import { jobPlace } from '../library/dashboard-link.ts'
import { withoutCredentials } from '../system/credentials.ts'
import type { Brush } from './paint.ts'
import { type Narrowing, searchable, searchText } from './search-text.ts'
import { asked, isGateway, type Session } from './session.ts'

export interface Links {
  /** A line of its own under what was told; nothing where no dashboard is known. */
  line(place: string): void
  /** For the ids of a table, each of which leads to a place; as they are where no dashboard is known. */
  brush(placeOf: (id: string) => string): Brush
}

export const operationPlace = (id: string): string => `/operations/${encodeURIComponent(id)}`

/** What a list shows is the same search there; all of them where the grammar has no words for it. */
export function listPlace({ sort, ...options }: Narrowing & { readonly sort?: string | undefined }): string {
  const search = searchable(options) ? searchText(options) : ''
  const words = new URLSearchParams({ ...(search !== '' && { q: search }), ...(sort !== undefined && { sort }) })
  return words.size === 0 ? '/jobs' : `/jobs?${words}`
}

export async function linksOf(session: Session): Promise<Links> {
  const { terminal } = session
  const at = await dashboardOf(session)
  if (at === undefined) return { line: () => {}, brush: () => (text) => text }
  return {
    line: (place) => terminal.say(terminal.paint.dim(at + place)),
    brush: (placeOf) => (text) => {
      const id = text.trimEnd()
      return terminal.linked(id, at + placeOf(id)) + text.slice(id.length)
    },
  }
}

/** Of one job, as the last line of what was told. */
export async function linkJob(session: Session, id: string): Promise<void> {
  const links = await linksOf(session)
  links.line(jobPlace(id))
}

/** Of the job that a command was refused for, beside the refusal. */
export async function linkRefused(session: Session, id: string): Promise<void> {
  const at = await dashboardOf(session)
  if (at !== undefined) session.terminal.warn(`  see    ${at}${jobPlace(id)}`)
}

/** Undefined where none is known, or where nobody would read it. */
async function dashboardOf(session: Session): Promise<string | undefined> {
  const { terminal, dashboardUrl, url } = session
  if (terminal.look.json || terminal.look.quiet) return undefined
  if (dashboardUrl !== undefined || !isGateway(url)) return dashboardUrl
  // What was asked for has been answered: that there is no link is no reason to fail.
  const told = await asked(session, 'GET', '/v1/session').catch(() => undefined)
  return told?.['dashboard'] === true ? withoutCredentials(url).replace(/\/+$/, '') : undefined
}
