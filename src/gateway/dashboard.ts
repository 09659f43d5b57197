/**
 * The dashboard's files, as they were built: read once, kept in memory, told compressed to browsers that can read that. Its places are a
 * closed list; each is the same page, which looks at its own address. A checkout that has just been installed may still be
 * building them: then the page says so and looks again.
 */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Pages } from './app.ts'
import type { Reply } from './call.ts'
import { SIGN_IN } from './session.ts'

export interface DashboardOptions {
  /** Where the files are; where the build puts them unless given. */
  readonly folder?: string | undefined
  readonly basePath?: string | undefined
}

/** First segments of what people see in the address bar. */
export const PLACES: ReadonlySet<string> = new Set([
  '',
  SIGN_IN.slice(1),
  'jobs',
  'approvals',
  'dead-letters',
  'queues',
  'limits',
  'schedules',
  'workers',
  'new',
  'tail',
  'operations',
  'machine',
  'tokens',
  'audit',
])

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Their names have a hash of what is in them. */
const FOR_EVER = 'public, max-age=31536000, immutable'
const PAGE = 'index.html'
const compressed = promisify(gzip)

interface File {
  readonly type: string
  readonly plain: Uint8Array<ArrayBuffer>
  readonly zipped: Uint8Array<ArrayBuffer>
}

export function dashboardPages({ folder, basePath = '' }: DashboardOptions = {}): Pages {
  const files = new Files(folder === undefined ? FOLDERS : [folder], basePath)
  return {
    async find(path, headers) {
      const [, first = '', ...rest] = path.split('/')
      if (first === 'assets' && rest.length === 1) return told(await files.get(`assets/${rest[0]}`), headers, FOR_EVER)
      if (path === '/favicon.svg') return told(await files.get('favicon.svg'), headers, 'max-age=86400')
      if (!PLACES.has(first) || !isPageWanted(headers)) return undefined
      return told(await files.get(PAGE), headers, 'no-cache') ?? notBuiltYet()
    },
  }
}

/** Beside the published modules, or where the checkout builds it. */
const FOLDERS: readonly string[] = ['../dashboard/', '../../dashboard/dist/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

/** `curl /` still has the list of routes. */
const isPageWanted = (headers: Headers): boolean => headers.get('accept')?.includes('text/html') === true

class Files {
  readonly #folders: readonly string[]
  readonly #basePath: string
  /** Present once the page was found: from then on nothing is looked for any more. */
  #all: ReadonlyMap<string, File> | undefined
  #reading: Promise<ReadonlyMap<string, File>> | undefined

  constructor(folders: readonly string[], basePath: string) {
    this.#folders = folders
    this.#basePath = basePath
  }

  /** By its path in the folder: what is not in it has no name here, whatever it looks like. */
  async get(path: string): Promise<File | undefined> {
    if (this.#all !== undefined) return this.#all.get(path)
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    const all = await this.#reading
    if (all.has(PAGE)) this.#all = all
    return all.get(path)
  }

  async #read(): Promise<ReadonlyMap<string, File>> {
    for (const folder of this.#folders) {
      const found = await filesIn(folder, this.#basePath)
      if (found.size > 0) return found
    }
    return new Map()
  }
}

async function filesIn(folder: string, basePath: string): Promise<ReadonlyMap<string, File>> {
  const found = new Map<string, File>()
  // The page is written last: a browser that finds it finds everything.
  const page = await readFile(join(folder, PAGE), 'utf8').catch(() => undefined)
  if (page === undefined) return found
  found.set(PAGE, await fileOf(PAGE, Buffer.from(placed(page, basePath))))
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(join(folder, '/').length).replaceAll('\\', '/')
    if (entry.isFile() && name !== PAGE && extname(name) in TYPES)
      found.set(name, await fileOf(name, await readFile(path)))
  }
  return found
}

const fileOf = async (name: string, plain: Buffer): Promise<File> => ({
  type: TYPES[extname(name)] ?? 'application/octet-stream',
  plain: new Uint8Array(plain),
  zipped: new Uint8Array(await compressed(plain)),
})

/** The build does not know where it will be mounted. */
const placed = (page: string, basePath: string): string =>
  page
    .replaceAll('"./', `"${basePath}/`)
    .replace('name="pawl-base" content=""', `name="pawl-base" content="${basePath}"`)

function told(file: File | undefined, headers: Headers, cache: string): Reply | undefined {
  if (file === undefined) return undefined
  const zip = headers.get('accept-encoding')?.includes('gzip') === true
  return {
    status: 200,
    type: file.type,
    body: zip ? file.zipped : file.plain,
    headers: { 'Cache-Control': cache, Vary: 'Accept-Encoding, Accept', ...(zip && { 'Content-Encoding': 'gzip' }) },
  }
}

const notBuiltYet = (): Reply => ({
  status: 503,
  type: 'text/html; charset=utf-8',
  headers: { 'Retry-After': '2' },
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="2">
<title>pawl</title>
<h1>The dashboard is being built</h1>
<p>This happens once, takes less than a minute, and this page looks again every two seconds. The API answers already.</p>
<p>Nothing comes? In a checkout <code>npm run dashboard</code> builds it and says what is wrong.</p>
</html>
`,
})
