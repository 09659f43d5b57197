/** A folder with one policy in it, which goes with the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function policyFolder(text: string): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'pawl-policy-'))
  writeFileSync(join(path, 'policy.yaml'), text)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
