import type { ReactNode } from 'react'

export interface CardProps {
  readonly title?: ReactNode
  readonly note?: ReactNode
  readonly right?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}

export function Card({ title, note, right, children, className = '' }: CardProps): ReactNode {
  return (
    <section className={`card ${className}`}>
      {title === undefined ? null : (
        <header className="flex min-h-11 flex-wrap items-center gap-2 px-4 py-2">
          <h2 className="font-medium">{title}</h2>
          {note === undefined ? null : <span className="text-sm text-text-2">{note}</span>}
          {right === undefined ? null : (
            <span className="ml-auto flex items-center gap-2 text-sm text-text-2">{right}</span>
          )}
        </header>
      )}
      {children}
    </section>
  )
}
