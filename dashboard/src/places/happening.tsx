/** Beside the machine, where there is room: what happens, as it happens. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Card } from '../parts/card.tsx'
import { EventTable } from '../tail/event-table.tsx'
import { useTail } from '../tail/use-tail.ts'

/** Of a card that is as high as the machine beside it. */
const SHOWN = 20

export function Happening(): ReactNode {
  const { events } = useTail(false)
  return (
    <Card
      title="Tail"
      note="what happens, as it happens"
      className="relative row-start-2 min-h-0 overflow-hidden"
      right={
        <Link className="link" href="/tail">
          All of it
        </Link>
      }
    >
      {events.length === 0 ? (
        <p className="px-4 pb-4 text-text-2">Nothing has happened since this page was opened.</p>
      ) : (
        <div
          className="absolute inset-x-0 top-11 bottom-0 overflow-hidden"
          role="log"
          aria-live="off"
          aria-label="Events"
        >
          <EventTable events={events.slice(-SHOWN).toReversed()} />
        </div>
      )}
    </Card>
  )
}
