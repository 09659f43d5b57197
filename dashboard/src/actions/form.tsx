/** What an action is asked with, before it is done. */
import { type ReactNode, useState } from 'react'
import { DEAD_LETTER_REASONS, type Job } from '../api/wire.ts'
import { Ask } from '../parts/ask.tsx'
import { parsedFrom } from '../words/json.ts'
import type { Action } from './actions.ts'

export interface ActionFormProps {
  readonly action: Action
  readonly job: Job
  /** What was written before it was asked. */
  readonly reason?: string
  readonly onClose: () => void
  readonly onSay: (body: Readonly<Record<string, unknown>>) => void
}

export function ActionForm(props: ActionFormProps): ReactNode {
  switch (props.action.word) {
    case 'cancel':
      return <CancelForm {...props} />
    case 'signal':
      return <SignalForm {...props} />
    default:
      return <ReasonForm {...props} />
  }
}

function CancelForm({ job, reason: begun = '', onClose, onSay }: ActionFormProps): ReactNode {
  const [mode, setMode] = useState('soft')
  const [reason, setReason] = useState(begun)
  const choice = (value: string, title: string, text: string) => (
    <label className="flex cursor-pointer gap-2">
      <input type="radio" name="mode" className="mt-1" checked={mode === value} onChange={() => setMode(value)} />
      <span>
        <b className="font-medium text-text">{title}</b> {text}
      </span>
    </label>
  )
  return (
    <Ask
      open
      title={`Cancel ${job.type}?`}
      onClose={onClose}
      actions={
        <button type="button" className="btn btn-danger" onClick={() => onSay({ mode, ...reasonOf(reason) })}>
          Cancel the job
        </button>
      }
    >
      {choice('soft', 'Softly.', 'The handler is told and may clean up.')}
      {choice('hard', 'At once.', 'It ends now; the handler’s result will be thrown away.')}
      <ReasonField value={reason} onChange={setReason} />
    </Ask>
  )
}

function SignalForm({ job, onClose, onSay }: ActionFormProps): ReactNode {
  const [name, setName] = useState(job.wait?.name ?? '')
  const [payload, setPayload] = useState('')
  const parsed = parsedFrom(payload)
  return (
    <Ask
      open
      title={`Signal ${job.type}`}
      onClose={onClose}
      actions={
        <button
          type="button"
          className="btn btn-ink"
          disabled={name === '' || !parsed.ok}
          onClick={() =>
            onSay({
              name,
              ...(job.wait?.key === undefined ? {} : { key: job.wait.key }),
              ...(parsed.ok && payload.trim() !== '' ? { payload: parsed.value } : {}),
            })
          }
        >
          Send {name}
        </button>
      }
    >
      <p>
        {job.wait === undefined
          ? 'It does not wait now: the signal is kept until it does.'
          : `It waits for ${job.wait.name}.`}
      </p>
      <label className="flex flex-col gap-1">
        Name
        <input className="field mono" value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label className="flex flex-col gap-1">
        Payload, as JSON
        <textarea
          className="field mono h-20 py-1"
          value={payload}
          placeholder='{ "by": "ann" }'
          onChange={(event) => setPayload(event.target.value)}
        />
      </label>
      {parsed.ok ? null : <p className="text-bad">This is not JSON yet.</p>}
    </Ask>
  )
}

const MEANS: Readonly<Record<string, string>> = {
  deadletter: 'It ends now and is kept for somebody to look at. It can be reopened.',
  deny: 'It ends as denied, and never runs. There is no way back: enqueue it anew.',
}

function ReasonForm({ action, job, reason: begun = '', onClose, onSay }: ActionFormProps): ReactNode {
  const [reason, setReason] = useState(begun)
  const [kind, setKind] = useState<string>('policy_violation')
  const name = action.text.replace('…', '')
  const isLetter = action.word === 'deadletter'
  // A dead letter has one reason of a closed list, and prose beside it.
  const body = isLetter
    ? { reason: kind, ...(reason.trim() === '' ? {} : { message: reason.trim() }) }
    : reasonOf(reason)
  return (
    <Ask
      open
      title={`${name}: ${job.type}?`}
      onClose={onClose}
      actions={
        <button type="button" className="btn btn-danger" onClick={() => onSay(body)}>
          {name}
        </button>
      }
    >
      <p>{MEANS[action.word]}</p>
      {isLetter ? (
        <label className="flex flex-col gap-1">
          Reason
          <select className="field" value={kind} onChange={(event) => setKind(event.target.value)}>
            {DEAD_LETTER_REASONS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      ) : null}
      <ReasonField value={reason} onChange={setReason} />
    </Ask>
  )
}

const reasonOf = (reason: string) => (reason.trim() === '' ? {} : { reason: reason.trim() })

function ReasonField({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (value: string) => void
}): ReactNode {
  return (
    <label className="flex flex-col gap-1">
      Why, for the log
      <input className="field" value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  )
}
