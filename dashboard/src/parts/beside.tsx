/** A list, and what is chosen of it: beside it where there is room for both, else on a sheet over it. */
import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { useMedia } from '../words/media.ts'
import { Icon } from './icon.tsx'

/** Below this a list and a panel do not stand side by side: the breakpoint `desk`. */
export const useIsNarrow = (): boolean => useMedia('(max-width: 1099px)')

export interface BesideProps {
  /** Whose panel it is, for whoever does not see it. */
  readonly label: string
  readonly list: ReactNode
  /** Undefined: nothing is chosen. */
  readonly panel: ReactNode | undefined
  readonly onClose: () => void
}

export function Beside({ label, list, panel, onClose }: BesideProps): ReactNode {
  const isNarrow = useIsNarrow()
  return (
    <>
      <div
        className={`grid items-start gap-4 ${panel === undefined ? '' : 'desk:grid-cols-[minmax(0,1fr)_400px] wide:grid-cols-[minmax(0,1fr)_560px]'}`}
      >
        <div className="flex min-w-0 flex-col gap-4">{list}</div>
        {isNarrow ? null : panel}
      </div>
      {isNarrow && panel !== undefined ? (
        <Sheet label={label} onClose={onClose}>
          {panel}
        </Sheet>
      ) : null}
    </>
  )
}

export interface SheetProps {
  readonly label: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** From the right; on a phone from below, over the whole of the page. It is of the place it lies over: letters act in it as on a page. */
export function Sheet({ label, onClose, children }: SheetProps): ReactNode {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-ink/20" />
        <Dialog.Popup
          data-sheet=""
          aria-label={label}
          className="floats fixed inset-x-0 top-12 bottom-0 z-40 flex flex-col rounded-b-none phone:top-0 phone:left-auto phone:w-[min(520px,calc(100vw-96px))] phone:rounded-none"
        >
          <div className="flex h-12 flex-none items-center border-b border-line pr-2 pl-4">
            <Dialog.Title className="font-medium">{label}</Dialog.Title>
            <Dialog.Close className="icon-button ml-auto" aria-label={`Close: ${label}`}>
              <Icon name="close" />
            </Dialog.Close>
          </div>
          <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto bg-bg p-4">{children}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
