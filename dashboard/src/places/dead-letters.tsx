/** What was put aside, by what it has in common; and the way back: counted, a few first, then the rest. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { Progress, type Refused, sayToAll } from '../actions/bulk.tsx'
import { ask, segment } from '../api/http.ts'
import { useCauses, useTally, useTraffic } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { CauseAnswer, Job, TrafficAnswer } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { Tip } from '../parts/tip.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { count, inWords, plural, relative } from '../words/format.ts'
import { useNow } from '../words/now.ts'

export function DeadLettersPlace(): ReactNode {
  const { data, error } = useCauses()
  const { data: tally } = useTally()
  const { data: traffic } = useTraffic('24h')
  const [params, setParams] = useSearchParams()
  const causes = data?.causes ?? []
  const chosen = causes.find(({ fingerprint }) => fingerprint === params.get('group')) ?? causes[0]
  const all = (tally?.counts ?? [])
    .filter(({ state }) => state === 'dead_lettered')
    .reduce((sum, each) => sum + each.count, 0)
  return (
    <div className="flex flex-col gap-4 p-4 phone:px-6 phone:py-5 wide:px-8">
      <Title text="Dead letters" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : causes.length === 0 ? (
        <Card>
          <Empty title="No dead letters" icon={<StateIcon state="succeeded" />}>
            Nothing is waiting for somebody to look at it.
          </Empty>
        </Card>
      ) : (
        <>
          <div>
            <p className="text-lg font-semibold tracking-[-0.015em]">
              {plural(Math.max(all, data.read), 'dead letter')}, {inWords(causes.length).toLowerCase()}{' '}
              {causes.length === 1 ? 'cause' : 'causes'}
            </p>
            <p className="text-text-2">
              {chosen === undefined ? '' : <Hope cause={chosen} traffic={traffic} />}
              {data.cursor === undefined ? '' : ` The newest ${count(data.read)} were read.`}
            </p>
          </div>
          <div className="grid items-start gap-4 desk:grid-cols-[minmax(0,1fr)_400px] wide:grid-cols-[minmax(0,1fr)_560px]">
            <CauseTable causes={causes} chosen={chosen} onChoose={(group) => setParams({ group })} />
            {chosen === undefined ? null : <CausePanel key={chosen.fingerprint} cause={chosen} />}
          </div>
        </>
      )}
    </div>
  )
}

/** Whether other jobs of these types succeed again. */
function Hope({
  cause,
  traffic,
}: {
  readonly cause: CauseAnswer
  readonly traffic: TrafficAnswer | undefined
}): ReactNode {
  const now = useNow()
  const share = `${count(cause.count)} share the cause ${cause.code}.`
  const since = traffic?.lastSuccess.find(
    ({ type, at }) => cause.types.includes(type) && Date.parse(at) > Date.parse(cause.lastAt),
  )
  if (since === undefined)
    return `${share} No job of these types has succeeded since the last of them, as far as was counted.`
  return `${share} ${since.type} has succeeded since, ${relative(Date.parse(since.at), now)}: a good moment to redrive.`
}

interface CauseTableProps {
  readonly causes: readonly CauseAnswer[]
  readonly chosen: CauseAnswer | undefined
  readonly onChoose: (fingerprint: string) => void
}

