/** What this is made of: known to the byte, from one place, and few. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { billOfMaterials } from '../../scripts/sbom.ts'

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}

const lockText = readFileSync('package-lock.json', 'utf8')
const lockedIn = (text: string) =>
  Object.entries((JSON.parse(text) as { readonly packages: Readonly<Record<string, Locked>> }).packages).filter(
    ([path]) => path !== '',
  )
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly allowScripts: Readonly<Record<string, boolean>>
  readonly devDependencies: { readonly node: string }
}
const locked = lockedIn(lockText)

describe('the lock file', () => {
  it.each(['package-lock.json', 'dashboard/package-lock.json'])(
    '%s has a checksum for everything, and names no other place than the registry',
    (file) => {
      const all = lockedIn(readFileSync(file, 'utf8'))
      expect(all.length).toBeGreaterThan(50)
      for (const [path, { integrity, resolved, link }] of all) {
        expect(link, path).toBeUndefined()
        expect(integrity, path).toMatch(/^sha512-/)
        expect(resolved ?? 'https://registry.npmjs.org/', path).toMatch(/^https:\/\/registry\.npmjs\.org\//)
      }
    },
  )

  it('lets only those run scripts who were allowed to', () => {
    const running = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path)
    expect(running.map((path) => path.replace(/^.*node_modules\//, '')).sort()).toEqual(
      Object.keys(manifest.allowScripts).sort(),
    )
  })
})

describe('the Node that comes along', () => {
  const verify = (...folder: readonly string[]) =>
    spawnSync(process.execPath, ['scripts/verify-node.mjs', ...folder], { encoding: 'utf8' })
  const pins = JSON.parse(readFileSync('scripts/node-pins.json', 'utf8')) as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >
  const { node } = manifest.devDependencies

  it('is known by its checksum', () => {
    expect(Object.keys(pins[node] ?? {})).toContain('linux-x64')
    const { status, stdout, stderr } = verify()
    expect(status, stderr).toBe(0)
    const known = pins[node]?.[`${process.platform}-${process.arch}`] !== undefined
    expect(stdout).toBe(known ? '' : expect.stringContaining('no checksum is known'))
  })

  it('is not run if it is another one, and taken aloud where none is known', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-node-'))
    try {
      mkdirSync(join(folder, 'bin'))
      for (const name of ['node', 'node.exe']) writeFileSync(join(folder, 'bin', name), 'another')
      const [version = '', platforms = {}] = Object.entries(pins)[0] ?? []
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }))
      const known = platforms[`${process.platform}-${process.arch}`] !== undefined
      expect(verify(folder)).toMatchObject(
        known
          ? { status: 1, stderr: expect.stringMatching(/is not the one this repository knows[\s\S]*Do not run it/) }
          : { status: 0, stdout: expect.stringContaining('no checksum is known') },
      )
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: '0.0.1' }))
      expect(verify(folder)).toMatchObject({ status: 0, stdout: expect.stringMatching(/no checksum .* Node 0\.0\.1/) })
      expect(verify(join(folder, 'nothing'))).toMatchObject({ status: 0, stdout: '', stderr: '' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

interface Bill {
  readonly bomFormat: string
  readonly specVersion: string
  readonly serialNumber: string
  readonly metadata: { readonly component: { readonly 'bom-ref': string; readonly name: string } }
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly type: string
    readonly name: string
    readonly version: string
    readonly purl: string
    readonly hashes: readonly { readonly alg: string; readonly content: string }[]
    readonly licenses: readonly { readonly license?: { readonly id: string }; readonly expression?: string }[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

describe.each([false, true])('the bill of materials, development included: %s', (withDev) => {
  const bill = billOfMaterials(lockText, withDev) as Bill

  it('has the shape of CycloneDX, and is the same every time', () => {
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 })
    expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(bill.metadata.component.name).toBe('pawl')
    for (const { type, name, version, purl, hashes, licenses } of bill.components) {
      expect(type).toBe('library')
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`)
      expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }])
      expect(licenses, name).toHaveLength(1)
    }
    expect(billOfMaterials(lockText, withDev)).toEqual(bill)
  })

  it('names each once, and nothing that it does not have', () => {
    const refs = [bill.metadata.component['bom-ref'], ...bill.components.map((each) => each['bom-ref'])]
    expect(new Set(refs).size).toBe(refs.length)
    expect(bill.dependencies.map(({ ref }) => ref).sort()).toEqual(refs.toSorted())
    for (const { dependsOn } of bill.dependencies) for (const ref of dependsOn) expect(refs).toContain(ref)
  })
})

/** As `npm ls` tells it; what is optional and not there has no version. */
interface Listed {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, Listed>>
}

describe('what runs with pawl', () => {
  it('is what npm would install without development', () => {
    const bill = billOfMaterials(lockText, false) as Bill
    const { stdout } = spawnSync('npm', ['ls', '--omit=dev', '--all', '--json', '--package-lock-only'], {
      encoding: 'utf8',
    })
    const names = new Set<string>()
    const walk = ({ dependencies = {} }: Listed): void => {
      for (const [name, child] of Object.entries(dependencies)) {
        if (child.version === undefined) continue
        names.add(name)
        walk(child)
      }
    }
    walk(JSON.parse(stdout) as Listed)
    expect(bill.components.map(({ name }) => name).sort()).toEqual([...names].sort())
  })

  it('is little, and may be used by anybody', () => {
    const { components } = billOfMaterials(lockText, false) as Bill
    expect(components.length).toBeLessThanOrEqual(26)
    const allowed = ['MIT', 'ISC', 'Apache-2.0', 'BSD-3-Clause', '0BSD']
    for (const { name, licenses } of components) expect(allowed, name).toContain(licenses[0]?.license?.id)
  })
})
