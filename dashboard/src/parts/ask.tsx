/** A question before something is done: what will happen, and a button that repeats it. */
import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'

export interface AskProps {
  readonly title: string
  readonly open: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  /** Buttons, the one that does it last. */
  readonly actions: ReactNode
  /** On the button that does nothing. */
  readonly close?: string
}

export function Ask({ title, open, onClose, children, actions, close = 'Keep as it is' }: AskProps): ReactNode {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-ink/20" />
        <Dialog.Popup className="floats fixed top-[min(18vh,120px)] left-1/2 z-50 flex max-h-[calc(100dvh-140px)] w-[min(460px,calc(100vw-32px))] -translate-x-1/2 flex-col gap-3 overflow-y-auto p-5">
          <Dialog.Title className="text-md font-semibold">{title}</Dialog.Title>
          <div className="flex flex-col gap-3 text-text-2">{children}</div>
          <div className="flex flex-wrap justify-end gap-2">
            <Dialog.Close className="btn">{close}</Dialog.Close>
            {actions}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
