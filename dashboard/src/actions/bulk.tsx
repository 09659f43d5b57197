/**
 * The same word for many jobs: counted first by the table, then asked, then said a few at a time with progress. What is refused is
 * listed with its reason; nothing is undone by stopping.
 */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { ask } from '../api/http.ts'
import { useRules } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Job } from '../api/wire.ts'
import { Ask } from '../parts/ask.tsx'
import { Tip } from '../parts/tip.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { count, plural } from '../words/format.ts'
import { ACTIONS, type ActionSpec, forbiddenBy } from './actions.ts'

const AT_ONCE = 50
const REASONS_SHOWN = 5

interface Refused {
  readonly id: string
  readonly why: string
}

interface Answers {
  readonly answers: readonly (
    | { readonly ok: true }
    | { readonly ok: false; readonly problem: { readonly detail: string } }
  )[]
}

/** Says a word about these jobs, a few at a time, until it is told to stop. */
async function sayToAll(
  jobs: readonly Job[],
  { word: command, bodyOf }: ActionSpec,
  told: (done: number, refused: readonly Refused[]) => boolean,
): Promise<void> {
  const refused: Refused[] = []
  for (let from = 0; from < jobs.length; from += AT_ONCE) {
    const some = jobs.slice(from, from + AT_ONCE)
    const transitions = some.map((job) => ({
      id: job.id,
      command,
      ...bodyOf?.(job),
      requestId: crypto.randomUUID(),
    }))
    const { answers } = await ask<Answers>('/v1/transitions:batch', { method: 'POST', body: { transitions } })
    for (const [n, answer] of answers.entries())
      if (!answer.ok) refused.push({ id: some[n]?.id ?? '', why: answer.problem.detail })
    if (!told(Math.min(jobs.length, from + AT_ONCE), refused)) return
  }
}

/** Of the words for one job, those that make sense for many. */
const FOR_MANY: ReadonlySet<string> = new Set(['cancel', 'reschedule', 'reopen'])

export interface BulkBarProps {
  readonly jobs: readonly Job[]
  readonly onClear: () => void
}

export function BulkBar({ jobs, onClear }: BulkBarProps): ReactNode {
  const rules = useRules(jobs)
  const session = useSession()
  const [asked, setAsked] = useState<Asked>()
  if (rules === undefined || (jobs.length === 0 && asked === undefined)) return null
  const ask = (spec: ActionSpec) => {
    const judged = jobs.map((job) => ({ job, why: forbiddenBy(spec, job, rules, session) }))
    const allowed = judged.filter(({ why }) => why === undefined).map(({ job }) => job)
    setAsked({ spec, allowed, reasons: judged.flatMap(({ why }) => why ?? []) })
  }
  return (
    <div className="floats sticky bottom-4 z-20 mx-auto flex flex-wrap items-center gap-3 px-4 py-2">
      <span>{count(jobs.length)} selected</span>
      {ACTIONS.filter(({ word }) => FOR_MANY.has(word)).map((spec) => {
        const reasons = jobs.map((job) => forbiddenBy(spec, job, rules, session))
        const why = reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined
        return why === undefined ? (
          <button key={spec.word} type="button" className="btn" onClick={() => ask(spec)}>
            {spec.text}
          </button>
        ) : (
          <Tip key={spec.word} text={why}>
            <button type="button" className="btn" aria-disabled="true">
              {spec.text.replace('…', '')}
            </button>
          </Tip>
        )
      })}
      <button type="button" className="btn btn-ghost" onClick={onClear}>
        Clear
      </button>
      {asked === undefined ? null : <BulkAsk {...asked} onClose={() => setAsked(undefined)} onDone={onClear} />}
    </div>
  )
}

/** As they were when it was asked: what becomes of them meanwhile must not change what somebody agrees to. */
interface Asked {
  readonly spec: ActionSpec
  readonly allowed: readonly Job[]
  /** Of each of the others, why not. */
  readonly reasons: readonly string[]
}

interface BulkAskProps extends Asked {
  readonly onClose: () => void
  readonly onDone: () => void
}

function BulkAsk({ spec, allowed, reasons, onClose, onDone }: BulkAskProps): ReactNode {
  const client = useQueryClient()
  const say = useSay()
  const [done, setDone] = useState(0)
  const [isRunning, setRunning] = useState(false)
  const [faults, setFaults] = useState<readonly Refused[]>([])
  const isStopped = useRef(false)
  const name = spec.text.replace('…', '')
  const left = allowed.length - done
  const run = async () => {
    setRunning(true)
    // What was said stays said: who goes on after a break goes on behind it.
    const [before, all] = [done, [...faults]]
    let wrong: readonly Refused[] = []
    try {
      await sayToAll(allowed.slice(before), spec, (n, refusedNow) => {
        wrong = refusedNow
        setDone(before + n)
        setFaults([...all, ...wrong])
        return !isStopped.current
      })
      if (isStopped.current) return
      say(`${name}: said to ${plural(allowed.length, 'job')}, ${count(all.length + wrong.length)} refused.`)
      if (all.length + wrong.length > 0) return
      onDone()
      onClose()
    } catch (error) {
      say(refusal(error), true)
    } finally {
      setRunning(false)
      void client.invalidateQueries()
    }
  }
  return (
    <Ask
      open
      title={`${name}: ${plural(allowed.length, 'job')}?`}
      close={isRunning ? 'Stop' : left === 0 ? 'Close' : 'Keep as it is'}
      onClose={() => {
        isStopped.current = true
        if (left === 0) onDone()
        onClose()
      }}
      actions={
        isRunning || left === 0 ? null : (
          <button type="button" className={spec.word === 'cancel' ? 'btn btn-danger' : 'btn btn-ink'} onClick={run}>
            {done === 0 ? `${name} ${plural(left, 'job')}` : `Go on with ${plural(left, 'job')}`}
          </button>
        )
      }
    >
      <p>{count(allowed.length)} may.</p>
      {[...Map.groupBy(reasons, (why) => why)].slice(0, REASONS_SHOWN).map(([why, { length }]) => (
        <p key={why} className="text-sm text-text-2">
          {count(length)} {length === 1 ? 'is' : 'are'} left out: {why}
        </p>
      ))}
      {done === 0 && !isRunning ? null : <Progress done={done} of={allowed.length} refused={faults} />}
    </Ask>
  )
}

function Progress({
  done,
  of,
  refused,
}: {
  readonly done: number
  readonly of: number
  readonly refused: readonly Refused[]
}): ReactNode {
  return (
    <div aria-live="polite" className="flex flex-col gap-1">
      <progress className="h-1.5 w-full accent-[var(--work)]" value={done} max={of} aria-label="How far it is" />
      <p className="text-sm">
        {count(done)} of {count(of)} said, {count(refused.length)} refused
      </p>
      {refused.slice(0, 3).map(({ id, why }) => (
        <p key={id} className="text-sm text-bad">
          <span className="mono">{id}</span> {why}
        </p>
      ))}
    </div>
  )
}
