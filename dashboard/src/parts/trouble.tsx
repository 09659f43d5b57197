/** A problem where it happened: what, why, what to do, and what to quote. The rest of the page stays. */
import type { ReactNode } from 'react'
import { Problem } from '../api/http.ts'
import { Copy } from './copy.tsx'

/** No answer of the store's: nothing that was asked is wrong. */
const STORE_AWAY = 'UNAVAILABLE'

/** As text, for whoever is asked about it. */
function quoted(error: unknown): string {
  if (!(error instanceof Problem)) return String(error)
  const { title, detail, next, code, requestId = '' } = error.body
  return [`${title}: ${detail}`, next, `${code} ${requestId}`.trim(), location.href].join('\n')
}

export function Trouble({ error }: { readonly error: unknown }): ReactNode {
  const body = error instanceof Problem ? error.body : undefined
  return (
    <div role="alert" className="card border-bad p-4">
      <p className="flex items-center gap-2 font-medium text-bad">
        {body?.title ?? 'Something went wrong on this page'}
        <span className="ml-auto font-normal">
          <Copy text={quoted(error)} label="Copy what went wrong" />
        </span>
      </p>
      <p>
        {body?.detail ?? String(error)}
        {body?.code === STORE_AWAY ? ' It is asked again every few seconds; what you see is from before.' : ''}
      </p>
      {body === undefined ? null : (
        <p className="text-sm text-text-2">
          {body.next}{' '}
          <span className="mono">
            {body.code}
            {body.requestId ? ` · ${body.requestId}` : ''}
          </span>
        </p>
      )}
    </div>
  )
}

/** Grey bars in the shape of what is coming. */
export function Loading({ rows = 6 }: { readonly rows?: number }): ReactNode {
  return (
    <div className="flex flex-col gap-3 p-4" aria-hidden="true">
      {Array.from({ length: rows }, (_, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <div key={n} className="skeleton h-4" style={{ width: `${90 - ((n * 17) % 40)}%` }} />
      ))}
    </div>
  )
}

export interface EmptyProps {
  readonly title: string
  readonly icon?: ReactNode
  readonly children?: ReactNode
}

export function Empty({ title, icon, children }: EmptyProps): ReactNode {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-10 text-center">
      {icon}
      <p className="font-semibold">{title}</p>
      <div className="max-w-prose text-text-2">{children}</div>
    </div>
  )
}
