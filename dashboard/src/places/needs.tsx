/** What needs a person, the most urgent first: beside the verdict, or as rows where there is no room beside it, or much of it. */
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { Icon } from '../parts/icon.tsx'
import type { Need } from './verdict.ts'

const SHOWN = 4

export interface NeedsProps {
  readonly needs: readonly Need[]
  readonly isInRows: boolean
}

export function Needs({ needs, isInRows }: NeedsProps): ReactNode {
  const [isWhole, setWhole] = useState(false)
  if (needs.length === 0) return null
  const rest = needs.length - SHOWN
  const shown = isWhole ? needs : needs.slice(0, SHOWN)
  const chip = isInRows ? 'min-h-11 hover:bg-hover px-4' : 'card min-h-9 px-3 hover:bg-hover'
  return (
    <ul
      aria-label="What needs a person"
      className={isInRows ? 'card divide-y divide-line overflow-hidden' : 'ml-auto flex flex-wrap justify-end gap-2'}
    >
      {shown.map(({ text, href, family }) => (
        <li key={text}>
          <Link href={href} className={`flex items-center gap-2 text-sm font-medium ${chip}`}>
            <span className="size-2 flex-none rounded-full" style={{ background: `var(--${family})` }} />
            <span className={isInRows ? 'min-w-0 flex-1' : ''}>{text}</span>
            <Icon name="right" size={14} />
          </Link>
        </li>
      ))}
      {rest > 0 ? (
        <li>
          <button
            type="button"
            aria-expanded={isWhole}
            className={`flex items-center text-sm text-text-2 ${isInRows ? 'w-full px-4' : 'min-h-9 px-1 hover:underline'}`}
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? 'Fewer' : `and ${rest} more`}
          </button>
        </li>
      ) : null}
    </ul>
  )
}
