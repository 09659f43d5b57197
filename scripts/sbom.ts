/**
 * The bill of materials: everything that is installed with pawl, as CycloneDX 1.6, from the lock file and nothing else. With
 * `--dev` also what it is developed with. The same lock file gives the same bytes: whoever doubts it makes it again.
 *
 * `npm sbom --omit=dev` would be nearer at hand, but leaves out what a development dependency needs as well, zod for one.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

type Lock = Readonly<Record<string, Locked>>

export function billOfMaterials(text: string, withDev: boolean): object {
  const { packages, name } = JSON.parse(text) as { readonly packages: Lock; readonly name: string }
  const root = packages[''] ?? {}
  const reached = reachable(packages, withDev)
  const refOf = (path: string): string => (path === '' ? purl(name, root) : purl(nameAt(path), packages[path] ?? {}))
  const graph = new Map<string, Set<string>>()
  for (const [path, needs] of reached) {
    const of = graph.get(refOf(path)) ?? new Set<string>()
    for (const each of needs) of.add(refOf(each))
    graph.set(refOf(path), of)
  }
  const components = new Map([...reached.keys()].filter((path) => path !== '').map((path) => [refOf(path), path]))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${text}${withDev}`)}`,
    version: 1,
    metadata: { component: { ...component(name, root), type: 'library' } },
    components: [...components].sort().map(([, path]) => component(nameAt(path), packages[path] ?? {})),
    dependencies: [...graph].sort().map(([ref, on]) => ({ ref, dependsOn: [...on].sort() })),
  }
}

/** What each package needs, by its place in the lock file, as Node would find it from there. */
function reachable(packages: Lock, withDev: boolean): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  const todo = ['']
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (found.has(path)) continue
    const { dependencies, optionalDependencies, devDependencies } = packages[path] ?? {}
    const wanted = { ...dependencies, ...optionalDependencies, ...(path === '' && withDev ? devDependencies : {}) }
    const from = path
    const needs = Object.keys(wanted).flatMap((name) => placeOf(packages, from, name))
    found.set(path, needs)
    todo.push(...needs)
  }
  return found
}

/** In its own node_modules, or in one above. Nowhere: it is optional, and not for any platform that the lock file knows. */
function placeOf(packages: Lock, from: string, name: string): readonly string[] {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    if (path in packages) return [path]
    if (at === '') return []
  }
}

const nameAt = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

const purl = (name: string, { version = '' }: Locked): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

function component(name: string, locked: Locked): object {
  const { version, integrity, license } = locked
  const [, algorithm, base64] = /^(sha\d+)-(.+)$/.exec(integrity ?? '') ?? []
  const hashes =
    algorithm === undefined || base64 === undefined
      ? undefined
      : [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(base64, 'base64').toString('hex') }]
  const licenses = license === undefined ? undefined : [licenseOf(license)]
  return { 'bom-ref': purl(name, locked), type: 'library', name, version, purl: purl(name, locked), hashes, licenses }
}

const licenseOf = (license: string): object =>
  license.includes(' ') ? { expression: license.replace(/^\((.*)\)$/, '$1') } : { license: { id: license } }

/** A name for these very bytes, in the shape of a UUID (version 8). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lock = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')
  console.log(JSON.stringify(billOfMaterials(lock, process.argv.includes('--dev')), undefined, 2))
}
