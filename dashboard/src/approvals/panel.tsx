/** One job that waits to be let in: what it would do, who asks, by which rule; and the answer, with why. */
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { ACTIONS, type ActionSpec, forbiddenBy, isAskedAbout } from '../actions/actions.ts'
import { ActionForm } from '../actions/form.tsx'
import { Meanwhile } from '../actions/meanwhile.tsx'
import { type Refused, useAct } from '../actions/use-act.ts'
import { useEnqueuedBy } from '../api/approvals.ts'
import { useJob } from '../api/job.ts'
import { type Rules, useRules } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Job } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { Body } from '../parts/body.tsx'
import { Card } from '../parts/card.tsx'
import { FactList } from '../parts/fact-list.tsx'
import { Icon } from '../parts/icon.tsx'
import { Moment } from '../parts/moment.tsx'
import { StatePill } from '../parts/state-word.tsx'
import { Tip } from '../parts/tip.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'

export function ApprovalPanel({ id }: { readonly id: string }): ReactNode {
  const { data: job, error } = useJob(id)
  const rules = useRules(job === undefined ? [] : [job])
  if (error !== null) return <Trouble error={error} />
  if (job === undefined || rules === undefined) return <Loading />
  const isOpen = rules.machine.commands['approve']?.[job.state] !== undefined
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Card title={<span className="break-all">{job.type}</span>} note={<StatePill job={job} />}>
        <div className="flex flex-col gap-3 px-4 pb-4">
          <Sentence job={job} isOpen={isOpen} />
          <Input job={job} />
          <Facts job={job} />
          {isOpen ? <Answer key={job.id} job={job} rules={rules} /> : null}
          <Link className="link self-start text-sm" href={`/jobs/${encodeURIComponent(job.id)}`}>
            Open the job
          </Link>
        </div>
      </Card>
      {isOpen && job.approval !== undefined ? (
        <p className="px-4 text-sm text-text-3">
          An approval holds for this job and this policy. If either changes before it runs, it is void and the job is
          judged again.
        </p>
      ) : null}
    </div>
  )
}

function Sentence({ job, isOpen }: { readonly job: Job; readonly isOpen: boolean }): ReactNode {
  const { approval } = job
  if (!isOpen) return <p>It is decided: nobody needs to do anything here.</p>
  if (approval === undefined) return <p>It waits for a policy, or for somebody who lets it in by hand.</p>
  if (approval.given !== undefined)
    return (
      <p>
        Approved by {approval.given.by} <Moment at={approval.given.at} />
        {approval.given.reason === undefined ? '' : `: ${approval.given.reason}`}. The policy lets it in, if it still
        says so.
      </p>
    )
  return (
    <p>
      Rule <span className="mono">{approval.rule}</span> asks a person
      {approval.reason === undefined ? '.' : `: ${approval.reason}`}
    </p>
  )
}

function Input({ job }: { readonly job: Job }): ReactNode {
  if (job.masked === true) return <p className="text-sm text-text-3">What it would do is not shown to viewers.</p>
  return job.input === undefined ? (
    <p className="text-sm text-text-3">It has no input.</p>
  ) : (
    <Body value={job.input} label="input" />
  )
}

const HASH_SHOWN = 12

function Facts({ job }: { readonly job: Job }): ReactNode {
  const { data: by } = useEnqueuedBy(job.id)
  const { approval } = job
  const hash = (text: string) => (
    <span className="mono" title={text}>
      {text.slice(0, HASH_SHOWN)}
    </span>
  )
  return (
    <FactList
      facts={[
        [
          'Asked by',
          <span key="by">
            {by ?? 'nobody knows'}, <Moment at={job.createdAt} />
          </span>,
        ],
        ['Queue', job.queue],
        ...Object.entries(job.labels ?? {}).map(([name, value]) => [`label ${name}`, value] as const),
        ['Job hash', approval && hash(approval.jobHash)],
        ['Policy', approval && hash(approval.policyHash)],
        [
          'Needs',
          approval && (approval.notBy === undefined ? 'one person' : `one person, other than ${approval.notBy}`),
        ],
        [
          'Expires',
          approval && approval.given === undefined && (
            <span key="expires">
              <Moment at={approval.expiresAt} />, then it is denied
            </span>
          ),
        ],
      ]}
    />
  )
}

