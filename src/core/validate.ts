/**
 * The shape of commands, whoever sends them: every field within its bounds, all violations at once. Nothing here
 * throws, whatever comes in; nothing is silently corrected.
 */
import { Checker, type Fields, isObject, NONE } from './checker.ts'
import { type Command, RELEASE_REASONS } from './command.ts'
import { forbidden } from './dialects/forbidden.ts'
import { isNonce } from './fence.ts'
import { LEVEL_MAX } from './flow/numbers.ts'
import { isId, isReserved } from './id.ts'
import { DEAD_LETTER_REASONS, STAGES, TERMINAL_STATES, type Time } from './job.ts'
import { COUNTS, DURATIONS, LENGTHS, LIMITS, MAX_DURATION_MS, SIZES } from './limits.ts'
import { NOTE_KINDS } from './note.ts'
import { ERROR_CLASSES, type Policy } from './policy.ts'
import type { Violation } from './refusal.ts'
import { isCommand } from './transitions.ts'

type Check = (c: Checker, command: Fields) => void

/** A claim is one command about many jobs: what has just been looked at is not looked at again. */
export function validate(command: Command, now: Time): readonly Violation[] {
  if (command === valid.claim && now === valid.now) return NONE
  const found = violations(command, now)
  if (found.length === 0 && command.type === 'claim') valid = { claim: command, now }
  return found
}

let valid: { readonly claim: Command | undefined; readonly now: Time } = { claim: undefined, now: 0 }

function violations(command: Command, now: Time): readonly Violation[] {
  const fields: unknown = command
  if (!isObject(fields)) return [{ field: 'command', rule: 'must be an object' }]
  if (!isCommand(fields['type'])) return [{ field: 'type', rule: 'must be the name of a command' }]
  const c = new Checker()
  c.time('now', now)
  c.text('actor', fields['actor'], LENGTHS.id)
  c.text('requestId', fields['requestId'], LENGTHS.id)
  c.textIfAny('correlationId', fields['correlationId'], LENGTHS.id)
  c.textIfAny('cause', fields['cause'], LENGTHS.id)
  c.textIfAny('traceparent', fields['traceparent'], LENGTHS.id)
  c.wholeIfAny('expectedRev', fields['expectedRev'], 0, Number.MAX_SAFE_INTEGER)
  CHECKS[fields['type']](c, fields)
  return c.found
}

const fence: Check = (c, x) => c.text('fence', x['fence'], LENGTHS.id)
const fenceIfAny: Check = (c, x) => c.textIfAny('fence', x['fence'], LENGTHS.id)
const time = (c: Checker, x: Fields, field: string): void => c.timeIfAny(field, x[field])
const prose = (c: Checker, x: Fields, field: string): void =>
  c.optional(field, x[field], (f, y) => c.prose(f, y, LENGTHS.message))
const worked: Check = (c, x) => {
  if (x['executionMs'] !== undefined) c.durationMs('executionMs', x['executionMs'])
}
const nothing: Check = () => {}

function terms(c: Checker, field: string, value: unknown): void {
  if (!isObject(value)) return c.fail(field, 'must be an object')
  const { attemptMs } = DURATIONS
  const { maxAttempts } = COUNTS
  c.wholeIfAny(`${field}.attemptMs`, value['attemptMs'], attemptMs.min, attemptMs.max)
  c.wholeIfAny(`${field}.maxAttempts`, value['maxAttempts'], maxAttempts.min, maxAttempts.max)
}

function route(c: Checker, field: string, value: unknown): void {
  if (!isObject(value)) return c.fail(field, 'must be an object')
  const { pool, capabilities } = value
  if (pool !== undefined) c.name(`${field}.pool`, pool)
  if (!Array.isArray(capabilities) || capabilities.length > SIZES.requires)
    return c.fail(`${field}.capabilities`, `must be a list of at most ${SIZES.requires} names`)
  for (const [i, each] of capabilities.entries()) c.name(`${field}.capabilities[${i}]`, each)
}

