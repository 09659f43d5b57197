import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { Channel, ENDS_WITHIN_MS } from '../../../src/store/sqlite/channel.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { VirtualTime } from '../../../src/testing/virtual-time.ts'
import { sources } from '../../support/source.ts'
import { ownFile } from './folder.ts'
import { clockOf, newJob } from './life.ts'
import { startHost } from './process.ts'

describe('a thread that does not end in time', () => {
  it('is let go after five seconds, by nobody’s hand, and those who wait are told that it is not known', async () => {
    const time = new VirtualTime(0)
    const worker = new Worker(new URL('./thread-body.ts', import.meta.url))
    const gone = new Int32Array(new SharedArrayBuffer(4))
    const channel = await Channel.open({ worker, gone }, time, () => {})
    const unanswered = channel.call('tally', null)
    const refused = expect(unanswered).rejects.toThrow(/closed before it answered.*not known/s)
    let closed = false
    const closing = channel.close().then(() => {
      closed = true
    })
    await time.advance(ENDS_WITHIN_MS - 1)
    expect(closed).toBe(false)
    await time.advance(1)
    await closing
    await refused
    await expect(channel.call('tally', null)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    // It is alive, which it would not be if anybody had stopped it, and ends when it can.
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('end')
    expect(await exited).toBe(0)
  })

  it('is stopped from outside nowhere in the store', () => {
    const stopping = sources('src/store/**/*.ts').filter(({ code }) => /\.terminate\(/.test(code))
    expect(stopping.map(({ path }) => path)).toEqual([])
  })
})

describe('closing while another process has the file', () => {
  it('gives up what cannot be written, in words, and leaves no thread behind', async () => {
    const path = ownFile()
    const store = await openSqliteStore({ path })
    const now = await clockOf(store)
    await store.insert([newJob(1, now)])
    const other = startHost('lock', path)
    onTestFinished(async () => {
      other.child.stdin.end()
      await other.ended
    })
    expect(await other.next()).toBe('locked')
    const held = expect(store.insert([newJob(2, now)])).rejects.toMatchObject({ code: 'STORE_BUSY' })
    const looking = store.find({ order: 'oldest', limit: 10 })
    const closing = store.close()
    expect((await looking).jobs.map(({ id }) => id)).toEqual([idText(1)])
    await held
    await closing
    expect(process.getActiveResourcesInfo().filter((name) => name === 'MessagePort')).toEqual([])
  })
})