function CauseTable({ causes, chosen, onChoose }: CauseTableProps): ReactNode {
  return (
    <Card>
      <table className="rows">
        <thead>
          <tr>
            <th className="num">Jobs</th>
            <th>Cause</th>
            <th className="hidden phone:table-cell">Types</th>
            <th className="num hidden phone:table-cell">First</th>
            <th className="num">Last</th>
          </tr>
        </thead>
        <tbody>
          {causes.map((cause) => (
            <tr
              key={cause.fingerprint}
              className={cause === chosen ? 'bg-hover shadow-[inset_2px_0_var(--focus)]' : 'hover:bg-hover'}
            >
              <td className="num text-md font-semibold">{count(cause.count)}</td>
              <td className="w-full max-w-0 py-2">
                <button
                  type="button"
                  className="block w-full text-left"
                  aria-pressed={cause === chosen}
                  onClick={() => onChoose(cause.fingerprint)}
                >
                  <span className="mono font-medium">{cause.code}</span>{' '}
                  {cause.reason === undefined ? null : (
                    <span className="rounded-sm bg-sunken px-1.5 text-sm text-text-2">{cause.reason}</span>
                  )}
                  <span className="mono block truncate text-text-2">{cause.message}</span>
                </button>
              </td>
              <td className="hidden max-w-56 truncate whitespace-nowrap text-text-2 phone:table-cell">
                {cause.types.join(', ')}
              </td>
              <td className="num hidden whitespace-nowrap text-text-2 phone:table-cell">
                <Moment at={cause.firstAt} as="ago" />
              </td>
              <td className="num whitespace-nowrap text-text-2">
                <Moment at={cause.lastAt} as="ago" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="border-t border-line px-4 py-2 text-sm text-text-3">
        {'<n>, <id>, <url> and the like stand for what differs from job to job.'} Jobs that differ only there share a
        cause.
      </p>
    </Card>
  )
}

function CausePanel({ cause }: { readonly cause: CauseAnswer }): ReactNode {
  const [sample] = cause.samples
  return (
    <div className="flex flex-col gap-4">
      <Card
        title={<span className="mono">{cause.code}</span>}
        note={plural(cause.count, 'job')}
        right={
          <Link className="link" href={`/jobs?q=${encodeURIComponent(`state:dead_lettered code:${cause.code}`)}`}>
            Open as list
          </Link>
        }
      >
        {sample === undefined ? null : (
          <p className="mono mx-4 mb-3 rounded-md bg-sunken p-2 break-words">{sample.message}</p>
        )}
        {cause.samples.map(({ id, type, failures, endedAt }) => (
          <Link
            key={id}
            href={`/jobs/${encodeURIComponent(id)}`}
            className="grid h-9 grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto_56px] items-center gap-2 border-t border-line px-4 hover:bg-hover"
          >
            <span className="truncate font-medium">{type}</span>
            <span className="mono truncate text-text-3">{id}</span>
            <span className="text-text-2">{plural(failures, 'failure')}</span>
            <span className="text-right text-sm text-text-3">
              <Moment at={endedAt} as="ago" />
            </span>
          </Link>
        ))}
        {cause.count > cause.samples.length ? (
          <p className="border-t border-line px-4 py-2 text-sm text-text-3">
            and {count(cause.count - cause.samples.length)} more
          </p>
        ) : null}
      </Card>
      <Redrive cause={cause} />
    </div>
  )
}

type Stage =
  | { readonly is: 'asked' }
  | { readonly is: 'canary'; readonly ids: readonly string[] }
  | { readonly is: 'saying'; readonly done: number; readonly of: number; readonly refused: readonly Refused[] }
  | { readonly is: 'over'; readonly text: string; readonly refused: readonly Refused[] }

/** A few first, and the rest if all of them succeed. */
function Redrive({ cause }: { readonly cause: CauseAnswer }): ReactNode {
  const session = useSession()
  const client = useQueryClient()
  const say = useSay()
  const [canary, setCanary] = useState(Math.min(3, cause.count))
  const [stage, setStage] = useState<Stage>({ is: 'asked' })
  const isAllowed = session.can('reopenJob') && session.can('settle')
  // A cause whose last job is reopened is gone from the list, and this panel with it: what came of it is said besides.
  const over = (text: string, refused: readonly Refused[]) => {
    say(text, refused.length > 0)
    setStage({ is: 'over', text, refused })
  }
  const run = async () => {
    try {
      const first = cause.ids.slice(0, canary)
      const rest = cause.ids.slice(canary)
      const refused: Refused[] = []
      if (first.length > 0) {
        await sayToAll(first, 'reopen', REASON, (_, wrong) => {
          refused.splice(0, refused.length, ...wrong)
          return true
        })
        const reopened = first.filter((id) => !refused.some((each) => each.id === id))
        setStage({ is: 'canary', ids: reopened })
        const failed = await firstThatFailed(reopened)
        if (failed !== undefined) {
          over(`${failed.id} is ${failed.state} again. ${plural(rest.length, 'other job')} left as they are.`, refused)
          return
        }
      }
      let faults: readonly Refused[] = refused
      await sayToAll(rest, 'reopen', REASON, (done, wrong) => {
        faults = [...refused, ...wrong]
        setStage({ is: 'saying', done, of: rest.length, refused: faults })
        return true
      })
      over(`${plural(cause.ids.length - faults.length, 'job')} reopened, with fresh budgets.`, faults)
    } catch (error) {
      setStage({ is: 'asked' })
      say(refusal(error), true)
    }
    void client.invalidateQueries({ queryKey: ['causes'] })
  }
  return (
    <Card title="Redrive">
      <div className="flex flex-col gap-3 px-4 pb-4" aria-live="polite">
        {stage.is === 'asked' ? (
          <>
            <p>
              <b className="font-medium">{plural(cause.count, 'job')} would be reopened</b>, with fresh budgets and the
              input they had. One whose dedupe key a younger job holds is refused and stays.
            </p>
            <label className="flex items-center gap-2">
              Try
              <input
                type="number"
                min={0}
                max={cause.count}
                className="field w-16"
                value={canary}
                onChange={(event) => setCanary(Math.max(0, Math.min(cause.count, Number(event.target.value))))}
              />
              first, then the rest if all succeed
            </label>
            {isAllowed ? (
              <button type="button" className="btn btn-ink self-end" onClick={run}>
                Redrive {plural(cause.count, 'job')}
              </button>
            ) : (
              <Tip text={`Your token is of scope ${session.scope}, which may not reopen jobs.`}>
                <button type="button" className="btn self-end" aria-disabled="true">
                  Redrive {plural(cause.count, 'job')}
                </button>
              </Tip>
            )}
          </>
        ) : null}
        {stage.is === 'canary' ? (
          <p>{plural(stage.ids.length, 'job')} reopened first; waiting until they end.</p>
        ) : null}
        {stage.is === 'saying' ? <Progress done={stage.done} of={stage.of} refused={stage.refused} /> : null}
        {stage.is === 'over' ? (
          <>
            <p className="font-medium">{stage.text}</p>
            {stage.refused.slice(0, 5).map(({ id, why }) => (
              <p key={id} className="text-sm text-bad">
                <span className="mono">{id}</span> {why}
              </p>
            ))}
          </>
        ) : null}
      </div>
    </Card>
  )
}

const REASON = { reason: 'redriven from the dashboard' }
const LOOK_EVERY_MS = 1_000

/** Waits until all have ended; the first that did not succeed ends the waiting. */
async function firstThatFailed(ids: readonly string[]): Promise<Job | undefined> {
  const left = new Set(ids)
  while (left.size > 0) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    for (const id of [...left]) {
      const job = await ask<Job>(`/v1/jobs/${segment(id)}?bodies=`)
      if (job.endedAt === undefined) continue
      if (job.state !== 'succeeded') return job
      left.delete(id)
    }
  }
  return undefined
}
