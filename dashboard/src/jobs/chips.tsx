import type { KeyboardEvent, ReactNode } from 'react'
import { Icon } from '../parts/icon.tsx'

export interface ChipsProps {
  readonly chips: readonly string[]
  readonly onEdit: (n: number) => void
  readonly onRemove: (n: number) => void
}

/** Terms that are finished: each may be taken up again, or away. */
export function Chips({ chips, onEdit, onRemove }: ChipsProps): ReactNode {
  const pressed = (event: KeyboardEvent, n: number) => {
    if (event.key !== 'Delete' && event.key !== 'Backspace') return
    event.preventDefault()
    onRemove(n)
  }
  return chips.map((chip, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the same term may stand there twice
    <span key={`${n} ${chip}`} className="inline-flex max-w-full items-center rounded-md bg-sunken" data-chip={chip}>
      <button
        type="button"
        className="mono h-6 min-w-0 truncate rounded-l-md pr-1 pl-2 hover:bg-hover"
        aria-label={`Edit ${chip}`}
        title={chip}
        onClick={() => onEdit(n)}
        onKeyDown={(event) => pressed(event, n)}
      >
        {chip}
      </button>
      <button
        type="button"
        className="flex size-6 flex-none items-center justify-center rounded-r-md text-text-3 hover:bg-hover"
        aria-label={`Remove ${chip}`}
        tabIndex={-1}
        onClick={() => onRemove(n)}
      >
        <Icon name="close" size={12} />
      </button>
    </span>
  ))
}
