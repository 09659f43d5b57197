import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Scroll } from '../parts/scroll.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { absolute, clock } from '../words/format.ts'
import type { Decision } from './decision.ts'

/** What was decided, the newest first: by which rule, why, and by whom. */
export function DecisionTable({ decisions }: { readonly decisions: readonly Decision[] }): ReactNode {
  return (
    <Scroll label="Decisions">
      <table className="rows">
        <thead>
          <tr>
            <th>When</th>
            <th>Decision</th>
            <th>Job</th>
            <th>Rule</th>
            <th>Why</th>
            <th>By</th>
          </tr>
        </thead>
        <VirtualRows items={decisions} keyOf={({ id }) => id}>
          {({ jobId, at, word, icon, rule, why, by }) => (
            <tr className="hover:bg-hover">
              <td className="mono whitespace-nowrap text-text-2" title={absolute(Date.parse(at))}>
                {clock(Date.parse(at))}
              </td>
              <td className="font-medium whitespace-nowrap">
                <span className="inline-flex items-center gap-1.5">
                  <StateIcon state={icon} />
                  {word}
                </span>
              </td>
              <td>
                <Link className="link mono whitespace-nowrap" href={`/jobs/${encodeURIComponent(jobId)}?tab=events`}>
                  {jobId}
                </Link>
              </td>
              <td className="mono max-w-40 truncate" title={rule}>
                {rule}
              </td>
              <td className="w-full max-w-0 min-w-40 truncate text-text-2" title={why}>
                {why}
              </td>
              <td className="max-w-40 truncate text-text-2" title={by}>
                {by}
              </td>
            </tr>
          )}
        </VirtualRows>
      </table>
    </Scroll>
  )
}
