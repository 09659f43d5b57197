import type { ReactNode } from 'react'

/** What may be wider than its place: it scrolls by itself, by pointer and by keyboard, and the page does not. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="overflow-x-auto" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}
