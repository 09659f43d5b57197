/** The name of the place one is at: in the bar above, and in the browser's tab. */
import { type ReactNode, useEffect } from 'react'
import { createPortal } from 'react-dom'

export const TITLE_ID = 'title'

export function Title({ text, children }: { readonly text: string; readonly children?: ReactNode }): ReactNode {
  useEffect(() => {
    document.title = `${text} · pawl`
  }, [text])
  const place = document.getElementById(TITLE_ID)
  return place === null ? null : createPortal(children ?? <h1 className="text-md font-semibold">{text}</h1>, place)
}
