/** A browser before a real gateway, on a store in a file or in Postgres, with work that goes on: what the dashboard is tried on. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { z } from 'zod'
import { ThrottledError, TransientError } from '../../src/core/thrown.ts'
import type { Scope } from '../../src/gateway/contract/route.ts'
import { dashboardPages } from '../../src/gateway/dashboard.ts'
import { type Gateway, startGateway } from '../../src/gateway/serve.ts'
import { signInLink } from '../../src/gateway/session.ts'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import { realTimers } from '../../src/system/timers.ts'
import { chromiumBinary } from '../support/debian.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'

/** Built once, by whoever comes first; nothing to do where it is as its sources are. */
export function built(): void {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/dashboard.mjs'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the dashboard was not built: ${stderr}`)
}

/** What a handler does, by its input: so that a test decides when a job fails, ends or waits. */
export const errand = defineJob({
  type: 'errand',
  input: z.object({ what: z.string().min(1), note: z.string().optional() }),
  queue: 'errands',
  retry: { attempts: 1 },
  onExhausted: 'dead_letter',
  async run({ what, note = '' }, ctx) {
    if (what === 'fail' && ctx.job.generation === 0)
      throw new TransientError(`no way to do “${note}”`, { code: 'no_way' })
    if (what === 'wait') await ctx.waitFor('approved', { timeout: '1h' })
    if (what === 'run') await realTimers.sleep(600_000, ctx.signal)
    ctx.signal.throwIfAborted()
    return `done: ${note}`
  },
})

/** Waits to be let in. */
export const guarded = defineJob({ type: 'guarded', queue: 'errands', admission: true, run: () => 'in' })

/** Likewise, and a duplicate replaces what it pays. */
export const moneyed = defineJob({
  type: 'moneyed',
  input: z.object({ cents: z.number() }),
  queue: 'errands',
  admission: true,
  dedupe: { key: () => 'the one', onDuplicate: 'replace' },
  run: ({ cents }) => cents,
})

/** Shares what it names: a `wall` tells those who come to stay away for an hour. */
export const shared = defineJob({
  type: 'shared',
  input: z.object({ key: z.string(), wall: z.boolean().default(false) }),
  queue: 'errands',
  limit: { key: ({ key }) => key, concurrency: 4 },
  run({ wall }, { attempt }) {
    if (wall && attempt === 1) throw new ThrottledError('a wall', { code: '403_waf', retryAfterMs: 3_600_000 })
  },
})

export interface DashboardFixture extends AsyncDisposable {
  readonly pawl: Pawl
  readonly gateway: Gateway
  readonly browser: Browser
  /** Of the store. */
  readonly url: string
  /** A page of somebody with this scope, signed in by a link. */
  enter(scope: Scope, options?: EnterOptions): Promise<Entered>
}

export interface EnterOptions {
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /** It is used by finger. */
  readonly touch?: boolean
  /** Of their token. */
  readonly name?: string
  /** Another gateway to the same store. */
  readonly at?: string
}

export interface Entered {
  readonly page: Page
  readonly context: BrowserContext
  /** What a browser says of its own that should not be: dialogs, errors of scripts, breaches of the policy. */
  readonly complaints: readonly string[]
}

export type Kept = 'sqlite' | 'postgres'

/** `rules`: of a policy that judges what waits to be admitted; without them nobody does. */
export async function openDashboardFixture(on: Kept = 'sqlite', rules?: readonly object[]): Promise<DashboardFixture> {
  built()
  const place = on === 'sqlite' ? inFolder() : await inDatabase()
  const folder = rules && policyOf(rules)
  const pawl = await open(place.url, { log: 'silent', ticker: {}, migrate: true, policy: folder })
  const worker = pawl.work([errand, guarded, moneyed, shared], { concurrency: 8 })
  const gateway = await startGateway({ engine: pawl.engine, port: 0, pages: dashboardPages() })
  const browser = await chromium.launch({ executablePath: chromiumBinary(), args: ['--no-sandbox'] })
  return {
    pawl,
    gateway,
    browser,
    url: place.url,
    async enter(
      scope,
      { theme = 'light', width = 1440, height = 900, touch = false, name = `the ${scope}`, at = gateway.url } = {},
    ) {
      const { token } = await gateway.tokens.create({
        name,
        scope,
        tenant: 'default',
        queues: undefined,
      })
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
        hasTouch: touch,
      })
      const page = await context.newPage()
      const complaints = listened(page)
      await page.goto(await signInLink(gateway.tokens, token, at))
      await page.getByRole('navigation', { name: width < 720 ? 'Places' : 'Main' }).waitFor()
      return { page, context, complaints }
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
      await gateway[Symbol.asyncDispose]()
      await worker[Symbol.asyncDispose]()
      await pawl[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
      if (folder !== undefined) rmSync(folder, { recursive: true })
    },
  }
}

function policyOf(rules: readonly object[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-rules-'))
  writeFileSync(join(folder, 'rules.json'), JSON.stringify({ rules }))
  return folder
}

interface Place extends AsyncDisposable {
  readonly url: string
}

function inFolder(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-dashboard-'))
  return {
    url: join(folder, 'jobs.db'),
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function inDatabase(): Promise<Place> {
  const database = await migratedDatabase()
  return { url: database.url, [Symbol.asyncDispose]: () => database.drop() }
}

function listened(page: Page): readonly string[] {
  const complaints: string[] = []
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) complaints.push(message.text())
  })
  page.on('request', (request) => {
    const { hostname } = new URL(request.url())
    if (hostname !== '127.0.0.1') complaints.push(`a request to ${hostname}`)
  })
  return complaints
}