const named = (command: string): ActionSpec => {
  const found = ACTIONS.find((spec) => spec.command === command)
  if (found === undefined) throw new Error(`There is no action ${command}.`)
  return found
}

const [APPROVE, ADMIT, DENY, CANCEL] = [named('approve'), named('admit'), named('deny'), named('cancel')]

/** What a person may say here: that it may, that it may not, or that it was not meant. */
function Answer({ job, rules }: { readonly job: Job; readonly rules: Rules }): ReactNode {
  const session = useSession()
  const [refused, setRefused] = useState<Refused>()
  const act = useAct(job, setRefused)
  const [why, setWhy] = useState('')
  const [asked, setAsked] = useState<ActionSpec>()
  const yes = isAskedAbout(job) ? APPROVE : ADMIT
  const forbidden = (spec: ActionSpec) => forbiddenBy(spec, job, rules, session)
  const reason = why.trim() === '' ? {} : { reason: why.trim() }
  const agree = () => act.mutate({ word: yes.word, body: { ...yes.bodyOf?.(job), ...(yes === APPROVE ? reason : {}) } })
  const no = forbidden(yes)
  useKeys({
    ...(asked === undefined && no === undefined ? { a: agree } : {}),
    ...(asked === undefined && forbidden(DENY) === undefined ? { d: () => setAsked(DENY) } : {}),
  })
  // An approval that was given needs nobody any more, but for who would take it back.
  const isGiven = job.approval?.given !== undefined
  return (
    <div className="flex flex-col gap-3">
      {refused === undefined ? null : <Meanwhile refused={refused} onClose={() => setRefused(undefined)} />}
      {isGiven || yes === ADMIT ? null : (
        <textarea
          className="field h-16 py-1"
          aria-label="Why"
          placeholder="Why? It is kept in the job’s events."
          maxLength={2_000}
          value={why}
          onChange={(event) => setWhy(event.target.value)}
        />
      )}
      {no === undefined || isGiven ? null : (
        <p className="flex gap-2 rounded-md bg-sunken p-2 text-sm text-text-2">
          <Icon name="lock" />
          <span>{no}</span>
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {isGiven ? null : no === undefined ? (
          <button type="button" className="btn btn-ink" disabled={act.isPending} onClick={agree}>
            {yes.text} <kbd className="hidden phone:inline">a</kbd>
          </button>
        ) : (
          <Tip text={no}>
            <button type="button" className="btn" aria-disabled="true">
              {yes.text}
            </button>
          </Tip>
        )}
        {[DENY, CANCEL].map((spec) => {
          const reasonNot = forbidden(spec)
          return reasonNot === undefined ? (
            <button
              key={spec.word}
              type="button"
              className={spec === DENY ? 'btn border-bad text-bad' : 'btn'}
              disabled={act.isPending}
              onClick={() => setAsked(spec)}
            >
              {spec === DENY ? (
                <>
                  Deny… <kbd className="hidden phone:inline">d</kbd>
                </>
              ) : (
                'Withdraw…'
              )}
            </button>
          ) : (
            <Tip key={spec.word} text={reasonNot}>
              <button type="button" className="btn" aria-disabled="true">
                {spec === DENY ? 'Deny' : 'Withdraw'}
              </button>
            </Tip>
          )
        })}
      </div>
      {asked === undefined ? null : (
        <ActionForm
          action={{ ...asked, forbidden: undefined }}
          job={job}
          reason={why}
          onClose={() => setAsked(undefined)}
          onSay={(body) => {
            setAsked(undefined)
            act.mutate({ word: asked.word, body })
          }}
        />
      )}
    </div>
  )
}
