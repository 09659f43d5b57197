/** What runs by the clock: when next, whether it is held, and its job now and besides. */
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { type Schedule, useNextTimes, useSchedule, useSchedules } from '../api/schedules.ts'
import { Title } from '../frame/title.tsx'
import { quoted } from '../jobs/query.ts'
import { Beside } from '../parts/beside.tsx'
import { Body } from '../parts/body.tsx'
import { Card } from '../parts/card.tsx'
import { FactList } from '../parts/fact-list.tsx'
import { Icon } from '../parts/icon.tsx'
import { Moment } from '../parts/moment.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { ScheduleButtons } from '../schedules/buttons.tsx'
import { absolute, count, inWords, plural, span } from '../words/format.ts'

export function SchedulesPlace({ name }: { readonly name?: string | undefined }): ReactNode {
  const { data, error } = useSchedules()
  const [, go] = useLocation()
  return (
    <div className="page">
      <Title text="Schedules" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        <Loading />
      ) : data.schedules.length === 0 ? (
        <Empty title="Nothing runs by the clock yet">
          In code: <code className="mono">{"pawl.schedule('nightly', { cron: '0 3 * * *' }, report)"}</code>; by hand:{' '}
          <code className="mono">pawl schedules add</code>
        </Empty>
      ) : (
        <>
          <Verdict schedules={data.schedules} isCut={data.cursor !== undefined} />
          <Beside
            label={`Schedule ${name}`}
            list={<Table schedules={data.schedules} chosen={name} />}
            panel={name === undefined ? undefined : <Panel name={name} />}
            onClose={() => go('/schedules')}
          />
        </>
      )}
    </div>
  )
}

function Verdict({
  schedules,
  isCut,
}: {
  readonly schedules: readonly Schedule[]
  readonly isCut: boolean
}): ReactNode {
  const paused = schedules.filter((schedule) => schedule.paused).length
  const missed = schedules.filter((schedule) => schedule.missed > 0).length
  return (
    <div>
      <p className="text-lg font-semibold tracking-[-0.015em]">
        {inWords(schedules.length)}
        {isCut ? ' or more' : ''} {schedules.length === 1 ? 'schedule' : 'schedules'},{' '}
        {paused === 0 ? 'none paused' : `${count(paused)} paused`}
      </p>
      <p className="text-text-2">
        {missed === 0
          ? 'None has missed a time.'
          : `${inWords(missed)} ${missed === 1 ? 'has' : 'have'} missed times: while paused, or while nobody was there.`}
        {isCut ? ' Only the first by name are shown.' : ''}
      </p>
    </div>
  )
}

interface TableProps {
  readonly schedules: readonly Schedule[]
  readonly chosen: string | undefined
}

function Table({ schedules, chosen }: TableProps): ReactNode {
  return (
    <Card>
      <Scroll label="Schedules">
        <table className="rows">
          <thead>
            <tr>
              <th>Schedule</th>
              <th>When</th>
              <th className="hidden @min-[480px]:table-cell">Job</th>
              <th className="num">Next</th>
              <th className="num hidden @min-[760px]:table-cell">Last</th>
              <th className="num hidden @min-[480px]:table-cell">Missed</th>
              <th aria-label="Actions" className="hidden @min-[600px]:table-cell" />
            </tr>
          </thead>
          <VirtualRows items={schedules} keyOf={({ name }) => name}>
            {(schedule) => (
              <tr className={schedule.name === chosen ? 'bg-hover' : ''}>
                <td>
                  <Link
                    className="font-medium hover:underline"
                    href={`/schedules/${encodeURIComponent(schedule.name)}`}
                  >
                    {schedule.name}
                  </Link>
                </td>
                <td className="text-text-2">
                  <When schedule={schedule} />
                </td>
                <td className="hidden @min-[480px]:table-cell">{schedule.type}</td>
                <td className="num whitespace-nowrap text-text-2">
                  <Next schedule={schedule} />
                </td>
                <td className="num hidden whitespace-nowrap text-text-2 @min-[760px]:table-cell">
                  {schedule.last === undefined ? 'never' : <Moment at={schedule.last} />}
                </td>
                <td className={`num hidden @min-[480px]:table-cell ${schedule.missed > 0 ? '' : 'text-text-3'}`}>
                  {count(schedule.missed)}
                </td>
                <td className="num hidden @min-[600px]:table-cell">
                  <ScheduleButtons schedule={schedule} />
                </td>
              </tr>
            )}
          </VirtualRows>
        </table>
      </Scroll>
    </Card>
  )
}

function When({ schedule: { cron, timeZone, everyMs } }: { readonly schedule: Schedule }): ReactNode {
  if (cron === undefined) return `every ${span(everyMs ?? 0)}`
  return (
    <>
      <span className="mono">{cron}</span> <span className="text-text-3">{timeZone}</span>
    </>
  )
}

function Next({ schedule: { paused, next } }: { readonly schedule: Schedule }): ReactNode {
  if (paused) return <b className="font-medium text-text">paused</b>
  return next === undefined ? 'no more' : <Moment at={next} />
}

function Panel({ name }: { readonly name: string }): ReactNode {
  const { data: schedule, error } = useSchedule(name)
  if (error !== null) return <Trouble error={error} />
  if (schedule === undefined) return <Loading />
  const jobs = `label.schedule:${quoted(name)}`
  return (
    <Card
      title={schedule.name}
      note={schedule.source === 'code' ? 'kept as it is in code' : 'made by hand'}
      right={
        <Link href="/schedules" aria-label="Close" className="icon-button max-desk:hidden">
          <Icon name="close" />
        </Link>
      }
    >
      <div className="flex flex-col gap-4 px-4 pb-4">
        <ScheduleButtons schedule={schedule} />
        <NextTimes schedule={schedule} />
        <FactList
          facts={[
            ['When', <When key="when" schedule={schedule} />],
            ['Job', schedule.type],
            ['Queue', schedule.queue ?? 'that of its type'],
            ['Missed', `${plural(schedule.missed, 'time')}; ${MISSED[schedule.catchUp] ?? schedule.catchUp}`],
            ['Spread', schedule.jitterMs > 0 && `each up to ${span(schedule.jitterMs)} later`],
          ]}
        />
        {schedule.masked === true || schedule.input === undefined ? null : (
          <Body value={schedule.input} label="input" />
        )}
        <Link className="link" href={`/jobs?q=${encodeURIComponent(jobs)}`}>
          Its jobs
        </Link>
      </div>
    </Card>
  )
}

const MISSED: Readonly<Record<string, string>> = {
  skip: 'none is made up for',
  latest: 'the newest is made up for',
  all: 'all are made up for',
}

function NextTimes({ schedule }: { readonly schedule: Schedule }): ReactNode {
  const { data } = useNextTimes(schedule.name, schedule.next)
  return (
    <section aria-label="Next times">
      <p className="mb-1 text-sm text-text-2">
        {schedule.paused ? 'Paused. These times will be missed:' : 'The next times'}
      </p>
      <ol className={`flex flex-col ${schedule.paused ? 'text-text-3' : ''}`}>
        {(data ?? []).map((at) => (
          <li key={at} className="flex justify-between gap-3">
            <span className="mono">{absolute(Date.parse(at)).replace('.000', '')}</span>
            <Moment at={at} />
          </li>
        ))}
      </ol>
    </section>
  )
}