function recast(c: Checker, field: string, { redirect, labels, throttles }: RecastFields): void {
  c.optional(`${field}.redirect`, redirect, (f, y) =>
    c.object(f, y, ({ from, to, queue, type, rule }: RedirectFields) => {
      c.text(`${f}.from`, from, LENGTHS.key)
      c.listed(`${f}.to`, to)
      c.listed(`${f}.queue`, queue)
      c.listed(`${f}.type`, type)
      c.text(`${f}.rule`, rule, LENGTHS.id)
    }),
  )
  if (labels !== undefined) c.words(`${field}.labels`, labels, SIZES.labels)
  if (throttles === undefined) return
  if (!Array.isArray(throttles)) return c.fail(`${field}.throttles`, 'must be a list')
  for (const [i, each] of throttles.entries())
    c.object(`${field}.throttles[${i}]`, each, ({ key, rule }: { readonly key?: unknown; readonly rule?: unknown }) => {
      c.text(`${field}.throttles[${i}].key`, key, LENGTHS.key)
      c.text(`${field}.throttles[${i}].rule`, rule, LENGTHS.id)
    })
}

type RecastFields = Readonly<Partial<Record<'redirect' | 'labels' | 'throttles', unknown>>>
type RedirectFields = Readonly<Partial<Record<'from' | 'to' | 'queue' | 'type' | 'rule', unknown>>>

const CHECKS: Readonly<Record<Command['type'], Check>> = {
  enqueue,
  admit: (c, x) => {
    verdict(c, x)
    prose(c, x, 'reason')
    c.optional('terms', x['terms'], (f, y) => terms(c, f, y))
    c.optional('route', x['route'], (f, y) => route(c, f, y))
    c.optional('recast', x['recast'], (f, y) => c.object(f, y, (made) => recast(c, f, made)))
  },
  deny: (c, x) => {
    verdict(c, x)
    prose(c, x, 'reason')
  },
  askApproval: (c, x) => {
    verdict(c, x)
    prose(c, x, 'reason')
    c.textIfAny('notBy', x['notBy'], LENGTHS.id)
    c.whole('expiresMs', x['expiresMs'], 1, MAX_DURATION_MS)
  },
  approve: (c, x) => {
    c.text('policyHash', x['policyHash'], LENGTHS.id)
    c.text('jobHash', x['jobHash'], LENGTHS.id)
    prose(c, x, 'reason')
  },
  claim: (c, x) => {
    c.segment('workerId', x['workerId'], LENGTHS.worker)
    if (typeof x['nonce'] !== 'string' || !isNonce(x['nonce'])) c.fail('nonce', 'must be 16 hexadecimal digits')
  },
  start: fence,
  heartbeat: fence,
  progress: (c, x) => {
    fence(c, x)
    c.optional('progress', x['progress'], (f, y) => c.object(f, y, (p) => progress(c, p)))
    c.countersIfAny('counters', x['counters'])
  },
  checkpoint: (c, x) => {
    fence(c, x)
    c.body('body', x['body'])
  },
  record: (c, x) => {
    fence(c, x)
    c.optional('step', x['step'], (f, y) => c.object(f, y, (s) => step(c, s)))
    c.optional('undone', x['undone'], (f, y) => c.name(f, y))
    c.optional('artifact', x['artifact'], (f, y) => c.object(f, y, (a) => artifact(c, a)))
    c.optional('note', x['note'], (f, y) => c.object(f, y, (n) => note(c, n)))
    c.optional('spend', x['spend'], (f, y) => c.object(f, y, (s) => spend(c, s)))
    if (ABOUT.every((field) => x[field] === undefined)) {
      c.fail('step', 'a record is about a step, a step undone, an artifact, a plan, node or tool, or what was spent')
    }
  },
  complete: (c, x) => {
    outcome(c, x)
    c.bodyIfAny('result', x['result'])
    c.textIfAny('resultPtr', x['resultPtr'], LENGTHS.pointer)
    c.countersIfAny('stats', x['stats'])
    if (x['result'] !== undefined && x['resultPtr'] !== undefined)
      c.fail('resultPtr', 'a result is a body or a pointer, not both')
  },
  fail: (c, x) => {
    outcome(c, x)
    c.object('fault', x['fault'], (f) => fault(c, f))
    c.wholeIfAny('level', x['level'], 0, LEVEL_MAX)
  },
  wait: (c, x) => {
    fence(c, x)
    worked(c, x)
    c.name('name', x['name'])
    c.textIfAny('key', x['key'], LENGTHS.key)
    c.optional('timeoutMs', x['timeoutMs'], (f, y) => c.durationMs(f, y))
    c.optional('onTimeout', x['onTimeout'], (f, y) => c.oneOf(f, y, ['resume', 'timed_out']))
    c.textIfAny('memo', x['memo'], LENGTHS.key)
  },
  signal: (c, x) => {
    c.name('name', x['name'])
    c.textIfAny('key', x['key'], LENGTHS.key)
    c.bodyIfAny('body', x['body'])
  },
  release: (c, x) => {
    fence(c, x)
    worked(c, x)
    c.oneOf('reason', x['reason'], RELEASE_REASONS)
    time(c, x, 'runAt')
  },
  reschedule: (c, x) => {
    time(c, x, 'runAt')
    c.wholeIfAny('priority', x['priority'], COUNTS.priority.min, COUNTS.priority.max)
    if (x['runAt'] === undefined && x['priority'] === undefined)
      c.fail('runAt', 'a reschedule names a time or a priority')
  },
  replace: (c, x) => {
    c.bodyIfAny('input', x['input'])
    c.optional('flow', x['flow'], (f, y) => c.object(f, y, (names) => flow(c, names)))
    time(c, x, 'runAt')
    c.optional('debounce', x['debounce'], (f, y) =>
      c.object(f, y, (debounce) => {
        c.durationMs(`${f}.withinMs`, debounce['withinMs'])
        c.durationMs(`${f}.atMostMs`, debounce['atMostMs'])
      }),
    )
  },
  stall: fenceIfAny,
  requeue: nothing,
  cancel: (c, x) => {
    fenceIfAny(c, x)
    c.oneOf('mode', x['mode'], ['soft', 'hard'])
    c.optional('next', x['next'], (f, y) => c.oneOf(f, y, ['drop']))
    prose(c, x, 'reason')
  },
  expire: nothing,
  deadLetter: (c, x) => {
    fenceIfAny(c, x)
    c.oneOf('reason', x['reason'], DEAD_LETTER_REASONS)
    c.oneOf('stage', x['stage'], STAGES)
    prose(c, x, 'message')
  },
  compensated: (c, x) => {
    fence(c, x)
    worked(c, x)
  },
  reopen: (c, x) => {
    time(c, x, 'runAt')
    prose(c, x, 'reason')
  },
  strip: (c, x) => c.optional('evenOf', x['evenOf'], (f, y) => c.oneOf(f, y, TERMINAL_STATES)),
}

