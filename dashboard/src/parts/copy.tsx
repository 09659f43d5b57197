import { type ReactNode, useState } from 'react'
import { Icon } from './icon.tsx'

/** A button that copies, and says that it did. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 1_500)
  }
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} onClick={copy}>
      {isDone ? 'copied' : <Icon name="copy" size={14} />}
    </button>
  )
}
