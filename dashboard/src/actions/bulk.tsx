/**
 * The same word for many jobs: counted first by the table, then asked, then said a few at a time with progress. What is refused is
 * listed with its reason; nothing is undone by stopping.
 */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { ask } from '../api/http.ts'
import { useMachine } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Job } from '../api/wire.ts'
import { Ask } from '../parts/ask.tsx'
import { Tip } from '../parts/tip.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { count, plural } from '../words/format.ts'
import { ACTIONS, type ActionSpec, forbiddenBy } from './actions.ts'

const AT_ONCE = 50

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
  const { data: machine } = useMachine()
  const session = useSession()
  const [asked, setAsked] = useState<ActionSpec>()
  if (machine === undefined || jobs.length === 0) return null
  return (
    <div className="floats sticky bottom-4 z-20 mx-auto flex flex-wrap items-center gap-3 px-4 py-2">
      <span>{count(jobs.length)} selected</span>
      {ACTIONS.filter(({ word }) => FOR_MANY.has(word)).map((spec) => {
        const reasons = jobs.map((job) => forbiddenBy(spec, job, machine, session))
        const why = reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined
        return why === undefined ? (
          <button key={spec.word} type="button" className="btn" onClick={() => setAsked(spec)}>
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
      {asked === undefined ? null : (
        <BulkAsk
          spec={asked}
          allowed={jobs.filter((job) => forbiddenBy(asked, job, machine, session) === undefined)}
          refused={jobs.filter((job) => forbiddenBy(asked, job, machine, session) !== undefined)}
          onClose={() => setAsked(undefined)}
          onDone={onClear}
        />
      )}
    </div>
  )
}

interface BulkAskProps {
  readonly spec: ActionSpec
  readonly allowed: readonly Job[]
  readonly refused: readonly Job[]
  readonly onClose: () => void
  readonly onDone: () => void
}

function BulkAsk({ spec, allowed, refused, onClose, onDone }: BulkAskProps): ReactNode {
  const client = useQueryClient()
  const say = useSay()
  const [done, setDone] = useState<number>()
  const [faults, setFaults] = useState<readonly Refused[]>([])
  const isStopped = useRef(false)
  const name = spec.text.replace('…', '')
  const run = async () => {
    setDone(0)
    try {
      await sayToAll(allowed, spec, (n, wrong) => {
        setDone(n)
        setFaults(wrong)
        return !isStopped.current
      })
      say(`${name}: said to ${plural(allowed.length, 'job')}.`)
      onDone()
      onClose()
    } catch (error) {
      say(refusal(error), true)
    }
    void client.invalidateQueries()
  }
  return (
    <Ask
      open
      title={`${name}: ${plural(allowed.length, 'job')}?`}
      onClose={() => {
        isStopped.current = true
        onClose()
      }}
      actions={
        done === undefined ? (
          <button type="button" className={spec.word === 'cancel' ? 'btn btn-danger' : 'btn btn-ink'} onClick={run}>
            {name} {plural(allowed.length, 'job')}
          </button>
        ) : null
      }
    >
      <p>
        {count(allowed.length)} may by the table.
        {refused.length === 0
          ? ''
          : ` ${count(refused.length)} may not: they are ${[...new Set(refused.map(({ state }) => state))].join(', ')}.`}
      </p>
      {done === undefined ? null : <Progress done={done} of={allowed.length} refused={faults} />}
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
