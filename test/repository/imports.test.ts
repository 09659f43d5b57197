import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, type Source, sources } from '../support/source.ts'

/**
 * Who may import whom. An area is a folder of `src/`; the store port and its neighbours are files of `src/store/`
 * itself, each adapter is an area of its own. Files directly in `src/` compose: they may import everything.
 */
interface Rule {
  readonly areas: readonly string[]
  /** Single files of other areas. */
  readonly files?: readonly string[]
  /** `node:` modules and npm packages. */
  readonly packages?: readonly string[]
}

const PORT = ['store/store.ts', 'store/compare-positions.ts']
const ENGINE = ['engine/engine.ts']
const ADAPTER: Rule = { areas: ['core', 'system', 'store', 'store/codec', 'store/waiting'], packages: ['node:*'] }

const RULES: Readonly<Record<string, Rule>> = {
  core: { areas: [] },
  system: { areas: ['core'], packages: ['node:*'] },
  store: { areas: ['core'] },
  'store/codec': { areas: ['core', 'store'] },
  'store/ledger': { areas: ['core'] },
  'store/waiting': { areas: ['core', 'system', 'store'] },
  'store/memory': { ...ADAPTER, packages: [] },
  'store/sqlite': ADAPTER,
  // A Postgres can be the ledger of a Redis.
  'store/postgres': { ...ADAPTER, areas: [...ADAPTER.areas, 'store/ledger'], packages: ['node:*', 'pg'] },
  'store/redis': { ...ADAPTER, areas: [...ADAPTER.areas, 'store/ledger'], packages: ['node:*', '@redis/client'] },
  'store/conformance': { ...ADAPTER, areas: [...ADAPTER.areas, 'testing'], packages: ['node:*'] },
  transactions: { areas: [], files: PORT },
  engine: { areas: ['core', 'system', 'store'], packages: ['croner'] },
  policy: {
    areas: ['core', 'system'],
    // What tenants have set is in documents.
    files: [...PORT, ...ENGINE, 'engine/documents.ts'],
    packages: ['node:*', '@marcbachmann/cel-js', 'yaml', 'zod'],
  },
  worker: {
    areas: ['core', 'system'],
    // Workers tell of themselves in documents, and each may ask who else is there.
    files: [...PORT, ...ENGINE, 'engine/workers.ts'],
    packages: ['node:*', '@standard-schema/spec'],
  },
  'gateway/contract': { areas: ['core'], packages: ['zod'] },
  gateway: {
    areas: ['core', 'system', 'engine', 'gateway/contract'],
    // A policy is looked at before it is taken.
    files: [...PORT, 'policy/kept.ts'],
    packages: ['node:*', 'hono', 'hono/*', '@hono/node-server', 'zod', 'prom-client', '@opentelemetry/api'],
  },
  bus: {
    areas: ['core', 'system', 'engine', 'gateway/contract'],
    // What there may be of everything is bounded alike, whichever way it comes.
    files: [...PORT, ...['caps', 'census', 'headcount', 'problem', 'rate'].map((name) => `gateway/${name}.ts`)],
    packages: ['node:*', 'zod', '@nats-io/jetstream', '@nats-io/transport-node'],
  },
  library: {
    areas: ['core', 'system', 'engine', 'worker'],
    files: [...PORT, 'policy/kept.ts'],
    packages: ['node:*', '@standard-schema/spec', '@opentelemetry/api'],
  },
  client: {
    areas: ['core', 'system', 'gateway/contract'],
    // Listeners are isolated on either side of HTTP.
    files: [...PORT, ...ENGINE, 'engine/listener.ts'],
    packages: ['node:*'],
  },
}

/** Composition roots. Nothing may import them. */
const ROOTS = ['', 'cli', 'testing']

const files = sources('src/**/*.ts')
const known = new Set(files.map(({ path }) => path))

