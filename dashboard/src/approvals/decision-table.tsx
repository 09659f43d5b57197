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
            <th className="hidden @min-[480px]:table-cell">Rule</th>
            <th className="hidden @min-[640px]:table-cell">Why</th>
            <th className="hidden @min-[800px]:table-cell">By</th>
          </tr>
        </thead>
        <VirtualRows items={decisions} keyOf={({ id }) => id}>
          {({ jobId, at, word, icon, rule, why, by }) => (
            <tr className="hover:bg-hover">
              <td className="mono whitespace-nowrap text-text-2" title={absolute(Date.parse(at))}>
                {clock(Date.parse(at))}
              </td>
              <td className="font-medium whitespace-nowrap">
                <span className="inline-flex items-center gap-1.5 align-middle">
                  <StateIcon state={icon} />
                  {word}
                </span>
              </td>
              <td className="w-full max-w-0 @min-[480px]:w-auto @min-[480px]:max-w-none">
                <Link className="link mono whitespace-nowrap" href={`/jobs/${encodeURIComponent(jobId)}?tab=events`}>
                  {jobId}
                </Link>
                {/* Where it has no column of its own. */}
                <span className="block truncate text-sm text-text-2 @min-[480px]:hidden">
                  {[rule, why].filter((part) => part !== undefined && part !== '').join(': ')}
                </span>
              </td>
              <td
                className="mono hidden w-full max-w-0 truncate @min-[480px]:table-cell @min-[640px]:w-auto @min-[640px]:max-w-40"
                title={why === undefined ? rule : `${rule}: ${why}`}
              >
                {rule}
              </td>
              <td className="hidden w-full max-w-0 min-w-40 truncate text-text-2 @min-[640px]:table-cell" title={why}>
                {why}
              </td>
              <td className="hidden max-w-40 truncate text-text-2 @min-[800px]:table-cell" title={by}>
                {by}
              </td>
            </tr>
          )}
        </VirtualRows>
      </table>
    </Scroll>
  )
}
