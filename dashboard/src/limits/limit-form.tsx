/** The numbers of a key, by hand: an empty field leaves its number to code. */
import { type ReactNode, type SubmitEvent, useState } from 'react'
import type { LimitKey } from '../api/limits.ts'
import { useSession } from '../api/session.tsx'
import { Card } from '../parts/card.tsx'
import { Tip } from '../parts/tip.tsx'
import { bodyOf, formOf, type LimitForm, limitWords } from './numbers.ts'
import { useKeyAct } from './use-key-act.ts'

const FIELDS: readonly { readonly name: keyof LimitForm; readonly label: string; readonly bare: string }[] = [
  { name: 'concurrency', label: 'At once', bare: 'any number' },
  { name: 'rate', label: 'Starts', bare: '5/s, 10/30s' },
  { name: 'amount', label: 'To spend', bare: 'any amount' },
  { name: 'per', label: 'per', bare: '1h, 1d' },
  { name: 'weight', label: 'Weight', bare: '1' },
]

export function LimitEditor({ limit }: { readonly limit: LimitKey }): ReactNode {
  const { key, byHand, declared } = limit
  const session = useSession()
  const { act, isPending } = useKeyAct(key)
  const kept = formOf(byHand)
  const [written, setWritten] = useState<LimitForm>()
  const form = written ?? kept
  const inCode = formOf(declared)
  const body = bodyOf(form)
  const isSame = FIELDS.every(({ name }) => form[name] === kept[name])
  const isAllowed = session.can('setLimit')
  const forget = () => {
    setWritten(undefined)
    act({ method: 'DELETE', path: '', told: 'what code declares holds again.' })
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (!isAllowed || isSame) return
    if (Object.keys(body).length === 0) return forget()
    act({ method: 'PUT', path: '', body, told: 'set by hand, until it is removed.' })
    setWritten(undefined)
  }
  return (
    <Card title="Limit" note={declared === undefined ? 'none in code' : `in code: ${limitWords(declared)}`}>
      <form className="flex flex-col gap-3 px-4 pb-4" onSubmit={submit}>
        <div className="grid grid-cols-[repeat(auto-fill,minmax(104px,1fr))] gap-2">
          {FIELDS.map(({ name, label, bare }) => (
            <label key={name} className="flex min-w-0 flex-col gap-1 text-sm text-text-2">
              {label}
              <input
                className="field mono w-full min-w-0"
                value={form[name]}
                placeholder={inCode[name] === '' ? bare : inCode[name]}
                readOnly={!isAllowed}
                autoComplete="off"
                onChange={(event) => setWritten({ ...form, [name]: event.target.value.trim() })}
              />
            </label>
          ))}
        </div>
        <p className="text-sm text-text-2">
          A number set by hand wins until it is removed; an empty one is as code has it. A lower one lets what runs go
          on. It is kept in the audit log with your name.
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          {isAllowed ? (
            <>
              {byHand === undefined ? null : (
                <button type="button" className="btn" disabled={isPending} onClick={forget}>
                  Remove by hand
                </button>
              )}
              <button type="submit" className="btn btn-ink" disabled={isPending} aria-disabled={isSame}>
                Set by hand
              </button>
            </>
          ) : (
            <Tip text={`Your token is of scope ${session.scope}, which may not change limits.`}>
              <button type="button" className="btn" aria-disabled="true">
                Set by hand
              </button>
            </Tip>
          )}
        </div>
      </form>
    </Card>
  )
}
