/** A word in a floating box, for pointer and keyboard alike. */
import { Tooltip } from '@base-ui/react/tooltip'
import type { ReactElement, ReactNode } from 'react'

export function Tip({ text, children }: { readonly text: ReactNode; readonly children: ReactElement }): ReactNode {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger delay={200} render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="z-50">
          <Tooltip.Popup className="max-w-80 rounded-md bg-ink px-2.5 py-1.5 text-sm text-on-ink">{text}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
