/**
 * `pawl machine --walk`: one job through its life with the shipped `decide` and `evolve`. The times are made up, so
 * that two days pass in no time; everything else is what any worker and any store would see.
 */
import type { Command, Unstamped } from '../core/command.ts'
import { type Decision, decide, decideTick } from '../core/decide.ts'
import type { Event } from '../core/event.ts'
import { derive } from '../core/evolve.ts'
import { idText } from '../core/id.ts'
import type { Job, Kind, Time } from '../core/job.ts'
import { resolvePolicy } from '../core/resolve.ts'
import type { Terminal } from './terminal.ts'

/** A job, its log and a clock that moves when told. */
class Walk {
  readonly events: Event[] = []
  #job: Job | undefined
  #now: Time = Date.UTC(2030, 0, 7, 9, 0, 0)
  #requests = 0
  readonly terminal: Terminal

  constructor(terminal: Terminal) {
    this.terminal = terminal
  }

  get job(): Job {
    if (this.#job === undefined) throw new Error('nothing was enqueued')
    return this.#job
  }

  get now(): Time {
    return this.#now
  }

  pass(ms: number, story: string): void {
    this.#now += ms
    this.terminal.say(`${this.terminal.paint.dim(`          … ${story}`)}`)
  }

  ask(actor: string, words: Unstamped<Command>): void {
    this.#requests += 1
    const command = { ...words, actor, requestId: `request-${this.#requests}` } as Command
    this.#print(actor, command.type, decide(this.#job, command, this.#now))
  }

  tick(): void {
    this.#requests += 1
    const decision = decideTick(this.job, this.#now, { actor: 'system', requestId: `tick-${this.#requests}` })
    if (decision === undefined) throw new Error('nothing was due')
    this.#print('system', 'tick', decision)
  }

  #print(actor: string, command: string, decision: Decision): void {
    const { terminal } = this
    const { paint } = terminal
    const say = (line: string) => terminal.say(line)
    const head = `${clock(this.#now)}  ${actor.padEnd(12)} ${command.padEnd(10)}`
    if (decision.kind === 'refused') {
      say(`${head} ${paint.red(`refused ${decision.refusal.code}`)}: ${decision.refusal.message}`)
      say(`${' '.repeat(34)}${paint.dim(`→ ${decision.refusal.next}`)}`)
      return
    }
    if (decision.kind === 'replayed') {
      say(`${head} ${paint.dim(`replayed: rev ${decision.receipt.rev}, ${decision.receipt.state}`)}`)
      return
    }
    this.#job = decision.job
    for (const event of decision.events) {
      this.events.push(event)
      const change =
        event.to === undefined ? paint.dim('no state change') : `${event.from ?? '–'} → ${paint.bold(event.to)}`
      say(`${head} ${event.type.padEnd(16)} ${change}${paint.dim(`  attempt ${event.attempt}, rev ${event.rev}`)}`)
    }
  }
}

const DAY_MS = 86_400_000

export function walkThrough(terminal: Terminal): void {
  terminal.say(terminal.paint.bold('One job'))
  const walk = new Walk(terminal)
  const fence = () => walk.job.lease?.fence ?? ''
  walk.ask('producer', { type: 'enqueue', id: idText(7919), kind: kind(), priority: 5 })
  walk.pass(40, 'a worker asks for work')
  walk.ask('worker:one', { type: 'claim', workerId: 'one', nonce: '00d1ce5eed5eed01' })
  const lost = fence()
  walk.ask('worker:one', { type: 'start', fence: lost })
  walk.pass(10_000, 'ten seconds later')
  walk.ask('worker:one', { type: 'heartbeat', fence: lost })
  walk.pass(61_000, 'the worker freezes for a minute; its lease runs out')
  walk.tick()
  walk.pass(20, 'another one takes over')
  walk.ask('worker:two', { type: 'claim', workerId: 'two', nonce: '00d1ce5eed5eed02' })
  walk.ask('worker:two', { type: 'start', fence: fence() })
  walk.pass(500, 'the first one thaws and believes that it still owns the job')
  walk.ask('worker:one', { type: 'complete', fence: lost, resultPtr: 's3://late' })
  walk.pass(500, 'the page does not answer')
  walk.ask('worker:two', {
    type: 'fail',
    fence: fence(),
    fault: { code: 'E_5XX_ORIGIN', message: '503 from the origin' },
  })
  walk.pass((walk.job.readyAt ?? walk.now) - walk.now, 'the retry is due')
  walk.ask('worker:two', { type: 'claim', workerId: 'two', nonce: '00d1ce5eed5eed03' })
  walk.ask('worker:two', { type: 'start', fence: fence() })
  walk.pass(800, 'fetched; a person has to approve')
  walk.ask('worker:two', { type: 'wait', fence: fence(), name: 'approved', timeoutMs: 2 * DAY_MS })
  walk.pass(DAY_MS, 'a day later')
  walk.ask('person:ann', { type: 'signal', name: 'approved' })
  walk.ask('worker:one', { type: 'claim', workerId: 'one', nonce: '00d1ce5eed5eed04' })
  const last = fence()
  walk.pass(30, 'done; so short that started and succeeded are one commit')
  walk.ask('worker:one', { type: 'complete', fence: last, resultPtr: 's3://pages/7919' })
  walk.pass(5, 'the answer was lost on the way; the worker asks again')
  walk.ask('worker:one', { type: 'complete', fence: last, resultPtr: 's3://pages/7919' })
  conclude(walk)
}

function kind(): Kind {
  const resolved = resolvePolicy({ lease: '60s', heartbeat: '15s', retry: { attempts: 7, base: '2s', jitter: 'none' } })
  if (!resolved.ok) throw new Error('the policy of the example is wrong')
  return { tenant: 'default', queue: 'crawl', type: 'crawl.page', policy: resolved.policy }
}

function conclude({ job, events, terminal }: Walk): void {
  const { paint } = terminal
  const folded = JSON.stringify(derive(events)) === JSON.stringify(job)
  if (!folded) throw new Error('the record is not the fold of its events')
  terminal.say()
  terminal.say(
    `${paint.green(job.state)} after ${job.attempt} runs, ${job.failures} failure, ${job.stalls} lost lease.`,
  )
  terminal.say(`${events.length} events, and folding them again gives exactly this record.`)
  terminal.say(paint.dim('docs/state-machine.md has the whole table, docs/errors.md every refusal.'))
}

function clock(now: Time): string {
  return new Date(now).toISOString().slice(11, 19)
}
