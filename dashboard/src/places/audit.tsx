import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { useAudit } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { AuditEntry } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'

/** Who did what to the installation; what happens to a job is in the job's own log. */
export function AuditPlace(): ReactNode {
  const session = useSession()
  const { data, error } = useAudit(session.can('listAudit'))
  const [params, setParams] = useSearchParams()
  const wanted = params.get('q') ?? ''
  if (!session.can('listAudit'))
    return (
      <Empty title="Only for auditors">
        The audit log is read with a token of scope auditor, which may do nothing else.
      </Empty>
    )
  return (
    <div className="page">
      <Title text="Audit" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        <Loading />
      ) : data.length === 0 ? (
        <Empty title="Nothing was done yet">
          Tokens made, queues paused and jobs moved by operators are told here.
        </Empty>
      ) : (
        <Card
          title="Who did what"
          note="the newest 200, the newest first"
          right={
            <input
              className="field"
              data-query=""
              aria-label="Show what contains"
              placeholder="who, what, about what"
              value={wanted}
              onChange={(event) =>
                setParams(event.target.value === '' ? {} : { q: event.target.value }, { replace: true })
              }
            />
          }
        >
          <Scroll label="Audit">
            <table className="rows">
              <thead>
                <tr>
                  <th className="num">No.</th>
                  <th>Act</th>
                  <th>By</th>
                  <th>About</th>
                  <th>Reason</th>
                  <th>From</th>
                  <th className="num">When</th>
                </tr>
              </thead>
              <VirtualRows items={data.filter((entry) => isWanted(entry, wanted))} keyOf={({ n }) => String(n)}>
                {(entry) => (
                  <tr>
                    <td className="num text-text-3">{entry.n}</td>
                    <td className="font-medium whitespace-nowrap">{entry.act}</td>
                    <td>{entry.by}</td>
                    <td className="mono">
                      {entry.about}
                      {entry.count === undefined || entry.count < 2 ? '' : ` and ${entry.count - 1} more`}
                    </td>
                    <td className="text-text-2">{entry.reason}</td>
                    <td className="mono text-text-3">{entry.address}</td>
                    <td className="num whitespace-nowrap text-text-2">
                      <Moment at={entry.at} />
                    </td>
                  </tr>
                )}
              </VirtualRows>
            </table>
          </Scroll>
        </Card>
      )}
    </div>
  )
}

/** Any of its words; `actor:ann` as in a link is a word, too. */
const isWanted = ({ act, by, about, reason = '', address = '' }: AuditEntry, wanted: string): boolean =>
  [act, by, `actor:${by}`, about, reason, address].some((text) => text.toLowerCase().includes(wanted.toLowerCase()))
