/** Words about jobs, one by one and in batches. */

import { z } from 'zod'
import { LENGTHS } from '../../core/limits.ts'
import { refuse } from '../../core/refuse.ts'
import type { ActName } from '../../engine/audit.ts'
import type { Answer, Engine, HeartbeatAnswer, HeartbeatRequest, Word } from '../../engine/engine.ts'
import { violationsOf } from '../body.ts'
import { type Call, type Handler, json, type Parts } from '../call.ts'
import type { Kept } from '../contract/outline.ts'
import { maySay } from '../contract/routes.ts'
import { KEPT_BY_ANY_WORD, KEPT_BY_WORDS, WORDS, type WordName } from '../contract/schemas.ts'
import { type Check, unchangedBy } from '../contract/unchanged.ts'
import { timeToWire, toWire } from '../contract/wire.ts'
import { Objected, objection, type Problem, problemOf } from '../problem.ts'
import { type Speaker, wordOf } from '../words.ts'
import { audited } from './audit.ts'
import { traceparentOf } from './enqueue.ts'
import { loaded, mayTouch } from './jobs.ts'

export const say =
  (name: WordName): Handler =>
  async (call, parts) => {
    const now = parts.engine.now()
    const word = (id: string, speaker: Speaker) =>
      wordOf(name, id, call.body, (path) => call.kept.get(path), speaker, now)
    return json(200, answerToWire(await spoken(call, parts, name, word)))
  }

/** One word about the job that the path names, as the token may say it. */
export async function spoken(
  call: Call,
  parts: Parts,
  name: WordName,
  word: (id: string, speaker: Speaker) => Word,
): Promise<Extract<AnyAnswer, { ok: true }>> {
  const unowned = withoutFence(call, name, call.body, 'body')
  if (unowned !== undefined) throw new Objected(unowned)
  const judged = call.token.queues !== undefined || name === 'heartbeat'
  const id = judged ? (await loaded(call, parts, [])).job.id : (call.params['id'] ?? '')
  await auditedWords(call, parts, [{ name, id, fence: call.body['fence'] }])
  const [answer] = await said(call, parts, [word(id, speakerOf(call))])
  if (answer === undefined) throw new Error('no answer')
  if (!answer.ok) throw new Objected(problemOf(answer.refusal))
  return answer
}

export const settle: Handler = async (call, parts) => {
  const items = call.body['transitions'] as readonly Readonly<Record<string, unknown>>[]
  const answers: unknown[] = new Array(items.length)
  const words: Word[] = []
  const places: number[] = []
  const speaker = speakerOf(call)
  for (const [i, item] of items.entries()) {
    const word = wordFrom(item, { call, parts, speaker, i })
    if ('problem' in word) answers[i] = { ok: false, problem: word.problem.body }
    else {
      words.push(word.word)
      places.push(i)
    }
  }
  await auditedWords(
    call,
    parts,
    places.map((place) => {
      const { id, command, fence } = items[place] as Readonly<Record<string, unknown>>
      return { name: command as WordName, id: String(id), fence }
    }),
  )
  const touchable = await touched(call, parts, words)
  const heard = await said(
    call,
    parts,
    touchable.filter((word) => word !== undefined),
  )
  let at = 0
  for (const [n, place] of places.entries())
    answers[place] = touchable[n] ? answered(heard[at++] as AnyAnswer) : NOT_FOUND
  return json(200, { answers })
}

/** Acts of operators that the audit log is told, once per request and word. Words of owners and producers are not among them. */
const ACTS: Readonly<Partial<Record<WordName, ActName>>> = {
  admit: 'jobs.admitted',
  deny: 'jobs.denied',
  approve: 'jobs.approved',
  cancel: 'jobs.cancelled',
  reopen: 'jobs.reopened',
  reschedule: 'jobs.rescheduled',
  deadletter: 'jobs.dead_lettered',
}

interface SaidWord {
  readonly name: WordName
  readonly id: string
  readonly fence: unknown
}

async function auditedWords(call: Call, parts: Parts, words: readonly SaidWord[]): Promise<void> {
  if (call.token.scope !== 'operator' && call.token.scope !== 'admin') return
  const acts = Map.groupBy(
    words.filter(({ fence }) => fence === undefined),
    ({ name }) => ACTS[name],
  )
  for (const [act, about] of acts) {
    const [first] = about
    if (act !== undefined && first !== undefined)
      await audited(call, parts, { act, about: first.id, count: about.length })
  }
}

interface Place {
  readonly call: Call
  readonly parts: Parts
  readonly speaker: Speaker
  readonly i: number
}

type Item = Readonly<Record<string, unknown>>

function wordFrom(item: Item, place: Place): { readonly word: Word } | { readonly problem: Problem } {
  const { call, parts, speaker, i } = place
  const name = item['command'] as WordName
  if (!maySay(call.token.scope, name))
    return { problem: objection('FORBIDDEN', `A ${call.token.scope} token may not ${name}.`) }
  const body = UNCHANGED[name](item) ? item : made(item, name, call.kept, i)
  if (body instanceof z.ZodError)
    return {
      problem: objection('MALFORMED', 'The transition breaks a rule.', violationsOf(body, `body.transitions.${i}`)),
    }
  const unowned = withoutFence(call, name, body, `body.transitions.${i}`)
  if (unowned !== undefined) return { problem: unowned }
  // Each item is a request of its own: a batch must not make two of them one.
  const word = wordOf(
    name,
    String(item['id']),
    body,
    (path) => call.kept.get(`transitions.${i}.${path}`),
    { ...speaker, requestId: `${speaker.requestId}/${i}` },
    parts.engine.now(),
  )
  return { word }
}

