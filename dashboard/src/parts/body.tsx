/** A body as text: never as anything else. A large one begins with its first part. */
import { type ReactNode, useMemo, useState } from 'react'
import { bytes } from '../words/format.ts'
import { jsonText } from '../words/json.ts'
import { Copy } from './copy.tsx'

const LARGE = 256_000
const FIRST = 64_000

export function Body({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const [wanted, setWanted] = useState('')
  const text = useMemo(() => textOf(value), [value])
  const isLarge = text.length > LARGE && !isWhole
  const shown = isLarge ? text.slice(0, FIRST) : text
  const found = wanted === '' ? 0 : shown.toLowerCase().split(wanted.toLowerCase()).length - 1
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center gap-2 text-sm text-text-2">
        <span>{bytes(text.length)}</span>
        {text.length > 200 ? (
          <>
            <input
              className="field w-40"
              placeholder="Find in it"
              aria-label={`Find in ${label}`}
              value={wanted}
              onChange={(event) => setWanted(event.target.value)}
            />
            {wanted === '' ? null : <span>{found} found</span>}
          </>
        ) : null}
        <span className="ml-auto">
          <Copy text={text} label={`Copy ${label}`} />
        </span>
      </div>
      <pre
        className="mono max-h-[60vh] overflow-auto rounded-md bg-sunken p-3 leading-5"
        tabIndex={0}
        role="region"
        aria-label={label}
      >
        {wanted === '' ? shown : <Marked text={shown} wanted={wanted} />}
      </pre>
      {isLarge ? (
        <button type="button" className="btn self-start" onClick={() => setWhole(true)}>
          Show all {bytes(text.length)}
        </button>
      ) : null}
    </div>
  )
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : jsonText(value, 2)
}

const MARKS_MOST = 500

function Marked({ text, wanted }: { readonly text: string; readonly wanted: string }): ReactNode {
  const pieces: ReactNode[] = []
  const lower = text.toLowerCase()
  const what = wanted.toLowerCase()
  let from = 0
  for (let at = lower.indexOf(what); at >= 0 && pieces.length < 2 * MARKS_MOST; at = lower.indexOf(what, from)) {
    pieces.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + what.length)}</mark>)
    from = at + what.length
  }
  return [...pieces, text.slice(from)]
}