function enqueue(c: Checker, x: Fields): void {
  if (typeof x['id'] !== 'string' || !isId(x['id'])) c.fail('id', 'must be a job id')
  if (isObject(x['kind'])) kind(c, x['kind'])
  else c.fail('kind', 'must be an object')
  c.whole('priority', x['priority'], COUNTS.priority.min, COUNTS.priority.max)
  time(c, x, 'runAt')
  if (x['alias'] !== undefined) c.segment('alias', x['alias'], LENGTHS.id)
  if (typeof x['alias'] === 'string' && isReserved(x['alias'])) c.fail('alias', 'must not begin like an id of ours')
  c.bodyIfAny('input', x['input'])
  c.textIfAny('contextPtr', x['contextPtr'], LENGTHS.pointer)
  for (const field of NAMED_BY_KEYS) c.textIfAny(field, x[field], LENGTHS.key)
  if (x['env'] !== undefined) c.words('env', x['env'], SIZES.env)
  if (x['labels'] !== undefined) c.words('labels', x['labels'], SIZES.labels)
  for (const field of COUNTED) c.wholeIfAny(field, x[field], 0, Number.MAX_SAFE_INTEGER)
  if (x['flow'] !== undefined) c.object('flow', x['flow'], (f) => flow(c, f))
}

