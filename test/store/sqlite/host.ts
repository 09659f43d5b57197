/**
 * A process that has the store open, for tests to start and to kill. It says on its standard output what has been
 * acknowledged, synchronously: what it has said, it was told before.
 *
 * - `enqueue <path> <first>`: one job after the other, from this number on, until killed
 * - `limited <path> <first>`: the same with jobs of three keys that allow two each, of which it claims and completes some
 * - `drain <path> <batch>`: claims and completes until nothing is left
 * - `claim <path> <request>`: claims once, under this request, then waits to be killed
 * - `lock <path>`: has the file's write lock until its input ends
 * - `forget <path>`: writes something and ends without closing
 * - `leave <path> <how>`: has both threads at work and leaves, by `exit`, by `throw`, or by having nothing more to do
 */
import { existsSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { clockOf, completed, grant, limitedJob, newJob, owned } from './life.ts'

const [what, path = '', word = ''] = process.argv.slice(2)

/** A pipe whose reader is slow is full for a while; a line of this size is written as a whole or not at all. */
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`)
      return
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

switch (what) {
  case 'enqueue': {
    const store = await openSqliteStore({ path })
    for (let number = Number(word); ; number += 1) {
      await store.insert([newJob(number, await clockOf(store))])
      say(`${number}`)
    }
  }
  case 'limited': {
    const store = await openSqliteStore({ path })
    for (let number = Number(word); ; number += 3) {
      const now = await clockOf(store)
      const jobs = ['a', 'b', 'c'].map((key, i) => limitedJob(number + i, now, key, { concurrency: 2 }))
      await store.insert(jobs)
      const asked = grant(4)
      const answer = await store.claim(asked)
      // The last of them nobody ends: its owner dies with it.
      const ends = owned(answer, asked).slice(0, -1)
      if (ends.length > 0) await store.commit(ends.map((job) => completed(job, answer.now)))
      say(`${number} ${number + 1} ${number + 2}`)
    }
  }
  case 'drain': {
    const store = await openSqliteStore({ path, busyMs: 60_000 })
    say('ready')
    // Sizes differ between processes and from claim to claim.
    for (let limit = Number(word); ; limit = (limit % 97) + 1) {
      const asked = grant(limit)
      const answer = await store.claim(asked)
      if (answer.jobs.length === 0) break
      const jobs = owned(answer, asked)
      const { verdicts } = await store.commit(jobs.map((job) => completed(job, answer.now)))
      // Nobody kills this one: it may wait for its reader.
      process.stdout.write(jobs.map(({ id }, i) => `${id} ${verdicts[i]?.status}\n`).join(''))
    }
    await store.close()
    break
  }
  case 'claim': {
    const store = await openSqliteStore({ path })
    const { jobs } = await store.claim({ ...grant(10, word), nonce: '0123456789abcdef' })
    say(JSON.stringify(jobs))
    process.stdin.resume()
    break
  }
  case 'lock': {
    const db = new DatabaseSync(path)
    db.exec('BEGIN IMMEDIATE')
    say('locked')
    process.stdin.resume().on('end', () => {
      db.exec('ROLLBACK')
      db.close()
    })
    break
  }
  case 'leave': {
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    await store.insert([newJob(1, now)])
    await store.find({ order: 'oldest', limit: 1 })
    for (let n = 0; n < 40; n += 1) {
      const some = Array.from({ length: 100 }, (_, i) => newJob(2 + n * 100 + i, now))
      store.insert(some).catch(() => {})
      store.find({ order: 'newest', limit: 200 }).catch(() => {})
      store.events({ by: 'type', types: ['enqueued'], from: 0, to: now + 1, limit: 200 }).catch(() => {})
    }
    // Said last, when the store's own threads have had their turn: a file that is still open has its log beside it.
    process.on('exit', () => say(existsSync(`${path}-wal`) ? 'open' : 'closed'))
    if (word !== 'nothing') {
      // Both are in the middle of something by then.
      await turn()
      if (word === 'exit') process.exit(0)
      throw new Error('left by an error, as the test wants it')
    }
    break
  }
  case 'forget': {
    const store = await openSqliteStore({ path })
    await store.insert([newJob(1, await clockOf(store))])
    say('inserted')
    break
  }
}
