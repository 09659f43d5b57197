// Plain JavaScript for whatever Node the machine has, like prepare.mjs, which runs this before anything else.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'

/*
 * The package `node` fetches its binary when it is installed, past the lock file and its checksums. Everything here runs on
 * that binary, so it must be the one that this repository knows: `node-pins.json` has the SHA-256 of each, by version and
 * platform. `node scripts/pin-node.ts` writes it after a change of version, and its difference is to be read like code.
 */
const [folder = 'node_modules/node'] = process.argv.slice(2)
const platform = `${process.platform}-${process.arch}`

if (existsSync(`${folder}/package.json`)) {
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const known = JSON.parse(readFileSync(new URL('node-pins.json', import.meta.url), 'utf8'))[version]?.[platform]
  const binary = readFileSync(`${folder}/bin/node${process.platform === 'win32' ? '.exe' : ''}`)
  const found = createHash('sha256').update(binary).digest('hex')
  const it = `Node ${version} for ${platform} in ${folder}`
  if (known === undefined)
    console.log(`verify-node: no checksum is known for ${it}; it is what the registry gave (SHA-256 ${found})`)
  else if (known !== found) {
    console.error(`verify-node: ${it} is not the one this repository knows: its SHA-256 is ${found}, not ${known}.`)
    console.error('verify-node: Do not run it. Remove it, and find out where npm had it from.')
    process.exitCode = 1
  }
}
