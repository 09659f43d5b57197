/** `pawl import --history`: what an export holds, brought in as it was. Interrupted, the same command goes on. */
import type { Event } from '../core/event.ts'
import { idNumber } from '../core/id.ts'
import type { Engine } from '../engine/engine.ts'
import { skipNumbers } from '../engine/id-blocks.ts'
import { broughtLimit, broughtSetting, type DocumentFate } from '../engine/transfer/bring-documents.ts'
import { broughtIn } from '../engine/transfer/bring-in.ts'
import type { CarriedJob } from '../engine/transfer/carried.ts'
import { pausedFor, type QueueName, resumed } from '../engine/transfer/pauses.ts'
import { Workers } from '../engine/workers.ts'
import { openStore } from '../open-store.ts'
import { queueKey, type Store } from '../store/store.ts'
import { realRandom } from '../system/random.ts'
import { confirmed } from './confirm.ts'
import { Ended, EXIT, Usage } from './exit.ts'
import { carriedIn, type ExportedLine, parsedLine } from './exported.ts'
import { linesOf } from './lines.ts'
import { needsStore, type Session } from './session.ts'
import { safe } from './terminal.ts'

const BATCH = 50
/** Refusals that are told one by one; the rest is counted. */
const REFUSED_TOLD = 1_000

/** What a look at the whole file has shown. */
interface Contents {
  readonly jobs: number
  readonly settings: number
  readonly limits: number
  readonly lastNumber: number
  readonly tenants: readonly string[]
  readonly queues: readonly QueueName[]
  /** What the other store had written down about queues, by the keys of their documents. */
  readonly queueDocuments: ReadonlyMap<string, string>
}

type Documents = Pick<Engine, 'settings' | 'now'>

interface Done {
  brought: number
  there: number
  readonly documents: Record<DocumentFate, number>
  readonly refused: { readonly job: string; readonly why: string }[]
  refusedInAll: number
}

export async function broughtInFrom(session: Session, path: string, dryRun: boolean): Promise<void> {
  needsStore(session, 'import --history')
  const { terminal } = session
  const contents = await look(session, path)
  const { jobs, settings, limits } = contents
  const all = { jobs, settings, limits }
  if (dryRun) {
    return terminal.tell({ dryRun, ...all, brought: 0, there: 0, refused: [] }, () =>
      terminal.say(`${jobs} jobs, ${settings} settings and ${limits} limits to bring in.`),
    )
  }
  await confirmed(session, `${jobs} jobs would be brought in with their histories.`)
  const { url, schema, directUrl } = session
  const { store } = await openStore(url, { schema, directUrl, log: 'silent' })
  let done: Done
  try {
    done = await bring(session, store, path, contents)
  } finally {
    await store.close()
  }
  terminal.tell({ dryRun, ...all, ...done }, () => {
    terminal.say(`${done.brought} jobs brought in, ${done.there} were there already.`)
    const { brought, there, different } = done.documents
    terminal.say(
      `${brought} settings and limits brought in, ${there} were there, ${different} are different here and stay.`,
    )
    for (const { job, why } of done.refused) terminal.warn(`${safe(job)}: ${safe(why)}`)
    const more = done.refusedInAll - done.refused.length
    if (more > 0) terminal.warn(`and ${more} more were refused`)
  })
  if (done.refusedInAll > 0) throw new Ended(EXIT.refused)
}

