/**
 * `npm run pictures`: what the README shows of the dashboard, taken of the demo once every state has been visited. Committed, and small:
 * whoever changes how a screen looks takes them anew.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium } from 'playwright-core'
import { STRICT_SHOP } from '../src/cli/demo/jobs.ts'
import { STATES } from '../src/core/job.ts'
import { chromiumBinary } from '../test/support/debian.ts'
import { eventually } from '../test/support/eventually.ts'

const FOLDER = 'docs/pictures'

interface Picture {
  readonly name: string
  readonly place: (ids: Ids) => string
  readonly theme: 'light' | 'dark'
  readonly width: number
  readonly height: number
}

/** Jobs worth a picture. */
interface Ids {
  /** Its worker was killed. */
  readonly recovered: string
  /** Waits for a person. */
  readonly parked: string
  /** A redrive that has ended: its canary failed, since the bank never answers. */
  readonly operation: string
}

const DESK = { width: 1360, height: 860 }
const PHONE = { width: 390, height: 780 }

const PICTURES: readonly Picture[] = [
  { name: 'overview', place: () => '/', theme: 'light', ...DESK },
  { name: 'overview-phone', place: () => '/', theme: 'light', ...PHONE },
  { name: 'job', place: ({ recovered }) => `/jobs/${recovered}`, theme: 'light', ...DESK },
  { name: 'approvals', place: () => '/approvals', theme: 'light', ...DESK },
  { name: 'limits', place: () => `/limits/${STRICT_SHOP}`, theme: 'light', ...DESK },
  { name: 'operations', place: ({ operation }) => `/operations/${operation}`, theme: 'light', ...DESK },
  { name: 'jobs-dark', place: ({ parked }) => `/jobs?job=${parked}`, theme: 'dark', ...DESK },
]

interface Operation {
  readonly id: string
  readonly action: string
  readonly endedAt?: string
}

interface Served {
  readonly url: string
  readonly token: string
  readonly link: string
}

const home = mkdtempSync(join(tmpdir(), 'pawl-pictures-'))
// In a folder of its own, and with a store of its own: only there it has a policy.
const words = [resolve('src/cli/main.ts'), 'demo', '--port', '0', '--json', '--rate', '2']
const demo = spawn(process.execPath, words, { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] })
try {
  const [line] = (await once(createInterface({ input: demo.stdout }), 'line')) as [string]
  await take(JSON.parse(line) as Served)
} finally {
  demo.kill('SIGINT')
  await once(demo, 'exit')
  rmSync(home, { recursive: true, force: true })
}

async function take(served: Served): Promise<void> {
  const asked = async (path: string) => {
    const response = await fetch(served.url + path, { headers: { authorization: `Bearer ${served.token}` } })
    return (await response.json()) as Readonly<Record<string, unknown>>
  }
  const found = async (q: string) => (await asked(`/v1/jobs?q=${encodeURIComponent(q)}`))['jobs'] as { id: string }[]
  const isVisited = async () => {
    const changes = (await asked('/v1/traffic?window=1h'))['changes'] as { readonly to: string }[]
    return STATES.every((state) => changes.some(({ to }) => to === state))
  }
  console.log('pictures: waits until every state has been visited')
  await eventually('every state', isVisited, { withinMs: 300_000, everyMs: 1_000 })
  const recovered = await eventually(
    'a job that was lost once',
    async () => (await found('type:crawl.site runs:2 state:succeeded'))[0],
    {
      withinMs: 300_000,
      everyMs: 1_000,
    },
  )
  const operation = await eventually(
    'a redrive that has ended',
    async () => {
      const { operations } = (await asked('/v1/operations')) as { operations: Operation[] }
      return operations.find(({ action, endedAt }) => action === 'redrive' && endedAt !== undefined)
    },
    { withinMs: 300_000, everyMs: 1_000 },
  )
  const isBroken = async () => (await asked(`/v1/limits/${STRICT_SHOP}`))['state'] === 'broken'
  // The oldest: it is left to whoever watches, where newer ones are answered by the night shift.
  const parked = (await found('state:parked')).at(-1)
  // Letters without colours of their own: half the size.
  const browser = await chromium.launch({
    executablePath: chromiumBinary(),
    args: ['--no-sandbox', '--disable-lcd-text'],
  })
  try {
    await shoot(browser, served, isBroken, {
      recovered: recovered?.id ?? '',
      parked: parked?.id ?? '',
      operation: operation?.id ?? '',
    })
  } finally {
    await browser.close()
  }
}

async function shoot(
  browser: Browser,
  { url, link }: Served,
  isBroken: () => Promise<boolean>,
  ids: Ids,
): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const first = await browser.newContext()
  const door = await first.newPage()
  await door.goto(link)
  await door.getByRole('navigation', { name: 'Main' }).waitFor()
  // The strip for newcomers is theirs.
  await door.evaluate(`localStorage.setItem('pawl.first-minute', 'dismissed')`)
  const storageState = await first.storageState()
  for (const { name, place, theme, width, height } of PICTURES) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: theme,
      reducedMotion: 'reduce',
      storageState,
    })
    const page = await context.newPage()
    // It is so for a while only, and the others take theirs.
    if (name === 'limits') await eventually('a shop that pushes back', isBroken, { withinMs: 300_000, everyMs: 500 })
    await page.goto(url + place(ids))
    await page.getByRole('main').waitFor()
    await page.waitForLoadState('networkidle').catch(() => {})
    await eventually('nothing is loading', async () => (await page.locator('.skeleton').count()) === 0)
    const path = join(FOLDER, `${name}.png`)
    await page.screenshot({ path })
    await context.close()
    console.log(`pictures: ${path}, ${Math.round(statSync(path).size / 1_000)} kB`)
  }
}