const UNCHANGED = Object.fromEntries(
  Object.entries(WORDS).map(([name, schema]) => [name, unchangedBy(schema, ['id', 'command'])]),
) as Readonly<Record<WordName, Check>>

function made({ id: _, command: __, ...rest }: Item, name: WordName, kept: Kept, i: number): Item | z.ZodError {
  const result = WORDS[name].safeParse(withOwnMembers(rest, name, kept, i))
  return result.success ? (result.data as Item) : result.error
}

/** Puts back members that were cut out of a batch because another word keeps them as text: for this one they are members like others. */
function withOwnMembers(item: Readonly<Record<string, unknown>>, name: WordName, kept: Kept, i: number): object {
  const own = Object.keys(KEPT_BY_ANY_WORD).filter((member) => item[member] === null && !KEPT_BY_WORDS[name]?.[member])
  if (own.length === 0) return item
  const texts = own.map((member) => [member, kept.get(`transitions.${i}.${member}`) ?? 'null'] as const)
  return { ...item, ...Object.fromEntries(texts.map(([member, text]) => [member, wordIn(text)])) }
}

/** The longest JSON that such a member can have, every letter escaped; a longer one is not parsed. */
const WORD_LENGTH = 6 * LENGTHS.pointer

const wordIn = (text: string): unknown => (text.length > WORD_LENGTH ? null : JSON.parse(text))

/** A worker speaks about what it owns and nothing else, even with words that others may say without owning anything. */
const withoutFence = ({ token }: Call, name: WordName, body: object, where: string): Problem | undefined =>
  token.scope !== 'worker' || ('fence' in body && body.fence !== undefined)
    ? undefined
    : objection('MALFORMED', `A worker token may ${name} only what it owns.`, [
        { field: `${where}.fence`, rule: 'a worker must give the fence of its lease' },
      ])

/** An answer to a word; a heartbeat's tells besides until when the lease is good. */
type AnyAnswer = Answer | Extract<HeartbeatAnswer, { ok: true }>

/** Owners are never turned away, however many of their words wait. */
function said(
  { token, route }: Call,
  { engine, writes }: Parts,
  words: readonly Word[],
): Promise<readonly AnyAnswer[]> {
  const work = () => answersTo(engine, words)
  return writes.take({ holder: token, weight: words.length, work, always: route.urgency === 'owner' })
}

/** Heartbeats go their own way, many in one statement; the rest is settled in order. */
async function answersTo(engine: Engine, words: readonly Word[]): Promise<readonly AnyAnswer[]> {
  const beats: number[] = []
  const others: number[] = []
  for (const [i, { command }] of words.entries())
    (command.type === 'heartbeat' && command.expectedRev === undefined ? beats : others).push(i)
  const answers: AnyAnswer[] = new Array(words.length)
  const [renewed, settled] = await Promise.all([
    engine.heartbeat(beats.map((i) => beatOf(words[i] as Word))),
    engine.settle(others.map((i) => words[i] as Word)),
  ])
  for (const [n, place] of beats.entries()) answers[place] = renewed[n] as HeartbeatAnswer
  for (const [n, place] of others.entries()) answers[place] = settled[n] as Answer
  return answers
}

const beatOf = ({ id, command }: Word): HeartbeatRequest => ({
  id,
  fence: 'fence' in command && command.fence !== undefined ? command.fence : '',
  requestId: command.requestId,
})

/**
 * The words about jobs that the token may touch at all, by the jobs' own ids: leases are renewed by those. Costs a read
 * where the token is bound to queues, and for heartbeats.
 */
async function touched(call: Call, { engine }: Parts, words: readonly Word[]): Promise<readonly (Word | undefined)[]> {
  const judged = words.filter(({ command }) => call.token.queues !== undefined || command.type === 'heartbeat')
  if (judged.length === 0) return words
  const { items } = await engine.load(judged.map(({ id }) => ({ id, tenant: call.token.tenant })))
  const judgements = new Map(judged.map((word, n) => [word, items[n]]))
  return words.map((word) => {
    if (!judgements.has(word)) return word
    const job = judgements.get(word)?.job
    return job !== undefined && mayTouch(call, job) ? { ...word, id: job.id } : undefined
  })
}

const NOT_FOUND = { ok: false, problem: problemOf(refuse('NOT_FOUND', { message: 'No job has this id.' })).body }

const answered = (answer: AnyAnswer): unknown =>
  answer.ok ? { ok: true, ...answerToWire(answer) } : { ok: false, problem: problemOf(answer.refusal).body }

/** Member by member: there is one for each job that is worked on, and put together by names that only run time knows it costs twice as much. */
function answerToWire(answer: Extract<AnyAnswer, { ok: true }>): object {
  const { rev } = answer
  const cancel = answer.cancel && toWire(answer.cancel)
  if ('leaseExpiresAt' in answer) return { rev, leaseExpiresAt: timeToWire(answer.leaseExpiresAt), cancel }
  const { jobId, state, at, replayed } = answer
  return { jobId, rev, state, at: timeToWire(at), replayed, cancel }
}

const speakerOf = (call: Call): Speaker => ({
  actor: `${call.token.scope}:${call.token.name}`,
  tenant: call.token.tenant,
  requestId: call.requestId,
  traceparent: traceparentOf(call),
})