function flow(c: Checker, { keys, fair }: { readonly keys?: unknown; readonly fair?: unknown } & Fields): void {
  c.textIfAny('flow.fair', fair, LENGTHS.key)
  if (!Array.isArray(keys) || keys.length > SIZES.limits)
    return c.fail('flow.keys', `must be a list of at most ${SIZES.limits}`)
  for (const key of keys) c.text('flow.keys', key, LENGTHS.key)
  if (new Set(keys).size < keys.length) c.fail('flow.keys', 'must be different from each other')
  if (keys.length === 0 && fair === undefined) c.fail('flow', 'must name a key, or whose turn it takes')
}

const NAMED_BY_KEYS = ['topic', 'adapterId', 'workflowId', 'dedupeKey', 'parentId'] as const
const COUNTED = ['stepIndex', 'failures', 'stalls'] as const

/** What is wrong with the names by which jobs are let in, before any has them. */
export function flowViolations(names: unknown): readonly Violation[] {
  const c = new Checker()
  c.object('flow', names, (f) => flow(c, f))
  return c.found
}

/** What is wrong with the names of a kind, before any job has it. */
export function kindViolations(x: Fields): readonly Violation[] {
  const c = new Checker()
  kind(c, x)
  return c.found.map(({ field, rule }) => ({ field: field.replace('kind.', ''), rule }))
}

function kind(c: Checker, x: Fields): void {
  c.name('kind.tenant', x['tenant'])
  c.listed('kind.queue', x['queue'])
  c.listed('kind.type', x['type'])
  const { policy }: { readonly policy?: unknown } = x
  if (!isObject(policy)) c.fail('kind.policy', 'must be an object')
  else for (const { field, rule } of forbidden(x['policy'] as Policy)) c.fail(`kind.policy.${field}`, rule)
}

function verdict(c: Checker, x: Fields): void {
  c.text('rule', x['rule'], LENGTHS.id)
  c.text('policyHash', x['policyHash'], LENGTHS.id)
}

function outcome(c: Checker, x: Fields): void {
  fence(c, x)
  worked(c, x)
  time(c, x, 'startedAt')
}

function progress(c: Checker, x: Fields): void {
  c.finite('progress.done', x['done'])
  c.optional('progress.total', x['total'], (f, y) => c.finite(f, y))
  c.optional('progress.message', x['message'], (f, y) => c.prose(f, y, LENGTHS.entry))
  c.optional('progress.etaAt', x['etaAt'], (f, y) => c.time(f, y))
}

function step(c: Checker, x: Fields): void {
  c.name('step.name', x['name'])
  c.optional('step.body', x['body'], (f, y) => c.body(f, y))
  c.flag('step.compensate', x['compensate'])
}

const ABOUT = ['step', 'undone', 'artifact', 'note', 'spend'] as const

function note(c: Checker, x: Fields): void {
  c.oneOf('note.kind', x['kind'], NOTE_KINDS)
  c.name('note.name', x['name'])
}

function spend(c: Checker, x: Fields): void {
  c.finite('spend.amount', x['amount'])
  if (typeof x['amount'] === 'number' && !(x['amount'] >= LIMITS.amount.min && x['amount'] <= LIMITS.amount.max))
    c.fail('spend.amount', `must be ${LIMITS.amount.min} to ${LIMITS.amount.max}`)
  c.textIfAny('spend.key', x['key'], LENGTHS.key)
}

function artifact(c: Checker, x: Fields): void {
  c.name('artifact.name', x['name'])
  c.text('artifact.ptr', x['ptr'], LENGTHS.pointer)
}

function fault(c: Checker, x: Fields): void {
  c.name('fault.code', x['code'])
  c.prose('fault.message', x['message'], LENGTHS.message)
  c.optional('fault.class', x['class'], (f, y) => c.oneOf(f, y, ERROR_CLASSES))
  c.optional('fault.stage', x['stage'], (f, y) => c.oneOf(f, y, STAGES))
  c.optional('fault.context', x['context'], (f, y) => c.words(f, y, SIZES.context))
  c.optional('fault.retryAfterMs', x['retryAfterMs'], (f, y) => c.durationMs(f, y))
  c.textIfAny('fault.key', x['key'], LENGTHS.key)
  c.optional('fault.body', x['body'], (f, y) => {
    c.body(f, y)
    if (isObject(y)) c.whole(`${f}.size`, y['size'], 0, LENGTHS.description)
  })
}
