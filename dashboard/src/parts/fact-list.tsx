import type { ReactNode } from 'react'

export type NamedFact = readonly [name: string, value: ReactNode]

/** Names and what stands behind them; what there is nothing of is left out. */
export function FactList({ facts }: { readonly facts: readonly NamedFact[] }): ReactNode {
  return (
    <dl className="grid grid-cols-[104px_minmax(0,1fr)] gap-x-2 text-sm leading-6">
      {facts.map(([name, value]) =>
        value === undefined || value === '' || value === false ? null : (
          <div key={name} className="contents">
            <dt className="truncate text-text-3" title={name}>
              {name}
            </dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