describe('who may import whom', () => {
  it('has a rule for every folder', () => {
    const areas = new Set(files.map(({ path }) => areaOf(path)))
    expect([...areas].filter((area) => !(area in RULES) && !ROOTS.includes(area))).toEqual([])
  })

  it('keeps every import within its rule', () => {
    expect(files.flatMap(forbidden)).toEqual([])
  })

  it('keeps core to itself: no package, no node: module, nothing above', () => {
    const core = files.filter(({ path }) => areaOf(path) === 'core')
    expect(core.length).toBeGreaterThan(10)
    const outside = core.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => !resolve(file.path, specifier)?.startsWith('src/core/'))
        .map(({ specifier }) => `${file.path} imports ${specifier}`),
    )
    expect(outside).toEqual([])
  })

  it('finds each imported file', () => {
    const lost = files.flatMap((file) =>
      importsOf(file)
        .map(({ specifier }) => resolve(file.path, specifier))
        .filter((path) => path !== undefined && !known.has(path))
        .map((path) => `${file.path} imports ${path}`),
    )
    expect(lost).toEqual([])
  })

  it('has no cycle among what is loaded when it runs', () => {
    expect(cycles()).toEqual([])
  })

  it('would notice', () => {
    const file = (path: string, code: string): Source => ({ path, code, text: code, lines: [] })
    expect(forbidden(file('src/core/x.ts', `import { readFileSync } from 'node:fs'`))).toHaveLength(1)
    expect(forbidden(file('src/engine/x.ts', `import type { A } from '../store/postgres/a.ts'`))).toHaveLength(1)
    expect(forbidden(file('src/store/sqlite/x.ts', `export * from '../postgres/a.ts'`))).toHaveLength(1)
    expect(forbidden(file('src/worker/x.ts', `const a = await import('../gateway/a.ts')`))).toHaveLength(1)
    expect(forbidden(file('src/engine/x.ts', `import {\n  a,\n  b,\n} from '../core/a.ts'`))).toEqual([])
  })
})

function forbidden(file: Source): string[] {
  const area = areaOf(file.path)
  const rule = RULES[area]
  if (rule === undefined) return []
  return importsOf(file)
    .filter(({ specifier }) => !allowed(area, rule, file.path, specifier))
    .map(({ specifier }) => `${file.path} may not import ${specifier}`)
}

function allowed(area: string, rule: Rule, from: string, specifier: string): boolean {
  const path = resolve(from, specifier)
  if (path === undefined) {
    return rule.packages?.some((name) => matches(name, specifier)) ?? false
  }
  const target = areaOf(path)
  const named = rule.files?.includes(path.slice('src/'.length)) ?? false
  return target === area || rule.areas.includes(target) || named
}

/** `node:*` and `hono/*` stand for all that begins so. */
const matches = (name: string, specifier: string) =>
  name.endsWith('*') ? specifier.startsWith(name.slice(0, -1)) : name === specifier

/** `core`, `store`, `store/postgres`, …; `''` for files directly in `src/`. */
function areaOf(path: string): string {
  const folders = path.split('/').slice(1, -1)
  const depth = folders[0] === 'store' || (folders[0] === 'gateway' && folders[1] === 'contract') ? 2 : 1
  return folders.slice(0, depth).join('/')
}

/** The file a relative import means; `undefined` for packages. */
function resolve(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined
}

function cycles(): string[] {
  const edges = new Map(files.map((file) => [file.path, loaded(file)]))
  const state = new Map<string, 'open' | 'done'>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]) => {
    if (state.get(path) === 'done') return
    if (state.get(path) === 'open') {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      return
    }
    state.set(path, 'open')
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path])
    state.set(path, 'done')
  }
  for (const path of edges.keys()) visit(path, [])
  return found
}

function loaded(file: Source): string[] {
  return importsOf(file)
    .filter(({ typeOnly }) => !typeOnly)
    .map(({ specifier }) => resolve(file.path, specifier))
    .filter((path) => path !== undefined)
}
