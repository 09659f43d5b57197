/** A token made by hand. Its secret is shown once, here, and nowhere else. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ask } from '../api/http.ts'
import type { Scope, Token } from '../api/wire.ts'
import { Copy } from '../parts/copy.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'

/** What each may, in a few words. Tokens for metrics, which are of all tenants, are made where the store is. */
const MEANS: Readonly<Record<Exclude<Scope, 'metrics'>, string>> = {
  viewer: 'reads, without payloads',
  operator: 'reads, moves jobs, pauses queues',
  producer: 'enqueues, reads, takes back',
  worker: 'claims and runs',
  admin: 'everything but the audit log',
  auditor: 'reads the audit log',
}

export function NewToken(): ReactNode {
  const client = useQueryClient()
  const say = useSay()
  const [name, setName] = useState('')
  const [scope, setScope] = useState<string>('viewer')
  const made = useMutation({
    mutationFn: () => ask<Token & { readonly secret: string }>('/v1/tokens', { method: 'POST', body: { name, scope } }),
    onSuccess: () => {
      setName('')
      void client.invalidateQueries({ queryKey: ['tokens'] })
    },
    onError: (error) => say(refusal(error), true),
  })
  return (
    <div className="flex flex-col gap-3">
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== '' && !made.isPending) made.mutate()
        }}
      >
        <label className="flex flex-col gap-1">
          Whose
          <input
            className="field"
            placeholder="deploy bot"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label className="flex flex-col gap-1">
          Scope
          <select className="field" value={scope} onChange={(event) => setScope(event.target.value)}>
            {Object.entries(MEANS).map(([each, means]) => (
              <option key={each} value={each}>
                {each}: {means}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" className="btn btn-ink" aria-disabled={name.trim() === ''}>
          Make a token
        </button>
      </form>
      {made.data === undefined ? null : (
        <div role="status" className="card flex flex-wrap items-center gap-2 p-3">
          <span>
            The secret of <b className="font-medium">{made.data.name}</b>, shown this once:
          </span>
          <span className="mono break-all">{made.data.secret}</span>
          <Copy text={made.data.secret} label="Copy the secret" />
          <button type="button" className="btn ml-auto" onClick={() => made.reset()}>
            I have it
          </button>
        </div>
      )}
    </div>
  )
}
