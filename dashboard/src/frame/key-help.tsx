import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { useKept } from '../words/kept.ts'
import { PLACES } from './places.ts'

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'the query of a list, else the palette'],
  ['Ctrl K', 'the palette: find, go, do'],
  ['j k', 'down and up a list: jobs, dead letters, approvals'],
  ['Enter', 'open'],
  ['Space', 'look at a job beside the list'],
  ['x', 'pick'],
  ['Shift x', 'pick all from the last picked to here'],
  ['*', 'do something to all that match'],
  ['n', 'show what is new in a list'],
  ['e i y', 'of a job: its events, its input, copy its id'],
  ['+ - 0', 'of the time axis: closer, wider, all of it'],
  [', .', 'step through the path of a job'],
  ['c s r !', 'of a job: cancel, signal, reopen, run now'],
  ['r', 'of dead letters: redrive those that share the cause'],
  ['a d', 'of a job that is pending: approve or admit, deny'],
  ['t', 'of the machine: its numbers as a table'],
  ['[', 'fold the sidebar'],
  ['Esc', 'one step back'],
]

export function KeyHelp({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): ReactNode {
  const [letters, setLetters] = useKept('letters', 'on')
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-ink/20" />
        <Dialog.Popup className="floats fixed top-[12vh] left-1/2 z-50 w-[min(520px,calc(100vw-32px))] -translate-x-1/2 p-5">
          <Dialog.Title className="mb-3 text-md font-semibold">Keys</Dialog.Title>
          <dl className="grid grid-cols-[88px_1fr] gap-y-1.5">
            {[...KEYS, ...PLACES.map(({ key, name }) => [`g ${key}`, name] as const)].map(([key, what]) => (
              <div key={key} className="contents">
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd className="text-text-2">{what}</dd>
              </div>
            ))}
          </dl>
          <label className="mt-4 flex items-center gap-2">
            <input
              type="checkbox"
              checked={letters === 'on'}
              onChange={(event) => setLetters(event.target.checked ? 'on' : 'off')}
            />
            Single letters are keys
          </label>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