/** Every line is understood before anything is written. */
async function look({ terminal }: Session, path: string): Promise<Contents> {
  const tenants = new Set<string>()
  const queues = new Map<string, QueueName>()
  const queueDocuments = new Map<string, string>()
  const count = { job: 0, setting: 0, limit: 0 }
  let lastNumber = 0
  for await (const { line, n } of exportedLines(path)) {
    count[line.pawl] += 1
    if (line.pawl === 'setting' && line.collection === 'queue') queueDocuments.set(line.key, line.text)
    if (line.pawl !== 'job') continue
    const { log } = carriedIn(line, n)
    const [first] = log
    if (first?.type !== 'enqueued') throw new Usage(`Line ${n}: the log of its job does not begin.`)
    const { tenant, queue } = first.payload.spec.kind
    const number = idNumber(first.jobId)
    if (number === undefined) throw new Usage(`Line ${n}: ${safe(String(first.jobId))} is not the id of a job.`)
    lastNumber = Math.max(lastNumber, number)
    tenants.add(tenant)
    for (const each of [queue, ...redirectedTo(log)]) queues.set(queueKey(tenant, each), { tenant, queue: each })
    terminal.progress('read', count.job)
  }
  terminal.progressDone()
  return {
    jobs: count.job,
    settings: count.setting,
    limits: count.limit,
    lastNumber,
    tenants: [...tenants],
    queues: [...queues.values()],
    queueDocuments,
  }
}

/** Queues that admission has sent the job to, where it stands instead. */
const redirectedTo = (log: readonly Event[]): readonly string[] =>
  log.flatMap((event) => (event.type === 'admitted' ? (event.payload.recast?.redirect?.queue ?? []) : []))

async function bring(session: Session, store: Store, path: string, contents: Contents): Promise<Done> {
  const { tenants, queues, queueDocuments, lastNumber, jobs } = contents
  const { now } = await store.load([])
  const documents: Documents = { settings: (operations) => store.settings(operations), now: () => now }
  await refuseBesideWorkers(documents, tenants)
  for (const queue of queues) await pausedFor(documents, queue)
  if (jobs > 0) await skipNumbers(store, lastNumber, tenants)
  const done: Done = {
    brought: 0,
    there: 0,
    documents: { brought: 0, there: 0, different: 0 },
    refused: [],
    refusedInAll: 0,
  }
  const nonce = realRandom.hex64()
  let batch: CarriedJob[] = []
  const send = async () => {
    for (const [i, answer] of (await broughtIn(store, batch, nonce)).entries()) {
      if (answer.status !== 'refused') done[answer.status] += 1
      else {
        done.refusedInAll += 1
        const job = batch[i]?.log[0]?.jobId ?? ''
        if (done.refused.length < REFUSED_TOLD) done.refused.push({ job, why: answer.why })
      }
    }
    batch = []
    session.terminal.progress('brought in', done.brought + done.there + done.refusedInAll, jobs)
  }
  // Of queues that stand still for this, what the other store has written down holds when they go on.
  const paused = new Set(queues.map(({ tenant, queue }) => queueKey(tenant, queue)))
  for await (const { line, n } of exportedLines(path)) {
    session.signal.throwIfAborted()
    if (line.pawl === 'limit') done.documents[await broughtLimit(store, line)] += 1
    else if (line.pawl === 'job') {
      batch.push(carriedIn(line, n))
      if (batch.length === BATCH) await send()
    } else if (line.collection !== 'queue' || !paused.has(line.key))
      done.documents[await broughtSetting(store, line)] += 1
  }
  if (batch.length > 0) await send()
  for (const queue of queues) await resumed(documents, queue, queueDocuments.get(queueKey(queue.tenant, queue.queue)))
  session.terminal.progressDone()
  return done
}

/** Whoever works here already would be given jobs that are only half there. */
async function refuseBesideWorkers(documents: Documents, tenants: readonly string[]): Promise<void> {
  const workers = new Workers(documents)
  for (const tenant of tenants) {
    const [one] = await workers.presentOf(tenant)
    if (one !== undefined)
      throw new Usage(
        `Worker ${safe(one.workerId)} is at work in this store.`,
        'Stop every process that has it open; a worker that was killed is forgotten after a minute.',
      )
  }
}

async function* exportedLines(path: string): AsyncGenerator<{ readonly line: ExportedLine; readonly n: number }> {
  let n = 0
  for await (const text of linesOf(path)) {
    n += 1
    if (text.trim() !== '') yield { line: parsedLine(text, n), n }
  }
}
