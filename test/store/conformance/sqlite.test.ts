import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { prove } from './prove.ts'
import { RealSetups } from './real-clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'pawl-conformance-'))
const path = join(folder, 'jobs.db')
const clockSetBy = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
const setups = new RealSetups({
  open: async () => openSqliteStore({ path, clockSetBy }),
  setClock: async (byMs) => {
    Atomics.add(clockSetBy, 0, BigInt(byMs))
  },
})

afterAll(async () => {
  await setups[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

prove({
  name: 'sqlite',
  cannot: {
    transaction: 'a file has one writer, and a caller’s transaction on it would lock the store out',
  },
  open: setups.open,
})
