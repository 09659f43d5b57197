import type { ReactNode } from 'react'

/**
 * What may be wider than its place: it scrolls by itself, by pointer and by keyboard, and the page does not. What it holds may leave out
 * what has no room here, whether the window is narrow or a panel stands beside it: `@min-[…]`.
 */
export function Scroll({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="@container overflow-x-auto" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}
