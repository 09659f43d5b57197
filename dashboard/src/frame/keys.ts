/**
 * Keys of the whole page. Single letters are off in fields, and can be switched off altogether; Enter and Space belong to what has the
 * focus, where that is something to press.
 */
import { useEffect, useRef } from 'react'
import { kept } from '../words/kept.ts'

export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** After `g` this long for the second letter. */
const SECOND_MS = 1_500

export function useKeys(keys: Keys): void {
  const current = useRef(keys)
  current.current = keys
  useEffect(() => {
    let first: { readonly key: string; readonly at: number } | undefined
    const pressed = (event: KeyboardEvent) => {
      const name = nameOf(event)
      const isPlain = name.length === 1
      if (isPlain && (isWriting(event.target) || isAsking() || kept('letters', 'on') === 'off')) return
      if ((name === 'Enter' || name === ' ') && isPressable(event.target)) return
      const both = first !== undefined && event.timeStamp - first.at < SECOND_MS ? `${first.key} ${name}` : undefined
      first = name === 'g' ? { key: name, at: event.timeStamp } : undefined
      const act =
        (both === undefined ? undefined : current.current[both]) ??
        (both === undefined ? current.current[name] : undefined)
      if (act === undefined) return
      event.preventDefault()
      act(event)
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [])
}

/** Somebody is asked something, or is about to be: letters are not meant for the page behind it. A sheet asks nothing: it is of the page. */
const isAsking = (): boolean => opening > 0 || document.querySelector('[role="dialog"]:not([data-sheet])') !== null

let opening = 0

/** Until it is told that what was asked for is there, or gone: what is typed meanwhile must not act on the page. */
export function hushKeys(): () => void {
  opening += 1
  return () => {
    opening -= 1
  }
}

const nameOf = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string =>
  altKey ? '' : ctrlKey || metaKey ? `Ctrl ${key.toUpperCase()}` : key

const isPressable = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('a, button, input, select, textarea, summary') !== null

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
